//! Files that were written before the clock started: time and wear that no figure counts.

use crate::Evidence;
use crate::say::{With, bytes, finding};
use result::{Finding, Severity};
use units::Ddir;

/// Data worth a word, bytes.
const LEAST_BYTES: u64 = 1 << 30;

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    let run = evidence.run;
    // Our own documents have the phase with its bytes and its time.
    if run.source.is_none() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for layout in run
        .layouts
        .iter()
        .filter(|one| one.size_bytes >= LEAST_BYTES)
    {
        let jobs = || run.jobs.iter().filter(|job| job.name == layout.job);
        // What is only written is allocated, and not filled.
        if !jobs().any(|job| job.dirs[Ddir::Read].bytes_per_s() > 0.0) {
            continue;
        }
        let dirs = jobs().flat_map(|job| &job.dirs.0);
        let rate: f64 = dirs.map(result::Direction::bytes_per_s).sum();
        let seconds = layout.size_bytes as f64 / rate;
        let text = format!(
            "{}: {} were written before the clock started, since there was no such file to read; \
             no figure counts that: about {seconds:.0} s at the speed of the run",
            layout.job,
            bytes(layout.size_bytes)
        );
        let advice = "write files in a job of their own, and give the device time to settle";
        found.push(
            finding("layout-uncounted", Severity::Note, text, advice)
                .count("size_bytes", layout.size_bytes)
                .number("about_s", seconds),
        );
    }
    found
}
