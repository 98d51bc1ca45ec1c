//! The plan: numbers only, one [`Worker`] per clone, in the order of thread numbers.

use crate::guard::WritePermit;
use crate::layout::Layout;
use crate::replay::{Merge, Replay};
use engine::EngineKind;
use result::{LatencyTarget, Options, Reporting, SteadyMetric};
use std::path::PathBuf;
use std::sync::Arc;
use sys::file::{Durability, Hint};
use units::{Ddir, PerDdir};

/// Everything `run` needs.
#[derive(Debug)]
pub struct Plan {
    /// Workers in order of thread number.
    pub workers: Vec<Worker>,
    /// Files to make before the run, in order; see [`layout::make`](crate::layout::make).
    pub layouts: Vec<Layout>,
    /// Traces to merge before the run.
    pub merges: Vec<Merge>,
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

/// When to stop. Durations in nanoseconds; 0 means not set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// `runtime`.
    pub runtime_ns: u64,
    /// Repeat the region until `runtime` ends.
    pub time_based: bool,
    /// Warm-up that is not measured.
    pub ramp_ns: u64,
    /// Warm-up by bytes moved, those of the whole group where that is reported as one.
    pub ramp_bytes: u64,
    /// Delay before the start.
    pub start_delay_ns: u64,
    /// Passes over the workload.
    pub loops: u64,
    /// Bytes of one pass over all directions (`io_size`).
    pub io_bytes: u64,
    /// `number_ios`.
    pub number_ios: u64,
    /// Running into ENOSPC is the normal end (`fill_device`).
    pub fill_device: bool,
}

impl Limits {
    /// True when the job has a warm-up.
    pub fn ramps(&self) -> bool {
        self.ramp_ns > 0 || self.ramp_bytes > 0
    }
}

/// Pace of one worker.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    /// Bytes per second.
    pub rate: PerDdir<Option<u64>>,
    /// Fail below this many bytes per second over `cycle_ns`.
    pub rate_min: PerDdir<Option<u64>>,
    /// I/Os per second.
    pub rate_iops: PerDdir<Option<u64>>,
    /// Fail below this many I/Os per second.
    pub rate_iops_min: PerDdir<Option<u64>>,
    /// Poisson arrivals instead of linear ones.
    pub poisson: bool,
    /// Window of the minimum checks.
    pub cycle_ns: u64,
    /// Do not catch up after think time.
    pub ignore_thinktime: bool,
    /// Stalls between blocks.
    pub think: Option<Think>,
    /// Ticks of the processor's counter to spin after each I/O.
    pub spin_ticks: u64,
    /// Fail when one I/O takes longer.
    pub max_latency_ns: PerDdir<Option<u64>>,
    /// Search of a queue depth (`latency_target`).
    pub search: Option<Search>,
    /// Proportion to other jobs.
    pub flow: Option<Flow>,
}

/// `latency_target` and what refines it.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// Longest total latency that counts as met.
    pub target_ns: u64,
    /// Time over which the latencies are judged.
    pub window_ns: u64,
    /// Share of I/Os that must meet the target, percent.
    pub percentile: f64,
    /// Go on adapting instead of ending at the depth that was found.
    pub endless: bool,
}

/// `flow` and what refines it.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    /// Jobs with the same number keep their proportions.
    pub id: u32,
    /// Share of the job among them.
    pub weight: u32,
    /// Pause of a job that is ahead; 0: it looks again at once.
    pub sleep_ns: u64,
}

/// `thinktime`.
#[derive(Clone, Copy, Debug)]
pub struct Think {
    /// Length of a stall.
    pub stall_ns: u64,
    /// Part of it spent spinning.
    pub spin_ns: u64,
    /// I/Os between stalls; `None` when only time counts.
    pub blocks: Option<u32>,
    /// Count at issue rather than at completion.
    pub at_issue: bool,
    /// Stall after this much time since the last stall, too.
    pub io_time_ns: Option<u64>,
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

/// What is recorded.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Submission latency.
    pub slat: bool,
    /// Completion latency.
    pub clat: bool,
    /// Total latency.
    pub lat: bool,
    /// Bandwidth and IOPS samples.
    pub samples: bool,
    /// Window of bandwidth samples.
    pub bw_window_ns: u64,
    /// Window of IOPS samples.
    pub iops_window_ns: u64,
    /// `gtod_reduce`: no stamps at all, time limits checked now and then.
    pub reduced: bool,
    /// `disk_util`.
    pub disks: bool,
    /// Clock asked for; `None` picks the best.
    pub clock: Option<Clock>,
    /// The system's number of the clock that start times are taken from.
    pub start_clock: u32,
}

/// `clocksource`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Time stamp counter.
    Cpu,
    /// `clock_gettime(CLOCK_MONOTONIC)`.
    ClockGettime,
    /// `gettimeofday`.
    Gettimeofday,
}

