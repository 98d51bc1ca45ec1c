//! `cargo xtask bench --history`: how long a large history takes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use result::{Run, import};
use store::{About, Sqlite, Store};

use crate::shell;

/// Reports of fio to import, and runs in the history to search.
const FILES: usize = 1_000;
const RUNS: usize = 100_000;
/// The same where only counting is checked.
const QUICK: (usize, usize) = (20, 500);
/// Times that each search is repeated; the median counts.
const ROUNDS: usize = 7;

/// Searches, each a whole process: name, words.
const SEARCHES: [(&str, &[&str]); 6] = [
    ("list, the last 50", &["--last", "50"]),
    ("list, a device", &["--device", "nvme7n1"]),
    ("list, a host", &["--host", "host7"]),
    ("list, a tag", &["--tag", "release"]),
    (
        "list, a month",
        &["--since", "2024-03-01", "--until", "2024-04-01"],
    ),
    ("list, everything", &[]),
];

/// Fills a history and searches it.
///
/// # Errors
/// A run or a count that failed.
pub fn run(assay: &Path, quick: bool) -> Result<()> {
    let (files, runs) = if quick { QUICK } else { (FILES, RUNS) };
    let place = shell::target().join("bench-history");
    if place.exists() {
        fs::remove_dir_all(&place)?;
    }
    fs::create_dir_all(&place)?;
    println!("| history | time |\n|---|---:|");
    let paths = reports(assay, &place, files)?;
    let db = place.join("imported.db");
    let begun = Instant::now();
    let mut command = Command::new(assay);
    command.arg("import").arg("--db").arg(&db).args(&paths);
    let done = command.stdout(Stdio::null()).status()?;
    ensure!(done.success(), "assay import failed");
    let took = begun.elapsed().as_secs_f64();
    println!("| import of {files} JSON reports of fio | {took:.2} s |");
    let kept = count(assay, &db, &[])?;
    ensure!(kept == files, "{kept} of {files} runs were kept");

    let db = place.join("large.db");
    fill(&paths[0], &db, runs)?;
    for (name, words) in SEARCHES {
        let rounds = if quick { 1 } else { ROUNDS };
        let mut times = Vec::new();
        for _ in 0..rounds {
            let begun = Instant::now();
            ensure!(count(assay, &db, words)? > 0, "{name}: nothing found");
            times.push(begun.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        println!(
            "| {name}, of {runs} runs | {:.0} ms |",
            times[times.len() / 2]
        );
    }
    fs::remove_dir_all(&place)?;
    Ok(())
}

/// Reports of one job, each of another minute.
pub(super) fn reports(assay: &Path, place: &Path, files: usize) -> Result<Vec<PathBuf>> {
    let words = "fio --name=job --ioengine=null --size=64m --rw=randrw --output-format=json+";
    let made = Command::new(assay).args(words.split(' ')).output()?;
    ensure!(made.status.success(), "assay fio failed");
    let text = String::from_utf8(made.stdout)?;
    let stamp = text
        .lines()
        .find(|line| line.contains("\"timestamp_ms\""))
        .context("a report has a time")?;
    let write = |n: usize| {
        let path = place.join(format!("{n}.json"));
        let ms = 1_700_000_000_000 + n * 60_000;
        let line = format!("  \"timestamp_ms\" : {ms},");
        fs::write(&path, text.replace(stamp, &line))?;
        Ok(path)
    };
    (0..files).map(write).collect()
}

/// So many runs over ten years, of ten hosts with ten devices each.
pub(super) fn fill(report: &Path, db: &Path, runs: usize) -> Result<()> {
    let text = fs::read_to_string(report)?;
    let Some(run) = import::read("report", &text).runs.pop() else {
        bail!("the report is not read");
    };
    let mut store = Sqlite::open(db)?;
    let step_ms = 10 * 365 * 86_400_000 / runs as u64;
    for n in 0..runs {
        let disk = result::Disk {
            name: format!("nvme{}n1", n / 10 % 10),
            ..result::Disk::default()
        };
        let run = Run {
            finished_ms: 1_500_000_000_000 + n as u64 * step_ms,
            disks: vec![disk],
            ..run.clone()
        };
        let about = About {
            host: Some(format!("host{}", n % 10)),
            tags: match n % 1000 {
                0 => vec!["release".to_owned()],
                _ => Vec::new(),
            },
            ..About::default()
        };
        store.save(&run, &about)?;
    }
    Ok(())
}

/// Lines of a list.
fn count(assay: &Path, db: &Path, words: &[&str]) -> Result<usize> {
    let mut command = Command::new(assay);
    command
        .args(["history", "list", "--db"])
        .arg(db)
        .args(words);
    let done = command.stderr(Stdio::inherit()).output()?;
    ensure!(done.status.success(), "assay history list failed");
    Ok(done.stdout.iter().filter(|byte| **byte == b'\n').count())
}
