//! What results mean: evidence in the document becomes findings, limits that were bought become a
//! verdict, and runs are compared. Pure: no clock, file or device.
//!
//! [`judge`] is a pure function of the `Run` document. A rule is one file below `findings/` and
//! one line in [`RULES`]; it says nothing where the document does not hold its evidence. A rule
//! that speaks on a clean run is wrong: silence is the normal result.
#![forbid(unsafe_code)]

mod across;
pub mod compare;
mod device_io;
pub mod expect;
mod findings;
mod job;
mod save;
mod say;
mod told;

#[cfg(test)]
mod tests;

pub use across::across;
pub use save::time_to_save;

use expect::Declared;
use result::{DeviceIo, Finding, Judgement, Run};

/// What a rule looks at.
struct Evidence<'a> {
    run: &'a Run,
    /// Issued against device I/O, where they can be compared.
    io: Option<DeviceIo>,
    /// What was bought, where somebody said so.
    declared: Option<&'a Declared>,
    /// The limits that are known, and what was measured against them.
    judged: Option<expect::Judged>,
}

type Rule = fn(&Evidence<'_>) -> Vec<Finding>;

const RULES: &[Rule] = &[
    findings::partial::rule,
    findings::short::rule,
    findings::full::rule,
    findings::depth::rule,
    findings::cpu::rule,
    findings::submission::rule,
    findings::interrupts::rule,
    findings::punted::rule,
    findings::overhead::rule,
    findings::unread::rule,
    findings::cached::rule,
    findings::excess::rule,
    findings::unwritten::rule,
    findings::no_disk::rule,
    findings::wrong_device::rule,
    findings::idle_device::rule,
    findings::not_mounted::rule,
    findings::zeroes::rule,
    findings::stall::rule,
    findings::tail::rule,
    findings::change::rule,
    findings::unsteady::rule,
    findings::burst::rule,
    findings::mix::rule,
    findings::shared::rule,
    findings::range::rule,
    findings::state::rule,
    findings::link::rule,
    findings::array::rule,
    findings::members::rule,
    findings::stripe::rule,
    findings::throttled::rule,
    findings::ebs::rule,
    findings::name::rule,
    findings::kilobytes::rule,
    findings::layout::rule,
    findings::contradiction::rule,
];

/// Judges a finished run, or one that was imported.
pub fn judge(run: &Run) -> Judgement {
    judge_against(run, None)
}

/// Judges a run against what was declared, and against what the machine tells of itself.
pub fn judge_against(run: &Run, declared: Option<&Declared>) -> Judgement {
    let run = told::complete(run);
    let run = run.as_ref();
    let judged = expect::of_run(run, declared);
    let evidence = Evidence {
        run,
        io: device_io::of(run),
        declared,
        judged,
    };
    let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule(&evidence)).collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let (verdict, expectation) = match evidence.judged {
        Some(judged) => (judged.verdict, Some(judged.expectation)),
        None => (None, None),
    };
    Judgement {
        findings,
        verdict,
        expectations: expectation.into_iter().collect(),
        device_io: evidence.io,
        ..Judgement::default()
    }
}
