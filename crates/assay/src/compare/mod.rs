//! `assay compare A B`: are they comparable, do they differ, and by how much?

mod alike;
mod noise;
mod page;
mod print;

use crate::history::{self, Place, subject};
use alike::Alike;
use anyhow::{Context, bail};
use judge::compare::{Better, Comparison, Interval, LEAST_EFFECT, Verdict};
use judge::compare::{batch_means, correct, repeated, single};
use noise::Noise;
use result::series::Quantity;
use result::{Run, import};
use serde::Serialize;
use std::collections::BTreeMap;
use std::process::ExitCode;
use store::Metric;

/// Exit status when B is worse than `--fail-if` allows.
const EXIT_WORSE: u8 = 2;

/// Words after `compare`.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// Number, tag or suite of the history, or a file as `assay import` reads it: the base
    a: String,
    /// The same: what is judged against the base
    b: String,
    #[command(flatten)]
    judging: Judging,
    #[command(flatten)]
    place: Place,
}

/// What is compared and how it is told.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Judging {
    /// Only these figures: iops, bandwidth, latency, p50, p99, p99.9
    #[arg(long, value_name = "NAME")]
    metric: Vec<String>,
    /// Exit with status 2 when a figure of B is this much worse, such as `slower=5%`
    #[arg(long, value_name = "slower=N%", value_parser = limit)]
    fail_if: Option<f64>,
    /// `text`, `json`, `markdown`, or `html`: a page with charts
    #[arg(long, default_value = "text", value_parser = ["text", "json", "markdown", "html"])]
    format: String,
}

impl Judging {
    /// Text is for people; everything else stands alone on its stream.
    pub fn is_text(&self) -> bool {
        self.format == "text"
    }
}

/// Figures that are compared unless others are asked for.
const USUAL: [&str; 4] = ["iops", "bandwidth", "latency", "p99"];

/// One side, with the name it was asked for by.
pub struct Side {
    /// Number, tag, suite, file or job.
    pub name: String,
    /// Its runs and their figures.
    pub runs: Vec<Known>,
}

/// A run and what is known of it.
pub struct Known {
    /// Its document.
    pub run: Run,
    /// Its figures.
    pub metrics: Vec<Metric>,
    /// The host it ran on.
    pub host: Option<String>,
}

/// One figure of both.
#[derive(Serialize)]
struct Line {
    job: String,
    direction: String,
    metric: String,
    better: Better,
    #[serde(flatten)]
    comparison: Comparison,
}

impl Line {
    /// By what share B is worse; negative where it is better.
    fn worse_by(&self) -> f64 {
        match self.better {
            Better::Higher => 1.0 - self.comparison.ratio,
            Better::Lower => self.comparison.ratio - 1.0,
        }
    }

    /// B is worse by the limit: as tested, or for single runs as it stands.
    fn breaks(&self, limit: f64) -> bool {
        let told = matches!(self.comparison.verdict, Verdict::Worse | Verdict::Untested);
        told && self.worse_by() >= limit
    }

    fn name(&self) -> String {
        format!("{} {}", subject(&self.job, &self.direction), self.metric)
    }
}

/// Everything that is said.
#[derive(Serialize)]
struct Answer {
    a: String,
    b: String,
    runs: [usize; 2],
    /// The same work, done validly: otherwise the figures are informative only.
    comparable: bool,
    #[serde(flatten)]
    alike: Alike,
    lines: Vec<Line>,
}

/// Compares and prints. Status 1: cannot be done; 2: worse than `--fail-if` allows.
pub fn main(arguments: &Arguments) -> ExitCode {
    let place = &arguments.place;
    let sides = || anyhow::Ok([side(place, &arguments.a)?, side(place, &arguments.b)?]);
    match sides().and_then(|sides| tell("compare", &sides, &arguments.judging, place)) {
        Ok(code) => code,
        Err(error) if crate::out::is_gone(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("assay: compare: {error:#}");
            ExitCode::from(1)
        }
    }
}

