//! Options and host facts become validated numbers: what each worker does, to which files,
//! for how long, and what will be measured. A `Plan` holds no unresolved text: percentages,
//! derived sizes, clones and groups are settled here, and impossible jobs are refused here.
//!
//! [`plan`] looks at the world and changes nothing. [`layout::make`] then makes the files that
//! the plan lists, and takes back what it made if it fails.
#![forbid(unsafe_code)]

mod content;
mod error;
mod expand;
pub mod group;
pub mod guard;
mod job;
pub mod journal;
pub mod layout;
pub mod model;
mod names;
mod place;
mod record;
mod regions;
pub mod replay;
mod requests;
pub mod saved;
mod schedulers;
mod targets;
mod zoned;

pub use error::{Fault, PlanError, PlanErrors};
pub use expand::plan;
pub use model::{
    Access, Buffers, Depth, Description, Engine, ErrorPolicy, Lifecycle, Limits, Logs, Measured,
    Memory, Pace, Placement, Plan, Stamps, Target, TargetKind, Think, Worker,
};
pub use regions::RegionError;
