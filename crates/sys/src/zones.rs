//! Zoned block devices: what zones there are, and setting their write pointers.
//!
//! Layouts and numbers are those of `linux/blkzoned.h`. Invariant of the unsafe blocks: each ioctl
//! gets a pointer to memory of the size that its number stands for, which outlives the call; a
//! report has room for as many zones as its header says.

use crate::file::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// `BLKREPORTZONE`, `BLKRESETZONE`, `BLKFINISHZONE`.
const REPORT: libc::c_ulong = 0xc010_1282;
const RESET: libc::c_ulong = 0x4010_1283;
const FINISH: libc::c_ulong = 0x4010_1288;

/// Zones asked for at once.
const AT_ONCE: usize = 4096;
const SECTOR: u64 = 512;
/// The report says how much of each zone can be written.
const HAS_CAPACITY: u32 = 1;

/// A zone as the device has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// First byte.
    pub start: u64,
    /// Bytes to the next zone.
    pub length: u64,
    /// Bytes that can be written.
    pub capacity: u64,
    /// The next byte to be written; the end of what can be written where there is no such thing.
    pub pointer: u64,
    /// Must be written in order.
    pub sequential: bool,
    /// Open, by a command or by a write.
    pub open: bool,
    /// Can neither be read nor written.
    pub offline: bool,
}

/// What to do with a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Forgets what was written.
    Reset,
    /// Makes it full.
    Finish,
}

/// Conditions of zones, the same in the kernel's and in NVMe's reports.
const OPEN: [u8; 2] = [2, 3];
const NO_POINTER: [u8; 2] = [0, 0xe];
const OFFLINE: u8 = 0xf;
/// Zones that must be written in order.
const SEQUENTIAL: u8 = 2;

impl Zone {
    /// A zone from the numbers of a report, all in bytes.
    pub(crate) fn reported(place: [u64; 4], kind: u8, condition: u8) -> Zone {
        let [start, length, capacity, pointer] = place;
        let end = start.saturating_add(capacity);
        Zone {
            start,
            length,
            capacity,
            pointer: match NO_POINTER.contains(&condition) {
                true => end,
                false => pointer.clamp(start, end),
            },
            sequential: kind == SEQUENTIAL,
            open: OPEN.contains(&condition),
            offline: condition == OFFLINE,
        }
    }
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Raw {
    start: u64,
    length: u64,
    pointer: u64,
    kind: u8,
    condition: u8,
    not_sequential: u8,
    reset_recommended: u8,
    reserved: [u8; 4],
    capacity: u64,
    more: [u64; 3],
}

#[repr(C)]
struct Report {
    sector: u64,
    zones: u32,
    flags: u32,
    list: [Raw; AT_ONCE],
}

/// All zones of an open block device, from the one at `from` bytes.
pub fn report(device: &File, from: u64) -> io::Result<Vec<Zone>> {
    let mut zones: Vec<Zone> = Vec::new();
    let mut report = Box::new(Report {
        sector: from / SECTOR,
        zones: 0,
        flags: 0,
        list: [Raw::default(); AT_ONCE],
    });
    loop {
        (report.zones, report.flags) = (AT_ONCE as u32, 0);
        let fd = device.as_fd().as_raw_fd();
        // SAFETY: see the module; `list` has room for `zones`.
        let rc = unsafe { libc::ioctl(fd, REPORT as _, &raw mut *report) };
        if rc < 0 {
            return Err(io::Error::last_os_error());
        }
        let count = (report.zones as usize).min(AT_ONCE);
        for raw in &report.list[..count] {
            let known = report.flags & HAS_CAPACITY != 0;
            let capacity = if known { raw.capacity } else { raw.length };
            let place = [raw.start, raw.length, capacity, raw.pointer];
            let place = place.map(|sectors| sectors.saturating_mul(SECTOR));
            zones.push(Zone::reported(place, raw.kind, raw.condition));
        }
        if count == 0 {
            return Ok(zones);
        }
        let last = &report.list[count - 1];
        report.sector = last.start.saturating_add(last.length.max(1));
    }
}

/// Acts on the zone of `length` bytes at `start`.
pub fn act(device: &File, action: Action, start: u64, length: u64) -> io::Result<()> {
    let number = match action {
        Action::Reset => RESET,
        Action::Finish => FINISH,
    };
    let range = [start / SECTOR, length / SECTOR];
    // SAFETY: see the module; the range is two numbers.
    let rc = unsafe { libc::ioctl(device.as_fd().as_raw_fd(), number as _, &range) };
    match rc {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::Open;

    #[test]
    fn reports_have_the_kernels_layout() {
        assert_eq!(size_of::<Raw>(), 64);
        assert_eq!(std::mem::offset_of!(Raw, capacity), 32);
        assert_eq!(std::mem::offset_of!(Report, list), 16);
    }

    #[test]
    fn conditions_place_the_pointer() {
        let place = [1000, 500, 400, 1100];
        let pointer = |condition| Zone::reported(place, 2, condition).pointer;
        // Empty, open, closed; no pointer, full.
        assert_eq!([1, 2, 4].map(pointer), [1100; 3]);
        assert_eq!([0, 0xe].map(pointer), [1400; 2]);
        let zone = Zone::reported(place, 1, 3);
        assert!(!zone.sequential && zone.open && !zone.offline);
        assert!(Zone::reported(place, 2, 0xf).offline);
    }

    #[test]
    fn what_is_no_block_device_says_so() {
        let how = Open {
            read: true,
            ..Open::default()
        };
        let null = File::open("/dev/null".as_ref(), how).unwrap();
        let error = report(&null, 0).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOTTY));
        let error = act(&null, Action::Reset, 0, 512).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOTTY));
    }
}
