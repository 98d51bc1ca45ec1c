//! Where the level of a figure changed.

use super::{date, value};
use anyhow::bail;
use judge::compare::{change_points, median, variation};
use serde::Serialize;
use store::Entry;

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
    points: Vec<Point>,
    steps: Vec<Step>,
}

#[derive(Clone, Copy, Serialize)]
struct Point {
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
    let all = series(entries, metric);
    if all.is_empty() {
        bail!(
            "no run has a figure `{metric}`; there are iops, bandwidth, latency, p50, p99, p99.9"
        );
    }
    if json {
        return Ok(serde_json::to_string_pretty(&all)? + "\n");
    }
    Ok(all.iter().map(paragraph).collect())
}

/// Runs that ended early are no evidence of a level.
fn series(entries: &[Entry], metric: &str) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for entry in entries.iter().filter(|entry| !entry.partial) {
        let host = entry.host.clone().unwrap_or_default();
        let devices = entry.devices.join(" ");
        for found in entry.metrics.iter().filter(|known| known.name == metric) {
            let point = Point {
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
    let direction = match series.direction.as_str() {
        "" => String::new(),
        direction => format!(", {direction}"),
    };
    let mut out = format!(
        "{}{direction} ({}){place}: {runs}, median {}, variation {:.1} %\n",
        series.job,
        series.configuration.get(..8).unwrap_or_default(),
        value(&series.metric, series.median),
        100.0 * series.variation,
    );
    for step in &series.steps {
        let when = match date(step.finished_ms).as_str() {
            "" => String::new(),
            date => format!(" ({date})"),
        };
        out.push_str(&format!(
            "  from run {} on{when}: {} became {} ({:+.1} %)\n",
            step.run,
            value(&series.metric, step.before),
            value(&series.metric, step.after),
            100.0 * (step.after / step.before - 1.0),
        ));
    }
    out
}
