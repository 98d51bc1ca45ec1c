//! The `Run` document: one typed result of which every text, JSON, table and page is a rendering.
//!
//! Numbers are kept as measured (integers, full histograms); rounding belongs to renderings.
//! Merging is commutative. A field that a rendering needs and that is not here is missing here.
#![forbid(unsafe_code)]

mod disk;
pub mod host;
pub mod import;
mod job;
pub mod memory;
pub mod merge;
mod run;
mod selfcheck;
mod steady;

pub use disk::{CpuIdle, Disk, DiskCounters};
pub use host::Host;
pub use job::{
    Direction, Failure, Job, LatencyTarget, Options, PriorityLatency, Reporting, SyncStats,
    Unified, Usage,
};
pub use run::{GroupTotal, Run, SCHEMA_VERSION, group_total};
pub use selfcheck::{Beside, SelfCheck};
pub use steady::{Steady, SteadyMetric};
