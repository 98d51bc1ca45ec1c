//! Memory: how fast it is read and written, and how long one load takes.
//!
//! `machine` knows what there is to measure with and how large buffers may be, `place` makes
//! buffers that are where they claim to be. `kernel` holds the timed loops, `mixer` runs workers
//! on several CPUs in one common window, `layout` and `chase` make chains of dependent loads,
//! `sample` and `watch` decide which readings count and what they amount to. The methods stand on
//! these and give [`result::memory::Figure`]s.

pub mod bandwidth;
pub mod c2c;
mod capacity;
pub mod chase;
mod error;
pub mod injector;
pub mod kernel;
pub mod latency;
pub mod layout;
pub mod loaded;
pub mod machine;
pub mod mixer;
pub mod place;
pub mod prefetch;
pub mod rows;
pub mod sample;
pub mod scan;
pub mod search;
pub mod staircase;
pub mod watch;

pub use error::Error;
pub use machine::Machine;
pub use result::memory::Figure;
