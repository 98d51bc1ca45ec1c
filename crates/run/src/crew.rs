//! The timekeeper of a run: starts workers by stage, tells them when to measure and when to
//! stop, samples their counters, and collects what they leave behind. Workers never wait for it.

mod clock;
mod document;

use crate::live::{Phase, order};
use crate::locks::Locks;
use crate::logs::{Aggregate, Scribe};
use crate::member::{Member, State};
use crate::sampler::Sampler;
use crate::steady::{Seen, Watch};
use crate::worker::{self, Outcome, Tale};
use crate::zones::Fleet;
use plan::model::{ExitScope, Plan, Worker};
use result::{Failure, Run};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;
use sys::clock::monotonic_ns;
use units::PerDdir;

/// Stack of a worker's thread, bytes: loops do not recurse and keep nothing large on it.
const STACK_BYTES: usize = 512 << 10;
/// Blocks from here on are mapped, bytes: below the bins of a histogram and the bits of a random
/// map, of which an idle job touches few pages.
const MAP_BYTES: usize = 12 << 10;

/// What the crew hears from workers and from outside.
pub(crate) enum Event {
    /// A worker is ready to start.
    Ready(usize),
    /// A worker is over.
    Done(usize, Box<Outcome>),
    /// Stop everything: the signal's number, or 0.
    Stop(i32),
    /// Stop everything; the run counts as complete.
    Finish,
    /// Give a running report.
    Report,
    /// Save what verification knows, and say when that is done.
    Save(Sender<()>),
    /// A line for people.
    Note(String),
    /// An error that ends nothing.
    Complaint(String),
}

/// Orders from outside, usable from any thread.
#[derive(Clone)]
pub struct Remote(Sender<Event>);

impl Remote {
    /// Ends the run early; `signal` is remembered.
    pub fn stop(&self, signal: i32) {
        // A run that is over needs no order.
        let _ = self.0.send(Event::Stop(signal));
    }

    /// Ends the run early, as a run that is complete.
    pub fn finish(&self) {
        let _ = self.0.send(Event::Finish);
    }

    /// Has verifying jobs save how far their writes have come, and waits a moment for that.
    pub fn save_states(&self) {
        let (saved, done) = channel();
        if self.0.send(Event::Save(saved)).is_ok() {
            // A crew that is over has saved everything already.
            let _ = done.recv_timeout(2 * crate::member::SAVE_WAIT);
        }
    }

    /// Asks for a running report.
    pub fn report(&self) {
        let _ = self.0.send(Event::Report);
    }
}

/// What a run shows while it lasts.
pub trait Observer {
    /// The state of all workers; called at the status interval and when a worker ends.
    fn status(&mut self, view: &View<'_>);
    /// A running report.
    fn report(&mut self, run: Run);
    /// A worker failed.
    fn failed(&mut self, worker: &Worker, pid: u32, failure: &Failure);
    /// A line for people who read the normal report.
    fn note(&mut self, _line: &str) {}
    /// An error that was ignored, and asked to be shown (`error_dump`).
    fn complaint(&mut self, _line: &str) {}
}

/// State of all workers at one moment.
pub struct View<'a> {
    /// Nanoseconds since the start of the run.
    pub elapsed_ns: u64,
    /// One entry per worker, in thread order.
    pub workers: Vec<WorkerView<'a>>,
}

/// State of one worker.
pub struct WorkerView<'a> {
    /// Its plan.
    pub plan: &'a Worker,
    /// What it is doing.
    pub phase: Phase,
    /// Completed I/Os, warm-up included.
    pub ios: PerDdir<u64>,
    /// Moved bytes, warm-up included.
    pub bytes: PerDdir<u64>,
    /// Nanoseconds since its start; 0 before.
    pub running_ns: u64,
}

/// How often a run shows itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Intervals {
    /// Status calls; `None` for none.
    pub status_ns: Option<u64>,
    /// Running reports; `None` for none.
    pub report_ns: Option<u64>,
}

