//! Binary traces of the block layer (`blktrace`): 48-byte records of either byte order, each
//! followed by data of its own that nobody needs here.

use super::{Asked, FileRef, Item, Stamped, pass_over, read_whole};
use std::io::BufRead;
use units::Ddir;

/// Bytes of a record.
pub(super) const RECORD: usize = 48;
const MAGIC: u32 = 0x6561_7400;
const VERSION: u32 = 7;
const SECTOR: u64 = 512;
/// Most requests in flight that are believed: stacked devices do not report completions.
const MOST_DEPTH: i64 = 1024;

/// What a record is about: the upper half of its action is a set of these bits.
mod class {
    pub const READ: u32 = 1 << 16;
    pub const WRITE: u32 = 1 << 17;
    pub const FLUSH: u32 = 1 << 18;
    pub const NOTIFY: u32 = 1 << 26;
    pub const DISCARD: u32 = 1 << 29;
}

/// The lower half of an action.
mod step {
    pub const QUEUE: u32 = 1;
    pub const BACK_MERGE: u32 = 2;
    pub const FRONT_MERGE: u32 = 3;
    pub const COMPLETE: u32 = 8;
}

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub time_ns: u64,
    pub sector: u64,
    pub bytes: u32,
    pub action: u32,
    pub device: u32,
    pub extra_bytes: u16,
}

/// Whether a file that begins like this is a trace, and of the other byte order.
pub(super) fn swapped(head: &[u8]) -> Option<bool> {
    let magic = u32::from_ne_bytes(head.first_chunk::<4>().copied()?);
    match (magic & !0xff == MAGIC, magic.swap_bytes() & !0xff == MAGIC) {
        (true, _) => Some(false),
        (_, true) => Some(true),
        _ => None,
    }
}

impl Record {
    /// Takes a record apart.
    pub fn decode(raw: &[u8; RECORD], swapped: bool) -> Result<Record, String> {
        let u32_at = |at: usize| {
            let word = u32::from_ne_bytes(raw[at..at + 4].try_into().expect("four bytes"));
            if swapped { word.swap_bytes() } else { word }
        };
        let u64_at = |at: usize| {
            let word = u64::from_ne_bytes(raw[at..at + 8].try_into().expect("eight bytes"));
            if swapped { word.swap_bytes() } else { word }
        };
        let extra = u16::from_ne_bytes(raw[46..48].try_into().expect("two bytes"));
        let magic = u32_at(0);
        if magic & !0xff != MAGIC {
            return Err(format!("a record begins with {magic:#010x}, no trace does"));
        }
        if magic & 0xff != VERSION {
            return Err(format!(
                "version {} of block traces is not known",
                magic & 0xff
            ));
        }
        Ok(Record {
            time_ns: u64_at(8),
            sector: u64_at(16),
            bytes: u32_at(24),
            action: u32_at(28),
            device: u32_at(36),
            extra_bytes: if swapped { extra.swap_bytes() } else { extra },
        })
    }

    /// A record as this machine writes it, with nothing behind it.
    pub fn encode(&self) -> [u8; RECORD] {
        let mut raw = [0; RECORD];
        raw[0..4].copy_from_slice(&(MAGIC | VERSION).to_ne_bytes());
        raw[8..16].copy_from_slice(&self.time_ns.to_ne_bytes());
        raw[16..24].copy_from_slice(&self.sector.to_ne_bytes());
        raw[24..28].copy_from_slice(&self.bytes.to_ne_bytes());
        raw[28..32].copy_from_slice(&self.action.to_ne_bytes());
        raw[36..40].copy_from_slice(&self.device.to_ne_bytes());
        raw
    }

    fn step(&self) -> u32 {
        self.action & 0xffff
    }

    fn is(&self, class: u32) -> bool {
        self.action & class != 0
    }

    /// Direction of the request, flushes without data apart.
    fn ddir(&self) -> Option<Ddir> {
        let all = [
            (class::READ, Ddir::Read),
            (class::WRITE, Ddir::Write),
            (class::DISCARD, Ddir::Trim),
        ];
        all.into_iter()
            .find(|(class, _)| self.is(*class))
            .map(|(_, ddir)| ddir)
    }

    /// Is a request queued here that moves data?
    pub fn queues_data(&self) -> bool {
        self.step() == step::QUEUE && self.ddir().is_some()
    }

    /// What is to be replayed, if anything.
    fn asked(&self) -> Option<Asked> {
        if self.step() != step::QUEUE || self.is(class::NOTIFY) {
            return None;
        }
        let ddir = if self.is(class::DISCARD) {
            Ddir::Trim
        } else if self.is(class::FLUSH) {
            Ddir::Sync
        } else if self.is(class::WRITE) {
            Ddir::Write
        } else {
            Ddir::Read
        };
        let moves = ddir != Ddir::Sync;
        if moves && self.bytes == 0 {
            return None;
        }
        let device = host::DevId {
            major: self.device >> 20,
            minor: self.device & 0xf_ffff,
        };
        Some(Asked {
            file: FileRef::Device(device),
            ddir,
            offset: if moves {
                self.sector.saturating_mul(SECTOR)
            } else {
                0
            },
            len: if moves { self.bytes } else { 0 },
        })
    }
}

