//! Figures of one row that cannot both be right.

use crate::Evidence;
use crate::say::{With, finding, percent};
use crate::told::block_bytes;
use result::{Finding, Severity};

const MIB: f64 = 1_048_576.0;
/// Rounded figures differ by less, percent; MB and MiB differ by 4.9.
const SLACK_PERCENT: f64 = 3.0;
/// Rates below this have too few digits.
const LEAST_IOPS: f64 = 50.0;

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    let run = evidence.run;
    let mut found = Vec::new();
    for job in run.jobs.iter().filter(|_| run.source.is_some()) {
        let block = block_bytes(run, job);
        let stated = job.dirs.0.iter().filter_map(|dir| dir.stated.as_ref());
        let stated = stated.filter_map(|stated| stated.iops.zip(stated.bytes_per_s));
        for (iops, rate) in stated {
            let Some(block) = block.filter(|_| iops >= LEAST_IOPS) else {
                continue;
            };
            let product = iops * block as f64;
            let off = percent(rate, product) - 100.0;
            if off.abs() < SLACK_PERCENT {
                continue;
            }
            // A number of MB with the letters of MiB is 4.9 % too large, the reverse too small.
            let as_megabytes = percent(rate / MIB * 1e6, product) - 100.0;
            let cause = match as_megabytes.abs() < SLACK_PERCENT {
                true => format!(
                    "; {:.1} MB/s are {:.1} MiB/s, so the unit is wrong",
                    rate / MIB,
                    rate / MIB * 1e6 / MIB
                ),
                false => String::new(),
            };
            let text = format!(
                "{}: {iops:.0} IOPS of {block} bytes are {:.1} MiB/s, not {:.1}{cause}",
                job.name,
                product / MIB,
                rate / MIB
            );
            let advice = "look at the report that the figures were copied from";
            found.push(
                finding("figures-contradict", Severity::Warning, text, advice)
                    .number("iops", iops)
                    .number("stated_mib_per_s", rate / MIB)
                    .number("computed_mib_per_s", product / MIB),
            );
        }
    }
    found
}