/// A run before it starts.
pub struct Crew {
    sender: Sender<Event>,
    inbox: Receiver<Event>,
    aggregate: Option<Aggregate>,
}

impl Default for Crew {
    fn default() -> Self {
        Crew::new()
    }
}

/// How a run ended.
pub struct Ended {
    /// The document, without device and host facts.
    pub run: Run,
    /// Signal that ended it early, if any.
    pub signal: Option<i32>,
}

struct Session<'a, 'o> {
    plan: &'a Plan,
    members: Vec<Member<'a>>,
    genesis_ns: u64,
    observer: &'o mut dyn Observer,
    signal: Option<i32>,
    scribe: Scribe,
    watches: Vec<Watch>,
    /// How many workers that do I/O are not over.
    io_workers: Arc<AtomicU32>,
}

impl Crew {
    /// A crew that has not started.
    pub fn new() -> Self {
        let (sender, inbox) = channel();
        Crew {
            sender,
            inbox,
            aggregate: None,
        }
    }

    /// Also writes the bandwidth of all jobs together into `<prefix>-read_bw.log` and its
    /// siblings (`--bandwidth-log`). Fails if a file cannot be opened.
    pub fn with_bandwidth_log(mut self, prefix: &str, plan: &Plan) -> Result<Crew, Failure> {
        self.aggregate = Some(Aggregate::open(prefix, &plan.workers)?);
        Ok(self)
    }

    /// A handle to end the run from elsewhere.
    pub fn remote(&self) -> Remote {
        Remote(self.sender.clone())
    }

    /// Runs the plan to its end.
    pub fn run(self, plan: &Plan, intervals: Intervals, observer: &mut dyn Observer) -> Ended {
        sys::process::set_map_threshold(MAP_BYTES);
        let genesis_ns = monotonic_ns();
        let io_workers = Arc::default();
        let mut flows = HashMap::new();
        let members = plan.workers.iter();
        let locks = Arc::new(Locks::new(plan.workers.iter()));
        let fleet = Arc::new(Fleet::new(plan.workers.iter()));
        let members = members
            .map(|worker| {
                let flow = worker.pace.flow;
                let flow = flow.map(|flow| flows.entry(flow.id).or_default());
                Member::new(worker, &io_workers, flow.cloned(), &locks, &fleet)
            })
            .collect();
        let scribe = Scribe::start(&plan.workers);
        let mut session = Session {
            plan,
            members,
            genesis_ns,
            observer,
            signal: None,
            scribe,
            watches: Watch::all(&plan.workers),
            io_workers,
        };
        let keeper = session.keep_clock();
        session.count_io_workers();
        let mut aggregate = self.aggregate;
        let mut next_status = intervals.status_ns.map(|every| genesis_ns + every);
        let mut next_report = intervals.report_ns.map(|every| genesis_ns + every);
        std::thread::scope(|scope| {
            loop {
                session.start_due(scope, &self.sender);
                if session.over() {
                    break;
                }
                let mut wake = session.next_ns();
                for due in [next_status, next_report].into_iter().flatten() {
                    wake = wake.min(due);
                }
                if let Some(log) = &aggregate {
                    wake = wake.min(genesis_ns + log.due_ns());
                }
                let wait = Duration::from_nanos(wake.saturating_sub(monotonic_ns()));
                match self.inbox.recv_timeout(wait) {
                    Ok(event) => {
                        session.hear(event);
                        session.count_io_workers();
                    }
                    Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
                }
                let now = monotonic_ns();
                session.keep_time(now);
                if let Some(log) = &mut aggregate {
                    session.log_bandwidth(now, log);
                }
                if let (Some(due), Some(every)) = (next_status, intervals.status_ns)
                    && now >= due
                {
                    session.show(now);
                    next_status = Some(now + every);
                }
                if let (Some(due), Some(every)) = (next_report, intervals.report_ns)
                    && now >= due
                {
                    session.report_running();
                    next_report = Some(due + every);
                }
            }
        });
        drop(keeper);
        session.show(monotonic_ns());
        let unwritten = aggregate.and_then(Aggregate::finish);
        session.finish_logs();
        let partial = session.signal.is_some();
        let mut run = session.last_document(partial);
        run.notes.extend(unwritten.map(|failure| failure.message));
        Ended {
            run,
            signal: session.signal,
        }
    }
}

