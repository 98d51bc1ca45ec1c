//! The loop of synchronous engines: issue, wait, account; depth is one.
//!
//! Two stamps per I/O. The first is at once fio's start and issue stamp, because nothing lies
//! between them here; so completion latency and total latency are the same number and are
//! recorded once. The second stamp is never the first of the next I/O: bookkeeping does not
//! leak into latency.

use super::{Done, EIO, Exit, Gate, Hooks, Work};
use engine::{Aside, Engine, Io, Queued};
use sys::clock::Clock;
use units::Ddir;

/// Runs one pass.
pub fn run<E: Engine, C: Clock, H: Hooks>(work: &mut Work<'_, E, C>, hooks: &mut H) -> Exit {
    let mut alike = Alike {
        ddir: Ddir::Read,
        ticks: 0,
        n: 0,
    };
    let exit = issue(work, hooks, &mut alike);
    alike.settle(work);
    exit
}

/// Successive requests of one direction that took equally many ticks, not yet in the statistics.
/// Quick engines take the same time again and again: those cost one addition each.
struct Alike {
    ddir: Ddir,
    ticks: u64,
    n: u64,
}

impl Alike {
    #[inline(always)]
    fn add<E, C: Clock>(&mut self, work: &mut Work<'_, E, C>, ddir: Ddir, ticks: u64) {
        if ticks != self.ticks || ddir != self.ddir {
            self.settle(work);
            (self.ddir, self.ticks) = (ddir, ticks);
        }
        self.n += 1;
    }

    /// Moves them to the statistics; before anybody else looks at those.
    #[inline(always)]
    fn settle<E, C: Clock>(&mut self, work: &mut Work<'_, E, C>) {
        let n = std::mem::take(&mut self.n);
        if n > 0 {
            let ns = work.clock.ns(self.ticks);
            work.stats.classes[self.ddir].clat.add(ns, n);
        }
    }
}

#[inline(always)]
fn issue<E: Engine, C: Clock, H: Hooks>(
    work: &mut Work<'_, E, C>,
    hooks: &mut H,
    alike: &mut Alike,
) -> Exit {
    loop {
        if work.live.ordered() {
            alike.settle(work);
            if work.obey(hooks) {
                return Exit::Stopped;
            }
        }
        if work.batch.pos == work.batch.n && !work.refill(hooks) {
            return Exit::PassDone;
        }
        let mut io = work.peek(0);
        if H::ACTIVE {
            match hooks.gate(&mut io, work.clock) {
                Gate::Go => {}
                Gate::Until(deadline) | Gate::At(deadline) => {
                    crate::wait::until(work.clock, work.live, deadline);
                    continue;
                }
                Gate::Hold => continue,
                Gate::Drop => {
                    work.batch.pos += 1;
                    continue;
                }
                Gate::Stop => return Exit::Stopped,
            }
        }
        work.batch.pos += 1;
        work.fill_buffer(&io);
        if H::ACTIVE && io.ddir.is_data() {
            let buffer = &mut work.engine.slot_mut(0)[..io.len as usize];
            hooks.prepare(&io, buffer, work.clock);
        }
        if H::ACTIVE {
            hooks.taken(&io, work.clock.now(), work.clock);
        }
        let mut left = io;
        let exit = loop {
            let start = if H::STAMPED { work.clock.now() } else { 0 };
            let served = if H::ACTIVE { hooks.serve(&left) } else { None };
            let queued = match served {
                Some(result) => Queued::Done(result),
                None => work.engine.queue(left),
            };
            let end = if H::STAMPED { work.clock.now() } else { 0 };
            let Queued::Done(result) = queued else {
                alike.settle(work);
                match aside(work, hooks, &io, queued) {
                    Next::Again => continue,
                    Next::Over(exit) => break exit,
                }
            };
            if result == left.len as i32 && io.ddir.is_data() {
                work.live.count(io.ddir, 1, u64::from(left.len));
                if H::STAMPED {
                    alike.add(work, io.ddir, end.wrapping_sub(start));
                }
                if H::ACTIVE {
                    let done = Done {
                        io,
                        start,
                        issue: start,
                        end,
                    };
                    let buffer = &work.engine.slot_mut(0)[..io.len as usize];
                    if let Err(failure) = hooks.done(&done, buffer, work.clock) {
                        break work.hook_failed(failure);
                    }
                }
                break None;
            }
            match unusual(work, &mut left, result, end.wrapping_sub(start)) {
                Next::Again => continue,
                Next::Over(exit) => {
                    if H::ACTIVE {
                        hooks.failed(&io);
                    }
                    break exit;
                }
            }
        };
        if let Some(exit) = exit {
            return exit;
        }
    }
}

