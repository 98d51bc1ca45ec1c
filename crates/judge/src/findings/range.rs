//! A small part of a drive: its caches and tables hold it all.

use crate::Evidence;
use crate::job::jobs;
use crate::say::{With, bytes, finding, percent};
use result::host::{Device, DeviceKind};
use result::{Disk, Finding, Host, Run, Severity};
use std::collections::BTreeMap;
use units::Ddir;

/// Less than this share of the capacity is told, percent.
const SMALL_PERCENT: f64 = 5.0;
/// Shorter runs are no measurement of the drive anyhow.
const LEAST_MS: u64 = 30_000;

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    let Some(capacity) = capacity(evidence.run).filter(|_| lasted(evidence)) else {
        return Vec::new();
    };
    let Some(range) = range(evidence) else {
        return Vec::new();
    };
    let share = percent(range as f64, capacity as f64);
    let random = jobs(evidence).iter().any(|job| job.setup.random);
    if !random || share >= SMALL_PERCENT {
        return Vec::new();
    }
    let text = format!(
        "random I/O went to {}, {share:.1} % of the {} of the drives: their caches and tables \
         serve so little better than all of it",
        bytes(range),
        bytes(capacity)
    );
    let advice = "spread the I/O over most of the drive, or quote the active range beside it";
    vec![
        finding("small-range", Severity::Note, text, advice)
            .count("range_bytes", range)
            .count("capacity_bytes", capacity)
            .number("range_percent", share),
    ]
}

pub(crate) fn lasted(evidence: &Evidence<'_>) -> bool {
    let all = evidence.run.jobs.iter().flat_map(|job| &job.dirs.0);
    all.map(|dir| dir.runtime_ms).max() >= Some(LEAST_MS)
}

/// Bytes of all local flash drives that did I/O; `None` where others did, or none.
pub(crate) fn capacity(run: &Run) -> Option<u64> {
    let host = run.host.as_ref()?;
    let mut leaves = Vec::new();
    run.disks
        .iter()
        .for_each(|disk| leaves_of(disk, &mut leaves));
    let drives: Option<Vec<&Device>> = leaves.iter().map(|name| drive(host, name)).collect();
    let sum = drives?.iter().map(|drive| drive.size_bytes).sum();
    (sum > 0).then_some(sum)
}

fn leaves_of<'a>(disk: &'a Disk, into: &mut Vec<&'a str>) {
    match disk.members[..] {
        [] => into.push(&disk.name),
        _ => disk
            .members
            .iter()
            .for_each(|member| leaves_of(member, into)),
    }
}

/// A drive with flash in it. A volume of a network or of a virtual machine has no such tables.
fn drive<'a>(host: &'a Host, name: &str) -> Option<&'a Device> {
    const REMOTE: [&str; 7] = [
        "Elastic Block Store",
        "PersistentDisk",
        "nvme_card-pd",
        "MSFT NVMe Accelerator",
        "Virtual",
        "QEMU",
        "VBOX",
    ];
    const LOCAL: [&str; 4] = ["nvme/pcie", "sata", "sas", "ata"];
    let device = host.device(name)?;
    let model = device.model.as_deref().unwrap_or_default();
    let local = LOCAL.contains(&device.transport.as_deref()?);
    let flash = device.kind == DeviceKind::Disk && device.queue.rotational == Some(false);
    (local && flash && !REMOTE.iter().any(|word| model.contains(word))).then_some(device)
}

/// Bytes that the jobs touch; `None` where their places are not known.
fn range(evidence: &Evidence<'_>) -> Option<u64> {
    let mut named: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let mut own = 0u64;
    for job in jobs(evidence) {
        if job.ios(Ddir::Read) + job.ios(Ddir::Write) == 0 {
            continue;
        }
        for worker in &job.list {
            let setup = worker.setup.as_ref()?;
            if setup.places.is_empty() {
                return None;
            }
            for place in &setup.places {
                if place.path.is_empty() {
                    own += place.length_bytes * u64::from(worker.members.max(1));
                    continue;
                }
                let end = place.offset_bytes.saturating_add(place.length_bytes);
                let known = named
                    .entry(place.path.clone())
                    .or_insert((place.offset_bytes, end));
                *known = (known.0.min(place.offset_bytes), known.1.max(end));
            }
        }
    }
    Some(own + named.values().map(|(from, to)| to - from).sum::<u64>())
}
