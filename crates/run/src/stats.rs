//! What one worker has measured, in the form the hot loops update.

use crate::priorities::ByPriority;
use measure::{BatchMap, Coarse, DepthMap, Latency};
use plan::model::{Measured, Worker};
use result::{Failure, SyncStats};
use sys::process::Usage;
use units::{Ddir, PerDdir};

/// Latency classes of one direction.
#[derive(Clone, Debug, Default)]
pub struct Classes {
    /// Submission latency; empty for synchronous engines.
    pub slat: Latency,
    /// Completion latency.
    pub clat: Latency,
    /// Total latency; for synchronous engines it *is* the completion latency (nothing happens
    /// between the start stamp and the issue), so it is filled in at report time.
    pub lat: Latency,
}

/// Counts that are not on the fast path of every loop.
#[derive(Clone, Copy, Debug, Default)]
pub struct Odd {
    /// I/Os that came back short.
    pub short: u64,
    /// I/Os that failed.
    pub failed: u64,
    /// Rests of short I/Os that were issued again.
    pub again: u64,
    /// Messages that were lost on their way.
    pub dropped: u64,
}

/// All statistics of a worker.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Latencies per direction.
    pub classes: PerDdir<Classes>,
    /// Latencies by I/O priority, where requests have their own.
    pub priorities: ByPriority,
    /// Synchronisation.
    pub sync: SyncStats,
    /// I/Os handed to an asynchronous engine, per direction.
    pub issued: PerDdir<u64>,
    /// Short and failed I/Os.
    pub odd: PerDdir<Odd>,
    /// Depth at issue (asynchronous engines).
    pub depth: DepthMap,
    /// Sizes of submissions (asynchronous engines).
    pub submit: BatchMap,
    /// Sizes of reaps (asynchronous engines).
    pub complete: BatchMap,
    /// Errors passed over.
    pub errors: u64,
    /// The first of them.
    pub first_error: i32,
    /// Why the worker stopped, when it failed.
    pub failure: Option<Failure>,
    /// Live counters at the end of the warm-up.
    pub base_ios: PerDdir<u64>,
    /// Live counters at the end of the warm-up.
    pub base_bytes: PerDdir<u64>,
    /// Latency from the intended start, for directions with a rate.
    pub late: PerDdir<Option<Latency>>,
    /// The depth that `latency_target` has reached.
    pub latency_depth: Option<u32>,
    /// Zones that were reset.
    pub zone_resets: u64,
}

/// A copy of a running worker's statistics.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// What it has counted.
    pub stats: Stats,
    /// What it has cost since its start.
    pub usage: Usage,
    /// Thread id.
    pub pid: u32,
}

impl Stats {
    /// Empty statistics with bins only where the report wants them.
    pub fn new(worker: &Worker, sync_engine: bool) -> Self {
        let reporting = &worker.reporting;
        let measured = &worker.measured;
        let class = |bins: bool| {
            if bins {
                Latency::with_histogram()
            } else {
                Latency::default()
            }
        };
        let classes = |used: bool| Classes {
            slat: class(used && measured.slat && reporting.slat_percentiles && !sync_engine),
            clat: class(used && measured.clat),
            lat: class(used && measured.lat && reporting.lat_percentiles && !sync_engine),
        };
        let verifies = worker.verify.is_some();
        Stats {
            classes: PerDdir::from_fn(|ddir| {
                let used = worker.uses(ddir) || (verifies && ddir == Ddir::Read);
                classes(used && !measured.reduced)
            }),
            priorities: ByPriority::default(),
            sync: SyncStats::default(),
            issued: PerDdir::default(),
            odd: PerDdir::default(),
            depth: DepthMap::default(),
            submit: BatchMap::default(),
            complete: BatchMap::default(),
            errors: 0,
            first_error: 0,
            failure: None,
            base_ios: PerDdir::default(),
            base_bytes: PerDdir::default(),
            late: PerDdir::default(),
            latency_depth: None,
            zone_resets: 0,
        }
    }

    /// Counts one finished synchronisation.
    #[cold]
    pub fn count_sync(&mut self, ns: u64) {
        self.sync.ios += 1;
        self.sync.lat.histogram.get_or_insert_default();
        self.sync.lat.add(ns, 1);
    }

    /// Forgets the warm-up; the counters of `live` become the new zero.
    pub fn restart(&mut self, ios: PerDdir<u64>, bytes: PerDdir<u64>) {
        let clear = |latency: &mut Latency| {
            latency.moments = Default::default();
            if let Some(histogram) = &mut latency.histogram {
                *histogram = Default::default();
            }
        };
        for classes in &mut self.classes.0 {
            clear(&mut classes.slat);
            clear(&mut classes.clat);
            clear(&mut classes.lat);
        }
        self.sync = SyncStats::default();
        self.issued = PerDdir::default();
        self.odd = PerDdir::default();
        self.depth = DepthMap::default();
        self.submit = BatchMap::default();
        self.complete = BatchMap::default();
        self.errors = 0;
        self.first_error = 0;
        self.base_ios = ios;
        self.base_bytes = bytes;
    }

    /// The coarse table over all directions.
    pub fn coarse(&self, measured: &Measured) -> Coarse {
        let mut table = Coarse::default();
        if measured.clat {
            for classes in &self.classes.0 {
                if let Some(histogram) = &classes.clat.histogram {
                    table.merge(&histogram.coarse());
                }
            }
        }
        table
    }
}
