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
const REGISTER_RING_FDS: u32 = 20;
const UNREGISTER_RING_FDS: u32 = 21;

/// Kernel features, newest first; each is dropped in turn if the kernel refuses the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Only what Linux 5.1 had.
    Plain,
    /// `CQSIZE` (5.5).
    CqSize,
    /// `SUBMIT_ALL` (5.18).
    SubmitAll,
    /// `COOP_TASKRUN` (5.19).
    CoopTaskrun,
    /// `SINGLE_ISSUER` and `DEFER_TASKRUN` (6.1).
    DeferTaskrun,
    /// `NO_SQARRAY` (6.6).
    NoSqArray,
}

impl Level {
    const NEWEST_FIRST: [Level; 6] = [
        Level::NoSqArray,
        Level::DeferTaskrun,
        Level::CoopTaskrun,
        Level::SubmitAll,
        Level::CqSize,
        Level::Plain,
    ];
}

/// What is wanted of a ring.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Newest features to try.
    pub newest: Level,
    /// Poll for completions (`IOPOLL`).
    pub poll: bool,
    /// Let a kernel thread submit (`SQPOLL`).
    pub submit_thread: bool,
    /// CPU of that thread.
    pub submit_thread_cpu: Option<u32>,
    /// Register the slots as fixed buffers.
    pub fixed_buffers: Want,
    /// Register the files.
    pub fixed_files: Want,
    /// Use vectored requests where buffers are not fixed.
    pub vectored: Option<bool>,
    /// `RWF_` flags of each read.
    pub read_flags: u32,
    /// `RWF_` flags of each write.
    pub write_flags: u32,
    /// I/O priority of each read and write; 0: the thread's.
    pub priority: u16,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            newest: Level::NoSqArray,
            poll: false,
            submit_thread: false,
            submit_thread_cpu: None,
            fixed_buffers: Want::IfPossible,
            fixed_files: Want::IfPossible,
            vectored: None,
            read_flags: 0,
            write_flags: 0,
            priority: 0,
        }
    }
}

/// How much a feature is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Not at all.
    No,
    /// Without it, go on.
    IfPossible,
    /// Without it, fail.
    Must,
}

/// Where starting a ring failed.
#[derive(Debug)]
pub enum Stage {
    /// `io_uring_setup`.
    Setup,
    /// Registering buffers.
    Buffers,
    /// Registering files.
    Files,
}

/// Where data goes or comes from: `len` bytes at `offset` of a file, and the slot's bytes from
/// `at` on.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// Index into the ring's files.
    pub file: u16,
    /// Bytes from the start of the file.
    pub offset: u64,
    /// Bytes from the start of the slot.
    pub at: u32,
    /// Bytes.
    pub len: u32,
}

/// One request.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// From the file into the slot.
    Read(Span),
    /// From the slot to the file.
    Write(Span),
    /// `fsync` of a file.
    Sync(u16),
    /// `fdatasync` of a file.
    DataSync(u16),
    /// `sync_file_range` with its flag bits; length 0 reaches to the end, `at` is ignored.
    SyncRange(Span, u32),
    /// Nothing: goes through the ring and comes back.
    Nop,
}

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
        let (ring, level) = set_up(pool.slots(), config).map_err(|error| (Stage::Setup, error))?;
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

    /// Registers the ring's own descriptor, which saves a look-up per system call (5.18).
    fn register_self(&mut self) {
        let fd = self.ring.as_raw_fd();
        if let Ok(index) = register_ring_fd(fd, REGISTER_RING_FDS, u32::MAX) {
            self.enter_fd = index as RawFd;
            self.registered_ring = true;
        }
    }

    /// Puts a request into the submission queue. `punt` has a worker thread execute it.
    ///
    /// Panics if the slot or file does not exist, the slot has a request already, or the range
    /// leaves the slot.
    #[inline]
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

    #[inline]
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

    #[inline]
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
            let (fd, index) = (self.ring.as_raw_fd(), self.enter_fd as u32);
            let _ = register_ring_fd(fd, UNREGISTER_RING_FDS, index);
        }
        // SAFETY: dropped once, here, and not used afterwards.
        unsafe { ManuallyDrop::drop(&mut self.ring) };
        if idle {
            // SAFETY: as above; nothing is in flight, so the kernel is done with the slots.
            unsafe { ManuallyDrop::drop(&mut self.pool) };
        }
    }
}

/// Sets a ring up with as many features as the kernel takes.
fn set_up(slots: u32, config: &Config) -> io::Result<(IoUring, Level)> {
    let mut refused = io::Error::from_raw_os_error(libc::EINVAL);
    for level in Level::NEWEST_FIRST
        .into_iter()
        .filter(|&level| level <= config.newest)
    {
        match builder(slots, config, level).build(slots) {
            Ok(ring) => return Ok((ring, level)),
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => refused = error,
            Err(error) => return Err(error),
        }
    }
    Err(refused)
}

