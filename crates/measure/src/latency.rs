//! One latency class (submission, completion, total or sync) of one direction.

use crate::histogram::Histogram;
use crate::moments::Moments;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Moments always, bins only where percentiles or the coarse table are wanted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Exact moments in nanoseconds.
    pub moments: Moments,
    /// Bins; `None` when nobody asked for percentiles of this class.
    pub histogram: Option<Histogram>,
}

impl Latency {
    /// A class with bins.
    pub fn with_histogram() -> Self {
        Latency {
            moments: Moments::default(),
            histogram: Some(Histogram::default()),
        }
    }

    /// Counts `n` equal latencies.
    #[inline(always)]
    pub fn add(&mut self, value_ns: u64, n: u64) {
        self.moments.add(value_ns, n);
        if let Some(histogram) = &mut self.histogram {
            histogram.add(value_ns, n);
        }
    }

    /// Adds another class; bins are kept if either side has them.
    pub fn merge(&mut self, other: &Latency) {
        self.moments.merge(&other.moments);
        if let Some(theirs) = &other.histogram {
            self.histogram.get_or_insert_default().merge(theirs);
        }
    }
}
