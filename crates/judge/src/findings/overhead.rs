//! A device so fast that the tool's own work shows.

use crate::Evidence;
use crate::job::jobs;
use crate::say::{With, finding};
use result::{Finding, Severity};

/// Share of a worker's time that is told, percent.
const TOLD_PERCENT: f64 = 20.0;

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    let Some(check) = &evidence.run.self_check else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for job in jobs(evidence).iter().filter(|job| job.setup.on_disk) {
        let rates = job.list.iter().map(|worker| {
            let rate: f64 = worker.dirs.0.iter().map(result::Direction::iops).sum();
            rate / f64::from(worker.members.max(1))
        });
        let fastest = rates.fold(0.0, f64::max);
        let share = 100.0 * check.share(job.setup.iodepth, fastest);
        if share < TOLD_PERCENT {
            continue;
        }
        let text = format!(
            "{}: {share:.0} % of a worker's time was the tool's own work, as its self-check has \
             measured it on this machine",
            job.name
        );
        let advice = "use more jobs, or fewer statistics (gtod_reduce=1)";
        found.push(
            finding("tool-overhead", Severity::Note, text, advice).number("own_percent", share),
        );
    }
    found
}
