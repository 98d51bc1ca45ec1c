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
    /// Opens the `--output` file, or standard output when there is none. What the file holds
    /// stays until [`Sink::begin`].
    pub fn open(path: Option<&Path>) -> io::Result<Sink> {
        let Some(path) = path else {
            return Ok(Sink::Stdout);
        };
        let mut how = File::options();
        how.write(true).create(true).truncate(false);
        Ok(Sink::File(how.open(path)?))
    }

    /// Empties the file, once it is known to be none that the jobs use.
    pub fn begin(&self) {
        if let Sink::File(file) = self {
            // A pipe or a terminal has nothing to cut; a file that cannot be cut is told of when
            // it is written.
            let _ = file.set_len(0);
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
