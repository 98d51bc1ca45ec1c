//! `sync`: `lseek`, then `read` or `write`. The seek is left out where the file's position is
//! right already, as for sequential requests.

use crate::api::{NoOptions, Setup};
use crate::inline::{Inline, Transfer};
use sys::file::File;
use sys::transfer;

/// The engine.
pub type Sync = Inline<Seeking>;

/// Moves data with `read` and `write` at the file's position.
#[derive(Debug)]
pub struct Seeking {
    /// Where each file's position is known to be.
    positions: Vec<Option<u64>>,
}

impl Seeking {
    #[inline]
    fn at(&mut self, file: u16, fd: &File, offset: u64, transfer: impl FnOnce() -> i32) -> i32 {
        let position = &mut self.positions[usize::from(file)];
        if *position != Some(offset) {
            *position = None;
            let failed = transfer::seek(fd, offset);
            if failed < 0 {
                return failed;
            }
        }
        let moved = transfer();
        *position = u64::try_from(moved).ok().map(|bytes| offset + bytes);
        moved
    }
}

impl Transfer for Seeking {
    type Options = NoOptions;
    const NAME: &'static str = "sync";
    const HELP: &'static str = "lseek, then read or write, one request at a time";

    fn new(setup: &Setup<'_, NoOptions>) -> Self {
        Seeking {
            positions: vec![None; setup.files.len()],
        }
    }

    #[inline]
    fn read(&mut self, file: u16, fd: &File, buffer: &mut [u8], offset: u64) -> i32 {
        self.at(file, fd, offset, || transfer::read(fd, buffer))
    }

    #[inline]
    fn write(&mut self, file: u16, fd: &File, buffer: &[u8], offset: u64) -> i32 {
        self.at(file, fd, offset, || transfer::write(fd, buffer))
    }
}
