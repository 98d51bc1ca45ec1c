//! Memory: how fast it is read and written, and how long one load takes.
//!
//! `kernel` holds the timed loops, `mixer` runs workers on several CPUs in one common window,
//! `sample` decides which readings count and what they amount to. The methods stand on these
//! three and give [`result::memory::Figure`]s.

pub mod injector;
pub mod kernel;
pub mod mixer;
pub mod sample;
pub mod watch;

pub use result::memory::Figure;
