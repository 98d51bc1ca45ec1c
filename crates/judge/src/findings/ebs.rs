//! An EBS volume that says itself which limit held it.

use crate::Evidence;
use crate::say::{With, finding};
use result::{Finding, Severity};

/// Less than this of exceeded time is noise, microseconds.
const LEAST_US: u64 = 100_000;

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    let devices = evidence.run.host.iter().flat_map(|host| &host.devices);
    let mut found = Vec::new();
    for device in devices {
        let (Some(before), Some(after)) = (&device.ebs, &device.ebs_after) else {
            continue;
        };
        for (what, now, then) in [
            (
                "the volume's IOPS",
                after.volume_iops_exceeded_us,
                before.volume_iops_exceeded_us,
            ),
            (
                "the volume's throughput",
                after.volume_throughput_exceeded_us,
                before.volume_throughput_exceeded_us,
            ),
            (
                "the instance's EBS IOPS",
                after.instance_iops_exceeded_us,
                before.instance_iops_exceeded_us,
            ),
            (
                "the instance's EBS throughput",
                after.instance_throughput_exceeded_us,
                before.instance_throughput_exceeded_us,
            ),
        ] {
            let us = now.saturating_sub(then);
            if us < LEAST_US {
                continue;
            }
            let name = device.identity().unwrap_or(&device.name);
            let text = format!(
                "{name}: {what} was the limit: demand exceeded it for {:.1} s of the run, as the \
                 volume's own counters say",
                us as f64 / 1e6
            );
            let advice = "this is what was provisioned; a larger volume or instance gives more";
            let one = finding("ebs-limit", Severity::Note, text, advice);
            found.push(one.word("limit", what).count("exceeded_us", us));
        }
    }
    found
}