/// Compares two sides and prints what follows; the status is that of [`main`].
///
/// # Errors
/// They have no figure in common, or nobody reads.
pub fn tell(
    verb: &str,
    sides: &[Side; 2],
    judging: &Judging,
    place: &Place,
) -> anyhow::Result<ExitCode> {
    let answer = answer(sides, judging, &Noise::of(sides, place))?;
    let text = match judging.format.as_str() {
        "json" => serde_json::to_string_pretty(&answer)? + "\n",
        "markdown" => print::markdown(&answer),
        "html" => render::html(&page::report(&answer)?),
        _ => print::text(&answer),
    };
    crate::out::put(&text)?;
    let Some(limit) = judging.fail_if else {
        return Ok(ExitCode::SUCCESS);
    };
    let worse: Vec<&Line> = answer.lines.iter().filter(|l| l.breaks(limit)).collect();
    for line in &worse {
        let by = 100.0 * line.worse_by();
        eprintln!("assay: {verb}: {} is worse by {by:.1} %", line.name());
    }
    Ok(ExitCode::from(if worse.is_empty() {
        0
    } else {
        EXIT_WORSE
    }))
}

/// Compares runs of the history, named by number, tag or suite and never by a path, as a report.
///
/// # Errors
/// There are no such runs, or they have no figure in common.
pub fn of_history(place: &Place, a: &str, b: &str) -> anyhow::Result<render::report::Report> {
    let sides = [kept(place, a)?, kept(place, b)?];
    let judging = Judging::default();
    let answer = answer(&sides, &judging, &Noise::of(&sides, place))?;
    Ok(page::report(&answer)?)
}

fn answer(sides: &[Side; 2], judging: &Judging, noise: &Noise) -> anyhow::Result<Answer> {
    let wanted = |name: &str| match judging.metric.is_empty() {
        true => USUAL.contains(&name),
        false => judging.metric.iter().any(|known| known == name),
    };
    let renamed = one_job(sides);
    let values =
        |side: &Side, wanted: &dyn Fn(&str) -> bool| values(&side.runs, renamed.as_deref(), wanted);
    let a = values(&sides[0], &wanted);
    let b = values(&sides[1], &wanted);
    let mut lines = Vec::new();
    let mut compared = Vec::new();
    let mut missing = Vec::new();
    for (key, (of_a, better)) in &a {
        let Some((of_b, _)) = b.get(key) else {
            missing.push(format!("{} is in A only", shown(key)));
            continue;
        };
        let threshold = noise.threshold(&key.2).max(LEAST_EFFECT);
        let comparison = match (of_a.as_slice(), of_b.as_slice()) {
            ([_], [_]) => {
                let of = |side: &Side| own_interval(&side.runs[0].run, key, renamed.is_some());
                let intervals = of(&sides[0]).zip(of(&sides[1]));
                single(of_a, of_b, intervals.map(|(a, b)| [a, b]), threshold)
            }
            _ => repeated(of_a, of_b, *better, threshold),
        };
        lines.push((key.clone(), *better));
        compared.push((comparison, *better));
    }
    let only_b = b.keys().filter(|key| !a.contains_key(*key));
    missing.extend(only_b.map(|key| format!("{} is in B only", shown(key))));
    if lines.is_empty() {
        let everything = |_: &str| true;
        let mut known: Vec<String> = values(&sides[0], &everything)
            .into_keys()
            .map(|key| key.2)
            .collect();
        known.sort();
        known.dedup();
        let (a, b) = (&sides[0].name, &sides[1].name);
        bail!(
            "{a} and {b} have no such figure in common; A has {}",
            known.join(", ")
        );
    }
    correct(&mut compared);
    let mut alike = alike::look(sides);
    alike.remarks.extend(missing);
    let line = |(((job, direction, metric), better), (comparison, _))| Line {
        job,
        direction,
        metric,
        better,
        comparison,
    };
    Ok(Answer {
        a: sides[0].name.clone(),
        b: sides[1].name.clone(),
        runs: [sides[0].runs.len(), sides[1].runs.len()],
        comparable: alike.differences.is_empty(),
        alike,
        lines: lines.into_iter().zip(compared).map(line).collect(),
    })
}

