//! Where the personality writes: standard output or the `--output` file.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// The report stream. Errors of a closed pipe end the output silently, like other Unix tools.
pub enum Sink {
    /// Standard output.
    Stdout,
    /// The `--output` file.
    File(File),
}

impl Sink {
    /// Opens the `--output` file, or standard output when there is none.
    pub fn open(path: Option<&Path>) -> io::Result<Sink> {
        match path {
            Some(path) => Ok(Sink::File(File::create(path)?)),
            None => Ok(Sink::Stdout),
        }
    }

    /// Writes and flushes.
    pub fn write(&mut self, text: &str) {
        let written = match self {
            Sink::Stdout => {
                let mut out = io::stdout().lock();
                out.write_all(text.as_bytes()).and_then(|()| out.flush())
            }
            Sink::File(file) => file.write_all(text.as_bytes()),
        };
        if let Err(error) = written
            && error.kind() != io::ErrorKind::BrokenPipe
        {
            eprintln!("assay: cannot write the report: {error}");
        }
    }
}
