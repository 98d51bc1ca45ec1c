//! An engine that misbehaves on request, for testing what drives engines.
//!
//! It moves data as `psync` does (or, without files, not at all) and on top of that injects short
//! transfers, errors, refusals and disorder, by counting requests: the same calls give the same
//! faults. It is not in the registry, so no job can ask for it.

use crate::api::{Caps, Engine, EngineError, Io, Queued, Setup};
use crate::inline;
use std::io;
use sys::file::File;
use sys::pages::Pool;
use sys::transfer;
use units::Ddir;

const EAGAIN: i32 = 11;
const EIO: i32 = 5;

option::options! {
    /// Faults to inject
    pub struct Options {
        /// Every Nth data request moves only half of its bytes, rounded down; 0: none.
        short_every: u32 = "0";
        /// Every Nth data request fails with EAGAIN; 0: none.
        again_every: u32 = "0";
        /// Every Nth data request fails with EIO; 0: none.
        error_every: u32 = "0";
        /// Every Nth call of `queue` answers `Full`, whatever the room; 0: none. 1 counts as 2.
        full_every: u32 = "0";
        /// Hand completions out in a shuffled order.
        shuffle: bool = "0";
        /// Complete no more than was waited for.
        stingy: bool = "0";
    }
}

/// The engine; with `SYNC` each request completes inside `queue`.
#[derive(Debug)]
pub struct Fault<const SYNC: bool> {
    pool: Pool,
    files: Vec<File>,
    options: Options,
    depth: usize,
    sync_range_flags: u32,
    calls: u32,
    requests: u32,
    staged: Vec<Io>,
    in_flight: Vec<Io>,
    ready: Vec<(u32, i32)>,
    dice: u64,
}

impl<const SYNC: bool> Fault<SYNC> {
    /// Requests that are staged, in flight or not yet handed out.
    pub fn pending(&self) -> usize {
        self.staged.len() + self.in_flight.len() + self.ready.len()
    }

    /// Serves a request, with whatever fault its number asks for.
    fn serve(&mut self, io: Io) -> i32 {
        let file = self.files.get(usize::from(io.file));
        if !matches!(io.ddir, Ddir::Read | Ddir::Write) {
            let done = if io.ddir.is_data() { io.len as i32 } else { 0 };
            return file.map_or(done, |file| inline::serve(file, &io, self.sync_range_flags));
        }
        self.requests += 1;
        let due = |every: u32| every > 0 && self.requests.is_multiple_of(every);
        if due(self.options.error_every) {
            return -EIO;
        }
        if due(self.options.again_every) {
            return -EAGAIN;
        }
        let len = if due(self.options.short_every) {
            io.len / 2
        } else {
            io.len
        };
        let Some(file) = file else { return len as i32 };
        let range = io.at as usize..io.at as usize + len as usize;
        match io.ddir {
            Ddir::Read => transfer::pread(file, &mut self.pool.slot_mut(io.slot)[range], io.offset),
            _ => transfer::pwrite(file, &self.pool.slot(io.slot)[range], io.offset),
        }
    }

    /// Completes one request in flight: the oldest, or a drawn one.
    fn complete_one(&mut self) {
        let mut at = 0;
        if self.options.shuffle {
            self.dice = self
                .dice
                .wrapping_mul(0x5851_f42d_4c95_7f2d)
                .wrapping_add(1);
            at = (self.dice >> 33) as usize % self.in_flight.len();
        }
        let io = self.in_flight.remove(at);
        let result = self.serve(io);
        self.ready.push((io.slot, result));
    }
}

impl<const SYNC: bool> Engine for Fault<SYNC> {
    type Options = Options;
    const NAME: &'static str = "fault";
    const HELP: &'static str = "Misbehaves on request, for tests";
    const CAPS: Caps = Caps {
        sync: SYNC,
        trims: true,
        queued_syncs: true,
        ..Caps::NONE
    };

