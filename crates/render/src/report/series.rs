//! What jobs did over time.

use super::storage::Item;
use super::{Block, Section};
use crate::chart::{
    Axis, Better, Chart, ChartData, Lines, MOST_SERIES, Point, Rule, Series, Unit, extremes,
};
use result::Steady;

/// Points of a series at most.
const MOST_POINTS: usize = 160;

/// Values of one quantity over time, `(seconds, value)`.
struct Track {
    name: String,
    points: Vec<(f64, f64)>,
}

pub(super) fn section(items: &[Item<'_>]) -> Section {
    let mut blocks = Vec::new();
    let mut seen: Vec<u32> = Vec::new();
    for item in items {
        let Some(steady) = &item.job.steady else { continue };
        if seen.contains(&item.job.number) {
            continue;
        }
        seen.push(item.job.number);
        blocks.extend(window(&item.job.name, steady).map(Block::Chart));
    }
    Section { heading: "Over time".to_owned(), blocks }
}

/// The window that steadiness was judged by.
fn window(name: &str, steady: &Steady) -> Option<Chart> {
    let points = |values: &[u64]| {
        let point = |(second, value): (usize, &u64)| (second as f64 + 1.0, *value as f64);
        values.iter().enumerate().map(point).collect()
    };
    if steady.iops.is_empty() {
        return None;
    }
    let track = Track { name: name.to_owned(), points: points(&steady.iops) };
    let verdict = if steady.attained { "steady" } else { "not steady" };
    let title = format!("{name}: IOPS in the window that was judged ({verdict})");
    let mean = Steady::mean(&steady.iops) as f64;
    let mut chart = chart(&title, "IOPS", Unit::PerS, &[track]);
    if let ChartData::Lines(lines) = &mut chart.data {
        lines.rules.push(Rule { at: mean, name: format!("mean {}", Unit::PerS.show(mean)) });
    }
    Some(chart)
}

/// A chart over seconds, thinned so that extremes stay.
fn chart(title: &str, what: &str, unit: Unit, tracks: &[Track]) -> Chart {
    let thinned = tracks.iter().any(|track| track.points.len() > MOST_POINTS);
    let series = tracks.iter().take(MOST_SERIES).map(|track| {
        let values: Vec<f64> = track.points.iter().map(|point| point.1).collect();
        let kept = extremes(&values, MOST_POINTS).into_iter();
        let points = kept.map(|at| Point::new(track.points[at].0, track.points[at].1));
        Series { name: track.name.clone(), points: points.collect() }
    });
    let better = if unit == Unit::Ns { Better::Less } else { Better::More };
    let note = match thinned {
        true => "Thinned: each stretch of time shows its smallest and its largest value.",
        false => "",
    };
    Chart {
        title: title.to_owned(),
        note: note.to_owned(),
        better,
        data: ChartData::Lines(Lines {
            x: Axis::linear("time", Unit::Seconds),
            y: Axis::linear(what, unit),
            series: series.collect(),
            ..Lines::default()
        }),
    }
}
