//! NVMe commands: their layout, what a namespace says of itself, and deallocation.
//!
//! Layouts and numbers are those of `linux/nvme_ioctl.h` and of the NVMe base and NVM command set
//! specifications. Invariant of the unsafe blocks: each ioctl gets a pointer to one [`Command`],
//! whose size its number encodes, and whose `address` and `length` describe a local buffer that
//! outlives the call.

use crate::file::File;
use crate::zones::{Action, Zone};
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// `NVME_IOCTL_ID`, `NVME_IOCTL_ADMIN_CMD`, `NVME_IOCTL_IO_CMD`.
const IOCTL_ID: libc::c_ulong = 0x4e40;
const IOCTL_ADMIN: libc::c_ulong = 0xc048_4e41;
const IOCTL_IO: libc::c_ulong = 0xc048_4e43;
/// `NVME_URING_CMD_IO`.
pub const URING_IO: u32 = 0xc048_4e80;

const GET_LOG_PAGE: u8 = 0x02;
const IDENTIFY: u8 = 0x06;
const CONTROLLER: u32 = 1;
const ALL_NAMESPACES: u32 = u32::MAX;
const IDENTIFY_BYTES: usize = 4096;
const DEALLOCATE: u32 = 1 << 2;
/// "Identify", as a namespace of the zoned command set (ZNS 4.1.5.1).
const OF_COMMAND_SET: u32 = 5;
const ZONED_COMMANDS: u32 = 2 << 24;
/// "Zone management" (ZNS 3.4.2, 3.4.3), and the length of a report and of its parts.
const ZONE_SEND: u8 = 0x79;
const ZONE_RECEIVE: u8 = 0x7a;
const REPORT_BYTES: usize = 64 * 1024;
const ENTRY_BYTES: usize = 64;

/// What a command does to a range of blocks, by its operation code in the NVM command set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Verb {
    /// Writes everything back; the range does not matter.
    Flush = 0x00,
    /// Writes data.
    Write = 0x01,
    /// Reads data.
    Read = 0x02,
    /// Marks blocks as unreadable until they are written again.
    WriteUncorrectable = 0x04,
    /// Makes blocks read as zeroes.
    WriteZeroes = 0x08,
    /// Reads blocks without handing data over.
    Verify = 0x0c,
    /// Writes data to where the zone's pointer stands; the range names the zone.
    ZoneAppend = 0x7d,
}

impl Verb {
    /// Whether data go along.
    pub fn carries_data(self) -> bool {
        matches!(self, Verb::Read | Verb::Write | Verb::ZoneAppend)
    }
}

/// Bits of a command's word 12: to stable storage (FUA), and deallocate what becomes zero.
pub const FORCE_UNIT_ACCESS: u32 = 1 << 30;
/// See [`FORCE_UNIT_ACCESS`].
pub const DEALLOCATE_ZEROES: u32 = 1 << 25;

const DATASET_MANAGEMENT: u8 = 0x09;

/// A command as the kernel takes it, through a ring or an ioctl (`struct nvme_uring_cmd`, and
/// `struct nvme_passthru_cmd`, which differs in the name of the last word).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Command {
    /// What to do.
    pub(crate) opcode: u8,
    /// Flags of the command's first word.
    pub(crate) flags: u8,
    reserved: u16,
    /// Namespace.
    pub(crate) namespace: u32,
    /// Words 2 and 3.
    pub(crate) word2: [u32; 2],
    /// Address of separate metadata.
    pub(crate) metadata: u64,
    /// Address of the data.
    pub(crate) address: u64,
    /// Bytes of separate metadata.
    pub(crate) metadata_bytes: u32,
    /// Bytes of data.
    pub(crate) bytes: u32,
    /// Words 10 to 15.
    pub(crate) word10: [u32; 6],
    /// Time limit in milliseconds; 0: the driver's.
    pub(crate) timeout_ms: u32,
    last: u32,
}

