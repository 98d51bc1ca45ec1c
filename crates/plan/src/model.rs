//! The plan: numbers only, one [`Worker`] per clone, in the order of thread numbers.

mod pace;
mod process;
mod record;

use crate::group::ControlGroup;
use crate::guard::WritePermit;
use crate::layout::Layout;
use crate::replay::{Merge, Replay};
use engine::EngineKind;
use result::{LatencyTarget, Options, Reporting, SteadyMetric};
use std::path::PathBuf;
use std::sync::Arc;
use sys::file::{Durability, Hint};
use units::{Ddir, PerDdir};

pub use pace::{Flow, Limits, Pace, Search, Think};
pub use process::{ExitScope, Lifecycle, MemoryMode, Placement};
pub use record::{Clock, ErrorPolicy, Logs, Measured};

/// Everything `run` needs.
#[derive(Debug)]
pub struct Plan {
    /// Workers in order of thread number.
    pub workers: Vec<Worker>,
    /// Files to make before the run, in order; see [`layout::make`](crate::layout::make).
    pub layouts: Vec<Layout>,
    /// Traces to merge before the run.
    pub merges: Vec<Merge>,
    /// The control group that the run moves into.
    pub group: Option<ControlGroup>,
    /// CPU of a thread that keeps the time for all workers (`gtod_cpu`).
    pub clock_cpu: Option<u32>,
    /// Options that held for all jobs, for the document.
    pub global_options: Options,
    /// Remarks for people about the plan.
    pub notes: Vec<String>,
}

/// One clone of one job.
#[derive(Debug)]
pub struct Worker {
    /// Job name.
    pub name: String,
    /// `description`.
    pub description: Option<String>,
    /// Thread number, from 1, unique in the plan.
    pub number: u32,
    /// Which clone of its job this is, from 0.
    pub clone: u32,
    /// Position of the job among the jobs, from 0.
    pub job: u32,
    /// Reporting group.
    pub group: u32,
    /// Workers of one stage start together once all earlier stages have ended (`stonewall`).
    pub stage: u32,
    /// Start after the job of this name has ended.
    pub wait_for: Option<String>,
    /// `thread=1`: only changes the banner, every worker is a thread.
    pub threaded: bool,
    /// The line that announces the job.
    pub display: Description,
    /// The job's own options, for the document.
    pub options: Options,
    /// How to report it.
    pub reporting: Reporting,
    /// Engine and its private options.
    pub engine: Engine,
    /// Queue depth and batching.
    pub depth: Depth,
    /// Files and devices, in the order of the workload's file numbers.
    pub targets: Vec<Target>,
    /// How targets are opened.
    pub access: Access,
    /// What is asked of them.
    pub requests: workload::Spec,
    /// When to stop.
    pub limits: Limits,
    /// How fast to go.
    pub pace: Pace,
    /// Buffers and their content.
    pub buffers: Buffers,
    /// What is recorded.
    pub measured: Measured,
    /// Log files.
    pub logs: Logs,
    /// Which errors are survivable.
    pub errors: ErrorPolicy,
    /// Where and as whom the worker runs.
    pub placement: Placement,
    /// What happens before, between and after.
    pub lifecycle: Lifecycle,
    /// `latency_target` settings; `depth` of it is the job's iodepth.
    pub target: LatencyTarget,
    /// Verification, when the job verifies.
    pub verify: Option<Verify>,
    /// Elevators to set before the run: the kernel's file for each, and the word to write.
    pub schedulers: Vec<(PathBuf, String)>,
    /// The recording that takes the place of generated requests.
    pub replay: Option<Replay>,
    /// Steady state detection, when it is on.
    pub steady: Option<Steady>,
    /// The zones of the targets, with `zonemode=zbd`.
    pub zoned: Option<ZonedWork>,
}

/// The zones of a target.
#[derive(Debug)]
pub struct ZonedTarget {
    /// As they were when the plan was made.
    pub table: workload::zones::Table,
    /// Most zones that may be open, over all jobs; 0: any number.
    pub most_open: u32,
}

