//! CRCs with fio's starts and without a final inversion.

use crc_fast::CrcAlgorithm;

/// CRC-32C of verify headers and of `verify=crc32c`: the iSCSI CRC without its final inversion.
#[inline]
pub fn crc32c(data: &[u8]) -> u32 {
    !crc_fast::crc32_iscsi(data)
}

/// The CRC of POSIX `cksum` without the length and the final inversion.
pub(super) fn crc32(data: &[u8]) -> u32 {
    !(crc_fast::checksum(CrcAlgorithm::Crc32Cksum, data) as u32)
}

/// The CRC that Redis calls crc64 ("Jones").
pub(super) fn crc64(data: &[u8]) -> u64 {
    crc_fast::checksum(CrcAlgorithm::Crc64Redis, data)
}

/// CRC-16/ARC.
pub(super) fn crc16(data: &[u8]) -> u16 {
    crc_fast::checksum(CrcAlgorithm::Crc16Arc, data) as u16
}

/// Bytes that [`crc7`] takes at a time.
const STEP: usize = 8;
/// `TABLES[k][b]`: the remainder of byte `b` followed by `k` zero bytes, times x^8.
const TABLES: [[u8; 256]; STEP] = tables();

const fn tables() -> [[u8; 256]; STEP] {
    let mut tables = [[0; 256]; STEP];
    let mut byte = 0;
    while byte < 256 {
        // The remainder is kept in the upper seven bits: the polynomial 0x09 is 0x12 there.
        let mut crc = byte as u8;
        let mut bit = 0;
        while bit < 8 {
            crc = (crc << 1) ^ if crc >> 7 == 1 { 0x12 } else { 0 };
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut k = 1;
    while k < STEP {
        let mut byte = 0;
        while byte < 256 {
            tables[k][byte] = tables[0][tables[k - 1][byte] as usize];
            byte += 1;
        }
        k += 1;
    }
    tables
}

/// CRC-7 as the MMC protocol has it.
pub(super) fn crc7(data: &[u8]) -> u8 {
    let (chunks, rest) = data.as_chunks::<STEP>();
    let mut crc = 0;
    for chunk in chunks {
        let mut next = TABLES[STEP - 1][usize::from(crc ^ chunk[0])];
        for (at, &byte) in chunk.iter().enumerate().skip(1) {
            next ^= TABLES[STEP - 1 - at][usize::from(byte)];
        }
        crc = next;
    }
    for &byte in rest {
        crc = TABLES[0][usize::from(crc ^ byte)];
    }
    crc >> 1
}
