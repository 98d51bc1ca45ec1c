//! What must hold inside any JSON report, whatever was measured.

use serde_json::Value;

/// Every broken relation in a report, as text.
pub fn incoherences(document: &Value) -> Vec<String> {
    let mut out = Vec::new();
    let version = document["fio version"].as_str().unwrap_or_default();
    if !version.starts_with("fio-3.") {
        out.push(format!("fio version is `{version}`"));
    }
    let jobs = document["jobs"].as_array().cloned().unwrap_or_default();
    if jobs.is_empty() {
        out.push("no jobs".into());
    }
    for job in &jobs {
        let name = job["jobname"].as_str().unwrap_or("?");
        for direction in ["read", "write", "trim"] {
            let at = format!("{name}.{direction}");
            of_direction(&at, &job[direction], job, &mut out);
        }
        percent_sum(name, job, "iodepth_submit", &mut out);
        percent_sum(name, job, "iodepth_complete", &mut out);
    }
    out
}

fn of_direction(at: &str, direction: &Value, job: &Value, out: &mut Vec<String>) {
    let int = |key: &str| direction[key].as_u64().unwrap_or(u64::MAX);
    let (bytes, ios, runtime_ms) = (int("io_bytes"), int("total_ios"), int("runtime"));
    if int("io_kbytes") != bytes / 1024 {
        out.push(format!("{at}: io_kbytes is not io_bytes / 1024"));
    }
    if ios == 0 {
        return;
    }
    if runtime_ms == 0 {
        out.push(format!("{at}: {ios} I/Os in no time"));
        return;
    }
    // Rates come from a finer clock than `runtime`, so allow one millisecond of rounding.
    let slack = 1.0 / runtime_ms as f64 + 1e-3;
    near(
        &format!("{at}.iops"),
        ios as f64 * 1e3 / runtime_ms as f64,
        &direction["iops"],
        slack,
        out,
    );
    let rate = bytes as f64 * 1e3 / runtime_ms as f64;
    near(
        &format!("{at}.bw_bytes"),
        rate,
        &direction["bw_bytes"],
        slack,
        out,
    );
    latencies(at, direction, ios, job, out);
}

fn latencies(at: &str, direction: &Value, ios: u64, job: &Value, out: &mut Vec<String>) {
    let reduced = ["gtod_reduce", "disable_lat", "disable_clat", "disable_slat"];
    if reduced
        .iter()
        .any(|option| !job["job options"][*option].is_null())
    {
        return;
    }
    let mean = |class: &str| direction[class]["mean"].as_f64().unwrap_or(-1.0);
    let count = |class: &str| direction[class]["N"].as_u64().unwrap_or(0);
    if count("clat_ns") == 0 {
        out.push(format!("{at}: {ios} I/Os without a completion latency"));
    }
    if count("slat_ns") == count("lat_ns") && count("lat_ns") == count("clat_ns") {
        let sum = mean("slat_ns") + mean("clat_ns");
        if (sum - mean("lat_ns")).abs() > 1.0 {
            out.push(format!(
                "{at}: slat + clat = {sum}, lat = {}",
                mean("lat_ns")
            ));
        }
    }
    for class in ["clat_ns", "lat_ns"] {
        histogram(&format!("{at}.{class}"), &direction[class], out);
    }
}

fn histogram(at: &str, latency: &Value, out: &mut Vec<String>) {
    let value = |key: &str| latency[key].as_f64().unwrap_or(0.0);
    if value("N") > 0.0 && !(value("min") <= value("mean") && value("mean") <= value("max")) {
        out.push(format!("{at}: the mean is outside min..max"));
    }
    if let Some(bins) = latency["bins"].as_object() {
        let total: u64 = bins.values().filter_map(Value::as_u64).sum();
        if total != latency["N"].as_u64().unwrap_or(0) {
            out.push(format!("{at}: bins hold {total} of N = {}", latency["N"]));
        }
    }
    if let Some(percentiles) = latency["percentile"].as_object() {
        let values: Vec<u64> = percentiles.values().filter_map(Value::as_u64).collect();
        if !values.is_sorted() {
            out.push(format!("{at}: percentiles fall"));
        }
        // A bin's midpoint is at most 1/128 away from any value in it.
        if values
            .last()
            .is_some_and(|last| *last as f64 > value("max") * (1.0 + 1.0 / 64.0) + 1.0)
        {
            out.push(format!("{at}: the last percentile is above max"));
        }
    }
}

fn percent_sum(name: &str, job: &Value, map: &str, out: &mut Vec<String>) {
    let sum: f64 = job[map]
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(_, v)| v.as_f64())
        .sum();
    // Non-zero shares are floored at 0.1, so seven small ones can add up to a little more.
    if sum != 0.0 && !(99.0..=101.0).contains(&sum) {
        out.push(format!("{name}.{map}: adds up to {sum}"));
    }
}

fn near(at: &str, want: f64, found: &Value, slack: f64, out: &mut Vec<String>) {
    let found = found.as_f64().unwrap_or(-1.0);
    if (found - want).abs() > want * slack + 1.0 {
        out.push(format!(
            "{at}: {found}, but bytes, counts and runtime say {want}"
        ));
    }
}
