//! Workers and the loops they run: requests through an engine into statistics.
//!
//! `crew` keeps time and collects, `worker` is one thread, `hot` holds the only loops, `live` is
//! the memory the two sides share. A worker that fails is a result, not a panic.
#![forbid(unsafe_code)]

pub mod bare;
mod crew;
pub mod failure;
mod hot;
pub mod idle;
mod live;
mod locks;
mod logs;
mod member;
mod pace;
mod place;
mod prepare;
mod priorities;
mod punts;
mod replay;
mod report;
mod rich;
mod sampler;
mod script;
mod stats;
mod steady;
mod targets;
mod verify;
mod wait;
mod worker;
mod zones;

pub use crew::{Crew, Ended, Intervals, Observer, Remote, View, WorkerView};
pub use live::Phase;
pub use logs::inflate;
