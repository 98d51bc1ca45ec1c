//! The loop of asynchronous engines, in fio's order: fill the queue, submit every
//! `batch_submit` requests, and reap only when the queue is full (or when told to poll).
//!
//! Fill and reap order decide what latency means, so they are part of compatibility. Stamps:
//! start once per group of requests taken up together, issue once after each submitting system
//! call, end once per reap. Requests that share their stamps are accounted as one run.

pub use super::slots::Queue;

use super::reap::{drain, reap, reap_until_low};
use super::slots::{Flight, Run, Runs};
use super::{Done, EIO, Exit, Gate, Hooks, Work};
use crate::stats::Stats;
use engine::{Engine, Io, Queued};
use measure::depth_slot;
use plan::model::Stamps;
use sys::clock::Clock;
use units::Ddir;

/// How long completions may wait while the next request is not due yet.
const NAP_NS: u64 = 80_000;
/// The same where the engine tells when they were done.
const LONG_NAP_NS: u64 = 2_000_000;

/// Runs one pass and drains the queue.
pub fn run<E: Engine, C: Clock, H: Hooks>(
    work: &mut Work<'_, E, C>,
    queue: &mut Queue,
    hooks: &mut H,
) -> Exit {
    let exit = issue_and_reap(work, queue, hooks);
    match drain(work, queue, hooks) {
        Some(worse) if exit != Exit::Failed => worse,
        _ => exit,
    }
}

fn issue_and_reap<E: Engine, C: Clock, H: Hooks>(
    work: &mut Work<'_, E, C>,
    queue: &mut Queue,
    hooks: &mut H,
) -> Exit {
    let batch_submit = (queue.depth.batch_submit as usize).min(queue.free.len());
    // Without waiting in the same call, that is: `issue_one` only submits.
    let one_by_one = batch_submit == 1 && queue.depth.stamps != Stamps::Early;
    loop {
        if work.live.ordered() && work.obey(hooks) {
            return Exit::Stopped;
        }
        if work.batch.pos == work.batch.n && !work.refill(hooks) {
            return Exit::PassDone;
        }
        let taken = if H::ACTIVE {
            stage_gated(work, queue, hooks)
        } else if one_by_one && queue.staged_n == 0 {
            issue_one::<E, C, H>(work, queue)
        } else {
            stage_group::<E, C, H>(work, queue, batch_submit)
        };
        let busy = match taken {
            Taken::Some => false,
            Taken::Busy => true,
            Taken::Waited => continue,
            Taken::Exit(exit) => return exit,
        };
        if queue.staged_n >= batch_submit || (busy && queue.staged_n > 0) {
            let full = queue.free_n == 0 || busy;
            let wait = if full && queue.depth.stamps == Stamps::Early {
                queue.least()
            } else {
                0
            };
            submit(work, queue, hooks, wait);
            if work.stats.failure.is_some() {
                return Exit::Failed;
            }
        }
        let full = queue.free_n == 0
            || (busy && queue.in_flight() > 0)
            || (H::ACTIVE && queue.in_flight() >= hooks.most());
        let exit = if full || queue.polling() {
            reap_until_low(work, queue, hooks, queue.least(), full)
        } else if queue.depth.prompt {
            reap(work, queue, hooks, 0, u32::MAX)
        } else {
            None
        };
        if let Some(exit) = exit {
            return exit;
        }
    }
}

enum Taken {
    /// At least one request was staged or finished.
    Some,
    /// The engine cannot take a request now.
    Busy,
    /// Nothing was taken; look again.
    Waited,
    /// Leave the loop.
    Exit(Exit),
}

/// Takes up as many requests as fit: one start stamp for the group, because they are prepared
/// back to back; with buffers to fill each gets its own.
#[inline(always)]
fn stage_group<E: Engine, C: Clock, H: Hooks>(
    work: &mut Work<'_, E, C>,
    queue: &mut Queue,
    batch_submit: usize,
) -> Taken {
    let mut room = (batch_submit - queue.staged_n)
        .min(queue.free_n)
        .min(work.batch.left());
    let fills = work.filler.is_some();
    let mut start = if H::STAMPED && !fills {
        work.clock.now()
    } else {
        0
    };
    while room > 0 {
        let mut most = room;
        if fills {
            let io = work.peek(queue.free[queue.free_n - 1]);
            work.fill_buffer(&io);
            start = if H::STAMPED { work.clock.now() } else { 0 };
            most = 1;
        }
        let (n, stop) = stage::<E, C, H>(work, queue, most, start);
        room -= n;
        match stop {
            None => {}
            Some(Queued::Full) => return Taken::Busy,
            Some(Queued::Done(result)) => {
                let io = work.peek(queue.free[queue.free_n - 1]);
                work.batch.pos += 1;
                room -= 1;
                if let Err(Some(exit)) = finished_inline::<E, C, H>(work, io, start, result) {
                    return Taken::Exit(exit);
                }
            }
            Some(Queued::Staged | Queued::Aside) => {
                unreachable!("only synchronous engines put requests aside")
            }
        }
    }
    Taken::Some
}

