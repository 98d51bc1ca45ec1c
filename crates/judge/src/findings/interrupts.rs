//! A CPU that had nothing left but interrupts.

use crate::Evidence;
use crate::findings::no_disk;
use crate::say::{With, finding};
use result::{Finding, Severity};

/// Share of one CPU in interrupts that is told, percent.
const INTERRUPT_PERCENT: f64 = 50.0;
/// Shorter runs are not told.
const LEAST_MS: u64 = 2000;
/// While it had next to no time left, percent.
const BUSY_PERCENT: f64 = 95.0;

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    if !no_disk::rule(evidence).is_empty() {
        return Vec::new();
    }
    // Shares of a moment are those of a few ticks of the kernel's clock.
    let lasted = evidence.run.jobs.iter().any(|job| {
        let on_disk = job.setup.as_ref().is_some_and(|setup| setup.on_disk);
        on_disk && job.runtime_ms >= LEAST_MS
    });
    let hot = evidence
        .run
        .interrupts
        .filter(|_| lasted)
        .filter(|one| one.percent >= INTERRUPT_PERCENT && one.busy_percent >= BUSY_PERCENT);
    let Some(hot) = hot else { return Vec::new() };
    let text = format!(
        "CPU {} spent {:.0} % of the run in interrupts and had no time left: completions waited \
         for it",
        hot.cpu, hot.percent
    );
    let advice = "spread the device's interrupts over more CPUs, or keep the jobs off this one \
                  (cpus_allowed)";
    vec![
        finding("interrupt-bound", Severity::Warning, text, advice)
            .count("cpu", hot.cpu.into())
            .number("interrupt_percent", hot.percent)
            .number("busy_percent", hot.busy_percent),
    ]
}