impl Command {
    /// A command for a range of a namespace; no data yet.
    pub(crate) fn new(namespace: &Namespace, verb: Verb, range: Range, word12: u32) -> Command {
        let Range { start, blocks } = range;
        let word10 = match verb {
            Verb::Flush => [0; 6],
            _ => {
                let count = (blocks - 1) | word12;
                [start as u32, (start >> 32) as u32, count, 0, 0, 0]
            }
        };
        Command {
            opcode: verb as u8,
            namespace: namespace.id,
            word10,
            ..Command::default()
        }
    }

    /// The command in the space that an entry of a ring has for it.
    pub(crate) fn in_entry(&self) -> [u8; 80] {
        let mut entry = [0; 80];
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            entry[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        put(&[self.opcode, self.flags]);
        put(&self.reserved.to_ne_bytes());
        put(&self.namespace.to_ne_bytes());
        self.word2.iter().for_each(|word| put(&word.to_ne_bytes()));
        put(&self.metadata.to_ne_bytes());
        put(&self.address.to_ne_bytes());
        put(&self.metadata_bytes.to_ne_bytes());
        put(&self.bytes.to_ne_bytes());
        self.word10.iter().for_each(|word| put(&word.to_ne_bytes()));
        put(&self.timeout_ms.to_ne_bytes());
        put(&self.last.to_ne_bytes());
        entry
    }
}

/// Blocks of a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first.
    pub start: u64,
    /// How many, 1 to 65536.
    pub blocks: u32,
}

/// What a namespace says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Namespace {
    pub(crate) id: u32,
    pub(crate) block_bytes: u32,
    pub(crate) metadata_bytes: u16,
    pub(crate) blocks: u64,
    /// Which of its formats it has.
    pub(crate) format: u8,
}

/// Reads what a namespace says of its zones.
fn zoned(answer: &[u8], format: u8) -> Option<(u64, Option<u32>)> {
    let most = u32::from_le_bytes(answer.get(8..12)?.try_into().ok()?);
    let at = 2816 + 16 * usize::from(format);
    let blocks = u64::from_le_bytes(answer.get(at..at + 8)?.try_into().ok()?);
    // One less is told; all ones are no limit.
    (blocks > 0).then_some((blocks, most.checked_add(1)))
}

/// Reads a part of a report of zones; `None` for what is empty.
fn entry_of_report(entry: &[u8], zone_blocks: u64, block_bytes: u64) -> Option<Zone> {
    let number = |at: usize| {
        let bytes = entry[at..at + 8].try_into();
        bytes.map(|bytes| u64::from_le_bytes(bytes).saturating_mul(block_bytes))
    };
    let (capacity, start, pointer) = (number(8).ok()?, number(16).ok()?, number(24).ok()?);
    let length = zone_blocks.saturating_mul(block_bytes);
    let (kind, condition) = (entry[0] & 0xf, entry[1] >> 4);
    (kind != 0).then(|| Zone::reported([start, length, capacity, pointer], kind, condition))
}

impl Namespace {
    /// Asks an open device of a namespace (`/dev/ngXnY`, `/dev/nvmeXnY`). `ENOTTY` from what is
    /// none.
    pub fn of(device: &File) -> io::Result<Namespace> {
        // SAFETY: this ioctl takes no argument.
        let id = unsafe { libc::ioctl(device.as_fd().as_raw_fd(), IOCTL_ID as _) };
        let id = u32::try_from(id).map_err(|_| io::Error::last_os_error())?;
        let mut answer = vec![0u8; IDENTIFY_BYTES];
        let mut command = Command {
            opcode: IDENTIFY,
            namespace: id,
            address: answer.as_mut_ptr().expose_provenance() as u64,
            bytes: IDENTIFY_BYTES as u32,
            ..Command::default()
        };
        send(device, IOCTL_ADMIN, &mut command)?;
        Namespace::parse(id, &answer)
            .ok_or_else(|| io::Error::other("the namespace does not tell its block size"))
    }

    /// Bytes of a block.
    pub fn block_bytes(&self) -> u32 {
        self.block_bytes
    }

