//! `splice`: data move through a pipe, with `splice` at the file and `vmsplice` at the buffer.

use crate::api::{Caps, Engine, EngineError, Io, NoOptions, Queued, Setup};
use crate::offload::Serve;
use crate::{direct, inline};
use sys::file::File;
use sys::pages::Pool;
use sys::pipe::Pipe;
use units::Ddir;

/// The engine.
#[derive(Debug)]
pub struct Splice {
    pool: Pool,
    files: Vec<File>,
    pipe: Pipe,
    sync_range_flags: u32,
}

impl Splice {
    /// A request failed, so the pipe may hold part of it.
    #[cold]
    fn empty(&mut self) {
        if let Ok(pipe) = Pipe::new() {
            self.pipe = pipe;
        }
    }
}

impl Engine for Splice {
    type Options = NoOptions;
    const NAME: &'static str = "splice";
    const HELP: &'static str = "splice and vmsplice through a pipe";
    const CAPS: Caps = Caps {
        sync: true,
        trims: true,
        offloads: true,
        ..Caps::NONE
    };

    fn start(setup: Setup<'_, NoOptions>) -> Result<Self, EngineError> {
        direct::check(Self::NAME, &setup)?;
        let pipe = Pipe::new().map_err(|source| EngineError::Kernel {
            engine: Self::NAME,
            what: "making a pipe".into(),
            source,
        })?;
        Ok(Splice {
            pool: setup.pool,
            files: setup.files,
            pipe,
            sync_range_flags: setup.sync_range_flags,
        })
    }

    #[inline]
    fn queue(&mut self, io: Io) -> Queued {
        let file = &self.files[usize::from(io.file)];
        let range = io.at as usize..io.at as usize + io.len as usize;
        let result = match io.ddir {
            Ddir::Read => {
                let buffer = &mut self.pool.slot_mut(io.slot)[range];
                self.pipe.receive(file, Some(io.offset), buffer)
            }
            Ddir::Write => {
                let buffer = &self.pool.slot(io.slot)[range];
                self.pipe.send(file, Some(io.offset), buffer)
            }
            _ => inline::serve(file, &io, self.sync_range_flags),
        };
        if result < 0 {
            self.empty();
        }
        Queued::Done(result)
    }

    #[inline]
    fn slot(&self, slot: u32) -> &[u8] {
        self.pool.slot(slot)
    }

    #[inline]
    fn slot_mut(&mut self, slot: u32) -> &mut [u8] {
        self.pool.slot_mut(slot)
    }

    fn files(&self) -> &[File] {
        &self.files
    }

    fn into_server(self) -> Option<Box<dyn Serve>> {
        Some(Box::new(self))
    }
}
