//! Requests that engines without a queue for them serve on the spot: syncs and trims.

use crate::api::Io;
use sys::file::File;
use units::Ddir;

/// Trims or syncs; `Done`'s value: the trimmed length, 0 for a sync, or `-errno`. Data requests
/// are the engine's own matter.
#[cold]
pub(crate) fn serve(file: &File, io: &Io, sync_range_flags: u32) -> i32 {
    let result = match io.ddir {
        Ddir::Trim => file.trim(io.offset, u64::from(io.len)),
        Ddir::Sync => file.sync(),
        Ddir::DataSync => file.sync_data(),
        Ddir::SyncFileRange => file.sync_range(io.offset, u64::from(io.len), sync_range_flags),
        Ddir::Read | Ddir::Write => unreachable!("data requests are not served here"),
    };
    match result {
        Ok(()) if io.ddir == Ddir::Trim => io.len as i32,
        Ok(()) => 0,
        Err(error) => -error.raw_os_error().unwrap_or(EIO),
    }
}

/// `EIO`, for an error that carries no number of its own.
const EIO: i32 = 5;
