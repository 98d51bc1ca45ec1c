//! A run that was ended early is not the run that was asked for.

use crate::Evidence;
use crate::job::jobs;
use crate::say::{With, finding, percent};
use result::{Finding, Severity};

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    if !evidence.run.partial {
        return failed(evidence);
    }
    let advice = "run it to its end before quoting or comparing it";
    let jobs = jobs(evidence);
    let asked = jobs.iter().filter_map(|job| job.setup.runtime_s).max();
    let all = jobs.iter().flat_map(|job| &job.list);
    let ran_ms = all.flat_map(|job| job.dirs.0.iter().map(|dir| dir.runtime_ms));
    let Some((asked, ran_ms)) = asked.zip(ran_ms.max()).filter(|(_, ms)| *ms > 0) else {
        let text = "the run was ended before it was complete; the figures are of the part that ran";
        return vec![finding(
            "partial-run",
            Severity::Warning,
            text.into(),
            advice,
        )];
    };
    let seconds = ran_ms as f64 / 1000.0;
    let share = percent(seconds, asked as f64).min(100.0);
    let text = format!(
        "the run was ended after {share:.0} % of its time ({seconds:.1} of {asked} s); the figures \
         are of that part"
    );
    vec![
        finding("partial-run", Severity::Warning, text, advice)
            .number("percent", share)
            .count("asked_s", asked)
            .count("ran_ms", ran_ms),
    ]
}

/// Jobs that gave up; a full file system has a finding of its own.
fn failed(evidence: &Evidence<'_>) -> Vec<Finding> {
    const ENOSPC: i32 = 28;
    let all = evidence.run.jobs.iter();
    let mut failed = all.filter_map(|job| job.failure.as_ref().map(|failure| (job, failure)));
    let Some((job, failure)) = failed.find(|(_, failure)| failure.errno != ENOSPC) else {
        return Vec::new();
    };
    let text = format!(
        "{} failed ({}); the figures are of what it did before",
        job.name, failure.message
    );
    let advice = "mend what failed before quoting or comparing the figures";
    let one = finding("partial-run", Severity::Warning, text, advice);
    vec![one.count("errno", failure.errno.unsigned_abs().into())]
}
