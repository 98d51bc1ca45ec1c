//! I/O on another device than the one that was meant.

use crate::Evidence;
use crate::say::{With, finding};
use result::{Disk, Finding, Host, Severity};
use std::collections::BTreeSet;

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    let run = evidence.run;
    let moved: Vec<&Disk> = run.disks.iter().filter(|disk| has_moved(disk)).collect();
    let (Some(first), Some(host)) = (moved.first(), run.host.as_ref()) else {
        return Vec::new();
    };
    let meant = meant(evidence, host);
    if meant.is_empty() || moved.iter().any(|disk| is_one_of(disk, &meant)) {
        return Vec::new();
    }
    let names = |list: &BTreeSet<String>| list.iter().cloned().collect::<Vec<_>>().join(", ");
    let wanted = match evidence.declared.map(|declared| &declared.devices) {
        Some(declared) if !declared.is_empty() => declared.join(", "),
        _ => host
            .targets
            .iter()
            .flat_map(|target| target.devices.clone())
            .collect::<Vec<_>>()
            .join(", "),
    };
    let did = first
        .identity
        .as_ref()
        .map_or_else(|| first.name.clone(), |id| format!("{} ({id})", first.name));
    let text = format!(
        "{did} did the I/O, not {wanted}, which was meant: names of devices move between starts, \
         and mounts may be missing"
    );
    let advice = "name devices by /dev/disk/by-id, and look at assay inspect before the run";
    vec![
        finding("wrong-device", Severity::Invalid, text, advice)
            .word("did_io", &first.name)
            .word("meant", &names(&meant)),
    ]
}

pub(crate) fn has_moved(disk: &Disk) -> bool {
    disk.counters.ios.iter().sum::<u64>() > 0 || disk.members.iter().any(has_moved)
}

/// Whether it or something below it has one of these kernel names.
pub(crate) fn is_one_of(disk: &Disk, names: &BTreeSet<String>) -> bool {
    names.contains(&disk.name) || disk.members.iter().any(|member| is_one_of(member, names))
}

/// Kernel names of the devices that were declared, else of those below the targets; with what
/// they are made of and what is made of them.
fn meant(evidence: &Evidence<'_>, host: &Host) -> BTreeSet<String> {
    let declared = evidence.declared.map_or(&[][..], |one| &one.devices);
    let names = match declared {
        [] => {
            let targets = host.targets.iter();
            targets.flat_map(|target| target.devices.clone()).collect()
        }
        list => list.iter().map(|name| kernel_name(host, name)).collect(),
    };
    with_stack(host, names)
}

/// Devices with what they are made of, and what is made of them.
pub(crate) fn with_stack(host: &Host, mut names: BTreeSet<String>) -> BTreeSet<String> {
    for _ in 0..host.devices.len() {
        let known = names.len();
        for device in &host.devices {
            let tied = |name: &String| names.contains(name);
            if device.members.iter().any(tied) || device.disk.iter().any(tied) {
                names.insert(device.name.clone());
            } else if names.contains(&device.name) {
                names.extend(device.members.iter().cloned());
                names.extend(device.disk.clone());
            }
        }
        if names.len() == known {
            break;
        }
    }
    names
}

/// The kernel name of a device that was named by path, kernel name or identity; else the name.
pub(crate) fn kernel_name(host: &Host, name: &str) -> String {
    let short = name.rsplit('/').next().unwrap_or(name);
    let known = host.devices.iter().find(|device| {
        let by_id = |id: &str| id == name || id.rsplit('/').next() == Some(short);
        device.name == short || device.identities().any(by_id)
    });
    known.map_or_else(|| short.to_owned(), |device| device.name.clone())
}
