//! fio's `json` and `json+` (3.x) as documents.
//!
//! JSON keeps percentages and deviations where a `Run` keeps counts and squares; they are
//! reconstructed so that rendering the document prints the same figures. Distributions come
//! only from `json+`. What fio does not write (thread ids, how many workers a block folds)
//! is left at its default or taken from the options.

mod parts;

use super::{Found, ImportError, Out, fio_old};
use crate::{
    Direction, Failure, Job, LatencyTarget, Options, Reporting, Run, SCHEMA_VERSION, SyncStats,
    Unified, Usage,
};
use measure::Coarse;
use parts::{FioDirection, FioDisk, FioSteady, FioSync, batch_map, count, cpu_idle, depth_map};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use units::{Ddir, PerDdir};

/// The entry that sums the others in client mode; a `Run` sums by itself.
const ALL_CLIENTS: &str = "All clients";

/// All documents of a text: one, or one per interval of a running report. Lines before the first
/// `{`, such as fio's notes, are passed over.
pub fn fio_json(text: &str) -> Result<Vec<Run>, ImportError> {
    let starts = |line: &str| line.trim_end() == "{" || line.starts_with("{\"");
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if starts(line) {
            break;
        }
        at += line.len();
    }
    let mut runs = Vec::new();
    for document in serde_json::Deserializer::from_str(&text[at..]).into_iter::<Root>() {
        let document = document.map_err(|source| ImportError::Malformed {
            document: runs.len() + 1,
            source,
        })?;
        runs.push(document.into_run());
    }
    if runs.is_empty() {
        return Err(ImportError::NoDocument);
    }
    Ok(runs)
}

/// One document, or what another format became.
pub(super) fn run_of(tree: Value) -> Result<Run, serde_json::Error> {
    if let Some(number) = absurd(&tree) {
        let why = format!("{number:e} is larger than anything that can be measured");
        return Err(serde::de::Error::custom(why));
    }
    Root::deserialize(tree).map(Root::into_run)
}

/// The name of a percentile.
fn percent(key: &str) -> Option<f64> {
    let number = key.parse::<f64>().ok();
    number.filter(|percent| (0.0..=100.0).contains(percent))
}

/// A number whose multiples would be infinite. Counters may have any value of their 64 bits.
fn absurd(tree: &Value) -> Option<f64> {
    const MOST: f64 = 1e21;
    match tree {
        Value::Number(number) => number.as_f64().filter(|number| number.abs() > MOST),
        Value::Array(items) => items.iter().find_map(absurd),
        Value::Object(fields) => fields.values().find_map(absurd),
        _ => None,
    }
}

/// Documents that begin at line `at`: fio's or our own, one after the other. The line on which
/// the last one ends; `None` where none begins.
pub(super) fn documents(lines: &[&str], at: usize, out: &mut Out) -> Option<usize> {
    /// Where a document of either kind shows what it is, in lines and in bytes of the first.
    const SIGHT: (usize, usize) = (8, 400);
    let line = lines[at].trim();
    if !(line == "{" || line.starts_with("{\"")) {
        return None;
    }
    let sight = lines[at..].iter().take(SIGHT.0);
    let mut marks = sight.map(|line| {
        line.char_indices()
            .nth(SIGHT.1)
            .map_or(*line, |(n, _)| &line[..n])
    });
    if !marks.any(|line| line.contains("\"fio version\"") || line.contains("\"schema\"")) {
        return None;
    }
    // One document at a time: a line that ends it tells where the next may begin.
    let text = lines[at..].join("\n");
    let mut stream = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
    let tree = match stream.next()? {
        Ok(tree) => tree,
        Err(error) => {
            out.problem(
                at + error.line().saturating_sub(1),
                format!("JSON: {error}"),
            );
            return Some((at + error.line().saturating_sub(1)).min(lines.len() - 1));
        }
    };
    let document = &text[..stream.byte_offset()];
    let end = document.matches('\n').count() + at;
    let (read, format) = if tree.get("fio version").is_some() {
        (run_of(fio_old::modernised(tree)), "fio-json")
    } else {
        (own(&tree, document), "assay")
    };
    match read {
        Ok(run) => out.found.push(Found {
            run,
            first: at,
            last: end,
            format,
        }),
        Err(error) => out.problem(at, format!("JSON: {error}")),
    }
    Some(end)
}

