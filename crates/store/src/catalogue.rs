//! What of a document goes into tables.

use crate::document::{self, digest};
use result::memory::compare::{Direction as Way, figures};
use result::{Direction, Job, LatencyClass, Run, Unified, host};
use serde::Serialize;
use units::Ddir;

/// One figure of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metric {
    /// Name of the job, or what was measured of memory.
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
    for named in run.memory.iter().flat_map(|memory| figures(memory)) {
        let higher_is_better = named.better == Way::Higher;
        metrics.push(Metric {
            job: named.name,
            direction: String::new(),
            name: if higher_is_better {
                "bandwidth"
            } else {
                "latency"
            }
            .to_owned(),
            value: named.figure.median,
            higher_is_better,
        });
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
    // What was not measured is no figure, and 0 of a rate means that.
    metrics.retain(|metric| metric.value.is_finite() && metric.value > 0.0);
    metrics
}

fn of_direction(metrics: &mut Vec<Metric>, job: &Job, direction: &str, dir: &Direction) {
    let mut put = |name: &str, value: Option<f64>, higher_is_better: bool| {
        metrics.extend(value.map(|value| Metric {
            job: job.name.clone(),
            direction: direction.to_owned(),
            name: name.to_owned(),
            value,
            higher_is_better,
        }));
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

/// Options that say where the work lies or how it is shown, not what it is.
const ELSEWHERE: [&str; 12] = [
    "filename",
    "directory",
    "name",
    "description",
    "output",
    "output-format",
    "eta",
    "of",
    "if",
    "group_reporting",
    "thread",
    "write_bw_log",
];

/// What was asked for: each option that decides the work, with its values over all jobs in
/// order. Spellings of one name and of one size are made equal.
pub fn work(run: &Run) -> Vec<(String, Vec<String>)> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    let mut take = |options: &result::Options| {
        for (name, value) in options {
            let name = match name.as_str() {
                "readwrite" => "rw",
                "blocksize" => "bs",
                name => name,
            };
            if ELSEWHERE.contains(&name) || name.starts_with("write_") {
                continue;
            }
            let value = settled(value);
            match all.iter_mut().find(|(known, _)| known == name) {
                Some((_, values)) => values.push(value),
                None => all.push((name.to_owned(), vec![value])),
            }
        }
    };
    take(&run.global_options);
    for job in run.reported() {
        match job.options.is_empty() {
            // Of a bare table the name is all that tells what was done.
            true => take(&vec![("job".to_owned(), job.name.clone())]),
            false => take(&job.options),
        }
    }
    for table in &run.memory_tables {
        take(&vec![("memory".to_owned(), table.test.name().to_owned())]);
    }
    if let Some(memory) = &run.memory {
        for named in figures(memory) {
            take(&vec![("memory".to_owned(), named.name)]);
        }
    }
    all.sort();
    all
}

/// `4K`, `4kb` and `4096` are the same.
fn settled(value: &str) -> String {
    let value = value.trim().to_ascii_lowercase();
    match units::number::bytes(&value, units::KbBase::Binary) {
        Ok(bytes) => bytes.value.to_string(),
        Err(_) => value,
    }
}

/// Digest of [`work`].
pub fn configuration(run: &Run) -> String {
    let lines = work(run);
    let lines = lines
        .iter()
        .map(|(name, values)| format!("{name}={}", values.join(",")));
    digest(lines.collect::<Vec<_>>().join("\n").as_bytes())
}

/// A device as the history knows it.
#[derive(Debug, PartialEq)]
pub struct KnownDevice {
    pub name: String,
    pub identity: String,
    pub configuration: String,
    pub model: Option<String>,
    pub size_bytes: Option<i64>,
}

/// The devices below the targets, arrays before their members.
pub fn devices(run: &Run, host: &str) -> Vec<KnownDevice> {
    fn walk(disks: &[result::Disk], names: &mut Vec<String>) {
        for disk in disks {
            names.push(disk.name.clone());
            walk(&disk.members, names);
        }
    }
    let mut names = Vec::new();
    walk(&run.disks, &mut names);
    if let Some(picture) = &run.host {
        // A run without disk statistics still has targets.
        names.extend(
            picture
                .targets
                .iter()
                .flat_map(|target| target.devices.clone()),
        );
    }
    let mut known: Vec<KnownDevice> = Vec::new();
    for name in names {
        if known.iter().all(|device| device.name != name) {
            let picture = run.host.as_ref().and_then(|picture| picture.device(&name));
            known.push(device(name, host, picture));
        }
    }
    known
}

fn device(name: String, host: &str, picture: Option<&host::Device>) -> KnownDevice {
    let identity = picture.and_then(|device| device.identity());
    KnownDevice {
        identity: identity.map_or_else(|| format!("{host}:{name}"), str::to_owned),
        configuration: picture.map_or_else(String::new, |device| {
            digest_of(&host::Device {
                // What changes from run to run is not how it is set up.
                name: String::new(),
                number: String::new(),
                smart: None,
                smart_after: None,
                ebs: None,
                ebs_after: None,
                holders: Vec::new(),
                mounts: Vec::new(),
                members: Vec::new(),
                signatures: Vec::new(),
                probed: false,
                ..device.clone()
            })
        }),
        model: picture.and_then(|device| device.model.clone()),
        size_bytes: picture.and_then(|device| i64::try_from(device.size_bytes).ok()),
        name,
    }
}

/// Digest of what a machine is: its processors, memory and kernel, not what is plugged in.
pub fn machine(picture: &result::Host) -> String {
    digest_of(&result::Host {
        targets: Vec::new(),
        file_systems: Vec::new(),
        devices: Vec::new(),
        // Its path tells the login, its limits tell the machine.
        limits: picture.limits.clone().map(|limits| host::Limits {
            group: String::new(),
            ..limits
        }),
        ..picture.clone()
    })
}

fn digest_of(value: &impl Serialize) -> String {
    document::digest_of(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(options: &[(&str, &str)]) -> Run {
        let own = |(name, value): &(&str, &str)| (name.to_string(), value.to_string());
        Run {
            jobs: vec![Job {
                options: options.iter().map(own).collect(),
                ..Job::default()
            }],
            ..Run::default()
        }
    }

    #[test]
    fn work_is_told_from_its_spelling_and_its_place() {
        let one = asked(&[("rw", "randread"), ("bs", "4k"), ("filename", "/dev/sda")]);
        let same = asked(&[
            ("bs", "4096"),
            ("readwrite", "RANDREAD"),
            ("filename", "/x"),
        ]);
        let other = asked(&[("rw", "randread"), ("bs", "8k"), ("filename", "/dev/sda")]);
        assert_eq!(configuration(&one), configuration(&same));
        assert_ne!(configuration(&one), configuration(&other));
    }

    #[test]
    fn a_device_is_known_by_its_serial_number_and_its_settings() {
        let picture = |name: &str, scheduler: &str| host::Device {
            name: name.to_owned(),
            serial: Some("S1".to_owned()),
            queue: host::Queue {
                scheduler: Some(scheduler.to_owned()),
                ..host::Queue::default()
            },
            ..host::Device::default()
        };
        let known = |picture| device("x".to_owned(), "h", Some(&picture));
        let one = known(picture("sda", "none"));
        assert_eq!(one, known(picture("sdb", "none")));
        let other = known(picture("sda", "mq-deadline"));
        assert_eq!(one.identity, other.identity);
        assert_ne!(one.configuration, other.configuration);
        assert_eq!(device("sdc".to_owned(), "h", None).identity, "h:sdc");
    }
}
