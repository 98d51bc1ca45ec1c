//! Failures of a worker in words.

use engine::Io;
use result::Failure;
use std::path::Path;

/// errno of data that is not what was written.
pub const EILSEQ: i32 = 84;
/// Place of a failed verification; what was wrong with each block has been told by then.
pub const VERIFY: &str = "verify";
/// errno of an I/O that took too long.
pub const ETIMEDOUT: i32 = 110;

/// The system's text for an errno, without Rust's suffix.
pub fn errno_text(errno: i32) -> String {
    let text = std::io::Error::from_raw_os_error(errno).to_string();
    match text.find(" (os error") {
        Some(at) => text[..at].to_owned(),
        None => text,
    }
}

/// A request that failed.
pub fn io_error(path: Option<&Path>, io: &Io, errno: i32) -> Failure {
    let name = path.map_or_else(|| "(no file)".into(), |path| path.display().to_string());
    let message = format!(
        "io_u error on file {name}: {}: {} offset={}, buflen={}",
        errno_text(errno),
        io.ddir.name(),
        io.offset,
        io.len
    );
    Failure::new(errno, "io_u error", message)
}

/// Waiting for completions failed.
pub fn reap_error(errno: i32) -> Failure {
    Failure::new(
        errno,
        "get_events",
        format!("waiting for completions: {}", errno_text(errno)),
    )
}

/// A step around the I/O failed.
#[track_caller]
pub fn step(what: impl AsRef<str>, error: &std::io::Error) -> Failure {
    let errno = error.raw_os_error().unwrap_or(crate::hot::EIO);
    let what = what.as_ref();
    Failure::new(errno, what, format!("{what}: {}", errno_text(errno)))
}
