//! `ftruncate`: a write cuts (or extends) the file to the request's offset.

use crate::api::{Caps, Engine, EngineError, Io, NoOptions, Queued, Setup};
use crate::inline;
use crate::offload::Serve;
use sys::file::File;
use sys::pages::Pool;
use units::Ddir;

/// The engine.
#[derive(Debug)]
pub struct Ftruncate {
    pool: Pool,
    files: Vec<File>,
    sync_range_flags: u32,
}

impl Engine for Ftruncate {
    type Options = NoOptions;
    const NAME: &'static str = "ftruncate";
    const HELP: &'static str = "Sets the file's size to each offset";
    const CAPS: Caps = Caps {
        sync: true,
        fake: true,
        offloads: true,
        ..Caps::NONE
    };

    fn start(setup: Setup<'_, NoOptions>) -> Result<Self, EngineError> {
        if setup.reads {
            return Err(EngineError::Unsupported {
                engine: Self::NAME,
                what: "only writes have a meaning here; use rw=write or rw=randwrite".into(),
            });
        }
        Ok(Ftruncate {
            pool: setup.pool,
            files: setup.files,
            sync_range_flags: setup.sync_range_flags,
        })
    }

    #[inline]
    fn queue(&mut self, io: Io) -> Queued {
        let file = &self.files[usize::from(io.file)];
        Queued::Done(match io.ddir {
            Ddir::Write => inline::errno(file.set_size(io.offset), io.len as i32),
            _ => inline::serve(file, &io, self.sync_range_flags),
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

#[cfg(test)]
mod tests {
    use super::*;
    use sys::file::Open;
    use sys::pages::Kind;

    #[test]
    fn the_size_follows_the_offset() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let how = Open {
            read: true,
            write: true,
            create: true,
            ..Open::default()
        };
        let open = || File::open(&path, how).unwrap();
        let pool = || Pool::new(1, 4096, 4096, &Kind::Anonymous, false).unwrap();
        let setup = Setup::plain(&NoOptions {}, 1, vec![open()], pool());
        assert!(Ftruncate::start(setup).is_err(), "a job that reads");
        let setup = Setup {
            reads: false,
            ..Setup::plain(&NoOptions {}, 1, vec![open()], pool())
        };
        let mut engine = Ftruncate::start(setup).unwrap();
        for offset in [8192, 4096, 1 << 20] {
            let io = Io::new(0, 0, Ddir::Write, offset, 4096);
            assert_eq!(engine.queue(io), Queued::Done(4096));
            assert_eq!(std::fs::metadata(&path).unwrap().len(), offset);
        }
        let sync = Io::new(0, 0, Ddir::Sync, 0, 0);
        assert_eq!(engine.queue(sync), Queued::Done(0));
    }
}
