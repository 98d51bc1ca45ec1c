//! Think time: stalls between blocks of requests.

use crate::hot::Gate;
use crate::live::Live;
use plan::model;
use sys::clock::Clock;

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Requests are issued.
    Working,
    /// A stall is due; what is in flight comes back first.
    Draining,
    /// Stalled since the first tick until the second.
    Stalling(u64, u64),
}

/// Think time of one worker.
#[derive(Debug)]
pub struct Think {
    plan: model::Think,
    phase: Phase,
    /// Requests since the last stall.
    blocks: u32,
    /// Tick when the last stall ended.
    stalled: u64,
}

/// What think time says to the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Nothing.
    Go,
    /// Wait, or look again.
    Wait(Gate),
    /// A stall of this many nanoseconds has just ended.
    Over(u64),
}

impl Think {
    /// Think time from tick `start` on.
    pub fn new(plan: model::Think, start: u64) -> Think {
        Think {
            plan,
            phase: Phase::Working,
            blocks: 0,
            stalled: start,
        }
    }

    /// Begins anew at tick `now`.
    pub fn restart(&mut self, now: u64) {
        *self = Think::new(self.plan, now);
    }

    /// A request was issued.
    pub fn issued(&mut self) {
        self.blocks += u32::from(self.plan.at_issue);
    }

    /// A request came back complete.
    pub fn done(&mut self) {
        self.blocks += u32::from(!self.plan.at_issue);
    }

    fn due<C: Clock>(&self, now: u64, clock: C) -> bool {
        let since_ns = || clock.ns(now.saturating_sub(self.stalled));
        self.plan.blocks.is_some_and(|most| self.blocks >= most)
            || self.plan.io_time_ns.is_some_and(|most| since_ns() >= most)
    }

    /// The stall that is due, step by step: drain, spin, sleep. An order ends the spinning.
    pub fn turn<C: Clock>(&mut self, now: u64, clock: C, live: &Live) -> Turn {
        match self.phase {
            Phase::Working if self.due(now, clock) => {
                self.blocks = 0;
                self.phase = Phase::Draining;
                Turn::Wait(Gate::Until(now))
            }
            Phase::Working => Turn::Go,
            Phase::Draining => {
                let spun = now + clock.ticks(self.plan.spin_ns);
                while clock.now() < spun && !live.ordered() {
                    std::hint::spin_loop();
                }
                let end = now + clock.ticks(self.plan.stall_ns);
                self.phase = Phase::Stalling(now, end);
                Turn::Wait(Gate::Until(end))
            }
            Phase::Stalling(_, end) if now < end => Turn::Wait(Gate::Until(end)),
            Phase::Stalling(begin, _) => {
                self.phase = Phase::Working;
                self.stalled = now;
                Turn::Over(clock.ns(now - begin))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sys::clock::Step;

    const PLAN: model::Think = model::Think {
        stall_ns: 1_000_000,
        spin_ns: 0,
        blocks: Some(4),
        at_issue: true,
        io_time_ns: None,
    };

    /// Issues one request, with its stall before it; how long that took.
    fn issue(think: &mut Think, clock: Step) -> u64 {
        let begin = clock.now();
        loop {
            match think.turn(clock.now(), clock, &Live::default()) {
                Turn::Go => break,
                Turn::Wait(Gate::Until(deadline)) => clock.sleep_until(deadline),
                Turn::Wait(other) => panic!("{other:?}"),
                Turn::Over(ns) => assert!((1_000_000..1_001_000).contains(&ns), "{ns}"),
            }
        }
        think.issued();
        think.done();
        clock.now() - begin
    }

    #[test]
    fn a_stall_comes_after_the_given_blocks() {
        let clock = Step::new(10);
        for at_issue in [true, false] {
            let mut think = Think::new(model::Think { at_issue, ..PLAN }, clock.now());
            for n in 0..40 {
                let stalled = issue(&mut think, clock) >= 1_000_000;
                assert_eq!(stalled, n > 0 && n % 4 == 0, "request {n}");
            }
        }
    }

    #[test]
    fn a_stall_comes_after_the_given_time_whichever_is_first() {
        let clock = Step::new(10);
        let plan = model::Think {
            blocks: None,
            io_time_ns: Some(5_000),
            ..PLAN
        };
        let mut think = Think::new(plan, clock.now());
        assert!((0..20).all(|_| issue(&mut think, clock) < 1_000_000));
        clock.advance(5_000);
        assert!(issue(&mut think, clock) >= 1_000_000);
        let both = model::Think {
            blocks: Some(4),
            ..plan
        };
        let mut think = Think::new(both, clock.now());
        assert!((0..4).all(|_| issue(&mut think, clock) < 1_000_000));
        assert!(issue(&mut think, clock) >= 1_000_000, "by blocks");
        clock.advance(5_000);
        assert!(issue(&mut think, clock) >= 1_000_000, "by time");
    }

    #[test]
    fn spinning_is_part_of_the_stall() {
        let clock = Step::new(10);
        let plan = model::Think {
            spin_ns: 400_000,
            ..PLAN
        };
        let mut think = Think::new(plan, clock.now());
        assert!((0..4).all(|_| issue(&mut think, clock) < 1_000_000));
        let took = issue(&mut think, clock);
        assert!((1_000_000..1_010_000).contains(&took), "{took}");
    }
}