/// Requests in flight, as the records of one direction show it.
#[derive(Clone, Copy, Debug, Default)]
struct InFlight {
    now: i64,
    most: i64,
    seen: bool,
}

/// The records of a trace.
pub(super) struct Records {
    input: Box<dyn BufRead + Send>,
    swapped: bool,
    in_flight: [InFlight; 3],
}

impl Records {
    pub fn new(input: Box<dyn BufRead + Send>, swapped: bool) -> Records {
        Records {
            input,
            swapped,
            in_flight: [InFlight::default(); 3],
        }
    }

    /// The greatest depth of all directions, at least 1.
    pub fn depth(&self) -> u32 {
        let most = self.in_flight.iter().map(|of| of.most.clamp(1, MOST_DEPTH));
        most.max().unwrap_or(1) as u32
    }

    /// The next entry that is to be replayed.
    pub fn next(&mut self) -> Option<Result<Stamped, String>> {
        loop {
            let mut raw = [0; RECORD];
            let record = match read_whole(&mut self.input, &mut raw) {
                Ok(false) => return None,
                Ok(true) => Record::decode(&raw, self.swapped),
                Err(error) => Err(error.to_string()),
            };
            let record = match record {
                Ok(record) => record,
                Err(error) => return Some(Err(error)),
            };
            if let Err(error) = pass_over(&mut self.input, record.extra_bytes.into()) {
                return Some(Err(error.to_string()));
            }
            self.follow(&record);
            if let Some(asked) = record.asked() {
                return Some(Ok((Some(record.time_ns), Item::Request(asked))));
            }
        }
    }

    fn follow(&mut self, record: &Record) {
        if record.is(class::NOTIFY) {
            return;
        }
        let Some(ddir) = record.ddir() else { return };
        let of = &mut self.in_flight[ddir.index()];
        match record.step() {
            step::QUEUE => of.now += 1,
            step::BACK_MERGE | step::FRONT_MERGE => of.now -= 1,
            step::COMPLETE => {
                of.most = of.most.max(of.now);
                of.now = 0;
                of.seen = true;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(action: u32, sector: u64, bytes: u32) -> Record {
        Record {
            time_ns: 5,
            sector,
            bytes,
            action,
            device: (7 << 20) | 3,
            extra_bytes: 0,
        }
    }

    fn all(records: &[Record], swap: bool) -> (Vec<Stamped>, u32) {
        let mut bytes = Vec::new();
        for record in records {
            let mut raw = record.encode();
            if swap {
                for (at, width) in [(0, 4), (8, 8), (16, 8), (24, 4), (28, 4), (36, 4)] {
                    raw[at..at + width].reverse();
                }
            }
            bytes.extend_from_slice(&raw);
        }
        assert_eq!(swapped(&bytes), Some(swap));
        let mut records = Records::new(Box::new(std::io::Cursor::new(bytes)), swap);
        let found = std::iter::from_fn(|| records.next()).map(|r| r.unwrap());
        let found = found.collect();
        (found, records.depth())
    }

    #[test]
    fn queued_requests_of_either_byte_order_are_found() {
        let records = [
            record(step::QUEUE | class::READ, 8, 4096),
            record(step::QUEUE | class::WRITE, 16, 512),
            record(step::QUEUE | class::WRITE, 17, 512),
            record(step::COMPLETE | class::WRITE, 16, 1024),
            record(step::QUEUE | class::DISCARD, 0, 1 << 20),
            record(step::QUEUE | class::WRITE | class::FLUSH, 0, 0),
            record(step::QUEUE | class::READ, 0, 0),
            record(step::QUEUE | class::NOTIFY, 0, 7),
        ];
        for swap in [false, true] {
            let (found, depth) = all(&records, swap);
            let short: Vec<_> = found
                .iter()
                .map(|(_, item)| match item {
                    Item::Request(asked) => (asked.ddir, asked.offset, asked.len),
                    other => panic!("{other:?}"),
                })
                .collect();
            let wanted = [
                (Ddir::Read, 4096, 4096),
                (Ddir::Write, 8192, 512),
                (Ddir::Write, 8704, 512),
                (Ddir::Trim, 0, 1 << 20),
                (Ddir::Sync, 0, 0),
            ];
            assert_eq!((short.as_slice(), depth), (&wanted[..], 2));
        }
    }

    #[test]
    fn what_is_no_trace_is_told() {
        assert_eq!(swapped(b"fio version 3"), None);
        assert_eq!(swapped(b""), None);
        let mut raw = record(step::QUEUE | class::READ, 0, 1).encode();
        raw[0] = 6;
        assert!(
            Record::decode(&raw, false)
                .unwrap_err()
                .contains("version 6")
        );
    }
}
