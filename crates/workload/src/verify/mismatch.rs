//! A block that is not what was written: what differs, where, both values.

use super::header::{MAGIC, VERSION_1};
use crate::checksum::Digest;
use std::fmt::{self, Write as _};

/// What differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// No header.
    Magic {
        /// First two bytes of the block.
        found: u16,
    },
    /// A header of an unknown version.
    Version {
        /// Version byte.
        found: u8,
    },
    /// Length in the header.
    Length {
        /// In the header, bytes.
        found: u32,
        /// Expected, bytes.
        wanted: u32,
    },
    /// Seed in the header: contents of another write.
    Seed {
        /// In the header.
        found: u64,
        /// Of the write that should stand here.
        wanted: u64,
    },
    /// Offset in the header: a block from elsewhere.
    Offset {
        /// In the header, bytes.
        found: u64,
        /// Of this block, bytes.
        wanted: u64,
    },
    /// Write number in the header: a block from an earlier or a later write.
    Sequence {
        /// In the header.
        found: u64,
        /// Of the write that should stand here.
        wanted: u64,
    },
    /// CRC of the header itself.
    HeaderCrc {
        /// In the header.
        found: u32,
        /// Of the header's bytes.
        calculated: u32,
    },
    /// Checksum of the data.
    Checksum(Box<Digests>),
    /// A byte of the pattern, or of the data that the seed gives.
    Byte {
        /// Place in the block, bytes.
        at: u32,
        /// What was read.
        found: u8,
        /// What was written.
        wanted: u8,
    },
    /// A trimmed block that does not read as zeros.
    NotZero {
        /// Place in the request, bytes.
        at: u32,
    },
}

impl Reason {
    /// True where the header is wrong rather than the data.
    pub fn is_header(&self) -> bool {
        !matches!(
            self,
            Reason::Checksum(_) | Reason::Byte { .. } | Reason::NotZero { .. }
        )
    }
}

/// A checksum that does not fit its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digests {
    /// On the medium.
    pub stored: Digest,
    /// Of the data that were read.
    pub calculated: Digest,
}

/// One bad block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// What differs.
    pub reason: Reason,
    /// Name of the `verify` kind.
    pub kind: &'static str,
    /// Kind found in a readable header and the kind of the job, where they differ.
    pub kind_codes: Option<(u8, u8)>,
    /// Start of the bad block in its file, bytes.
    pub offset: u64,
    /// Bytes of the bad block.
    pub len: u32,
    /// Start of the request that read it, bytes.
    pub request_offset: u64,
    /// Bytes of the request that read it.
    pub request_len: u32,
}

impl Mismatch {
    /// What fio prints for it, one or more lines without the last line's end.
    pub fn text(&self, file: &dyn fmt::Display) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut text, file);
        text
    }

    fn write(&self, text: &mut String, file: &dyn fmt::Display) -> fmt::Result {
        let Mismatch {
            offset,
            len,
            request_offset,
            request_len,
            kind,
            ..
        } = *self;
        if let Some(what) = self.header_text() {
            return write!(
                text,
                "verify: {what} at file {file} offset {offset}, length {len} (requested block: \
                 offset={request_offset}, length={request_len})"
            );
        }
        match self.reason {
            Reason::NotZero { at } => {
                return write!(
                    text,
                    "trim: verify failed at file {file} offset {request_offset}, length \
                     {request_len}, block offset {at}"
                );
            }
            Reason::Byte { at, found, wanted } => {
                let bits = (found ^ wanted).count_ones();
                writeln!(
                    text,
                    "fio: got pattern '{found:02x}', wanted '{wanted:02x}'. Bad bits {bits}"
                )?;
                writeln!(text, "fio: bad pattern block offset {at}")?;
            }
            _ => {}
        }
        // 8 is the flag that fio's verify reads carry.
        write!(
            text,
            "{kind}: verify failed at file {file} offset {offset}, length {len} (requested \
             block: offset={request_offset}, length={request_len}, flags=8)"
        )?;
        if let Reason::Checksum(digests) = &self.reason {
            let Digests { stored, calculated } = digests.as_ref();
            write!(
                text,
                "\n       Expected CRC: {stored}\n       Received CRC: {calculated}"
            )?;
        }
        if let Some((media, given)) = self.kind_codes {
            write!(
                text,
                "\nfio: verify type mismatch ({media} media, {given} given)"
            )?;
        }
        Ok(())
    }

    fn header_text(&self) -> Option<String> {
        Some(match self.reason {
            Reason::Magic { found } => format!("bad magic header {found:x}, wanted {MAGIC:x}"),
            Reason::Version { found } => format!(
                "unsupported header version {found:x}, wanted {VERSION_1:x}. Are you trying to \
                 verify across versions of fio?"
            ),
            Reason::Length { found, wanted } => {
                format!("bad header length {found}, wanted {wanted}")
            }
            Reason::Seed { found, wanted } => {
                format!("bad header rand_seed {found}, wanted {wanted}")
            }
            Reason::Offset { found, wanted } => {
                format!("bad header offset {found}, wanted {wanted}")
            }
            Reason::Sequence { found, wanted } => {
                format!("bad header numberio {found}, wanted {wanted}")
            }
            Reason::HeaderCrc { found, calculated } => {
                format!("bad header crc {found:x}, calculated {calculated:x}")
            }
            Reason::Checksum(_) | Reason::Byte { .. } | Reason::NotZero { .. } => return None,
        })
    }
}
