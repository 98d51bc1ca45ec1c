//! What a running worker shows, and what it is told: the only memory it shares while it runs.
//!
//! A worker is the single writer of its counters and the crew is the single writer of its
//! orders, so plain relaxed loads and stores are enough and nothing on the hot path is a
//! read-modify-write. The two halves live on separate cache lines: reading an order costs
//! nothing while nobody gives one.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};
use units::{Ddir, PerDdir};

/// What a worker is doing, for the status line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// Not created yet.
    Pending = 0,
    /// Thread exists, is opening files.
    Created = 1,
    /// Ready, waiting for the others.
    Ready = 2,
    /// Warm-up.
    Ramp = 3,
    /// Measured I/O.
    Running = 4,
    /// Reading back.
    Verifying = 5,
    /// Final syncs.
    Syncing = 6,
    /// Closing.
    Finishing = 7,
    /// Over.
    Done = 8,
}

impl Phase {
    const ALL: [Phase; 9] = [
        Phase::Pending,
        Phase::Created,
        Phase::Ready,
        Phase::Ramp,
        Phase::Running,
        Phase::Verifying,
        Phase::Syncing,
        Phase::Finishing,
        Phase::Done,
    ];
}

/// Orders a worker can be given; bits of one word.
pub mod order {
    /// Stop issuing, drain, report.
    pub const STOP: u32 = 1;
    /// The warm-up is over: forget what was counted.
    pub const MEASURE: u32 = 2;
    /// Publish a copy of the statistics.
    pub const SNAPSHOT: u32 = 4;
    /// Forget what was counted and begin the measured time anew. A worker gives it to itself.
    pub const AFRESH: u32 = 8;
    /// Save the state of verification for a later run.
    pub const SAVE: u32 = 16;
}

#[repr(align(128))]
#[derive(Debug, Default)]
struct Counters {
    ios: [AtomicU64; 3],
    bytes: [AtomicU64; 3],
    phase: AtomicU8,
    started_ns: AtomicU64,
}

#[repr(align(128))]
#[derive(Debug, Default)]
struct Orders(AtomicU32);

/// The shared half of a worker.
#[derive(Debug, Default)]
pub struct Live {
    counters: Counters,
    orders: Orders,
}

#[inline(always)]
fn bump(counter: &AtomicU64, n: u64) {
    counter.store(counter.load(Relaxed) + n, Relaxed);
}

impl Live {
    /// Counts completed I/Os of a data direction.
    #[inline(always)]
    pub fn count(&self, ddir: Ddir, ios: u64, bytes: u64) {
        bump(&self.counters.ios[ddir.index()], ios);
        bump(&self.counters.bytes[ddir.index()], bytes);
    }

    /// I/Os completed so far, warm-up included.
    pub fn ios(&self) -> PerDdir<u64> {
        PerDdir::from_fn(|d| self.counters.ios[d.index()].load(Relaxed))
    }

    /// Bytes moved so far, warm-up included.
    pub fn bytes(&self) -> PerDdir<u64> {
        PerDdir::from_fn(|d| self.counters.bytes[d.index()].load(Relaxed))
    }

    /// What the worker is doing.
    pub fn phase(&self) -> Phase {
        Phase::ALL[self.counters.phase.load(Relaxed) as usize]
    }

    /// Says what the worker is doing.
    pub fn enter(&self, phase: Phase) {
        self.counters.phase.store(phase as u8, Relaxed);
    }

    /// Says that the load begins now, on `CLOCK_MONOTONIC`; time limits count from here.
    pub fn begin(&self, now_ns: u64) {
        self.counters.started_ns.store(now_ns, Relaxed);
    }

    /// When the load began, on `CLOCK_MONOTONIC`; `None` before.
    pub fn started_ns(&self) -> Option<u64> {
        Some(self.counters.started_ns.load(Relaxed)).filter(|ns| *ns > 0)
    }

    /// True when at least one order waits. The only check on the hot path.
    #[inline(always)]
    pub fn ordered(&self) -> bool {
        self.orders.0.load(Relaxed) != 0
    }

    /// The orders that wait.
    pub fn orders(&self) -> u32 {
        self.orders.0.load(Relaxed)
    }

    /// Gives an order.
    pub fn give(&self, order: u32) {
        self.orders.0.fetch_or(order, Relaxed);
    }

    /// Marks an order as carried out.
    pub fn obeyed(&self, order: u32) {
        self.orders.0.fetch_and(!order, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_independent_bits() {
        let live = Live::default();
        assert!(!live.ordered());
        live.give(order::SNAPSHOT);
        live.give(order::STOP);
        live.obeyed(order::SNAPSHOT);
        assert_eq!(live.orders(), order::STOP);
    }

    #[test]
    fn phases_round_trip() {
        let live = Live::default();
        for phase in Phase::ALL {
            live.enter(phase);
            assert_eq!(live.phase(), phase);
        }
    }
}
