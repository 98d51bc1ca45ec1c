//! A tail far from the middle: the mean says little about either.

use crate::Evidence;
use crate::job::{Workers, crowded, jobs, word};
use crate::say::{With, finding, time};
use measure::Histogram;
use result::{Finding, LatencyClass, Severity};
use units::Ddir;

/// p99.9 over p50 from which it is told.
const RATIO: u64 = 50;
/// A tail shorter than this hurts nobody who reads a mean.
const LEAST_NS: u64 = 50_000_000;
/// On a machine whose CPUs others keep busy, a tail is theirs up to here.
const CROWDED_NS: u64 = 500_000_000;
/// Ten samples above the 99.9th percentile.
const LEAST_IOS: u64 = 10_000;

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let least = if crowded(evidence) {
        CROWDED_NS
    } else {
        LEAST_NS
    };
    for job in jobs(evidence) {
        for ddir in [Ddir::Read, Ddir::Write] {
            if job.ios(ddir) < LEAST_IOS {
                continue;
            }
            let Some((middle, tail)) = percentiles(&job, ddir) else {
                continue;
            };
            if tail < least || tail / middle.max(1) < RATIO {
                continue;
            }
            let text = format!(
                "{}: one of a thousand {} takes {}, {} times the median of {}",
                job.name,
                word(ddir),
                time(tail),
                tail / middle.max(1),
                time(middle)
            );
            let advice = "quote percentiles beside the mean; look for other users and for the \
                          device's housekeeping";
            found.push(
                finding("long-tail", Severity::Note, text, advice)
                    .count("p50_ns", middle)
                    .count("p99_9_ns", tail),
            );
        }
    }
    found
}

/// The median and the 99.9th percentile over all workers, or as one block of a report has them.
fn percentiles(job: &Workers<'_>, ddir: Ddir) -> Option<(u64, u64)> {
    let mut all: Option<Histogram> = None;
    for worker in &job.list {
        if let Some(histogram) = &worker.dirs[ddir].clat.histogram {
            all.get_or_insert_default().merge(histogram);
        }
    }
    if let Some(all) = all {
        let both = all.percentiles(&[50.0, 99.9]);
        return Some((*both.first()?, *both.get(1)?));
    }
    let [only] = job.list[..] else { return None };
    let stated = |percent| only.dirs[ddir].percentile(LatencyClass::Clat, percent);
    stated(50.0).zip(stated(99.9))
}
