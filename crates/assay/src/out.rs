//! Text for standard output, at once and without a panic when nobody reads it any more.

use std::io::{self, Write};

/// Writes and flushes.
///
/// # Errors
/// `BrokenPipe` when the reader has gone.
pub fn put(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// True for an error that means that nobody reads the output.
pub fn is_gone(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<io::Error>();
    io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
