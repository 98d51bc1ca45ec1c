//! `cargo xtask test`: everything that must pass, the tests' own summary last.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use anyhow::{Context, Result, bail};

use crate::{bench, docs, fuzz, icount, lab, packages, page, shell, tidy};

const CLIPPY: [&str; 7] = [
    "cargo",
    "clippy",
    "--workspace",
    "--all-targets",
    "--",
    "-D",
    "warnings",
];

/// Runs every check; the summary of the tests ends the output.
///
/// # Errors
/// The first check that does not pass.
pub fn all(words: &[String]) -> Result<()> {
    let lab = match words {
        [] => true,
        [flag] if flag == "--no-lab" => false,
        _ => bail!("usage: cargo xtask test [--no-lab]"),
    };
    packages::ensure(&packages::FOR_TESTS)?;
    shell::run(&["cargo", "fmt", "--all", "--check"])?;
    tidy::check()?;
    docs::check()?;
    // The optimised build ends on one core; lints and the tests' build use the other meanwhile.
    beside(
        || shell::assay().map(drop),
        || {
            shell::run(&CLIPPY)?;
            shell::run(&["cargo", "test", "--workspace", "--no-run", "--quiet"])
        },
    )?;
    shell::announce("bench, fuzz, icount and lab");
    bench::run(&bench::Options::quick())?;
    bench::run(&bench::Options::quick_memory())?;
    bench::run(&bench::Options::quick_history())?;
    bench::run(&bench::Options::quick_report())?;
    // None of them minds how fast it goes.
    let machines = || if lab { lab::run(&[]) } else { Ok(()) };
    beside(fuzz::beside, || beside(|| icount::run(&[]), machines))?;
    let total = tests()?;
    shell::announce("page");
    page::of_tests()?;
    println!("{} passed, {} failed", total.passed, total.failed);
    Ok(())
}

/// Does two things at a time.
fn beside(
    one: impl FnOnce() -> Result<()> + Send,
    other: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let (first, second) = std::thread::scope(|scope| {
        let one = scope.spawn(one);
        let second = other();
        (one.join().expect("checks return their errors"), second)
    });
    first.and(second)
}

/// Runs the tests, passes their output through and adds up their summaries. The pages that they
/// make are left for the browser.
fn tests() -> Result<Counts> {
    let words = ["cargo", "test", "--workspace", "--no-fail-fast"];
    shell::announce(&words.join(" "));
    let mut child = shell::command(&words)
        .env("RUST_TEST_THREADS", threads().to_string())
        .env("ASSAY_PAGES", page::made()?)
        .stdout(Stdio::piped())
        .spawn()
        .context("cargo")?;
    let stdout = child.stdout.take().context("cargo's output")?;
    let mut total = Counts::default();
    for line in BufReader::new(stdout).lines() {
        let line = line.context("cargo's output")?;
        println!("{line}");
        total.add(&line);
    }
    let status = child.wait().context("cargo")?;
    if !status.success() || total.failed > 0 {
        println!("{} passed, {} failed", total.passed, total.failed);
        bail!("tests failed");
    }
    Ok(total)
}

/// Tests at a time: most of them wait for devices and clocks, and none may mind its neighbours.
fn threads() -> usize {
    4 * std::thread::available_parallelism().map_or(1, usize::from)
}

/// Sums over `test result:` lines.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: u64,
    failed: u64,
}

impl Counts {
    fn add(&mut self, line: &str) {
        let Some(summary) = line.strip_prefix("test result:") else {
            return;
        };
        let words: Vec<&str> = summary
            .split([' ', ';', '.'])
            .filter(|w| !w.is_empty())
            .collect();
        let before = |word: &str| -> u64 {
            let at = words.iter().position(|w| *w == word);
            at.and_then(|at| words.get(at.wrapping_sub(1))?.parse().ok())
                .unwrap_or(0)
        };
        self.passed += before("passed");
        self.failed += before("failed");
    }
}

#[cfg(test)]
mod tests {
    use super::Counts;

    #[test]
    fn summaries_add_up() {
        let mut total = Counts::default();
        total.add("test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out");
        total.add("test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured");
        total.add("test peer::passed ... ok");
        assert_eq!(
            total,
            Counts {
                passed: 15,
                failed: 2
            }
        );
    }
}
