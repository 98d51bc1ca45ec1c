//! One log file: rows collect in memory and are written in large pieces, whole rows at a time.

use super::packed::{push_sample, write_chunk};
use super::row::{Columns, Row, push_row};
use crate::failure;
use result::Failure;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Text is written once this much has collected, bytes.
const FULL_BYTES: usize = 128 << 10;

/// A log file and the text that is not written yet.
#[derive(Debug)]
pub struct Sheet {
    path: PathBuf,
    file: File,
    text: Vec<u8>,
    /// Rows are binary samples, compressed in pieces of this many bytes.
    packed: Option<usize>,
    /// The first error; later text is thrown away.
    error: Option<io::Error>,
}

impl Sheet {
    /// Opens the file, emptied unless `append`.
    pub fn open(path: &Path, append: bool) -> Result<Sheet, Failure> {
        let mut how = OpenOptions::new();
        if append {
            how.append(true);
        } else {
            how.write(true).truncate(true);
        }
        let file = how
            .create(true)
            .open(path)
            .map_err(|error| failure::step(format!("open log {}", path.display()), &error))?;
        Ok(Sheet {
            path: path.into(),
            file,
            text: Vec::new(),
            packed: None,
            error: None,
        })
    }

    /// The same file with compressed rows, in pieces of `chunk_bytes` samples.
    pub fn packed(self, chunk_bytes: usize) -> Sheet {
        Sheet {
            packed: Some(chunk_bytes.max(1)),
            ..self
        }
    }

    /// Adds a row.
    pub fn put(&mut self, columns: Columns, row: &Row) {
        let Some(chunk) = self.packed else {
            return push_row(self.text(), columns, row);
        };
        if self.text.len() >= chunk {
            self.write();
        }
        push_sample(&mut self.text, columns, row);
    }

    /// Where the next row goes.
    pub fn text(&mut self) -> &mut Vec<u8> {
        if self.text.len() >= FULL_BYTES {
            self.write();
        }
        &mut self.text
    }

    fn write(&mut self) {
        if self.error.is_none() && !self.text.is_empty() {
            let written = match self.packed {
                Some(_) => write_chunk(&self.text, &mut self.file),
                None => self.file.write_all(&self.text),
            };
            self.error = written.err();
        }
        self.text.clear();
    }

    /// Writes the rest; what went wrong if anything did.
    pub fn finish(mut self) -> Option<Failure> {
        self.write();
        let error = self.error?;
        Some(failure::step(
            format!("write log {}", self.path.display()),
            &error,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_appended_or_replace_what_was_there() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a_bw.log");
        for (append, expected) in [(false, "x\n"), (true, "x\nx\n"), (false, "x\n")] {
            let mut sheet = Sheet::open(&path, append).unwrap();
            sheet.text().extend_from_slice(b"x\n");
            assert!(sheet.finish().is_none());
            assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
        }
    }

    #[test]
    fn failures_name_the_file() {
        let missing = Sheet::open(Path::new("/nowhere/a_bw.log"), false).unwrap_err();
        assert_eq!(missing.errno, 2);
        let mut full = Sheet::open(Path::new("/dev/full"), true).unwrap();
        full.text().extend_from_slice(&vec![b'x'; FULL_BYTES]);
        full.text().extend_from_slice(b"y\n");
        let failure = full.finish().unwrap();
        assert_eq!(failure.errno, 28);
        assert!(failure.message.contains("/dev/full"));
    }
}
