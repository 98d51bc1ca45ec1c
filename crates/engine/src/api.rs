//! The boundary between the loops and the engines.
//!
//! A loop hands an engine [`Io`] records and gets results back by slot number. Results are bytes
//! moved, or `-errno`; a short transfer is a short count, and the loop asks for the rest with
//! [`Io::rest`]. Between `queue` and the hand-out of its result a slot's buffer belongs to the
//! engine: [`Engine::slot_mut`] panics for such a slot if the kernel may be using it.

use crate::cmdprio::CmdPrio;
use crate::offload::Serve;
use option::OptionSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use sys::file::File;
use sys::pages::Pool;
use units::Ddir;

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Io {
    /// Buffer and identity: the result comes back under this number.
    pub slot: u32,
    /// Index into [`Setup::files`].
    pub file: u16,
    /// What to do. For [`Ddir::SyncFileRange`] offset and length name the range (length 0
    /// reaches to the end of the file); the other syncs ignore them.
    pub ddir: Ddir,
    /// Where in the file, bytes.
    pub offset: u64,
    /// How much, bytes.
    pub len: u32,
    /// Where in the slot's buffer the data starts, bytes; not 0 only after a short transfer.
    pub at: u32,
}

impl Io {
    /// A request for a whole buffer.
    #[inline]
    pub fn new(slot: u32, file: u16, ddir: Ddir, offset: u64, len: u32) -> Io {
        Io {
            slot,
            file,
            ddir,
            offset,
            len,
            at: 0,
        }
    }

    /// What is left to do after `done` bytes.
    #[inline]
    pub fn rest(self, done: u32) -> Io {
        debug_assert!(done <= self.len);
        Io {
            offset: self.offset + u64::from(done),
            len: self.len - done,
            at: self.at + done,
            ..self
        }
    }
}

/// What became of a request that was queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queued {
    /// It has completed: bytes, or `-errno`.
    Done(i32),
    /// It waits for [`Engine::commit`].
    Staged,
    /// It was not taken: commit or reap first, then queue it again. From an engine that serves
    /// requests inside `queue`: nothing has happened yet, look for orders and queue it again.
    Full,
    /// It is over in a way that [`Engine::aside`] tells.
    Aside,
}

/// What became of a request that the loops should not account for in the usual way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aside {
    /// All of it is done, and there was nothing to time.
    Untimed,
    /// It is done, and the engine has timed it.
    Timed {
        /// Bytes, or `-errno`. 0 is no error.
        result: i32,
        /// How long it took, nanoseconds.
        ns: u64,
    },
    /// It was not done, but now it can be: what is measured begins here. Queue it again.
    Begin,
    /// It was not done, and no request will be any more: the job ends here, successfully.
    End,
}

/// What an engine that works on the names of its targets expects to find there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByName {
    /// Files of the job's sizes.
    Files,
    /// Nothing, or files.
    NewFiles,
    /// Nothing, or directories.
    Directories,
}

/// What an engine can do; the loops and the planner are chosen by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// Requests are served in the caller's context: the issue stamp is taken before `queue` and
    /// there is no submission latency.
    pub sync: bool,
    /// Although `sync`, requests are staged, and one commit serves adjacent ones together.
    pub gathers: bool,
    /// Behaves as `sync` if the queue depth is 1.
    pub sync_at_depth_one: bool,
    /// Needs no files to be made or opened, and no disk.
    pub diskless: bool,
    /// Keeps no data, so that there is nothing to verify.
    pub fake: bool,
    /// Opens no target before the run, but works on their names. Each is operated on once; only
    /// that is timed.
    pub by_name: Option<ByName>,
    /// Changes its targets even where the job only reads.
    pub alters: bool,
    /// Its requests are no I/O: they count and take time, but move nothing, and only time ends
    /// the job.
    pub no_io: bool,
    /// Works on the character devices of NVMe namespaces, and on nothing else.
    pub namespaces: bool,
    /// Its rates are reported in bits.
    pub bits: bool,
    /// Takes [`Ddir::Trim`].
    pub trims: bool,
    /// Takes sync requests beside others in flight; else they complete inside `queue`, which
    /// answers [`Queued::Full`] while anything is staged.
    pub queued_syncs: bool,
    /// Needs files to have their full size before the run.
    pub fixed_size: bool,
    /// Can write atomically (`RWF_ATOMIC`).
    pub atomic: bool,
    /// A job can have one for each request in flight, in a thread of its own.
    pub offloads: bool,
}

