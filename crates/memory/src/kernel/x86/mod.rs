//! x86-64 loops: SSE2, AVX2 and AVX-512, each with and without prefetches. A family's file says
//! which streams do what; `text` turns that into instructions.

use super::{Isa, Kernel};

#[macro_use]
mod text;
mod copy;
mod mix;
mod part;
mod random;
mod read;
mod stream;
mod write;
mod write_nt;

/// The families.
pub const TABLES: [&[Kernel]; 8] = [
    read::TABLE,
    write::TABLE,
    write_nt::TABLE,
    copy::TABLE,
    stream::TABLE,
    mix::TABLE,
    random::TABLE,
    part::TABLE,
];
