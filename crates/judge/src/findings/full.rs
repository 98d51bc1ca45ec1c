//! A run that ended because the file system was full.

use crate::Evidence;
use crate::say::finding;
use result::{Finding, Severity};

const ENOSPC: i32 = 28;
const WORDS: &str = "No space left on device";

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    let run = evidence.run;
    let failed = run.jobs.iter().find(|job| {
        let failure = job.failure.as_ref();
        failure.is_some_and(|failure| failure.errno == ENOSPC) || job.first_error == ENOSPC
    });
    if failed.is_none() && !run.notes.iter().any(|note| note.contains(WORDS)) {
        return Vec::new();
    }
    let place = failed.and_then(|job| job.setup.as_ref()?.places.first());
    let place = place
        .filter(|place| !place.path.is_empty())
        .map_or_else(String::new, |place| format!(" of {}", place.path));
    let text = format!(
        "the run wrote until the file system{place} was full; everybody else who writes there \
         failed too"
    );
    let advice = "give a size or a count that leaves room, and delete what the run has left";
    vec![finding("file-system-full", Severity::Warning, text, advice)]
}
