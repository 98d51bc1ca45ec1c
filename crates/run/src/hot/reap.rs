//! The other half of the queue's loop: results taken and accounted. One stamp per reap; results
//! that share their stamps are accounted as one run.

use super::queue::submit;
use super::slots::{Flight, Queue};
use super::{Done, EIO, Exit, Hooks, Work};
use engine::Engine;
use plan::model::Stamps;
use sys::clock::Clock;
use units::Ddir;

/// Reaps once, or, when the queue was full, until no more than `iodepth_low` are in flight.
pub(super) fn reap_until_low<E: Engine, C: Clock, H: Hooks>(
    work: &mut Work<'_, E, C>,
    queue: &mut Queue,
    hooks: &mut H,
    least: u32,
    full: bool,
) -> Option<Exit> {
    loop {
        let exit = reap(work, queue, hooks, least, queue.depth.batch_complete_max);
        if exit.is_some() {
            return exit;
        }
        if !full || queue.in_flight() <= queue.depth.low as usize {
            return None;
        }
    }
}

/// Takes at least `least` and at most `most` completions. One stamp for all.
pub(super) fn reap<E: Engine, C: Clock, H: Hooks>(
    work: &mut Work<'_, E, C>,
    queue: &mut Queue,
    hooks: &mut H,
    least: u32,
    most: u32,
) -> Option<Exit> {
    if queue.staged_n > 0 {
        submit(work, queue, hooks, 0);
    }
    let in_flight = (queue.in_flight() - queue.staged_n) as u32;
    let least = least.min(in_flight);
    let most = most.max(least).min(in_flight);
    let mut n = 0usize;
    let mut failed = None;
    loop {
        let missing = least.saturating_sub(n as u32);
        if missing > 0
            && let Err(error) = work.engine.wait(missing)
        {
            let errno = error.raw_os_error().unwrap_or(EIO);
            work.stats
                .failure
                .get_or_insert(crate::failure::reap_error(errno));
            return Some(Exit::Failed);
        }
        if !H::ACTIVE && queue.depth.stamps != Stamps::Each {
            let (reaped, exit) = reap_runs::<E, C, H>(work, queue, most - n as u32);
            n += reaped;
            failed = failed.or(exit);
        } else {
            let reaped = &mut queue.reaped;
            work.engine.reap(most - n as u32, |slot, result| {
                reaped[n] = (slot, result);
                n += 1;
            });
        }
        if n as u32 >= least {
            break;
        }
    }
    if n == 0 {
        return None;
    }
    work.stats.complete.add(n as u32);
    if !H::ACTIVE && queue.depth.stamps != Stamps::Each {
        return failed;
    }
    let end = if H::STAMPED { work.clock.now() } else { 0 };
    account(work, queue, hooks, n, end)
}

/// Completions of one direction with the same stamps.
#[derive(Clone, Copy)]
struct Together {
    ddir: Ddir,
    start: u64,
    issue: u64,
    n: u64,
    bytes: u64,
}

/// Takes at most `most` completions and accounts them as they come, run by run. Returns how many
/// there were.
#[inline(always)]
fn reap_runs<E: Engine, C: Clock, H: Hooks>(
    work: &mut Work<'_, E, C>,
    queue: &mut Queue,
    most: u32,
) -> (usize, Option<Exit>) {
    let end = if H::STAMPED { work.clock.now() } else { 0 };
    let Work {
        engine,
        clock,
        live,
        stats,
        ..
    } = work;
    let Queue {
        flights,
        free,
        free_n,
        reaped,
        ..
    } = queue;
    let mut count = |run: Together| {
        live.count(run.ddir, run.n, run.bytes);
        if H::STAMPED {
            let classes = &mut stats.classes[run.ddir];
            let clat = clock.ns(end.wrapping_sub(run.issue));
            let lat = clock.ns(end.wrapping_sub(run.start));
            classes.clat.add(clat, run.n);
            classes.lat.add(lat, run.n);
        }
    };
    let mut run = Together {
        ddir: Ddir::Read,
        start: 0,
        issue: 0,
        n: 0,
        bytes: 0,
    };
    let mut odd = 0;
    let mut freed = free[*free_n..].iter_mut();
    let n = engine.reap(most, |slot, result| {
        let flight = &flights[slot as usize];
        if let Some(place) = freed.next() {
            *place = slot;
        }
        let bytes = u64::from(flight.len);
        if result != flight.len as i32 || !flight.ddir.is_data() {
            reaped[odd] = (slot, result);
            odd += 1;
        } else if flight.issue == run.issue && flight.start == run.start && flight.ddir == run.ddir
        {
            run.n += 1;
            run.bytes += bytes;
        } else {
            let next = Together {
                ddir: flight.ddir,
                start: flight.start,
                issue: flight.issue,
                n: 1,
                bytes,
            };
            let over = std::mem::replace(&mut run, next);
            if over.n > 0 {
                count(over);
            }
        }
    });
    *free_n += n as usize;
    if run.n > 0 {
        count(run);
    }
    let mut exit = None;
    for at in 0..odd {
        let (slot, result) = queue.reaped[at];
        let flight = queue.flights[slot as usize];
        exit = exit.or(unusual(work, slot, &flight, result, end));
    }
    (n as usize, exit)
}

