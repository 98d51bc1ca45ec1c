//! `cargo xtask bench`: Assay and fio in turn on the same work, and the ratio of what they did.
//!
//! Absolute numbers depend on the machine and the minute, so each round runs both tools one after
//! the other, in reversed order every second round, and only ratios are summed up: the median
//! over rounds, with the lowest and highest beside it.

mod bandwidth;
mod bare;
mod history;
mod load;
mod memory;
mod place;
mod report;
mod rows;
mod startup;
mod table;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::{packages, shell};
use place::Places;
use rows::Row;
use table::Outcome;

/// How to run the benchmark.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Memory bandwidth instead of storage.
    memory: bool,
    /// Histories instead of storage.
    history: bool,
    /// Reports of very much instead of storage.
    report: bool,
    /// Check that every row runs and counts; say nothing certain about time.
    quick: bool,
    rounds: usize,
    /// Only rows whose name contains one of these; empty means all.
    only: Vec<String>,
}

impl Options {
    /// One short round of every row.
    pub fn quick() -> Self {
        Options {
            quick: true,
            rounds: 1,
            ..Options::default()
        }
    }

    /// The same for memory.
    pub fn quick_memory() -> Self {
        Options {
            memory: true,
            ..Options::quick()
        }
    }

    /// The same for histories.
    pub fn quick_history() -> Self {
        Options {
            history: true,
            ..Options::quick()
        }
    }

    /// The same for reports.
    pub fn quick_report() -> Self {
        Options {
            report: true,
            ..Options::quick()
        }
    }

    /// Reads the words after `bench`.
    ///
    /// # Errors
    /// A word that is no option, or a count that is no number.
    pub fn parse(words: &[String]) -> Result<Self> {
        let mut options = Options {
            rounds: 7,
            ..Options::default()
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--memory" => options.memory = true,
                "--history" => options.history = true,
                "--report" => options.report = true,
                "--quick" => (options.quick, options.rounds) = (true, 1),
                "--rounds" => {
                    let count = words.next().context("--rounds needs a number")?;
                    options.rounds = count.parse().context("--rounds")?;
                }
                flag if flag.starts_with('-') => bail!("bench does not know `{flag}`"),
                name => options.only.push(name.to_owned()),
            }
        }
        let whole = options.memory || options.history || options.report;
        if whole && !options.only.is_empty() {
            bail!("bench --memory, --history and --report have no rows to choose from");
        }
        if options.rounds == 0 {
            bail!("--rounds must be at least 1");
        }
        Ok(options)
    }
}

/// One of the two programs under comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    Assay,
    Fio,
}

/// What a row runs with.
#[derive(Debug)]
pub struct Bench {
    assay: PathBuf,
    places: Places,
    quick: bool,
}

impl Bench {
    /// The words that start a tool, before fio's own arguments.
    pub fn program(&self, tool: Tool) -> Vec<String> {
        match tool {
            Tool::Assay => vec![self.assay.display().to_string(), "fio".into()],
            Tool::Fio => vec!["fio".into()],
        }
    }

    /// The binary under test.
    pub fn assay(&self) -> &Path {
        &self.assay
    }

    /// Whether only counting is checked.
    pub fn is_quick(&self) -> bool {
        self.quick
    }

    /// Files and devices.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// Both tools in turn; the second of each pair of rounds starts with the other one.
    ///
    /// # Errors
    /// A run that failed.
    pub fn pair<T>(&self, round: usize, mut one: impl FnMut(Tool) -> Result<T>) -> Result<(T, T)> {
        if round.is_multiple_of(2) {
            let assay = one(Tool::Assay)?;
            Ok((assay, one(Tool::Fio)?))
        } else {
            let fio = one(Tool::Fio)?;
            Ok((one(Tool::Assay)?, fio))
        }
    }
}

/// Runs the rows and prints the table.
///
/// # Errors
/// A build, a tool or a row that failed; rows a machine cannot offer are skipped visibly.
pub fn run(options: &Options) -> Result<()> {
    if options.memory {
        return bandwidth::run(options.quick, options.rounds);
    }
    if options.history {
        return history::run(&shell::assay()?, options.quick);
    }
    if options.report {
        return report::run(&shell::assay()?, options.quick);
    }
    packages::ensure(&packages::FOR_BENCH)?;
    let bench = Bench {
        assay: shell::assay()?,
        places: Places::prepare()?,
        quick: options.quick,
    };
    let wanted =
        |row: &Row| options.only.is_empty() || options.only.iter().any(|n| row.name.contains(n));
    let mut results = Vec::new();
    for row in rows::ROWS.iter().filter(|row| wanted(row)) {
        match row.missing(&bench) {
            Some(why) => {
                eprintln!("SKIPPED {}: {why}", row.name);
                results.push(Outcome::skipped(row, why));
            }
            None => results.push(row_result(&bench, row, options.rounds)?),
        }
    }
    if results.is_empty() {
        bail!("no row of that name");
    }
    table::print(&results);
    table::write(&results, &shell::target().join("bench.json"))
}

fn row_result(bench: &Bench, row: &Row, rounds: usize) -> Result<Outcome> {
    let mut result = Outcome::new(row);
    for round in 0..rounds {
        let one = row
            .measure(bench, round)
            .with_context(|| format!("row {}", row.name))?;
        eprintln!(
            "{:<18} round {:>2}: {:.2}",
            row.name,
            round + 1,
            one.ratio()
        );
        result.rounds.push(one);
    }
    Ok(result)
}
