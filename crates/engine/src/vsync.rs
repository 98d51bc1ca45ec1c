//! `vsync`: requests that follow each other in one file are gathered into one `readv` or
//! `writev`.
//!
//! A request that cannot join those already gathered, by place, direction or number, answers
//! [`Queued::Full`]; a commit then moves the gathered ones. Syncs and trims are served on the spot
//! when nothing is gathered.

use crate::api::{Caps, Engine, EngineError, Io, NoOptions, Queued, Setup};
use crate::offload::Serve;
use crate::{direct, inline};
use std::io;
use sys::file::File;
use sys::pages::Pool;
use sys::transfer::{self, MOST_PARTS, Part};
use units::Ddir;

/// The engine.
#[derive(Debug)]
pub struct Vsync {
    pool: Pool,
    files: Vec<File>,
    sync_range_flags: u32,
    most: usize,
    gathered: Vec<Part>,
    /// The first gathered request; its length is that of all together.
    whole: Io,
    /// Results; `done[next..]` has not been handed out.
    done: Vec<(u32, i32)>,
    next: usize,
}

impl Vsync {
    fn joins(&self, io: &Io) -> bool {
        let whole = &self.whole;
        io.file == whole.file
            && io.ddir == whole.ddir
            && io.offset == whole.offset + u64::from(whole.len)
            && whole.len.checked_add(io.len).is_some()
    }

    fn transfer(&mut self) -> i32 {
        let file = &self.files[usize::from(self.whole.file)];
        let failed = transfer::seek(file, self.whole.offset);
        if failed < 0 {
            return failed;
        }
        match self.whole.ddir {
            Ddir::Read => transfer::read_parts(file, &mut self.pool, &self.gathered),
            _ => transfer::write_parts(file, &self.pool, &self.gathered),
        }
    }
}

impl Engine for Vsync {
    type Options = NoOptions;
    const NAME: &'static str = "vsync";
    const HELP: &'static str = "readv and writev, adjacent requests gathered into one call";
    const CAPS: Caps = Caps {
        sync: true,
        gathers: true,
        trims: true,
        offloads: true,
        ..Caps::NONE
    };

    fn start(setup: Setup<'_, NoOptions>) -> Result<Self, EngineError> {
        direct::check(Self::NAME, &setup)?;
        let depth = setup.depth as usize;
        Ok(Vsync {
            pool: setup.pool,
            files: setup.files,
            sync_range_flags: setup.sync_range_flags,
            most: depth.min(MOST_PARTS),
            gathered: Vec::with_capacity(depth),
            whole: Io::new(0, 0, Ddir::Read, 0, 0),
            done: Vec::with_capacity(depth),
            next: 0,
        })
    }

    #[inline]
    fn queue(&mut self, io: Io) -> Queued {
        let alone = self.gathered.is_empty();
        if self.next < self.done.len() || self.gathered.len() == self.most {
            return Queued::Full;
        }
        if !matches!(io.ddir, Ddir::Read | Ddir::Write) {
            let file = &self.files[usize::from(io.file)];
            let now = || Queued::Done(inline::serve(file, &io, self.sync_range_flags));
            return if alone { now() } else { Queued::Full };
        }
        if alone {
            self.whole = io;
        } else if self.joins(&io) {
            self.whole.len += io.len;
        } else {
            return Queued::Full;
        }
        self.gathered.push(Part {
            slot: io.slot,
            at: io.at,
            len: io.len,
        });
        Queued::Staged
    }

    fn commit(&mut self, _min: u32) -> io::Result<u32> {
        if self.gathered.is_empty() || self.next < self.done.len() {
            return Ok(0);
        }
        self.done.clear();
        self.next = 0;
        let result = self.transfer();
        let mut left = result.max(0) as u32;
        for part in &self.gathered {
            let moved = part.len.min(left);
            left -= moved;
            self.done
                .push((part.slot, if result < 0 { result } else { moved as i32 }));
        }
        let count = self.gathered.len();
        self.gathered.clear();
        Ok(count as u32)
    }

    fn wait(&mut self, _min: u32) -> io::Result<()> {
        Ok(())
    }

    #[inline]
    fn reap(&mut self, max: u32, mut done: impl FnMut(u32, i32)) -> u32 {
        let end = self.done.len().min(self.next.saturating_add(max as usize));
        for &(slot, result) in &self.done[self.next..end] {
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
        &self.files
    }

    fn into_server(self) -> Option<Box<dyn Serve>> {
        Some(Box::new(self))
    }
}
