//! `assay compare A B`: are they comparable, do they differ, and by how much?

use crate::history::{self, Place};
use anyhow::{Context, bail};
use judge::compare::{Better, Comparison, LEAST_EFFECT, Verdict, correct, noise_threshold};
use judge::compare::{repeated, variation};
use result::{Run, import};
use serde::Serialize;
use std::collections::BTreeMap;
use std::process::ExitCode;
use store::Metric;

/// Words after `compare`.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// Number, tag or suite of the history, or a file as `assay import` reads it: the base
    a: String,
    /// The same: what is judged against the base
    b: String,
    /// Only these figures: iops, bandwidth, latency, p50, p99, p99.9
    #[arg(long, value_name = "NAME")]
    metric: Vec<String>,
    /// Exit with status 2 when B is this much worse, such as `slower=5%`
    #[arg(long, value_name = "slower=N%")]
    fail_if: Option<String>,
    /// `text`, `json` or `markdown`
    #[arg(long, default_value = "text", value_parser = ["text", "json", "markdown"])]
    format: String,
    #[command(flatten)]
    place: Place,
}

/// Figures that are compared unless others are asked for.
const USUAL: [&str; 4] = ["iops", "bandwidth", "latency", "p99"];

/// One figure of both.
#[derive(Serialize)]
struct Line {
    job: String,
    direction: String,
    metric: String,
    #[serde(flatten)]
    comparison: Comparison,
}

/// Everything that is said.
#[derive(Serialize)]
struct Answer {
    a: String,
    b: String,
    runs: [usize; 2],
    /// Why the numbers are informative only; empty where they can be compared.
    differences: Vec<String>,
    lines: Vec<Line>,
}

/// Compares and prints. Status 1: cannot be done; 2: worse than `--fail-if` allows.
pub fn main(arguments: &Arguments) -> ExitCode {
    match answer(arguments) {
        Err(error) => {
            eprintln!("assay: compare: {error:#}");
            ExitCode::from(1)
        }
        Ok((answer, limit)) => {
            match arguments.format.as_str() {
                "json" => {
                    let json = serde_json::to_string_pretty(&answer);
                    println!("{}", json.expect("numbers and names"));
                }
                "markdown" => print!("{}", markdown(&answer)),
                _ => print!("{}", text(&answer)),
            }
            let worse = limit.is_some_and(|limit| answer.lines.iter().any(|l| slower(l, limit)));
            ExitCode::from(if worse { 2 } else { 0 })
        }
    }
}

fn answer(arguments: &Arguments) -> anyhow::Result<(Answer, Option<f64>)> {
    let limit = arguments.fail_if.as_deref().map(limit).transpose()?;
    let sets = [
        runs(&arguments.place, &arguments.a)?,
        runs(&arguments.place, &arguments.b)?,
    ];
    let wanted = |name: &str| match arguments.metric.is_empty() {
        true => USUAL.contains(&name),
        false => arguments.metric.iter().any(|known| known == name),
    };
    let [a, b] = sets.each_ref().map(|set| values(set, &wanted));
    let variations: Vec<f64> = a
        .values()
        .chain(b.values())
        .filter(|(values, _)| values.len() >= 4)
        .map(|(values, _)| variation(values))
        .collect();
    let threshold = noise_threshold(&variations).max(LEAST_EFFECT);
    let mut keys = Vec::new();
    let mut compared = Vec::new();
    for (key, (of_a, higher)) in &a {
        if let Some((of_b, _)) = b.get(key) {
            let better = if *higher {
                Better::Higher
            } else {
                Better::Lower
            };
            keys.push(key.clone());
            compared.push((repeated(of_a, of_b, better, threshold), better));
        }
    }
    if keys.is_empty() {
        bail!(
            "{} and {} have no figure in common",
            arguments.a,
            arguments.b
        );
    }
    correct(&mut compared);
    let lines = keys.into_iter().zip(compared);
    let answer = Answer {
        a: arguments.a.clone(),
        b: arguments.b.clone(),
        runs: [sets[0].len(), sets[1].len()],
        differences: differences(&sets),
        lines: lines
            .map(|((job, direction, metric), (comparison, _))| Line {
                job,
                direction,
                metric,
                comparison,
            })
            .collect(),
    };
    Ok((answer, limit))
}

