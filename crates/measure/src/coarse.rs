//! The coarse latency table of the text report (2, 4, 10 to 1000 ns/us/ms, 2000 ms, more).
//!
//! Derived from the fine bins at report time. About twenty fine bins are cut by a coarse edge;
//! for those the histogram counts, beside the bin, how many values lay at or above the edge, so
//! that the printed shares are exact.

use crate::bucket::{BINS, bin_floor, bin_index};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Lower edges in nanoseconds of all coarse slots but the first, ascending.
///
/// Slots 0..10 are the nanosecond table, 10..20 microseconds, 20..32 milliseconds.
pub const EDGES_NS: [u64; 31] = [
    2,
    4,
    10,
    20,
    50,
    100,
    250,
    500,
    750,
    1_000,
    2_000,
    4_000,
    10_000,
    20_000,
    50_000,
    100_000,
    250_000,
    500_000,
    750_000,
    1_000_000,
    2_000_000,
    4_000_000,
    10_000_000,
    20_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    750_000_000,
    1_000_000_000,
    2_000_000_000,
];

/// Position plus one in [`EDGES_NS`] of the edge that cuts a bin in two, or 0.
pub(crate) static CUT: [u8; BINS] = cut_table();

const fn cut_table() -> [u8; BINS] {
    let mut table = [0u8; BINS];
    let mut i = 0;
    while i < EDGES_NS.len() {
        let bin = bin_index(EDGES_NS[i]);
        if bin_floor(bin) != EDGES_NS[i] {
            assert!(table[bin] == 0);
            table[bin] = i as u8 + 1;
        }
        i += 1;
    }
    table
}

/// Counts per coarse slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Coarse {
    /// Below 2, 4, 10, 20, 50, 100, 250, 500, 750 and 1000 ns.
    pub ns: [u64; 10],
    /// The same labels in microseconds.
    pub us: [u64; 10],
    /// The same in milliseconds, then below 2000 ms, then 2000 ms and more.
    pub ms: [u64; 12],
}

impl Coarse {
    pub(crate) fn from_bins(bins: &[u64; BINS], above: &[u64; EDGES_NS.len()]) -> Self {
        let mut slots = [0u64; 32];
        let mut slot = 0;
        for (index, &count) in bins.iter().enumerate() {
            while slot < EDGES_NS.len() && bin_floor(index) >= EDGES_NS[slot] {
                slot += 1;
            }
            let high = match CUT[index] {
                0 => 0,
                edge => above[edge as usize - 1],
            };
            slots[slot] += count - high;
            if high > 0 {
                slots[slot + 1] += high;
            }
        }
        let mut coarse = Coarse::default();
        coarse.ns.copy_from_slice(&slots[..10]);
        coarse.us.copy_from_slice(&slots[10..20]);
        coarse.ms.copy_from_slice(&slots[20..]);
        coarse
    }

    /// Adds another table slot by slot.
    pub fn merge(&mut self, other: &Coarse) {
        let pairs = self.ns.iter_mut().chain(&mut self.us).chain(&mut self.ms);
        for (mine, theirs) in pairs.zip(other.ns.iter().chain(&other.us).chain(&other.ms)) {
            *mine += theirs;
        }
    }
}
