//! Compressed logs (`log_store_compressed`): fio's binary samples, chunk by chunk as zlib
//! streams, so that either program's `--inflate-log` reads what the other stored.
//!
//! A sample is, in the machine's byte order: time (ms), value, direction with two flags,
//! priority and two bytes of padding, block size, and the offset if the flag says so.

use super::row::{Columns, Row, push_row};
use flate2::Compression;
use flate2::bufread::ZlibDecoder;
use flate2::write::ZlibEncoder;
use std::io::{self, BufRead, Read, Write};

const SAMPLE: usize = 32;
const SAMPLE_WITH_OFFSET: usize = 40;
const HAS_OFFSET: u32 = 1 << 31;
const HAS_PRIORITY: u32 = 1 << 30;
/// Text is written out once this much has collected, bytes.
const TEXT_BYTES: usize = 64 << 10;

/// Appends a sample to `samples`.
pub fn push_sample(samples: &mut Vec<u8>, columns: Columns, row: &Row) {
    let flag = |on: bool, bit: u32| if on { bit } else { 0 };
    let ddir = u32::from(row.ddir)
        | flag(columns.offset, HAS_OFFSET)
        | flag(columns.priority, HAS_PRIORITY);
    samples.extend(row.time_ms.to_ne_bytes());
    samples.extend(row.value.to_ne_bytes());
    samples.extend(ddir.to_ne_bytes());
    samples.extend(row.priority.to_ne_bytes());
    samples.extend([0; 2]);
    samples.extend(u64::from(row.len).to_ne_bytes());
    if columns.offset {
        samples.extend(row.offset.to_ne_bytes());
    }
}

/// Writes samples as one chunk.
pub fn write_chunk(samples: &[u8], out: &mut impl Write) -> io::Result<()> {
    let mut encoder = ZlibEncoder::new(out, Compression::default());
    encoder.write_all(samples)?;
    encoder.finish().map(drop)
}

/// Writes the rows of a compressed log as text.
///
/// # Errors
/// The input is no such log or is cut short, or the output cannot be written.
pub fn inflate(mut input: impl BufRead, out: &mut impl Write) -> io::Result<()> {
    let mut text = Vec::new();
    while !input.fill_buf()?.is_empty() {
        let mut chunk = ZlibDecoder::new(&mut input);
        while inflate_sample(&mut chunk, &mut text)? {
            if text.len() >= TEXT_BYTES {
                out.write_all(&text)?;
                text.clear();
            }
        }
    }
    out.write_all(&text)
}

/// Appends the row of the next sample; false at the end of the chunk.
fn inflate_sample(chunk: &mut impl Read, text: &mut Vec<u8>) -> io::Result<bool> {
    let mut raw = [0; SAMPLE_WITH_OFFSET];
    if chunk.read(&mut raw[..1])? == 0 {
        return Ok(false);
    }
    chunk.read_exact(&mut raw[1..SAMPLE])?;
    let word = |at: usize| u64::from_ne_bytes(raw[at..at + 8].try_into().expect("eight bytes"));
    let ddir = u32::from_ne_bytes(raw[16..20].try_into().expect("four bytes"));
    let columns = Columns {
        offset: ddir & HAS_OFFSET != 0,
        priority: ddir & HAS_PRIORITY != 0,
        ..Columns::default()
    };
    let mut row = Row {
        time_ms: word(0),
        value: word(8),
        ddir: (ddir & 0xff) as u8,
        priority: u16::from_ne_bytes([raw[20], raw[21]]),
        len: word(24) as u32,
        ..Row::default()
    };
    if columns.offset {
        chunk.read_exact(&mut raw[SAMPLE..])?;
        let offset = raw[SAMPLE..].try_into().expect("eight bytes");
        row.offset = u64::from_ne_bytes(offset);
    }
    push_row(text, columns, &row);
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_told_again() {
        for (offset, priority) in [(false, false), (true, false), (false, true), (true, true)] {
            let columns = Columns {
                offset,
                priority,
                ..Columns::default()
            };
            let (mut file, mut wanted) = (Vec::new(), Vec::new());
            for chunk in 0..3u64 {
                let mut samples = Vec::new();
                for n in 0..5000 {
                    let row = Row {
                        time_ms: n,
                        value: n * chunk,
                        ddir: (n % 3) as u8,
                        len: 4096,
                        offset: n << 12,
                        priority: 0x2004,
                        ..Row::default()
                    };
                    push_row(&mut wanted, columns, &row);
                    push_sample(&mut samples, columns, &row);
                }
                write_chunk(&samples, &mut file).unwrap();
            }
            let mut text = Vec::new();
            inflate(&file[..], &mut text).unwrap();
            assert!(text == wanted);
            assert!(inflate(&file[..file.len() - 9], &mut text).is_err());
        }
        assert!(inflate(&b"1, 2, 0, 4096, 0\n"[..], &mut Vec::new()).is_err());
    }
}
