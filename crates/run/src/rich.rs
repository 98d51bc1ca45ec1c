//! The hooks of jobs with rare features: pace, logs, verification.

use crate::hot::{Done, Gate, Hooks};
use crate::live::Live;
use crate::locks::Turns;
use crate::logs::Book;
use crate::pace::Pace;
use crate::priorities::Priorities;
use crate::replay::Timekeeper;
use crate::stats::Stats;
use crate::verify::Verification;
use crate::zones::Lanes;
use engine::Io;
use result::Failure;
use std::sync::Arc;
use sys::clock::Clock;
use workload::{Batch, Fill};

/// Features of one worker; each is absent unless the job asks for it.
pub struct Rich<'a> {
    /// Rates, think time, flows, latency limits.
    pub pace: Option<Box<Pace>>,
    /// Priorities of single requests.
    pub priorities: Option<Priorities>,
    /// Files shared with other jobs in turns.
    pub turns: Option<Turns>,
    /// Zones that requests keep to.
    pub lanes: Option<Box<Lanes>>,
    /// Times of a recording.
    pub timekeeper: Option<Timekeeper>,
    /// Log rows and the recorded pattern.
    pub book: Option<Box<Book>>,
    /// Stamps on writes, checks of reads.
    pub verification: Option<Box<Verification<'a>>>,
    /// Counters for minimum checks, and the phase for logs.
    pub live: Arc<Live>,
}

impl Rich<'_> {
    /// The pace and the counters it looks at; none while what was written is being read back,
    /// which goes as fast as it can.
    fn pace(&mut self) -> Option<(&mut Pace, &Live)> {
        let verification = self.verification.as_ref();
        let reading_back = verification.is_some_and(|v| v.is_reading_back());
        let pace = self.pace.as_mut().filter(|_| !reading_back)?;
        Some((pace, &self.live))
    }

    /// The zones; none while what was written is being read back from where it is.
    fn lanes(&mut self) -> Option<&mut Lanes> {
        let verification = self.verification.as_ref();
        let reading_back = verification.is_some_and(|v| v.is_reading_back());
        self.lanes.as_deref_mut().filter(|_| !reading_back)
    }
}

