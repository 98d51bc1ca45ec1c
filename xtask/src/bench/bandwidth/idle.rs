//! Idle latency: `assay mem latency`'s random loads on large pages beside a chase in C.

use std::time::Duration;

use anyhow::{Context, Result};
use memory::Machine;
use memory::latency::{Sampling, split};
use memory::machine::Threads;
use memory::place::{Pages, Wish};
use memory::sample::Rule;
use serde_json::{Value, json};

use super::peers::compile;
use super::spread;
use crate::shell;

/// How far from the chase the latency may be, either way.
const WANTED: f64 = 0.02;

/// Both latencies of each round, ns.
pub struct Outcome {
    mebibytes: u64,
    /// Assay's, then the chase's.
    rounds: Vec<(f64, f64)>,
}

/// Measures both in turn.
///
/// # Errors
/// There is no C compiler, or no room for the buffers.
pub fn run(machine: &Machine, quick: bool, rounds: usize) -> Result<Outcome> {
    let chase = compile("chase")?.display().to_string();
    let cpu = machine.workers(Threads::Cores)[0];
    let sizes = machine.sizes(1, None);
    let mebibytes = if quick { 16 } else { sizes.latency_bytes >> 20 };
    let wish = Wish {
        bytes: mebibytes << 20,
        pages: Pages::Large,
        ..Wish::default()
    };
    let how = Sampling {
        rule: Rule {
            samples: if quick { 1 } else { 15 },
            cap: Duration::from_millis(if quick { 100 } else { 6000 }),
            ..Rule::default()
        },
        sample: Duration::from_millis(if quick { 2 } else { 20 }),
    };
    let assay = || -> Result<f64> { Ok(split(machine, cpu, &wish, &how)?.random.ns.median) };
    let seconds = if quick { "0.01" } else { "0.5" };
    let (on, size) = (cpu.to_string(), mebibytes.to_string());
    let other = || -> Result<f64> {
        let text = shell::capture(&["taskset", "-c", &on, &chase, &size, seconds])?;
        parse(&text).with_context(|| format!("no latency in `{text}`"))
    };
    let mut outcome = Outcome {
        mebibytes,
        rounds: Vec::new(),
    };
    for round in 0..rounds {
        let pair = if round.is_multiple_of(2) {
            let ours = assay()?;
            (ours, other()?)
        } else {
            let theirs = other()?;
            (assay()?, theirs)
        };
        eprintln!(
            "idle latency round {:>2}: {:.3}",
            round + 1,
            pair.0 / pair.1
        );
        outcome.rounds.push(pair);
    }
    Ok(outcome)
}

/// The first word of what the chase prints.
fn parse(text: &str) -> Option<f64> {
    text.split_whitespace().next()?.parse().ok()
}

impl Outcome {
    /// Median of the rounds' ratios, lowest and highest.
    fn ratio(&self) -> (f64, f64, f64) {
        spread(self.rounds.iter().map(|(a, b)| a / b))
    }

    /// As a Markdown table.
    pub fn table(&self) -> String {
        let middle = |of: fn(&(f64, f64)) -> f64| spread(self.rounds.iter().map(of)).0;
        let (ratio, low, high) = self.ratio();
        format!(
            "\n| work | chase in C, ns | Assay, ns | Assay/chase | spread | wanted |\n\
             |---|---:|---:|---:|---:|---:|\n\
             | idle latency, {} MiB, large pages | {:.1} | {:.1} | **{ratio:.3}** | \
             {low:.3}..{high:.3} | {:.2}..{:.2} |\n",
            self.mebibytes,
            middle(|round| round.1),
            middle(|round| round.0),
            1.0 - WANTED,
            1.0 + WANTED,
        )
    }

    /// For `bench-memory.json`.
    pub fn json(&self) -> Value {
        let rounds = self.rounds.iter();
        json!({
            "unit": "ns",
            "bytes": self.mebibytes << 20,
            "target_ratio": [1.0 - WANTED, 1.0 + WANTED],
            "median_ratio": self.ratio().0,
            "rounds": rounds.map(|(a, b)| json!({ "assay": a, "chase": b })).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_those_of_rounds() {
        let outcome = Outcome {
            mebibytes: 128,
            rounds: vec![(100.0, 200.0), (300.0, 100.0), (110.0, 100.0)],
        };
        let row = "| idle latency, 128 MiB, large pages | 100.0 | 110.0 | **1.100** | \
                   0.500..3.000 | 0.98..1.02 |";
        assert_eq!(outcome.table().lines().last(), Some(row));
        assert_eq!(parse("141.52 0x7f00\n"), Some(141.52));
        assert_eq!(parse(""), None);
    }
}
