//! `posixaio`: the C library's asynchronous I/O, which runs requests on threads of its own.
//!
//! As in fio, a request is handed over as soon as it is queued, syncs are queued beside reads and
//! writes (`aio_fsync`), and trims and `sync_file_range`, which have no asynchronous form, are
//! served on the spot.

use crate::api::{Caps, Engine, EngineError, Io, NoOptions, Queued, Setup};
use crate::offload::Serve;
use crate::{direct, inline};
use std::io;
use sys::file::File;
use sys::posix_aio::{Context, Operation, Request};
use units::Ddir;

/// The engine.
pub struct Posixaio {
    context: Context,
    /// Requests queued since the last commit.
    fresh: u32,
    sync_range_flags: u32,
}

impl Engine for Posixaio {
    type Options = NoOptions;
    const NAME: &'static str = "posixaio";
    const HELP: &'static str = "aio_read and aio_write of the C library";
    const CAPS: Caps = Caps {
        trims: true,
        queued_syncs: true,
        offloads: true,
        ..Caps::NONE
    };

    fn start(setup: Setup<'_, NoOptions>) -> Result<Self, EngineError> {
        direct::check(Self::NAME, &setup)?;
        Ok(Posixaio {
            context: Context::new(setup.pool, setup.files),
            fresh: 0,
            sync_range_flags: setup.sync_range_flags,
        })
    }

    #[inline]
    fn queue(&mut self, io: Io) -> Queued {
        let operation = match io.ddir {
            Ddir::Read => Operation::Read,
            Ddir::Write => Operation::Write,
            Ddir::Sync => Operation::Sync,
            Ddir::DataSync => Operation::DataSync,
            Ddir::Trim | Ddir::SyncFileRange => {
                let file = &self.context.files()[usize::from(io.file)];
                return Queued::Done(inline::serve(file, &io, self.sync_range_flags));
            }
        };
        let request = Request {
            file: io.file,
            operation,
            offset: io.offset,
            at: io.at,
            len: if io.ddir.is_data() { io.len } else { 0 },
        };
        self.context.submit(io.slot, request);
        self.fresh += 1;
        Queued::Staged
    }

    #[inline]
    fn commit(&mut self, min: u32) -> io::Result<u32> {
        let submitted = std::mem::take(&mut self.fresh);
        if min > 0 {
            self.context.wait(min)?;
        }
        Ok(submitted)
    }

    #[inline]
    fn wait(&mut self, min: u32) -> io::Result<()> {
        if min == 0 {
            return Ok(());
        }
        self.context.wait(min)
    }

    #[inline]
    fn reap(&mut self, max: u32, done: impl FnMut(u32, i32)) -> u32 {
        self.context.reap(max, done)
    }

    #[inline]
    fn slot(&self, slot: u32) -> &[u8] {
        self.context.slot(slot)
    }

    #[inline]
    fn slot_mut(&mut self, slot: u32) -> &mut [u8] {
        self.context.slot_mut(slot)
    }

    fn files(&self) -> &[File] {
        self.context.files()
    }

    fn into_server(self) -> Option<Box<dyn Serve>> {
        Some(Box::new(self))
    }
}
