//! Peak memory of many idle jobs: proportional set size summed over the process tree.

use std::collections::HashMap;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::rows::Row;
use super::table::Round;
use super::{Bench, Tool};

/// Jobs and seconds of a full run, and of a quick one.
const FULL: (u32, u64) = (1000, 4);
const QUICK: (u32, u64) = (50, 1);

/// Both tools once; the values are KiB, so that less is better.
pub fn round(row: &Row, bench: &Bench, round: usize) -> Result<Round> {
    let (assay, fio) = bench.pair(round, |tool| peak_kib(row, bench, tool))?;
    Ok(Round {
        assay,
        fio,
        user_cpu_ratio: None,
    })
}

fn peak_kib(row: &Row, bench: &Bench, tool: Tool) -> Result<f64> {
    let (jobs, seconds) = if bench.is_quick() { QUICK } else { FULL };
    let mut words = bench.program(tool);
    words.extend(row.arguments(bench, tool));
    words.push(format!("--numjobs={jobs}"));
    words.extend(["--time_based".into(), format!("--runtime={seconds}")]);
    let mut child = Command::new(&words[0])
        .args(&words[1..])
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .spawn()
        .with_context(|| words[0].clone())?;
    let peak = watch(&mut child)?;
    ensure!(
        peak > 0,
        "{tool:?} was gone before its memory could be read"
    );
    Ok(peak as f64)
}

/// Samples until the child ends.
fn watch(child: &mut Child) -> Result<u64> {
    let mut peak = 0;
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(status) = child.try_wait()? {
            ensure!(status.success(), "ended with {status}");
            return Ok(peak);
        }
        if Instant::now() > deadline {
            child.kill()?;
            child.wait()?;
            anyhow::bail!("did not end");
        }
        peak = peak.max(tree(child.id()).into_iter().filter_map(pss_kib).sum());
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A process and all its descendants.
fn tree(root: u32) -> Vec<u32> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    for pid in entries.filter_map(|e| e.file_name().to_str()?.parse::<u32>().ok()) {
        if let Some(parent) = parent(pid) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = vec![root];
    let mut next = 0;
    while let Some(pid) = found.get(next) {
        found.extend(children.remove(pid).unwrap_or_default());
        next += 1;
    }
    found
}

fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold blanks and parentheses; the state follows the last one.
    stat.rsplit_once(')')?
        .1
        .split_whitespace()
        .nth(1)?
        .parse()
        .ok()
}

/// Proportional set size: shared pages count once over all that share them.
fn pss_kib(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = text.lines().find(|line| line.starts_with("Pss:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
