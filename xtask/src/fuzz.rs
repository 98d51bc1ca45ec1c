//! `cargo xtask fuzz`: damaged reports of every format through the readers, for a while.
//!
//! Nothing may panic, whatever a file holds, and what is read must be a document that comes back.
//! The damage is made from a number, so that a finding can be repeated: `--from NUMBER`. Plain
//! mutation without coverage, because coverage needs a nightly compiler.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use render::TerseVersion;
use result::{Run, import};

use crate::shell;

/// How long, unless `--seconds` says.
const SECONDS: u64 = 60;
/// The same as a part of all checks.
const SHORT: Duration = Duration::from_secs(15);
/// Longest text, in lines.
const WINDOW: u64 = 120;

/// Words that readers look for.
const WORDS: [&str; 24] = [
    "fio-3.33",
    "\"schema\":1",
    "\"fio version\" : \"fio-3.1\"",
    "{\n",
    "}\n",
    "[1,2]",
    "null",
    "-1",
    "18446744073709551615",
    "340282366920938463463374607431768211455",
    "1e308",
    "NaN",
    "3;fio-3.1;",
    "```\n",
    "$ fio --name=a\n",
    " bytes copied, ",
    "1+0 records out\n",
    "Measuring Maximum Memory Bandwidths\n",
    "  lat (usec)   : 50=99.99%\n",
    "clat percentiles (usec):\n |  1.00th=[",
    "| a | IOPS | Bandwidth |\n|---|---|---|\n",
    "\u{fffd}\u{1b}[0m",
    "\r",
    ";;;;;;;;",
];

/// Names by which a reader is chosen.
const NAMES: [&str; 4] = ["a.txt", "a_bw.1.log", "a_clat.2.log", "a_iops.log"];

/// Where the last panic was.
static PLACE: Mutex<String> = Mutex::new(String::new());

/// Reads the words after `fuzz` and runs.
///
/// # Errors
/// A finding; its text stays in `target`.
pub fn run(words: &[String]) -> Result<()> {
    let (mut seconds, mut from) = (SECONDS, None);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let number = words
            .next()
            .and_then(|word| word.parse().ok())
            .with_context(|| format!("{word} needs a number"));
        match word.as_str() {
            "--seconds" => seconds = number?,
            "--from" => from = Some(number?),
            other => bail!("fuzz does not know `{other}`; there are --seconds and --from"),
        }
    }
    go(Duration::from_secs(seconds), from.unwrap_or(1))
}

/// As a part of all checks.
///
/// # Errors
/// As for [`run`].
pub fn short() -> Result<()> {
    go(SHORT, 1)
}

fn go(length: Duration, from: u64) -> Result<()> {
    let corpus = corpus()?;
    let end = Instant::now() + length;
    let mut number = from;
    // A panic is told once, at the end.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|panic| {
        if let Some(place) = panic.location() {
            let place = format!("{}:{}", place.file(), place.line());
            *PLACE.lock().unwrap_or_else(PoisonError::into_inner) = place;
        }
    }));
    let found = loop {
        let (name, text) = damaged(&corpus, number);
        match catch_unwind(AssertUnwindSafe(|| read(name, &text))) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => break Some((text, format!("{error:#}"))),
            Err(panic) => {
                let place = PLACE.lock().unwrap_or_else(PoisonError::into_inner);
                break Some((text, format!("{place}: {}", said(&*panic))));
            }
        }
        number += 1;
        if Instant::now() >= end {
            break None;
        }
    };
    std::panic::set_hook(hook);
    match found {
        None => {
            eprintln!("fuzz: {} texts, nothing found", number - from);
            Ok(())
        }
        Some((text, what)) => {
            let path = shell::target().join(format!("fuzz-{number}.txt"));
            fs::write(&path, text).with_context(|| path.display().to_string())?;
            bail!(
                "{}: {what}; again with `cargo xtask fuzz --from {number}`",
                path.display()
            )
        }
    }
}

fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic").to_owned()
}

/// What every caller does with a file.
fn read(name: &str, text: &str) -> Result<()> {
    let found = import::read(name, text);
    let lines = text.lines().count();
    for problem in &found.problems {
        ensure!(
            (1..=lines.max(1)).contains(&problem.line),
            "a problem on line {} of {lines}",
            problem.line
        );
    }
    for run in &found.runs {
        let json = serde_json::to_string(run)?;
        let again: Run = serde_json::from_str(&json).context("its own document")?;
        ensure!(again.jobs.len() == run.jobs.len(), "jobs were lost");
        for metric in store::metrics(run) {
            ensure!(metric.value.is_finite(), "{} is no number", metric.name);
        }
        let _ = store::work(run);
        let _ = render::normal(run);
        let _ = render::json(run, true);
    }
    Ok(())
}

