//! POSIX asynchronous I/O (`aio_read`, `aio_suspend`) with the buffers and files it uses.
//!
//! Invariants:
//! - A [`Context`] owns its buffers, control blocks and files. While `busy[slot]`, which holds
//!   from submission to hand-out, the C library's threads may write to the slot's control block
//!   and buffer: neither is moved, freed or touched but through the library's own functions.
//! - Control blocks live behind raw pointers only (`UnsafeCell`), never behind references.
//! - `in_flight` names each busy slot whose request the library took, once.
//! - `aio_return` is called once for each of them, after `aio_error` said that it is over.

use crate::file::File;
use crate::pages::Pool;
use std::cell::UnsafeCell;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// File to slot.
    Read,
    /// Slot to file.
    Write,
    /// Flush data and metadata of the file.
    Sync,
    /// Flush data of the file.
    DataSync,
}

/// A request.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Index into the context's files.
    pub file: u16,
    /// What to do; the syncs ignore the range.
    pub operation: Operation,
    /// Bytes from the start of the file.
    pub offset: u64,
    /// Bytes from the start of the slot.
    pub at: u32,
    /// Bytes.
    pub len: u32,
}

/// See the module.
pub struct Context {
    pool: Pool,
    files: Vec<File>,
    blocks: Box<[UnsafeCell<libc::aiocb>]>,
    busy: Box<[bool]>,
    /// Slots with the library, oldest first.
    in_flight: Vec<u32>,
    /// Requests that it did not take: slot and `-errno`.
    refused: Vec<(u32, i32)>,
    /// Room for the argument of `aio_suspend`.
    waited: Vec<*const libc::aiocb>,
}

// SAFETY: the pointers lead into boxes that the context owns and into the pool, which is `Send`;
// the library's requests belong to the process.
unsafe impl Send for Context {}

impl Context {
    /// Makes a context with room for one request per slot of `pool`.
    pub fn new(pool: Pool, files: Vec<File>) -> Context {
        let slots = pool.slots() as usize;
        // SAFETY: an aiocb is integers and pointers, for all of which zero is valid.
        let block = || UnsafeCell::new(unsafe { std::mem::zeroed::<libc::aiocb>() });
        Context {
            pool,
            files,
            blocks: (0..slots).map(|_| block()).collect(),
            busy: vec![false; slots].into(),
            in_flight: Vec::with_capacity(slots),
            refused: Vec::with_capacity(slots),
            waited: Vec::with_capacity(slots),
        }
    }

    /// Hands a request to the library. One that it refuses completes with its error. Panics if
    /// the slot or file does not exist, the slot has a request already, or the range leaves it.
    pub fn submit(&mut self, slot: u32, request: Request) {
        let index = slot as usize;
        assert!(!self.busy[index], "slot {slot} has a request already");
        let Request {
            file,
            operation,
            offset,
            at,
            len,
        } = request;
        let fd = self.files[usize::from(file)].as_fd().as_raw_fd();
        let address = self.pool.part_address(slot, at, len);
        let block = self.blocks[index].get();
        // SAFETY: the slot is not busy, so the library is done with this control block.
        unsafe {
            (*block).aio_fildes = fd;
            (*block).aio_buf = address.as_ptr().cast();
            (*block).aio_nbytes = len as usize;
            (*block).aio_offset = offset as libc::off_t;
            (*block).aio_sigevent.sigev_notify = libc::SIGEV_NONE;
        }
        self.busy[index] = true;
        // SAFETY: block and buffer stay put and untouched until the slot is no longer busy; the
        // buffer is `len` bytes long, as `part_address` has checked.
        let rc = unsafe {
            match operation {
                Operation::Read => libc::aio_read(block),
                Operation::Write => libc::aio_write(block),
                Operation::Sync => libc::aio_fsync(libc::O_SYNC, block),
                Operation::DataSync => libc::aio_fsync(libc::O_DSYNC, block),
            }
        };
        if rc == 0 {
            self.in_flight.push(slot);
        } else {
            self.refused.push((slot, -errno()));
        }
    }

    /// Requests submitted and not yet handed out.
    pub fn pending(&self) -> u32 {
        (self.in_flight.len() + self.refused.len()) as u32
    }

    /// The state of a request that the library took: `EINPROGRESS`, 0 or its error.
    fn state(&self, slot: u32) -> i32 {
        // SAFETY: the control block is initialised and was submitted; the library synchronises.
        unsafe { libc::aio_error(self.blocks[slot as usize].get()) }
    }

    /// Waits until at least `min` requests can be handed out, or all of them if that is less.
    pub fn wait(&mut self, min: u32) -> io::Result<()> {
        let min = (min as usize).min(self.pending() as usize);
        loop {
            self.waited.clear();
            for &slot in &self.in_flight {
                if self.state(slot) == libc::EINPROGRESS {
                    self.waited.push(self.blocks[slot as usize].get());
                }
            }
            if self.pending() as usize - self.waited.len() >= min {
                return Ok(());
            }
            // SAFETY: the list names control blocks of ours that are in flight and stay put.
            let rc = unsafe {
                libc::aio_suspend(
                    self.waited.as_ptr(),
                    self.waited.len() as libc::c_int,
                    std::ptr::null(),
                )
            };
            if rc != 0 && errno() != libc::EINTR {
                return Err(io::Error::last_os_error());
            }
        }
    }