/// Takes up, submits and stamps one request; the usual case of a job that names no batch, where
/// [`stage_group`] and [`submit`] would come to the same.
#[inline(always)]
fn issue_one<E: Engine, C: Clock, H: Hooks>(work: &mut Work<'_, E, C>, queue: &mut Queue) -> Taken {
    let slot = queue.free[queue.free_n - 1];
    let io = work.peek(slot);
    work.fill_buffer(&io);
    let start = if H::STAMPED { work.clock.now() } else { 0 };
    match work.engine.queue(io) {
        Queued::Staged => {}
        Queued::Full => return Taken::Busy,
        Queued::Aside => unreachable!("only synchronous engines put requests aside"),
        Queued::Done(result) => {
            work.batch.pos += 1;
            return match finished_inline::<E, C, H>(work, io, start, result) {
                Err(Some(exit)) => Taken::Exit(exit),
                Err(None) | Ok(_) => Taken::Some,
            };
        }
    }
    work.batch.pos += 1;
    queue.free_n -= 1;
    if io.ddir.is_data() {
        work.stats.issued[io.ddir] += 1;
    }
    let depth = queue.in_flight() as u32;
    let flight = &mut queue.flights[slot as usize];
    *flight = Flight::new(&io, start);
    if !matches!(work.engine.commit(0), Ok(1)) {
        // Not taken: it stays staged, and `submit` finds out why.
        queue.staged[0] = slot;
        queue.staged_n = 1;
        if H::STAMPED && !queue.inline {
            queue.runs.add(io.ddir, start, 1);
        }
        return Taken::Some;
    }
    work.stats.depth.0[depth_slot(depth)] += 1;
    work.stats.submit.add(1);
    if H::STAMPED && !queue.inline {
        let issue = work.clock.now();
        flight.issue = issue;
        if io.ddir.is_data() {
            let ns = work.clock.ns(issue.wrapping_sub(start));
            work.stats.classes[io.ddir].slat.add(ns, 1);
        }
    }
    Taken::Some
}

/// Stages up to `most` requests with one start stamp; there is room for them and the batch has
/// them. Returns how many, and how the engine answered the next one if it was not staged.
#[inline(never)]
fn stage<E: Engine, C: Clock, H: Hooks>(
    work: &mut Work<'_, E, C>,
    queue: &mut Queue,
    most: usize,
    start: u64,
) -> (usize, Option<Queued>) {
    let pos = work.batch.pos;
    let requests = pos..pos + most;
    // Slices of one length: the loop needs no other check of their indices.
    let offset = &work.batch.offset[requests.clone()][..most];
    let len = &work.batch.len[requests.clone()][..most];
    let ddir = &work.batch.ddir[requests.clone()][..most];
    let file = &work.batch.file[requests][..most];
    let slots = &queue.free[queue.free_n - most..queue.free_n][..most];
    let staged = &mut queue.staged[queue.staged_n..][..most];
    let engine = &mut work.engine;
    let (mut n, mut stop) = (0, None);
    let mut run = Run {
        ddir: Ddir::Read,
        start,
        n: 0,
    };
    while n < most {
        let slot = slots[most - 1 - n];
        let io = Io::new(slot, file[n], ddir[n], offset[n], len[n]);
        let queued = engine.queue(io);
        if queued != Queued::Staged {
            stop = Some(queued);
            break;
        }
        queue.flights[slot as usize] = Flight::new(&io, start);
        staged[n] = slot;
        n += 1;
        if io.ddir != run.ddir {
            note::<H>(&mut work.stats, &mut queue.runs, queue.inline, run);
            (run.ddir, run.n) = (io.ddir, 0);
        }
        run.n += 1;
    }
    note::<H>(&mut work.stats, &mut queue.runs, queue.inline, run);
    work.batch.pos += n;
    queue.free_n -= n;
    queue.staged_n += n;
    (n, stop)
}

