//! What one worker measured; a folded group has the same shape.

use crate::Steady;
use crate::series::Series;
use measure::{BatchMap, Coarse, DepthMap, Latency, Samples};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::PerDdir;

/// Option names with their values as the user wrote them, in order. A bare option has "".
pub type Options = Vec<(String, String)>;

/// How directions are reported (`unified_rw_reporting`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Unified {
    /// Each direction by itself.
    #[default]
    Separate,
    /// All directions folded into one.
    Mixed,
    /// Each by itself and the fold beside them.
    Both,
}

/// Settings that only change how the job is reported.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reporting {
    /// Fold the workers of the group into one block (`group_reporting`).
    pub grouped: bool,
    /// `unified_rw_reporting`.
    pub unified: Unified,
    /// 1024 or 1000 (`kb_base`).
    pub kb_base: u32,
    /// 0 (auto, bytes), 8 (bytes) or 1 (bits) (`unit_base`).
    pub unit_base: u32,
    /// `significant_figures`.
    pub significant_figures: u32,
    /// `percentile_list`, ascending.
    pub percentiles: Vec<f64>,
    /// Decimals of the most precise entry of the list as written; 2 for the default list.
    pub percentile_precision: u32,
    /// `slat_percentiles`.
    pub slat_percentiles: bool,
    /// `clat_percentiles`.
    pub clat_percentiles: bool,
    /// `lat_percentiles`.
    pub lat_percentiles: bool,
    /// False with `disable_slat` or a synchronous engine.
    pub has_slat: bool,
    /// False with `disable_clat`.
    pub has_clat: bool,
    /// False with `disable_lat`.
    pub has_lat: bool,
    /// False with `stats=0`: measured, not reported.
    pub shown: bool,
    /// `continue_on_error` was set: report total and first error.
    pub continues_on_error: bool,
    /// `zonemode=zbd`: report zone resets.
    pub zoned: bool,
}

impl Default for Reporting {
    fn default() -> Self {
        Reporting {
            grouped: false,
            unified: Unified::Separate,
            kb_base: 1024,
            unit_base: 0,
            significant_figures: 4,
            percentiles: measure::DEFAULT_PERCENTILES.to_vec(),
            percentile_precision: 2,
            slat_percentiles: false,
            clat_percentiles: true,
            lat_percentiles: false,
            has_slat: true,
            has_clat: true,
            has_lat: true,
            shown: true,
            continues_on_error: false,
            zoned: false,
        }
    }
}

/// Statistics of one data direction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Direction {
    /// Bytes transferred (residuals of short transfers excluded).
    pub bytes: u64,
    /// I/Os issued since measuring began (after `ramp_time`). Reported totals, IOPS and shares
    /// (`issued rwts`, `total_ios`, `iops`, depth and latency shares) are of these, as in fio.
    pub issued: u64,
    /// I/Os completed since measuring began.
    pub ios: u64,
    /// I/Os that came back short.
    pub short: u64,
    /// I/Os dropped.
    pub dropped: u64,
    /// Milliseconds this direction was running; 0 when it never did.
    pub runtime_ms: u64,
    /// Submission latency.
    pub slat: Latency,
    /// Completion latency.
    pub clat: Latency,
    /// Total latency.
    pub lat: Latency,
    /// Latency from the moment when the rate of the job asked for the request; `None` where
    /// there is no rate.
    #[serde(default)]
    pub lat_intended: Option<Latency>,
    /// Sampled bandwidth in KiB/s.
    pub bw: Samples,
    /// Sampled I/Os per second.
    pub iops: Samples,
    /// Page-cache hits and misses where the engine can tell.
    pub cache_hits: Option<(u64, u64)>,
    /// Latencies by I/O priority, where requests had several; total latencies where percentiles
    /// of those are reported, else completion latencies.
    #[serde(default)]
    pub priorities: Vec<PriorityLatency>,
    /// What an imported report says where it does not give the counts behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated: Option<Box<Stated>>,
}

/// Figures as a report printed them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stated {
    /// I/Os per second; `issued` is then derived from it, or 0.
    #[serde(default)]
    pub iops: Option<f64>,
    /// Bytes per second; `bytes` is then derived from it, or 0.
    #[serde(default)]
    pub bytes_per_s: Option<f64>,
    /// Percentiles of submission latency without a histogram: percent and nanoseconds, ascending.
    #[serde(default)]
    pub slat_percentiles: Vec<(f64, u64)>,
    /// The same of completion latency.
    #[serde(default)]
    pub clat_percentiles: Vec<(f64, u64)>,
    /// The same of total latency.
    #[serde(default)]
    pub lat_percentiles: Vec<(f64, u64)>,
}

