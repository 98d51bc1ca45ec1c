//! What a worker records, and which errors it survives.

use std::path::PathBuf;
use units::Ddir;

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
    /// What the thread of `gtod_cpu` keeps.
    Kept,
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

impl Logs {
    /// The files that are asked for.
    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        let all = [
            &self.bw,
            &self.iops,
            &self.lat,
            &self.slat,
            &self.clat,
            &self.hist,
            &self.iolog,
        ];
        all.into_iter().flatten()
    }
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