/// One text of each format at least.
fn corpus() -> Result<Vec<String>> {
    let tests = shell::root().join("crates/result/tests");
    let mut corpus = Vec::new();
    for folder in ["seeds", "documents", "goldens"] {
        let folder = tests.join(folder);
        let mut paths: Vec<_> = fs::read_dir(&folder)
            .with_context(|| folder.display().to_string())?
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<_>>()?;
        paths.sort();
        for path in paths {
            corpus.push(fs::read_to_string(&path).with_context(|| path.display().to_string())?);
        }
    }
    // What we write ourselves is what fio writes.
    let document = fs::read_to_string(Path::new(&tests).join("documents/v1.json"))?;
    let run: Run = serde_json::from_str(&document)?;
    corpus.push(render::normal(&run));
    corpus.push(render::json(&run, true));
    for version in 2..=5 {
        corpus.extend(TerseVersion::from_number(version).map(|v| render::terse(&run, v)));
    }
    let row = |n: u64| format!("{}, {}, {}, 4096, {}\n", n * 500, 1000 + n, n % 2, n * 4096);
    corpus.push((0..50).map(row).collect());
    Ok(corpus)
}

/// Marsaglia's xorshift, 64 bits.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Below `n`; 0 of 0.
    fn below(&mut self, n: usize) -> usize {
        (self.roll() >> 11) as usize % n.max(1)
    }
}

/// The text of a number.
fn damaged(corpus: &[String], number: u64) -> (&'static str, String) {
    let mut dice = Dice(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for _ in 0..4 {
        dice.roll();
    }
    let name = NAMES[if dice.below(4) == 0 { dice.below(4) } else { 0 }];
    let window = |dice: &mut Dice| {
        let lines: Vec<&str> = corpus[dice.below(corpus.len())].lines().collect();
        let start = dice.below(lines.len());
        let length = 1 + (dice.roll() % WINDOW) as usize;
        lines[start..lines.len().min(start + length)].join("\n")
    };
    // Whole documents too: half a JSON document is soon refused.
    let mut bytes = match dice.below(3) {
        0 => corpus[dice.below(corpus.len())].clone(),
        _ => window(&mut dice),
    }
    .into_bytes();
    bytes.truncate(60_000);
    for _ in 0..dice.below(12) {
        let at = dice.below(bytes.len());
        let end = bytes.len().min(at + 1 + dice.below(40));
        match dice.below(8) {
            0 if at < end => bytes[at] = dice.roll() as u8,
            1 if at < end => bytes[at] = b"0123456789.,;:=[]{}(%/|\" \n-"[dice.below(27)],
            2 => drop(bytes.drain(at..end)),
            3 => {
                let piece = bytes[at..end].to_vec();
                let to = dice.below(bytes.len() + 1);
                drop(bytes.splice(to..to, piece));
            }
            4 => {
                let word = WORDS[dice.below(WORDS.len())].bytes();
                drop(bytes.splice(at..at, word));
            }
            5 => {
                let other = window(&mut dice).into_bytes();
                drop(bytes.splice(at..at, other));
            }
            6 => number_at(&mut bytes, at, &mut dice),
            _ => bytes.truncate(at.max(bytes.len() / 2)),
        }
    }
    (name, String::from_utf8_lossy(&bytes).into_owned())
}

/// Another number in the place of the next one.
fn number_at(bytes: &mut Vec<u8>, at: usize, dice: &mut Dice) {
    let digit = |byte: &u8| byte.is_ascii_digit();
    let Some(start) = bytes[at..].iter().position(digit) else {
        return;
    };
    let start = at + start;
    let length = bytes[start..].iter().take_while(|byte| digit(byte)).count();
    let number = match dice.below(4) {
        0 => "0".to_owned(),
        1 => u64::MAX.to_string(),
        2 => (dice.roll() >> dice.below(64)).to_string(),
        _ => format!("{}.{}", dice.below(1000), dice.below(1000)),
    };
    drop(bytes.splice(start..start + length, number.into_bytes()));
}
