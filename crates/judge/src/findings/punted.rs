//! Requests that io_uring handed to kernel threads.

use crate::Evidence;
use crate::job::jobs;
use crate::say::{With, finding, percent};
use result::{Finding, Severity};

/// Share of the CPU time that those threads took, percent.
const TOLD_PERCENT: f64 = 20.0;
/// Less CPU time than this says nothing.
const LEAST_US: u64 = 10_000;

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for job in jobs(evidence) {
        let (mut own_us, mut their_us, mut threads) = (0, 0, 0);
        for worker in &job.list {
            own_us += worker.usage.user_us + worker.usage.system_us;
            their_us += worker.punts.cpu_us;
            threads += u64::from(worker.punts.threads);
        }
        let share = percent(their_us as f64, (own_us + their_us) as f64);
        if their_us < LEAST_US || share < TOLD_PERCENT {
            continue;
        }
        let text = format!(
            "{}: io_uring handed requests that would have blocked to {threads} kernel threads, \
             which took {share:.0} % of the CPU time: their limits were measured too",
            job.name
        );
        let advice = "use direct=1 on a file that is written already, and no fsync; or compare \
                      with ioengine=libaio";
        found.push(
            finding("uring-punted", Severity::Warning, text, advice)
                .count("kernel_threads", threads)
                .count("kernel_cpu_us", their_us),
        );
    }
    found
}
