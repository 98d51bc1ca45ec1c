//! Times without a single completion, which means hide.

use crate::Evidence;
use crate::job::{jobs, main_direction, word};
use crate::say::{With, finding, time};
use result::{Finding, Severity};

/// A single I/O that took this long is a stall by itself.
const LONG_NS: u64 = 1_000_000_000;

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for job in jobs(evidence).iter().filter(|job| !job.setup.paced) {
        let worst = job
            .list
            .iter()
            .filter_map(|worker| main_direction(worker))
            .max_by_key(|(_, dir)| dir.clat.moments.max);
        let Some((ddir, dir)) = worst else { continue };
        let longest = dir.clat.moments.max;
        if longest < LONG_NS {
            continue;
        }
        let text = format!(
            "{}: {} stalled: one of them took {}, against {} on average",
            job.name,
            word(ddir),
            time(longest),
            time(dir.clat.moments.mean() as u64)
        );
        let advice = "look at the series (write_lat_log), the device's health, and other users";
        found.push(
            finding("stall", Severity::Warning, text, advice)
                .count("longest_ns", longest)
                .number("mean_ns", dir.clat.moments.mean()),
        );
    }
    found
}
