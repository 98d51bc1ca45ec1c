//! Synchronous transfers: one request, one system call, result as the engines want it.
//!
//! All results are bytes moved, or `-errno`.
//!
//! Invariant of the unsafe blocks (vectored transfers over several slots): every iovec was made
//! from a checked part of a pool that is borrowed for the whole call, exclusively if the kernel
//! writes to it.

use crate::file::File;
use crate::outcome;
use crate::pages::Pool;
use rustix::fs::SeekFrom;
use rustix::io::ReadWriteFlags;
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};

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

/// Part of a slot in a gathered transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The slot.
    pub slot: u32,
    /// First byte within the slot.
    pub at: u32,
    /// Bytes.
    pub len: u32,
}

/// Most parts the kernel takes in one call.
pub const MOST_PARTS: usize = 1024;

/// `readv` at the file's position into parts of slots, in order.
pub fn read_parts(file: &File, pool: &mut Pool, parts: &[Part]) -> i32 {
    with_iovecs(pool, parts, |iovecs, count| {
        // SAFETY: `count` iovecs point into `pool`, which is borrowed exclusively.
        unsafe { libc::readv(file.as_fd().as_raw_fd(), iovecs, count) }
    })
}

/// `writev` at the file's position from parts of slots, in order.
pub fn write_parts(file: &File, pool: &Pool, parts: &[Part]) -> i32 {
    with_iovecs(pool, parts, |iovecs, count| {
        // SAFETY: `count` iovecs point into `pool`, which is borrowed; the kernel only reads.
        unsafe { libc::writev(file.as_fd().as_raw_fd(), iovecs, count) }
    })
}

/// Builds the iovecs on the stack. Panics on more than [`MOST_PARTS`] parts or a part that leaves
/// its slot.
fn with_iovecs(
    pool: &Pool,
    parts: &[Part],
    call: impl FnOnce(*const libc::iovec, libc::c_int) -> isize,
) -> i32 {
    // Left uninitialised beyond the parts: clearing 16 KiB would cost more than the call.
    let mut iovecs = [const { MaybeUninit::<libc::iovec>::uninit() }; MOST_PARTS];
    let used = &mut iovecs[..parts.len()];
    for (iovec, part) in used.iter_mut().zip(parts) {
        let base = pool.part_address(part.slot, part.at, part.len);
        iovec.write(libc::iovec {
            iov_base: base.as_ptr().cast(),
            iov_len: part.len as usize,
        });
    }
    match call(used.as_ptr().cast(), parts.len() as libc::c_int) {
        -1 => -std::io::Error::last_os_error()
            .raw_os_error()
            .unwrap_or(libc::EIO),
        moved => moved as i32,
    }
}
