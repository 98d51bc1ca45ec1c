//! Rates, think time and latency limits.

use crate::kinds::{RateProcess, ThinkCount};
use units::{PerDdir, Span};

option::options! {
    /// Rates, think time and latency limits
    pub struct Pace {
        /// Most bytes per second per clone, by direction.
        rate: PerDdir<u64>, bytes();
        /// Fewest bytes per second, by direction; the job fails below.
        rate_min: PerDdir<u64>, aliases(&["ratemin"]), bytes(), parent("rate"),
            later("minimum rates");
        /// Most requests per second per clone, by direction.
        rate_iops: PerDdir<u32>;
        /// Fewest requests per second, by direction; the job fails below.
        rate_iops_min: PerDdir<u32>, parent("rate_iops"), later("minimum rates");
        /// Spacing of rated requests.
        rate_process: RateProcess = "linear", parent("rate");
        /// Window over which the minimum rates are judged.
        rate_cycle: Span = "1000", aliases(&["ratecycle"]), millis(), parent("rate"),
            later("minimum rates");
        /// Do not catch up after think time.
        rate_ignore_thinktime: bool = "0", parent("rate"), later("rates that ignore think time");
        /// Pause between blocks.
        thinktime: Span = "0", micros();
        /// Part of the pause that is spent spinning.
        thinktime_spin: Span = "0", micros(), parent("thinktime");
        /// Cycles to spin between blocks.
        thinkcycles: u64 = "0", parent("thinktime"), later("spinning by cycles");
        /// Blocks between pauses; also caps the queue depth.
        thinktime_blocks: u32 = "1", parent("thinktime");
        /// Whether blocks count when they complete or when they are issued.
        thinktime_blocks_type: ThinkCount = "complete", parent("thinktime"),
            later("think time by issue");
        /// Pause after this much I/O time.
        thinktime_iotime: Span = "0", micros(), parent("thinktime"),
            later("think time by I/O time");
        /// Longest latency of a request, by direction; the job fails beyond.
        max_latency: PerDdir<Span>, micros(), later("latency limits");
        /// Search the greatest depth that keeps this latency.
        latency_target: Span = "0", micros(), later("searching a depth for a latency");
        /// Time over which the latency is judged.
        latency_window: Span = "0", micros(), parent("latency_target"),
            later("searching a depth for a latency");
        /// Percentage of requests that must keep the latency.
        latency_percentile: f64 = "100", within(0.0, 100.0), parent("latency_target"),
            later("searching a depth for a latency");
        /// Go on adapting the depth instead of ending.
        latency_run: bool = "0", parent("latency_target"), later("searching a depth for a latency");
        /// Weight that keeps jobs of a flow in proportion.
        flow: i32 = "0", range(0, 1000), parent("flow_id"), later("flows");
        /// Flow that the job belongs to.
        flow_id: u32 = "0", later("flows");
        /// Time to sleep when the flow holds a job back.
        flow_sleep: Span = "0", micros(), parent("flow_id"), later("flows");
        /// Imbalance that a flow tolerates.
        flow_watermark: Option<u32>, hidden(), obsolete("fio ignores it as well");
    }
}
