//! Requests that go through an io_uring and do nothing: the ring's own ceiling.
//!
//! fio has no such engine; the self-check measures with it, and so can anybody.

use crate::api::{Caps, Engine, EngineError, Io, Queued, Setup};
use crate::io_uring::Uring;
use std::io;
use sys::file::File;

/// The engine. All requests must have the same length.
pub struct Nop {
    ring: Uring,
    len: i32,
}

impl Engine for Nop {
    type Options = <Uring as Engine>::Options;
    const NAME: &'static str = "nop";
    const HELP: &'static str = "Requests that do nothing, through an io_uring";
    const CAPS: Caps = Caps {
        diskless: true,
        fake: true,
        ..Caps::NONE
    };

    fn start(setup: Setup<'_, Self::Options>) -> Result<Self, EngineError> {
        let len = setup.min_len as i32;
        Ok(Nop {
            ring: Uring::start(setup)?,
            len,
        })
    }

    #[inline]
    fn queue(&mut self, io: Io) -> Queued {
        self.ring.queue_nop(io.slot)
    }

    #[inline]
    fn commit(&mut self, min: u32) -> io::Result<u32> {
        self.ring.commit(min)
    }

    #[inline]
    fn wait(&mut self, min: u32) -> io::Result<()> {
        self.ring.wait(min)
    }

    #[inline]
    fn reap(&mut self, max: u32, mut done: impl FnMut(u32, i32)) -> u32 {
        let len = self.len;
        // The kernel answers 0; the loops expect all bytes.
        self.ring.reap(max, |slot, result| {
            done(slot, if result == 0 { len } else { result })
        })
    }

    fn slot(&self, slot: u32) -> &[u8] {
        self.ring.slot(slot)
    }

    fn slot_mut(&mut self, slot: u32) -> &mut [u8] {
        self.ring.slot_mut(slot)
    }

    fn files(&self) -> &[File] {
        self.ring.files()
    }
}
