//! What is asked of the device: requests, 64 at a time, and what written buffers hold.
//!
//! No I/O, no threads, no clock: numbers come in ([`Spec`]), numbers go out ([`Batch`]).
//! For equal options, seed and thread number the sequence of (direction, file, offset, length)
//! is fio's, bit for bit; `tests/fio_sequences.rs` compares against the installed binary.
#![forbid(unsafe_code)]

mod batch;
mod buffer;
pub mod rng;
mod spec;

pub use batch::{Batch, Fill};
pub use buffer::{FillPolicy, Filler};
pub use spec::{
    BlockSize, Direction, Distribution, FileRegion, FileService, FileServiceKind, Generator,
    RwSequencer, Seed, SizeShare, Spec, SpecError, Strided, ZoneShare,
};
