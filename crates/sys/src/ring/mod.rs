//! An io_uring with the buffers and files its requests use.
//!
//! Invariants:
//! - A [`Ring`] owns its buffers, its iovecs and its files, and none of them moves or goes away
//!   while `busy[slot]` says that the kernel may be using them. `busy` is set before a request
//!   enters the submission queue and cleared when its completion leaves the completion queue.
//!   A slot has at most one request, so at most `slots` entries are ever in either queue.
//! - Addresses in requests come from the pool's checked accessor, hence lie inside the slot.
//! - Dropping the ring first waits until nothing is in flight. If the kernel will not let it
//!   wait, the buffers are leaked instead of unmapped.
//! - The ring stays on the thread that made it (`SINGLE_ISSUER`); it is neither `Send` nor
//!   `Sync`.

mod commands;
mod op;
mod setup;
#[cfg(test)]
mod tests;

pub use commands::CommandRing;
pub use op::{Op, Span};
pub use setup::{Config, Level, Stage, Want};

use crate::file::File;
use crate::pages::Pool;
use io_uring::{IoUring, opcode, squeue, types};
use std::io;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd, RawFd};

const ENTER_GETEVENTS: u32 = 1;
const ENTER_SQ_WAKEUP: u32 = 1 << 1;
const ENTER_REGISTERED_RING: u32 = 1 << 4;

/// How reads and writes are put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Fixed,
    Plain,
    Vectored,
}

/// See the module.
pub struct Ring {
    ring: ManuallyDrop<IoUring>,
    pool: ManuallyDrop<Pool>,
    iovecs: Box<[libc::iovec]>,
    files: Vec<File>,
    /// What requests put into `fd`: descriptors, or indices if the files are registered.
    fds: Box<[RawFd]>,
    busy: Box<[bool]>,
    /// In the submission queue, not yet submitted.
    staged: u32,
    /// Submitted, completion not yet reaped.
    in_flight: u32,
    enter_fd: RawFd,
    registered_ring: bool,
    submit_thread: bool,
    form: Form,
    file_flags: squeue::Flags,
    read_flags: u32,
    write_flags: u32,
    priority: u16,
    level: Level,
    _thread: PhantomData<*const ()>,
}

impl Ring {
    /// Makes a ring with room for one request per slot of `pool`.
    ///
    /// At the setup stage `ENOSYS` means that the kernel has no io_uring, `EPERM` that it is
    /// switched off, `EINVAL` that the kernel cannot do what [`Config`] insists on.
    pub fn new(pool: Pool, files: Vec<File>, config: &Config) -> Result<Ring, (Stage, io::Error)> {
        let (ring, level) =
            setup::set_up(pool.slots(), config).map_err(|error| (Stage::Setup, error))?;
        let enter_fd = ring.as_raw_fd();
        let mut ring = Ring {
            ring: ManuallyDrop::new(ring),
            iovecs: (0..pool.slots())
                .map(|slot| slot_iovec(&pool, slot))
                .collect(),
            busy: vec![false; pool.slots() as usize].into(),
            pool: ManuallyDrop::new(pool),
            fds: files.iter().map(|file| file.as_fd().as_raw_fd()).collect(),
            files,
            staged: 0,
            in_flight: 0,
            enter_fd,
            registered_ring: false,
            submit_thread: config.submit_thread,
            form: Form::Plain,
            file_flags: squeue::Flags::empty(),
            read_flags: config.read_flags,
            write_flags: config.write_flags,
            priority: config.priority,
            level,
            _thread: PhantomData,
        };
        ring.choose_form(config)
            .map_err(|error| (Stage::Buffers, error))?;
        ring.register_files(config.fixed_files)
            .map_err(|error| (Stage::Files, error))?;
        ring.register_self();
        Ok(ring)
    }

    fn choose_form(&mut self, config: &Config) -> io::Result<()> {
        // Asking for vectored or plain requests by name rules out the silent use of fixed ones.
        let silent = config.fixed_buffers == Want::IfPossible && config.vectored.is_none();
        if config.fixed_buffers == Want::Must || silent {
            // SAFETY: the iovecs are the pool's slots, which outlive the ring (see Drop).
            match unsafe { self.ring.submitter().register_buffers(&self.iovecs) } {
                Ok(()) => {
                    self.form = Form::Fixed;
                    return Ok(());
                }
                Err(error) if config.fixed_buffers == Want::Must => return Err(error),
                Err(_) => {}
            }
        }
        let vectored = config.vectored.unwrap_or_else(|| {
            let mut probe = io_uring::Probe::new();
            let told = self.ring.submitter().register_probe(&mut probe).is_ok();
            let plain = probe.is_supported(opcode::Read::CODE);
            !(told && plain && probe.is_supported(opcode::Write::CODE))
        });
        self.form = if vectored {
            Form::Vectored
        } else {
            Form::Plain
        };
        Ok(())
    }