enum Next {
    /// Issue what is left of a short transfer.
    Again,
    /// Go on with the next request, or leave.
    Over(Option<Exit>),
}

/// Requests that the engine served in a way of its own.
#[cold]
#[inline(never)]
fn aside<E: Engine, C: Clock, H: Hooks>(
    work: &mut Work<'_, E, C>,
    hooks: &mut H,
    io: &Io,
    queued: Queued,
) -> Next {
    if queued == Queued::Full {
        return if work.live.ordered() && work.obey(hooks) {
            Next::Over(Some(Exit::Stopped))
        } else {
            Next::Again
        };
    }
    assert_eq!(queued, Queued::Aside, "{} is synchronous", E::NAME);
    let timed = match work.engine.aside() {
        Aside::Begin => {
            work.begin();
            return Next::Again;
        }
        Aside::End => return Next::Over(Some(Exit::Stopped)),
        Aside::Untimed => None,
        Aside::Timed { result, .. } if result < 0 => {
            return Next::Over(work.failed(io, -result));
        }
        Aside::Timed { result, ns } => Some((result, ns)),
    };
    let bytes = timed.map_or(io.len, |(result, _)| result as u32);
    work.live.count(io.ddir, 1, u64::from(bytes));
    let Some((_, ns)) = timed else {
        return Next::Over(None);
    };
    if H::STAMPED {
        work.stats.classes[io.ddir].clat.add(ns, 1);
    }
    if H::ACTIVE {
        let end = work.clock.now();
        let start = end.wrapping_sub(work.clock.ticks(ns));
        let done = Done {
            io: *io,
            start,
            issue: start,
            end,
        };
        let buffer = &work.engine.slot_mut(0)[..io.len as usize];
        if let Err(failure) = hooks.done(&done, buffer, work.clock) {
            return Next::Over(work.hook_failed(failure));
        }
    }
    Next::Over(None)
}

/// Syncs, errors and short transfers.
#[cold]
#[inline(never)]
fn unusual<E: Engine, C: Clock>(
    work: &mut Work<'_, E, C>,
    io: &mut Io,
    result: i32,
    ticks: u64,
) -> Next {
    if result < 0 {
        return Next::Over(work.failed(io, -result));
    }
    if !io.ddir.is_data() {
        let ns = work.clock.ns(ticks);
        work.stats.count_sync(ns);
        return Next::Over(None);
    }
    if result == 0 || result as u32 > io.len {
        // End of file where data was promised, or an engine that reports more than was asked.
        return Next::Over(work.failed(io, EIO));
    }
    let moved = result as u32;
    work.stats.odd[io.ddir].short += 1;
    *io = io.rest(moved);
    let size = work
        .engine
        .files()
        .get(usize::from(io.file))
        .and_then(|file| file.size().ok());
    if size == Some(io.offset) {
        // The region ends inside the block: what there is, is the whole transfer.
        work.live.count(io.ddir, 1, u64::from(moved));
        let ns = work.clock.ns(ticks);
        work.stats.classes[io.ddir].clat.add(ns, 1);
        return Next::Over(None);
    }
    work.stats.odd[io.ddir].again += 1;
    work.live.count(io.ddir, 0, u64::from(moved));
    Next::Again
}
