//! Synchronous transfers: one request, one system call, result as the engines want it.
//!
//! All results are bytes moved, or `-errno`. Nothing here is unsafe: slices go straight to
//! rustix.

use crate::file::File;
use crate::outcome;
use rustix::fs::SeekFrom;
use rustix::io::ReadWriteFlags;
use std::io::{IoSlice, IoSliceMut};

/// `RWF_HIPRI`: poll for the completion.
pub const RWF_HIPRI: u32 = 0x01;
/// `RWF_NOWAIT`: fail with `EAGAIN` instead of blocking.
pub const RWF_NOWAIT: u32 = 0x08;
/// `RWF_ATOMIC`: the write must not be torn.
pub const RWF_ATOMIC: u32 = 0x40;
/// `RWF_DONTCACHE`: drop the pages from the cache after use.
pub const RWF_DONTCACHE: u32 = 0x80;

/// `pread`.
#[inline]
pub fn pread(file: &File, buffer: &mut [u8], offset: u64) -> i32 {
    outcome(rustix::io::pread(file, buffer, offset))
}

/// `pwrite`.
#[inline]
pub fn pwrite(file: &File, buffer: &[u8], offset: u64) -> i32 {
    outcome(rustix::io::pwrite(file, buffer, offset))
}

/// `read` at the file's position.
#[inline]
pub fn read(file: &File, buffer: &mut [u8]) -> i32 {
    outcome(rustix::io::read(file, buffer))
}

/// `write` at the file's position.
#[inline]
pub fn write(file: &File, buffer: &[u8]) -> i32 {
    outcome(rustix::io::write(file, buffer))
}

/// Moves the file's position to `offset`; 0 or `-errno`.
#[inline]
pub fn seek(file: &File, offset: u64) -> i32 {
    outcome(rustix::fs::seek(file, SeekFrom::Start(offset)).map(|_| 0))
}

/// `preadv` with one buffer.
#[inline]
pub fn preadv(file: &File, buffer: &mut [u8], offset: u64) -> i32 {
    outcome(rustix::io::preadv(
        file,
        &mut [IoSliceMut::new(buffer)],
        offset,
    ))
}

/// `pwritev` with one buffer.
#[inline]
pub fn pwritev(file: &File, buffer: &[u8], offset: u64) -> i32 {
    outcome(rustix::io::pwritev(file, &[IoSlice::new(buffer)], offset))
}

/// `preadv2` with one buffer and `RWF_` flags.
#[inline]
pub fn preadv2(file: &File, buffer: &mut [u8], offset: u64, flags: u32) -> i32 {
    let flags = ReadWriteFlags::from_bits_retain(flags);
    outcome(rustix::io::preadv2(
        file,
        &mut [IoSliceMut::new(buffer)],
        offset,
        flags,
    ))
}

/// `pwritev2` with one buffer and `RWF_` flags.
#[inline]
pub fn pwritev2(file: &File, buffer: &[u8], offset: u64, flags: u32) -> i32 {
    let flags = ReadWriteFlags::from_bits_retain(flags);
    outcome(rustix::io::pwritev2(
        file,
        &[IoSlice::new(buffer)],
        offset,
        flags,
    ))
}