/// `slower=5%` as a share.
fn limit(text: &str) -> Result<f64, String> {
    let number = text
        .strip_prefix("slower=")
        .and_then(|text| text.strip_suffix('%'));
    match number.and_then(|text| text.parse::<f64>().ok()) {
        Some(percent) if (0.0..100.0).contains(&percent) => Ok(percent / 100.0),
        Some(_) => Err("a percentage from 0 to below 100 is needed".to_owned()),
        None => Err("not of the form slower=5%".to_owned()),
    }
}

/// Runs under a number, a tag or a suite, or in a file.
fn side(place: &Place, word: &str) -> anyhow::Result<Side> {
    if !history::is_file(word) {
        return kept(place, word);
    }
    let bytes = std::fs::read(word).with_context(|| word.to_owned())?;
    let found = import::read(word, &String::from_utf8_lossy(&bytes)).runs;
    if found.is_empty() {
        bail!("{word}: no result of a known kind in it");
    }
    Ok(Side {
        name: word.to_owned(),
        runs: found.into_iter().map(known).collect(),
    })
}

/// Runs under a number, a tag or a suite.
fn kept(place: &Place, word: &str) -> anyhow::Result<Side> {
    let runs = history::find(place, word)?;
    if runs.is_empty() {
        bail!("{word}: no file, and no number, tag or suite of the history");
    }
    Ok(Side {
        name: word.to_owned(),
        runs,
    })
}

/// A run with its figures.
pub fn known(run: Run) -> Known {
    Known {
        metrics: store::metrics(&run),
        host: run.host.as_ref().map(|host| host.hostname.clone()),
        run,
    }
}

/// Job, direction and metric.
type Key = (String, String, String);

fn shown((job, direction, metric): &Key) -> String {
    format!("{} {metric}", subject(job, direction))
}

/// A name for the only job of each side, where those have different names: then they are meant.
fn one_job(sides: &[Side; 2]) -> Option<String> {
    let names = sides.each_ref().map(|side| {
        let metrics = side.runs.iter().flat_map(|known| &known.metrics);
        let mut names: Vec<&str> = metrics
            .filter(|metric| !metric.direction.is_empty())
            .map(|metric| metric.job.as_str())
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    });
    match (names[0].as_slice(), names[1].as_slice()) {
        ([a], [b]) if a != b => Some(format!("{a} against {b}")),
        _ => None,
    }
}

/// Values of each figure over the runs, and which way is better.
fn values(
    runs: &[Known],
    renamed: Option<&str>,
    wanted: &dyn Fn(&str) -> bool,
) -> BTreeMap<Key, (Vec<f64>, Better)> {
    let mut values: BTreeMap<Key, (Vec<f64>, Better)> = BTreeMap::new();
    for metric in runs.iter().flat_map(|known| &known.metrics) {
        let tool_s_own = metric.direction.is_empty() && !USUAL.contains(&metric.name.as_str());
        if wanted(&metric.name) || tool_s_own {
            let key = (
                renamed.unwrap_or(&metric.job).to_owned(),
                metric.direction.clone(),
                metric.name.clone(),
            );
            let better = match metric.higher_is_better {
                true => Better::Higher,
                false => Better::Lower,
            };
            let entry = values.entry(key).or_insert((Vec::new(), better));
            entry.0.push(metric.value);
        }
    }
    values
}

/// How sure a run is of its own rate, from its seconds.
fn own_interval(run: &Run, (job, direction, metric): &Key, renamed: bool) -> Option<Interval> {
    let quantity = match metric.as_str() {
        "iops" => Quantity::Iops,
        "bandwidth" => Quantity::Bandwidth,
        _ => return None,
    };
    let jobs = run.reported();
    let job = jobs.iter().find(|known| renamed || known.name == *job)?;
    let mut all = job.series.iter();
    let series = all.find(|s| s.quantity == quantity && s.ddir.name() == direction)?;
    let seconds: Vec<f64> = series.points().map(|point| point.mean()).collect();
    batch_means(&seconds)
}