/// Notes requests that were staged together.
#[inline(always)]
fn note<H: Hooks>(stats: &mut Stats, runs: &mut Runs, inline: bool, run: Run) {
    if run.n > 0 {
        if H::STAMPED && !inline {
            runs.add(run.ddir, run.start, run.n);
        }
        if run.ddir.is_data() {
            stats.issued[run.ddir] += run.n;
        }
    }
}

/// Takes up one request after asking the hooks.
fn stage_gated<E: Engine, C: Clock, H: Hooks>(
    work: &mut Work<'_, E, C>,
    queue: &mut Queue,
    hooks: &mut H,
) -> Taken {
    if queue.in_flight() >= hooks.most() {
        return match reap_until_low(work, queue, hooks, 1, false) {
            Some(exit) => Taken::Exit(exit),
            None => Taken::Waited,
        };
    }
    let slot = queue.free[queue.free_n - 1];
    let mut io = work.peek(slot);
    let gate = if queue.depth.serialize_overlap && io.ddir.is_data() && queue.overlaps(&io) {
        Gate::Hold
    } else {
        hooks.gate(&mut io, work.clock)
    };
    match gate {
        Gate::Go => {}
        Gate::Hold => {
            return match reap_until_low(work, queue, hooks, 1, false) {
                Some(exit) => Taken::Exit(exit),
                None => Taken::Waited,
            };
        }
        Gate::Until(deadline) => {
            // Completions are taken as they arrive, so that waiting does not age them.
            if let Some(exit) = drain(work, queue, hooks) {
                return Taken::Exit(exit);
            }
            crate::wait::until(work.clock, work.live, deadline);
            return Taken::Waited;
        }
        Gate::Drop => {
            work.batch.pos += 1;
            return Taken::Waited;
        }
        Gate::Stop => return Taken::Exit(Exit::Stopped),
        Gate::At(deadline) => {
            return match reap_until(work, queue, hooks, deadline) {
                Some(exit) => Taken::Exit(exit),
                None => Taken::Waited,
            };
        }
    }
    work.fill_buffer(&io);
    if io.ddir.is_data() {
        hooks.prepare(
            &io,
            &mut work.engine.slot_mut(slot)[..io.len as usize],
            work.clock,
        );
    }
    if let Some(priority) = hooks.priority(&io) {
        work.engine.set_priority(priority);
    }
    let start = if H::STAMPED { work.clock.now() } else { 0 };
    let queued = match hooks.serve(&io) {
        Some(result) => Queued::Done(result),
        None => work.engine.queue(io),
    };
    if queued != Queued::Full {
        hooks.taken(&io, start, work.clock);
    }
    match queued {
        Queued::Full => return Taken::Busy,
        Queued::Aside => unreachable!("only synchronous engines answer so"),
        Queued::Staged => {
            queue.free_n -= 1;
            queue.flights[slot as usize] = Flight::new(&io, start);
            queue.staged[queue.staged_n] = slot;
            queue.staged_n += 1;
            let run = Run {
                ddir: io.ddir,
                start,
                n: 1,
            };
            note::<H>(&mut work.stats, &mut queue.runs, queue.inline, run);
        }
        Queued::Done(result) => {
            let exit = match finished_inline::<E, C, H>(work, io, start, result) {
                Err(exit) => {
                    hooks.failed(&io);
                    exit
                }
                Ok(_) if !io.ddir.is_data() => None,
                Ok(end) => {
                    let done = Done {
                        io,
                        start,
                        issue: start,
                        end,
                    };
                    let buffer = &work.engine.slot_mut(slot)[..io.len as usize];
                    let failure = hooks.done(&done, buffer, work.clock).err();
                    failure.and_then(|failure| work.hook_failed(failure))
                }
            };
            if let Some(exit) = exit {
                return Taken::Exit(exit);
            }
        }
    }
    work.batch.pos += 1;
    Taken::Some
}

