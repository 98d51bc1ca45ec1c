//! A document as bytes: JSON, deflated, because a histogram is mostly small numbers.

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use result::Run;
use sha2::{Digest, Sha256};
use std::io::{Read, Write};

/// The bytes, and the digest by which the same run is known again.
pub fn packed(run: &Run) -> std::io::Result<(Vec<u8>, String)> {
    let json = serde_json::to_vec(run)?;
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&json)?;
    Ok((encoder.finish()?, digest(&json)))
}

/// The document of such bytes.
pub fn unpacked(bytes: &[u8]) -> std::io::Result<Run> {
    let mut json = Vec::new();
    ZlibDecoder::new(bytes).read_to_end(&mut json)?;
    Ok(serde_json::from_slice(&json)?)
}

/// Half of SHA-256 in hexadecimal: short enough to read, long enough to be unique.
pub fn digest(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
