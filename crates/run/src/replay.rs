//! When recorded requests are due. Times count from the start of the job, so that a worker that
//! fell behind catches up instead of stretching the recording.

use crate::hot::Gate;
use engine::Io;
use std::collections::VecDeque;
use sys::clock::Clock;
use workload::{Recorded, Timetable};

/// Holds each recorded request back until its time.
#[derive(Debug)]
pub struct Timekeeper {
    start: u64,
    times: Timetable,
    /// Requests that have been generated and not yet issued.
    due: VecDeque<Recorded>,
}

impl Timekeeper {
    /// A keeper of `times`, of a job that starts at tick `start`.
    pub fn new(times: Timetable, start: u64) -> Self {
        Timekeeper {
            start,
            times,
            due: VecDeque::new(),
        }
    }

    /// May the request be issued now? Requests that are not of the recording always may.
    pub fn gate<C: Clock>(&mut self, io: &Io, clock: C) -> Gate {
        if self.due.is_empty() {
            self.times.take(&mut self.due);
        }
        let Some(next) = self.due.front().filter(|next| is(next, io)) else {
            return Gate::Go;
        };
        let deadline = self.start + clock.ticks(next.at_ns);
        if clock.now() < deadline {
            Gate::At(deadline)
        } else {
            Gate::Go
        }
    }

    /// The engine has taken the request.
    pub fn taken(&mut self, io: &Io) {
        self.due.pop_front_if(|next| is(next, io));
    }
}

fn is(recorded: &Recorded, io: &Io) -> bool {
    recorded.is(io.file, io.ddir, io.offset, io.len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sys::clock::Step;
    use units::Ddir;
    use workload::{Batch, Fill, Replay};

    #[test]
    fn each_request_waits_for_its_time() {
        let clock = Step::new(10);
        let record = |n: u64| Recorded {
            at_ns: n * 1_000_000,
            offset: n * 512,
            len: 512,
            file: 0,
            ddir: Ddir::Read,
        };
        let times = Timetable::default();
        let mut replay = Replay::new(Box::new((0..100).map(record)), Some(times.clone()));
        let start = clock.now();
        let mut keeper = Timekeeper::new(times, start);
        let mut batch = Batch::default();
        let mut n = 0;
        while replay.fill(&mut batch, 64) > 0 {
            for at in 0..batch.n {
                let io = Io::new(0, 0, batch.ddir[at], batch.offset[at], batch.len[at]);
                let other = Io::new(0, 0, Ddir::Write, 7, 7);
                assert_eq!(keeper.gate(&other, clock), Gate::Go);
                if let Gate::At(deadline) = keeper.gate(&io, clock) {
                    assert_eq!(clock.ns(deadline - start), n * 1_000_000);
                    clock.sleep_until(deadline);
                }
                assert_eq!(keeper.gate(&io, clock), Gate::Go);
                keeper.taken(&io);
                n += 1;
            }
        }
        assert_eq!(n, 100);
        assert!(clock.ns(clock.now() - start) >= 99_000_000);
    }
}
