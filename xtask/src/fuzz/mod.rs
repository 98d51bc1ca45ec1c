//! `cargo xtask fuzz`: damaged texts of every kind through whatever reads them, for a while.
//!
//! Nothing may panic, whatever a text holds. A target is one reader with texts of its own, and
//! all targets run side by side, a thread each. The damage is made from a number, so that a
//! finding can be repeated: `TARGET --from NUMBER`. Plain mutation without coverage, because
//! coverage needs a nightly compiler.

mod damage;
mod targets;

use std::cell::RefCell;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::shell;
use targets::{TARGETS, Target};

/// How long all of it takes, unless `--seconds` says.
const SECONDS: u64 = 60;
/// How much other checks go before this one, where it runs beside them.
const NICE: i32 = 10;

thread_local! {
    /// Where the last panic of this thread was; `None` in threads of other checks.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// How to go about it.
#[derive(Clone, Copy, Debug)]
struct How {
    length: Duration,
    from: u64,
    nice: bool,
}

/// Reads the words after `fuzz` and runs.
///
/// # Errors
/// A finding; its text stays in `target`.
pub fn run(words: &[String]) -> Result<()> {
    let (mut seconds, mut from) = (SECONDS, None);
    let mut chosen = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            chosen.push(find(word)?);
            continue;
        }
        let number = words
            .next()
            .and_then(|word| word.parse().ok())
            .with_context(|| format!("{word} needs a number"));
        match word.as_str() {
            "--seconds" => seconds = number?,
            "--from" => from = Some(number?),
            other => bail!(
                "fuzz does not know `{other}`; there are --seconds, --from and {}",
                names()
            ),
        }
    }
    if chosen.is_empty() {
        ensure!(from.is_none(), "--from is about one target: {}", names());
        chosen.extend(&TARGETS);
    }
    go(
        &chosen,
        How {
            length: Duration::from_secs(seconds),
            from: from.unwrap_or(1),
            nice: false,
        },
    )
}

/// As a part of all checks, beside others.
///
/// # Errors
/// As for [`run`].
pub fn beside() -> Result<()> {
    let all: Vec<&Target> = TARGETS.iter().collect();
    go(
        &all,
        How {
            length: Duration::from_secs(SECONDS),
            from: 1,
            nice: true,
        },
    )
}

fn names() -> String {
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    names.join(", ")
}

fn find(name: &str) -> Result<&'static Target> {
    let known = TARGETS.iter().find(|target| target.name == name);
    known.with_context(|| format!("no target `{name}`; there are {}", names()))
}

/// What a target ended with.
struct Done {
    name: &'static str,
    texts: u64,
    finding: Option<String>,
}

fn go(targets: &[&'static Target], how: How) -> Result<()> {
    // A panic is told once, at the end.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let place = panic
            .location()
            .map(|at| format!("{}:{}", at.file(), at.line()));
        PLACE.with_borrow_mut(|last| match last {
            Some(last) => *last = ours().or(place).unwrap_or_default(),
            None => hook(panic),
        });
    }));
    let done: Result<Vec<Done>> = std::thread::scope(|scope| {
        let threads: Vec<_> = targets
            .iter()
            .map(|target| scope.spawn(move || one(target, how)))
            .collect();
        let ends = threads.into_iter().map(|thread| thread.join());
        ends.map(|end| end.expect("panics of readers are caught"))
            .collect()
    });
    drop(std::panic::take_hook());
    let done = done?;
    let counts: Vec<String> = done
        .iter()
        .map(|done| format!("{} {}", done.name, done.texts))
        .collect();
    eprintln!("fuzz: texts read: {}", counts.join(", "));
    let findings: Vec<String> = done.into_iter().filter_map(|done| done.finding).collect();
    ensure!(findings.is_empty(), "{}", findings.join("\n"));
    Ok(())
}

/// Damages texts of one target until the time is over or something is found.
fn one(target: &'static Target, how: How) -> Result<Done> {
    PLACE.set(Some(String::new()));
    if how.nice {
        // A priority that cannot be lowered only makes the other checks slower.
        let _ = rustix::process::nice(NICE);
    }
    let corpus = (target.corpus)().with_context(|| target.name)?;
    ensure!(!corpus.is_empty(), "{}: no text to damage", target.name);
    let end = Instant::now() + how.length;
    let mut number = how.from;
    let found = loop {
        let text = damage::text(&corpus, target.words, number);
        match catch_unwind(AssertUnwindSafe(|| (target.read)(number, &text))) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => break Some((text, format!("{error:#}"))),
            Err(panic) => {
                let place = PLACE.with_borrow(Clone::clone).unwrap_or_default();
                break Some((text, format!("{place}: {}", said(&*panic))));
            }
        }
        number += 1;
        if Instant::now() >= end {
            break None;
        }
    };
    let name = target.name;
    let finding = found.map(|(text, what)| -> Result<String> {
        let path = shell::target().join(format!("fuzz-{name}-{number}.txt"));
        fs::write(&path, text).with_context(|| path.display().to_string())?;
        let path = path.display();
        Ok(format!(
            "{path}: {what}; again with `cargo xtask fuzz {name} --from {number}`"
        ))
    });
    Ok(Done {
        name,
        texts: number - how.from,
        finding: finding.transpose()?,
    })
}

/// Where in the project's own crates this is, for a panic inside of a library.
fn ours() -> Option<String> {
    let trace = std::backtrace::Backtrace::force_capture().to_string();
    let lines = trace
        .lines()
        .filter_map(|line| line.trim().strip_prefix("at "));
    let mut own = lines.filter(|line| line.contains("/crates/"));
    own.next().map(str::to_owned)
}

fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic").to_owned()
}