/// A kind of latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatencyClass {
    /// Submission.
    Slat,
    /// Completion.
    Clat,
    /// Total.
    Lat,
}

impl Direction {
    /// I/Os per second: as a report stated it, else of the counts; 0 when nothing ran.
    pub fn iops(&self) -> f64 {
        match self.stated.as_ref().and_then(|stated| stated.iops) {
            Some(iops) => iops,
            None => per_second(self.issued, self.runtime_ms),
        }
    }

    /// Bytes per second, likewise.
    pub fn bytes_per_s(&self) -> f64 {
        match self.stated.as_ref().and_then(|stated| stated.bytes_per_s) {
            Some(rate) => rate,
            None => per_second(self.bytes, self.runtime_ms),
        }
    }

    /// A percentile in nanoseconds, of the histogram or else as stated; `None` where it is not
    /// known.
    pub fn percentile(&self, class: LatencyClass, percent: f64) -> Option<u64> {
        let latency = match class {
            LatencyClass::Slat => &self.slat,
            LatencyClass::Clat => &self.clat,
            LatencyClass::Lat => &self.lat,
        };
        if let Some(histogram) = &latency.histogram {
            return histogram.percentiles(&[percent]).first().copied();
        }
        let stated = self.stated.as_ref()?;
        let list = match class {
            LatencyClass::Slat => &stated.slat_percentiles,
            LatencyClass::Clat => &stated.clat_percentiles,
            LatencyClass::Lat => &stated.lat_percentiles,
        };
        let of = |entry: &&(f64, u64)| (entry.0 - percent).abs() < 1e-9;
        list.iter().find(of).map(|(_, value)| *value)
    }

    /// Mean of total latency in nanoseconds, or of completion latency where only that is known.
    pub fn mean_latency_ns(&self) -> Option<f64> {
        let classes = [&self.lat, &self.clat];
        let known = classes.into_iter().find(|class| class.moments.n > 0);
        known.map(|class| class.moments.mean())
    }
}

fn per_second(count: u64, runtime_ms: u64) -> f64 {
    if runtime_ms == 0 {
        0.0
    } else {
        1000.0 * count as f64 / runtime_ms as f64
    }
}

/// Latencies of the requests of one I/O priority.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PriorityLatency {
    /// Class: 0 none, 1 real time, 2 best effort, 3 idle.
    pub class: u8,
    /// Level, 0 is the highest.
    pub level: u8,
    /// Hint.
    pub hint: u16,
    /// Their latencies.
    pub latency: Latency,
}

/// `fsync`, `fdatasync` and `sync_file_range` durations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SyncStats {
    /// Syncs completed.
    pub ios: u64,
    /// Their durations, with bins.
    pub lat: Latency,
}

/// CPU and scheduler cost of a worker (`getrusage` of the thread).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// User time in microseconds.
    pub user_us: u64,
    /// System time in microseconds.
    pub system_us: u64,
    /// Voluntary and involuntary context switches.
    pub context_switches: u64,
    /// Major page faults.
    pub major_faults: u64,
    /// Minor page faults.
    pub minor_faults: u64,
}

/// Why a worker ended with an error.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// errno; 84 for a failed verification.
    pub errno: i32,
    /// What was being done, with target and place, for people.
    pub message: String,
    /// Function-like place word for the `func=` part of the header, such as `io_u error`.
    pub place: String,
    /// Source file and line that noticed it, such as `worker.rs:120`, for the `file:` part.
    pub source: String,
}

impl Failure {
    /// A failure noticed by the caller of this function.
    #[track_caller]
    pub fn new(errno: i32, place: &str, message: impl Into<String>) -> Self {
        let caller = std::panic::Location::caller();
        let file = caller.file().rsplit('/').next().unwrap_or_default();
        Failure {
            errno,
            message: message.into(),
            place: place.to_owned(),
            source: format!("{file}:{}", caller.line()),
        }
    }
}

