//! Option values with a grammar of their own.
//!
//! Each type reads what fio reads and shows text that reads back as the same value.

mod distribution;
mod errors;
mod numa;
mod pattern;
mod rw;
mod split;
mod steady;
mod words;

pub use distribution::{Distribution, FileService, ZoneShare, ZoneSize};
pub use errors::IgnoreErrors;
pub use numa::{MemPolicy, NodeList};
pub use pattern::{Pattern, PatternPart};
pub use rw::{Mem, ReplaySkip, Rw, SyncFileRange};
pub use split::BlockSplit;
pub use steady::{SteadyMetric, SteadyState};
pub use words::*;
