//! Requests with priorities of their own (`cmdprio_*`): which get one, and the latencies of each.

use crate::hot::Done;
use engine::Io;
use engine::cmdprio::CmdPrio;
use measure::Latency;
use plan::model::Worker;
use sys::clock::Clock;
use units::{Ddir, PerDdir};
use workload::rng::Taus258;

/// Latencies by priority, as the kernel encodes it.
pub type ByPriority = PerDdir<Vec<(u16, Latency)>>;

/// Priorities of one worker.
#[derive(Debug)]
pub struct Priorities {
    chosen: CmdPrio,
    /// Of the requests that are not chosen.
    own: u16,
    random: Taus258,
    /// Of the request in each slot.
    slots: Box<[u16]>,
    /// Total latencies are kept, not completion latencies.
    total: bool,
    found: ByPriority,
}

impl Priorities {
    /// Priorities of `worker`, which has `depth` slots.
    pub fn new(chosen: CmdPrio, depth: u32, worker: &Worker) -> Self {
        let own = worker.placement.io_priority.unwrap_or(0);
        let mut known: PerDdir<Vec<u16>> = PerDdir::default();
        for ddir in [Ddir::Read, Ddir::Write] {
            known[ddir].push(own);
            for share in &chosen.shares[ddir] {
                if !known[ddir].contains(&share.priority) {
                    known[ddir].push(share.priority);
                }
            }
        }
        let empty = |priority| (priority, Latency::with_histogram());
        Priorities {
            chosen,
            own,
            random: Taus258::new(worker.buffers.fill.seed),
            slots: vec![own; depth.max(1) as usize].into_boxed_slice(),
            total: worker.reporting.lat_percentiles,
            found: known.map(|list| list.into_iter().map(empty).collect()),
        }
    }

    /// The priority of a request that is about to be queued.
    pub fn choose(&mut self, io: &Io) -> u16 {
        // The high half of the product of a 64-bit draw and 100 is uniform in 0..100.
        let draw = ((u128::from(self.random.draw()) * 100) >> 64) as u32;
        let chosen = self.chosen.choose(io.ddir, io.len, draw);
        let priority = chosen.unwrap_or(self.own);
        self.slots[io.slot as usize] = priority;
        priority
    }

    /// A request came back.
    pub fn done<C: Clock>(&mut self, done: &Done, clock: C) {
        let (io, from) = (&done.io, if self.total { done.start } else { done.issue });
        if !io.ddir.is_data() {
            return;
        }
        let priority = self.slots[io.slot as usize];
        let mut all = self.found[io.ddir].iter_mut();
        if let Some((_, latency)) = all.find(|(of, _)| *of == priority) {
            latency.add(clock.ns(done.end.wrapping_sub(from)), 1);
        }
    }

    /// Forgets the warm-up.
    pub fn restart(&mut self) {
        for (_, latency) in self.found.0.iter_mut().flatten() {
            *latency = Latency::with_histogram();
        }
    }

    /// What was found.
    pub fn found(&self) -> &ByPriority {
        &self.found
    }
}