/// Log files of one worker: complete paths, already numbered.
#[derive(Clone, Debug, Default)]
pub struct Logs {
    /// `write_bw_log`.
    pub bw: Option<PathBuf>,
    /// `write_iops_log`.
    pub iops: Option<PathBuf>,
    /// `write_lat_log`: total latency.
    pub lat: Option<PathBuf>,
    /// Submission latency.
    pub slat: Option<PathBuf>,
    /// Completion latency.
    pub clat: Option<PathBuf>,
    /// `write_hist_log`.
    pub hist: Option<PathBuf>,
    /// `write_iolog`.
    pub iolog: Option<PathBuf>,
    /// `log_avg_msec`; 0 logs every I/O.
    pub window_ns: u64,
    /// `log_hist_msec`.
    pub hist_window_ns: u64,
    /// `log_hist_coarseness`.
    pub hist_coarseness: u32,
    /// Log the largest value of a window.
    pub log_max: bool,
    /// Log the mean of a window.
    pub log_mean: bool,
    /// Add the offset column.
    pub offsets: bool,
    /// Append to one file shared by all clones (`per_job_logs=0`).
    pub append: bool,
    /// Absolute timestamps by the clock with this number.
    pub epoch: Option<u32>,
    /// Show the I/O priority rather than whether it is of the real-time class (`log_prio`).
    pub priority: bool,
    /// Add the column of issue times (`log_issue_time`).
    pub issue_time: bool,
    /// Rows are stored compressed, in pieces of this many bytes (`log_store_compressed`).
    pub packed: Option<u32>,
    /// CPUs of the thread that writes and compresses (`log_compression_cpus`).
    pub cpus: Vec<u32>,
    /// Rows to make room for between the worker and the writer (`log_entries`).
    pub entries: u32,
}

/// Which errors are survivable.
#[derive(Clone, Debug, Default)]
pub struct ErrorPolicy {
    /// errno values that are counted and passed over: of reads, of writes (trims and syncs
    /// included), of verification.
    pub passed_over: [Vec<i32>; 3],
    /// A block that fails verification ends the worker even when its error is passed over.
    pub verify_fatal: bool,
    /// Print each ignored error.
    pub dump: bool,
}

impl ErrorPolicy {
    /// True when errors of this direction are counted, those that end the worker too.
    pub fn counts(&self, ddir: Ddir) -> bool {
        !self.passed_over[usize::from(ddir != Ddir::Read)].is_empty()
    }

    /// True when an error of this direction does not end the worker.
    pub fn survives(&self, ddir: Ddir, errno: i32) -> bool {
        self.passed_over[usize::from(ddir != Ddir::Read)].contains(&errno)
    }

    /// True when an error found by verification does not count as a failure of the worker.
    pub fn survives_verify(&self, errno: i32) -> bool {
        self.passed_over[2].contains(&errno)
    }
}

/// Where and as whom the worker runs.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    /// CPUs; `None` leaves the inherited mask.
    pub cpus: Option<Vec<u32>>,
    /// Memory policy: mode and nodes.
    pub memory: Option<(MemoryMode, Vec<u32>)>,
    /// `nice`.
    pub nice: i32,
    /// I/O priority class and level as `ioprio_set` takes them.
    pub io_priority: Option<u16>,
    /// `uid`.
    pub uid: Option<u32>,
    /// `gid`.
    pub gid: Option<u32>,
    /// Thread name.
    pub comm: Option<String>,
}

/// `numa_mem_policy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryMode {
    /// The system's default.
    Default,
    /// Prefer one node.
    Prefer,
    /// These nodes only.
    Bind,
    /// Interleave over the nodes.
    Interleave,
    /// The node of the CPU.
    Local,
}

/// What happens before, between and after.
#[derive(Clone, Debug, Default)]
pub struct Lifecycle {
    /// Stop after layout.
    pub create_only: bool,
    /// `fsync` every file when the write phase ends.
    pub end_fsync: bool,
    /// One `syncfs` instead.
    pub end_syncfs: bool,
    /// `fsync` dirty files on close.
    pub fsync_on_close: bool,
    /// Delete files at the end.
    pub unlink: bool,
    /// Delete files after every loop.
    pub unlink_each_loop: bool,
    /// End others when this one ends: scope.
    pub exitall: Option<ExitScope>,
    /// End all others when this one fails.
    pub exitall_on_error: bool,
    /// Shell command before.
    pub prerun: Option<String>,
    /// Shell command after.
    pub postrun: Option<String>,
}

impl Lifecycle {
    /// True when files are flushed at the end of a pass.
    pub fn syncs_at_end(&self) -> bool {
        self.end_fsync || self.end_syncfs || self.fsync_on_close
    }
}

/// `exit_what`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitScope {
    /// The reporting group.
    Group,
    /// The stage (stonewall section).
    Stage,
    /// Everything.
    All,
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
