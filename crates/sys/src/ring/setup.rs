//! Making a ring: what is wanted, and what the kernel grants of it.
//!
//! Invariant of the unsafe block: the kernel gets a pointer to one local value that outlives the
//! call.

use io_uring::IoUring;
use std::io;
use std::os::fd::RawFd;

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
    pub(super) const NEWEST_FIRST: [Level; 6] = [
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

/// Sets a ring up with as many features as the kernel takes.
pub(super) fn set_up(slots: u32, config: &Config) -> io::Result<(IoUring, Level)> {
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

/// Registers the ring `fd` for this thread, which saves a look-up per system call (5.18); returns
/// its index.
pub(super) fn register_ring(fd: RawFd) -> io::Result<u32> {
    update_ring(
        fd,
        REGISTER_RING_FDS,
        Update {
            offset: u32::MAX,
            reserved: 0,
            data: fd as u64,
        },
    )
}

/// Undoes [`register_ring`].
pub(super) fn unregister_ring(fd: RawFd, index: u32) -> io::Result<u32> {
    update_ring(
        fd,
        UNREGISTER_RING_FDS,
        Update {
            offset: index,
            reserved: 0,
            data: 0,
        },
    )
}

/// `struct io_uring_rsrc_update`.
#[repr(C)]
struct Update {
    offset: u32,
    reserved: u32,
    data: u64,
}

fn update_ring(fd: RawFd, operation: u32, mut update: Update) -> io::Result<u32> {
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
