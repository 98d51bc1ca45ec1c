//! `latency_target`: the search for the greatest queue depth that keeps a latency.
//!
//! As fio does it: the depth doubles until the target is missed, then the range between the
//! last depth that kept it and the first that did not is halved. When a depth follows itself the
//! statistics start over, and the job ends after one more window at that depth.

use crate::failure::ETIMEDOUT;
use plan::model;
use result::Failure;
use sys::clock::Clock;

/// What the loop has to do before it issues again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing.
    Go,
    /// Let everything in flight come back, so that the old depth ages no request of the new one.
    Drain,
    /// Forget what was measured: the search is over.
    Afresh,
    /// End the job.
    Stop,
}

/// Windows in a row at one depth after which a greater one is tried again.
const STABLE: u32 = 3;

/// Search of one worker.
#[derive(Debug)]
pub struct Search {
    plan: model::Search,
    iodepth: u32,
    depth: u32,
    low: u32,
    high: u32,
    /// When the window began, ticks.
    begun: u64,
    /// Requests completed when the window began.
    ios: u64,
    /// Requests of the window that missed the target.
    missed: u64,
    stable: u32,
    next: Step,
    /// The depth is found; the last window runs.
    last: bool,
    /// The queue drains: what comes back was issued at a depth that has been given up.
    draining: bool,
}

impl Search {
    /// A search up to `iodepth` from tick `start` on.
    pub fn new(plan: model::Search, iodepth: u32, start: u64) -> Search {
        Search {
            plan,
            iodepth,
            depth: 1,
            low: 1,
            high: iodepth,
            begun: start,
            ios: 0,
            missed: 0,
            stable: 0,
            next: Step::Go,
            last: false,
            draining: false,
        }
    }

    /// The warm-up is over, or the statistics started over: `ios` requests are complete. A search
    /// that is under way begins anew.
    pub fn restart(&mut self, now: u64, ios: u64) {
        if !self.last {
            *self = Search::new(self.plan, self.iodepth, now);
        }
        self.window(now, ios);
    }

    /// The queue depth that holds now.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    fn window(&mut self, now: u64, ios: u64) {
        (self.begun, self.ios, self.missed) = (now, ios, 0);
    }

    /// A request took `lat_ns`. Fails if a single one misses a target that all must keep and
    /// there is no smaller depth.
    pub fn done(&mut self, lat_ns: u64) -> Result<(), Failure> {
        let target_ns = self.plan.target_ns;
        if lat_ns <= target_ns || self.draining || self.next != Step::Go {
            return Ok(());
        }
        if self.plan.percentile < 100.0 {
            self.missed += 1;
        } else if !self.less() {
            let message =
                format!("latency of {lat_ns} nsec exceeds specified max ({target_ns} nsec)");
            return Err(Failure::new(ETIMEDOUT, "max latency exceeded", message));
        }
        Ok(())
    }

    /// Judges the window if it is over: `ios` requests are complete.
    pub fn judge<C: Clock>(&mut self, now: u64, clock: C, ios: u64) {
        let over = clock.ns(now.saturating_sub(self.begun)) >= self.plan.window_ns;
        let done = ios - self.ios;
        if !over || done == 0 || self.draining || self.next != Step::Go {
            return;
        }
        let kept = 100.0 * done.saturating_sub(self.missed) as f64 / done as f64;
        if kept >= self.plan.percentile {
            self.more(now, ios);
        } else {
            self.less();
        }
    }

    /// What the loop has to do; `ios` requests are complete.
    pub fn step(&mut self, now: u64, ios: u64) -> Step {
        match std::mem::replace(&mut self.next, Step::Go) {
            Step::Go if self.draining => {
                self.draining = false;
                self.window(now, ios);
                Step::Go
            }
            Step::Afresh if !self.draining => {
                self.draining = true;
                self.next = Step::Afresh;
                Step::Drain
            }
            Step::Afresh => {
                self.draining = false;
                self.last = true;
                Step::Afresh
            }
            Step::Drain => {
                self.draining = true;
                Step::Drain
            }
            step => step,
        }
    }

    /// Goes to a smaller depth; false at depth 1.
    fn less(&mut self) -> bool {
        if self.depth == 1 {
            return false;
        }
        self.high = self.depth;
        if self.depth == self.low {
            self.low -= 1;
        }
        self.depth = (self.depth + self.low) / 2;
        self.stable = 0;
        self.next = Step::Drain;
        true
    }

    /// The target was kept: goes to a greater depth, or ends where there is none to try.
    fn more(&mut self, now: u64, ios: u64) {
        let before = self.depth;
        self.low = before;
        if before + 1 == self.high {
            self.stable += 1;
            if self.stable >= STABLE {
                self.high += 1;
                self.stable = 0;
            }
        }
        let wanted = if self.high == self.iodepth {
            before * 2
        } else {
            (before + self.high) / 2
        };
        self.depth = wanted.min(self.iodepth);
        if self.depth == before && !self.plan.endless {
            self.next = if self.last { Step::Stop } else { Step::Afresh };
        }
        self.window(now, ios);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sys::clock::Step as Ticks;

    const PLAN: model::Search = model::Search {
        target_ns: 1000,
        window_ns: 100,
        percentile: 90.0,
        endless: false,
    };

    /// The depths of a search where latency is 100 ns a request in flight.
    fn depths(plan: model::Search, iodepth: u32, turns: usize) -> (Vec<u32>, Option<Step>) {
        let clock = Ticks::new(0);
        let mut search = Search::new(plan, iodepth, 0);
        let (mut now, mut ios) = (0, 0);
        let mut seen = vec![1];
        for _ in 0..turns {
            for _ in 0..10 {
                (now, ios) = (now + 10, ios + 1);
                search
                    .done(u64::from(search.depth()) * 100)
                    .expect("no limit");
            }
            search.judge(now, clock, ios);
            loop {
                match search.step(now, ios) {
                    Step::Go => break,
                    Step::Drain => {}
                    Step::Afresh => search.restart(now, ios),
                    Step::Stop => return (seen, Some(Step::Stop)),
                }
            }
            seen.push(search.depth());
        }
        (seen, None)
    }

    #[test]
    fn doubles_until_it_misses_and_halves_the_rest() {
        let (seen, end) = depths(PLAN, 64, 100);
        assert_eq!(seen, [1, 2, 4, 8, 16, 12, 10, 11, 10, 10]);
        assert_eq!(end, Some(Step::Stop));
    }

    #[test]
    fn a_target_that_always_holds_ends_at_the_full_depth() {
        let (seen, end) = depths(PLAN, 6, 100);
        assert_eq!(seen, [1, 2, 4, 6, 6]);
        assert_eq!(end, Some(Step::Stop));
    }

    #[test]
    fn an_endless_search_goes_on() {
        let plan = model::Search {
            endless: true,
            ..PLAN
        };
        let (seen, end) = depths(plan, 64, 60);
        assert_eq!(end, None);
        assert!(seen.contains(&10) && seen.ends_with(&[10]) || seen.ends_with(&[11]));
    }

    #[test]
    fn one_slow_request_at_depth_one_fails_a_target_for_all() {
        let mut search = Search::new(
            model::Search {
                percentile: 100.0,
                ..PLAN
            },
            8,
            0,
        );
        assert!(search.done(1000).is_ok());
        let failure = search.done(1001).expect_err("too slow");
        assert_eq!(failure.errno, ETIMEDOUT);
        assert!(
            failure
                .message
                .contains("1001 nsec exceeds specified max (1000 nsec)")
        );
    }
}
