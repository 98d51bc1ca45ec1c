//! A figure that credits paid for.

use crate::Evidence;
use crate::say::{With, finding, grouped};
use result::{Finding, Severity};

/// Shares of what may be sustained above which credits were used.
const ABOVE: f64 = 1.1;

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    let Some(judged) = &evidence.judged else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for limit in &judged.limits {
        let Some(burst) = limit.burst else { continue };
        let block = judged.measured.block_bytes.max(1) as f64;
        let by_iops = burst.iops.map_or(f64::INFINITY, |iops| iops);
        let by_bytes = burst.bytes_per_s.map_or(f64::INFINITY, |rate| rate / block);
        let lasting = by_iops.min(by_bytes);
        if !lasting.is_finite() || judged.measured.iops <= lasting * ABOVE {
            continue;
        }
        let lasts = match burst.seconds {
            Some(seconds) => format!("full credits last {:.0} min", seconds / 60.0),
            None => "it lasts while there are credits".to_owned(),
        };
        let text = format!(
            "{} I/Os a second are a burst of {}: {lasts}, then {} IOPS are left",
            grouped(judged.measured.iops.round() as u64),
            limit.name,
            grouped(lasting.round() as u64)
        );
        let advice = "quote what can be sustained, or run until the credits are gone";
        let mut one = finding("burst-credit", Severity::Warning, text, advice)
            .number("measured_iops", judged.measured.iops)
            .number("sustained_iops", lasting);
        if let Some(seconds) = burst.seconds {
            one = one.number("burst_s", seconds);
        }
        found.push(one);
    }
    found
}
