//! One worker: takes its place, opens its targets, runs its passes, reports what it counted.

use crate::failure;
use crate::hot::{self, Exit, Hooks, Plain, Reduced, Work};
use crate::live::{Live, Phase};
use crate::locks::Locks;
use crate::logs::Book;
use crate::pace::{Flow, Pace};
use crate::place;
use crate::prepare::{self, Source, StartEngine, prepare, slots, start_engine, start_servers};
use crate::priorities::Priorities;
use crate::replay::Timekeeper;
use crate::rich::Rich;
use crate::sampler::Sampled;
use crate::stats::{Snapshot, Stats};
use crate::targets;
use crate::verify::Verification;
use crate::zones::Fleet;
use engine::cmdprio::CmdPrio;
use engine::{Engine, Visitor};
use plan::model;
use result::{Failure, Punts};
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};
use sys::clock::{Clock, System};
use sys::process::Usage;
use sys::tsc::Tsc;
use units::Ddir;
use workload::{Batch, Filler};

/// What a worker and the crew share.
#[derive(Default)]
pub struct Shared {
    /// Counters and orders.
    pub live: Arc<Live>,
    /// A copy of the statistics, when one was asked for.
    pub snapshot: Mutex<Option<Snapshot>>,
    /// Opened by the crew when all workers of the stage are ready.
    pub start: Gate,
    /// How many workers of the run are yet to end, without those whose requests are no I/O.
    pub io_workers: Arc<AtomicU32>,
    /// The flow of the job, with `flow=`.
    pub flow: Option<Arc<Flow>>,
    /// Files that workers use in turns.
    pub locks: Arc<Locks>,
    /// Zones that requests keep to.
    pub fleet: Arc<Fleet>,
}

/// A gate that opens once.
#[derive(Default)]
pub struct Gate {
    open: Mutex<bool>,
    changed: Condvar,
}

impl Gate {
    /// Lets everybody through, now and later.
    pub fn open(&self) {
        *self.open.lock().expect("nothing panics under this lock") = true;
        self.changed.notify_all();
    }

    fn pass(&self) {
        let mut open = self.open.lock().expect("nothing panics under this lock");
        while !*open {
            open = self
                .changed
                .wait(open)
                .expect("nothing panics under this lock");
        }
    }
}

/// What a worker leaves behind.
pub struct Outcome {
    /// Everything counted since the end of the warm-up.
    pub stats: Stats,
    /// Thread id.
    pub pid: u32,
    /// Wall-clock start, milliseconds since the epoch.
    pub started_ms: u64,
    /// Duration of the I/O passes, nanoseconds.
    pub io_ns: u64,
    /// Duration of the read-back passes, nanoseconds.
    pub verify_ns: u64,
    /// From the start to the end of the worker, nanoseconds.
    pub total_ns: u64,
    /// CPU cost since the start.
    pub usage: Usage,
    /// What the kernel did in its place.
    pub punts: Punts,
    /// Rates of single requests, when those are logged instead of rates of windows.
    pub sampled: Sampled,
}

impl Outcome {
    /// Nothing was done yet.
    fn new(worker: &model::Worker) -> Self {
        Outcome {
            stats: Stats::new(worker, prepare::inline(worker)),
            pid: sys::process::thread_id(),
            started_ms: epoch_ms(),
            io_ns: 0,
            verify_ns: 0,
            total_ns: 0,
            usage: Usage::default(),
            punts: Punts::default(),
            sampled: Sampled::default(),
        }
    }

    /// A worker that could not even start.
    pub fn failed(worker: &model::Worker, failure: Failure) -> Self {
        let mut outcome = Outcome::new(worker);
        outcome.stats.failure = Some(failure);
        outcome
    }
}

/// What a worker tells the crew.
pub enum Tale {
    /// It is ready, successfully or not, and waits for the gate.
    Ready,
    /// Something for people who read the normal report.
    Note(String),
    /// An error that ends nothing.
    Complaint(String),
}

/// How a worker tells.
pub type Tell<'a> = &'a dyn Fn(Tale);

