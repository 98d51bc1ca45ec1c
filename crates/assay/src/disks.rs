//! What a run stood on: the picture of the host before it, and what the block devices below the
//! targets did meanwhile.

use host::diskstat::{Sample, Watched, watch};
use host::picture::{self, Depth, Scope};
use plan::model::{Plan, TargetKind};
use result::{Disk, DiskCounters, Host};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Devices being watched since their first reading.
pub struct DiskWatch {
    disks: Vec<Reading>,
    host: Host,
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
        let targets = |watched: bool| {
            let mut paths: Vec<PathBuf> = plan
                .workers
                .iter()
                .filter(|worker| worker.measured.disks || !watched)
                .flat_map(|worker| &worker.targets)
                .filter(|target| !matches!(target.kind, TargetKind::None | TargetKind::Pipe))
                .map(|target| {
                    let path = target.path.as_ref();
                    // The document is read elsewhere: a path from the root tells where it was.
                    std::path::absolute(path).unwrap_or_else(|_| path.clone())
                })
                .collect();
            paths.sort_unstable();
            paths.dedup();
            paths
        };
        // Of thousands of files in one directory the first speaks for all.
        let mut seen = std::collections::HashSet::new();
        let mut shown = targets(false);
        shown.retain(|path| !path.is_file() || seen.insert(path.parent().map(Path::to_owned)));
        let host = picture::take(facts, Scope::Paths(&shown), Depth::Listed);
        let watched = targets(true);
        let devices = watched.iter().flat_map(|path| below(facts, path));
        let disks = watch(&facts.root, devices)
            .into_iter()
            .filter_map(read)
            .collect();
        DiskWatch {
            disks,
            host,
            since: Instant::now(),
        }
    }

    /// The host as it was before the run, with the drives' logs as they are now.
    pub fn host(&self) -> Host {
        let mut host = self.host.clone();
        picture::finish(&mut host);
        host
    }

    /// What the devices have done so far.
    pub fn differences(&self) -> Vec<Disk> {
        let elapsed_ms = self.since.elapsed().as_millis() as u64;
        self.disks
            .iter()
            .map(|reading| self.difference(reading, elapsed_ms))
            .collect()
    }

    fn difference(&self, reading: &Reading, elapsed_ms: u64) -> Disk {
        let done = reading
            .device
            .sample()
            .map_or_else(|_| Sample::default(), |now| now.since(&reading.before));
        let name = &reading.device.name;
        let known = self.host.device(name);
        Disk {
            name: name.clone(),
            identity: known
                .and_then(|device| device.identity())
                .map(str::to_owned),
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
                .map(|member| self.difference(member, elapsed_ms))
                .collect(),
        }
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
