//! A queue depth that was asked for and not reached.

use crate::Evidence;
use crate::job::{Workers, jobs};
use crate::say::{With, finding, percent};
use result::{Finding, Severity};

/// Share of I/Os issued into a queue less than half full that is told, percent.
const SHALLOW_PERCENT: f64 = 50.0;
/// Fewest I/Os that say something.
const LEAST_IOS: u64 = 100;

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    jobs(evidence).iter().filter_map(of_job).collect()
}

fn of_job(job: &Workers<'_>) -> Option<Finding> {
    let (setup, workers) = (job.setup, job.members());
    let asked = setup.iodepth;
    if asked < 2 {
        return None;
    }
    if setup.sync {
        let text = format!(
            "{}: iodepth={asked} has no effect with {}, which waits for each I/O: the depth was \
             {workers}, one for each worker",
            job.name, setup.engine
        );
        let advice = "use ioengine=io_uring or libaio, or as many jobs as the depth should be";
        return Some(
            finding("depth-without-queue", Severity::Warning, text, advice)
                .count("iodepth", asked.into())
                .count("effective_depth", workers)
                .word("ioengine", &setup.engine),
        );
    }
    if setup.paced {
        return None;
    }
    let mut slots = [0u64; 7];
    for worker in &job.list {
        for (sum, n) in slots.iter_mut().zip(worker.depth.0) {
            *sum += n;
        }
    }
    let total: u64 = slots.iter().sum();
    // Slot n counts depths from 2^n on; the last one all from 64.
    let shallow: u64 = slots
        .iter()
        .enumerate()
        .filter(|(slot, _)| *slot < 6 && (2u64 << slot) <= u64::from(asked / 2))
        .map(|(_, n)| n)
        .sum();
    let share = percent(shallow as f64, total as f64);
    if total < LEAST_IOS || share <= SHALLOW_PERCENT {
        return None;
    }
    let text = format!(
        "{}: a queue depth of {asked} was not reached: {share:.0} % of the I/Os met a queue less \
         than half full",
        job.name
    );
    let advice = "look for what holds submission back: buffered I/O, iodepth_batch, the CPU";
    Some(
        finding("depth-not-reached", Severity::Warning, text, advice)
            .count("iodepth", asked.into())
            .number("shallow_percent", share),
    )
}
