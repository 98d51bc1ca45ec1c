//! The checksums of verified blocks, with exactly the bytes fio puts on the medium.
//!
//! Several of fio's values are not the published function of that name (no final inversion of
//! its CRCs, states stored word by word, a SHA-256 whose length field is little-endian); each
//! deviation stands beside its function. Equality is proven against files the fio binary wrote
//! and against the binary's reading of ours in `tests/fio_verify.rs`.

mod crc;
mod sha;

pub use crc::crc32c;

use md5::Md5;
use sha3::{Digest as _, Sha3_224, Sha3_256, Sha3_384, Sha3_512};

/// Seed of fio's xxh32.
const XXH32_SEED: u32 = 1;

/// A checksum over the data of one verified block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Checksum {
    /// MD5.
    Md5,
    /// CRC-64 with the reflected polynomial 0x95AC9329AC4BC9B5, start 0.
    Crc64,
    /// CRC-32 with the polynomial 0x04C11DB7, start 0, not reflected, not inverted.
    Crc32,
    /// CRC-32C, start all ones, not inverted at the end.
    Crc32c,
    /// CRC-16/ARC.
    Crc16,
    /// CRC-7 with the polynomial x^7 + x^3 + 1, start 0.
    Crc7,
    /// 64 bits of a SHA-256 variant and its last block.
    Sha256,
    /// SHA-512 and the second half of its last block; up to fio 3.36 parts of the data.
    Sha512,
    /// SHA3-224.
    Sha3_224,
    /// SHA3-256.
    Sha3_256,
    /// SHA3-384.
    Sha3_384,
    /// SHA3-512.
    Sha3_512,
    /// XXH32 with seed 1.
    Xxhash,
    /// SHA-1, each word little-endian.
    Sha1,
}

impl Checksum {
    /// All checksums.
    pub const ALL: [Checksum; 14] = [
        Checksum::Md5,
        Checksum::Crc64,
        Checksum::Crc32,
        Checksum::Crc32c,
        Checksum::Crc16,
        Checksum::Crc7,
        Checksum::Sha256,
        Checksum::Sha512,
        Checksum::Sha3_224,
        Checksum::Sha3_256,
        Checksum::Sha3_384,
        Checksum::Sha3_512,
        Checksum::Xxhash,
        Checksum::Sha1,
    ];
    /// Largest [`bytes`](Checksum::bytes).
    pub const MAX_BYTES: usize = 128;

    /// Name as options and messages spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Checksum::Md5 => "md5",
            Checksum::Crc64 => "crc64",
            Checksum::Crc32 => "crc32",
            Checksum::Crc32c => "crc32c",
            Checksum::Crc16 => "crc16",
            Checksum::Crc7 => "crc7",
            Checksum::Sha256 => "sha256",
            Checksum::Sha512 => "sha512",
            Checksum::Sha3_224 => "sha3-224",
            Checksum::Sha3_256 => "sha3-256",
            Checksum::Sha3_384 => "sha3-384",
            Checksum::Sha3_512 => "sha3-512",
            Checksum::Xxhash => "xxhash",
            Checksum::Sha1 => "sha1",
        }
    }

    /// Bytes it takes on the medium.
    pub const fn bytes(self) -> usize {
        match self {
            Checksum::Crc7 => 1,
            Checksum::Crc16 => 2,
            Checksum::Crc32 | Checksum::Crc32c | Checksum::Xxhash => 4,
            Checksum::Crc64 => 8,
            Checksum::Md5 => 16,
            Checksum::Sha1 => 20,
            Checksum::Sha3_224 => 28,
            Checksum::Sha3_256 => 32,
            Checksum::Sha3_384 => 48,
            Checksum::Sha256 | Checksum::Sha3_512 => 64,
            Checksum::Sha512 => 128,
        }
    }

    /// Writes the checksum of `data` to `out`, which is [`bytes`](Checksum::bytes) long.
    pub fn put(self, data: &[u8], out: &mut [u8]) {
        match self {
            Checksum::Md5 => out.copy_from_slice(&Md5::digest(data)),
            Checksum::Crc64 => out.copy_from_slice(&crc::crc64(data).to_le_bytes()),
            Checksum::Crc32 => out.copy_from_slice(&crc::crc32(data).to_le_bytes()),
            Checksum::Crc32c => out.copy_from_slice(&crc32c(data).to_le_bytes()),
            Checksum::Crc16 => out.copy_from_slice(&crc::crc16(data).to_le_bytes()),
            Checksum::Crc7 => out[0] = crc::crc7(data),
            Checksum::Sha256 => out.copy_from_slice(&sha::sha256(data)),
            Checksum::Sha512 => out.copy_from_slice(&sha::sha512(data)),
            Checksum::Sha3_224 => out.copy_from_slice(&Sha3_224::digest(data)),
            Checksum::Sha3_256 => out.copy_from_slice(&Sha3_256::digest(data)),
            Checksum::Sha3_384 => out.copy_from_slice(&Sha3_384::digest(data)),
            Checksum::Sha3_512 => out.copy_from_slice(&Sha3_512::digest(data)),
            Checksum::Xxhash => {
                let hash = xxhash_rust::xxh32::xxh32(data, XXH32_SEED);
                out.copy_from_slice(&hash.to_le_bytes());
            }
            Checksum::Sha1 => out.copy_from_slice(&sha::sha1(data)),
        }
    }

    /// The checksum of `data` as a value.
    pub fn of(self, data: &[u8]) -> Digest {
        let mut digest = Digest {
            len: self.bytes() as u8,
            bytes: [0; Self::MAX_BYTES],
        };
        self.put(data, &mut digest.bytes[..self.bytes()]);
        digest
    }

    /// What fio up to 3.36 stores where it differs from [`of`](Checksum::of): for SHA-512
    /// those versions keep the data they have buffered and no digest at all.
    pub fn old_form(self, data: &[u8]) -> Option<Digest> {
        (self == Checksum::Sha512).then(|| Digest::new(&sha::sha512_unfinished(data)))
    }

    /// True where damage to the data can leave the checksum as it was with a likelihood that
    /// shows in practice.
    pub const fn is_weak(self) -> bool {
        matches!(self, Checksum::Crc7 | Checksum::Crc16)
    }
}