fn builder(slots: u32, config: &Config, level: Level) -> io_uring::Builder {
    let mut builder = IoUring::builder();
    if config.poll {
        builder.setup_iopoll();
    }
    if config.submit_thread {
        builder.setup_sqpoll(0);
        if let Some(cpu) = config.submit_thread_cpu {
            builder.setup_sqpoll_cpu(cpu);
        }
    }
    if level >= Level::CqSize {
        builder.setup_cqsize(slots.next_power_of_two());
    }
    if level >= Level::SubmitAll {
        builder.setup_submit_all();
    }
    // The next two are about task work, which a submitting thread does not use.
    if level >= Level::CoopTaskrun && !config.submit_thread {
        builder.setup_coop_taskrun();
    }
    if level >= Level::DeferTaskrun {
        builder.setup_single_issuer();
        if !config.submit_thread {
            builder.setup_defer_taskrun();
        }
    }
    if level >= Level::NoSqArray {
        builder.setup_no_sqarray();
    }
    builder
}

fn slot_iovec(pool: &Pool, slot: u32) -> libc::iovec {
    let bytes = pool.slot_bytes();
    libc::iovec {
        iov_base: pool.part_address(slot, 0, 0).as_ptr().cast(),
        iov_len: bytes,
    }
}

/// `struct io_uring_rsrc_update`.
#[repr(C)]
struct Update {
    offset: u32,
    reserved: u32,
    data: u64,
}

/// Registers (index `u32::MAX`: any) or unregisters the ring `fd` for this thread.
fn register_ring_fd(fd: RawFd, operation: u32, index: u32) -> io::Result<u32> {
    let data = if operation == REGISTER_RING_FDS {
        fd as u64
    } else {
        0
    };
    let mut update = Update {
        offset: index,
        reserved: 0,
        data,
    };
    // SAFETY: the kernel reads and writes one `Update`, which outlives the call.
    let rc = unsafe {
        libc::syscall(
            libc::SYS_io_uring_register,
            fd,
            operation,
            &raw mut update,
            1u32,
        )
    };
    if rc < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(update.offset)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::Kind;

    fn pool(slots: u32) -> Pool {
        Pool::new(slots, 4096, 4096, &Kind::Anonymous, false).unwrap()
    }

    /// `None`: the machine has no io_uring, which the caller reports.
    fn ring(config: &Config) -> Option<Ring> {
        match Ring::new(pool(8), vec![], config) {
            Ok(ring) => Some(ring),
            Err((Stage::Setup, error)) => {
                eprintln!("SKIP io_uring: {error}");
                None
            }
            Err((stage, error)) => panic!("{stage:?}: {error}"),
        }
    }

    #[test]
    fn every_level_carries_requests() {
        for newest in Level::NEWEST_FIRST {
            let Some(mut ring) = ring(&Config {
                newest,
                ..Config::default()
            }) else {
                return;
            };
            assert!(ring.level() <= newest);
            for round in 0..3 {
                for slot in 0..8 {
                    ring.push(slot, Op::Nop, false);
                }
                assert_eq!(ring.submit(round).unwrap(), 8);
                ring.wait(100).unwrap();
                let mut seen = [0; 8];
                assert_eq!(
                    ring.reap(3, |slot, result| seen[slot as usize] += 1 + result),
                    3
                );
                assert_eq!(
                    ring.reap(9, |slot, result| seen[slot as usize] += 1 + result),
                    5
                );
                assert_eq!((seen, ring.pending()), ([1; 8], 0));
            }
        }
    }

    #[test]
    fn a_submitting_thread_carries_requests() {
        let config = Config {
            submit_thread: true,
            ..Config::default()
        };
        let Some(mut ring) = ring(&config) else {
            return;
        };
        for slot in [3, 1, 4] {
            ring.push(slot, Op::Nop, false);
        }
        assert_eq!(ring.submit(3).unwrap(), 3);
        let mut slots = vec![];
        ring.reap(8, |slot, _| slots.push(slot));
        slots.sort();
        assert_eq!(slots, [1, 3, 4]);
        ring.push(0, Op::Nop, false);
    }

    #[test]
    #[should_panic(expected = "belongs to the kernel")]
    fn a_slot_with_a_request_cannot_be_touched() {
        let Some(mut ring) = ring(&Config::default()) else {
            panic!("belongs to the kernel: not tested without io_uring")
        };
        ring.push(2, Op::Nop, false);
        ring.slot_mut(2);
    }

    #[test]
    #[should_panic(expected = "leaves its slot")]
    fn a_range_beyond_the_slot_is_refused() {
        let file = crate::file::Open {
            read: true,
            ..Default::default()
        };
        let file = File::open("/dev/zero".as_ref(), file).unwrap();
        let Ok(mut ring) = Ring::new(pool(1), vec![file], &Config::default()) else {
            panic!("leaves its slot: not tested without io_uring")
        };
        ring.push(
            0,
            Op::Read(Span {
                file: 0,
                offset: 0,
                at: 1,
                len: 4096,
            }),
            false,
        );
    }
}
