//! What was printed, so that it can be kept: the text is all that MLC promises.

use crate::history;
use result::{Run, import};
use std::io;
use std::sync::{Mutex, PoisonError};

/// Everything printed so far.
static PAPER: Mutex<String> = Mutex::new(String::new());

/// Writes and flushes.
///
/// # Errors
/// `BrokenPipe` when the reader has gone.
pub fn put(text: &str) -> io::Result<()> {
    let mut paper = PAPER.lock().unwrap_or_else(PoisonError::into_inner);
    paper.push_str(text);
    crate::out::put(text)
}

/// Keeps what was printed as a run, read as any other text of MLC is.
///
/// # Errors
/// When the history cannot be written.
pub fn keep(words: &[String]) -> anyhow::Result<()> {
    let paper = PAPER.lock().unwrap_or_else(PoisonError::into_inner);
    let now = std::time::SystemTime::now();
    let since = now
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    for found in import::read("mlc", &paper).runs {
        history::keep(&Run {
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            finished_ms: since.as_millis() as u64,
            command: Some(history::command("mlc", words)),
            host: history::machine(),
            ..found
        })?;
    }
    Ok(())
}
