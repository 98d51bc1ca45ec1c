//! The loop of asynchronous engines, in fio's order: fill the queue, submit every
//! `batch_submit` requests, and reap only when the queue is full (or when told to poll).
//!
//! Fill and reap order decide what latency means, so they are part of compatibility. Stamps:
//! start once per group of requests taken up together, issue once after each submitting system
//! call, end once per reap. Requests that share their stamps are accounted as one run.

pub use super::slots::Queue;

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
    loop {
        if work.live.ordered() && work.obey(hooks) {
            return Exit::Stopped;
        }
        if work.batch.pos == work.batch.n && !work.refill(hooks) {
            return Exit::PassDone;
        }
        let taken = if H::ACTIVE {
            stage_gated(work, queue, hooks)
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
    let io = work.peek(slot);
    let gate = if queue.depth.serialize_overlap && io.ddir.is_data() && queue.overlaps(&io) {
        Gate::Hold
    } else {
        hooks.gate(&io, work.clock)
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
    let queued = work.engine.queue(io);
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
                Err(exit) => exit,
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
            let nap = work.clock.now() + work.clock.ticks(NAP_NS);
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
fn submit<E: Engine, C: Clock, H: Hooks>(
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
    queue.staged.copy_within(submitted..staged, 0);
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
        if H::ACTIVE {
            hooks.issued(&flight.io(slot), flight.start, issue, work.clock);
        }
    }
    queue.runs.take((upto - from) as u64, |run| {
        if run.ddir.is_data() {
            let ns = work.clock.ns(issue.wrapping_sub(run.start));
            work.stats.classes[run.ddir].slat.add(ns, run.n);
        }
    });
}

/// Reaps once, or, when the queue was full, until no more than `iodepth_low` are in flight.
fn reap_until_low<E: Engine, C: Clock, H: Hooks>(
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
fn reap<E: Engine, C: Clock, H: Hooks>(
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
        let first = queue.flights[slot as usize];
        queue.release(slot);
        let end = if each { work.clock.now() } else { end };
        if result != first.len as i32 || !first.ddir.is_data() {
            exit = exit.or(unusual(work, slot, &first, result, end));
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
fn drain<E: Engine, C: Clock, H: Hooks>(
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
