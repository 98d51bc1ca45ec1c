//! `Disk stats`: what the block devices below the targets did.

use super::put;
use crate::disks::{Members, listed};
use result::Disk;
use std::fmt::Write;

pub(super) fn show(out: &mut String, disks: &[Disk]) {
    if disks.is_empty() {
        return;
    }
    out.push_str("\nDisk stats (read/write):\n");
    for disk in listed(disks) {
        let members = Members::of(disk);
        if members.is_some() {
            out.push_str("  ");
        }
        let c = &disk.counters;
        put!(
            out,
            "  {}: ios={}/{}, sectors={}/{}, merge={}/{}, ticks={}/{}, in_queue={}, util={:3.2}%",
            disk.name,
            c.ios[0],
            c.ios[1],
            c.sectors[0],
            c.sectors[1],
            c.merges[0],
            c.merges[1],
            c.ticks_ms[0],
            c.ticks_ms[1],
            c.in_queue_ms,
            c.util_percent(),
        );
        if let Some(m) = members {
            put!(
                out,
                ", aggrios={}/{}, aggsectors={}/{}, aggrmerge={}/{}, aggrticks={}/{}, \
                 aggrin_queue={}, aggrutil={:3.2}%",
                m.ios[0],
                m.ios[1],
                m.sectors[0],
                m.sectors[1],
                m.merges[0],
                m.merges[1],
                m.ticks_ms[0],
                m.ticks_ms[1],
                m.in_queue_ms,
                m.util_percent,
            );
        }
        out.push('\n');
    }
}
