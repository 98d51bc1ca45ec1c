//! What results mean: evidence in the document becomes findings, limits that were bought become a
//! verdict, and runs are compared. Pure: no clock, file or device.
//!
//! [`judge`] is a pure function of the `Run` document. A rule is one file below `findings/` and
//! one line in [`RULES`]; it says nothing where the document does not hold its evidence. A rule
//! that speaks on a clean run is wrong: silence is the normal result.
#![forbid(unsafe_code)]

pub mod compare;
mod device_io;
pub mod expect;
mod findings;
mod job;
mod say;

#[cfg(test)]
mod tests;

use result::{DeviceIo, Finding, Judgement, Run};

/// What a rule looks at.
struct Evidence<'a> {
    run: &'a Run,
    /// Issued against device I/O, where they can be compared.
    io: Option<DeviceIo>,
}

type Rule = fn(&Evidence<'_>) -> Vec<Finding>;

const RULES: &[Rule] = &[
    findings::partial::rule,
    findings::short::rule,
    findings::depth::rule,
    findings::cpu::rule,
    findings::unread::rule,
    findings::excess::rule,
    findings::unwritten::rule,
    findings::no_disk::rule,
    findings::zeroes::rule,
    findings::stall::rule,
    findings::tail::rule,
    findings::mix::rule,
    findings::link::rule,
    findings::array::rule,
    findings::stripe::rule,
    findings::throttled::rule,
    findings::ebs::rule,
];

/// Judges a finished run.
pub fn judge(run: &Run) -> Judgement {
    let evidence = Evidence {
        run,
        io: device_io::of(run),
    };
    let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule(&evidence)).collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    Judgement {
        findings,
        verdict: None,
        device_io: evidence.io,
    }
}
