//! A run that was ended early is not the run that was asked for.

use crate::Evidence;
use crate::say::finding;
use result::{Finding, Severity};

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    if !evidence.run.partial {
        return Vec::new();
    }
    vec![finding(
        "partial-run",
        Severity::Warning,
        "the run was ended before it was complete; the figures are of the part that ran".into(),
        "run it to its end before quoting or comparing it",
    )]
}
