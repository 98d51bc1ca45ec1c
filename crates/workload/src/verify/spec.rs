//! What `verify` and its relatives ask for, as numbers.

use super::header::Format;
use super::pattern::Pattern;
use crate::checksum::Checksum;
use thiserror::Error;

/// The `verify` option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VerifyKind {
    /// Header alone (`meta`); the data are checked against pattern or seed.
    Meta,
    /// Header and checksum.
    Sum(Checksum),
    /// Header and pattern (`pattern_hdr`).
    PatternHeader,
    /// Pattern without a header (`pattern`).
    Pattern,
    /// Nothing is stamped and nothing checked (`null`).
    Null,
}

impl VerifyKind {
    /// The kind that the option calls `name`; `None` for `0`, `none` and unknown names.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "meta" => Some(VerifyKind::Meta),
            "pattern_hdr" => Some(VerifyKind::PatternHeader),
            "pattern" => Some(VerifyKind::Pattern),
            "null" => Some(VerifyKind::Null),
            "crc32c-intel" => Some(VerifyKind::Sum(Checksum::Crc32c)),
            _ => Checksum::ALL
                .into_iter()
                .find(|sum| sum.name() == name)
                .map(VerifyKind::Sum),
        }
    }

    /// Name as options and messages spell it.
    pub const fn name(self) -> &'static str {
        match self {
            VerifyKind::Meta => "meta",
            VerifyKind::Sum(sum) => sum.name(),
            VerifyKind::PatternHeader | VerifyKind::Pattern => "pattern",
            VerifyKind::Null => "null",
        }
    }

    /// Number of the kind on the medium.
    pub const fn code(self) -> u8 {
        match self {
            VerifyKind::Meta => 1,
            VerifyKind::Sum(Checksum::Md5) => 2,
            VerifyKind::Sum(Checksum::Crc64) => 3,
            VerifyKind::Sum(Checksum::Crc32) => 4,
            VerifyKind::Sum(Checksum::Crc32c) => 5,
            VerifyKind::Sum(Checksum::Crc16) => 7,
            VerifyKind::Sum(Checksum::Crc7) => 8,
            VerifyKind::Sum(Checksum::Sha256) => 9,
            VerifyKind::Sum(Checksum::Sha512) => 10,
            VerifyKind::Sum(Checksum::Sha3_224) => 11,
            VerifyKind::Sum(Checksum::Sha3_256) => 12,
            VerifyKind::Sum(Checksum::Sha3_384) => 13,
            VerifyKind::Sum(Checksum::Sha3_512) => 14,
            VerifyKind::Sum(Checksum::Xxhash) => 15,
            VerifyKind::Sum(Checksum::Sha1) => 16,
            VerifyKind::PatternHeader => 17,
            VerifyKind::Pattern => 18,
            VerifyKind::Null => 19,
        }
    }

    /// True where each block begins with a header.
    pub const fn has_header(self) -> bool {
        !matches!(self, VerifyKind::Pattern | VerifyKind::Null)
    }

    /// The checksum, where there is one.
    pub const fn checksum(self) -> Option<Checksum> {
        match self {
            VerifyKind::Sum(sum) => Some(sum),
            _ => None,
        }
    }

    /// Bytes of header and checksum in front of the data.
    pub const fn front_bytes(self, format: Format) -> usize {
        match self {
            VerifyKind::Pattern | VerifyKind::Null => 0,
            VerifyKind::Sum(sum) => format.header_bytes() + sum.bytes(),
            VerifyKind::Meta | VerifyKind::PatternHeader => format.header_bytes(),
        }
    }
}

/// What is stamped into written blocks and checked in read ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifySpec {
    /// `verify`.
    pub kind: VerifyKind,
    /// Bytes from one header to the next; 0: one header per request. Take it from
    /// [`VerifySpec::interval_for`].
    pub interval: u32,
    /// `verify_offset`: place of header and checksum in the block, bytes.
    pub offset: u32,
    /// `verify_pattern`; `None`: data made from a seed.
    pub pattern: Option<Pattern>,
    /// `verify_pattern_interval`: the pattern starts over after this many bytes; 0: with each
    /// request.
    pub pattern_interval: u32,
    /// `buffer_compress_percentage`: this share of each request, at its end, holds
    /// `fill_pattern` or zeros instead of random data.
    pub compress_percent: u32,
    /// `buffer_pattern`, for the share above.
    pub fill_pattern: Vec<u8>,
    /// `verify_header_seed`: compare the header's seed where the written one is known.
    pub check_seed: bool,
    /// `verify_write_sequence`: compare the header's write number where it is known.
    pub check_sequence: bool,
    /// Where no checksum, or a short one, leaves damage a chance: also compare the data with
    /// what their seed or pattern gives. fio does not do this; it finds nothing wrong in
    /// data that fio wrote.
    pub check_content: bool,
    /// `trim_verify_zero`: trimmed blocks read as zeros.
    pub trim_zero: bool,
    /// Header written; every known one is read.
    pub format: Format,
}

