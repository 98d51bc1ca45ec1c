//! Random sequences: fio's own where its choices are reproduced, a faster one for contents.

mod xoshiro;

pub use xoshiro::Xoshiro;
