//! Writes to a drive of which nobody knows how full and how worn it was.

use crate::Evidence;
use crate::findings::range;
use crate::job::jobs;
use crate::say::{With, bytes, finding};
use result::{Finding, Severity};
use units::Ddir;

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    let capacity = range::capacity(evidence.run).filter(|_| range::lasted(evidence));
    let Some(capacity) = capacity else {
        return Vec::new();
    };
    let jobs = jobs(evidence);
    let written: u64 = evidence
        .run
        .jobs
        .iter()
        .map(|job| job.dirs[Ddir::Write].bytes)
        .sum();
    let random = jobs
        .iter()
        .any(|job| job.setup.random && job.ios(Ddir::Write) > 0);
    // A run that writes all of the drive twice makes its own state.
    if !random || written >= capacity.saturating_mul(2) {
        return Vec::new();
    }
    let text = format!(
        "the state of the drives before the run is not known, and the {} written are too little \
         to make one: a fresh drive of {} writes faster than one in use",
        bytes(written),
        bytes(capacity)
    );
    let advice = "write the whole drive twice first (rw=write, bs=128k), then this job until it is \
                  steady; or call the figure one of an unknown state";
    vec![
        finding("state-unknown", Severity::Note, text, advice)
            .count("written_bytes", written)
            .count("capacity_bytes", capacity),
    ]
}
