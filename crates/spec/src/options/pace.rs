//! Rates, think time and latency limits.

use crate::kinds::{RateProcess, ThinkCount};
use units::{PerDdir, Span};

option::options! {
    /// Rates, think time and latency limits
    pub struct Pace {
        /// Most bytes per second per clone, by direction.
        rate: PerDdir<u64>, bytes();
        /// Fewest bytes per second, by direction; the job fails below.
        rate_min: PerDdir<u64>, aliases(&["ratemin"]), bytes(), parent("rate");
        /// Most requests per second per clone, by direction.
        rate_iops: PerDdir<u32>;
        /// Fewest requests per second, by direction; the job fails below.
        rate_iops_min: PerDdir<u32>, parent("rate_iops");
        /// Spacing of rated requests.
        rate_process: RateProcess = "linear", parent("rate");
        /// Window over which the minimum rates are judged.
        rate_cycle: Span = "1000", aliases(&["ratecycle"]), millis(), parent("rate");
        /// Do not catch up after think time.
        rate_ignore_thinktime: bool = "0", parent("rate");
        /// Pause between blocks.
        thinktime: Span = "0", micros();
        /// Part of the pause that is spent spinning.
        thinktime_spin: Span = "0", micros(), parent("thinktime");
        /// Cycles to spin between blocks.
        thinkcycles: u64 = "0", parent("thinktime");
        /// Blocks between pauses; also caps the queue depth.
        thinktime_blocks: u32 = "1", parent("thinktime");
        /// Whether blocks count when they complete or when they are issued.
        thinktime_blocks_type: ThinkCount = "complete", parent("thinktime");
        /// Pause after this much I/O time.
        thinktime_iotime: Span = "0", micros(), parent("thinktime");
        /// Longest latency of a request, by direction; the job fails beyond.
        max_latency: PerDdir<Span>, micros();
        /// Search the greatest depth that keeps this latency.
        latency_target: Span = "0", micros();
        /// Time over which the latency is judged.
        latency_window: Span = "0", micros(), parent("latency_target");
        /// Percentage of requests that must keep the latency.
        latency_percentile: f64 = "100", within(0.0, 100.0), parent("latency_target");
        /// Go on adapting the depth instead of ending.
        latency_run: bool = "0", parent("latency_target");
        /// Weight that keeps jobs of a flow in proportion.
        flow: i32 = "0", range(0, 1000), parent("flow_id");
        /// Flow that the job belongs to.
        flow_id: u32 = "0";
        /// Time to sleep when the flow holds a job back.
        flow_sleep: Span = "0", micros(), parent("flow_id");
        /// Imbalance that a flow tolerates.
        flow_watermark: Option<u32>, hidden(), obsolete("fio ignores it as well");
    }
}
