//! What reports show of storage jobs: one item for each block and direction that did something.

use super::Named;
use crate::chart::State;
use measure::{Histogram, Latency};
use result::{Direction, Job, Unified};
use units::Ddir;

/// A block of a report in one direction.
#[derive(Clone, Debug)]
pub(super) struct Item<'a> {
    /// Name among the items of this report.
    pub label: String,
    /// Name of the run.
    pub run: &'a str,
    /// Options of the run.
    pub global: &'a result::Options,
    /// The block.
    pub job: &'a Job,
    /// Direction, or `mixed`.
    pub direction: &'static str,
    /// Its figures.
    pub dir: &'a Direction,
}

/// All items of all runs, in their order.
pub(super) fn items<'a>(runs: &'a [Named], reported: &'a [Vec<Job>]) -> Vec<Item<'a>> {
    let mut items = Vec::new();
    for (named, jobs) in runs.iter().zip(reported) {
        for job in jobs.iter().filter(|job| job.reporting.shown) {
            let used = || Ddir::DATA.into_iter().filter(|ddir| did(&job.dirs[*ddir]));
            for ddir in used() {
                let mixed = job.reporting.unified == Unified::Mixed;
                let direction = if mixed { "mixed" } else { ddir.name() };
                let twins = jobs.iter().filter(|other| other.name == job.name).count();
                let mut label = job.name.clone();
                if twins > 1 {
                    label += &format!(" #{}", job.number);
                }
                if used().count() > 1 {
                    label += &format!(" {direction}");
                }
                if runs.len() > 1 {
                    label = format!("{}: {label}", named.name);
                }
                items.push(Item {
                    label,
                    run: &named.name,
                    global: &named.run.global_options,
                    job,
                    direction,
                    dir: &job.dirs[ddir],
                });
            }
        }
    }
    items
}

fn did(dir: &Direction) -> bool {
    dir.ios > 0 || dir.issued > 0 || dir.bytes > 0
}

impl Item<'_> {
    /// I/Os per second.
    pub fn iops(&self) -> f64 {
        per_second(self.dir.issued, self.dir.runtime_ms)
    }

    /// Bytes per second.
    pub fn bytes_per_s(&self) -> f64 {
        per_second(self.dir.bytes, self.dir.runtime_ms)
    }

    /// Mean of total latency in ns, or of completion latency where only that is known.
    pub fn mean_ns(&self) -> Option<f64> {
        let classes = [&self.dir.lat, &self.dir.clat];
        let known = classes.into_iter().find(|class| class.moments.n > 0);
        known.map(|class| class.moments.mean())
    }

    /// The latencies that percentiles are of, and their name.
    pub fn latency(&self) -> Option<(&'static str, &Latency)> {
        let classes = [("completion latency", &self.dir.clat), ("latency", &self.dir.lat)];
        let counted = |latency: &Latency| histogram(latency).is_some() || latency.moments.n > 0;
        classes.into_iter().find(|(_, latency)| counted(latency))
    }

    /// A percentile in ns, and how far it can be relied on.
    pub fn percentile(&self, percent: f64) -> Option<(f64, State)> {
        let (_, latency) = self.latency()?;
        let histogram = histogram(latency)?;
        let value = *histogram.percentiles(&[percent]).first()?;
        Some((value as f64, few(histogram.count(), percent)))
    }

    /// The value of an option: the job's own, else that of `[global]`.
    pub fn option(&self, names: &[&str]) -> Option<&str> {
        let given = |options: &'_ result::Options| {
            options.iter().rposition(|(name, _)| names.contains(&name.as_str()))
        };
        let own = given(&self.job.options).map(|at| self.job.options[at].1.as_str());
        own.or_else(|| given(self.global).map(|at| self.global[at].1.as_str()))
    }

    /// Failed, passed over errors, or never became steady.
    pub fn state(&self) -> State {
        let job = self.job;
        let unsteady = job.steady.as_ref().is_some_and(|steady| !steady.attained);
        if job.failure.is_some() || job.total_errors > 0 || unsteady {
            State::Doubtful
        } else {
            State::Good
        }
    }
}

/// The bins, if anything is in them.
pub(super) fn histogram(latency: &Latency) -> Option<&Histogram> {
    latency.histogram.as_ref().filter(|bins| bins.occupied().next().is_some())
}

/// Fewer than ten of `n` samples lie beyond a percentile.
pub(super) fn few(n: u64, percent: f64) -> State {
    match beyond(n, percent) < 10.0 {
        true => State::Few,
        false => State::Good,
    }
}

/// Samples beyond a percentile.
pub(super) fn beyond(n: u64, percent: f64) -> f64 {
    // 99.9 % of 10,000 leave ten, whatever the last bit of the product says.
    n as f64 * (100.0 - percent) / 100.0 + 1e-6
}

fn per_second(count: u64, runtime_ms: u64) -> f64 {
    match runtime_ms {
        0 => 0.0,
        _ => 1000.0 * count as f64 / runtime_ms as f64,
    }
}