/// Runs a worker on the calling thread, from placement to report.
pub fn run(
    worker: &model::Worker,
    shared: &Shared,
    book: Option<Box<Book>>,
    tell: Tell<'_>,
) -> Outcome {
    let mut outcome = Outcome::new(worker);
    shared.live.enter(Phase::Created);
    let prepared = place::take(worker).and_then(|()| {
        place::switch_elevators(worker)?;
        let ballast = targets::ballast(worker)?;
        Ok((ballast, targets::open(worker)?))
    });
    match prepared {
        Ok((_ballast, files)) => {
            let start = Start {
                worker,
                shared,
                book,
                tell,
                files,
                outcome: &mut outcome,
            };
            engine::registry::dispatch(worker.engine.kind, start);
        }
        Err(failure) => {
            tell(Tale::Ready);
            shared.start.pass();
            outcome.stats.failure = Some(failure);
        }
    }
    shared.live.enter(Phase::Done);
    outcome
}

/// Milliseconds since the epoch.
pub fn epoch_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| d.as_millis() as u64)
}

/// Everything up to the choice of the engine's instance.
struct Start<'a> {
    worker: &'a model::Worker,
    shared: &'a Shared,
    book: Option<Box<Book>>,
    tell: Tell<'a>,
    files: Vec<sys::file::File>,
    outcome: &'a mut Outcome,
}

impl Visitor for Start<'_> {
    type Out = ();

    // Not inlined, as what it calls: a thread that waits should not hold, on its stack, room for
    // every engine and for what only the start needed.
    #[inline(never)]
    fn visit<E: Engine>(self) {
        if self.worker.depth.offload {
            self.with_engine(start_servers::<E>);
        } else {
            self.with_engine(start_engine::<E>);
        }
    }
}

impl Start<'_> {
    #[inline(never)]
    fn with_engine<E: Engine>(self, start: StartEngine<E>) {
        let Start {
            worker,
            shared,
            book,
            tell,
            files,
            outcome,
        } = self;
        let prepared = prepare(worker, files, &shared.io_workers, start);
        tell(Tale::Ready);
        shared.start.pass();
        let before = || script(worker, worker.lifecycle.prerun.as_deref(), "prerun", tell);
        let (engine, filler, source, chosen) =
            match prepared.and_then(|parts| before().map(|()| parts)) {
                Ok(parts) => parts,
                Err(failure) => {
                    outcome.stats.failure = Some(failure);
                    return;
                }
            };
        let parts = Parts {
            worker,
            shared,
            tell,
            book,
            start,
            engine,
            filler,
            source,
            chosen,
            outcome,
        };
        let (tsc, system) = match worker.measured.clock {
            None | Some(model::Clock::Cpu) => (Tsc::get().ok(), System::Read),
            Some(model::Clock::ClockGettime | model::Clock::Gettimeofday) => (None, System::Read),
            Some(model::Clock::Kept) => (None, System::Kept),
        };
        match tsc {
            Some(tsc) => with_clock(parts, tsc),
            None => with_clock(parts, system),
        }
    }
}

/// Runs a command of the job; its output goes to `<job>.<when>.txt`.
fn script(
    worker: &model::Worker,
    command: Option<&str>,
    when: &str,
    tell: Tell<'_>,
) -> Result<(), Failure> {
    let Some(command) = command else {
        return Ok(());
    };
    let (name, file) = (&worker.name, format!("{}.{when}.txt", worker.name));
    tell(Tale::Note(format!(
        "{name} : Saving output of {when} in {file}"
    )));
    crate::script::run(command, &format!("exec_{when}"), &file)
}

/// A worker whose engine runs.
struct Parts<'a, E> {
    worker: &'a model::Worker,
    shared: &'a Shared,
    tell: Tell<'a>,
    book: Option<Box<Book>>,
    start: StartEngine<E>,
    engine: E,
    filler: Option<Filler>,
    source: Source,
    /// Which requests get which priority.
    chosen: Option<CmdPrio>,
    outcome: &'a mut Outcome,
}