    fn start(setup: Setup<'_, Options>) -> Result<Self, EngineError> {
        Ok(Fault {
            pool: setup.pool,
            files: setup.files,
            options: setup.options.clone(),
            depth: setup.depth as usize,
            sync_range_flags: setup.sync_range_flags,
            calls: 0,
            requests: 0,
            staged: Vec::new(),
            in_flight: Vec::new(),
            ready: Vec::new(),
            dice: 1,
        })
    }

    fn queue(&mut self, io: Io) -> Queued {
        self.calls += 1;
        let every = self.options.full_every;
        let refused = every > 0 && self.calls.is_multiple_of(every.max(2));
        if SYNC {
            return if refused {
                Queued::Full
            } else {
                Queued::Done(self.serve(io))
            };
        }
        if refused || self.pending() >= self.depth {
            return Queued::Full;
        }
        let known = self.staged.iter().chain(&self.in_flight).map(|io| io.slot);
        let mut known = known.chain(self.ready.iter().map(|ready| ready.0));
        assert!(
            known.all(|slot| slot != io.slot),
            "slot {} has a request already",
            io.slot
        );
        self.staged.push(io);
        Queued::Staged
    }

    fn commit(&mut self, min: u32) -> io::Result<u32> {
        let count = self.staged.len();
        self.in_flight.append(&mut self.staged);
        if min > 0 {
            self.wait(min)?;
        }
        Ok(count as u32)
    }

    fn wait(&mut self, min: u32) -> io::Result<()> {
        // Even a poll finds one, or a loop that only polls would never end.
        let wanted = if self.options.stingy {
            min.max(1) as usize
        } else {
            usize::MAX
        };
        while self.ready.len() < wanted && !self.in_flight.is_empty() {
            self.complete_one();
        }
        Ok(())
    }

    fn reap(&mut self, max: u32, mut done: impl FnMut(u32, i32)) -> u32 {
        let count = self.ready.len().min(max as usize);
        for (slot, result) in self.ready.drain(..count) {
            done(slot, result);
        }
        count as u32
    }

    fn slot(&self, slot: u32) -> &[u8] {
        self.pool.slot(slot)
    }

    fn slot_mut(&mut self, slot: u32) -> &mut [u8] {
        self.pool.slot_mut(slot)
    }

    fn files(&self) -> &[File] {
        &self.files
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sys::pages::Kind;

    fn start<const SYNC: bool>(options: &Options) -> Fault<SYNC> {
        let pool = Pool::new(8, 4096, 4096, &Kind::Anonymous, false).unwrap();
        Fault::start(Setup::plain(options, 8, vec![], pool)).unwrap()
    }

    fn read(slot: u32) -> Io {
        Io::new(slot, 0, Ddir::Read, 0, 4096)
    }

    #[test]
    fn faults_come_by_number() {
        let options = Options {
            short_every: 2,
            error_every: 3,
            again_every: 5,
            ..Options::default()
        };
        let mut engine = start::<true>(&options);
        let results: Vec<_> = (0..6).map(|_| engine.queue(read(0))).collect();
        let want = [4096, 2048, -EIO, 2048, -EAGAIN, -EIO].map(Queued::Done);
        assert_eq!(results, want);
    }

    #[test]
    fn refusals_disorder_and_parsimony() {
        let options = Options {
            full_every: 3,
            shuffle: true,
            stingy: true,
            ..Options::default()
        };
        let mut engine = start::<false>(&options);
        let answers = [0, 1, 2, 2, 3, 4].map(|slot| engine.queue(read(slot)));
        assert_eq!(
            answers.map(|a| a == Queued::Full),
            [false, false, true, false, false, true]
        );
        assert_eq!(engine.commit(1).unwrap(), 4);
        let mut order = vec![];
        assert_eq!(engine.reap(9, |slot, _| order.push(slot)), 1);
        engine.wait(3).unwrap();
        assert_eq!(engine.reap(9, |slot, _| order.push(slot)), 3);
        assert_ne!(order, [0, 1, 2, 3]);
        order.sort();
        assert_eq!((order, engine.pending()), (vec![0, 1, 2, 3], 0));
    }
}
