//! Where the level of a figure changed.

use super::{date, subject, value};
use anyhow::bail;
use judge::compare::{change_points, median, variation};
use render::chart::{Axis, Better, Chart, ChartData, Lines, Point, Rule, Scale, Unit, extremes};
use render::report::{Block, Cell, Column, Report, Section, Table};
use serde::Serialize;
use store::Entry;

/// Pictures of a page; longer lists are told as a table.
const MOST_CHARTS: usize = 24;
/// Points of a picture.
const MOST_POINTS: usize = 300;

/// The figures that have a trend, with what they are counted in.
pub const METRICS: [&str; 6] = ["iops", "bandwidth", "latency", "p50", "p99", "p99.9"];

/// A figure of one job in one configuration over the runs.
#[derive(Serialize)]
struct Series {
    job: String,
    direction: String,
    configuration: String,
    host: String,
    devices: String,
    metric: String,
    median: f64,
    /// Standard deviation over mean.
    variation: f64,
    points: Vec<Measured>,
    steps: Vec<Step>,
}

#[derive(Clone, Copy, Serialize)]
struct Measured {
    run: i64,
    finished_ms: i64,
    value: f64,
}

/// From this run on the level is another one.
#[derive(Serialize)]
struct Step {
    run: i64,
    finished_ms: i64,
    before: f64,
    after: f64,
}

/// A paragraph for each series, or all of them as JSON.
pub fn text(entries: &[Entry], metric: &str, json: bool) -> anyhow::Result<String> {
    let all = known(entries, metric)?;
    if json {
        return Ok(serde_json::to_string_pretty(&all)? + "\n");
    }
    Ok(all.iter().map(paragraph).collect())
}

fn known(entries: &[Entry], metric: &str) -> anyhow::Result<Vec<Series>> {
    let all = series(entries, metric);
    if all.is_empty() {
        bail!(
            "no run has a figure `{metric}`; there are {}",
            METRICS.join(", ")
        );
    }
    Ok(all)
}

/// A picture for each series of several runs, and a table of all.
///
/// # Errors
/// No run has the figure.
pub fn report(entries: &[Entry], metric: &str) -> anyhow::Result<Report> {
    let all = known(entries, metric)?;
    // What changed comes first, then what was measured most often.
    let mut shown: Vec<&Series> = all
        .iter()
        .filter(|series| series.points.len() > 1)
        .collect();
    shown.sort_by_key(|series| (series.steps.is_empty(), usize::MAX - series.points.len()));
    let mut blocks = Vec::new();
    if shown.len() > MOST_CHARTS {
        let words = format!("{} series; pictures show {MOST_CHARTS}.", shown.len());
        blocks.push(Block::Words(words));
    }
    blocks.extend(
        shown
            .iter()
            .take(MOST_CHARTS)
            .map(|s| Block::Chart(chart(s))),
    );
    let table = table(&all);
    let list = Section {
        heading: "All series".to_owned(),
        blocks: vec![Block::Table(String::new(), table.clone())],
    };
    let mut sections = vec![Section {
        heading: "From run to run".to_owned(),
        blocks,
    }];
    sections.retain(|section| !section.blocks.is_empty());
    sections.push(list);
    Ok(Report {
        title: format!("Trend of {metric}"),
        subtitle: format!("{} runs in {} series", entries.len(), all.len()),
        sections,
        results: table,
        raw: vec![serde_json::to_string(&all)?],
    })
}

fn chart(series: &Series) -> Chart {
    let (unit, better) = match series.metric.as_str() {
        "iops" => (Unit::PerS, Better::More),
        "bandwidth" => (Unit::BytesPerS, Better::More),
        "latency" | "p50" | "p99" | "p99.9" => (Unit::Ns, Better::Less),
        _ => (Unit::Count, Better::Neither),
    };
    let values: Vec<f64> = series.points.iter().map(|point| point.value).collect();
    let kept = extremes(&values, MOST_POINTS);
    let point = |at: &usize| Point {
        label: format!("run {}", series.points[*at].run),
        ..Point::new(*at as f64 + 1.0, values[*at])
    };
    let place = |run: i64| {
        let at = series.points.iter().position(|point| point.run == run);
        at.unwrap_or(0) as f64 + 1.0
    };
    let rule = |step: &Step| Rule {
        at: place(step.run),
        name: told(series, step),
    };
    let mut note = vec![place_of(series)];
    note.extend(series.steps.iter().map(|step| told(series, step)));
    note.retain(|words| !words.is_empty());
    if kept.len() < values.len() {
        note.push("thinned: the smallest and the largest value of each stretch".to_owned());
    }
    Chart {
        title: format!("{}: {}", name(series), series.metric),
        note: note.join("; "),
        better,
        data: ChartData::Lines(Lines {
            x: Axis::linear("runs in their order", Unit::Count),
            y: Axis {
                scale: Scale::Near,
                ..Axis::linear(&series.metric, unit)
            },
            series: vec![render::chart::Series {
                name: name(series),
                points: kept.iter().map(point).collect(),
            }],
            steps: series.steps.iter().map(rule).collect(),
            loose: true,
            ..Lines::default()
        }),
    }
}

