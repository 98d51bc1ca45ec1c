//! A moment is no measurement: start-up, caches and bursts rule it.

use crate::Evidence;
use crate::job::jobs;
use crate::say::{With, finding};
use result::{Finding, Severity};
use units::Ddir;

/// Shorter runs are told: rates are sampled twice a second, and one sample has no spread.
const LEAST_MS: u64 = 1000;

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    let longest = jobs(evidence)
        .iter()
        .filter(|job| job.setup.on_disk && job.ios(Ddir::Read) + job.ios(Ddir::Write) > 0)
        .flat_map(|job| &job.list)
        .map(|job| job.runtime_ms)
        .max();
    let Some(ms) = longest.filter(|ms| *ms < LEAST_MS) else {
        return Vec::new();
    };
    let text = format!(
        "the longest job ran for {:.2} s: caches, bursts and the start rule such a figure",
        ms as f64 / 1000.0
    );
    let advice = "give --time_based --runtime of at least 30 s, or a larger size";
    vec![finding("short-run", Severity::Note, text, advice).count("runtime_ms", ms)]
}