/// Takes completions as they arrive until `deadline` or an order, without waiting for the last.
#[cold]
fn reap_until<E: Engine, C: Clock, H: Hooks>(
    work: &mut Work<'_, E, C>,
    queue: &mut Queue,
    hooks: &mut H,
    deadline: u64,
) -> Option<Exit> {
    while queue.in_flight() > 0 && work.clock.now() < deadline && !work.live.ordered() {
        let before = queue.in_flight();
        if queue.staged_n == 0
            && let Err(error) = work.engine.wait(0)
        {
            let errno = error.raw_os_error().unwrap_or(EIO);
            work.stats
                .failure
                .get_or_insert(crate::failure::reap_error(errno));
            return Some(Exit::Failed);
        }
        let exit = reap(work, queue, hooks, 0, u32::MAX);
        if exit.is_some() {
            return exit;
        }
        if queue.in_flight() == before {
            let nap_ns = if E::TIMED { LONG_NAP_NS } else { NAP_NS };
            let nap = work.clock.now() + work.clock.ticks(nap_ns);
            crate::wait::until(work.clock, work.live, nap.min(deadline));
        }
    }
    if queue.in_flight() == 0 {
        crate::wait::until(work.clock, work.live, deadline);
    }
    None
}

/// Accounts a request that an asynchronous engine finished at once (trims, inline syncs). Gives
/// the tick when it was seen to be complete, or, for a failed one, how the loop goes on.
#[cold]
fn finished_inline<E: Engine, C: Clock, H: Hooks>(
    work: &mut Work<'_, E, C>,
    io: Io,
    start: u64,
    result: i32,
) -> Result<u64, Option<Exit>> {
    let end = if H::STAMPED { work.clock.now() } else { 0 };
    work.stats.depth.0[0] += 1;
    if io.ddir.is_data() {
        work.stats.issued[io.ddir] += 1;
    }
    if result < 0 {
        return Err(work.failed(&io, -result));
    }
    let ns = work.clock.ns(end.wrapping_sub(start));
    if !io.ddir.is_data() {
        work.stats.count_sync(ns);
        return Ok(end);
    }
    work.live.count(io.ddir, 1, u64::from(result as u32));
    if H::STAMPED {
        let classes = &mut work.stats.classes[io.ddir];
        classes.slat.add(0, 1);
        classes.clat.add(ns, 1);
        classes.lat.add(ns, 1);
    }
    Ok(end)
}

/// One submitting system call for everything staged, which also waits for `wait` completions.
/// The issue stamp is taken afterwards, as fio does, or before it by the early policy.
pub(super) fn submit<E: Engine, C: Clock, H: Hooks>(
    work: &mut Work<'_, E, C>,
    queue: &mut Queue,
    hooks: &mut H,
    wait: u32,
) {
    let staged = queue.staged_n;
    let early = queue.depth.stamps == Stamps::Early;
    work.stats.depth.0[depth_slot(queue.in_flight() as u32)] += staged as u64;
    if early {
        stamp(work, queue, hooks, staged);
    }
    let submitted = match work.engine.commit(wait) {
        Ok(n) => (n as usize).min(staged),
        Err(error) => {
            let errno = error.raw_os_error().unwrap_or(EIO);
            let slot = queue.staged[0];
            let io = queue.flights[slot as usize].io(slot);
            let failure = crate::failure::io_error(work.engine.path(io.file), &io, errno);
            work.stats.failure.get_or_insert(failure);
            0
        }
    };
    if submitted > 0 {
        work.stats.submit.add(submitted as u32);
    }
    if !early {
        stamp(work, queue, hooks, submitted);
    }
    if submitted < staged {
        queue.staged.copy_within(submitted..staged, 0);
    }
    queue.staged_n = staged - submitted;
    queue.stamped_n = queue.stamped_n.saturating_sub(submitted);
}

/// Gives the first `upto` staged requests their issue stamp, unless they have it from a
/// submission that the kernel cut short.
#[inline(always)]
fn stamp<E: Engine, C: Clock, H: Hooks>(
    work: &mut Work<'_, E, C>,
    queue: &mut Queue,
    hooks: &mut H,
    upto: usize,
) {
    if !H::STAMPED || queue.inline || upto <= queue.stamped_n {
        return;
    }
    let issue = work.clock.now();
    let from = std::mem::replace(&mut queue.stamped_n, upto);
    for &slot in &queue.staged[from..upto] {
        let flight = &mut queue.flights[slot as usize];
        flight.issue = issue;
        if H::ACTIVE && !E::TIMED {
            hooks.issued(&flight.io(slot), flight.start, issue, work.clock);
        }
    }
    queue.runs.take((upto - from) as u64, |run| {
        if run.ddir.is_data() && !E::TIMED {
            let ns = work.clock.ns(issue.wrapping_sub(run.start));
            work.stats.classes[run.ddir].slat.add(ns, run.n);
        }
    });
}