    /// Its size in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.blocks.saturating_mul(self.block_bytes.into())
    }

    /// Bytes of metadata that lie behind the data of each block.
    pub fn metadata_bytes(&self) -> u16 {
        self.metadata_bytes
    }

    /// The blocks of `len` bytes from `offset`; `None` if these are not whole blocks, or more
    /// than a command takes.
    pub fn range(&self, offset: u64, len: u32) -> Option<Range> {
        let size = self.block_bytes;
        let whole = offset.is_multiple_of(size.into()) && len.is_multiple_of(size);
        let blocks = len / size;
        (whole && (1..=65_536).contains(&blocks)).then(|| Range {
            start: offset / u64::from(size),
            blocks,
        })
    }

    /// Reads the answer to "identify namespace".
    fn parse(id: u32, answer: &[u8]) -> Option<Namespace> {
        let blocks = u64::from_le_bytes(answer.get(..8)?.try_into().ok()?);
        let (formats, chosen) = (*answer.get(25)?, *answer.get(26)?);
        // Two more bits of the index count where there are more than 16 formats.
        let index = match formats {
            0..16 => chosen & 0xf,
            _ => (chosen & 0xf) | ((chosen >> 5) & 3) << 4,
        };
        let format = answer.get(128 + 4 * usize::from(index)..)?.get(..4)?;
        let extended = chosen & 0x10 != 0;
        Some(Namespace {
            id,
            block_bytes: 1u32.checked_shl(format[2].into()).filter(|b| *b >= 512)?,
            metadata_bytes: match extended {
                true => u16::from_le_bytes([format[0], format[1]]),
                false => 0,
            },
            blocks,
            format: index,
        })
    }

    /// How many blocks a zone has and how many zones may be open (`None`: any number), if the
    /// namespace is zoned.
    pub fn zoned(&self, device: &File) -> Option<(u64, Option<u32>)> {
        let mut answer = vec![0u8; IDENTIFY_BYTES];
        let mut command = self.asking(IDENTIFY, &mut answer);
        command.word10 = [OF_COMMAND_SET, ZONED_COMMANDS, 0, 0, 0, 0];
        send(device, IOCTL_ADMIN, &mut command).ok()?;
        zoned(&answer, self.format)
    }

    /// The zones from the one that starts at block `from`, each of `zone_blocks`.
    pub fn zones(&self, device: &File, zone_blocks: u64, from: u64) -> io::Result<Vec<Zone>> {
        let mut zones = Vec::new();
        let mut start = from;
        while start < self.blocks {
            let mut report = vec![0u8; REPORT_BYTES];
            let mut command = self.asking(ZONE_RECEIVE, &mut report);
            let dwords = (REPORT_BYTES / 4 - 1) as u32;
            command.word10 = [start as u32, (start >> 32) as u32, dwords, 0, 0, 0];
            send(device, IOCTL_IO, &mut command)?;
            let before = zones.len();
            let left = (self.blocks - start).div_ceil(zone_blocks);
            let entries = report[ENTRY_BYTES..].chunks_exact(ENTRY_BYTES);
            for entry in entries.take(usize::try_from(left).unwrap_or(usize::MAX)) {
                zones.extend(entry_of_report(entry, zone_blocks, self.block_bytes.into()));
            }
            match (zones.len() - before) as u64 {
                0 => return Err(io::Error::other("the report of zones is empty")),
                read => start += read * zone_blocks,
            }
        }
        Ok(zones)
    }

    /// Acts on the zone that starts at byte `start`.
    pub fn act(&self, device: &File, action: Action, start: u64) -> io::Result<()> {
        let block = start / u64::from(self.block_bytes);
        let what = match action {
            Action::Finish => 2,
            Action::Reset => 4,
        };
        let mut command = Command {
            opcode: ZONE_SEND,
            namespace: self.id,
            word10: [block as u32, (block >> 32) as u32, 0, what, 0, 0],
            ..Command::default()
        };
        send(device, IOCTL_IO, &mut command)
    }

    /// A command that fills a buffer.
    fn asking(&self, opcode: u8, answer: &mut [u8]) -> Command {
        Command {
            opcode,
            namespace: self.id,
            address: answer.as_mut_ptr().expose_provenance() as u64,
            bytes: answer.len() as u32,
            ..Command::default()
        }
    }

    /// Deallocates a range of blocks.
    pub fn deallocate(&self, device: &File, range: Range) -> io::Result<()> {
        let Range { start, blocks } = range;
        let mut range = [0u8; 16];
        range[4..8].copy_from_slice(&blocks.to_le_bytes());
        range[8..].copy_from_slice(&start.to_le_bytes());
        let mut command = Command {
            opcode: DATASET_MANAGEMENT,
            namespace: self.id,
            address: range.as_mut_ptr().expose_provenance() as u64,
            bytes: range.len() as u32,
            word10: [0, DEALLOCATE, 0, 0, 0, 0],
            ..Command::default()
        };
        send(device, IOCTL_IO, &mut command)
    }
}

