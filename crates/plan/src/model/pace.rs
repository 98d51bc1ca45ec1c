//! When a worker stops, and how fast it goes until then.

use units::PerDdir;

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
