//! Stacked block devices: the order in which they are listed, and the averages of members.

use result::Disk;

/// Every device once: a parent, then its members, each at its first place.
pub(crate) fn listed(disks: &[Disk]) -> Vec<&Disk> {
    let mut all = Vec::new();
    for disk in disks {
        list(&mut all, disk);
    }
    all
}

fn list<'a>(all: &mut Vec<&'a Disk>, disk: &'a Disk) {
    if all.iter().any(|seen| seen.name == disk.name) {
        return;
    }
    all.push(disk);
    for member in &disk.members {
        list(all, member);
    }
}

/// Averages over the members of a device (whole numbers), and the utilisation of the busiest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Members {
    pub ios: [u64; 2],
    pub sectors: [u64; 2],
    pub merges: [u64; 2],
    pub ticks_ms: [u64; 2],
    pub in_queue_ms: u64,
    pub util_percent: f64,
}

impl Members {
    /// `None` for a device without members.
    pub(crate) fn of(disk: &Disk) -> Option<Self> {
        let count = disk.members.len() as u64;
        if count == 0 {
            return None;
        }
        let average = |value: fn(&result::DiskCounters) -> u64| {
            let values = disk.members.iter().map(|member| value(&member.counters));
            values.fold(0, u64::saturating_add) / count
        };
        Some(Members {
            ios: [average(|c| c.ios[0]), average(|c| c.ios[1])],
            sectors: [average(|c| c.sectors[0]), average(|c| c.sectors[1])],
            merges: [average(|c| c.merges[0]), average(|c| c.merges[1])],
            ticks_ms: [average(|c| c.ticks_ms[0]), average(|c| c.ticks_ms[1])],
            in_queue_ms: average(|c| c.in_queue_ms),
            util_percent: disk
                .members
                .iter()
                .map(|member| member.counters.util_percent())
                .fold(0.0, f64::max),
        })
    }
}
