//! Latency: percentile curves and histograms.

use super::results::reliance;
use super::storage::{Item, beyond};
use super::{Block, Section};
use crate::chart::{
    Axis, Better, Chart, ChartData, Histogram, Lines, MOST_SERIES, Point, Scale, Series, State,
    Unit,
};

const PERCENTILES: [f64; 18] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99, 99.999,
];

/// More items make no pictures that anybody compares.
const MOST_ITEMS: usize = 6 * MOST_SERIES;

pub(super) fn section(items: &[Item<'_>]) -> Section {
    let known: Vec<&Item<'_>> = items.iter().filter(|item| item.class().is_some()).collect();
    let mut blocks = Vec::new();
    if known.len() > MOST_ITEMS {
        blocks.push(Block::Words(format!(
            "{} jobs have latencies; pictures show the first {MOST_ITEMS}.",
            known.len()
        )));
    }
    let known = &known[..known.len().min(MOST_ITEMS)];
    let parts = known.len().div_ceil(MOST_SERIES);
    for (part, group) in known.chunks(MOST_SERIES).enumerate() {
        let of = match parts {
            1 => String::new(),
            _ => format!(" ({} of {parts})", part + 1),
        };
        blocks.push(Block::Chart(percentiles(group, &of)));
        blocks.extend(histogram(group, &of).map(Block::Chart));
        blocks.extend(exceedance(group, &of).map(Block::Chart));
    }
    Section {
        heading: "Latency".to_owned(),
        blocks,
    }
}

/// Name of what the percentiles are of, where the group agrees.
fn class(group: &[&Item<'_>]) -> &'static str {
    let names = |item: &&Item<'_>| item.class().map(|(name, _)| name);
    let first = group.first().and_then(names);
    match group.iter().all(|item| names(item) == first) {
        true => first.unwrap_or("latency"),
        false => "latency",
    }
}

fn percentiles(group: &[&Item<'_>], of: &str) -> Chart {
    let class = class(group);
    let series = group.iter().map(|item| {
        let (n, stated) = (item.samples(), item.stated());
        let list: Vec<f64> = match item.bins() {
            // With no sample beyond it, a percentile says nothing that the maximum does not.
            Some(_) => PERCENTILES
                .into_iter()
                .filter(|p| beyond(n, *p) >= 1.0)
                .collect(),
            None => stated.iter().map(|(percent, _)| *percent).collect(),
        };
        let point = |percent: f64| {
            let (value, _) = item.percentile(percent)?;
            let state = reliance(item, percent);
            Some(Point {
                x: percent,
                y: value,
                label: String::new(),
                state,
            })
        };
        Series {
            name: item.label.clone(),
            points: list.into_iter().filter_map(point).collect(),
        }
    });
    let series: Vec<Series> = series.collect();
    let few = series
        .iter()
        .flat_map(|s| &s.points)
        .any(|point| point.state == State::Few);
    let note = match few {
        true => "Grey: fewer than ten samples lie beyond.".to_owned(),
        false => String::new(),
    };
    Chart {
        title: format!("Percentiles of {class}{of}"),
        note,
        better: Better::Less,
        data: ChartData::Lines(Lines {
            x: Axis {
                title: "percentile".to_owned(),
                unit: Unit::Percentile,
                scale: Scale::Nines,
            },
            y: Axis::log(class, Unit::Ns),
            series,
            ..Lines::default()
        }),
    }
}

fn histogram(group: &[&Item<'_>], of: &str) -> Option<Chart> {
    let class = class(group);
    let series: Vec<(String, Vec<(f64, u64)>)> = group
        .iter()
        .filter_map(|item| {
            let bins = item.bins()?.occupied().map(|(value, n)| (value as f64, n));
            Some((item.label.clone(), bins.collect()))
        })
        .collect();
    (!series.is_empty()).then(|| Chart {
        title: format!("Distribution of {class}{of}"),
        note: "Several humps mean several paths: cache and device, idle and busy.".to_owned(),
        better: Better::Neither,
        data: ChartData::Histogram(Histogram::gather(Axis::log(class, Unit::Ns), 4.0, &series)),
    })
}

/// How many were slower than what: both axes logarithmic, so that tails are straight lines.
fn exceedance(group: &[&Item<'_>], of: &str) -> Option<Chart> {
    let class = class(group);
    let series = group.iter().filter_map(|item| {
        let bins: Vec<(u64, u64)> = item.bins()?.occupied().collect();
        let n: u64 = bins.iter().map(|(_, count)| count).sum();
        let mut beyond = n;
        let mut points = Vec::new();
        // The first few percent are quick in ways of their own and would stretch the axis.
        let mut last = 150.0;
        for (value, count) in bins {
            beyond -= count;
            let share = 100.0 * beyond as f64 / n as f64;
            // A few points a decade draw the line.
            if beyond == 0 || share > last / 1.6 {
                continue;
            }
            last = share;
            let few = if beyond < 10 { State::Few } else { State::Good };
            points.push(Point {
                x: value as f64,
                y: share,
                label: String::new(),
                state: match item.state() {
                    State::Good => few,
                    state => state,
                },
            });
        }
        let name = item.label.clone();
        (points.len() > 1).then_some(Series { name, points })
    });
    let series: Vec<Series> = series.collect();
    (!series.is_empty()).then(|| Chart {
        title: format!("Share of I/Os that took longer{of}"),
        note: "A line that bends to the right has a tail.".to_owned(),
        better: Better::Less,
        data: ChartData::Lines(Lines {
            x: Axis::log(class, Unit::Ns),
            y: Axis::log("slower", Unit::Share),
            series,
            ..Lines::default()
        }),
    })
}