/// A document of ours, of this version or an older one.
///
/// It is read from the text: a `Value` has no integers of 128 bits, as sums of squares are.
fn own(tree: &Value, text: &str) -> Result<Run, serde_json::Error> {
    let schema = tree.get("schema").and_then(Value::as_u64).unwrap_or(0);
    if schema > u64::from(SCHEMA_VERSION) {
        return Err(serde::de::Error::custom(format!(
            "a document of version {schema}, and this program knows versions up to {SCHEMA_VERSION}"
        )));
    }
    serde_json::from_str(text)
}

#[derive(Deserialize)]
struct Root {
    #[serde(rename = "fio version")]
    version: String,
    #[serde(default)]
    timestamp: u64,
    timestamp_ms: Option<u64>,
    #[serde(default)]
    time: String,
    #[serde(default, rename = "global options")]
    global: Map<String, Value>,
    #[serde(default)]
    jobs: Vec<FioJob>,
    /// Client mode: the jobs of all hosts, and with several hosts their sum.
    #[serde(default)]
    client_stats: Vec<FioJob>,
    #[serde(default)]
    disk_util: Vec<FioDisk>,
    cpu_idleness: Option<BTreeMap<String, f64>>,
}

impl Root {
    fn into_run(self) -> Run {
        let global_options = options(&self.global);
        let finished_ms = self
            .timestamp_ms
            .unwrap_or(self.timestamp.saturating_mul(1000));
        let clients = self.client_stats.into_iter();
        let clients = clients.filter(|job| job.jobname != ALL_CLIENTS);
        let jobs: Vec<FioJob> = self.jobs.into_iter().chain(clients).collect();
        let eta_s = jobs.first().map_or(0, |job| job.eta);
        Run {
            schema: SCHEMA_VERSION,
            tool_version: self.version,
            finished_ms,
            utc_offset_s: utc_offset_s(&self.time, finished_ms / 1000),
            eta_s: u64::try_from(eta_s).unwrap_or(0),
            jobs: (1..)
                .zip(jobs)
                .map(|(n, job)| job.into_job(n, &global_options))
                .collect(),
            disks: parts::disks(self.disk_util),
            cpu_idle: self.cpu_idleness.map(|idle| cpu_idle(&idle)),
            global_options,
            ..Run::default()
        }
    }
}

/// Local time of day (`... HH:MM:SS YYYY`) less that of UTC, within the zones there are.
fn utc_offset_s(time: &str, epoch_s: u64) -> i32 {
    let parts: Vec<i64> = time
        .split_whitespace()
        .find(|word| word.contains(':'))
        .map(|clock| {
            clock
                .split(':')
                .filter_map(|part| part.parse().ok())
                .collect()
        })
        .unwrap_or_default();
    let [hours @ 0..=23, minutes @ 0..=59, seconds @ 0..=60] = parts[..] else {
        return 0;
    };
    let day_s = (epoch_s % 86_400) as i64;
    let ahead_s = hours * 3600 + minutes * 60 + seconds - day_s;
    // Whole quarters of an hour, from -12 to +14 hours.
    let ahead_s = (ahead_s as f64 / 900.0).round() as i64 * 900;
    ((ahead_s + 43_200).rem_euclid(86_400) - 43_200) as i32
}

fn options(map: &Map<String, Value>) -> Options {
    map.iter()
        .map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()))
        .collect()
}

