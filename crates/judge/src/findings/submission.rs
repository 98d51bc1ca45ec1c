//! Asynchronous jobs whose requests are done by the time they have been submitted.

use crate::Evidence;
use crate::findings::{cached, cpu, depth, no_disk, punted, unread, unwritten};
use crate::job::jobs;
use crate::say::{With, finding, percent, time};
use result::{Finding, Severity};
use units::Ddir;

/// Share of the run that went into submitting, percent.
const BOUND_PERCENT: f64 = 90.0;
/// Fewest I/Os that say something.
const LEAST_IOS: u64 = 1000;

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    // Each of these says why, where this one says only where.
    let causes = [
        unread::rule,
        cached::rule,
        unwritten::rule,
        no_disk::rule,
        cpu::rule,
        depth::rule,
        punted::rule,
    ];
    if causes.iter().any(|rule| !rule(evidence).is_empty()) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for job in jobs(evidence) {
        if job.setup.sync || job.setup.paced || job.setup.iodepth < 2 || !job.setup.on_disk {
            continue;
        }
        let (mut spent_ns, mut ios, mut waited_ns, mut ran_ms) = (0.0, 0, 0.0, 0);
        for worker in &job.list {
            for ddir in [Ddir::Read, Ddir::Write] {
                let dir = &worker.dirs[ddir];
                spent_ns += dir.slat.moments.sum as f64;
                waited_ns += dir.clat.moments.sum as f64;
                ios += dir.slat.moments.n;
            }
            ran_ms += worker.runtime_ms;
        }
        let share = percent(spent_ns, ran_ms as f64 * 1e6).min(100.0);
        if ios < LEAST_IOS || share < BOUND_PERCENT || spent_ns < waited_ns {
            continue;
        }
        let text = format!(
            "{}: {share:.0} % of the time went into submitting, {} an I/O: the queue was never \
             deep, and the figure is that of one submitter",
            job.name,
            time((spent_ns / ios as f64) as u64)
        );
        let advice = "use more jobs or direct=1; look for files that grow, and for full queues";
        found.push(
            finding("submission-bound", Severity::Warning, text, advice)
                .number("submitting_percent", share),
        );
    }
    found
}
