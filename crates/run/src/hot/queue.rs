//! The loop of asynchronous engines, in fio's order: fill the queue, submit every
//! `batch_submit` requests, and reap only when the queue is full (or when told to poll).
//!
//! Fill and reap order decide what latency means, so they are part of compatibility. Stamps:
//! start once per group of requests taken up together, issue once after each submitting system
//! call, end once per reap. Requests that share their stamps are accounted as one run.

use super::{Done, EIO, Exit, Gate, Hooks, Work};
use engine::{Engine, Io, Queued};
use measure::depth_slot;
use plan::model::{Depth, Stamps};
use sys::clock::Clock;
use units::Ddir;

/// A request in flight.
#[derive(Clone, Copy)]
struct Flight {
    start: u64,
    issue: u64,
    io: Io,
}

/// Slots and scratch space of the loop; allocated once.
pub struct Queue {
    depth: Depth,
    /// The engine serves requests in our context: a request is issued when it is taken up and
    /// there is no submission latency.
    inline: bool,
    flights: Box<[Flight]>,
    /// Free slots, a stack; `free_n` of them.
    free: Box<[u32]>,
    free_n: usize,
    /// Staged slots in order; `staged_n` of them.
    staged: Box<[u32]>,
    staged_n: usize,
    /// How many of the staged requests have their issue stamp already.
    stamped_n: usize,
    /// Completions of the current reap.
    reaped: Box<[(u32, i32)]>,
}

impl Queue {
    /// Room for `depth.iodepth` requests.
    pub fn new(depth: Depth, inline: bool) -> Self {
        let slots = depth.iodepth as usize;
        let idle = Io::new(0, 0, Ddir::Read, 0, 0);
        Queue {
            depth,
            inline,
            flights: vec![
                Flight {
                    start: 0,
                    issue: 0,
                    io: idle
                };
                slots
            ]
            .into_boxed_slice(),
            free: (0..depth.iodepth).rev().collect(),
            free_n: slots,
            staged: vec![0; slots].into_boxed_slice(),
            staged_n: 0,
            stamped_n: 0,
            reaped: vec![(0, 0); slots].into_boxed_slice(),
        }
    }

    /// Requests staged or in flight.
    #[inline(always)]
    fn in_flight(&self) -> usize {
        self.free.len() - self.free_n
    }

    /// Fewest completions to wait for. A minimum of 0 waits for one all the same, as in fio.
    #[inline(always)]
    fn least(&self) -> u32 {
        self.depth
            .batch_complete_min
            .min(self.in_flight() as u32)
            .max(1)
    }

    /// Reap after every request.
    #[inline(always)]
    fn polling(&self) -> bool {
        self.depth.batch_complete_min == 0 && self.depth.batch_complete_max == 0
    }

    #[inline(always)]
    fn release(&mut self, slot: u32) {
        self.free[self.free_n] = slot;
        self.free_n += 1;
    }

