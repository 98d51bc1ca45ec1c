//! `cargo xtask bench --report`: how long a report of very much takes, and how large it gets.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::history;
use crate::shell;

/// Runs in one report, and values in one log.
const RUNS: usize = 1_000;
const SAMPLES: u64 = 10_000_000;
/// The same where only counting is checked.
const QUICK: (usize, u64) = (20, 100_000);
/// Values of the log that end in one second.
const PER_S: u64 = 5_000;
/// Times that each report is made; the median counts.
const ROUNDS: usize = 5;
/// A page of more bytes is no page that anybody sends.
const LARGEST: u64 = 6_000_000;

/// Makes both reports and prints a table.
///
/// # Errors
/// A report that fails, is too large, or has lost the extremes of its log.
pub fn run(assay: &Path, quick: bool) -> Result<()> {
    let (runs, samples) = if quick { QUICK } else { (RUNS, SAMPLES) };
    let rounds = if quick { 1 } else { ROUNDS };
    let place = shell::target().join("bench-report");
    if place.exists() {
        fs::remove_dir_all(&place)?;
    }
    fs::create_dir_all(&place)?;
    println!("| report | time | page |\n|---|---:|---:|");
    let db = place.join("runs.db");
    history::fill(&history::reports(assay, &place, 1)?[0], &db, runs)?;
    let count = runs.to_string();
    let words = [
        "--db".as_ref(),
        db.as_os_str(),
        "--last".as_ref(),
        count.as_ref(),
    ];
    let page = row(
        assay,
        &place,
        rounds,
        &format!("{runs} runs of the history"),
        &words,
    )?;
    let title = format!("{runs} runs");
    ensure!(page.contains(&title), "the page is not of {title}");

    let log = place.join("x_clat.1.log");
    let most_ns = write_log(&log, samples)?;
    let name = format!("a log of {samples} latencies");
    let page = row(assay, &place, rounds, &name, &[log.as_os_str()])?;
    let shown = format!("{:.2} ms", most_ns as f64 / 1e6);
    ensure!(
        page.contains(&shown),
        "the largest value of the log, {shown}, is lost"
    );
    fs::remove_dir_all(&place)?;
    Ok(())
}

/// Makes a page so often; returns it.
fn row(
    assay: &Path,
    place: &Path,
    rounds: usize,
    name: &str,
    words: &[&std::ffi::OsStr],
) -> Result<String> {
    let page = place.join("report.html");
    let mut times = Vec::new();
    for _ in 0..rounds {
        let mut command = Command::new(assay);
        command.arg("report").arg("-o").arg(&page).args(words);
        let begun = Instant::now();
        let done = command.stdout(Stdio::null()).status()?;
        ensure!(done.success(), "{name}: assay report failed");
        times.push(begun.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    let bytes = fs::metadata(&page)?.len();
    println!(
        "| {name} | {:.2} s | {:.2} MB |",
        times[times.len() / 2],
        bytes as f64 / 1e6
    );
    ensure!(bytes <= LARGEST, "{name}: a page of {bytes} bytes");
    Ok(fs::read_to_string(&page)?)
}

/// Latencies of about 80 us with one that is much larger than all others, which is returned.
fn write_log(path: &Path, samples: u64) -> Result<u64> {
    let most_ns = 777_770_000;
    let mut out = BufWriter::new(File::create(path)?);
    for n in 0..samples {
        let value = match n == samples / 3 {
            true => most_ns,
            false => 80_000 + n * 7_919 % 9_000,
        };
        writeln!(out, "{}, {value}, 0, 4096, 0", n * 1000 / PER_S)?;
    }
    out.flush().context("the log")?;
    Ok(most_ns)
}