/// `zonemode=zbd`.
#[derive(Clone, Debug)]
pub struct ZonedWork {
    /// One for each target; jobs that name the same target share it.
    pub targets: Vec<Arc<ZonedTarget>>,
    /// `read_beyond_wp`.
    pub read_beyond: bool,
    /// `job_max_open_zones`.
    pub most_open: u32,
    /// `zone_reset_threshold`, a share of the region.
    pub threshold: f64,
    /// `zone_reset_frequency`, resets per write.
    pub frequency: f64,
    /// `zoneskip`.
    pub skip_bytes: u64,
    /// `recover_zbd_write_error`.
    pub recovers: bool,
}

/// When a job counts as steady, and so ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    /// What is looked at.
    pub metric: SteadyMetric,
    /// The slope of it, rather than the greatest deviation from its mean.
    pub by_slope: bool,
    /// The limit: percent, or I/Os per second, bytes per second, nanoseconds.
    pub limit: f64,
    /// The limit is in percent of the mean.
    pub percent: bool,
    /// Samples in the window, at least 2.
    pub samples: u64,
    /// Time before collecting begins.
    pub ramp_ns: u64,
    /// Time between samples.
    pub interval_ns: u64,
}

/// What the line that announces a job says besides name and group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// `rw` as fio prints it.
    pub rw: &'static str,
    /// Smallest and largest block of each direction, bytes.
    pub block: PerDdir<(u64, u64)>,
    /// `bs_is_seq_rand`: the sizes are for sequential and random requests.
    pub seq_rand: bool,
    /// Engine name.
    pub engine: &'static str,
    /// `iodepth` as asked for.
    pub iodepth: u32,
    /// Lines that the engine adds before the start.
    pub opening: Vec<String>,
}

impl Worker {
    /// Does the job ask for I/Os of this direction, by `rw` or by what it replays?
    pub fn uses(&self, ddir: Ddir) -> bool {
        let trims = |verify: &Verify| verify.trims.is_some();
        if ddir == Ddir::Trim && self.verify.as_ref().is_some_and(trims) {
            return true;
        }
        if let Some(replay) = self.replay.as_ref().filter(|_| ddir.is_data()) {
            return replay.uses[ddir];
        }
        let direction = self.requests.direction;
        match ddir {
            Ddir::Read => direction.reads(),
            Ddir::Write => direction.writes(),
            Ddir::Trim => direction.trims(),
            Ddir::Sync | Ddir::DataSync | Ddir::SyncFileRange => false,
        }
    }
}

/// Engine and its private options as given; already checked against the engine's table.
#[derive(Clone, Debug)]
pub struct Engine {
    /// Which engine.
    pub kind: EngineKind,
    /// Private options: name and value as written.
    pub options: Vec<(String, Option<String>)>,
}

/// Queue depth and batching, all at least 1 unless said otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Depth {
    /// I/Os kept in flight.
    pub iodepth: u32,
    /// Refill when this few are left (`iodepth_low`; defaults to `iodepth`).
    pub low: u32,
    /// I/Os collected before a submit.
    pub batch_submit: u32,
    /// Fewest completions a reap waits for; 0 polls.
    pub batch_complete_min: u32,
    /// Most completions a reap takes.
    pub batch_complete_max: u32,
    /// Hold I/Os that overlap one in flight.
    pub serialize_overlap: bool,
    /// When the stamps of asynchronous engines are taken.
    pub stamps: Stamps,
    /// Reap what is ready after every submission, not only when the queue is full.
    pub prompt: bool,
    /// Each request in flight has a thread of its own (`io_submit_mode=offload`).
    pub offload: bool,
}

/// When an asynchronous request counts as issued and as complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stamps {
    /// Issued after the submitting system call, complete per reap: what fio's classes mean.
    #[default]
    Fio,
    /// Issued before it, so that submitting and waiting can be one system call.
    Early,
    /// As `Fio`, but each completion has its own stamp.
    Each,
}

/// What a target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// Regular file.
    File,
    /// Block device.
    Block,
    /// Character device.
    Char,
    /// FIFO or socket, standard input or output.
    Pipe,
    /// Nothing is opened (null engine).
    None,
}

/// `lockfile`: how requests of different workers to one file exclude each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// One request at a time.
    Exclusive,
    /// Reads together, everything else alone.
    ReadWrite,
}

