//! The `Run` document: one typed result of which every text, JSON, table and page is a rendering.
//!
//! Numbers are kept as measured (integers, full histograms); rounding belongs to renderings.
//! Merging is commutative. A field that a rendering needs and that is not here is missing here.
#![forbid(unsafe_code)]

mod disk;
pub mod host;
pub mod import;
mod job;
mod judgement;
pub mod memory;
mod memory_table;
pub mod merge;
mod run;
mod schema;
mod selfcheck;
pub mod series;
mod source;
mod steady;

pub use disk::{CpuIdle, Disk, DiskCounters, Interrupts};
pub use host::Host;
pub use job::{
    Direction, Failure, Job, LatencyClass, LatencyTarget, Options, Place, PriorityLatency, Punts,
    Reporting, Setup, Stated, SyncStats, Unified, Usage,
};
pub use judgement::{
    DeviceIo, Expectation, ExpectedLimit, Figure, Finding, Judgement, Severity, TimeToSave,
};
pub use memory_table::{MemoryRow, MemoryTable, MemoryTest};
pub use run::{GroupTotal, LaidOut, Run, SCHEMA_VERSION, group_total};
pub use schema::schema;
pub use selfcheck::{Beside, SelfCheck};
pub use source::Source;
pub use steady::{Steady, SteadyMetric};