/// A checksum of any kind.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digest {
    len: u8,
    bytes: [u8; Checksum::MAX_BYTES],
}

impl Digest {
    /// Keeps up to [`Checksum::MAX_BYTES`] bytes.
    pub fn new(bytes: &[u8]) -> Self {
        let len = bytes.len().min(Checksum::MAX_BYTES);
        let mut digest = Digest {
            len: len as u8,
            bytes: [0; Checksum::MAX_BYTES],
        };
        digest.bytes[..len].copy_from_slice(&bytes[..len]);
        digest
    }

    /// The bytes in the order of the medium.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl std::fmt::Display for Digest {
    /// Hexadecimal in the order of the medium, as fio prints it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_bytes()
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Digest({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Values from files that `fio --verify=K` wrote, over 100 bytes counting from 0.
    #[test]
    fn one_flipped_bit_changes_every_checksum() {
        let mut data: Vec<u8> = (0..=255).cycle().take(4000).collect();
        for checksum in Checksum::ALL {
            let before = checksum.of(&data);
            assert_eq!(before.as_bytes().len(), checksum.bytes());
            for at in [0, 1, 127, 128, 2048, 3999] {
                data[at] ^= 0x10;
                assert_ne!(checksum.of(&data), before, "{} at {at}", checksum.name());
                data[at] ^= 0x10;
            }
            assert_eq!(checksum.of(&data), before);
        }
    }

    proptest! {
        /// Each of the own CRCs against its definition, bit by bit.
        #[test]
        fn crcs_equal_their_polynomials(data in prop::collection::vec(any::<u8>(), 0..600)) {
            let reflected = |poly: u64, start: u64| data.iter().fold(start, |crc, &byte| {
                (0..8).fold(crc ^ u64::from(byte), |crc, _| (crc >> 1) ^ (poly * (crc & 1)))
            });
            prop_assert_eq!(crc::crc64(&data), reflected(0x95AC_9329_AC4B_C9B5, 0));
            prop_assert_eq!(u64::from(crc::crc16(&data)), reflected(0xA001, 0));
            prop_assert_eq!(u64::from(crc32c(&data)), reflected(0x82F6_3B78, 0xFFFF_FFFF));
            let crc32 = data.iter().fold(0u32, |crc, &byte| {
                (0..8).fold(crc ^ (u32::from(byte) << 24), |crc, _| {
                    (crc << 1) ^ if crc >> 31 == 1 { 0x04C1_1DB7 } else { 0 }
                })
            });
            prop_assert_eq!(crc::crc32(&data), crc32);
            let crc7 = data.iter().fold(0u8, |crc, &byte| {
                (0..8).fold((crc << 1) ^ byte, |crc, _| {
                    (crc << 1) ^ if crc >> 7 == 1 { 0x12 } else { 0 }
                }) >> 1
            });
            prop_assert_eq!(crc::crc7(&data), crc7);
        }
    }
}
