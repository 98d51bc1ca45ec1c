//! How deep the queue was, and how many I/Os each submission and reap call moved.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// I/Os issued while 1, 2, 4, 8, 16, 32 and 64 or more were in flight (lower bounds).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DepthMap(pub [u64; 7]);

/// Calls that moved 0, 1-4, 5-8, 9-16, 17-32, 33-64 and more I/Os (upper bounds).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BatchMap {
    /// Calls per size class.
    pub slots: [u64; 7],
    /// All calls.
    pub calls: u64,
}

/// Slot of a queue depth (number in flight, this I/O included; 0 counts as 1).
#[inline(always)]
pub const fn depth_slot(depth: u32) -> usize {
    let log = 31 - (depth | 1).leading_zeros();
    if log > 6 { 6 } else { log as usize }
}

/// Slot of a batch size.
#[inline(always)]
pub const fn batch_slot(n: u32) -> usize {
    match n {
        0 => 0,
        1..=4 => 1,
        5..=8 => 2,
        9..=16 => 3,
        17..=32 => 4,
        33..=64 => 5,
        _ => 6,
    }
}

impl DepthMap {
    /// Adds another map. Those of foreign reports may hold any number.
    pub fn merge(&mut self, other: &DepthMap) {
        self.0
            .iter_mut()
            .zip(other.0)
            .for_each(|(mine, theirs)| *mine = mine.saturating_add(theirs));
    }
}

impl BatchMap {
    /// Counts one call that moved `n` I/Os.
    #[inline(always)]
    pub fn add(&mut self, n: u32) {
        self.slots[batch_slot(n)] += 1;
        self.calls += 1;
    }

    /// Adds another map. Those of foreign reports may hold any number.
    pub fn merge(&mut self, other: &BatchMap) {
        self.slots
            .iter_mut()
            .zip(other.slots)
            .for_each(|(mine, theirs)| *mine = mine.saturating_add(theirs));
        self.calls = self.calls.saturating_add(other.calls);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_follow_the_labels() {
        let depths: Vec<usize> = [1, 2, 3, 4, 7, 8, 63, 64, 500].map(depth_slot).to_vec();
        assert_eq!(depths, [0, 1, 1, 2, 2, 3, 5, 6, 6]);
        let batches: Vec<usize> = [0, 1, 4, 5, 16, 17, 64, 65].map(batch_slot).to_vec();
        assert_eq!(batches, [0, 1, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn sums_of_absurd_counts_stay_at_the_end_of_the_range() {
        let mut depths = DepthMap([u64::MAX; 7]);
        depths.merge(&DepthMap([1; 7]));
        assert_eq!(depths.0, [u64::MAX; 7]);
        let batches = BatchMap {
            slots: [u64::MAX; 7],
            calls: u64::MAX,
        };
        let mut sum = batches;
        sum.merge(&batches);
        assert_eq!(sum, batches);
    }
}
