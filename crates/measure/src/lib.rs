//! What was measured: fio-identical histograms, exact moments, sampled rates and depth maps.
//!
//! No I/O, no threads, no clocks: values come in, statistics come out, and every type merges
//! by addition so that workers, groups and hosts reduce in any order.
#![forbid(unsafe_code)]

mod bucket;
mod coarse;
mod depth;
mod histogram;
mod latency;
mod moments;
mod rank;
mod samples;

pub use bucket::{BINS, bin_index, bin_value};
pub use coarse::{Coarse, EDGES_NS};
pub use depth::{BatchMap, DepthMap, batch_slot, depth_slot};
pub use histogram::{DEFAULT_PERCENTILES, Histogram};
pub use latency::Latency;
pub use moments::Moments;
pub use samples::Samples;