/// The answer to "identify controller" of an open device of a controller or of a namespace.
///
/// # Errors
/// `ENOTTY` from what is no NVMe device, `EACCES` without the right to ask.
pub fn identify_controller(device: &File) -> io::Result<Vec<u8>> {
    let mut answer = vec![0u8; IDENTIFY_BYTES];
    let mut command = Command {
        opcode: IDENTIFY,
        address: answer.as_mut_ptr().expose_provenance() as u64,
        bytes: IDENTIFY_BYTES as u32,
        word10: [CONTROLLER, 0, 0, 0, 0, 0],
        ..Command::default()
    };
    send(device, IOCTL_ADMIN, &mut command)?;
    Ok(answer)
}

/// The first `bytes` (a multiple of 4, at most 4096) of log page `id`.
///
/// # Errors
/// As [`identify_controller`]; `EIO` from a controller that has no such page.
pub fn log_page(device: &File, id: u8, bytes: usize) -> io::Result<Vec<u8>> {
    let words = (bytes / 4).clamp(1, IDENTIFY_BYTES / 4);
    let mut answer = vec![0u8; 4 * words];
    let mut command = Command {
        opcode: GET_LOG_PAGE,
        namespace: ALL_NAMESPACES,
        address: answer.as_mut_ptr().expose_provenance() as u64,
        bytes: answer.len() as u32,
        word10: [u32::from(id) | ((words as u32 - 1) << 16), 0, 0, 0, 0, 0],
        ..Command::default()
    };
    send(device, IOCTL_ADMIN, &mut command)?;
    Ok(answer)
}

