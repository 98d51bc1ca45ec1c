//! fio's terse lines, versions 2 to 5.

use super::{Found, Out};
use serde_json::{Map, Value, json};

const DIRECTIONS: [&str; 4] = ["read", "write", "trim", "mixed"];
/// Fields of a direction before version 5.
const FIELDS: usize = 41;
/// Fields that version 5 adds to it.
const MORE: usize = 6;
const DEPTHS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
const LATENCIES: [&str; 12] = [
    "2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000",
];

/// Reads line `at` if it is a terse line.
pub(super) fn line(lines: &[&str], at: usize, out: &mut Out) -> bool {
    let text = lines[at].trim();
    let fields: Vec<&str> = text.split(';').collect();
    let version = match fields[0] {
        "2" => 2,
        "3" => 3,
        "4" => 4,
        "5" => 5,
        _ => return false,
    };
    if fields.len() < FIELDS || version > 2 && !fields[1].starts_with("fio-") {
        return false;
    }
    let read = tree(version, &fields).and_then(|tree| {
        let mut run = super::fio_json::run_of(tree).ok()?;
        run.notes
            .push("the numbers of I/Os are derived from their rates".to_owned());
        Some(run)
    });
    match read {
        Some(run) => out.found.push(Found {
            run,
            first: at,
            last: at,
            format: "fio-terse",
        }),
        None => out.unreadable(at, text),
    }
    true
}

fn tree(version: u32, fields: &[&str]) -> Option<Value> {
    let head = if version == 2 { 1 } else { 2 };
    let width = FIELDS + if version == 5 { MORE } else { 0 };
    let usual = if version == 3 { 2 } else { 3 };
    // The cost in percent stands behind the directions; with all of them mixed there is one, with
    // their mix beside them one more.
    let cost = |count: usize| {
        let at = head + 3 + count * width;
        let percent = |at: usize| fields.get(at).is_some_and(|field| field.ends_with('%'));
        (percent(at) && percent(at + 1)).then_some((count, at))
    };
    let (count, cost) = [usual, 1, usual + 1].into_iter().find_map(cost)?;
    let mut job = json!({
        "jobname": fields[head],
        "groupid": fields[head + 1].parse::<u32>().ok()?,
        "error": fields[head + 2].parse::<i32>().ok()?,
    });
    let mut runtime = 0;
    for (i, name) in DIRECTIONS.into_iter().enumerate().take(count) {
        let at = head + 3 + i * width;
        let direction = direction(&fields[at..at + width])?;
        runtime = runtime.max(direction["runtime"].as_u64()?);
        let mixed = count == 1 || i == usual;
        let name = if mixed { "mixed" } else { name };
        job[name] = direction;
    }
    let rest = fields.get(cost..)?;
    job["job_runtime"] = json!(runtime);
    job["usr_cpu"] = json!(percent(rest.first()?)?);
    job["sys_cpu"] = json!(percent(rest.get(1)?)?);
    for (i, key) in ["ctx", "majf", "minf"].into_iter().enumerate() {
        job[key] = json!(rest.get(2 + i)?.parse::<u64>().ok()?);
    }
    job["iodepth_level"] = shares(&DEPTHS, rest.get(5..12)?)?;
    job["latency_us"] = shares(&LATENCIES, rest.get(12..22)?)?;
    job["latency_ms"] = shares(&LATENCIES, rest.get(22..34)?)?;
    let mut rest = &rest[34..];
    let mut disks = Vec::new();
    while let Some(disk) = rest.get(..9).filter(|disk| disk[8].ends_with('%')) {
        rest = &rest[9..];
        let mut entry = disk_entry(disk)?;
        let members = rest.first() == Some(&"slaves");
        if members && let Some(sums) = rest.get(..9) {
            entry["aggr_read_ios"] = json!(sums[1].parse::<u64>().ok()?);
            entry["aggr_write_ios"] = json!(sums[2].parse::<u64>().ok()?);
            rest = &rest[9..];
        }
        disks.push(entry);
    }
    if let [total, first, ..] = rest
        && let (Ok(total), Ok(first)) = (total.parse::<u64>(), first.parse::<i32>())
    {
        job["total_err"] = json!(total);
        job["first_error"] = json!(first);
        rest = &rest[2..];
    }
    if let [description, ..] = rest {
        job["desc"] = json!(description);
    }
    let name = if version == 2 { "" } else { fields[1] };
    Some(json!({"fio version": name, "jobs": [job], "disk_util": disks}))
}

