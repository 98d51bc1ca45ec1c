//! `libaio`: Linux asynchronous I/O through its system calls.
//!
//! As in fio, syncs and trims have no asynchronous form here: they are served on the spot when
//! nothing is staged, else the answer is [`Queued::Full`].

use crate::api::{Caps, Engine, EngineError, Io, Queued, Setup};
use crate::cmdprio::{CmdPrio, with_priorities};
use crate::offload::Serve;
use crate::{direct, inline};
use std::io;
use sys::aio::{Config, Context, Transfer};
use sys::file::File;
use sys::transfer::{RWF_ATOMIC, RWF_NOWAIT};
use units::Ddir;

with_priorities! {
    /// Linux asynchronous I/O
    pub struct Options {
        /// Take completions from the kernel's ring without a system call.
        ///
        /// Of use with iodepth_batch_complete_min=0 and where completions arrive before they are
        /// asked for.
        userspace_reap: bool = "0", bare();
        /// Fail with EAGAIN instead of blocking (RWF_NOWAIT); see ignore_error.
        nowait: bool = "0";
        /// Submit vectored requests (preadv and pwritev).
        libaio_vectored: bool = "0";
    }
}

/// The engine.
pub struct Libaio {
    context: Context,
    sync_range_flags: u32,
}

impl Engine for Libaio {
    type Options = Options;
    const NAME: &'static str = "libaio";
    const ALIASES: &'static [&'static str] = &["aio", "linuxaio"];
    const HELP: &'static str = "Linux asynchronous I/O; asynchronous only with direct=1";
    const CAPS: Caps = Caps {
        trims: true,
        atomic: true,
        offloads: true,
        ..Caps::NONE
    };

    fn start(setup: Setup<'_, Options>) -> Result<Self, EngineError> {
        direct::check(Self::NAME, &setup)?;
        let options = setup.options;
        let flag = |on: bool, flag: u32| if on { flag } else { 0 };
        let config = Config {
            userspace_reap: options.userspace_reap,
            vectored: options.libaio_vectored,
            read_flags: flag(options.nowait, RWF_NOWAIT),
            write_flags: flag(options.nowait, RWF_NOWAIT) | flag(setup.atomic, RWF_ATOMIC),
            priority: setup.priority,
        };
        let context = Context::new(setup.pool, setup.files, config).map_err(|source| {
            let what = format!(
                "io_setup for {} requests; look at /proc/sys/fs/aio-nr and aio-max-nr",
                setup.depth
            );
            EngineError::Kernel {
                engine: Self::NAME,
                what,
                source,
            }
        })?;
        Ok(Libaio {
            context,
            sync_range_flags: setup.sync_range_flags,
        })
    }

    fn priorities(options: &Options) -> Result<Option<CmdPrio>, EngineError> {
        CmdPrio::new(&options.prioritised(Self::NAME))
    }

    #[inline]
    fn set_priority(&mut self, priority: u16) {
        self.context.set_priority(priority);
    }

    #[inline]
    fn queue(&mut self, io: Io) -> Queued {
        let write = match io.ddir {
            Ddir::Read => false,
            Ddir::Write => true,
            _ if self.context.staged() > 0 => return Queued::Full,
            _ => {
                let file = &self.context.files()[usize::from(io.file)];
                return Queued::Done(inline::serve(file, &io, self.sync_range_flags));
            }
        };
        let Io {
            slot,
            file,
            offset,
            at,
            len,
            ..
        } = io;
        self.context.stage(
            slot,
            Transfer {
                file,
                write,
                offset,
                at,
                len,
            },
        );
        Queued::Staged
    }

    #[inline]
    fn commit(&mut self, min: u32) -> io::Result<u32> {
        let submitted = self.context.submit()?;
        if min > 0 {
            self.context.wait(min)?;
        }
        Ok(submitted)
    }

    #[inline]
    fn wait(&mut self, min: u32) -> io::Result<()> {
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
