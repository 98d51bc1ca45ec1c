//! fio 2 wrote `KB/s` and meant KiB/s.

use crate::Evidence;
use crate::say::{With, finding};
use result::{Finding, Severity};

const KIB: f64 = 1024.0;
const MIB: f64 = KIB * KIB;

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    let run = evidence.run;
    let Some(source) = &run.source else {
        return Vec::new();
    };
    let old = source.format.starts_with("fio") && source.text.contains("aggrb=");
    // With kb_base=1000 the letters mean what they say.
    let base = |list: &result::Options| {
        let decimal = |(name, value): &(String, String)| name == "kb_base" && value == "1000";
        list.iter().any(decimal)
    };
    if !old || base(&run.global_options) || run.jobs.iter().any(|job| base(&job.options)) {
        return Vec::new();
    }
    let rates = run.jobs.iter().flat_map(|job| &job.dirs.0);
    let fastest = rates
        .map(result::Direction::bytes_per_s)
        .fold(0.0, f64::max);
    if fastest <= 0.0 {
        return Vec::new();
    }
    let text = format!(
        "fio 2 writes KB/s and MB/s for KiB/s and MiB/s: {:.0} KB/s are {:.1} MiB/s or {:.1} MB/s",
        fastest / KIB,
        fastest / MIB,
        fastest / 1e6
    );
    let advice = "divide its KB by 1024 for MiB, and compare megabytes with megabytes";
    vec![
        finding("kib-written-kb", Severity::Note, text, advice)
            .number("mib_per_s", fastest / MIB)
            .number("mb_per_s", fastest / 1e6),
    ]
}
