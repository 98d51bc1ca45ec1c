//! Linux asynchronous I/O (`io_submit`, `io_getevents`) with the buffers and files it uses.
//!
//! Invariants:
//! - A [`Context`] owns its buffers, control blocks, iovecs and files. None of them moves, is
//!   freed or is touched while `busy[slot]`, which holds from staging to hand-out.
//! - At most one request per slot, hence at most `slots` events outstanding: the event array has
//!   room for all of them.
//! - Addresses in control blocks come from the pool's checked accessor.
//! - `io_destroy` waits for requests in flight; it is called before the buffers are unmapped.
//! - The kernel maps the completion ring at the address that serves as the context's id and keeps
//!   it until `io_destroy`. Its head is ours alone to advance; indices read from it are checked
//!   against its size.

use crate::file::File;
use crate::pages::Pool;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicU32, Ordering};

/// `struct iocb` on little-endian machines.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Iocb {
    data: u64,
    key: u32,
    rw_flags: u32,
    opcode: u16,
    priority: i16,
    fd: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    event_fd: u32,
}

/// `struct io_event`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Event {
    data: u64,
    object: u64,
    result: i64,
    result2: i64,
}

/// `struct aio_ring`, the start of the kernel's completion ring. Events follow it.
#[repr(C)]
struct RingHeader {
    id: u32,
    events: u32,
    head: AtomicU32,
    tail: AtomicU32,
    magic: u32,
    compat: u32,
    incompat: u32,
    header_bytes: u32,
}

const RING_MAGIC: u32 = 0xa10a_10a1;
const PREAD: u16 = 0;
const PWRITE: u16 = 1;
const PREADV: u16 = 7;
const PWRITEV: u16 = 8;
const FLAG_PRIORITY: u32 = 1 << 1;

/// What is wanted of a context.
#[derive(Clone, Copy, Debug, Default)]
pub struct Config {
    /// Take completions from the kernel's ring without a system call where possible.
    pub userspace_reap: bool,
    /// Use `preadv` and `pwritev` requests.
    pub vectored: bool,
    /// `RWF_` flags of each read.
    pub read_flags: u32,
    /// `RWF_` flags of each write.
    pub write_flags: u32,
    /// I/O priority of each request; 0: the thread's.
    pub priority: u16,
}

/// A read or write.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// Index into the context's files.
    pub file: u16,
    /// True: slot to file.
    pub write: bool,
    /// Bytes from the start of the file.
    pub offset: u64,
    /// Bytes from the start of the slot.
    pub at: u32,
    /// Bytes.
    pub len: u32,
}

/// See the module.
pub struct Context {
    id: u64,
    pool: Pool,
    files: Vec<File>,
    fds: Box<[i32]>,
    iocbs: Box<[Iocb]>,
    iovecs: Box<[libc::iovec]>,
    busy: Box<[bool]>,
    /// Control blocks in submission order; `staged` of them are valid.
    queue: Box<[*mut Iocb]>,
    staged: usize,
    in_flight: u32,
    /// Completions; `next..end` are yet to be handed out.
    events: Box<[Event]>,
    next: usize,
    end: usize,
    config: Config,
}

// SAFETY: the pointers of `queue` and `iovecs` lead into boxes that the context owns and into the
// pool, which is `Send`; the kernel's context belongs to the process.
unsafe impl Send for Context {}

impl Context {
    /// Makes a context with room for one request per slot of `pool`. `EAGAIN`: the system's limit
    /// (`/proc/sys/fs/aio-max-nr`) is reached; `ENOSYS`: the kernel has no such calls.
    pub fn new(pool: Pool, files: Vec<File>, config: Config) -> io::Result<Context> {
        let slots = pool.slots() as usize;
        let mut id = 0u64;
        // SAFETY: the kernel writes the id to a local that is 0, as it asks.
        let rc = unsafe { libc::syscall(libc::SYS_io_setup, slots as libc::c_ulong, &mut id) };
        if rc < 0 {
            return Err(io::Error::last_os_error());
        }
        let none = libc::iovec {
            iov_base: std::ptr::null_mut(),
            iov_len: 0,
        };
        Ok(Context {
            id,
            pool,
            fds: files.iter().map(|file| file.as_fd().as_raw_fd()).collect(),
            files,
            iocbs: vec![Iocb::default(); slots].into(),
            iovecs: vec![none; slots].into(),
            busy: vec![false; slots].into(),
            queue: vec![std::ptr::null_mut(); slots].into(),
            staged: 0,
            in_flight: 0,
            events: vec![Event::default(); slots].into(),
            next: 0,
            end: 0,
            config,
        })
    }

