//! The header in front of each verified block.
//!
//! | field | unversioned (fio up to 3.36 or so) | version 1 |
//! |---|---|---|
//! | magic 0xacca | 0, 2 bytes | 0, 2 bytes |
//! | version, high bit set | | 2, 1 byte |
//! | kind | 2, 2 bytes | 3, 1 byte |
//! | length of the block | 4, 4 bytes | 4, 4 bytes |
//! | seed of the data | 8, 8 bytes | 8, 8 bytes |
//! | offset of the block | 16, 8 bytes | 16, 8 bytes |
//! | seconds, nanoseconds of the start | 24 and 28, 4 bytes | 24 and 28, 4 bytes |
//! | number of the write | 34, 2 bytes | 32, 8 bytes |
//! | number of the worker | 32, 2 bytes | 40, 2 bytes |
//! | CRC-32C of all before it | 36, 4 bytes | 44, 4 bytes |
//!
//! All numbers are little-endian. The high bit of byte 2 tells the two apart.

use super::mismatch::Reason;
use crate::checksum::crc32c;

/// First two bytes of a header.
pub(super) const MAGIC: u16 = 0xacca;
/// The one known version.
pub(super) const VERSION_1: u8 = 0x81;
/// Bytes of the larger header.
const LARGEST: usize = 48;

/// Layout of the header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// 40 bytes without a version, as fio 3.33 writes and reads it.
    #[default]
    V0,
    /// 48 bytes with version 0x81, as newer versions of fio write and read it.
    V1,
}

impl Format {
    /// Bytes of the header.
    pub const fn header_bytes(self) -> usize {
        match self {
            Format::V0 => 40,
            Format::V1 => LARGEST,
        }
    }

    /// Place of the header's own CRC.
    const fn crc_at(self) -> usize {
        self.header_bytes() - 4
    }

    /// A write number as this header can hold it.
    pub const fn number(self, number: u64) -> u64 {
        match self {
            Format::V0 => number & 0xffff,
            Format::V1 => number,
        }
    }
}

/// The fields of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Layout.
    pub format: Format,
    /// [`VerifyKind::code`](super::VerifyKind::code).
    pub kind: u8,
    /// Bytes of the block, header included.
    pub len: u32,
    /// Seed of the data of the request; 0 with a pattern.
    pub seed: u64,
    /// Place of the block in its file, bytes.
    pub offset: u64,
    /// Start of the write, seconds of the monotonic clock.
    pub sec: u32,
    /// Start of the write, nanoseconds within the second.
    pub nsec: u32,
    /// Which write of its worker this was, from 0.
    pub numberio: u64,
    /// Number of the worker, from 1.
    pub thread: u16,
}

impl Header {
    /// Writes the header with its CRC to the start of `out`.
    #[inline]
    pub fn encode(&self, out: &mut [u8]) {
        let mut raw = [0u8; LARGEST];
        raw[0..2].copy_from_slice(&MAGIC.to_le_bytes());
        raw[4..8].copy_from_slice(&self.len.to_le_bytes());
        raw[8..16].copy_from_slice(&self.seed.to_le_bytes());
        raw[16..24].copy_from_slice(&self.offset.to_le_bytes());
        raw[24..28].copy_from_slice(&self.sec.to_le_bytes());
        raw[28..32].copy_from_slice(&self.nsec.to_le_bytes());
        match self.format {
            Format::V0 => {
                raw[2] = self.kind;
                raw[32..34].copy_from_slice(&self.thread.to_le_bytes());
                raw[34..36].copy_from_slice(&(self.numberio as u16).to_le_bytes());
            }
            Format::V1 => {
                raw[2] = VERSION_1;
                raw[3] = self.kind;
                raw[32..40].copy_from_slice(&self.numberio.to_le_bytes());
                raw[40..42].copy_from_slice(&self.thread.to_le_bytes());
            }
        }
        let at = self.format.crc_at();
        let crc = crc32c(&raw[..at]);
        raw[at..at + 4].copy_from_slice(&crc.to_le_bytes());
        let bytes = self.format.header_bytes();
        out[..bytes].copy_from_slice(&raw[..bytes]);
    }

    /// Reads a header of either layout and leaves its CRC to [`crc_mismatch`].
    ///
    /// # Errors
    /// [`Reason::Magic`] or [`Reason::Version`] where there is no readable header.
    #[inline]
    pub fn decode(raw: &[u8]) -> Result<Header, Reason> {
        let u16_at = |at: usize| u16::from_le_bytes([raw[at], raw[at + 1]]);
        let u32_at = |at: usize| u32::from(u16_at(at)) | (u32::from(u16_at(at + 2)) << 16);
        let u64_at = |at: usize| u64::from(u32_at(at)) | (u64::from(u32_at(at + 4)) << 32);
        if u16_at(0) != MAGIC {
            return Err(Reason::Magic { found: u16_at(0) });
        }
        let format = match raw[2] {
            VERSION_1 => Format::V1,
            version if version & 0x80 != 0 => return Err(Reason::Version { found: version }),
            _ => Format::V0,
        };
        let (kind, numberio, thread) = match format {
            Format::V0 => (raw[2], u64::from(u16_at(34)), u16_at(32)),
            Format::V1 => (raw[3], u64_at(32), u16_at(40)),
        };
        Ok(Header {
            format,
            kind,
            len: u32_at(4),
            seed: u64_at(8),
            offset: u64_at(16),
            sec: u32_at(24),
            nsec: u32_at(28),
            numberio,
            thread,
        })
    }
}

/// Compares the CRC of a raw header of the given layout with its contents.
pub(super) fn crc_mismatch(format: Format, raw: &[u8]) -> Option<Reason> {
    let at = format.crc_at();
    let found = u32::from_le_bytes([raw[at], raw[at + 1], raw[at + 2], raw[at + 3]]);
    let calculated = crc32c(&raw[..at]);
    (found != calculated).then_some(Reason::HeaderCrc { found, calculated })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn fields_survive_and_every_bit_is_covered(
            v1: bool, kind in 1u8..20, seed: u64, offset: u64, numberio: u64, thread: u16,
            bit in 0usize..384,
        ) {
            let format = if v1 { Format::V1 } else { Format::V0 };
            let numberio = format.number(numberio);
            let header = Header {
                format, kind, len: 4096, seed, offset, sec: 7, nsec: 9, numberio, thread,
            };
            let mut raw = [0u8; LARGEST];
            header.encode(&mut raw);
            prop_assert_eq!(Header::decode(&raw), Ok(header));
            prop_assert_eq!(crc_mismatch(format, &raw), None);
            let bit = bit % (format.header_bytes() * 8);
            raw[bit / 8] ^= 1 << (bit % 8);
            let seen = match Header::decode(&raw) {
                Err(_) => true,
                Ok(found) => crc_mismatch(found.format, &raw).is_some(),
            };
            prop_assert!(seen);
        }
    }
}