/// Accounts the first `n` reaped requests one by one.
fn account<E: Engine, C: Clock, H: Hooks>(
    work: &mut Work<'_, E, C>,
    queue: &mut Queue,
    hooks: &mut H,
    n: usize,
    end: u64,
) -> Option<Exit> {
    let mut exit = None;
    let each = H::STAMPED && queue.depth.stamps == Stamps::Each;
    for at in 0..n {
        let (slot, result) = queue.reaped[at];
        let mut first = queue.flights[slot as usize];
        queue.release(slot);
        let end = if E::TIMED {
            let (issue, end) = told(work, slot, first.start);
            first.issue = issue;
            if !queue.inline {
                hooks.issued(&first.io(slot), first.start, issue, work.clock);
                if first.ddir.is_data() {
                    let ns = work.clock.ns(issue - first.start);
                    work.stats.classes[first.ddir].slat.add(ns, 1);
                }
            }
            end
        } else if each {
            work.clock.now()
        } else {
            end
        };
        if result != first.len as i32 || !first.ddir.is_data() {
            exit = exit.or(unusual(work, slot, &first, result, end));
            if H::ACTIVE {
                hooks.failed(&first.io(slot));
            }
            continue;
        }
        work.live.count(first.ddir, 1, u64::from(first.len));
        if H::STAMPED {
            let classes = &mut work.stats.classes[first.ddir];
            classes
                .clat
                .add(work.clock.ns(end.wrapping_sub(first.issue)), 1);
            classes
                .lat
                .add(work.clock.ns(end.wrapping_sub(first.start)), 1);
        }
        if H::ACTIVE {
            let done = Done {
                io: first.io(slot),
                start: first.start,
                issue: first.issue,
                end,
            };
            let buffer = &work.engine.slot_mut(slot)[..first.len as usize];
            if let Err(failure) = hooks.done(&done, buffer, work.clock) {
                exit = exit.or(work.hook_failed(failure));
            }
        }
    }
    exit
}

/// When the engine says that the last request of a slot, taken up at tick `start`, was issued and
/// done. The two clocks may differ by a little: no request is over before it began.
fn told<E: Engine, C: Clock>(work: &Work<'_, E, C>, slot: u32, start: u64) -> (u64, u64) {
    let (now, now_ns) = (work.clock.now(), sys::clock::monotonic_ns());
    let (issued_ns, done_ns) = work.engine.times(slot);
    let at = |then_ns: u64| now.saturating_sub(work.clock.ticks(now_ns.saturating_sub(then_ns)));
    let issue = at(issued_ns).max(start);
    (issue, at(done_ns).max(issue))
}

/// Syncs, errors and short transfers. Like fio, an asynchronous short transfer is counted with
/// the bytes that it moved and not resubmitted.
#[cold]
#[inline(never)]
fn unusual<E: Engine, C: Clock>(
    work: &mut Work<'_, E, C>,
    slot: u32,
    flight: &Flight,
    result: i32,
    end: u64,
) -> Option<Exit> {
    let io = &flight.io(slot);
    if result < 0 {
        return work.failed(io, -result);
    }
    let clat = work.clock.ns(end.wrapping_sub(flight.issue));
    if !io.ddir.is_data() {
        work.stats.count_sync(clat);
        return None;
    }
    if result as u32 > io.len || (result == 0 && io.len > 0) {
        return work.failed(io, EIO);
    }
    work.stats.odd[io.ddir].short += 1;
    work.live.count(io.ddir, 1, u64::from(result as u32));
    let classes = &mut work.stats.classes[io.ddir];
    classes.clat.add(clat, 1);
    classes
        .lat
        .add(work.clock.ns(end.wrapping_sub(flight.start)), 1);
    None
}

/// Lets everything in flight come back.
pub(super) fn drain<E: Engine, C: Clock, H: Hooks>(
    work: &mut Work<'_, E, C>,
    queue: &mut Queue,
    hooks: &mut H,
) -> Option<Exit> {
    let mut exit = None;
    while queue.in_flight() > 0 {
        if queue.staged_n > 0 && work.stats.failure.is_some() && queue.in_flight() == queue.staged_n
        {
            // The engine refuses to submit them; they were never issued.
            break;
        }
        let all = queue.in_flight() as u32;
        exit = exit.or(reap(work, queue, hooks, 1, all));
    }
    exit
}