#[derive(Deserialize)]
struct FioJob {
    jobname: String,
    #[serde(default)]
    groupid: u32,
    #[serde(default)]
    job_start: u64,
    /// Ours, of texts: workers in the block.
    assay_members: Option<u32>,
    /// Ours, of texts.
    #[serde(default)]
    assay_pid: u32,
    #[serde(default)]
    error: i32,
    #[serde(default)]
    eta: i64,
    #[serde(default)]
    elapsed: u64,
    #[serde(default, rename = "job options")]
    options: Map<String, Value>,
    read: Option<FioDirection>,
    write: Option<FioDirection>,
    trim: Option<FioDirection>,
    mixed: Option<FioDirection>,
    sync: Option<FioSync>,
    #[serde(default)]
    job_runtime: u64,
    #[serde(default)]
    usr_cpu: f64,
    #[serde(default)]
    sys_cpu: f64,
    #[serde(default)]
    ctx: u64,
    #[serde(default)]
    majf: u64,
    #[serde(default)]
    minf: u64,
    #[serde(default)]
    iodepth_level: HashMap<String, f64>,
    #[serde(default)]
    iodepth_submit: HashMap<String, f64>,
    #[serde(default)]
    iodepth_complete: HashMap<String, f64>,
    #[serde(default)]
    latency_ns: HashMap<String, f64>,
    #[serde(default)]
    latency_us: HashMap<String, f64>,
    #[serde(default)]
    latency_ms: HashMap<String, f64>,
    total_err: Option<u64>,
    #[serde(default)]
    first_error: i32,
    #[serde(default)]
    latency_depth: u32,
    #[serde(default)]
    latency_target: u64,
    #[serde(default)]
    latency_percentile: f64,
    #[serde(default)]
    latency_window: u64,
    desc: Option<String>,
    steadystate: Option<FioSteady>,
    zone_resets: Option<u64>,
}

impl FioJob {
    fn into_job(self, number: u32, global: &Options) -> Job {
        let options = options(&self.options);
        let reporting = self.reporting(global, &options);
        let members = match find(global, &options, "numjobs") {
            _ if self.assay_members.is_some() => self.assay_members.unwrap_or(1),
            Some(count) if reporting.grouped => count.parse().unwrap_or(1),
            _ => 1,
        };
        let first = self
            .mixed
            .as_ref()
            .filter(|_| self.read.is_none())
            .or(self.read.as_ref());
        let direction = |from: Option<&FioDirection>| {
            from.map_or_else(Direction::default, FioDirection::to_direction)
        };
        let dirs = PerDdir([
            direction(first),
            direction(self.write.as_ref()),
            direction(self.trim.as_ref()),
        ]);
        let ios = Ddir::DATA.into_iter().map(|ddir| dirs[ddir].issued).sum();
        let us = |percent: f64| (percent * 10.0 * self.job_runtime as f64).round() as u64;
        Job {
            description: self.desc.clone(),
            number,
            pid: self.assay_pid,
            group: self.groupid,
            members,
            started_ms: self.job_start,
            elapsed_s: self.elapsed,
            failure: (self.error != 0 && self.error != self.first_error).then(|| Failure {
                errno: self.error,
                ..Failure::default()
            }),
            total_errors: self.total_err.unwrap_or(0),
            first_error: self.first_error,
            reporting,
            sync: self
                .sync
                .as_ref()
                .map_or_else(SyncStats::default, FioSync::to_stats),
            runtime_ms: self.job_runtime,
            usage: Usage {
                user_us: us(self.usr_cpu),
                system_us: us(self.sys_cpu),
                context_switches: self.ctx,
                major_faults: self.majf,
                minor_faults: self.minf,
            },
            depth: depth_map(&self.iodepth_level, ios),
            submit: batch_map(&self.iodepth_submit),
            complete: batch_map(&self.iodepth_complete),
            coarse: self.coarse(ios),
            target: LatencyTarget {
                target_ns: self.latency_target,
                window_ns: self.latency_window.saturating_mul(1000),
                percentile: self.latency_percentile,
                depth: self.latency_depth,
            },
            steady: self.steadystate.and_then(FioSteady::into_steady),
            zone_resets: self.zone_resets.unwrap_or(0),
            name: self.jobname,
            options,
            dirs,
            ..Job::default()
        }
    }