/// Chooses the hooks and runs the passes.
#[inline(never)]
fn with_clock<E: Engine, C: Clock>(parts: Parts<'_, E>, clock: C) {
    let Parts {
        worker,
        shared,
        tell,
        mut book,
        start,
        engine,
        filler,
        source: (fill, times),
        chosen,
        outcome,
    } = parts;
    let before = sys::process::thread_usage();
    // The plan has looked at this clock; without it, the wall clock's.
    outcome.started_ms = sys::clock::clock_ms(worker.measured.start_clock).unwrap_or_else(epoch_ms);
    let ramps = worker.limits.ramps();
    shared
        .live
        .enter(if ramps { Phase::Ramp } else { Phase::Running });
    shared.live.begin(sys::clock::monotonic_ns());
    let begin = clock.now();
    let depth = slots::<E>(worker);
    let fake = worker.engine.kind.caps().fake;
    let verification = match Verification::new(worker, depth, fake) {
        Ok(verification) => verification,
        Err(failure) => {
            outcome.stats.failure = Some(failure);
            return;
        }
    };
    let fill = match &verification {
        Some(verification) => verification.around(fill),
        None => fill,
    };
    let mut work = Work {
        engine,
        clock,
        live: &shared.live,
        stats: std::mem::take(&mut outcome.stats),
        fill,
        batch: Box::<Batch>::default(),
        filler,
        errors: &worker.errors,
        tell,
        direct: worker.access.direct,
        fill_device: worker.limits.fill_device,
        snapshot: &shared.snapshot,
        usage: before,
        start_ticks: begin,
    };
    let pace = Pace::new(worker, begin, depth, shared.flow.as_ref());
    let timekeeper = times.map(|times| Timekeeper::new(times, begin));
    let turns = shared.locks.of(worker, depth);
    let lanes = match shared.fleet.of(worker, depth) {
        Ok(lanes) => lanes,
        Err(failure) => {
            outcome.stats = work.stats;
            outcome.stats.failure = Some(failure);
            return;
        }
    };
    let priorities = chosen.map(|chosen| Priorities::new(chosen, depth, worker));
    let again = Again {
        start,
        io_workers: &shared.io_workers,
    };
    let rich = turns.is_some()
        || lanes.is_some()
        || priorities.is_some()
        || timekeeper.is_some()
        || pace.is_some()
        || book.is_some()
        || verification.is_some();
    if rich || worker.depth.serialize_overlap || E::TIMED {
        if let Some(book) = &mut book {
            book.begin(begin);
        }
        let mut rich = Rich {
            pace,
            priorities,
            turns,
            lanes,
            timekeeper,
            book,
            verification,
            live: Arc::clone(&shared.live),
        };
        passes(worker, again, &mut work, &mut rich, outcome);
        rich.hand_over(&mut work.stats);
        if let Some(verification) = &mut rich.verification {
            verification.save();
        }
        if let Some(book) = rich.book {
            outcome.sampled = book.finish(&shared.live, clock);
        }
    } else if worker.measured.reduced {
        passes(worker, again, &mut work, &mut Reduced, outcome);
    } else {
        passes(worker, again, &mut work, &mut Plain, outcome);
    }
    if shared.live.phase() == Phase::Ramp {
        // The job ended before anything was to be measured.
        work.stats.restart(shared.live.ios(), shared.live.bytes());
        outcome.io_ns = 0;
    }
    shared.live.enter(Phase::Finishing);
    work.stats.odd[Ddir::Read].dropped = work.engine.dropped();
    outcome.total_ns = clock.ns(clock.now().wrapping_sub(work.start_ticks));
    let helpers = work.engine.helpers();
    outcome.usage = sys::process::thread_usage().since(&before).and(helpers);
    if worker.engine.kind.name().starts_with("io_uring") {
        outcome.punts = crate::punts::of_this_thread();
    }
    outcome.stats = work.stats;
    if let Err(failure) = script(worker, worker.lifecycle.postrun.as_deref(), "postrun", tell) {
        // The measurement is complete; fio ignores this too.
        tell(Tale::Complaint(failure.message));
    }
    if let Err(failure) = targets::close(worker) {
        outcome.stats.failure.get_or_insert(failure);
    }
}

/// What it takes to make the engine again.
struct Again<'a, E> {
    start: StartEngine<E>,
    io_workers: &'a Arc<AtomicU32>,
}

impl<E> Clone for Again<'_, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for Again<'_, E> {}

/// Lets a pass begin with files that are new.
fn renew<E: Engine, C: Clock>(
    worker: &model::Worker,
    work: &mut Work<'_, E, C>,
    again: Again<'_, E>,
) -> Result<(), Failure> {
    let files = targets::renew(worker)?;
    (work.engine, _) = (again.start)(worker, files, again.io_workers, work.filler.as_mut())?;
    Ok(())
}

