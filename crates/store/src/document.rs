//! A document as bytes: JSON, deflated, because a histogram is mostly small numbers.

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use result::{Run, Source};
use sha2::{Digest, Sha256};
use std::io::{Read, Write};
use std::path::Path;

/// Format of our own documents in [`Source`].
pub const OWN: &str = "assay";

/// The bytes, and the digest by which the same run is known again.
pub fn packed(run: &Run) -> std::io::Result<(Vec<u8>, String)> {
    let json = serde_json::to_vec(run)?;
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&json)?;
    Ok((encoder.finish()?, identity(run, &json)?))
}

/// Digest of the document. The directory that a report was read from does not make it another.
fn identity(run: &Run, json: &[u8]) -> std::io::Result<String> {
    let Some(source) = &run.source else {
        return Ok(digest(json));
    };
    if source.format == OWN {
        // A document of ours that went through a file is still the same run.
        let run = Run {
            source: None,
            ..run.clone()
        };
        return Ok(digest(&serde_json::to_vec(&run)?));
    }
    match Path::new(&source.file).file_name() {
        Some(name) if *name != *source.file => {
            let mut run = run.clone();
            let file = name.to_string_lossy().into_owned();
            run.source = Some(Box::new(Source {
                file,
                ..Source::clone(source)
            }));
            Ok(digest(&serde_json::to_vec(&run)?))
        }
        _ => Ok(digest(json)),
    }
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
