//! `psync`: `pread` and `pwrite`. The default engine.

use crate::api::{NoOptions, Setup};
use crate::inline::{Inline, Transfer};
use sys::file::File;
use sys::transfer;

/// The engine.
pub type Psync = Inline<Positioned>;

/// Moves data with `pread` and `pwrite`.
#[derive(Debug)]
pub struct Positioned;

impl Transfer for Positioned {
    type Options = NoOptions;
    const NAME: &'static str = "psync";
    const HELP: &'static str = "pread and pwrite, one request at a time";

    fn new(_setup: &Setup<'_, NoOptions>) -> Self {
        Positioned
    }

    #[inline]
    fn read(&mut self, _: u16, fd: &File, buffer: &mut [u8], offset: u64) -> i32 {
        transfer::pread(fd, buffer, offset)
    }

    #[inline]
    fn write(&mut self, _: u16, fd: &File, buffer: &[u8], offset: u64) -> i32 {
        transfer::pwrite(fd, buffer, offset)
    }
}