/// `slower=5%`.
fn limit(text: &str) -> anyhow::Result<f64> {
    let number = text
        .strip_prefix("slower=")
        .and_then(|text| text.strip_suffix('%'));
    let number: f64 = number
        .and_then(|text| text.parse().ok())
        .with_context(|| format!("--fail-if={text}: not of the form slower=5%"))?;
    if !(0.0..100.0).contains(&number) {
        bail!("--fail-if={text}: a percentage below 100 is needed");
    }
    Ok(number / 100.0)
}

type Known = (Run, Vec<Metric>);

fn runs(place: &Place, word: &str) -> anyhow::Result<Vec<Known>> {
    if history::is_file(word) {
        let bytes = std::fs::read(word).with_context(|| word.to_owned())?;
        let found = import::read(word, &String::from_utf8_lossy(&bytes)).runs;
        if found.is_empty() {
            bail!("{word}: no result of a known kind in it");
        }
        let with = |run: Run| {
            let metrics = store::metrics(&run);
            (run, metrics)
        };
        return Ok(found.into_iter().map(with).collect());
    }
    let found = history::find(place, word)?;
    if found.is_empty() {
        bail!("{word}: no file, and no number, tag or suite of the history");
    }
    Ok(found)
}

/// Job, direction and metric.
type Key = (String, String, String);

/// Values of each figure over the runs, and whether more is better.
fn values(set: &[Known], wanted: &dyn Fn(&str) -> bool) -> BTreeMap<Key, (Vec<f64>, bool)> {
    let mut values: BTreeMap<Key, (Vec<f64>, bool)> = BTreeMap::new();
    let metrics = set.iter().flat_map(|(_, metrics)| metrics);
    for metric in metrics {
        if wanted(&metric.name) || metric.direction.is_empty() {
            let key = (
                metric.job.clone(),
                metric.direction.clone(),
                metric.name.clone(),
            );
            let entry = values
                .entry(key)
                .or_insert((Vec::new(), metric.higher_is_better));
            entry.0.push(metric.value);
        }
    }
    values
}

/// What stands against comparing.
fn differences(sets: &[Vec<Known>; 2]) -> Vec<String> {
    /// Options that say where, not what.
    const ELSEWHERE: [&str; 8] = [
        "filename",
        "directory",
        "name",
        "description",
        "output",
        "output-format",
        "eta",
        "of",
    ];
    let mut out = Vec::new();
    let options = |set: &[Known]| {
        let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (run, _) in set {
            let own = run.jobs.iter().flat_map(|job| &job.options);
            for (name, value) in run.global_options.iter().chain(own) {
                let values = all.entry(name.clone()).or_default();
                if !ELSEWHERE.contains(&name.as_str()) && !values.contains(value) {
                    values.push(value.clone());
                }
            }
        }
        all
    };
    let [a, b] = sets.each_ref().map(|set| options(set));
    let mut names: Vec<&String> = a.keys().chain(b.keys()).collect();
    names.sort();
    names.dedup();
    let shown = |values: Option<&Vec<String>>| match values {
        Some(values) if !values.is_empty() => values.join(" and "),
        _ => "not given".to_owned(),
    };
    for name in names {
        let sorted = |values: Option<&Vec<String>>| {
            let mut values = values.cloned().unwrap_or_default();
            values.sort();
            values
        };
        if sorted(a.get(name)) != sorted(b.get(name)) {
            out.push(format!(
                "{name}: {} in A, {} in B",
                shown(a.get(name)),
                shown(b.get(name))
            ));
        }
    }
    for (set, label) in sets.iter().zip(["A", "B"]) {
        let partial = set.iter().filter(|(run, _)| run.partial).count();
        if partial > 0 {
            out.push(format!(
                "{label}: {partial} of {} runs ended early",
                set.len()
            ));
        }
        let failed = set
            .iter()
            .filter(|(run, _)| crate::session::failures(run) > 0)
            .count();
        if failed > 0 {
            out.push(format!(
                "{label}: {failed} of {} runs had errors",
                set.len()
            ));
        }
    }
    out
}

