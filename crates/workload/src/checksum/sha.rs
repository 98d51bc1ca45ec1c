//! What fio calls SHA-1, SHA-256 and SHA-512.

use sha1::{Digest as _, Sha1};
use sha2::Sha512;
use sha2::block_api::compress256;

/// SHA-1 whose words stand in the machine's order, which is little-endian.
pub(super) fn sha1(data: &[u8]) -> [u8; 20] {
    let mut out: [u8; 20] = Sha1::digest(data).into();
    out.as_chunks_mut::<4>()
        .0
        .iter_mut()
        .for_each(|word| word.reverse());
    out
}

/// Start of SHA-256 (FIPS 180-4, 5.3.3).
const SHA256_START: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// The last padded block, its first eight bytes replaced by the low byte of each word of the
/// state. The length in bits at the end of the padding is little-endian, so the state is not
/// that of the published function.
pub(super) fn sha256(data: &[u8]) -> [u8; 64] {
    let mut state = SHA256_START;
    let (blocks, rest) = data.as_chunks::<64>();
    compress256(&mut state, blocks);
    let mut last = [0; 64];
    last[..rest.len()].copy_from_slice(rest);
    last[rest.len()] = 0x80;
    if rest.len() >= 56 {
        compress256(&mut state, &[last]);
        last = [0; 64];
    }
    last[56..].copy_from_slice(&(data.len() as u64 * 8).to_le_bytes());
    compress256(&mut state, &[last]);
    for (byte, word) in last.iter_mut().zip(state) {
        *byte = word as u8;
    }
    last
}

/// The published SHA-512, then the second half of the last padded block.
pub(super) fn sha512(data: &[u8]) -> [u8; 128] {
    let mut out = [0; 128];
    let rest = &data[data.len() & !127..];
    if rest.len() < 112 {
        out[..rest.len()].copy_from_slice(rest);
        out[rest.len()] = 0x80;
    }
    out[112..].copy_from_slice(&(data.len() as u128 * 8).to_be_bytes());
    out[..64].copy_from_slice(&Sha512::digest(data));
    out
}

/// The block buffer of a SHA-512 that was never finished: the first 128 bytes of the data with
/// its last incomplete block over them.
pub(super) fn sha512_unfinished(data: &[u8]) -> [u8; 128] {
    let mut out = [0; 128];
    let first = data.len().min(128);
    out[..first].copy_from_slice(&data[..first]);
    let rest = &data[data.len() & !127..];
    out[..rest.len()].copy_from_slice(rest);
    out
}
