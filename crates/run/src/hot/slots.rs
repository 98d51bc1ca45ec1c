//! What the loop of asynchronous engines keeps per request, allocated once.

use engine::Io;
use plan::model::Depth;
use units::Ddir;

/// A request in flight.
#[derive(Clone, Copy)]
pub(super) struct Flight {
    /// Tick when it was taken up.
    pub start: u64,
    /// Tick when it was issued.
    pub issue: u64,
    /// As in [`Io`].
    pub offset: u64,
    /// As in [`Io`].
    pub len: u32,
    /// As in [`Io`].
    pub file: u16,
    /// As in [`Io`].
    pub ddir: Ddir,
}

impl Flight {
    /// A request that is taken up.
    #[inline(always)]
    pub fn new(io: &Io, start: u64) -> Self {
        Flight {
            start,
            issue: start,
            offset: io.offset,
            len: io.len,
            file: io.file,
            ddir: io.ddir,
        }
    }

    /// The request.
    #[inline(always)]
    pub fn io(&self, slot: u32) -> Io {
        Io::new(slot, self.file, self.ddir, self.offset, self.len)
    }
}

/// Slots and scratch space of the loop; allocated once.
pub struct Queue {
    pub(super) depth: Depth,
    /// The engine serves requests in our context: a request is issued when it is taken up and
    /// there is no submission latency.
    pub(super) inline: bool,
    pub(super) flights: Box<[Flight]>,
    /// Free slots, a stack; `free_n` of them.
    pub(super) free: Box<[u32]>,
    pub(super) free_n: usize,
    /// Staged slots in order; `staged_n` of them.
    pub(super) staged: Box<[u32]>,
    pub(super) staged_n: usize,
    /// How many of the staged requests have their issue stamp already.
    pub(super) stamped_n: usize,
    /// The staged requests without issue stamp, as runs that share direction and start.
    pub(super) runs: Runs,
    /// Completions of the current reap.
    pub(super) reaped: Box<[(u32, i32)]>,
}

impl Queue {
    /// Room for `depth.iodepth` requests.
    pub fn new(depth: Depth, inline: bool) -> Self {
        let slots = depth.iodepth as usize;
        let idle = Io::new(0, 0, Ddir::Read, 0, 0);
        Queue {
            depth,
            inline,
            flights: vec![Flight::new(&idle, 0); slots].into_boxed_slice(),
            free: (0..depth.iodepth).rev().collect(),
            free_n: slots,
            staged: vec![0; slots].into_boxed_slice(),
            staged_n: 0,
            stamped_n: 0,
            runs: Runs::new(slots),
            reaped: vec![(0, 0); slots].into_boxed_slice(),
        }
    }

    /// Requests staged or in flight.
    #[inline(always)]
    pub(super) fn in_flight(&self) -> usize {
        self.free.len() - self.free_n
    }

    /// Fewest completions to wait for. A minimum of 0 waits for one all the same, as in fio.
    #[inline(always)]
    pub(super) fn least(&self) -> u32 {
        self.depth
            .batch_complete_min
            .min(self.in_flight() as u32)
            .max(1)
    }

    /// Reap after every request.
    #[inline(always)]
    pub(super) fn polling(&self) -> bool {
        self.depth.batch_complete_min == 0 && self.depth.batch_complete_max == 0
    }

    #[inline(always)]
    pub(super) fn release(&mut self, slot: u32) {
        self.free[self.free_n] = slot;
        self.free_n += 1;
    }

    /// Does a request touch the bytes of one in flight, one of them writing?
    pub(super) fn overlaps(&self, io: &Io) -> bool {
        let idle = &self.free[..self.free_n];
        self.flights.iter().enumerate().any(|(slot, flight)| {
            flight.file == io.file
                && (flight.ddir != Ddir::Read || io.ddir != Ddir::Read)
                && io.offset < flight.offset + u64::from(flight.len)
                && flight.offset < io.offset + u64::from(io.len)
                && !idle.contains(&(slot as u32))
        })
    }
}

/// Requests of one direction with one start stamp.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub ddir: Ddir,
    pub start: u64,
    pub n: u64,
}

/// Runs in order; `head..tail` of them.
pub(super) struct Runs {
    list: Box<[Run]>,
    head: usize,
    tail: usize,
}

impl Runs {
    /// Room for `slots` requests.
    fn new(slots: usize) -> Self {
        let none = Run {
            ddir: Ddir::Read,
            start: 0,
            n: 0,
        };
        Runs {
            list: vec![none; slots].into_boxed_slice(),
            head: 0,
            tail: 0,
        }
    }

    /// Adds to the last run, or a new one.
    #[inline(always)]
    pub(super) fn add(&mut self, ddir: Ddir, start: u64, n: u64) {
        if self.tail > self.head {
            let last = &mut self.list[self.tail - 1];
            if last.ddir == ddir && last.start == start {
                last.n += n;
                return;
            }
        }
        if self.tail == self.list.len() {
            // Each run has a request in a slot, so there is room at the front.
            self.list.copy_within(self.head..self.tail, 0);
            (self.head, self.tail) = (0, self.tail - self.head);
        }
        self.list[self.tail] = Run { ddir, start, n };
        self.tail += 1;
    }

    /// Takes the first `n` requests, run by run.
    #[inline(always)]
    pub(super) fn take(&mut self, mut n: u64, mut each: impl FnMut(Run)) {
        while n > 0 && self.head < self.tail {
            let run = &mut self.list[self.head];
            let part = Run {
                n: run.n.min(n),
                ..*run
            };
            run.n -= part.n;
            n -= part.n;
            self.head += usize::from(run.n == 0);
            each(part);
        }
        if self.head == self.tail {
            (self.head, self.tail) = (0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        /// Against a queue of single requests: no more than `SLOTS` wait at any time.
        #[test]
        fn runs_keep_order_and_count(
            steps in proptest::collection::vec((0u64..3, 0usize..3, 1u64..5, 0u64..6), 1..200)
        ) {
            const SLOTS: u64 = 16;
            let mut runs = Runs::new(SLOTS as usize);
            let mut single = VecDeque::new();
            for (start, ddir, n, taken) in steps {
                let ddir = Ddir::DATA[ddir];
                let n = n.min(SLOTS - single.len() as u64);
                if n > 0 {
                    runs.add(ddir, start, n);
                }
                single.extend((0..n).map(|_| (ddir, start)));
                let mut got = Vec::new();
                let taken = taken.min(single.len() as u64);
                runs.take(taken, |run| got.extend((0..run.n).map(|_| (run.ddir, run.start))));
                let want: Vec<_> = single.drain(..taken as usize).collect();
                prop_assert_eq!(got, want);
            }
        }
    }
}
