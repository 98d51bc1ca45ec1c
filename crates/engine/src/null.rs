//! `null`: moves no data. Measures the tool, not a device.
//!
//! As in fio: at depth 1 a request completes inside `queue`. Deeper, it is staged, a commit moves
//! the batch, and until that batch has been reaped nothing further is taken.

use crate::api::{Caps, Engine, EngineError, Io, NoOptions, Queued, Setup};
use crate::offload::Serve;
use std::io;
use sys::file::File;
use sys::pages::Pool;

/// The engine.
#[derive(Debug)]
pub struct Null {
    pool: Pool,
    inline: bool,
    /// Slots and results of requests queued since the last commit; `staged_n` of them.
    staged: Box<[(u32, i32)]>,
    staged_n: usize,
    /// The committed batch, `ready_n` of them; those from `next` on have not been handed out.
    ready: Box<[(u32, i32)]>,
    ready_n: usize,
    next: usize,
}

impl Engine for Null {
    type Options = NoOptions;
    const NAME: &'static str = "null";
    const HELP: &'static str = "Moves no data; measures the cost of the tool itself";
    const CAPS: Caps = Caps {
        diskless: true,
        fake: true,
        trims: true,
        queued_syncs: true,
        sync_at_depth_one: true,
        offloads: true,
        ..Caps::NONE
    };

    fn start(setup: Setup<'_, NoOptions>) -> Result<Self, EngineError> {
        let depth = setup.depth as usize;
        Ok(Null {
            pool: setup.pool,
            inline: depth == 1,
            staged: vec![(0, 0); depth].into(),
            staged_n: 0,
            ready: vec![(0, 0); depth].into(),
            ready_n: 0,
            next: 0,
        })
    }

    #[inline]
    fn queue(&mut self, io: Io) -> Queued {
        let result = if io.ddir.is_data() { io.len as i32 } else { 0 };
        if self.inline {
            return Queued::Done(result);
        }
        match self.staged.get_mut(self.staged_n) {
            Some(entry) if self.next == self.ready_n => {
                *entry = (io.slot, result);
                self.staged_n += 1;
                Queued::Staged
            }
            _ => Queued::Full,
        }
    }

    #[inline]
    fn commit(&mut self, _min: u32) -> io::Result<u32> {
        if self.next < self.ready_n {
            return Ok(0);
        }
        std::mem::swap(&mut self.staged, &mut self.ready);
        self.ready_n = std::mem::take(&mut self.staged_n);
        self.next = 0;
        Ok(self.ready_n as u32)
    }

    #[inline]
    fn wait(&mut self, _min: u32) -> io::Result<()> {
        Ok(())
    }

    #[inline]
    fn reap(&mut self, max: u32, mut done: impl FnMut(u32, i32)) -> u32 {
        let end = self.ready_n.min(self.next.saturating_add(max as usize));
        for &(slot, result) in &self.ready[self.next..end] {
            done(slot, result);
        }
        let handed = end - self.next;
        self.next = end;
        handed as u32
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

    fn into_server(self) -> Option<Box<dyn Serve>> {
        Some(Box::new(self))
    }
}