impl Caps {
    /// Everything off: the start of each engine's declaration.
    pub const NONE: Caps = Caps {
        sync: false,
        gathers: false,
        sync_at_depth_one: false,
        diskless: false,
        fake: false,
        by_name: None,
        alters: false,
        no_io: false,
        namespaces: false,
        bits: false,
        trims: false,
        queued_syncs: false,
        fixed_size: false,
        atomic: false,
        offloads: false,
    };

    /// Whether stamps and reports treat the engine as synchronous at this queue depth.
    pub const fn sync_at(&self, depth: u32) -> bool {
        self.sync || (self.sync_at_depth_one && depth == 1)
    }

    /// Whether every `queue` answers [`Queued::Done`] at this depth, so that the synchronous
    /// loop can drive the engine.
    pub const fn inline_at(&self, depth: u32) -> bool {
        self.sync_at(depth) && !self.gathers
    }
}

/// What an engine starts from.
#[derive(Debug)]
pub struct Setup<'a, O> {
    /// The engine's own options.
    pub options: &'a O,
    /// Most requests between `queue` and result at any time; slots are below this.
    pub depth: u32,
    /// The open files requests refer to; empty for a diskless engine. Files that are written to
    /// are open for reading too, which `mmap` needs.
    pub files: Vec<File>,
    /// The buffers, at least `depth` slots. Slots may hold data to be written.
    pub pool: Pool,
    /// The files were opened with `O_DIRECT`.
    pub direct: bool,
    /// Writes must not be torn (`RWF_ATOMIC`).
    pub atomic: bool,
    /// The job reads.
    pub reads: bool,
    /// The job writes.
    pub writes: bool,
    /// The job's offsets are random.
    pub random: bool,
    /// Smallest request the job makes, bytes.
    pub min_len: u32,
    /// I/O priority of each request, as `sys::process::io_priority` encodes it; 0: the thread's.
    pub priority: u16,
    /// Flag bits for [`Ddir::SyncFileRange`].
    pub sync_range_flags: u32,
    /// What else is known about the job.
    pub job: Job<'a>,
}

/// Facts about a job for engines that do more than read and write open files.
#[derive(Clone, Debug, Default)]
pub struct Job<'a> {
    /// Its name.
    pub name: &'a str,
    /// Which clone of it this is, from 0.
    pub clone: u32,
    /// When it ends, nanoseconds after it starts to measure; 0: when its requests are done.
    pub runtime_ns: u64,
    /// The end of the region that requests reach into, bytes.
    pub end: u64,
    /// The targets, one for each file number of requests.
    pub targets: Vec<Target>,
    /// What is written will be checked.
    pub verifies: bool,
    /// How many workers are yet to end, without those of engines whose requests are no I/O.
    pub io_workers: Arc<AtomicU32>,
}

/// One target of a job.
#[derive(Clone, Debug)]
pub struct Target {
    /// Where it is.
    pub path: Arc<PathBuf>,
    /// How much of it requests reach, bytes.
    pub length: u64,
}

impl<O> Setup<'_, O> {
    /// A setup with nothing special: for tests and self-checks.
    pub fn plain(options: &O, depth: u32, files: Vec<File>, pool: Pool) -> Setup<'_, O> {
        Setup {
            options,
            depth,
            files,
            pool,
            direct: false,
            atomic: false,
            reads: true,
            writes: true,
            random: false,
            min_len: 4096,
            priority: 0,
            sync_range_flags: 0,
            job: Job::default(),
        }
    }
}

option::options! {
    /// No options of its own.
    pub struct NoOptions {}
}

/// Why an engine could not start, as one line for the user.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The kernel refused something.
    #[error("{engine}: {what}: {source}")]
    Kernel {
        /// Engine name.
        engine: &'static str,
        /// What was attempted, and what to look at.
        what: String,
        /// The kernel's answer.
        #[source]
        source: io::Error,
    },
    /// The options or the job ask for something this engine cannot do.
    #[error("{engine}: {what}")]
    Unsupported {
        /// Engine name.
        engine: &'static str,
        /// What, and what to do instead.
        what: String,
    },
}

impl EngineError {
    /// The errno behind the error, if the kernel gave one.
    pub fn errno(&self) -> Option<i32> {
        match self {
            EngineError::Kernel { source, .. } => source.raw_os_error(),
            EngineError::Unsupported { .. } => None,
        }
    }
}

