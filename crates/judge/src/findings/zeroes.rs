//! Zeroes as data: devices that compress or deduplicate never see them.

use crate::Evidence;
use crate::job::jobs;
use crate::say::{With, finding};
use result::host::DeviceKind;
use result::{Finding, Severity};
use units::Ddir;

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    let devices = evidence.run.host.iter().flat_map(|host| &host.devices);
    let compresses = devices
        .filter(|device| device.kind == DeviceKind::Zram)
        .count()
        > 0;
    jobs(evidence)
        .iter()
        .filter(|job| job.setup.zero_buffers && job.ios(Ddir::Write) > 0)
        .map(|job| {
            let (severity, here) = match compresses {
                true => (Severity::Invalid, ", and this device does"),
                false => (Severity::Warning, ""),
            };
            let text = format!(
                "{}: all data written were zeroes; storage that compresses, deduplicates or \
                 detects zeroes does not write them{here}",
                job.name
            );
            let advice = "leave zero_buffers out; buffers are random by default";
            finding("zero-data", severity, text, advice).count("writes", job.ios(Ddir::Write))
        })
        .collect()
}