fn direction(fields: &[&str]) -> Option<Value> {
    let whole = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let real = |at: usize| {
        fields
            .get(at)?
            .parse::<f64>()
            .ok()
            .filter(|n| n.is_finite())
    };
    let (kib, rate, iops, runtime) = (whole(0)?, whole(1)?, whole(2)?, whole(3)?);
    let ios = iops.saturating_mul(runtime) / 1000;
    let latency = |at: usize| {
        let max = whole(at + 1)?;
        Some(json!({
            "min": whole(at)?.saturating_mul(1000),
            "max": max.saturating_mul(1000),
            "mean": real(at + 2)? * 1e3,
            "stddev": real(at + 3)? * 1e3,
            "N": if real(at + 2)? > 0.0 { ios.max(1) } else { 0 },
        }))
    };
    let mut list = Map::new();
    for field in &fields[12..32] {
        let (percent, us) = field.split_once("%=")?;
        let (percent, us): (f64, u64) = (percent.parse().ok()?, us.parse().ok()?);
        if percent > 0.0 && percent <= 100.0 && runtime > 0 {
            list.insert(format!("{percent:.6}"), json!(us.saturating_mul(1000)));
        }
    }
    let mut clat = latency(8)?;
    if !list.is_empty() {
        clat["percentile"] = Value::Object(list);
    }
    let mut tree = json!({
        "io_bytes": kib.saturating_mul(1024),
        "runtime": runtime,
        "total_ios": ios,
        "slat_ns": latency(4)?,
        "clat_ns": clat,
        "lat_ns": latency(32)?,
        "bw_min": whole(36)?,
        "bw_max": whole(37)?,
        "bw_mean": real(39)?,
        "bw_dev": real(40)?,
        "bw_samples": if real(39)? > 0.0 { 2 } else { 0 },
    });
    if let Some(n) = whole(41) {
        tree["bw_samples"] = json!(n);
        tree["iops_min"] = json!(whole(42)?);
        tree["iops_max"] = json!(whole(43)?);
        tree["iops_mean"] = json!(real(44)?);
        tree["iops_stddev"] = json!(real(45)?);
        tree["iops_samples"] = json!(whole(46)?);
    }
    if runtime > 0 {
        tree["assay_iops"] = json!(iops as f64);
        tree["assay_bytes_per_s"] = json!(rate as f64 * 1024.0);
    }
    Some(tree)
}

fn percent(field: &str) -> Option<f64> {
    let value: f64 = field.strip_suffix('%')?.trim().parse().ok()?;
    value.is_finite().then_some(value)
}

fn shares(labels: &[&str], fields: &[&str]) -> Option<Value> {
    let mut map = Map::new();
    for (label, field) in labels.iter().zip(fields) {
        map.insert((*label).to_owned(), json!(percent(field)?));
    }
    Some(Value::Object(map))
}

fn disk_entry(fields: &[&str]) -> Option<Value> {
    const KEYS: [&str; 7] = [
        "read_ios",
        "write_ios",
        "read_merges",
        "write_merges",
        "read_ticks",
        "write_ticks",
        "in_queue",
    ];
    let mut entry = json!({"name": fields[0], "util": percent(fields[8])?});
    for (key, field) in KEYS.into_iter().zip(&fields[1..8]) {
        entry[key] = json!(field.parse::<u64>().ok()?);
    }
    Some(entry)
}
