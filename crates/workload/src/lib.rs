//! What is asked of the device: requests, 64 at a time, and what written buffers hold.
//!
//! No I/O, no threads, no clock: numbers come in ([`Spec`]), numbers go out ([`Batch`]).
//! For equal options, seed and thread number the sequence of (direction, file, offset, length)
//! is fio's, bit for bit; `tests/fio_sequences` compares against the installed binary.
//!
//! ```
//! use workload::{Batch, FileRegion, Spec, generator};
//!
//! let spec = Spec { files: vec![FileRegion::new(0, 1 << 20)], size: 1 << 20, ..Spec::default() };
//! let mut requests = generator(&spec).unwrap();
//! let mut batch = Batch::default();
//! requests.fill(&mut batch, 64);
//! assert_eq!((batch.n, batch.offset[1], batch.len[1]), (64, 4096, 4096));
//! ```
#![forbid(unsafe_code)]

mod arith;
mod batch;
mod buffer;
pub mod checksum;
mod generator;
mod hash;
mod map;
mod offset;
mod replay;
pub mod rng;
mod seeds;
mod spec;
pub mod verify;
pub mod zones;

pub use batch::{Amended, Batch, Fill, Steer};
pub use buffer::{FillPolicy, Filler, WorkingSet};
pub use generator::generator;
pub use hash::name_hash;
pub use replay::{Recorded, Replay, Timetable};
pub use spec::{
    BlockSize, Direction, Distribution, FileRegion, FileService, FileServiceKind, FioRules,
    Generator, RwSequencer, Seed, SizeShare, Spec, SpecError, Strided, ZoneShare,
};
pub use verify::{
    Expect, Mismatch, Pattern, Stamper, Verifier, VerifyKind, VerifySeeds, VerifySpec,
};