/// A way to reach a device. One value belongs to one worker and stays on its thread, unless the
/// engine [`offloads`](Caps::offloads).
pub trait Engine: Sized {
    /// The engine's own options.
    type Options: OptionSet + std::fmt::Debug;
    /// Name as `ioengine=` takes it.
    const NAME: &'static str;
    /// Further names for the same engine.
    const ALIASES: &'static [&'static str] = &[];
    /// One line for `--enghelp`.
    const HELP: &'static str;
    /// What it can do.
    const CAPS: Caps;
    /// [`times`](Engine::times) tells when requests were issued and done.
    const TIMED: bool = false;

    /// Takes files and buffers. Called on the worker's own thread.
    fn start(setup: Setup<'_, Self::Options>) -> Result<Self, EngineError>;

    /// Takes one request. Panics if the slot or file does not exist or the range leaves the slot.
    fn queue(&mut self, io: Io) -> Queued;

    /// Submits everything staged and waits until at least `min` results can be reaped (or as many
    /// as are in flight, if that is less), in one system call where the kernel allows. Returns how
    /// many requests were submitted. `commit(0)` submits only; a loop that polls calls `wait(0)`
    /// before it reaps.
    ///
    /// This and the next two do nothing by themselves, which suits engines that serve every
    /// request inside `queue`.
    #[allow(unused_variables)]
    #[inline]
    fn commit(&mut self, min: u32) -> io::Result<u32> {
        Ok(0)
    }

    /// Waits as [`commit`](Engine::commit) does, but submits nothing. `wait(0)` only gives the
    /// kernel a chance to post what is ready. No system call is made if enough is ready.
    #[allow(unused_variables)]
    #[inline]
    fn wait(&mut self, min: u32) -> io::Result<()> {
        Ok(())
    }

    /// Hands out at most `max` results (slot; bytes or `-errno`) without waiting, and returns how
    /// many it handed out.
    #[allow(unused_variables)]
    #[inline]
    fn reap(&mut self, max: u32, done: impl FnMut(u32, i32)) -> u32 {
        0
    }

    /// The bytes of a slot. Panics while the kernel may be writing to it.
    fn slot(&self, slot: u32) -> &[u8];

    /// The bytes of a slot, writable. Panics while the kernel may be using it.
    fn slot_mut(&mut self, slot: u32) -> &mut [u8];

    /// The open files.
    fn files(&self) -> &[File];

    /// What became of the request for which `queue` has just answered [`Queued::Aside`].
    fn aside(&mut self) -> Aside {
        unreachable!("{} never answers so", Self::NAME)
    }

    /// Which requests get which priority, by the engine's options.
    ///
    /// # Errors
    /// Options that exclude each other or cannot be understood.
    fn priorities(_options: &Self::Options) -> Result<Option<CmdPrio>, EngineError> {
        Ok(None)
    }

    /// The I/O priority of the requests that follow; called only where
    /// [`priorities`](Engine::priorities) asks for it.
    fn set_priority(&mut self, _priority: u16) {}

    /// Where requests for this file number go, for messages.
    fn path(&self, file: u16) -> Option<&Path> {
        self.files().get(usize::from(file)).map(File::path)
    }

    /// What the normal report says about a job before it starts.
    fn opening(_options: &Self::Options, _job: &Job<'_>) -> Vec<String> {
        Vec::new()
    }

    /// Messages that were lost before they could be read.
    fn dropped(&self) -> u64 {
        0
    }

    /// When the request whose result was handed out last for this slot was issued and done,
    /// nanoseconds of the monotonic clock; called only with [`TIMED`](Engine::TIMED).
    fn times(&self, _slot: u32) -> (u64, u64) {
        (0, 0)
    }

    /// Why the last request of this slot failed, where its error number does not tell all.
    fn reason(&self, _slot: u32) -> Option<&str> {
        None
    }

    /// The engine, of depth one, for a thread of its own; only where it
    /// [`offloads`](Caps::offloads).
    fn into_server(self) -> Option<Box<dyn Serve>> {
        None
    }

    /// Ends the threads that the engine has made, and tells what they have used. No request
    /// follows.
    fn helpers(&mut self) -> sys::process::Usage {
        sys::process::Usage::default()
    }
}
