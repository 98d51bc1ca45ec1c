//! Sums up the rounds of each row: a Markdown table for people, JSON for programs.

use std::fs;
use std::path::Path;

use anyhow::Context;
use serde_json::{Value, json};

use super::rows::{Measure, Row};

/// One round: what each tool did, in the row's unit.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    pub assay: f64,
    pub fio: f64,
    /// Assay's user CPU time per I/O over fio's, where it could be measured.
    pub user_cpu_ratio: Option<f64>,
}

impl Round {
    /// Assay's figure over fio's.
    pub fn ratio(&self) -> f64 {
        self.assay / self.fio
    }
}

/// A row with its rounds, or why it has none.
#[derive(Debug)]
pub struct Outcome {
    name: &'static str,
    words: &'static str,
    measure: Measure,
    pub rounds: Vec<Round>,
    skipped: Option<String>,
}

impl Outcome {
    /// A row that is about to run.
    pub fn new(row: &Row) -> Self {
        let (name, words, measure) = (row.name, row.words, row.measure);
        Outcome {
            name,
            words,
            measure,
            rounds: Vec::new(),
            skipped: None,
        }
    }

    /// A row that this machine cannot run.
    pub fn skipped(row: &Row, why: String) -> Self {
        Outcome {
            skipped: Some(why),
            ..Outcome::new(row)
        }
    }

    fn sorted(&self, value: impl Fn(&Round) -> Option<f64>) -> Vec<f64> {
        let mut values: Vec<f64> = self.rounds.iter().filter_map(value).collect();
        values.sort_by(f64::total_cmp);
        values
    }
}

/// Middle of a sorted list; the mean of the two middle ones where there are two.
pub fn median(sorted: &[f64]) -> Option<f64> {
    let upper = sorted.get(sorted.len() / 2)?;
    let lower = sorted.get((sorted.len() - 1) / 2)?;
    Some((upper + lower) / 2.0)
}

/// Prints the Markdown table.
pub fn print(results: &[Outcome]) {
    println!("| work | unit | fio | Assay | Assay/fio | spread | user CPU per I/O |");
    println!("|---|---|---:|---:|---:|---:|---:|");
    for row in results {
        if let Some(why) = &row.skipped {
            println!("| {} | | | | skipped | {why} | |", row.name);
            continue;
        }
        let ratios = row.sorted(|round| Some(round.ratio()));
        let middle = |value: fn(&Round) -> f64| median(&row.sorted(|r| Some(value(r))));
        let cpu = median(&row.sorted(|round| round.user_cpu_ratio));
        println!(
            "| {} | {} | {} | {} | **{:.2}** | {:.2}..{:.2} | {} |",
            row.name,
            unit(row.measure),
            figure(row.measure, middle(|round| round.fio)),
            figure(row.measure, middle(|round| round.assay)),
            median(&ratios).unwrap_or(f64::NAN),
            ratios.first().copied().unwrap_or(f64::NAN),
            ratios.last().copied().unwrap_or(f64::NAN),
            cpu.map_or(String::new(), |cpu| format!("{cpu:.2}")),
        );
    }
}

fn unit(measure: Measure) -> &'static str {
    match measure {
        Measure::Iops => "k IOPS, more is better",
        Measure::Whole => "k I/Os per second of the whole run",
        Measure::Memory => "MiB, less is better",
        Measure::Startup => "ms, less is better",
        Measure::Bare(_) => "k requests per CPU second; bare loop in fio's column",
        Measure::Scaling(_) => "% of one job's IOPS, per job",
    }
}

fn figure(measure: Measure, value: Option<f64>) -> String {
    let scale = match measure {
        Measure::Memory => 1024.0,
        Measure::Scaling(_) => 0.01,
        _ => 1000.0,
    };
    value.map_or(String::new(), |value| format!("{:.1}", value / scale))
}

/// Writes every round as JSON.
///
/// # Errors
/// The file cannot be written.
pub fn write(results: &[Outcome], path: &Path) -> anyhow::Result<()> {
    let rows: Vec<Value> = results.iter().map(row_json).collect();
    let text = serde_json::to_string_pretty(&json!({ "rows": rows }))?;
    fs::write(path, text + "\n").with_context(|| path.display().to_string())?;
    eprintln!("wrote {}", path.display());
    Ok(())
}

fn row_json(row: &Outcome) -> Value {
    let round = |round: &Round| json!({ "assay": round.assay, "fio": round.fio, "user_cpu_ratio": round.user_cpu_ratio });
    json!({
        "name": row.name,
        "words": row.words,
        "unit": match row.measure {
            Measure::Iops => "iops",
            Measure::Whole => "I/Os per second of the whole run",
            Measure::Memory => "KiB",
            Measure::Startup => "us",
            Measure::Bare(_) => "requests per CPU second; fio: bare loop",
            Measure::Scaling(_) => "share of one job's IOPS, per job",
        },
        "skipped": row.skipped,
        "median_ratio": median(&row.sorted(|round| Some(round.ratio()))),
        "rounds": row.rounds.iter().map(round).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_median_of_odd_even_and_nothing() {
        assert_eq!(median(&[1.0, 2.0, 9.0]), Some(2.0));
        assert_eq!(median(&[1.0, 2.0, 4.0, 9.0]), Some(3.0));
        assert_eq!(median(&[]), None);
    }
}
