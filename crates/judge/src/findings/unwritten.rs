//! Writes that had not reached the device when the clock stopped.

use crate::Evidence;
use crate::say::{With, bytes, finding, percent};
use result::{Finding, Severity};

const SLACK_PERCENT: f64 = 5.0;
const LEAST_BYTES: u64 = 1 << 20;

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    let Some(io) = &evidence.io else {
        return Vec::new();
    };
    let (issued, device) = (io.issued_bytes[1], io.device_bytes[1]);
    let missing = 100.0 - percent(device as f64, issued as f64);
    if issued < LEAST_BYTES || missing < SLACK_PERCENT {
        return Vec::new();
    }
    let real_reads = io.issued_bytes[0] >= LEAST_BYTES
        && percent(io.device_bytes[0] as f64, io.issued_bytes[0] as f64) > 100.0 - SLACK_PERCENT;
    let (id, mixed) = match real_reads {
        true => (
            "buffered-mix",
            "; the reads of the same run waited for the device, so the two cannot be compared",
        ),
        false => ("page-cache-write", ""),
    };
    let text = format!(
        "{missing:.1} % of the bytes written ({} of {}) had not reached the device at the end: \
         memory took them{mixed}",
        bytes(issued - device.min(issued)),
        bytes(issued)
    );
    let advice = "use direct=1, or end_fsync=1 so that the time includes the device";
    vec![
        finding(id, Severity::Invalid, text, advice)
            .count("issued_bytes", issued)
            .count("device_bytes", device)
            .number("missing_percent", missing),
    ]
}
