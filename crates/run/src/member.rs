//! One worker as the crew sees it: what it is doing, and what it must be told when.

use crate::live::{Phase, order};
use crate::locks::Locks;
use crate::logs::Pen;
use crate::pace::Flow;
use crate::sampler::Sampler;
use crate::stats::Snapshot;
use crate::worker::{Outcome, Shared};
use crate::zones::Fleet;
use plan::model::Worker;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant};
use units::PerDdir;

/// How often the crew looks whether a worker has begun, or has moved the bytes of its warm-up.
const LOOK_NS: u64 = 5_000_000;

/// Where a worker is.
pub enum State {
    /// Its turn has not come.
    Pending,
    /// Its thread prepares.
    Starting,
    /// It runs.
    Running,
    /// It is over.
    Done(Box<Outcome>),
    /// Never started because the run was ended.
    Skipped,
}

/// One worker.
pub struct Member<'a> {
    /// Its plan.
    pub plan: &'a Worker,
    /// What it shares with the crew.
    pub shared: Arc<Shared>,
    /// Where it is.
    pub state: State,
    /// Its thread, while it has one.
    pub thread: Option<std::thread::Thread>,
    /// When it was let go; 0 before.
    pub started_ns: u64,
    /// When it ended; 0 before.
    pub ended_ns: u64,
    /// When the load began or began anew, as far as the crew has seen.
    begun_ns: Option<u64>,
    /// When measuring began: with the load or after the warm-up.
    pub measured_ns: Option<u64>,
    /// Its sampled rates.
    pub sampler: Sampler,
    /// For the logs of sampled rates.
    pub pen: Option<Pen>,
    /// The last copy of its statistics.
    pub last: Option<Snapshot>,
}

impl<'a> Member<'a> {
    /// A worker that has not started.
    pub fn new(
        plan: &'a Worker,
        io_workers: &Arc<AtomicU32>,
        flow: Option<Arc<Flow>>,
        locks: &Arc<Locks>,
        fleet: &Arc<Fleet>,
    ) -> Self {
        Member {
            plan,
            shared: Arc::new(Shared {
                io_workers: Arc::clone(io_workers),
                flow,
                locks: Arc::clone(locks),
                fleet: Arc::clone(fleet),
                ..Shared::default()
            }),
            state: State::Pending,
            thread: None,
            started_ns: 0,
            ended_ns: 0,
            begun_ns: None,
            measured_ns: None,
            sampler: Sampler::default(),
            pen: None,
            last: None,
        }
    }

    /// Has it ended, or will it never start?
    pub fn is_over(&self) -> bool {
        matches!(self.state, State::Done(_) | State::Skipped)
    }

    /// Its load may begin.
    pub fn start(&mut self, now: u64) {
        self.started_ns = now;
        self.state = State::Running;
        self.shared.start.open();
    }

    /// Gives an order and wakes the worker.
    pub fn give(&self, order: u32) {
        self.shared.live.give(order);
        if let Some(thread) = &self.thread {
            thread.unpark();
        }
    }

    /// Gives the orders and takes the samples that are due. `warm`: a warm-up by bytes is over.
    pub fn keep_time(&mut self, now: u64, warm: bool) {
        let (ios, bytes) = (self.shared.live.ios(), self.shared.live.bytes());
        self.notice_begin(now, ios, bytes);
        let Some(begun) = self.begun_ns else { return };
        let limits = &self.plan.limits;
        if self.measured_ns.is_none() {
            let by_time = limits.ramp_ns > 0 && now >= begun + limits.ramp_ns;
            if by_time || warm {
                self.measured_ns = Some(if warm { now } else { begun + limits.ramp_ns });
                self.give(order::MEASURE);
                self.sampler.restart(now, ios, bytes);
            }
        }
        if self.measured_ns.is_some() {
            self.sampler.tick(now, ios, bytes, self.pen.as_mut());
        }
        if self.stop_ns().is_some_and(|at| now >= at) {
            self.give(order::STOP);
        }
    }

    /// A worker says when its load begins: after what comes before it, and again when it starts
    /// over.
    fn notice_begin(&mut self, now: u64, ios: PerDdir<u64>, bytes: PerDdir<u64>) {
        let begun = self.shared.live.started_ns();
        if begun == self.begun_ns {
            return;
        }
        let first = self.begun_ns.is_none();
        self.begun_ns = begun;
        if first {
            let from = begun.unwrap_or(now);
            self.sampler
                .restart(from, PerDdir::default(), PerDdir::default());
        } else {
            self.sampler.restart(now, ios, bytes);
        }
        if !first || !self.plan.limits.ramps() {
            self.measured_ns = begun;
        }
    }

    /// When the run time is over.
    fn stop_ns(&self) -> Option<u64> {
        let runtime_ns = self.plan.limits.runtime_ns;
        self.measured_ns
            .filter(|_| runtime_ns > 0)
            .map(|from| from.saturating_add(runtime_ns))
    }

    /// When the crew must look at this running worker again.
    pub fn next_ns(&self, now: u64) -> u64 {
        let limits = &self.plan.limits;
        let Some(begun) = self.begun_ns else {
            return now + LOOK_NS;
        };
        if self.measured_ns.is_none() {
            return match (limits.ramp_ns, limits.ramp_bytes) {
                (_, 1..) => now + LOOK_NS,
                (ramp_ns, 0) => begun + ramp_ns,
            };
        }
        // An order that was given needs no second one.
        let stop = self.stop_ns().filter(|at| *at > now);
        let dues = [stop, self.sampler.due_ns()].into_iter().flatten();
        dues.min().unwrap_or(u64::MAX)
    }
}

/// How long the end by a trigger waits for workers that are busy.
pub const SAVE_WAIT: Duration = Duration::from_secs(1);

/// Has verifying workers save how far their writes have come, and waits a moment for that.
pub fn save_states(members: &[Member<'_>]) {
    let saves = |m: &&Member<'_>| {
        let verify = m.plan.verify.as_ref();
        m.thread.is_some() && verify.is_some_and(|verify| verify.save.is_some())
    };
    for member in members.iter().filter(saves) {
        member.give(order::SAVE);
    }
    let deadline = Instant::now() + SAVE_WAIT;
    let busy = |m: &Member<'_>| {
        m.shared.live.orders() & order::SAVE != 0 && m.shared.live.phase() != Phase::Done
    };
    while members.iter().filter(saves).any(busy) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(1));
    }
}
