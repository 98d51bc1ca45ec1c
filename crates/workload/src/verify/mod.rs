//! Contents that can be checked: headers, checksums and patterns that [`Stamper`] puts into
//! written blocks and [`Verifier`] looks for in what is read, and the log of what was written
//! in between ([`Written`]).
//!
//! The format is fio's, so either program verifies what the other wrote. A block of
//! `interval` bytes is `header | checksum | data`; header and checksum may be swapped with the
//! data `offset` bytes further on. The data follow from the seed in the header or from a
//! pattern. Layout, generator and rules are proven against the binary in
//! `tests/fio_verify.rs`.

mod again;
mod checker;
mod content;
mod header;
mod mismatch;
mod pattern;
mod read_back;
mod saved;
mod seeds;
mod spec;
mod stamper;
mod trims;
mod written;

pub use again::Twin;
pub use checker::{Expect, Verifier};
pub use header::{Format, Header};
pub use mismatch::{Digests, Mismatch, Reason};
pub use pattern::Pattern;
pub use read_back::{Feed, ReadBack, WithBacklog};
pub use saved::{Saved, UntilSaved};
pub use seeds::VerifySeeds;
pub use spec::{VerifyKind, VerifySpec, VerifySpecError};
pub use stamper::Stamper;
pub use trims::{Trims, WithTrims};
pub use written::{Backlog, Piece, ReadOrder, Written};
