//! What jobs did over time.

use super::storage::Item;
use super::{Block, Section};
use crate::chart::{
    Axis, Band, Better, Chart, ChartData, Lines, MOST_SERIES, Point, Rule, Series, Unit, extremes,
};
use result::Steady;
use result::series::{Quantity, Second};

/// Points of a series at most.
const MOST_POINTS: usize = 160;
/// More series make no pictures that anybody compares.
const MOST_TRACKS: usize = 6 * MOST_SERIES;
/// Changes of level are looked for in series of so many points: fewer hold no level, and more
/// take long.
const LEAST_POINTS: usize = 20;
const MOST_SEARCHED: usize = 4000;
/// Smaller changes, as a share of the higher level, are told nobody.
const LEAST_CHANGE: f64 = 0.1;
/// What changes more often has no levels.
const MOST_CHANGES: usize = 5;

/// Values of one quantity over time, `(seconds, value)`.
struct Track {
    name: String,
    points: Vec<(f64, f64)>,
    /// The window that steadiness was judged by.
    window: Option<Band>,
    /// The largest value of each second, which has no level.
    largest: bool,
}

pub(super) fn section(items: &[Item<'_>]) -> Section {
    let mut blocks = Vec::new();
    let what = [
        (Quantity::Bandwidth, "Bandwidth", Unit::BytesPerS),
        (Quantity::Iops, "IOPS", Unit::PerS),
        (Quantity::Clat, "Completion latency", Unit::Ns),
        (Quantity::Lat, "Latency", Unit::Ns),
        (Quantity::Slat, "Submission latency", Unit::Ns),
    ];
    for (quantity, name, unit) in what {
        let tracks: Vec<Track> = items
            .iter()
            .flat_map(|item| tracks(item, quantity))
            .collect();
        if tracks.len() > MOST_TRACKS {
            let words = format!(
                "{} series of {name}; pictures show {MOST_TRACKS}.",
                tracks.len()
            );
            blocks.push(Block::Words(words));
        }
        let tracks = &tracks[..tracks.len().min(MOST_TRACKS)];
        let parts = tracks.len().div_ceil(MOST_SERIES);
        for (part, group) in tracks.chunks(MOST_SERIES).enumerate() {
            let of = if parts > 1 {
                format!(" ({} of {parts})", part + 1)
            } else {
                String::new()
            };
            let title = format!("{name} over time{of}");
            blocks.push(Block::Chart(chart(&title, name, unit, group)));
        }
    }
    let mut seen: Vec<(usize, u32)> = Vec::new();
    for item in items {
        let Some(steady) = &item.job.steady else {
            continue;
        };
        let this = (item.index, item.job.number);
        if seen.contains(&this) {
            continue;
        }
        seen.push(this);
        blocks.extend(window(&item.job.name, steady).map(Block::Chart));
    }
    Section {
        heading: "Over time".to_owned(),
        blocks,
    }
}

/// The series of an item's direction. An interval without values is a stall of bandwidth and IOPS;
/// of latency it has none. Where an interval holds many latencies, its largest is a line too: the
/// mean would hide it.
fn tracks(item: &Item<'_>, quantity: Quantity) -> Vec<Track> {
    let of = |series: &&result::series::Series| {
        series.quantity == quantity
            && (item.direction == "mixed" || series.ddir.name() == item.direction)
    };
    let Some(series) = item.job.series.iter().find(of) else {
        return Vec::new();
    };
    let counted = matches!(quantity, Quantity::Bandwidth | Quantity::Iops);
    let seconds = |at: usize| (at as f64 + 1.0) * series.interval_ms as f64 / 1000.0;
    let line = |name: String, largest: bool, value: fn(&Second) -> f64| {
        let points = series.points().enumerate();
        let points = points.filter(|(_, second)| counted || second.n > 0);
        let points: Vec<(f64, f64)> = points
            .map(|(at, second)| (seconds(at), value(second)))
            .collect();
        (points.len() > 1).then(|| Track {
            name,
            window: judged(item.job.steady.as_ref(), points.last().map_or(0.0, |p| p.0)),
            points,
            largest,
        })
    };
    let (label, pooled) = (
        &item.label,
        !counted && series.points().any(|second| second.n > 1),
    );
    let lines = match pooled {
        true => vec![
            line(format!("{label}: mean"), false, Second::mean),
            line(format!("{label}: largest"), true, |second| {
                second.max as f64
            }),
        ],
        false => vec![line(label.clone(), false, Second::mean)],
    };
    lines.into_iter().flatten().collect()
}

/// The window that ends with the job, once it was full.
fn judged(steady: Option<&Steady>, end: f64) -> Option<Band> {
    let steady = steady.filter(|steady| steady.attained || steady.criterion > 0.0)?;
    let name = match steady.attained {
        true => "steady",
        false => "judged, not steady",
    };
    Some(Band {
        from: (end - steady.duration_s as f64).max(0.0),
        to: end,
        name: name.to_owned(),
    })
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
    let track = Track {
        name: name.to_owned(),
        points: points(&steady.iops),
        window: None,
        largest: false,
    };
    let verdict = if steady.attained {
        "steady"
    } else {
        "not steady"
    };
    let title = format!("{name}: IOPS in the window that was judged ({verdict})");
    let mean = Steady::mean(&steady.iops) as f64;
    let mut chart = chart(&title, "IOPS", Unit::PerS, &[track]);
    if let ChartData::Lines(lines) = &mut chart.data {
        lines.rules.push(Rule {
            at: mean,
            name: format!("mean {}", Unit::PerS.show(mean)),
        });
    }
    Some(chart)
}

/// Second, level before and level after of each lasting change; none where the level never rests.
fn changes(track: &Track) -> Vec<(f64, f64, f64)> {
    if track.largest || !(LEAST_POINTS..=MOST_SEARCHED).contains(&track.points.len()) {
        return Vec::new();
    }
    let values: Vec<f64> = track.points.iter().map(|point| point.1).collect();
    let found = judge::compare::change_points(&values).into_iter();
    let large = found.filter(|change| {
        (change.after - change.before).abs() > LEAST_CHANGE * change.before.max(change.after)
    });
    let changes: Vec<(f64, f64, f64)> = large
        .map(|change| (track.points[change.at].0, change.before, change.after))
        .collect();
    match changes.len() > MOST_CHANGES {
        true => Vec::new(),
        false => changes,
    }
}

/// A chart over seconds, thinned so that extremes stay.
fn chart(title: &str, what: &str, unit: Unit, tracks: &[Track]) -> Chart {
    let thinned = tracks.iter().any(|track| track.points.len() > MOST_POINTS);
    let series = tracks.iter().take(MOST_SERIES).map(|track| {
        let values: Vec<f64> = track.points.iter().map(|point| point.1).collect();
        let kept = extremes(&values, MOST_POINTS).into_iter();
        let points = kept.map(|at| Point::new(track.points[at].0, track.points[at].1));
        Series {
            name: track.name.clone(),
            points: points.collect(),
        }
    });
    let better = if unit == Unit::Ns {
        Better::Less
    } else {
        Better::More
    };
    let mut note = Vec::new();
    if thinned {
        let words = "Thinned: each stretch of time shows its smallest and its largest value.";
        note.push(words.to_owned());
    }
    let mut steps = Vec::new();
    for track in tracks.iter().take(MOST_SERIES) {
        for (at, before, after) in changes(track) {
            let (second, now, then) = (Unit::Seconds.show(at), unit.show(after), unit.show(before));
            let name = format!("{}: {now} from {second} on, {then} before.", track.name);
            note.push(name.clone());
            steps.push(Rule { at, name });
        }
    }
    // A shade belongs to all lines of a picture, so that all must have this one window.
    let first = tracks.first().and_then(|track| track.window.clone());
    let shared = |band: &Band| {
        tracks
            .iter()
            .all(|track| track.window.as_ref() == Some(band))
    };
    let bands = first.filter(shared).into_iter().collect();
    Chart {
        title: title.to_owned(),
        note: note.join(" "),
        better,
        data: ChartData::Lines(Lines {
            x: Axis::linear("time", Unit::Seconds),
            y: Axis::linear(what, unit),
            series: series.collect(),
            bands,
            steps,
            ..Lines::default()
        }),
    }
}