    fn register_files(&mut self, want: Want) -> io::Result<()> {
        if want == Want::No || self.files.is_empty() {
            return Ok(());
        }
        match self.ring.submitter().register_files(&self.fds) {
            Ok(()) => {
                self.file_flags = squeue::Flags::FIXED_FILE;
                self.fds = (0..).take(self.files.len()).collect();
                Ok(())
            }
            Err(error) if want == Want::Must => Err(error),
            Err(_) => Ok(()),
        }
    }

    fn register_self(&mut self) {
        let fd = self.ring.as_raw_fd();
        if let Ok(index) = setup::register_ring(fd) {
            self.enter_fd = index as RawFd;
            self.registered_ring = true;
        }
    }

    /// Puts a request into the submission queue. `punt` has a worker thread execute it.
    ///
    /// Panics if the slot or file does not exist, the slot has a request already, or the range
    /// leaves the slot.
    #[inline(always)]
    pub fn push(&mut self, slot: u32, op: Op, punt: bool) {
        assert!(
            !self.busy[slot as usize],
            "slot {slot} has a request already"
        );
        let mut entry = match op {
            Op::Read(span) => self.read(slot, span),
            Op::Write(span) => self.write(slot, span),
            other => self.rare(other),
        };
        entry = entry.user_data(u64::from(slot));
        if punt {
            entry = entry.flags(squeue::Flags::ASYNC);
        }
        self.busy[slot as usize] = true;
        // SAFETY: the entry's addresses are inside the slot or in `iovecs[slot]`, both of which
        // stay put and untouched while `busy[slot]` (first invariant).
        let pushed = unsafe { self.ring.submission().push(&entry) };
        pushed.expect("the submission queue has an entry for each slot");
        self.staged += 1;
    }

    /// The I/O priority of the reads and writes that follow; 0: the thread's.
    #[inline]
    pub fn set_priority(&mut self, priority: u16) {
        self.priority = priority;
    }

    #[inline(always)]
    fn read(&mut self, slot: u32, span: Span) -> squeue::Entry {
        let Span {
            file,
            offset,
            at,
            len,
        } = span;
        let (fd, flags) = (
            types::Fd(self.fds[usize::from(file)]),
            self.read_flags as i32,
        );
        let address = self.pool.part_address(slot, at, len).as_ptr();
        let entry = match self.form {
            Form::Fixed => opcode::ReadFixed::new(fd, address, len, slot as u16)
                .offset(offset)
                .ioprio(self.priority)
                .rw_flags(flags)
                .build(),
            Form::Plain => opcode::Read::new(fd, address, len)
                .offset(offset)
                .ioprio(self.priority)
                .rw_flags(flags)
                .build(),
            Form::Vectored => opcode::Readv::new(fd, self.aim(slot, address, len), 1)
                .offset(offset)
                .ioprio(self.priority)
                .rw_flags(flags)
                .build(),
        };
        entry.flags(self.file_flags)
    }

    #[inline(always)]
    fn write(&mut self, slot: u32, span: Span) -> squeue::Entry {
        let Span {
            file,
            offset,
            at,
            len,
        } = span;
        let (fd, flags) = (
            types::Fd(self.fds[usize::from(file)]),
            self.write_flags as i32,
        );
        let address = self.pool.part_address(slot, at, len).as_ptr();
        let entry = match self.form {
            Form::Fixed => opcode::WriteFixed::new(fd, address, len, slot as u16)
                .offset(offset)
                .ioprio(self.priority)
                .rw_flags(flags)
                .build(),
            Form::Plain => opcode::Write::new(fd, address, len)
                .offset(offset)
                .ioprio(self.priority)
                .rw_flags(flags)
                .build(),
            Form::Vectored => opcode::Writev::new(fd, self.aim(slot, address, len), 1)
                .offset(offset)
                .ioprio(self.priority)
                .rw_flags(flags)
                .build(),
        };
        entry.flags(self.file_flags)
    }

    #[cold]
    fn rare(&self, op: Op) -> squeue::Entry {
        let fd = |file: u16| types::Fd(self.fds[usize::from(file)]);
        let entry = match op {
            Op::Sync(file) => opcode::Fsync::new(fd(file)).build(),
            Op::DataSync(file) => opcode::Fsync::new(fd(file))
                .flags(types::FsyncFlags::DATASYNC)
                .build(),
            Op::SyncRange(span, flags) => opcode::SyncFileRange::new(fd(span.file), span.len)
                .offset(span.offset)
                .flags(flags)
                .build(),
            Op::Nop => return opcode::Nop::new().build(),
            Op::Read(_) | Op::Write(_) => unreachable!("put by their own functions"),
        };
        entry.flags(self.file_flags)
    }

    /// Points the slot's iovec at a part of the slot.
    #[inline]
    fn aim(&mut self, slot: u32, address: *mut u8, len: u32) -> *const libc::iovec {
        let iovec = &mut self.iovecs[slot as usize];
        *iovec = libc::iovec {
            iov_base: address.cast(),
            iov_len: len as usize,
        };
        iovec
    }