    /// Does a request touch the bytes of one in flight, one of them writing?
    fn overlaps(&self, io: &Io) -> bool {
        let idle = &self.free[..self.free_n];
        self.flights.iter().enumerate().any(|(slot, flight)| {
            let other = &flight.io;
            other.file == io.file
                && (other.ddir != Ddir::Read || io.ddir != Ddir::Read)
                && io.offset < other.offset + u64::from(other.len)
                && other.offset < io.offset + u64::from(io.len)
                && !idle.contains(&(slot as u32))
        })
    }
}

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
    let room = (batch_submit - queue.staged_n)
        .min(queue.free_n)
        .min(work.batch.left());
    let fills = work.filler.is_some();
    let mut start = if H::STAMPED { work.clock.now() } else { 0 };
    for _ in 0..room {
        let slot = queue.free[queue.free_n - 1];
        let io = work.peek(slot);
        if fills {
            work.fill_buffer(&io);
            start = if H::STAMPED { work.clock.now() } else { 0 };
        }
        match work.engine.queue(io) {
            Queued::Staged => {
                work.batch.pos += 1;
                queue.free_n -= 1;
                queue.flights[slot as usize] = Flight {
                    start,
                    issue: start,
                    io,
                };
                queue.staged[queue.staged_n] = slot;
                queue.staged_n += 1;
                if io.ddir.is_data() {
                    work.stats.issued[io.ddir] += 1;
                }
            }
            Queued::Full => return Taken::Busy,
            Queued::Aside => unreachable!("only synchronous engines answer so"),
            Queued::Done(result) => {
                work.batch.pos += 1;
                if let Err(Some(exit)) = finished_inline::<E, C, H>(work, io, start, result) {
                    return Taken::Exit(exit);
                }
            }
        }
    }
    Taken::Some
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
    }
    work.fill_buffer(&io);
    if io.ddir.is_data() {
        hooks.prepare(
            &io,
            &mut work.engine.slot_mut(slot)[..io.len as usize],
            work.clock,
        );
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
            queue.flights[slot as usize] = Flight {
                start,
                issue: start,
                io,
            };
            queue.staged[queue.staged_n] = slot;
            queue.staged_n += 1;
            if io.ddir.is_data() {
                work.stats.issued[io.ddir] += 1;
            }
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
            let io = queue.flights[queue.staged[0] as usize].io;
            let failure = crate::failure::io_error(work.engine.files(), &io, errno);
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
/// submission that the kernel cut short; equal neighbours count as one run.
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
    let mut run: Option<(Ddir, u64, u64)> = None;
    for &slot in &queue.staged[from..upto] {
        let flight = &mut queue.flights[slot as usize];
        flight.issue = issue;
        if H::ACTIVE {
            hooks.issued(&flight.io, flight.start, issue, work.clock);
        }
        let ddir = flight.io.ddir;
        match &mut run {
            Some((d, start, n)) if *d == ddir && *start == flight.start => *n += 1,
            _ => {
                if let Some((d, start, n)) = run.replace((ddir, flight.start, 1))
                    && d.is_data()
                {
                    let ns = work.clock.ns(issue.wrapping_sub(start));
                    work.stats.classes[d].slat.add(ns, n);
                }
            }
        }
    }
    if let Some((d, start, n)) = run
        && d.is_data()
    {
        let ns = work.clock.ns(issue.wrapping_sub(start));
        work.stats.classes[d].slat.add(ns, n);
    }
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
        let reaped = &mut queue.reaped;
        work.engine.reap(most - n as u32, |slot, result| {
            reaped[n] = (slot, result);
            n += 1;
        });
        if n as u32 >= least {
            break;
        }
    }
    if n == 0 {
        return None;
    }
    work.stats.complete.add(n as u32);
    let end = if H::STAMPED { work.clock.now() } else { 0 };
    account(work, queue, hooks, n, end)
}

/// Accounts the first `n` reaped requests; equal neighbours count as one run.
fn account<E: Engine, C: Clock, H: Hooks>(
    work: &mut Work<'_, E, C>,
    queue: &mut Queue,
    hooks: &mut H,
    n: usize,
    end: u64,
) -> Option<Exit> {
    let mut exit = None;
    let mut at = 0;
    let each = H::STAMPED && queue.depth.stamps == Stamps::Each;
    while at < n {
        let (slot, result) = queue.reaped[at];
        let first = queue.flights[slot as usize];
        queue.release(slot);
        at += 1;
        let end = if each { work.clock.now() } else { end };
        if result != first.io.len as i32 || !first.io.ddir.is_data() {
            exit = exit.or(unusual(work, &first, result, end));
            continue;
        }
        let mut run = 1;
        let mut bytes = u64::from(first.io.len);
        if !H::ACTIVE && !each {
            while at < n {
                let (slot, result) = queue.reaped[at];
                let flight = &queue.flights[slot as usize];
                let same = flight.issue == first.issue
                    && flight.start == first.start
                    && flight.io.ddir == first.io.ddir
                    && result == flight.io.len as i32;
                if !same {
                    break;
                }
                run += 1;
                bytes += u64::from(flight.io.len);
                queue.release(slot);
                at += 1;
            }
        }
        work.live.count(first.io.ddir, run, bytes);
        if H::STAMPED {
            let classes = &mut work.stats.classes[first.io.ddir];
            classes
                .clat
                .add(work.clock.ns(end.wrapping_sub(first.issue)), run);
            classes
                .lat
                .add(work.clock.ns(end.wrapping_sub(first.start)), run);
        }
        if H::ACTIVE {
            let done = Done {
                io: first.io,
                start: first.start,
                issue: first.issue,
                end,
            };
            let buffer = &work.engine.slot_mut(slot)[..first.io.len as usize];
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
    flight: &Flight,
    result: i32,
    end: u64,
) -> Option<Exit> {
    let io = &flight.io;
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
