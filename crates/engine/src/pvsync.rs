//! `pvsync`: `preadv` and `pwritev` with one buffer.

use crate::api::{NoOptions, Setup};
use crate::inline::{Inline, Transfer};
use sys::file::File;
use sys::transfer;

/// The engine.
pub type Pvsync = Inline<PositionedVector>;

/// Moves data with `preadv` and `pwritev`.
#[derive(Debug)]
pub struct PositionedVector;

impl Transfer for PositionedVector {
    type Options = NoOptions;
    const NAME: &'static str = "pvsync";
    const HELP: &'static str = "preadv and pwritev, one request at a time";

    fn new(_setup: &Setup<'_, NoOptions>) -> Self {
        PositionedVector
    }

    #[inline]
    fn read(&mut self, _: u16, fd: &File, buffer: &mut [u8], offset: u64) -> i32 {
        transfer::preadv(fd, buffer, offset)
    }

    #[inline]
    fn write(&mut self, _: u16, fd: &File, buffer: &[u8], offset: u64) -> i32 {
        transfer::pwritev(fd, buffer, offset)
    }
}