/// All passes of the job.
fn passes<E: Engine, C: Clock, H: Hooks>(
    worker: &model::Worker,
    again: Again<'_, E>,
    work: &mut Work<'_, E, C>,
    hooks: &mut H,
    outcome: &mut Outcome,
) {
    let at_once = E::CAPS.inline_at(worker.depth.iodepth);
    let sync = worker.engine.kind.caps().sync_at(worker.depth.iodepth);
    let mut queue = (!at_once).then(|| hot::queue::Queue::new(worker.depth, sync));
    let mut first = true;
    while work.fill.more() && !worker.lifecycle.create_only {
        if !first {
            work.fill.restart();
            work.batch.clear();
            if worker.lifecycle.unlink_each_loop
                && let Err(failure) = renew(worker, work, again)
            {
                work.stats.failure.get_or_insert(failure);
                return;
            }
        }
        first = false;
        let before = work.clock.now();
        let pretended = hooks.pretend(work.fill.as_mut(), &mut work.batch);
        let exit = match pretended {
            Some((ios, bytes)) => {
                work.live.count(Ddir::Write, ios, bytes);
                Exit::PassDone
            }
            None => pass(work, &mut queue, hooks),
        };
        let exit = settled(work, hooks, exit);
        if exit == Exit::PassDone {
            hooks.linger(work.clock);
        }
        hooks.pass_over(work.clock);
        if exit != Exit::Failed && worker.lifecycle.syncs_at_end() {
            work.live.enter(Phase::Syncing);
            if let Err(failure) = targets::sync_all(worker, work.engine.files()) {
                work.stats.failure.get_or_insert(failure);
            }
        }
        // An order to measure during the pass moved the start.
        let from = if work.start_ticks.wrapping_sub(before) < u64::MAX / 2 {
            outcome.io_ns = 0;
            work.start_ticks
        } else {
            before
        };
        if pretended.is_none() {
            outcome.io_ns += work.clock.ns(work.clock.now().wrapping_sub(from));
        }
        if exit != Exit::PassDone || work.stats.failure.is_some() {
            return;
        }
        if let Some(reads) = hooks.read_back() {
            let before = work.clock.now();
            let exit = read_back(work, &mut queue, hooks, reads);
            outcome.verify_ns += work.clock.ns(work.clock.now().wrapping_sub(before));
            if exit != Exit::PassDone || work.stats.failure.is_some() {
                return;
            }
        }
    }
}

/// The end of a pass when everything about its requests is known.
fn settled<E: Engine, C: Clock, H: Hooks>(
    work: &mut Work<'_, E, C>,
    hooks: &mut H,
    mut exit: Exit,
) -> Exit {
    while let Some(failure) = hooks.late_failure() {
        if let Some(worse) = work.hook_failed(failure) {
            exit = worse;
        }
    }
    exit
}

/// One pass through the loop that fits the engine.
fn pass<E: Engine, C: Clock, H: Hooks>(
    work: &mut Work<'_, E, C>,
    queue: &mut Option<hot::queue::Queue>,
    hooks: &mut H,
) -> Exit {
    match queue {
        None => hot::sync::run(work, hooks),
        Some(queue) => hot::queue::run(work, queue, hooks),
    }
}

/// Reads back what a pass wrote, as a workload of its own.
fn read_back<E: Engine, C: Clock, H: Hooks>(
    work: &mut Work<'_, E, C>,
    queue: &mut Option<hot::queue::Queue>,
    hooks: &mut H,
    reads: Box<dyn workload::Fill>,
) -> Exit {
    let phase = work.live.phase();
    work.live.enter(Phase::Verifying);
    let writes = std::mem::replace(&mut work.fill, reads);
    work.batch.clear();
    let exit = pass(work, queue, hooks);
    let exit = settled(work, hooks, exit);
    hooks.read_back_over();
    work.fill = writes;
    work.batch.clear();
    work.live.enter(phase);
    exit
}

/// Text for a failure to prepare, with the target.
pub(crate) fn open_failure(path: &std::path::Path, error: &std::io::Error) -> Failure {
    failure::step(format!("open {}", path.display()), error)
}
