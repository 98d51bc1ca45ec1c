//! What block devices did, and which devices to watch for a set of targets.
//!
//! Fields of a sysfs `stat` file: Documentation/block/stat.rst of the kernel. Like fio, a target
//! on a partition is watched at its whole disk, and stacked devices are watched together with
//! the disks they are made of.

use crate::{BlockDevice, DevId, HostError, Root};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Counters of one device since boot, or the difference of two such samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Completed requests: read, write.
    pub ios: [u64; 2],
    /// Requests merged in the queue: read, write.
    pub merges: [u64; 2],
    /// 512-byte sectors: read, write.
    pub sectors: [u64; 2],
    /// Milliseconds spent by requests: read, write.
    pub ticks_ms: [u64; 2],
    /// Requests in flight at this moment; 0 in a difference.
    pub in_flight: u64,
    /// Milliseconds with at least one request in flight.
    pub busy_ms: u64,
    /// Weighted milliseconds in the queue.
    pub in_queue_ms: u64,
}

impl Sample {
    /// What happened between `earlier` and this sample.
    pub fn since(&self, earlier: &Sample) -> Sample {
        let pair = |now: [u64; 2], then: [u64; 2]| {
            [now[0].wrapping_sub(then[0]), now[1].wrapping_sub(then[1])]
        };
        Sample {
            ios: pair(self.ios, earlier.ios),
            merges: pair(self.merges, earlier.merges),
            sectors: pair(self.sectors, earlier.sectors),
            ticks_ms: pair(self.ticks_ms, earlier.ticks_ms),
            in_flight: 0,
            busy_ms: self.busy_ms.wrapping_sub(earlier.busy_ms),
            in_queue_ms: self.in_queue_ms.wrapping_sub(earlier.in_queue_ms),
        }
    }

    fn parse(text: &str) -> Option<Sample> {
        let fields: Vec<u64> = text
            .split_whitespace()
            .map(|word| word.parse().ok())
            .collect::<Option<_>>()?;
        let [
            r,
            rm,
            rs,
            rt,
            w,
            wm,
            ws,
            wt,
            in_flight,
            busy_ms,
            in_queue_ms,
        ] = *fields.first_chunk::<11>()?;
        Some(Sample {
            ios: [r, w],
            merges: [rm, wm],
            sectors: [rs, ws],
            ticks_ms: [rt, wt],
            in_flight,
            busy_ms,
            in_queue_ms,
        })
    }
}

/// A device to watch, and for stacked devices its members.
#[derive(Clone, Debug)]
pub struct Watched {
    /// Kernel name.
    pub name: String,
    /// Disks it is made of, each with its own members.
    pub members: Vec<Watched>,
    stat: PathBuf,
}

impl Watched {
    /// Its counters now.
    ///
    /// # Errors
    /// When the `stat` file cannot be read (device gone) or understood.
    pub fn sample(&self) -> Result<Sample, HostError> {
        let text = crate::root::text(&self.stat)?;
        Sample::parse(&text).ok_or_else(|| HostError::malformed(&self.stat, &text))
    }
}

/// What to watch for `devices` (the block devices below the targets): whole disks, each once, in
/// the order given, with members below their parent.
pub fn watch(root: &Root, devices: impl IntoIterator<Item = BlockDevice>) -> Vec<Watched> {
    let mut seen = HashSet::new();
    devices
        .into_iter()
        .filter_map(|device| watched(root, &device, &mut seen))
        .collect()
}

fn watched(root: &Root, device: &BlockDevice, seen: &mut HashSet<DevId>) -> Option<Watched> {
    let disk = device.whole_disk();
    let stat = disk.sys_dir().join("stat");
    if !seen.insert(disk.dev) || !Path::exists(&stat) {
        return None;
    }
    let slaves = disk
        .slaves
        .iter()
        .filter_map(|name| BlockDevice::by_name(root, name));
    let slaves: Vec<BlockDevice> = slaves.collect();
    let members = slaves
        .iter()
        .filter_map(|slave| watched(root, slave, seen))
        .collect();
    Some(Watched {
        name: disk.name,
        members,
        stat,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::tests::tree;

    #[test]
    fn newer_kernels_append_fields() {
        let text = "   75687    25315  5833842    20652    11902    20530  1395232     3277  \
                    2     7776    24203     3922       50   220768      243     1018       30\n";
        let sample = Sample::parse(text).unwrap();
        assert_eq!(
            (sample.ios, sample.merges),
            ([75687, 11902], [25315, 20530])
        );
        assert_eq!(
            (sample.sectors, sample.ticks_ms),
            ([5833842, 1395232], [20652, 3277])
        );
        assert_eq!(
            (sample.in_flight, sample.busy_ms, sample.in_queue_ms),
            (2, 7776, 24203)
        );
        assert_eq!(Sample::parse("1 2 3"), None);
        assert_eq!(sample.since(&sample), Sample::default());
    }

    #[test]
    fn members_stand_below_their_parent_once() {
        let (_dir, root) = tree();
        let md0 = BlockDevice::by_name(&root, "md0").unwrap();
        let sda1 = BlockDevice::by_name(&root, "sda1").unwrap();
        let watched = watch(&root, [md0, sda1.clone()]);
        assert_eq!(watched.len(), 1);
        let members: Vec<&str> = watched[0].members.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(members, ["sda", "sdb"]);
        assert_eq!(watched[0].members[0].sample().unwrap().ios, [1, 5]);
        assert_eq!(watch(&root, [sda1])[0].name, "sda");
    }
}