    /// Stages a request. Panics if the slot or file does not exist, the slot has a request
    /// already, or the range leaves the slot.
    #[inline]
    pub fn stage(&mut self, slot: u32, transfer: Transfer) {
        let index = slot as usize;
        assert!(!self.busy[index], "slot {slot} has a request already");
        let Transfer {
            file,
            write,
            offset,
            at,
            len,
        } = transfer;
        let fd = self.fds[usize::from(file)];
        let address = self.pool.part_address(slot, at, len).as_ptr();
        let (mut buffer, mut bytes) = (address as u64, u64::from(len));
        let (mut opcode, rw_flags) = match write {
            false => (PREAD, self.config.read_flags),
            true => (PWRITE, self.config.write_flags),
        };
        if self.config.vectored {
            self.iovecs[index] = libc::iovec {
                iov_base: address.cast(),
                iov_len: len as usize,
            };
            (buffer, bytes) = (&raw const self.iovecs[index] as u64, 1);
            opcode = if write { PWRITEV } else { PREADV };
        }
        let priority = self.config.priority;
        self.iocbs[index] = Iocb {
            data: u64::from(slot),
            rw_flags,
            opcode,
            priority: priority as i16,
            fd: fd as u32,
            buffer,
            bytes,
            offset: offset as i64,
            flags: if priority != 0 { FLAG_PRIORITY } else { 0 },
            ..Iocb::default()
        };
        self.busy[index] = true;
        self.queue[self.staged] = &raw mut self.iocbs[index];
        self.staged += 1;
    }

    /// The I/O priority of the requests that follow; 0: the thread's.
    #[inline]
    pub fn set_priority(&mut self, priority: u16) {
        self.config.priority = priority;
    }

    /// Requests that wait for [`submit`](Context::submit).
    #[inline]
    pub fn staged(&self) -> u32 {
        self.staged as u32
    }

    /// Requests staged, in flight, or not yet handed out.
    pub fn pending(&self) -> u32 {
        self.staged as u32 + self.in_flight + (self.end - self.next) as u32
    }

    /// Submits everything staged and returns how many requests that was. A request that the
    /// kernel will not even take completes with its error.
    pub fn submit(&mut self) -> io::Result<u32> {
        let total = self.staged;
        let mut first = 0;
        while first < total {
            let left = &self.queue[first..total];
            // SAFETY: each pointer names a control block of ours that is busy, so it and what it
            // refers to stay put until its event.
            let rc =
                unsafe { libc::syscall(libc::SYS_io_submit, self.id, left.len(), left.as_ptr()) };
            if rc > 0 {
                first += rc as usize;
                self.in_flight += rc as u32;
                continue;
            }
            let error = io::Error::last_os_error();
            match error.raw_os_error() {
                Some(libc::EINTR) => {}
                Some(libc::EAGAIN) => crate::clock::sleep_ns(1000),
                Some(errno) if rc < 0 => {
                    let slot = self.slot_of_queued(first);
                    self.post(slot, -errno);
                    first += 1;
                }
                _ => {}
            }
        }
        self.staged = 0;
        Ok(total as u32)
    }

    /// Which slot's control block stands at `position` of the queue: addresses only, nothing is
    /// read through the pointer.
    fn slot_of_queued(&self, position: usize) -> u64 {
        let bytes = self.queue[position] as usize - self.iocbs.as_ptr() as usize;
        (bytes / size_of::<Iocb>()) as u64
    }

    fn post(&mut self, slot: u64, result: i32) {
        self.compact();
        self.events[self.end] = Event {
            data: slot,
            result: i64::from(result),
            ..Event::default()
        };
        self.end += 1;
    }

    /// Waits until at least `min` completions can be reaped, or as many as are in flight if that
    /// is less. `wait(0)` collects what there is if nothing can be reaped.
    #[inline]
    pub fn wait(&mut self, min: u32) -> io::Result<()> {
        let min = min.min(self.ready() + self.in_flight);
        loop {
            if self.in_flight == 0 || self.ready() >= min.max(1) {
                return Ok(());
            }
            self.compact();
            if self.config.userspace_reap && self.peek() > 0 && self.ready() >= min {
                return Ok(());
            }
            let missing = i64::from(min.saturating_sub(self.ready()));
            if self.config.userspace_reap && missing == 0 && self.ring_is_known() {
                return Ok(());
            }
            let room = &mut self.events[self.end..];
            let (space, into) = (room.len(), room.as_mut_ptr());
            let forever = std::ptr::null::<libc::timespec>();
            // SAFETY: the kernel writes at most `space` events to the free part of the array.
            let rc = unsafe {
                libc::syscall(
                    libc::SYS_io_getevents,
                    self.id,
                    missing,
                    space,
                    into,
                    forever,
                )
            };
            match rc {
                0.. => self.taken(rc as usize),
                _ => {
                    let error = io::Error::last_os_error();
                    if error.raw_os_error() != Some(libc::EINTR) {
                        return Err(error);
                    }
                }
            }
            if min == 0 {
                return Ok(());
            }
        }
    }

    fn taken(&mut self, events: usize) {
        self.end += events;
        self.in_flight -= events as u32;
    }

    /// Moves what is left to the front, so that all free room is behind it.
    fn compact(&mut self) {
        if self.next > 0 {
            self.events.copy_within(self.next..self.end, 0);
            self.end -= self.next;
            self.next = 0;
        }
    }