/// B is worse by the limit: as tested, or for single runs as it stands.
fn slower(line: &Line, limit: f64) -> bool {
    let c = &line.comparison;
    let worse_by = match line.metric.as_str() {
        "latency" | "p50" | "p99" | "p99.9" => c.ratio - 1.0,
        _ => 1.0 - c.ratio,
    };
    matches!(c.verdict, Verdict::Worse | Verdict::Untested) && worse_by >= limit
}

fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "B is better",
        Verdict::Worse => "B is worse",
        Verdict::Same => "no difference that matters",
        Verdict::Unclear => "unclear",
        Verdict::Untested => "not tested",
    }
}

fn interval(c: &Comparison) -> String {
    c.interval
        .map_or_else(String::new, |[low, high]| format!(" [{low:.3}, {high:.3}]"))
}

fn p_value(c: &Comparison) -> String {
    c.p.map_or_else(String::new, |p| format!(", p = {p:.3}"))
}

fn text(answer: &Answer) -> String {
    let mut out = format!(
        "A: {} ({} runs)\nB: {} ({} runs)\n",
        answer.a, answer.runs[0], answer.b, answer.runs[1]
    );
    if !answer.differences.is_empty() {
        out.push_str("Not the same work, so the figures are informative only:\n");
        for difference in &answer.differences {
            out.push_str(&format!("  {difference}\n"));
        }
    }
    let mut remarks: Vec<&str> = Vec::new();
    for line in &answer.lines {
        let c = &line.comparison;
        let spread = |at: usize| match c.n[at] {
            0 | 1 => String::new(),
            _ => format!(" +/- {:.1} %", 100.0 * c.cv[at]),
        };
        let name = format!("{}, {} {}", line.job, line.direction, line.metric);
        out.push_str(&format!(
            "\n{name}\n  A {}{}\n  B {}{}\n  B is {:.3} x A{}{}, n = {}/{}: {}\n",
            history::value(&line.metric, c.median[0]),
            spread(0),
            history::value(&line.metric, c.median[1]),
            spread(1),
            c.ratio,
            interval(c),
            p_value(c),
            c.n[0],
            c.n[1],
            verdict(c.verdict),
        ));
        if let Some(remark) = c
            .remark
            .as_deref()
            .filter(|remark| !remarks.contains(remark))
        {
            remarks.push(remark);
        }
    }
    if !remarks.is_empty() {
        out.push('\n');
    }
    for remark in remarks {
        out.push_str(&format!("{remark}\n"));
    }
    out
}

fn markdown(answer: &Answer) -> String {
    let mut out = String::from(
        "| job | figure | A | B | B / A | 95 % | p | n | verdict |\n\
         |---|---|---:|---:|---:|---|---:|---|---|\n",
    );
    for line in &answer.lines {
        let c = &line.comparison;
        out.push_str(&format!(
            "| {} | {} {} | {} | {} | {:.3} |{} | {} | {}/{} | {} |\n",
            line.job.replace('|', "\\|"),
            line.direction,
            line.metric,
            history::value(&line.metric, c.median[0]),
            history::value(&line.metric, c.median[1]),
            c.ratio,
            interval(c),
            c.p.map_or_else(String::new, |p| format!("{p:.3}")),
            c.n[0],
            c.n[1],
            verdict(c.verdict),
        ));
    }
    if !answer.differences.is_empty() {
        out.push_str("\nInformative only:\n\n");
    }
    for difference in &answer.differences {
        out.push_str(&format!("- {difference}\n"));
    }
    out
}