/// One file or device of one worker.
#[derive(Clone, Debug)]
pub struct Target {
    /// Path as opened. Clones that share a file share the allocation.
    pub path: Arc<PathBuf>,
    /// What it is.
    pub kind: TargetKind,
    /// Start of the region in bytes.
    pub offset_bytes: u64,
    /// Length of the region in bytes.
    pub length_bytes: u64,
    /// Size of the file or device in bytes when the run starts (after layout).
    pub size_bytes: u64,
    /// Layout wrote or extended this file.
    pub created: bool,
    /// Other jobs take turns with this one on the file.
    pub lock: Option<LockMode>,
    /// The guard's permission; present on every target of a job that writes or trims.
    pub permit: Option<WritePermit>,
}

impl Target {
    /// Where the region ends, in bytes.
    pub fn end(&self) -> u64 {
        self.offset_bytes.saturating_add(self.length_bytes)
    }

    /// How to open this target for the run. Without a permit it is opened for reading only,
    /// whatever `access` asks for.
    pub fn how(&self, access: &Access) -> sys::file::Open {
        let durability = match (access.sync, access.dsync) {
            (true, _) => Durability::Full,
            (false, true) => Durability::Data,
            (false, false) => Durability::Lazy,
        };
        let write = access.write && self.permit.is_some();
        sys::file::Open {
            read: access.read || !write,
            write,
            create: access.create && write,
            direct: access.direct,
            durability,
            no_access_time: true,
            ..sys::file::Open::default()
        }
    }
}

/// How targets are opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct Access {
    /// `O_DIRECT`.
    pub direct: bool,
    /// `O_SYNC`.
    pub sync: bool,
    /// `O_DSYNC`.
    pub dsync: bool,
    /// Open for reading.
    pub read: bool,
    /// Open for writing; the guard has agreed.
    pub write: bool,
    /// Create at open (`create_on_open`).
    pub create: bool,
    /// Drop the cached range before the run.
    pub invalidate: bool,
    /// What the kernel is told about the coming accesses.
    pub advice: Option<Hint>,
    /// Read files into the cache first (`pre_read`).
    pub pre_read: bool,
    /// RWF_ATOMIC writes.
    pub atomic: bool,
    /// `write_hint` as the kernel's number.
    pub write_hint: Option<u64>,
    /// Flag bits of `sync_file_range`.
    pub sync_range_flags: u32,
}

/// Kind of memory of I/O buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Anonymous pages.
    Anonymous,
    /// Shared anonymous pages.
    Shared,
    /// Huge pages of this many bytes.
    Huge(u64),
    /// Shared huge pages of this many bytes.
    SharedHuge(u64),
    /// A mapping of a file, which grows to the size of the buffers.
    File {
        /// The file, and the guard's permission to write to it.
        permit: WritePermit,
        /// Stores reach the file.
        shared: bool,
        /// Page size of a file on hugetlbfs, bytes.
        huge: Option<u64>,
    },
}

/// Buffers and their content.
#[derive(Clone, Debug)]
pub struct Buffers {
    /// Kind of memory.
    pub memory: Memory,
    /// Alignment of the first buffer in bytes, at least the page size.
    pub align_bytes: u64,
    /// Largest I/O in bytes.
    pub slot_bytes: u64,
    /// What writes contain.
    pub fill: workload::FillPolicy,
    /// Hold this many further bytes of memory, locked.
    pub lock_bytes: u64,
}

/// Verification settings; what is written and how it is checked stands in `workload`.
#[derive(Clone, Debug)]
pub struct Verify {
    /// Header, checksum and pattern.
    pub content: workload::VerifySpec,
    /// Read back after writing.
    pub read_back: bool,
    /// Check without writing.
    pub only: bool,
    /// Stop at the first mismatch.
    pub fatal: bool,
    /// Dump expected and received blocks into files.
    pub dump: bool,
    /// Verify every this many written blocks; 0 at the end only.
    pub backlog: u64,
    /// Blocks per verify batch.
    pub backlog_batch: u64,
    /// Threads that check; 0: the worker itself.
    pub threads: u32,
    /// Where they run, if it matters.
    pub cpus: Option<Vec<u32>>,
    /// Which written blocks are trimmed again, and when.
    pub trims: Option<workload::verify::Trims>,
    /// Generate the sequence again instead of keeping it.
    pub regenerates: bool,
    /// Where the state of the job is left at its end.
    pub save: Option<PathBuf>,
    /// What an earlier run had written, when verification stops there.
    pub saved: Option<Arc<workload::verify::Saved>>,
}
