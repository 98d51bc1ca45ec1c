//! What reports show of storage jobs: one item for each block and direction that did something.

use super::Named;
use crate::chart::State;
use measure::{Histogram, Latency};
use result::{Direction, Job, LatencyClass, Run, Unified};
use units::Ddir;

/// A block of a report in one direction.
#[derive(Clone, Debug)]
pub(super) struct Item<'a> {
    /// Name among the items of this report.
    pub label: String,
    /// Name of the run.
    pub run: &'a str,
    /// Place of the run among those of the report.
    pub index: usize,
    /// The run itself, for the options of `[global]` and of its command.
    whole: &'a Run,
    /// The block.
    pub job: &'a Job,
    /// Direction, or `mixed`.
    pub direction: &'static str,
    /// Its figures.
    pub dir: &'a Direction,
}

/// All items of all runs, in their order.
pub(super) fn items<'a>(runs: &'a [Named], reported: &'a [Vec<Job>]) -> Vec<Item<'a>> {
    chosen(runs, reported, |job, ddir| did(&job.dirs[ddir]))
}

/// The same with directions of which only the course is known: a log has nothing else.
pub(super) fn with_course<'a>(runs: &'a [Named], reported: &'a [Vec<Job>]) -> Vec<Item<'a>> {
    chosen(runs, reported, |job, ddir| {
        did(&job.dirs[ddir]) || job.series.iter().any(|series| series.ddir == ddir)
    })
}

fn chosen<'a>(
    runs: &'a [Named],
    reported: &'a [Vec<Job>],
    chosen: fn(&Job, Ddir) -> bool,
) -> Vec<Item<'a>> {
    let mut items = Vec::new();
    for (index, (named, jobs)) in runs.iter().zip(reported).enumerate() {
        for job in jobs.iter().filter(|job| job.reporting.shown) {
            let used = || Ddir::DATA.into_iter().filter(|ddir| chosen(job, *ddir));
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
                    index,
                    whole: &named.run,
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
    dir.ios > 0 || dir.issued > 0 || dir.bytes > 0 || dir.stated.is_some()
}

impl Item<'_> {
    /// The latencies that percentiles are of, by name.
    pub fn class(&self) -> Option<(&'static str, LatencyClass)> {
        let (dir, stated) = (self.dir, self.dir.stated.as_deref());
        let listed = |of: fn(&result::Stated) -> &Vec<(f64, u64)>| {
            stated.is_some_and(|stated| !of(stated).is_empty())
        };
        if histogram(&dir.clat).is_some() || listed(|stated| &stated.clat_percentiles) {
            Some(("completion latency", LatencyClass::Clat))
        } else if histogram(&dir.lat).is_some() || listed(|stated| &stated.lat_percentiles) {
            Some(("latency", LatencyClass::Lat))
        } else {
            None
        }
    }

    /// The same with its moments, or whatever has moments.
    pub fn latency(&self) -> Option<&Latency> {
        let classes = [&self.dir.clat, &self.dir.lat];
        match self.class() {
            Some((_, LatencyClass::Clat)) => Some(&self.dir.clat),
            Some(_) => Some(&self.dir.lat),
            None => classes.into_iter().find(|latency| latency.moments.n > 0),
        }
    }

    /// The bins that percentiles are of.
    pub fn bins(&self) -> Option<&Histogram> {
        self.class().and_then(|_| histogram(self.latency()?))
    }

    /// Percentiles that a report states without the bins behind them.
    pub fn stated(&self) -> &[(f64, u64)] {
        let Some((stated, (_, class))) = self.dir.stated.as_deref().zip(self.class()) else {
            return &[];
        };
        match class {
            LatencyClass::Clat => &stated.clat_percentiles,
            LatencyClass::Lat | LatencyClass::Slat => &stated.lat_percentiles,
        }
    }

    /// Values that percentiles rest on; 0 where a report does not say.
    pub fn samples(&self) -> u64 {
        match self.bins() {
            Some(bins) => bins.count(),
            None => self
                .latency()
                .map_or(0, |latency| latency.moments.n)
                .max(self.dir.issued),
        }
    }

    /// A percentile in ns, and how far it can be relied on.
    pub fn percentile(&self, percent: f64) -> Option<(f64, State)> {
        let (_, class) = self.class()?;
        let value = self.dir.percentile(class, percent)?;
        Some((value as f64, few(self.samples(), percent)))
    }

    /// The value of an option: the job's own, else that of `[global]`, else of the command.
    pub fn option(&self, names: &[&str]) -> Option<&str> {
        let lists = [&self.job.options, &self.whole.global_options];
        let given = lists.into_iter().find_map(|options| {
            let named = |(name, _): &&(String, String)| names.contains(&name.as_str());
            options.iter().rfind(named).map(|(_, value)| value.as_str())
        });
        given.or_else(|| {
            let words = self.whole.command.as_deref()?.split_whitespace();
            let value = |word: &'_ str| {
                let (name, _) = word.strip_prefix('-')?.split_once('=')?;
                names
                    .contains(&name.trim_start_matches('-'))
                    .then_some(name.len() + 2)
            };
            words
                .filter_map(|word| Some(&word[value(word)?..]))
                .next_back()
        })
    }

    /// Everything that was asked for, and of which host.
    pub fn settings(&self) -> impl PartialEq {
        let host = self.whole.host.as_ref().map(|host| &host.hostname);
        let (run, job) = (self.whole, self.job);
        (&run.command, &run.global_options, &job.options, host)
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
    latency
        .histogram
        .as_ref()
        .filter(|bins| bins.occupied().next().is_some())
}

/// Fewer than ten of `n` samples lie beyond a percentile; 0 stands for a number that is not known.
pub(super) fn few(n: u64, percent: f64) -> State {
    match n > 0 && beyond(n, percent) < 10.0 {
        true => State::Few,
        false => State::Good,
    }
}

/// Samples beyond a percentile.
pub(super) fn beyond(n: u64, percent: f64) -> f64 {
    // 99.9 % of 10,000 leave ten, whatever the last bit of the product says.
    n as f64 * (100.0 - percent) / 100.0 + 1e-6
}
