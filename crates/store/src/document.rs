//! A document as bytes: JSON, deflated, because a histogram is mostly small numbers.

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use result::{Run, Source};
use serde::Serialize;
use serde_json::Value;
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
fn identity(run: &Run, json: &[u8]) -> serde_json::Result<String> {
    let Some(source) = &run.source else {
        return digest_of_json(json);
    };
    if source.format == OWN {
        // A document of ours that went through a file is still the same run.
        return digest_of(&Run {
            source: None,
            ..run.clone()
        });
    }
    match Path::new(&source.file).file_name() {
        Some(name) if *name != *source.file => {
            let mut run = run.clone();
            let file = name.to_string_lossy().into_owned();
            run.source = Some(Box::new(Source {
                file,
                ..Source::clone(source)
            }));
            digest_of(&run)
        }
        _ => digest_of_json(json),
    }
}

/// Digest of a value, which fields that a later version adds do not change while they say nothing.
///
/// # Errors
/// It has no JSON.
pub fn digest_of(value: &impl Serialize) -> serde_json::Result<String> {
    digest_of_json(&serde_json::to_vec(value)?)
}

fn digest_of_json(json: &[u8]) -> serde_json::Result<String> {
    let mut value: Value = serde_json::from_slice(json)?;
    leave_what_is_said(&mut value);
    Ok(digest(&serde_json::to_vec(&value)?))
}

/// Takes fields out that say nothing: what is empty, zero or false is the same as what is absent.
fn leave_what_is_said(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.values_mut().for_each(leave_what_is_said);
            fields.retain(|_, value| match value {
                Value::Null => false,
                Value::Bool(said) => *said,
                Value::Number(number) => number.as_f64() != Some(0.0),
                Value::String(text) => !text.is_empty(),
                Value::Array(list) => !list.is_empty(),
                Value::Object(fields) => !fields.is_empty(),
            });
        }
        Value::Array(list) => list.iter_mut().for_each(leave_what_is_said),
        _ => {}
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
