//! `cargo xtask icount`: instructions per I/O of the hot path, counted by callgrind.
//!
//! Times on a shared machine scatter; counts do not. Each part runs with N and with 2 N
//! repetitions, so that what happens once drops out of the difference. The figures are compared
//! with `xtask/icount.json`; a change that is meant is recorded there with its reason.

mod traffic;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::{packages, shell};

/// Largest share by which a count may move unnoticed.
const TOLERANCE: f64 = 0.03;
/// Differences below this many instructions are of the counting, not of the code.
const GRAIN: f64 = 0.5;
/// Repetitions of the shorter run; a multiple of the batch sizes inside.
const COUNT: u64 = 1 << 18;

/// Parts of the probe.
const PARTS: [&str; 4] = [
    "histogram-add",
    "offsets-ascending",
    "offsets-uniform",
    "offsets-map",
];

/// Whole jobs: name and fio words. At depth 1 requests that take equally many ticks share an
/// addition to the statistics; the system's clock, under callgrind, hardly ever gives two that do.
const JOBS: [(&str, &str); 4] = [
    (
        "null-qd1",
        "--ioengine=null --rw=randread --norandommap --size=64g --clocksource=clock_gettime",
    ),
    (
        "null-qd32",
        "--ioengine=null --rw=randread --norandommap --size=64g --iodepth=32 \
         --iodepth_batch=32 --iodepth_batch_complete_min=32",
    ),
    (
        "null-qd32-single",
        "--ioengine=null --rw=randread --norandommap --size=64g --iodepth=32",
    ),
    (
        "null-refill",
        "--ioengine=null --rw=randwrite --norandommap --size=64g --refill_buffers",
    ),
];

/// Counts and compares; with a reason, records instead.
///
/// # Errors
/// A build or a run failed, or a count has moved.
pub fn run(words: &[String]) -> Result<()> {
    let reason = match words {
        [] => None,
        [flag] if flag == "--traffic" => {
            packages::ensure(&packages::FOR_COUNTING)?;
            return traffic::check();
        }
        [flag, reason] if flag == "--record" && !reason.trim().is_empty() => Some(reason),
        _ => bail!("usage: cargo xtask icount [--traffic | --record REASON]"),
    };
    packages::ensure(&packages::FOR_COUNTING)?;
    traffic::check()?;
    let counted = count()?;
    let path = shell::root().join("xtask/icount.json");
    let rustc = compiler()?;
    if let Some(reason) = reason {
        let record = json!({ "rustc": rustc, "reason": reason, "per_io": counted });
        fs::write(&path, serde_json::to_string_pretty(&record)? + "\n")?;
        eprintln!("icount: wrote {}", path.display());
        return Ok(());
    }
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let record: Value = serde_json::from_str(&text).context("icount.json")?;
    let recorded = record["rustc"].as_str().unwrap_or_default();
    if recorded != rustc {
        eprintln!("SKIPPED icount: recorded with rustc {recorded}, this is {rustc}");
        return Ok(());
    }
    let moved = compare(&record["per_io"], &counted);
    if !moved.is_empty() {
        bail!(
            "instructions per I/O have moved:\n{}\nif that is meant: \
             cargo xtask icount --record \"why\"",
            moved.join("\n")
        );
    }
    Ok(())
}

/// One line for each count that is new, gone or more than the tolerance away from its record.
fn compare(record: &Value, counted: &BTreeMap<String, f64>) -> Vec<String> {
    let mut moved = Vec::new();
    for (name, now) in counted {
        match record[name].as_f64() {
            Some(then) if (now - then).abs() <= (then * TOLERANCE).max(GRAIN) => {}
            Some(then) => moved.push(format!("{name}: {then:.1} before, {now:.1} now")),
            None => moved.push(format!("{name}: {now:.1}, not recorded")),
        }
    }
    let gone = record.as_object().into_iter().flatten();
    let gone = gone.filter(|(name, _)| !counted.contains_key(*name));
    moved.extend(gone.map(|(name, _)| format!("{name}: recorded, not counted")));
    moved
}

fn count() -> Result<BTreeMap<String, f64>> {
    let assay = shell::assay()?;
    let probe = shell::target().join("release/probe");
    let mut counted = BTreeMap::new();
    for part in PARTS {
        let words = |n: u64| vec![part.to_owned(), n.to_string()];
        counted.insert(part.to_owned(), per_repetition(&probe, words)?);
    }
    for (name, job) in JOBS {
        let words = |n: u64| {
            let mut words = vec!["fio".to_owned(), format!("--name={name}")];
            words.extend(job.split_whitespace().map(str::to_owned));
            words.extend(["--bs=4k".to_owned(), format!("--number_ios={n}")]);
            words
        };
        counted.insert(name.to_owned(), per_repetition(&assay, words)?);
    }
    for (name, instructions) in &counted {
        eprintln!("{name:<20} {instructions:>7.1} instructions");
    }
    Ok(counted)
}

/// Instructions of one repetition, rounded to a tenth.
fn per_repetition(program: &Path, words: impl Fn(u64) -> Vec<String>) -> Result<f64> {
    let short = instructions(program, &words(COUNT))?;
    let long = instructions(program, &words(2 * COUNT))?;
    ensure!(long > short, "{}: no work was counted", program.display());
    Ok(((long - short) as f64 / COUNT as f64 * 10.0).round() / 10.0)
}

fn instructions(program: &Path, words: &[String]) -> Result<u64> {
    let out: PathBuf = shell::target().join("icount.out");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet"])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(program)
        .args(words)
        .output()
        .context("valgrind")?;
    ensure!(
        output.status.success(),
        "{} {}: {}",
        program.display(),
        words.join(" "),
        String::from_utf8_lossy(&output.stderr)
    );
    let text = fs::read_to_string(&out).with_context(|| out.display().to_string())?;
    fs::remove_file(&out)?;
    total(&text).context("callgrind's total")
}

/// The `totals:` or `summary:` line of a profile.
fn total(profile: &str) -> Option<u64> {
    let line = profile
        .lines()
        .find_map(|l| l.strip_prefix("totals:").or(l.strip_prefix("summary:")))?;
    line.trim().parse().ok()
}

fn compiler() -> Result<String> {
    let text = shell::capture(&["rustc", "--version"])?;
    let version = text.split_whitespace().nth(1).context("rustc's version")?;
    Ok(version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moved_new_and_missing_counts_are_named() {
        let record = json!({ "same": 100.0, "grew": 100.0, "tiny": 4.0, "gone": 1.0 });
        let counted = [
            ("same", 102.9),
            ("grew", 103.2),
            ("tiny", 4.4),
            ("new", 7.0),
        ];
        let counted = counted.map(|(name, n)| (name.to_owned(), n)).into();
        assert_eq!(
            compare(&record, &counted),
            [
                "grew: 100.0 before, 103.2 now",
                "new: 7.0, not recorded",
                "gone: recorded, not counted"
            ]
        );
    }

    #[test]
    fn the_total_is_found() {
        assert_eq!(total("version: 1\nsummary: 12\n\ntotals: 12\n"), Some(12));
        assert_eq!(total("version: 1\n"), None);
    }
}
