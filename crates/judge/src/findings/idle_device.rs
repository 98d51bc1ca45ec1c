//! Devices that were meant to work and saw no I/O.

use crate::Evidence;
use crate::findings::wrong_device::{self, has_moved, is_one_of, kernel_name, with_stack};
use crate::say::{With, finding};
use result::{Finding, Host, Severity};
use std::collections::BTreeSet;

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    let run = evidence.run;
    // Where the wrong device did it all, that is what is to be said.
    if !run.disks.iter().any(has_moved) || !wrong_device::rule(evidence).is_empty() {
        return Vec::new();
    }
    let nobody = Host::default();
    let host = run.host.as_ref().unwrap_or(&nobody);
    let declared = evidence.declared.map_or(&[][..], |one| &one.devices);
    // A target that has a device to itself; file systems of several may leave some idle.
    let targets = host.targets.iter().filter_map(|target| {
        let [only] = &target.devices[..] else {
            return None;
        };
        Some((target.path.clone(), only.clone()))
    });
    let declared = declared
        .iter()
        .map(|name| (name.clone(), kernel_name(host, name)));
    let mut idle: Vec<String> = Vec::new();
    let mut worked = false;
    for (name, kernel) in targets.chain(declared) {
        let one = with_stack(host, BTreeSet::from([kernel]));
        let moved = run
            .disks
            .iter()
            .any(|disk| is_one_of(disk, &one) && has_moved(disk));
        worked = worked || moved;
        if !moved && !idle.contains(&name) {
            idle.push(name);
        }
    }
    // Where none of them moved, they are not idle but wrong.
    if idle.is_empty() || !worked {
        return Vec::new();
    }
    let text = format!(
        "{} saw no I/O in this run: nothing is known of it from these figures",
        idle.join(", ")
    );
    let advice = "give each device a job of its own, and look at the disk statistics";
    vec![finding("idle-device", Severity::Warning, text, advice).word("idle", &idle.join(", "))]
}
