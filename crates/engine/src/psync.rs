//! `psync`: `pread` and `pwrite`, one at a time.

use crate::api::{Caps, Engine, EngineError, Io, Queued, Setup};
use crate::inline;
use std::io;
use sys::file::File;
use sys::pages::Pool;
use sys::transfer;
use units::Ddir;

/// The engine.
#[derive(Debug)]
pub struct Psync {
    pool: Pool,
    files: Vec<File>,
    sync_range_flags: u32,
}

/// No options.
#[derive(Clone, Debug, Default)]
pub struct Options {}

impl Engine for Psync {
    type Options = Options;
    const NAME: &'static str = "psync";
    const HELP: &'static str = "pread and pwrite, one at a time";
    const CAPS: Caps = Caps {
        sync: true,
        trims: true,
        ..Caps::NONE
    };

    fn start(setup: Setup<'_, Options>) -> Result<Self, EngineError> {
        Ok(Psync {
            pool: setup.pool,
            files: setup.files,
            sync_range_flags: setup.sync_range_flags,
        })
    }

    #[inline]
    fn queue(&mut self, io: Io) -> Queued {
        let file = &self.files[usize::from(io.file)];
        let range = io.at as usize..io.at as usize + io.len as usize;
        Queued::Done(match io.ddir {
            Ddir::Read => transfer::pread(file, &mut self.pool.slot_mut(io.slot)[range], io.offset),
            Ddir::Write => transfer::pwrite(file, &self.pool.slot(io.slot)[range], io.offset),
            _ => inline::serve(file, &io, self.sync_range_flags),
        })
    }

    fn commit(&mut self, _min: u32) -> io::Result<u32> {
        Ok(0)
    }

    fn wait(&mut self, _min: u32) -> io::Result<()> {
        Ok(())
    }

    fn reap(&mut self, _max: u32, _done: impl FnMut(u32, i32)) -> u32 {
        0
    }

    fn slot(&self, slot: u32) -> &[u8] {
        self.pool.slot(slot)
    }

    fn slot_mut(&mut self, slot: u32) -> &mut [u8] {
        self.pool.slot_mut(slot)
    }

    fn files(&self) -> &[File] {
        &self.files
    }
}
