//! `mmap`: copies between the buffers and a mapping of the whole file.
//!
//! As in fio, syncs write the mapping back with `msync`, and with `direct=1` each request's pages
//! are written back and dropped afterwards, which is as near to direct as a mapping gets.

use crate::api::{Caps, Engine, EngineError, Io, Queued, Setup};
use crate::inline;
use crate::offload::Serve;
use sys::file::File;
use sys::mapping::{Access, Mapping};
use sys::pages::Pool;
use units::Ddir;

option::options! {
    /// mmap
    pub struct Options {
        /// Ask for transparent huge pages (MADV_HUGEPAGE).
        thp: bool = "0", bare();
    }
}

/// The engine.
#[derive(Debug)]
pub struct Mmap {
    pool: Pool,
    files: Vec<File>,
    mappings: Vec<Mapping>,
    drop_pages: bool,
}

impl Mmap {
    #[inline]
    fn copy(&mut self, io: &Io) -> i32 {
        let mapping = &self.mappings[usize::from(io.file)];
        let range = io.at as usize..io.at as usize + io.len as usize;
        let moved = if io.ddir == Ddir::Read {
            mapping.read(io.offset, &mut self.pool.slot_mut(io.slot)[range])
        } else {
            mapping.write(io.offset, &self.pool.slot(io.slot)[range])
        };
        if self.drop_pages {
            let len = u64::from(io.len);
            let dropped = mapping
                .flush(io.offset, len)
                .and_then(|()| mapping.forget(io.offset, len));
            return inline::errno(dropped, moved as i32);
        }
        moved as i32
    }
}

impl Engine for Mmap {
    type Options = Options;
    const NAME: &'static str = "mmap";
    const HELP: &'static str = "Copies to and from a mapping of the file";
    const CAPS: Caps = Caps {
        sync: true,
        trims: true,
        fixed_size: true,
        offloads: true,
        ..Caps::NONE
    };

    fn start(setup: Setup<'_, Options>) -> Result<Self, EngineError> {
        let access = Access {
            write: setup.writes,
            random: setup.random,
            huge: setup.options.thp,
        };
        let mappings = setup.files.iter().map(|file| {
            Mapping::new(file, access).map_err(|source| EngineError::Kernel {
                engine: Self::NAME,
                what: format!("mapping {}", file.path().display()),
                source,
            })
        });
        Ok(Mmap {
            mappings: mappings.collect::<Result<_, _>>()?,
            pool: setup.pool,
            files: setup.files,
            drop_pages: setup.direct,
        })
    }

    #[inline]
    fn queue(&mut self, io: Io) -> Queued {
        let mapping = &self.mappings[usize::from(io.file)];
        Queued::Done(match io.ddir {
            Ddir::Read | Ddir::Write => self.copy(&io),
            Ddir::Trim => inline::serve(&self.files[usize::from(io.file)], &io, 0),
            Ddir::Sync | Ddir::DataSync => inline::errno(mapping.flush(0, u64::MAX), 0),
            Ddir::SyncFileRange => {
                let len = if io.len == 0 {
                    u64::MAX
                } else {
                    u64::from(io.len)
                };
                inline::errno(mapping.flush(io.offset, len), 0)
            }
        })
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
