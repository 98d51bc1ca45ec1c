//! Devices that moved more than the jobs asked for.

use crate::Evidence;
use crate::say::{With, bytes, finding, percent};
use result::{Finding, Severity};

/// More than this share of what was issued is told, percent.
const READ_PERCENT: f64 = 110.0;
const WRITE_PERCENT: f64 = 120.0;
const LEAST_BYTES: u64 = 4 << 20;
/// In a direction that no job used: this share of all that the device did, of bytes or of
/// requests. Every system has a journal and logs, which do not matter below that.
const FOREIGN_PERCENT: f64 = 10.0;

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    let Some(io) = &evidence.io else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (at, limit) in [READ_PERCENT, WRITE_PERCENT].into_iter().enumerate() {
        let (issued, device) = (io.issued_bytes[at], io.device_bytes[at]);
        let more = device.saturating_sub(issued);
        let share = percent(device as f64, issued as f64);
        if more < LEAST_BYTES || (issued > 0 && share < limit) {
            continue;
        }
        let of_all = |each: [u64; 2]| percent(each[at] as f64, (each[0] + each[1]) as f64);
        let foreign = of_all(io.device_bytes).max(of_all(io.device_ios));
        if issued == 0 && foreign < FOREIGN_PERCENT {
            continue;
        }
        let (id, cause, advice) = match (at, issued) {
            (_, 0) => (
                "foreign-io",
                "none of that is the jobs'",
                "find who else uses the device",
            ),
            (0, _) => (
                "excess-reads",
                "read-ahead, metadata or another process",
                "use direct=1, and keep other users off the device",
            ),
            _ => (
                "write-amplification",
                "journal, extent conversion, or another process",
                "write over a file that is filled already, and keep other users off the device",
            ),
        };
        let verb = ["read", "wrote"][at];
        let text = format!(
            "the device {verb} {} where the jobs asked for {}: {cause}",
            bytes(device),
            bytes(issued)
        );
        found.push(
            finding(id, Severity::Note, text, advice)
                .count("issued_bytes", issued)
                .count("device_bytes", device),
        );
    }
    found
}