/// `latency_target` settings and the depth it ended at.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyTarget {
    /// Target in nanoseconds, 0 when unset.
    pub target_ns: u64,
    /// Window in nanoseconds.
    pub window_ns: u64,
    /// Share of I/Os that must meet it, in percent.
    pub percentile: f64,
    /// Depth reached; the job's `iodepth` when there is no target.
    pub depth: u32,
}

impl Default for LatencyTarget {
    fn default() -> Self {
        LatencyTarget {
            target_ns: 0,
            window_ns: 0,
            percentile: 100.0,
            depth: 1,
        }
    }
}

/// How a worker was set up, as far as judgements need to know.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Setup {
    /// Engine.
    pub engine: String,
    /// The engine waits for each I/O.
    pub sync: bool,
    /// `O_DIRECT`.
    pub direct: bool,
    /// All targets are files or block devices, and the engine does I/O on them.
    pub on_disk: bool,
    /// The engine does no I/O at all.
    pub idle_engine: bool,
    /// Queue depth asked for.
    pub iodepth: u32,
    /// A rate, think time or a latency target holds the job back.
    pub paced: bool,
    /// Something is read or written that is not measured: a warm-up, or reading files first.
    pub warms_up: bool,
    /// What is written is read back, or what is read is checked.
    pub verifies: bool,
    /// What is written are zeroes.
    pub zero_buffers: bool,
    /// Places are random, at least for a part of the requests.
    pub random: bool,
    /// Seconds after which it was to end, where a time ends it.
    pub runtime_s: Option<u64>,
    /// Where it reads and writes; empty where that is not known, or in very many files.
    pub places: Vec<Place>,
}

/// A region of a target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Place {
    /// File or device; empty for a file of the worker's own whose name is not known.
    pub path: String,
    /// A regular file.
    pub file: bool,
    /// Where the region begins.
    pub offset_bytes: u64,
    /// How long it is.
    pub length_bytes: u64,
}

impl Place {
    /// Targets of a worker that are told; with more of them none is.
    pub const MOST: usize = 64;
}

/// Kernel threads that did a worker's requests in its place, because these would have blocked
/// (io_uring's `iou-wrk`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Punts {
    /// Such threads at the end of the run.
    pub threads: u32,
    /// CPU time that they took, in microseconds.
    pub cpu_us: u64,
}

/// What one worker (or one folded group) measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Job {
    /// Job name.
    pub name: String,
    /// `description`.
    pub description: Option<String>,
    /// Thread number, from 1, unique in the run.
    pub number: u32,
    /// Reporting group.
    pub group: u32,
    /// Workers folded into this block; 1 for a single worker.
    pub members: u32,
    /// Thread id of the (first) worker.
    pub pid: u32,
    /// Wall-clock start, milliseconds since the epoch.
    pub started_ms: u64,
    /// Seconds from the start of the run to the end of the job (or to the report while it runs),
    /// rounded up.
    pub elapsed_s: u64,
    /// First failure, if any.
    pub failure: Option<Failure>,
    /// Errors passed over by `continue_on_error`.
    pub total_errors: u64,
    /// errno of the first of them.
    pub first_error: i32,
    /// The job's own options for the JSON `job options` object.
    pub options: Options,
    /// How to report it.
    pub reporting: Reporting,
    /// Statistics per direction.
    pub dirs: PerDdir<Direction>,
    /// Synchronisation statistics.
    pub sync: SyncStats,
    /// Milliseconds the worker ran, the sum over members for a folded group.
    pub runtime_ms: u64,
    /// CPU cost, summed over members.
    pub usage: Usage,
    /// Queue depth at issue.
    pub depth: DepthMap,
    /// Sizes of submission calls.
    pub submit: BatchMap,
    /// Sizes of reap calls.
    pub complete: BatchMap,
    /// Coarse latency table: completion latency of all directions.
    pub coarse: Coarse,
    /// Latency target settings.
    pub target: LatencyTarget,
    /// Steady state detection, when it is on.
    #[serde(default)]
    pub steady: Option<Steady>,
    /// Zones reset; reported when [`Reporting::zoned`].
    #[serde(default)]
    pub zone_resets: u64,
    /// What it did second by second, where that was recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Series>,
    /// Requests that the kernel handed to threads of its own.
    #[serde(default)]
    pub punts: Punts,
    /// How it was set up; the first member's for a folded group. `None` in imported results.
    #[serde(default)]
    pub setup: Option<Setup>,
}
