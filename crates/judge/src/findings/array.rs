//! An array that lacks members or is busy with itself.

use crate::Evidence;
use crate::say::{With, finding};
use result::{Finding, Severity};

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    let devices = evidence.run.host.iter().flat_map(|host| &host.devices);
    let mut found = Vec::new();
    for (device, raid) in devices.filter_map(|d| d.raid.as_ref().map(|raid| (d, raid))) {
        let name = &device.name;
        if let Some(missing) = raid.degraded.filter(|n| *n > 0) {
            let text = format!("{name}: {missing} of the members of the array are missing");
            let advice = "replace them and let the array rebuild before measuring";
            let one = finding("array-degraded", Severity::Warning, text, advice);
            found.push(one.count("missing", missing.into()));
        }
        if let Some(action) = raid.sync_action.as_ref().filter(|word| *word != "idle") {
            let text = format!("{name}: the array was busy with its own I/O ({action})");
            let advice = "wait until /proc/mdstat shows it idle, then measure";
            let one = finding("array-busy", Severity::Warning, text, advice);
            found.push(one.word("action", action));
        }
    }
    found
}