/// Sends a command and waits for it; a status other than success is `EIO`.
fn send(device: &File, number: libc::c_ulong, command: &mut Command) -> io::Result<()> {
    // SAFETY: see the module.
    let rc = unsafe { libc::ioctl(device.as_fd().as_raw_fd(), number as _, command) };
    match rc {
        0 => Ok(()),
        ..0 => Err(io::Error::last_os_error()),
        _ => Err(io::Error::from_raw_os_error(libc::EIO)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::Open;
    use std::mem::offset_of;

    #[test]
    fn commands_have_the_kernels_layout() {
        assert_eq!(size_of::<Command>(), 72);
        let places = [
            offset_of!(Command, namespace),
            offset_of!(Command, metadata),
            offset_of!(Command, address),
            offset_of!(Command, bytes),
            offset_of!(Command, word10),
            offset_of!(Command, timeout_ms),
        ];
        assert_eq!(places, [4, 16, 24, 36, 40, 64]);
        let namespace = Namespace {
            id: 3,
            block_bytes: 512,
            metadata_bytes: 0,
            blocks: 1 << 40,
            format: 0,
        };
        let range = namespace.range(0x1_0203_0405 * 512, 4096).unwrap();
        let mut command = Command::new(&namespace, Verb::Read, range, FORCE_UNIT_ACCESS);
        command.address = 0x1122_3344_5566_7788;
        command.bytes = 4096;
        let entry = command.in_entry();
        assert_eq!(entry[0], 2);
        assert_eq!(entry[4..8], 3u32.to_ne_bytes());
        assert_eq!(entry[24..32], command.address.to_ne_bytes());
        assert_eq!(entry[36..40], 4096u32.to_ne_bytes());
        assert_eq!(entry[40..44], 0x0203_0405u32.to_ne_bytes());
        assert_eq!(entry[44..48], 1u32.to_ne_bytes());
        assert_eq!(entry[48..52], 0x4000_0007u32.to_ne_bytes());
        assert_eq!(entry[52..], [0; 28]);
    }

    #[test]
    fn ranges_are_whole_blocks() {
        let namespace = Namespace {
            id: 1,
            block_bytes: 4096,
            metadata_bytes: 0,
            blocks: 10,
            format: 0,
        };
        assert_eq!(namespace.size_bytes(), 40_960);
        let range = |offset, len| namespace.range(offset, len).map(|r| (r.start, r.blocks));
        assert_eq!(range(8192, 4096), Some((2, 1)));
        assert_eq!(range(0, 65_536 * 4096), Some((0, 65_536)));
        for (offset, len) in [(512, 4096), (0, 512), (0, 0), (0, 65_537 * 4096)] {
            assert_eq!(range(offset, len), None);
        }
        let flush = namespace.range(4096, 4096).unwrap();
        let flush = Command::new(&namespace, Verb::Flush, flush, 0);
        assert_eq!((flush.opcode, flush.word10), (0, [0; 6]));
    }

    #[test]
    fn a_namespace_is_read_from_its_answer() {
        let mut answer = vec![0; IDENTIFY_BYTES];
        answer[..8].copy_from_slice(&1000u64.to_le_bytes());
        answer[25] = 1;
        answer[26] = 1;
        answer[128 + 4 + 2] = 12;
        let namespace = Namespace {
            id: 5,
            block_bytes: 4096,
            metadata_bytes: 0,
            blocks: 1000,
            format: 0,
        };
        let namespace = Namespace {
            format: 1,
            ..namespace
        };
        assert_eq!(Namespace::parse(5, &answer), Some(namespace));
        // Metadata behind the data, and the 18th format.
        (answer[25], answer[26]) = (20, 0x31);
        answer[128 + 4 * 17..][..4].copy_from_slice(&[8, 0, 9, 0]);
        let namespace = Namespace::parse(5, &answer).unwrap();
        assert_eq!((namespace.block_bytes, namespace.metadata_bytes), (512, 8));
        assert_eq!(Namespace::parse(5, &[0; 4096]), None);
        assert_eq!(Namespace::parse(5, &[]), None);
    }

    #[test]
    fn zones_are_read_from_their_reports() {
        let mut answer = vec![0; IDENTIFY_BYTES];
        assert_eq!(zoned(&answer, 1), None);
        answer[8..12].copy_from_slice(&15u32.to_le_bytes());
        answer[2816 + 16..][..8].copy_from_slice(&4096u64.to_le_bytes());
        assert_eq!(zoned(&answer, 1), Some((4096, Some(16))));
        answer[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(zoned(&answer, 1), Some((4096, None)));
        let mut entry = [0; ENTRY_BYTES];
        assert_eq!(entry_of_report(&entry, 4096, 512), None);
        // In order, implicitly open, 4000 of 4096 blocks, the second zone, 16 blocks written.
        (entry[0], entry[1]) = (2, 0x20);
        for (at, number) in [(8, 4000u64), (16, 4096), (24, 4112)] {
            entry[at..at + 8].copy_from_slice(&number.to_le_bytes());
        }
        let zone = entry_of_report(&entry, 4096, 512).unwrap();
        assert_eq!((zone.start, zone.length), (4096 * 512, 4096 * 512));
        assert_eq!((zone.capacity, zone.pointer), (4000 * 512, 4112 * 512));
        assert!(zone.sequential && zone.open && !zone.offline);
    }

    #[test]
    fn what_is_no_namespace_says_so() {
        let how = Open {
            read: true,
            ..Open::default()
        };
        let null = File::open("/dev/null".as_ref(), how).unwrap();
        let error = Namespace::of(&null).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOTTY));
        for answer in [identify_controller(&null), log_page(&null, 2, 512)] {
            assert_eq!(answer.unwrap_err().raw_os_error(), Some(libc::ENOTTY));
        }
    }
}
