//! Options and host facts become validated numbers: what each worker does, to which files,
//! for how long, and what will be measured. A `Plan` holds no unresolved text: percentages,
//! derived sizes, clones and groups are settled here, and impossible jobs are refused here.
#![forbid(unsafe_code)]

pub mod guard;
pub mod layout;
pub mod model;
mod names;
mod regions;

pub use model::{
    Access, Buffers, Depth, Description, Engine, ErrorPolicy, Lifecycle, Limits, Logs, Measured,
    Memory, Pace, Placement, Plan, Target, TargetKind, Think, Worker,
};
