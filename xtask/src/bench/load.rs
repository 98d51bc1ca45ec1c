//! Rows that compare I/Os per second and user CPU time per I/O.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::rows::{Measure, Row};
use super::table::Round;
use super::{Bench, Tool};

/// For taskset: no restriction.
const ALL_CPUS: &str = "0-1023";
/// Seconds of one full run.
const FULL_S: u64 = 3;

/// What one run reported.
#[derive(Debug)]
struct Load {
    ios: u64,
    iops: f64,
    user_ns_per_io: f64,
}

/// Both tools once.
pub fn round(row: &Row, bench: &Bench, round: usize) -> Result<Round> {
    let (assay, fio) = bench.pair(round, |tool| run(row, bench, tool, None))?;
    if bench.is_quick() {
        let same = assay.ios == fio.ios && assay.ios == row.quick_ios;
        ensure!(
            same,
            "Assay counted {} I/Os, fio {}, asked {}",
            assay.ios,
            fio.ios,
            row.quick_ios
        );
    }
    let cpu = (fio.user_ns_per_io > 0.0).then(|| assay.user_ns_per_io / fio.user_ns_per_io);
    Ok(Round {
        assay: assay.iops,
        fio: fio.iops,
        user_cpu_ratio: cpu,
    })
}

/// What each of several jobs does, as a share of what one job does alone; both tools.
pub fn scaling(row: &Row, jobs: u32, bench: &Bench, round: usize) -> Result<Round> {
    let (assay, fio) = bench.pair(round, |tool| {
        let one = run(row, bench, tool, Some(1))?.iops;
        let all = run(row, bench, tool, Some(jobs))?.iops;
        Ok(all / f64::from(jobs) / one)
    })?;
    Ok(Round {
        assay,
        fio,
        user_cpu_ratio: None,
    })
}

/// One run: pinned to one CPU, or so many jobs wherever the system puts them.
fn run(row: &Row, bench: &Bench, tool: Tool, jobs: Option<u32>) -> Result<Load> {
    bench.places().warm(row.target)?;
    let mut words = row.arguments(bench, tool);
    if let Some(jobs) = jobs {
        let seconds = if bench.is_quick() { 1 } else { FULL_S };
        words.extend([format!("--numjobs={jobs}"), "--group_reporting".into()]);
        words.extend(["--time_based".into(), format!("--runtime={seconds}")]);
    } else if bench.is_quick() || row.measure == Measure::Whole {
        words.push(format!("--io_size={}", row.quick_ios * 4096));
    } else {
        words.extend(["--time_based".into(), format!("--runtime={FULL_S}")]);
    }
    words.push("--output-format=json".into());
    let cpus = if jobs.is_some() {
        ALL_CPUS
    } else {
        pinned_cpu()
    };
    let start = Instant::now();
    let output = Command::new("taskset")
        .args(["-c", cpus])
        .args(bench.program(tool))
        .args(&words)
        .output()
        .context("taskset")?;
    let elapsed = start.elapsed();
    bench.places().remove_logs();
    let complaint = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || !complaint.is_empty() {
        bail!(
            "{tool:?} {}: {} {complaint}",
            words.join(" "),
            output.status
        );
    }
    let text = String::from_utf8_lossy(&output.stdout);
    // fio may print remarks ahead of the document.
    let document = text.find("{\n").map_or("", |at| &text[at..]);
    let report: Value = serde_json::from_str(document).context("the JSON report")?;
    let mut load = load(&report["jobs"][0]).with_context(|| format!("{tool:?}'s report"))?;
    if row.measure == Measure::Whole {
        load.iops = load.ios as f64 / elapsed.as_secs_f64();
    }
    Ok(load)
}

fn load(job: &Value) -> Result<Load> {
    let sum = |key: &str| -> f64 {
        ["read", "write"]
            .iter()
            .filter_map(|direction| job[*direction][key].as_f64())
            .sum()
    };
    let ios = sum("total_ios") as u64;
    ensure!(ios > 0 && sum("iops") > 0.0, "no I/O was counted");
    let runtime_ms = job["job_runtime"].as_f64().context("job_runtime")?;
    let user_percent = job["usr_cpu"].as_f64().context("usr_cpu")?;
    let user_ns_per_io = user_percent / 100.0 * runtime_ms * 1e6 / ios as f64;
    Ok(Load {
        ios,
        iops: sum("iops"),
        user_ns_per_io,
    })
}

/// The second processor where there is one: the first serves most interrupts.
pub fn pinned_cpu() -> &'static str {
    match std::thread::available_parallelism() {
        Ok(count) if count.get() > 1 => "1",
        _ => "0",
    }
}
