//! Bytes, durations, directions and rates: the vocabulary every other crate shares.
//!
//! Parsing follows fio's number grammar (`number`), printing follows fio's humanised
//! figures (`human`). Nothing here performs I/O.
#![forbid(unsafe_code)]

pub mod arith;
mod ddir;
mod human;
pub mod number;
mod quantity;

pub use ddir::{Ddir, PerDdir};
pub use human::{Counted, Family, Human};
pub use quantity::{Amount, KbBase, Range, Span, TimeUnit};
