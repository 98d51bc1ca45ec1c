//! Disk statistics around a run: what the block devices below the targets did meanwhile.

use host::diskstat::{Sample, Watched, watch};
use plan::model::{Plan, TargetKind};
use result::{Disk, DiskCounters};
use std::path::Path;
use std::time::Instant;

/// Devices being watched since their first reading.
pub struct DiskWatch {
    disks: Vec<Reading>,
    since: Instant,
}

struct Reading {
    device: Watched,
    before: Sample,
    members: Vec<Reading>,
}

impl DiskWatch {
    /// Reads the counters of all devices below the targets of workers that want them.
    pub fn start(plan: &Plan, facts: &host::Facts) -> Self {
        let targets = plan
            .workers
            .iter()
            .filter(|worker| worker.measured.disks)
            .flat_map(|worker| &worker.targets)
            .filter(|target| target.kind != TargetKind::None);
        let mut paths: Vec<&Path> = targets.map(|target| target.path.as_path()).collect();
        paths.sort_unstable();
        paths.dedup();
        let devices = paths.into_iter().flat_map(|path| below(facts, path));
        let disks = watch(&facts.root, devices)
            .into_iter()
            .filter_map(read)
            .collect();
        DiskWatch {
            disks,
            since: Instant::now(),
        }
    }

    /// What the devices have done so far.
    pub fn differences(&self) -> Vec<Disk> {
        let elapsed_ms = self.since.elapsed().as_millis() as u64;
        self.disks
            .iter()
            .map(|reading| difference(reading, elapsed_ms))
            .collect()
    }
}

fn below(facts: &host::Facts, path: &Path) -> Vec<host::BlockDevice> {
    match host::BlockDevice::by_path(&facts.root, path) {
        Some(device) => vec![device],
        None => host::block::below_path(&facts.root, &facts.mounts, path),
    }
}

fn read(device: Watched) -> Option<Reading> {
    // A device that vanished between listing and reading is simply not reported.
    let before = device.sample().ok()?;
    let members = device
        .members
        .clone()
        .into_iter()
        .filter_map(read)
        .collect();
    Some(Reading {
        device,
        before,
        members,
    })
}

fn difference(reading: &Reading, elapsed_ms: u64) -> Disk {
    let done = reading
        .device
        .sample()
        .map_or_else(|_| Sample::default(), |now| now.since(&reading.before));
    Disk {
        name: reading.device.name.clone(),
        counters: DiskCounters {
            ios: done.ios,
            merges: done.merges,
            sectors: done.sectors,
            ticks_ms: done.ticks_ms,
            in_queue_ms: done.in_queue_ms,
            busy_ms: done.busy_ms,
            elapsed_ms,
        },
        members: reading
            .members
            .iter()
            .map(|member| difference(member, elapsed_ms))
            .collect(),
    }
}