impl Hooks for Rich<'_> {
    const ACTIVE: bool = true;
    const STAMPED: bool = true;

    fn refill<C: Clock>(&mut self, fill: &mut dyn Fill, batch: &mut Batch, clock: C) -> usize {
        let Rich {
            pace, lanes, live, ..
        } = self;
        let reading_back = self.verification.as_ref();
        let reading_back = reading_back.is_some_and(|v| v.is_reading_back());
        if let Some(lanes) = lanes.as_deref_mut().filter(|_| !reading_back) {
            let mut rates = |drawn| match pace {
                Some(pace) => pace.choose(drawn, clock),
                None => drawn,
            };
            return lanes.refill(fill, batch, live, &mut rates);
        }
        match self.pace() {
            Some((pace, _)) => pace.refill(fill, batch, clock),
            None => fill.fill(batch, Batch::CAPACITY),
        }
    }

    fn most(&self) -> usize {
        self.pace.as_ref().map_or(usize::MAX, |pace| pace.most())
    }

    fn gate<C: Clock>(&mut self, io: &mut Io, clock: C) -> Gate {
        if let Some(keeper) = &mut self.timekeeper {
            let gate = keeper.gate(io, clock);
            if gate != Gate::Go {
                return gate;
            }
        }
        let gate = match self.pace() {
            Some((pace, live)) => pace.gate(io.ddir, clock, live),
            None => Gate::Go,
        };
        if gate != Gate::Go {
            return gate;
        }
        let own = match &mut self.verification {
            Some(verification) => verification.expects(io),
            None => false,
        };
        if !own && let Some(lanes) = self.lanes() {
            let gate = lanes.gate(io, clock);
            if gate != Gate::Go {
                return gate;
            }
        }
        match &mut self.turns {
            // Last, so that nothing is held while something else is waited for.
            Some(turns) => turns.gate(io, clock),
            None => Gate::Go,
        }
    }

    fn prepare<C: Clock>(&mut self, io: &Io, buffer: &mut [u8], clock: C) {
        if let Some(verification) = &mut self.verification {
            verification.prepare(io, buffer, clock.ns(clock.now()));
        }
    }

    fn pretend(&mut self, fill: &mut dyn Fill, batch: &mut Batch) -> Option<(u64, u64)> {
        self.verification
            .as_mut()
            .filter(|v| v.pretends())
            .map(|v| v.pretend(fill, batch))
    }

    fn read_back(&mut self) -> Option<Box<dyn Fill>> {
        self.verification.as_mut()?.read_back()
    }

    fn late_failure(&mut self) -> Option<Failure> {
        let zones = self.lanes.as_mut().and_then(|lanes| lanes.late_failure());
        zones.or_else(|| self.verification.as_mut()?.late_failure())
    }

    fn read_back_over(&mut self) {
        if let Some(verification) = &mut self.verification {
            verification.read_back_over();
        }
    }

    fn priority(&mut self, io: &Io) -> Option<u16> {
        self.priorities.as_mut().map(|all| all.choose(io))
    }

    fn serve(&mut self, io: &Io) -> Option<i32> {
        self.lanes.as_mut()?.serve(io)
    }

    fn failed(&mut self, io: &Io) {
        if let Some(lanes) = &mut self.lanes {
            lanes.over(io, false);
        }
    }

    fn taken<C: Clock>(&mut self, io: &Io, at: u64, clock: C) {
        if let Some(lanes) = &mut self.lanes {
            lanes.taken(io);
        }
        if let Some(keeper) = &mut self.timekeeper {
            keeper.taken(io);
        }
        if let Some((pace, _)) = self.pace() {
            pace.issued(io.ddir, io.slot, io.len, clock);
        }
        if let Some(book) = &mut self.book {
            book.taken(io, at, clock);
        }
    }

    fn issued<C: Clock>(&mut self, io: &Io, start: u64, issue: u64, clock: C) {
        if let Some(book) = &mut self.book {
            book.issued(io, start, issue, &self.live, clock);
        }
    }

    fn linger<C: Clock>(&mut self, clock: C) {
        if let Some(pace) = &mut self.pace {
            pace.linger(clock, &self.live);
        }
    }

    fn measure<C: Clock>(&mut self, clock: C) {
        if let Some(lanes) = &mut self.lanes {
            lanes.restart();
        }
        if let Some(priorities) = &mut self.priorities {
            priorities.restart();
        }
        if let Some(pace) = &mut self.pace {
            pace.restart(clock.now(), &self.live);
        }
    }

    fn save(&mut self) {
        if let Some(verification) = &mut self.verification {
            verification.save();
        }
    }

    fn hand_over(&mut self, stats: &mut Stats) {
        if let Some(lanes) = &self.lanes {
            stats.zone_resets = lanes.resets();
        }
        if let Some(priorities) = &self.priorities {
            stats.priorities.clone_from(priorities.found());
        }
        if let Some(pace) = &mut self.pace {
            stats.late = pace.take_late();
            stats.latency_depth = pace.depth();
        }
    }

    fn pass_over<C: Clock>(&mut self, clock: C) {
        if let Some(lanes) = &mut self.lanes {
            lanes.pass_over();
        }
        if let Some(book) = &mut self.book {
            book.pass_over(clock.now(), clock);
        }
    }

    fn done<C: Clock>(&mut self, done: &Done, buffer: &[u8], clock: C) -> Result<(), Failure> {
        if let Some(lanes) = &mut self.lanes {
            lanes.over(&done.io, true);
        }
        if let Some(turns) = &mut self.turns {
            turns.release(done.io.slot);
        }
        if let Some(priorities) = &mut self.priorities {
            priorities.done(done, clock);
        }
        if let Some(book) = &mut self.book {
            book.done(done, &self.live, clock);
        }
        if let Some((pace, live)) = self.pace() {
            pace.done(done, clock, live)?;
        }
        match &mut self.verification {
            Some(verification) => verification.done(&done.io, buffer),
            None => Ok(()),
        }
    }
}
