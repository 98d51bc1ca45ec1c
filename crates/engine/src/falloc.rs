//! `falloc`: allocates space instead of moving data.
//!
//! As in fio: a read allocates without changing the file's size, a write allocates and extends
//! it, a trim punches a hole. Syncs are syncs.

use crate::api::{Caps, Engine, EngineError, Io, NoOptions, Queued, Setup};
use crate::inline;
use crate::offload::Serve;
use sys::file::{Allocation, File, Kind};
use sys::pages::Pool;
use units::Ddir;

/// The engine.
#[derive(Debug)]
pub struct Falloc {
    pool: Pool,
    files: Vec<File>,
    sync_range_flags: u32,
}

fn holds_space(file: &File) -> bool {
    matches!(file.kind(), Kind::Regular | Kind::Block)
}

impl Engine for Falloc {
    type Options = NoOptions;
    const NAME: &'static str = "falloc";
    const HELP: &'static str = "Allocates space and punches holes (fallocate)";
    const CAPS: Caps = Caps {
        sync: true,
        fake: true,
        alters: true,
        trims: true,
        offloads: true,
        ..Caps::NONE
    };

    fn start(setup: Setup<'_, NoOptions>) -> Result<Self, EngineError> {
        if let Some(file) = setup.files.iter().find(|file| !holds_space(file)) {
            return Err(EngineError::Unsupported {
                engine: Self::NAME,
                what: format!("{} is neither file nor block device", file.path().display()),
            });
        }
        Ok(Falloc {
            pool: setup.pool,
            files: setup.files,
            sync_range_flags: setup.sync_range_flags,
        })
    }

    #[inline]
    fn queue(&mut self, io: Io) -> Queued {
        let file = &self.files[usize::from(io.file)];
        let how = match io.ddir {
            Ddir::Read => Allocation::KeepSize,
            Ddir::Write => Allocation::Native,
            Ddir::Trim => {
                let done = file.punch_hole(io.offset, io.len.into());
                return Queued::Done(inline::errno(done, io.len as i32));
            }
            _ => return Queued::Done(inline::serve(file, &io, self.sync_range_flags)),
        };
        let done = file.allocate(how, io.offset, io.len.into());
        Queued::Done(inline::errno(done, io.len as i32))
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;
    use sys::file::Open;
    use sys::pages::Kind as Memory;

    #[test]
    fn space_comes_and_goes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let how = Open {
            read: true,
            write: true,
            create: true,
            ..Open::default()
        };
        let file = File::open(&path, how).unwrap();
        if file.allocate(Allocation::KeepSize, 0, 4096).is_err() {
            eprintln!("SKIP falloc: this file system cannot allocate");
            return;
        }
        let pool = Pool::new(1, 8192, 4096, &Memory::Anonymous, false).unwrap();
        let mut engine = Falloc::start(Setup::plain(&NoOptions {}, 1, vec![file], pool)).unwrap();
        let mut ask = |ddir, offset| engine.queue(Io::new(0, 0, ddir, offset, 8192));
        let look = || {
            let meta = std::fs::metadata(&path).unwrap();
            (meta.len(), meta.blocks() * 512)
        };
        assert_eq!(ask(Ddir::Read, 0), Queued::Done(8192));
        assert_eq!(look(), (0, 8192));
        assert_eq!(ask(Ddir::Write, 8192), Queued::Done(8192));
        assert_eq!(look(), (16384, 16384));
        assert_eq!(ask(Ddir::Trim, 0), Queued::Done(8192));
        assert_eq!(look(), (16384, 8192));
        assert_eq!(ask(Ddir::Sync, 0), Queued::Done(0));
    }

    #[test]
    fn only_what_holds_space_is_taken() {
        let null = File::open("/dev/null".as_ref(), Open::default()).unwrap();
        let pool = Pool::new(1, 8192, 4096, &Memory::Anonymous, false).unwrap();
        let setup = Setup::plain(&NoOptions {}, 1, vec![null], pool);
        let error = Falloc::start(setup).unwrap_err().to_string();
        assert!(error.contains("/dev/null is neither"), "{error}");
    }
}