impl VerifySpec {
    /// fio's defaults for one kind.
    pub fn new(kind: VerifyKind) -> Self {
        VerifySpec {
            kind,
            interval: 0,
            offset: 0,
            pattern: None,
            pattern_interval: 0,
            compress_percent: 0,
            fill_pattern: Vec::new(),
            check_seed: true,
            check_sequence: true,
            check_content: true,
            trim_zero: true,
            format: Format::V0,
        }
    }

    /// fio's rule for the interval in effect: the one asked for (0: none), not above the
    /// smallest request, and a divisor of the smallest and largest write. Requests of any
    /// length (`bs_unaligned`) get one header each.
    pub fn interval_for(asked: u32, smallest: u32, largest_write: u32, unaligned: bool) -> u32 {
        if unaligned {
            return 0;
        }
        let interval = asked.min(smallest);
        let divides = |bytes: u32| interval > 0 && bytes.is_multiple_of(interval);
        if divides(smallest) && divides(largest_write) {
            interval
        } else {
            gcd(smallest, largest_write)
        }
    }

    /// Checks that headers fit into requests of at least `smallest` bytes.
    ///
    /// # Errors
    /// Names the option that asks for the impossible.
    pub fn validate(&self, smallest: u32) -> Result<(), VerifySpecError> {
        let front = self.kind.front_bytes(self.format) as u32;
        let block = if self.interval == 0 {
            smallest
        } else {
            self.interval.min(smallest)
        };
        if front > 0 && block <= front {
            return Err(VerifySpecError::BlockTooSmall { block, front });
        }
        if self.offset > 0 && self.offset < front {
            return Err(VerifySpecError::OffsetInHeader {
                offset: self.offset,
                front,
            });
        }
        if front > 0 && u64::from(self.offset) + u64::from(front) > u64::from(block) {
            return Err(VerifySpecError::OffsetBeyond {
                offset: self.offset,
                front,
                block,
            });
        }
        let needs = matches!(self.kind, VerifyKind::Pattern | VerifyKind::PatternHeader);
        if needs && self.pattern.is_none() {
            return Err(VerifySpecError::NoPattern);
        }
        Ok(())
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Why blocks cannot be stamped as asked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum VerifySpecError {
    /// A block without room for data.
    #[error(
        "verify: a block of {block} bytes has no room behind {front} bytes of header and \
         checksum; raise bs or verify_interval"
    )]
    BlockTooSmall {
        /// Bytes from one header to the next.
        block: u32,
        /// Bytes of header and checksum.
        front: u32,
    },
    /// A header that would be swapped with a part of itself.
    #[error("verify_offset={offset}: needs 0 or at least {front}, the size of the header")]
    OffsetInHeader {
        /// `verify_offset`.
        offset: u32,
        /// Bytes of header and checksum.
        front: u32,
    },
    /// A header that would leave its block.
    #[error(
        "verify_offset={offset}: cannot offset verify header beyond the verify interval: \
         {offset} + {front} bytes of header exceed {block}"
    )]
    OffsetBeyond {
        /// `verify_offset`.
        offset: u32,
        /// Bytes of header and checksum.
        front: u32,
        /// Bytes from one header to the next.
        block: u32,
    },
    /// `verify=pattern` alone.
    #[error("verify=pattern: needs verify_pattern")]
    NoPattern,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_codes_are_unique_and_known() {
        let kinds = Checksum::ALL.map(VerifyKind::Sum).into_iter().chain([
            VerifyKind::Meta,
            VerifyKind::Pattern,
            VerifyKind::Null,
        ]);
        let mut codes: Vec<u8> = kinds
            .inspect(|kind| assert_eq!(VerifyKind::from_name(kind.name()), Some(*kind)))
            .map(VerifyKind::code)
            .collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), 17);
        assert_eq!(
            VerifyKind::from_name("crc32c-intel"),
            VerifyKind::from_name("crc32c")
        );
        assert_eq!(VerifyKind::from_name("none"), None);
    }

    #[test]
    fn intervals_divide_all_requests() {
        assert_eq!(VerifySpec::interval_for(0, 4096, 4096, false), 4096);
        assert_eq!(VerifySpec::interval_for(512, 4096, 65536, false), 512);
        assert_eq!(VerifySpec::interval_for(8192, 4096, 65536, false), 4096);
        assert_eq!(VerifySpec::interval_for(1000, 4096, 6144, false), 2048);
        assert_eq!(VerifySpec::interval_for(0, 4096, 12288, false), 4096);
        assert_eq!(VerifySpec::interval_for(512, 4096, 12288, true), 0);
    }

    #[test]
    fn impossible_headers_are_refused_by_name() {
        let spec = |offset, interval| VerifySpec {
            offset,
            interval,
            ..VerifySpec::new(VerifyKind::Sum(Checksum::Crc32c))
        };
        assert_eq!(spec(0, 512).validate(4096), Ok(()));
        assert_eq!(spec(44, 512).validate(4096), Ok(()));
        assert_eq!(spec(468, 512).validate(4096), Ok(()));
        for (bad, option) in [(spec(40, 512), "verify_offset"), (spec(469, 512), "beyond")] {
            assert!(bad.validate(4096).unwrap_err().to_string().contains(option));
        }
        assert!(spec(0, 0).validate(44).is_err());
        assert!(VerifySpec::new(VerifyKind::Pattern).validate(4096).is_err());
    }
}