    /// Hands out at most `max` finished requests: slot, and bytes or `-errno`.
    pub fn reap(&mut self, max: u32, mut done: impl FnMut(u32, i32)) -> u32 {
        let mut count = 0;
        while count < max
            && let Some((slot, result)) = self.refused.pop()
        {
            self.busy[slot as usize] = false;
            done(slot, result);
            count += 1;
        }
        let mut kept = 0;
        for at in 0..self.in_flight.len() {
            let slot = self.in_flight[at];
            let state = if count < max {
                self.state(slot)
            } else {
                libc::EINPROGRESS
            };
            if state == libc::EINPROGRESS {
                self.in_flight[kept] = slot;
                kept += 1;
                continue;
            }
            // SAFETY: the request is over and this is the only call for it.
            let moved = unsafe { libc::aio_return(self.blocks[slot as usize].get()) };
            self.busy[slot as usize] = false;
            done(slot, if state == 0 { moved as i32 } else { -state });
            count += 1;
        }
        self.in_flight.truncate(kept);
        count
    }

    /// The bytes of a slot. Panics while it has a request.
    #[inline]
    pub fn slot(&self, slot: u32) -> &[u8] {
        assert!(!self.busy[slot as usize], "slot {slot} is in use");
        self.pool.slot(slot)
    }

    /// The bytes of a slot, writable. Panics while it has a request.
    #[inline]
    pub fn slot_mut(&mut self, slot: u32) -> &mut [u8] {
        assert!(!self.busy[slot as usize], "slot {slot} is in use");
        self.pool.slot_mut(slot)
    }

    /// The files requests refer to.
    pub fn files(&self) -> &[File] {
        &self.files
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        for file in &self.files {
            // SAFETY: integers and a null pointer: all requests of this descriptor. What can no
            // longer be cancelled is waited for below.
            unsafe { libc::aio_cancel(file.as_fd().as_raw_fd(), std::ptr::null_mut()) };
        }
        while self.pending() > 0 {
            if self.wait(1).is_err() {
                // The only other way to keep the library off freed memory.
                std::process::abort();
            }
            self.reap(u32::MAX, |_, _| {});
        }
    }
}

fn errno() -> i32 {
    io::Error::last_os_error()
        .raw_os_error()
        .unwrap_or(libc::EIO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::Open;
    use crate::pages::Kind;

    fn context(path: &std::path::Path, write: bool) -> Context {
        std::fs::write(path, vec![7u8; 16 * 512]).unwrap();
        let how = Open {
            read: true,
            write,
            ..Open::default()
        };
        let file = File::open(path, how).unwrap();
        let pool = Pool::new(4, 512, 512, &Kind::Anonymous, false).unwrap();
        Context::new(pool, vec![file])
    }

    fn request(operation: Operation, block: u64) -> Request {
        Request {
            file: 0,
            operation,
            offset: block * 512,
            at: 0,
            len: 512,
        }
    }

    #[test]
    fn requests_come_back_once_with_their_result() {
        let dir = tempfile::tempdir().unwrap();
        let mut context = context(&dir.path().join("f"), true);
        context.slot_mut(0).fill(1);
        context.submit(0, request(Operation::Write, 3));
        context.submit(1, request(Operation::Read, 15));
        context.submit(2, request(Operation::Read, 16));
        context.submit(3, request(Operation::DataSync, 0));
        context.wait(4).unwrap();
        let mut results = [99; 4];
        assert_eq!(
            context.reap(1, |slot, result| results[slot as usize] = result),
            1
        );
        assert_eq!(
            context.reap(9, |slot, result| results[slot as usize] = result),
            3
        );
        assert_eq!(results, [512, 512, 0, 0]);
        assert_eq!((context.pending(), context.slot(1)[511]), (0, 7));
        drop(context);
        assert_eq!(std::fs::read(dir.path().join("f")).unwrap()[3 * 512], 1);
    }

    #[test]
    fn errors_come_back_as_results() {
        let dir = tempfile::tempdir().unwrap();
        let mut context = context(&dir.path().join("f"), false);
        context.submit(0, request(Operation::Write, 0));
        context.wait(9).unwrap();
        let mut seen = vec![];
        context.reap(9, |slot, result| seen.push((slot, result)));
        assert_eq!(seen, [(0, -libc::EBADF)]);
    }

    #[test]
    #[should_panic(expected = "slot 0 is in use")]
    fn a_busy_slot_is_not_lent() {
        let dir = tempfile::tempdir().unwrap();
        let mut context = context(&dir.path().join("f"), true);
        context.submit(0, request(Operation::Read, 0));
        context.slot(0);
    }
}