    fn header(&self) -> &RingHeader {
        // SAFETY: the id is the address of the kernel's ring, which stays mapped until
        // `io_destroy`; the fields the kernel changes are atomic.
        unsafe { &*(self.id as *const RingHeader) }
    }

    fn ring_is_known(&self) -> bool {
        let header = self.header();
        header.magic == RING_MAGIC && header.incompat == 0
    }

    /// Takes completions straight from the kernel's ring; returns how many.
    fn peek(&mut self) -> usize {
        if !self.ring_is_known() {
            return 0;
        }
        let header = self.header();
        let size = header.events;
        let (mut head, tail) = (
            header.head.load(Ordering::Relaxed),
            header.tail.load(Ordering::Acquire),
        );
        if head >= size || tail >= size {
            return 0;
        }
        let first = (self.id as usize + header.header_bytes as usize) as *const Event;
        let mut count = 0;
        while head != tail && self.end + count < self.events.len() {
            // SAFETY: `head < size`, the number of events that follow the header, and the
            // kernel published this one before it moved the tail.
            self.events[self.end + count] = unsafe { first.add(head as usize).read() };
            head = if head + 1 == size { 0 } else { head + 1 };
            count += 1;
        }
        self.header().head.store(head, Ordering::Release);
        self.taken(count);
        count
    }

    /// Completions that can be reaped.
    #[inline]
    pub fn ready(&self) -> u32 {
        (self.end - self.next) as u32
    }

    /// Hands out at most `max` completions: slot, and bytes or `-errno`.
    #[inline]
    pub fn reap(&mut self, max: u32, mut done: impl FnMut(u32, i32)) -> u32 {
        let count = self.ready().min(max);
        for _ in 0..count {
            let event = self.events[self.next];
            self.next += 1;
            self.busy[event.data as usize] = false;
            done(event.data as u32, event.result as i32);
        }
        count
    }

    /// The bytes of a slot. Panics while it has a request.
    #[inline]
    pub fn slot(&self, slot: u32) -> &[u8] {
        assert!(
            !self.busy[slot as usize],
            "slot {slot} belongs to the kernel"
        );
        self.pool.slot(slot)
    }

    /// The bytes of a slot, writable. Panics while it has a request.
    #[inline]
    pub fn slot_mut(&mut self, slot: u32) -> &mut [u8] {
        assert!(
            !self.busy[slot as usize],
            "slot {slot} belongs to the kernel"
        );
        self.pool.slot_mut(slot)
    }

    /// The files requests refer to.
    pub fn files(&self) -> &[File] {
        &self.files
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the id is live. The call returns when nothing is in flight, so the fields,
        // which are dropped afterwards, are no longer used by the kernel.
        let _ = unsafe { libc::syscall(libc::SYS_io_destroy, self.id) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::Open;
    use crate::pages::Kind;

    fn context(path: &std::path::Path, config: Config) -> Context {
        let how = Open {
            read: true,
            write: true,
            create: true,
            ..Open::default()
        };
        let file = File::open(path, how).unwrap();
        let pool = Pool::new(4, 4096, 4096, &Kind::Anonymous, false).unwrap();
        Context::new(pool, vec![file], config).unwrap()
    }

    #[test]
    fn both_ways_of_reaping_give_every_slot_once() {
        let dir = tempfile::tempdir().unwrap();
        for (userspace_reap, vectored) in [(false, false), (true, false), (true, true)] {
            let config = Config {
                userspace_reap,
                vectored,
                ..Config::default()
            };
            let mut context = context(&dir.path().join("f"), config);
            for round in 0..50u64 {
                for slot in 0..4 {
                    context.slot_mut(slot).fill(slot as u8 ^ round as u8);
                    let offset = u64::from(slot) * 4096;
                    let whole = Transfer {
                        file: 0,
                        write: true,
                        offset,
                        at: 0,
                        len: 4096,
                    };
                    context.stage(slot, whole);
                }
                assert_eq!(context.submit().unwrap(), 4);
                let mut seen = [0; 4];
                while seen.iter().sum::<i32>() < 4 * 4096 {
                    context.wait((round % 2) as u32).unwrap();
                    context.reap(3, |slot, result| seen[slot as usize] += result);
                }
                assert_eq!((seen, context.pending()), ([4096; 4], 0));
            }
        }
    }

    #[test]
    fn a_refused_request_completes_with_its_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, [1u8; 100]).unwrap();
        let how = Open {
            read: true,
            ..Open::default()
        };
        let file = File::open(&path, how).unwrap();
        let pool = Pool::new(3, 4096, 4096, &Kind::Anonymous, false).unwrap();
        let mut context = Context::new(pool, vec![file], Config::default()).unwrap();
        for (slot, write) in [(0, false), (1, true), (2, false)] {
            context.stage(
                slot,
                Transfer {
                    file: 0,
                    write,
                    offset: 0,
                    at: 0,
                    len: 4096,
                },
            );
        }
        context.submit().unwrap();
        context.wait(3).unwrap();
        let mut results = [0; 3];
        context.reap(9, |slot, result| results[slot as usize] = result);
        assert_eq!(results, [100, -libc::EBADF, 100]);
    }
}