impl<'a> Session<'a, '_> {
    fn over(&self) -> bool {
        self.members.iter().all(Member::is_over)
    }

    fn count_io_workers(&self) {
        let busy = |m: &&Member| !m.is_over() && !m.plan.engine.kind.caps().no_io;
        let count = self.members.iter().filter(busy).count();
        self.io_workers.store(count as u32, Relaxed);
    }

    /// Starts every worker whose turn has come.
    fn start_due<'scope>(
        &mut self,
        scope: &'scope std::thread::Scope<'scope, '_>,
        sender: &Sender<Event>,
    ) where
        'a: 'scope,
    {
        let now = monotonic_ns();
        let stage = self
            .members
            .iter()
            .filter(|m| !m.is_over())
            .map(|m| m.plan.stage)
            .min();
        for index in 0..self.members.len() {
            let member = &self.members[index];
            let due = matches!(member.state, State::Pending)
                && Some(member.plan.stage) == stage
                && now >= self.genesis_ns + member.plan.limits.start_delay_ns
                && !self.waits(member.plan);
            if due {
                self.start(index, scope, sender);
            }
        }
    }

    /// Does a `wait_for` hold the worker back?
    fn waits(&self, worker: &Worker) -> bool {
        worker.wait_for.as_ref().is_some_and(|name| {
            self.members
                .iter()
                .any(|m| &m.plan.name == name && m.plan.name != worker.name && !m.is_over())
        })
    }

    fn start<'scope>(
        &mut self,
        index: usize,
        scope: &'scope std::thread::Scope<'scope, '_>,
        sender: &Sender<Event>,
    ) where
        'a: 'scope,
    {
        let member = &mut self.members[index];
        let (plan, shared) = (member.plan, Arc::clone(&member.shared));
        let part = match self.scribe.open(index, plan) {
            Ok(part) => part,
            Err(failure) => {
                self.observer.failed(plan, 0, &failure);
                member.state = State::Done(Box::new(Outcome::failed(plan, failure)));
                return;
            }
        };
        let book = part.book;
        member.pen = part.pen;
        let (news, done) = (sender.clone(), sender.clone());
        let spawned = std::thread::Builder::new()
            .name(plan.name.chars().take(15).collect())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, move || {
                let tell = |tale| {
                    let event = match tale {
                        Tale::Ready => Event::Ready(index),
                        Tale::Note(line) => Event::Note(line),
                        Tale::Complaint(line) => Event::Complaint(line),
                    };
                    // A crew that is gone needs no news.
                    drop(news.send(event));
                };
                let outcome = worker::run(plan, &shared, book, &tell);
                // The crew waits for every worker it started.
                drop(done.send(Event::Done(index, Box::new(outcome))));
            });
        match spawned {
            Ok(handle) => {
                member.thread = Some(handle.thread().clone());
                member.state = State::Starting;
            }
            Err(error) => {
                let failure = crate::failure::step("start a worker thread", &error);
                self.observer.failed(plan, 0, &failure);
                member.state = State::Done(Box::new(Outcome::failed(plan, failure)));
            }
        }
    }

    fn hear(&mut self, event: Event) {
        match event {
            Event::Ready(index) => {
                self.members[index].shared.live.enter(Phase::Ready);
                self.open_gates();
            }
            Event::Done(index, outcome) => self.finish(index, outcome),
            Event::Stop(signal) => {
                self.signal.get_or_insert(signal);
                self.stop_all();
            }
            Event::Finish => self.stop_all(),
            Event::Report => self.report_running(),
            Event::Save(saved) => {
                crate::member::save_states(&self.members);
                // Whoever asked may have waited long enough.
                let _ = saved.send(());
            }
            Event::Note(line) => self.observer.note(&line),
            Event::Complaint(line) => self.observer.complaint(&line),
        }
    }

    fn stop_all(&mut self) {
        for member in &mut self.members {
            match member.state {
                State::Pending => member.state = State::Skipped,
                _ => member.give(order::STOP),
            }
        }
    }

    /// Lets the workers of a stage go together, once all that were started are ready.
    fn open_gates(&mut self) {
        let starting = |m: &&mut Member<'_>| matches!(m.state, State::Starting);
        let waiting = self.members.iter_mut().filter(starting);
        let ready = waiting.map(|m| m.shared.live.phase() == Phase::Ready);
        if !ready.into_iter().all(|r| r) {
            return;
        }
        let now = monotonic_ns();
        for member in self.members.iter_mut().filter(starting) {
            let (measured, logs) = (&member.plan.measured, &member.plan.logs);
            // A rate that is logged for every request is sampled by the worker.
            let window = |log: &Option<PathBuf>, ns| {
                let each = log.is_some() && logs.window_ns == 0;
                if measured.samples && !each { ns } else { 0 }
            };
            let bw_ns = window(&logs.bw, measured.bw_window_ns);
            let iops_ns = window(&logs.iops, measured.iops_window_ns);
            member.sampler = Sampler::new(bw_ns, iops_ns, now);
            if let (Some(flow), Some(plan)) = (&member.shared.flow, member.plan.pace.flow) {
                flow.enter(plan);
            }
        }
        for member in self.members.iter_mut().filter(starting) {
            member.start(now);
        }
    }

    fn finish(&mut self, index: usize, outcome: Box<Outcome>) {
        let member = &mut self.members[index];
        member.ended_ns = monotonic_ns();
        member.thread = None;
        self.scribe.close(index, member.pen.take());
        let plan = member.plan;
        let failed = outcome.stats.failure.is_some();
        if let Some(failure) = &outcome.stats.failure {
            self.observer.failed(plan, outcome.pid, failure);
        }
        let was_starting = matches!(member.state, State::Starting);
        if let (Some(flow), Some(plan), false) = (&member.shared.flow, plan.pace.flow, was_starting)
        {
            flow.leave(plan);
        }
        member.state = State::Done(outcome);
        if was_starting {
            self.open_gates();
        }
        let lifecycle = &plan.lifecycle;
        if let Some(scope) = lifecycle.exitall {
            self.stop_scope(plan, scope);
        } else if lifecycle.exitall_on_error && failed {
            self.stop_scope(plan, ExitScope::All);
        }
    }

    fn stop_scope(&mut self, origin: &Worker, scope: ExitScope) {
        for member in &mut self.members {
            let inside = match scope {
                ExitScope::Group => member.plan.group == origin.group,
                ExitScope::Stage => member.plan.stage == origin.stage,
                ExitScope::All => true,
            };
            match (inside, &member.state) {
                (false, _) => {}
                (true, State::Pending) => member.state = State::Skipped,
                (true, _) => member.give(order::STOP),
            }
        }
    }

    /// Waits for the log writer; a log that could not be written fails its worker.
    fn finish_logs(&mut self) {
        for (index, failure) in std::mem::take(&mut self.scribe).finish() {
            let member = &mut self.members[index];
            if let State::Done(outcome) = &mut member.state {
                self.observer.failed(member.plan, outcome.pid, &failure);
                outcome.stats.failure.get_or_insert(failure);
            }
        }
    }

    /// The aggregate bandwidth log.
    fn log_bandwidth(&self, now: u64, log: &mut Aggregate) {
        let mut bytes = PerDdir::default();
        for member in &self.members {
            let moved = member.shared.live.bytes();
            bytes = PerDdir::from_fn(|ddir| bytes[ddir] + moved[ddir]);
        }
        let ramps = |m: &Member<'_>| m.shared.live.phase() == Phase::Ramp;
        log.tick(now - self.genesis_ns, bytes, self.members.iter().any(ramps));
    }

    /// Gives the orders and takes the samples that are due.
    fn keep_time(&mut self, now: u64) {
        for index in 0..self.members.len() {
            let warm = self.is_warm(&self.members[index]);
            let member = &mut self.members[index];
            if matches!(member.state, State::Running) {
                member.keep_time(now, warm);
            }
        }
        for at in 0..self.watches.len() {
            self.watch(now, at);
        }
    }

    /// Takes a sample for steady state detection if one is due; ends the jobs that are steady.
    fn watch(&mut self, now: u64, at: usize) {
        let watch = &self.watches[at];
        if watch.wants_latency() && watch.is_due(now) {
            self.collect();
        }
        let members = &self.members;
        let seen = |index: usize| {
            let member: &Member<'_> = &members[index];
            let running = matches!(member.state, State::Running);
            let since = member.measured_ns.filter(|_| running)?;
            Some((since, seen(now, member)))
        };
        let watch = &mut self.watches[at];
        if watch.look(now, seen) {
            for index in watch.members() {
                self.members[index].give(order::STOP);
            }
        }
    }

    /// Has a warm-up by bytes moved them? Jobs that are reported as one warm up as one.
    fn is_warm(&self, member: &Member<'_>) -> bool {
        let plan = member.plan;
        let together = |other: &&Member<'_>| {
            let grouped = plan.reporting.grouped && other.plan.reporting.grouped;
            other.plan.number == plan.number || (grouped && other.plan.group == plan.group)
        };
        let moved = |other: &Member<'_>| other.shared.live.bytes().0.iter().sum::<u64>();
        let group = self.members.iter().filter(together);
        plan.limits.ramp_bytes > 0 && group.map(moved).sum::<u64>() >= plan.limits.ramp_bytes
    }

    /// The next moment at which something is due.
    fn next_ns(&self) -> u64 {
        let mut next = u64::MAX;
        let now = monotonic_ns();
        for member in &self.members {
            match member.state {
                State::Pending => {
                    let start = self.genesis_ns + member.plan.limits.start_delay_ns;
                    if start > now {
                        next = next.min(start);
                    }
                }
                State::Running => next = next.min(member.next_ns(now)),
                State::Starting | State::Done(_) | State::Skipped => {}
            }
        }
        let samples = self.watches.iter().filter_map(Watch::due_ns);
        next.min(samples.min().unwrap_or(u64::MAX))
            .min(now + 1_000_000_000)
    }

    fn show(&mut self, now: u64) {
        let workers = self.members.iter().map(|member| WorkerView {
            plan: member.plan,
            phase: match member.state {
                State::Skipped => Phase::Done,
                _ => member.shared.live.phase(),
            },
            ios: member.shared.live.ios(),
            bytes: member.shared.live.bytes(),
            running_ns: match (member.started_ns, member.ended_ns) {
                (0, _) => 0,
                (start, 0) => now.saturating_sub(start),
                (start, end) => end - start,
            },
        });
        let view = View {
            elapsed_ns: now - self.genesis_ns,
            workers: workers.collect(),
        };
        self.observer.status(&view);
    }
}

/// What a worker has done, for steady state detection.
fn seen(now: u64, member: &Member<'_>) -> Seen {
    let live = &member.shared.live;
    let mut lat = (0, 0);
    for classes in member.last.iter().flat_map(|copy| &copy.stats.classes.0) {
        lat.0 += classes.clat.moments.n;
        lat.1 += classes.clat.moments.sum;
    }
    Seen {
        at_ns: now,
        ios: live.ios().0.iter().sum(),
        bytes: live.bytes().0.iter().sum(),
        lat,
    }
}
