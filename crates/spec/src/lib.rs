//! What the user may say: option tables, job files and command lines.
#![forbid(unsafe_code)]

pub mod kinds;
pub mod options;

pub use options::Options;
