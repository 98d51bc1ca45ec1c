//! Can two sides be compared at all?

use super::{Known, Side};
use judge::compare::{Interval, batch_means};
use result::series::Quantity;
use result::{Run, Severity};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A run moved by more than this share from its first half to its second was not steady.
const DRIFT: f64 = 0.05;
/// Fewest seconds that tell a drift.
const SECONDS: usize = 10;

/// What stands against comparing, and what else is not the same.
#[derive(Serialize)]
pub struct Alike {
    /// With any of these the figures are informative only.
    pub differences: Vec<String>,
    /// Good to know: these may be what is being compared.
    pub remarks: Vec<String>,
}

/// Looks at options, devices, validity and steadiness.
pub fn look(sides: &[Side; 2]) -> Alike {
    let mut alike = Alike {
        differences: Vec::new(),
        remarks: Vec::new(),
    };
    let [a, b] = sides.each_ref().map(|side| table(&side.runs, work));
    differ(&mut alike.differences, &a, &b);
    let [a, b] = sides.each_ref().map(|side| table(&side.runs, class));
    // What one side does not know is no difference.
    differ(&mut alike.differences, &known_to(&a, &b), &known_to(&b, &a));
    let [a, b] = sides.each_ref().map(|side| table(&side.runs, machine));
    differ(&mut alike.remarks, &known_to(&a, &b), &known_to(&b, &a));
    for (side, label) in sides.iter().zip(["A", "B"]) {
        let mut count = |what: &str, is: &dyn Fn(&Run) -> bool| {
            let found = side.runs.iter().filter(|known| is(&known.run)).count();
            if found > 0 {
                let of = side.runs.len();
                alike
                    .differences
                    .push(format!("{label}: {found} of {of} runs {what}"));
            }
        };
        count("ended early", &|run| run.partial);
        count("had errors", &|run| crate::session::failures(run) > 0);
        count("measured something else than they name", &|run| {
            let findings = run.judgement.iter().flat_map(|j| &j.findings);
            let mut findings = findings.filter(|found| found.id != "partial-run");
            findings.any(|found| found.severity == Severity::Invalid)
        });
        count("were not steady", &|run| !steady(run));
    }
    alike
}

type Table = BTreeMap<String, BTreeSet<String>>;

/// What `of` says of each run: all values of each name.
fn table(runs: &[Known], of: fn(&Run) -> Vec<(String, String)>) -> Table {
    let mut table = Table::new();
    for (name, value) in runs.iter().flat_map(|known| of(&known.run)) {
        table.entry(name).or_default().insert(value);
    }
    table
}

fn known_to(table: &Table, other: &Table) -> Table {
    let mut table = table.clone();
    table.retain(|name, _| other.contains_key(name));
    table
}

fn differ(out: &mut Vec<String>, a: &Table, b: &Table) {
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let shown = |values: Option<&BTreeSet<String>>| match values {
        Some(values) => values
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(" and "),
        None => "not given".to_owned(),
    };
    for name in names {
        let (a, b) = (a.get(name), b.get(name));
        if a != b {
            out.push(format!("{name}: {} in A, {} in B", shown(a), shown(b)));
        }
    }
}

/// The options that decide the work.
fn work(run: &Run) -> Vec<(String, String)> {
    let joined = |(name, values): (String, Vec<String>)| (name, values.join(", "));
    let ours = |(name, _): &(String, Vec<String>)| name != "job";
    store::work(run)
        .into_iter()
        .filter(ours)
        .map(joined)
        .collect()
}

/// The class of what was measured, and by what kind of tool.
fn class(run: &Run) -> Vec<(String, String)> {
    let mut out = Vec::new();
    let format = run.source.as_ref().map_or("assay", |source| &source.format);
    let family = match format.split('-').next().unwrap_or_default() {
        // The same definitions of every figure.
        "assay" | "fio" => "fio",
        other => other,
    };
    out.push(("kind of report".to_owned(), family.to_owned()));
    let Some(host) = &run.host else { return out };
    for target in &host.targets {
        out.extend(
            target
                .fs_type
                .clone()
                .map(|kind| ("file system".to_owned(), kind)),
        );
        let devices = target.devices.iter().filter_map(|name| host.device(name));
        for device in devices {
            let model = device.model.clone().unwrap_or_default();
            let words = [device.kind.word(), model.trim()].join(" ");
            out.push(("device".to_owned(), words.trim().to_owned()));
            let gib = device.size_bytes as f64 / f64::from(1 << 30);
            out.push(("size of the device".to_owned(), format!("{gib:.1} GiB")));
        }
    }
    if run.memory.is_some() || !run.memory_tables.is_empty() {
        out.extend(
            host.cpu
                .model
                .clone()
                .map(|cpu| ("processor".to_owned(), cpu)),
        );
    }
    out
}

/// What may well be the reason for comparing.
fn machine(run: &Run) -> Vec<(String, String)> {
    let mut out = vec![("version".to_owned(), run.tool_version.clone())];
    let Some(host) = &run.host else { return out };
    out.push(("host".to_owned(), host.hostname.clone()));
    out.push(("kernel".to_owned(), host.kernel.clone()));
    out.extend(
        host.cpu
            .model
            .clone()
            .map(|cpu| ("processor".to_owned(), cpu)),
    );
    let devices = host.targets.iter().flat_map(|target| &target.devices);
    for device in devices.filter_map(|name| host.device(name)) {
        let mut tell = |what: &str, value: Option<&str>| {
            out.extend(value.map(|value| (what.to_owned(), value.to_owned())));
        };
        tell("serial number", device.identity());
        tell("firmware", device.firmware.as_deref());
        tell("scheduler", device.queue.scheduler.as_deref());
    }
    out
}

/// By the criterion of the job where it had one, else by its own seconds.
fn steady(run: &Run) -> bool {
    run.reported().iter().all(|job| {
        if let Some(steady) = &job.steady {
            return steady.attained;
        }
        let rates = |quantity| matches!(quantity, Quantity::Iops | Quantity::Bandwidth);
        job.series
            .iter()
            .filter(|series| rates(series.quantity))
            .all(|series| {
                let seconds: Vec<f64> = series.points().map(|point| point.mean()).collect();
                !drifts(&seconds)
            })
    })
}

/// The halves differ by more than they are sure of and more than [`DRIFT`].
fn drifts(seconds: &[f64]) -> bool {
    if seconds.len() < SECONDS {
        return false;
    }
    let (first, second) = seconds.split_at(seconds.len() / 2);
    let apart = |a: Interval, b: Interval| a.high < b.low || b.high < a.low;
    match (batch_means(first), batch_means(second)) {
        (Some(a), Some(b)) => apart(a, b) && (b.mean / a.mean - 1.0).abs() > DRIFT,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drift_is_more_than_noise() {
        let wave = |n: usize| f64::from((n * 7 % 5) as u8);
        let level: Vec<f64> = (0..40).map(|n| 100.0 + wave(n)).collect();
        assert!(!drifts(&level));
        let falling: Vec<f64> = (0..40).map(|n| 140.0 - n as f64 + wave(n)).collect();
        assert!(drifts(&falling));
        assert!(!drifts(&falling[..9]));
        // A change that is sure and small.
        let small: Vec<f64> = (0..40).map(|n| 1000.0 + n as f64).collect();
        assert!(!drifts(&small));
    }
}
