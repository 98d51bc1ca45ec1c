//! `lockfile`: requests of different workers to one file exclude each other.
//!
//! A worker that finds a file taken asks again a little later; nothing blocks in the kernel, so
//! that orders are still heard. A lock belongs to a slot until its request comes back; that of
//! a request which failed, when the slot is used again or the worker ends.

use crate::hot::Gate;
use engine::Io;
use plan::model::{LockMode, Worker};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use sys::clock::Clock;
use units::Ddir;

/// How long to wait before a taken file is asked for again.
const AGAIN_NS: u64 = 5_000;
/// State of a lock that one request holds alone; readers count upwards from 0.
const ALONE: i32 = -1;

/// The locks of a run, one for each file that has some.
#[derive(Clone, Debug, Default)]
pub struct Locks(HashMap<PathBuf, Arc<Lock>>);

/// The lock of one file.
#[derive(Debug, Default)]
struct Lock {
    /// Readers inside, or [`ALONE`].
    state: AtomicI32,
    /// Workers outside.
    waiting: AtomicI32,
}

impl Locks {
    /// Locks for all files that `workers` want locked.
    pub fn new<'a>(workers: impl Iterator<Item = &'a Worker>) -> Self {
        let mut locks = HashMap::new();
        for target in workers.flat_map(|worker| &worker.targets) {
            if target.lock.is_some() {
                locks.entry(target.path.to_path_buf()).or_default();
            }
        }
        Locks(locks)
    }

    /// What a worker with `depth` slots needs of them, if anything.
    pub fn of(&self, worker: &Worker, depth: u32) -> Option<Turns> {
        let files: Vec<_> = worker
            .targets
            .iter()
            .map(|target| {
                let lock = self.0.get(&*target.path)?;
                Some((Arc::clone(lock), target.lock?))
            })
            .collect();
        files.iter().any(Option::is_some).then(|| Turns {
            files,
            held: vec![None; depth.max(1) as usize],
            waits: None,
            had: None,
        })
    }
}

/// The locks of one worker.
#[derive(Debug)]
pub struct Turns {
    files: Vec<Option<(Arc<Lock>, LockMode)>>,
    /// What each slot holds: a file, alone or not.
    held: Vec<Option<(u16, bool)>>,
    /// The lock that is waited for.
    waits: Option<Arc<Lock>>,
    /// The file that was given back last: others go first.
    had: Option<u16>,
}

impl Turns {
    /// Takes the lock for a request, or says when to ask again.
    pub fn gate<C: Clock>(&mut self, io: &Io, clock: C) -> Gate {
        let Some(Some((lock, mode))) = self.files.get(usize::from(io.file)) else {
            return Gate::Go;
        };
        if !io.ddir.is_data() {
            return Gate::Go;
        }
        let alone = *mode == LockMode::Exclusive || io.ddir != Ddir::Read;
        let slot = io.slot as usize;
        if self.held[slot] == Some((io.file, alone)) {
            return Gate::Go;
        }
        let lock = Arc::clone(lock);
        self.release(io.slot);
        let order = (Ordering::Acquire, Ordering::Relaxed);
        let others = lock.waiting.load(Ordering::Relaxed) > 0 && self.waits.is_none();
        let steps_aside = self.had.take() == Some(io.file) && others;
        let taken = lock
            .state
            .fetch_update(order.0, order.1, |state| match (alone, state) {
                _ if steps_aside => None,
                (true, 0) => Some(ALONE),
                (false, 0..) => Some(state + 1),
                _ => None,
            });
        if taken.is_err() {
            if self.waits.is_none() {
                lock.waiting.fetch_add(1, Ordering::Relaxed);
                self.waits = Some(lock);
            }
            let wait_ns = if steps_aside { 4 * AGAIN_NS } else { AGAIN_NS };
            return Gate::At(clock.now() + clock.ticks(wait_ns));
        }
        self.wait_no_more();
        self.held[slot] = Some((io.file, alone));
        Gate::Go
    }

    fn wait_no_more(&mut self) {
        if let Some(lock) = self.waits.take() {
            lock.waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// The request of a slot has come back.
    pub fn release(&mut self, slot: u32) {
        let Some((file, alone)) = self.held[slot as usize].take() else {
            return;
        };
        if let Some((lock, _)) = &self.files[usize::from(file)] {
            let by = if alone { ALONE } else { 1 };
            lock.state.fetch_sub(by, Ordering::Release);
            self.had = Some(file);
        }
    }
}

impl Drop for Turns {
    fn drop(&mut self) {
        self.wait_no_more();
        for slot in 0..self.held.len() {
            self.release(slot as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sys::clock::Step;

    fn turns(lock: &Arc<Lock>, mode: LockMode) -> Turns {
        Turns {
            files: vec![Some((Arc::clone(lock), mode))],
            held: vec![None; 2],
            waits: None,
            had: None,
        }
    }

    #[test]
    fn readers_share_and_writers_are_alone() {
        let lock = Arc::default();
        let clock = Step::new(1);
        let mut a = turns(&lock, LockMode::ReadWrite);
        let mut b = turns(&lock, LockMode::ReadWrite);
        let io = |slot, ddir| Io::new(slot, 0, ddir, 0, 512);
        let goes = |turns: &mut Turns, io: Io| turns.gate(&io, clock) == Gate::Go;
        assert!(goes(&mut a, io(0, Ddir::Read)) && goes(&mut b, io(0, Ddir::Read)));
        assert!(!goes(&mut a, io(1, Ddir::Write)));
        a.release(0);
        b.release(0);
        assert!(goes(&mut a, io(1, Ddir::Write)) && goes(&mut a, io(1, Ddir::Write)));
        assert!(!goes(&mut b, io(0, Ddir::Read)));
        assert!(goes(&mut b, io(0, Ddir::Sync)), "a flush needs no lock");
        drop(a);
        assert!(goes(&mut b, io(0, Ddir::Trim)));
    }

    #[test]
    fn exclusive_readers_take_turns() {
        let lock = Arc::default();
        let clock = Step::new(1);
        let mut a = turns(&lock, LockMode::Exclusive);
        let mut b = turns(&lock, LockMode::Exclusive);
        let io = Io::new(0, 0, Ddir::Read, 0, 512);
        assert_eq!(a.gate(&io, clock), Gate::Go);
        assert_ne!(b.gate(&io, clock), Gate::Go);
        a.release(0);
        assert_eq!(b.gate(&io, clock), Gate::Go);
    }
}
