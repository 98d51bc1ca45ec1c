//! What of a document goes into tables.

use crate::document::digest;
use result::{Direction, Job, LatencyClass, Run, Unified};
use serde::Serialize;
use units::Ddir;

/// One figure of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metric {
    /// Name of the job.
    pub job: String,
    /// Direction: `read`, `write`, `trim`, `mixed`; empty for memory.
    pub direction: String,
    /// `iops`, `bandwidth` (bytes per second), `latency`, `p50`, `p99`, `p99.9` (nanoseconds).
    pub name: String,
    /// Its value.
    pub value: f64,
    /// More is better.
    pub higher_is_better: bool,
}

/// All figures of a run, by block as reports show them.
pub fn metrics(run: &Run) -> Vec<Metric> {
    let mut metrics = Vec::new();
    for job in run.reported() {
        for ddir in Ddir::DATA {
            let name = match job.reporting.unified {
                Unified::Mixed => "mixed",
                Unified::Separate | Unified::Both => ddir.name(),
            };
            of_direction(&mut metrics, &job, name, &job.dirs[ddir]);
        }
    }
    for table in &run.memory_tables {
        for row in &table.rows {
            for (column, value) in table.columns.iter().zip(&row.values) {
                let Some(value) = value else { continue };
                metrics.push(Metric {
                    job: format!("{}, {}", table.test.name(), row.label),
                    direction: String::new(),
                    name: column.clone(),
                    value: *value,
                    higher_is_better: column.contains("MB/s"),
                });
            }
        }
    }
    metrics
}

fn of_direction(metrics: &mut Vec<Metric>, job: &Job, direction: &str, dir: &Direction) {
    let mut put = |name: &str, value: Option<f64>, higher_is_better: bool| {
        // What was not measured is no figure, and 0 of a rate means that.
        let Some(value) = value.filter(|value| value.is_finite() && *value > 0.0) else {
            return;
        };
        metrics.push(Metric {
            job: job.name.clone(),
            direction: direction.to_owned(),
            name: name.to_owned(),
            value,
            higher_is_better,
        });
    };
    put("iops", Some(dir.iops()), true);
    put("bandwidth", Some(dir.bytes_per_s()), true);
    put("latency", dir.mean_latency_ns(), false);
    for (name, percent) in [("p50", 50.0), ("p99", 99.0), ("p99.9", 99.9)] {
        let clat = dir.percentile(LatencyClass::Clat, percent);
        let value = clat.or_else(|| dir.percentile(LatencyClass::Lat, percent));
        put(name, value.map(|ns| ns as f64), false);
    }
}

/// A few words: the first job, and how many more.
pub fn title(run: &Run) -> String {
    let blocks = run.reported();
    let more = |n: usize| {
        if n > 1 {
            format!(" and {} more", n - 1)
        } else {
            String::new()
        }
    };
    if let Some(job) = blocks.first() {
        return format!("{}{}", job.name, more(blocks.len()));
    }
    let tables = &run.memory_tables;
    match tables.first() {
        Some(table) => format!("{}{}", table.test.name(), more(tables.len())),
        None if run.memory.is_some() => "memory".to_owned(),
        None => String::new(),
    }
}

/// Digest of what was asked for: options that change the work, not where it lies or how it is
/// shown.
pub fn configuration(run: &Run) -> String {
    const WORK: [&str; 26] = [
        "rw",
        "readwrite",
        "rwmixread",
        "rwmixwrite",
        "bs",
        "blocksize",
        "bssplit",
        "bsrange",
        "iodepth",
        "ioengine",
        "numjobs",
        "direct",
        "buffered",
        "size",
        "runtime",
        "time_based",
        "rate",
        "rate_iops",
        "fsync",
        "fdatasync",
        "sync",
        "randrepeat",
        "norandommap",
        "random_distribution",
        "ramp_time",
        "thinktime",
    ];
    let mut words = Vec::new();
    let mut take = |options: &result::Options, scope: &str| {
        for (name, value) in options {
            if WORK.contains(&name.as_str()) {
                words.push(format!("{scope}{name}={}", value.to_ascii_lowercase()));
            }
        }
    };
    take(&run.global_options, "");
    for job in run.reported() {
        take(&job.options, &format!("{}.{}:", job.group, job.members));
    }
    for table in &run.memory_tables {
        words.push(format!("memory:{}", table.test.name()));
    }
    words.sort();
    digest(words.join("\n").as_bytes())
}

/// Names of the devices, arrays before their members.
pub fn devices(run: &Run) -> Vec<String> {
    fn walk(disks: &[result::Disk], names: &mut Vec<String>) {
        for disk in disks {
            names.push(disk.name.clone());
            walk(&disk.members, names);
        }
    }
    let mut names = Vec::new();
    walk(&run.disks, &mut names);
    names
}
