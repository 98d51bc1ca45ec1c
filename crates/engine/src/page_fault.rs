//! `page_fault`: copies between the buffers and anonymous memory, whose pages come into being
//! when they are first touched.
//!
//! As in fio: one target, which need not exist, and syncs do nothing.

use crate::api::{Caps, Engine, EngineError, Io, NoOptions, Queued, Setup};
use sys::file::File;
use sys::mapping::Mapping;
use sys::pages::Pool;
use units::Ddir;

/// The engine.
#[derive(Debug)]
pub struct PageFault {
    pool: Pool,
    memory: Mapping,
}

impl Engine for PageFault {
    type Options = NoOptions;
    const NAME: &'static str = "page_fault";
    const HELP: &'static str = "Copies to and from anonymous memory";
    const CAPS: Caps = Caps {
        sync: true,
        diskless: true,
        ..Caps::NONE
    };

    fn start(setup: Setup<'_, NoOptions>) -> Result<Self, EngineError> {
        if setup.job.targets.len() > 1 {
            return Err(EngineError::Unsupported {
                engine: Self::NAME,
                what: "there is one memory only; use nrfiles=1".into(),
            });
        }
        let memory = Mapping::anonymous(setup.job.end).map_err(|source| EngineError::Kernel {
            engine: Self::NAME,
            what: format!("mapping {} bytes of memory", setup.job.end),
            source,
        })?;
        Ok(PageFault {
            pool: setup.pool,
            memory,
        })
    }

    #[inline]
    fn queue(&mut self, io: Io) -> Queued {
        let range = io.at as usize..io.at as usize + io.len as usize;
        Queued::Done(match io.ddir {
            Ddir::Read => {
                let buffer = &mut self.pool.slot_mut(io.slot)[range];
                self.memory.read(io.offset, buffer) as i32
            }
            Ddir::Write => {
                let buffer = &self.pool.slot(io.slot)[range];
                self.memory.write(io.offset, buffer) as i32
            }
            _ => 0,
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
        &[]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Job;
    use sys::pages::Kind;

    #[test]
    fn memory_keeps_what_is_written() {
        let pool = Pool::new(1, 4096, 4096, &Kind::Anonymous, false).unwrap();
        let job = Job {
            end: 8192,
            ..Job::default()
        };
        let setup = Setup {
            job,
            ..Setup::plain(&NoOptions {}, 1, vec![], pool)
        };
        let mut engine = PageFault::start(setup).unwrap();
        engine.slot_mut(0).fill(7);
        let mut ask = |ddir, offset| engine.queue(Io::new(0, 0, ddir, offset, 4096));
        assert_eq!(ask(Ddir::Write, 4096), Queued::Done(4096));
        assert_eq!(ask(Ddir::Read, 0), Queued::Done(4096));
        assert_eq!(ask(Ddir::Sync, 0), Queued::Done(0));
        assert_eq!(ask(Ddir::Read, 8192), Queued::Done(0));
        assert!(engine.slot(0).iter().all(|&byte| byte == 0));
        let io = Io::new(0, 0, Ddir::Read, 4096, 4096);
        assert_eq!(engine.queue(io), Queued::Done(4096));
        assert!(engine.slot(0).iter().all(|&byte| byte == 7));
    }
}
