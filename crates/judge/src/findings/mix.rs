//! A share of reads with decimals, which the option does not have.

use crate::Evidence;
use crate::job::jobs;
use crate::say::{With, finding, percent};
use result::{Finding, Severity};
use units::Ddir;

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for job in jobs(evidence) {
        let own = job.list.iter().flat_map(|worker| &worker.options);
        let all = own.chain(&evidence.run.global_options);
        let asked = all
            .filter(|(name, _)| name == "rwmixread" || name == "rwmixwrite")
            .find(|(_, value)| value.contains('.'));
        let Some((name, value)) = asked else { continue };
        let (reads, writes) = (job.ios(Ddir::Read), job.ios(Ddir::Write));
        let rate = |ddir| {
            job.list
                .iter()
                .map(|worker| worker.dirs[ddir].iops())
                .sum::<f64>()
        };
        // Where a report gives rates alone, these have the same share.
        let share = match reads.min(writes) {
            0 => percent(rate(Ddir::Read), rate(Ddir::Read) + rate(Ddir::Write)),
            _ => percent(reads as f64, (reads + writes) as f64),
        };
        let text = format!(
            "{}: {name}={value} is cut to whole percents; {share:.2} % of the I/Os were reads",
            job.name
        );
        let advice = "give a whole number, and quote the share that ran";
        found.push(
            finding("mix-not-whole", Severity::Note, text, advice)
                .word("asked", value)
                .number("read_percent", share),
        );
    }
    found
}
