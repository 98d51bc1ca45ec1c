//! Text for standard output, at once and without a panic when nobody reads it any more, and files
//! that people name for reports: never a device, nor one that is also read.

use anyhow::{Context, bail};
use host::{Facts, Root};
use plan::guard;
use std::io::{self, Write};
use std::path::Path;

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

/// Looks at a place that a report is to go to.
///
/// # Errors
/// It is a block device or stands for one in use, or a mistyped name of one.
pub fn check(path: &Path) -> anyhow::Result<()> {
    let facts = Facts::read(&Root::default())?;
    Ok(guard::output(&facts, path)?)
}

/// Writes a file that was named by its user.
///
/// # Errors
/// As for [`check`], and what the system says.
pub fn file(path: &Path, text: impl AsRef<[u8]>) -> anyhow::Result<()> {
    check(path)?;
    std::fs::write(path, text).with_context(|| path.display().to_string())
}

/// Refuses to write over what is read.
///
/// # Errors
/// `path` and one of `inputs` are one file.
pub fn check_apart<'a>(
    path: &Path,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> anyhow::Result<()> {
    for input in inputs {
        if guard::is_same_file(path, input) {
            bail!("{} is read, and cannot be written too", path.display());
        }
    }
    Ok(())
}
