//! Random sequences: fio's own where its choices are reproduced, a faster one for contents.

mod lfsr;
mod taus;
mod wide;

pub use lfsr::Lfsr;
pub(crate) use taus::TWO_POW_MINUS_32;
pub use taus::{Taus, Taus88, Taus258};
pub use wide::Wide;
pub(crate) use wide::splitmix64;