fn table(all: &[Series]) -> Table {
    let row = |series: &Series| {
        let steps: Vec<String> = series.steps.iter().map(|step| told(series, step)).collect();
        vec![
            Cell::words(name(series)),
            Cell::words(series.configuration.get(..8).unwrap_or_default()),
            Cell::words(place_of(series)),
            Cell::words(series.points.len().to_string()),
            Cell::words(value(&series.metric, series.median)),
            Cell::words(format!("{:.1} %", 100.0 * series.variation)),
            Cell::words(steps.join("; ")),
        ]
    };
    Table {
        columns: vec![
            Column::words("job"),
            Column::words("configuration"),
            Column::words("where"),
            Column::number("runs"),
            Column::number("median"),
            Column::number("variation"),
            Column::words("changes of level"),
        ],
        rows: all.iter().map(row).collect(),
    }
}

/// Job and direction.
fn name(series: &Series) -> String {
    subject(&series.job, &series.direction)
}

/// Host and devices, as far as they are known.
fn place_of(series: &Series) -> String {
    let known = [&series.host, &series.devices].into_iter();
    let known: Vec<&str> = known
        .map(String::as_str)
        .filter(|s| !s.is_empty())
        .collect();
    known.join(", ")
}

/// What a step says.
fn told(series: &Series, step: &Step) -> String {
    let when = match date(step.finished_ms).as_str() {
        "" => String::new(),
        date => format!(" ({date})"),
    };
    format!(
        "from run {} on{when}: {} became {} ({:+.1} %)",
        step.run,
        value(&series.metric, step.before),
        value(&series.metric, step.after),
        100.0 * (step.after / step.before - 1.0),
    )
}

/// Runs that ended early are no evidence of a level.
fn series(entries: &[Entry], metric: &str) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for entry in entries.iter().filter(|entry| !entry.partial) {
        let host = entry.host.clone().unwrap_or_default();
        let devices = entry.devices.join(" ");
        for found in entry.metrics.iter().filter(|known| known.name == metric) {
            let point = Measured {
                run: entry.id,
                finished_ms: entry.finished_ms,
                value: found.value,
            };
            let same = |series: &&mut Series| {
                series.job == found.job
                    && series.direction == found.direction
                    && series.configuration == entry.configuration
                    && series.host == host
                    && series.devices == devices
            };
            match all.iter_mut().find(same) {
                Some(series) => series.points.push(point),
                None => all.push(Series {
                    job: found.job.clone(),
                    direction: found.direction.clone(),
                    configuration: entry.configuration.clone(),
                    host: host.clone(),
                    devices: devices.clone(),
                    metric: metric.to_owned(),
                    median: 0.0,
                    variation: 0.0,
                    points: vec![point],
                    steps: Vec::new(),
                }),
            }
        }
    }
    for series in &mut all {
        let values: Vec<f64> = series.points.iter().map(|point| point.value).collect();
        series.median = median(&values);
        series.variation = variation(&values);
        let step = |change: judge::compare::Change| {
            let point = series.points[change.at];
            Step {
                run: point.run,
                finished_ms: point.finished_ms,
                before: change.before,
                after: change.after,
            }
        };
        series.steps = change_points(&values).into_iter().map(step).collect();
    }
    all
}

fn paragraph(series: &Series) -> String {
    let runs = match series.points.len() {
        1 => "1 run".to_owned(),
        n => format!("{n} runs"),
    };
    let place = match series.devices.as_str() {
        "" => String::new(),
        devices => format!(" on {devices}"),
    };
    let mut out = format!(
        "{} ({}){place}: {runs}, median {}, variation {:.1} %\n",
        name(series),
        series.configuration.get(..8).unwrap_or_default(),
        value(&series.metric, series.median),
        100.0 * series.variation,
    );
    for step in &series.steps {
        out.push_str(&format!("  {}\n", told(series, step)));
    }
    out
}