    /// Submits everything in the submission queue, then waits as [`wait`](Ring::wait) does, in one
    /// system call. Returns how many requests were submitted.
    #[inline]
    pub fn submit(&mut self, min: u32) -> io::Result<u32> {
        let total = self.staged;
        if self.submit_thread {
            if total > 0 && self.ring.submission().need_wakeup() {
                self.enter(total, 0, ENTER_SQ_WAKEUP)?;
            }
            self.in_flight += total;
            self.staged = 0;
        }
        while self.staged > 0 {
            let want = min.min(self.in_flight + self.staged);
            match self.enter(self.staged, want, ENTER_GETEVENTS) {
                Ok(taken) => {
                    self.staged -= taken;
                    self.in_flight += taken;
                }
                Err(error) => pause_or_fail(error)?,
            }
        }
        if min > 0 {
            self.wait(min)?;
        }
        Ok(total)
    }

    /// Waits until at least `min` completions can be reaped, or as many as are in flight if that
    /// is less. `wait(0)` lets the kernel post what it has if nothing can be reaped.
    #[inline]
    pub fn wait(&mut self, min: u32) -> io::Result<()> {
        let min = min.min(self.in_flight);
        loop {
            let ready = self.ready();
            if ready >= min.max(1) || self.in_flight == 0 {
                return Ok(());
            }
            if self.submit_thread {
                self.spin(min)?;
            } else if let Err(error) = self.enter(0, min, ENTER_GETEVENTS) {
                pause_or_fail(error)?;
            }
            if min == 0 {
                return Ok(());
            }
        }
    }

    /// The submitting thread also posts completions: watch the queue, but see that the thread is
    /// awake and, on a machine with one CPU, gets its turn.
    fn spin(&mut self, min: u32) -> io::Result<()> {
        for _ in 0..10_000 {
            if self.ready() >= min {
                return Ok(());
            }
            std::hint::spin_loop();
        }
        if self.ring.submission().need_wakeup() {
            self.enter(0, 0, ENTER_SQ_WAKEUP)?;
        }
        rustix::thread::sched_yield();
        Ok(())
    }

    /// Completions that can be reaped.
    #[inline]
    pub fn ready(&mut self) -> u32 {
        self.ring.completion().len() as u32
    }

    /// Hands out at most `max` completions: slot, and bytes or `-errno`.
    #[inline]
    pub fn reap(&mut self, max: u32, mut done: impl FnMut(u32, i32)) -> u32 {
        let mut handed = 0;
        for completion in self.ring.completion().take(max as usize) {
            let slot = completion.user_data() as u32;
            self.busy[slot as usize] = false;
            self.in_flight -= 1;
            handed += 1;
            done(slot, completion.result());
        }
        handed
    }

    /// Requests that are staged, in flight or not yet reaped.
    pub fn pending(&self) -> u32 {
        self.staged + self.in_flight
    }

    /// Requests that wait for [`submit`](Ring::submit).
    #[inline]
    pub fn staged(&self) -> u32 {
        self.staged
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

    /// The kernel features in use.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Whether buffers and files are registered.
    pub fn registered(&self) -> (bool, bool) {
        (self.form == Form::Fixed, !self.file_flags.is_empty())
    }

    #[inline]
    fn enter(&self, submit: u32, min: u32, flags: u32) -> io::Result<u32> {
        let flags = flags
            | if self.registered_ring {
                ENTER_REGISTERED_RING
            } else {
                0
            };
        let (fd, none) = (self.enter_fd, std::ptr::null::<libc::sigset_t>());
        // SAFETY: no signal mask is passed; what the kernel reads and writes through the queues
        // is covered by the module's invariants.
        let rc = unsafe {
            libc::syscall(
                libc::SYS_io_uring_enter,
                fd,
                submit,
                min,
                flags,
                none,
                0usize,
            )
        };
        if rc < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(rc as u32)
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if self.submit_thread {
            // The kernel may have taken these without being asked.
            self.in_flight += self.staged;
        }
        let mut idle = true;
        while self.in_flight > 0 && idle {
            idle = self.wait(self.in_flight).is_ok();
            self.reap(u32::MAX, |_, _| {});
        }
        if self.registered_ring {
            let _ = setup::unregister_ring(self.ring.as_raw_fd(), self.enter_fd as u32);
        }
        // SAFETY: dropped once, here, and not used afterwards.
        unsafe { ManuallyDrop::drop(&mut self.ring) };
        if idle {
            // SAFETY: as above; nothing is in flight, so the kernel is done with the slots.
            unsafe { ManuallyDrop::drop(&mut self.pool) };
        }
    }
}

fn slot_iovec(pool: &Pool, slot: u32) -> libc::iovec {
    let bytes = pool.slot_bytes();
    libc::iovec {
        iov_base: pool.part_address(slot, 0, 0).as_ptr().cast(),
        iov_len: bytes,
    }
}

/// Interrupted or out of memory for the moment: try again. Anything else is an error.
#[cold]
fn pause_or_fail(error: io::Error) -> io::Result<()> {
    match error.raw_os_error() {
        Some(libc::EINTR) => Ok(()),
        Some(libc::EAGAIN) => {
            crate::clock::sleep_ns(1000);
            Ok(())
        }
        _ => Err(error),
    }
}