    fn reporting(&self, global: &Options, own: &Options) -> Reporting {
        let number = |name, default| {
            find(global, own, name)
                .and_then(|text| text.parse().ok())
                .unwrap_or(default)
        };
        let directions = [&self.read, &self.write, &self.trim, &self.mixed];
        let any = |has: fn(&FioDirection) -> bool| {
            directions.iter().any(|dir| dir.as_ref().is_some_and(has))
        };
        let mut how = Reporting {
            grouped: find(global, own, "group_reporting").is_some_and(|text| text != "0"),
            unified: match (&self.mixed, &self.read) {
                (None, _) => Unified::Separate,
                (Some(_), None) => Unified::Mixed,
                (Some(_), Some(_)) => Unified::Both,
            },
            kb_base: number("kb_base", 1024),
            unit_base: number("unit_base", 0),
            significant_figures: number("significant_figures", 4),
            slat_percentiles: any(|dir| dir.slat_ns.percentile.is_some()),
            clat_percentiles: any(|dir| dir.clat_ns.percentile.is_some()),
            lat_percentiles: any(|dir| dir.lat_ns.percentile.is_some()),
            has_slat: any(|dir| dir.slat_ns.n > 0),
            has_clat: any(|dir| dir.clat_ns.n > 0),
            has_lat: any(|dir| dir.lat_ns.n > 0),
            continues_on_error: self.total_err.is_some(),
            zoned: self.zone_resets.is_some(),
            ..Reporting::default()
        };
        let classes = directions
            .into_iter()
            .flatten()
            .flat_map(|dir| [&dir.clat_ns, &dir.lat_ns, &dir.slat_ns]);
        if let Some(list) = classes.filter_map(|class| class.percentile.as_ref()).next() {
            how.percentiles = list.keys().filter_map(|key| percent(key)).collect();
            how.percentiles.sort_by(f64::total_cmp);
        }
        if let Some(list) = find(global, own, "percentile_list") {
            how.percentile_precision = precision(list);
        }
        how
    }

    /// Counts from shares: a share that was floored when printed prints the same again.
    fn coarse(&self, ios: u64) -> Coarse {
        const LABELS: [&str; 12] = [
            "2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000",
        ];
        fn slots<const N: usize>(shares: &HashMap<String, f64>, ios: u64) -> [u64; N] {
            std::array::from_fn(|i| {
                let share = shares.get(LABELS[i]).copied().unwrap_or(0.0);
                count(share, ios).max(u64::from(share > 0.0))
            })
        }
        Coarse {
            ns: slots(&self.latency_ns, ios),
            us: slots(&self.latency_us, ios),
            ms: slots(&self.latency_ms, ios),
        }
    }
}

/// Decimals of the most precise entry as written.
fn precision(list: &str) -> u32 {
    let decimals = |entry: &str| entry.split_once('.').map_or(0, |(_, digits)| digits.len());
    list.split(':').map(decimals).max().unwrap_or(0) as u32
}

/// An option of the job, or else of all jobs.
fn find<'a>(global: &'a Options, own: &'a Options, name: &str) -> Option<&'a str> {
    own.iter()
        .chain(global)
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_document_and_the_place() {
        assert!(matches!(
            fio_json("fio: no such file\n"),
            Err(ImportError::NoDocument)
        ));
        let text = "note: something\n{\n  \"fio version\" : \"fio-3.33\",\n";
        let error = fio_json(text).unwrap_err().to_string();
        assert!(
            error.starts_with("document 1: ") && error.contains("line"),
            "{error}"
        );
    }

    #[test]
    fn offsets_of_zones() {
        assert_eq!(utc_offset_s("Sat Nov 21 22:20:21 2026", 1_795_299_621), 0);
        assert_eq!(
            utc_offset_s("Sun Nov 22 00:20:21 2026", 1_795_299_621),
            7_200
        );
        assert_eq!(
            utc_offset_s("Sat Nov 21 17:20:21 2026", 1_795_299_621),
            -18_000
        );
        assert_eq!(utc_offset_s("", 1_795_299_621), 0);
    }

    #[test]
    fn precision_is_that_of_the_most_precise_entry() {
        assert_eq!(precision("50:99"), 0);
        assert_eq!(precision("50:99.9999:99.9"), 4);
    }
}
