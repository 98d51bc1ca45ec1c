//! A latency histogram in fio's bins, with exact coarse shares and quantiles.

use crate::bucket::{BINS, bin_index, bin_value};
use crate::coarse::{CUT, Coarse, EDGES_NS};
use crate::rank::wanted;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// fio's default `percentile_list`.
pub const DEFAULT_PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// All counts of a histogram.
const COUNTS: usize = BINS + EDGES_NS.len();

/// Most values of a histogram that is read: more cannot be measured, and the sum of many such
/// histograms still fits.
const MOST_READ: u64 = 1 << 56;

/// Counts per bin. Serialised sparsely as `{"bins": [[index, count], ...], "above": [...]}`.
#[derive(Debug, PartialEq, Eq)]
pub struct Histogram {
    /// The bins; then, for each coarse edge that cuts a bin, how many values of that bin lie at or
    /// above the edge.
    counts: Box<[u64; COUNTS]>,
}

impl Default for Histogram {
    fn default() -> Self {
        // Zeroed by the allocator, so that pages which no value reaches cost no memory.
        let counts = vec![0; COUNTS].into_boxed_slice();
        Histogram {
            counts: counts.try_into().expect("as many as asked for"),
        }
    }
}

impl Clone for Histogram {
    fn clone(&self) -> Self {
        let mut copy = Histogram::default();
        copy.merge(self);
        copy
    }
}

impl Histogram {
    /// Counts `n` equal values of `value_ns` nanoseconds.
    #[inline(always)]
    pub fn add(&mut self, value_ns: u64, n: u64) {
        let index = bin_index(value_ns);
        self.counts[index] += n;
        let cut = CUT[index];
        if cut != 0 {
            self.add_cut(cut, value_ns, n);
        }
    }

    #[inline]
    fn add_cut(&mut self, cut: u8, value_ns: u64, n: u64) {
        let edge = cut as usize - 1;
        if value_ns >= EDGES_NS[edge] {
            self.counts[BINS + edge] += n;
        }
    }

    /// Counts per bin, [`BINS`] long.
    pub fn bins(&self) -> &[u64; BINS] {
        self.counts.first_chunk().expect("bins come first")
    }

    fn above(&self) -> &[u64; EDGES_NS.len()] {
        self.counts.last_chunk().expect("edges come last")
    }

    /// Bins that hold something: (representative value in ns, count), ascending.
    pub fn occupied(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.bins()
            .iter()
            .enumerate()
            .filter(|(_, n)| **n > 0)
            .map(|(i, n)| (bin_value(i), *n))
    }

    /// Number of values counted.
    pub fn count(&self) -> u64 {
        self.bins().iter().sum()
    }

    /// Adds another histogram bin by bin. Empty bins stay untouched, and so does their memory.
    pub fn merge(&mut self, other: &Histogram) {
        for (mine, theirs) in self.counts.iter_mut().zip(other.counts.iter()) {
            if *theirs != 0 {
                *mine += theirs;
            }
        }
    }

    /// Values in nanoseconds at each of `percentiles` (ascending, 0..=100).
    ///
    /// A percentile p is the value of the first bin whose cumulative count reaches p * N / 100,
    /// fio's rule, in fio's arithmetic. Empty when nothing was counted.
    pub fn percentiles(&self, percentiles: &[f64]) -> Vec<u64> {
        let total = self.count();
        if total == 0 {
            return Vec::new();
        }
        let bins = self.bins();
        let mut index = 0usize;
        let mut cumulative = bins[0];
        let value_at = |percentile: &f64| {
            // A share of zero wants the smallest value seen, not an empty bin.
            let wanted = wanted(*percentile, total).max(1);
            while cumulative < wanted && index + 1 < BINS {
                index += 1;
                cumulative += bins[index];
            }
            bin_value(index)
        };
        percentiles.iter().map(value_at).collect()
    }

    /// The coarse table, exact.
    pub fn coarse(&self) -> Coarse {
        Coarse::from_bins(self.bins(), self.above())
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Sparse {
    bins: Vec<(u16, u64)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    above: Vec<(u16, u64)>,
}

fn sparse(values: &[u64]) -> Vec<(u16, u64)> {
    values
        .iter()
        .enumerate()
        .filter(|(_, n)| **n > 0)
        .map(|(i, n)| (i as u16, *n))
        .collect()
}

impl JsonSchema for Histogram {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Histogram".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Sparse::json_schema(generator)
    }
}

impl Serialize for Histogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Sparse {
            bins: sparse(self.bins()),
            above: sparse(self.above()),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let from = Sparse::deserialize(deserializer)?;
        let mut histogram = Histogram::default();
        let outside = || serde::de::Error::custom("histogram bin outside 0..1856");
        let (bins, above) = histogram.counts.split_at_mut(BINS);
        for (index, count) in from.bins {
            *bins.get_mut(index as usize).ok_or_else(outside)? = count;
        }
        for (index, count) in from.above {
            *above.get_mut(index as usize).ok_or_else(outside)? = count;
        }
        let all = bins.iter().chain(above.iter());
        if all.map(|count| u128::from(*count)).sum::<u128>() > u128::from(MOST_READ) {
            let what = "a histogram of more values than anybody can have measured";
            return Err(serde::de::Error::custom(what));
        }
        Ok(histogram)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counts_beyond_all_measure_are_refused() {
        let read = |text: &str| serde_json::from_str::<Histogram>(text);
        let most = read(&format!("{{\"bins\":[[3,{MOST_READ}]]}}")).unwrap();
        assert_eq!(most.count(), MOST_READ);
        for text in [
            format!("{{\"bins\":[[3,{}]]}}", u64::MAX),
            format!("{{\"bins\":[[3,{MOST_READ}],[4,1]]}}"),
        ] {
            let error = read(&text).unwrap_err().to_string();
            assert!(error.contains("more values than"), "{error}");
        }
    }

    fn slot_of(value_ns: u64) -> usize {
        EDGES_NS.iter().filter(|edge| value_ns >= **edge).count()
    }

    proptest! {
        #[test]
        fn percentiles_match_sorted_values(
            mut values in prop::collection::vec(0u64..5_000_000_000, 1..500),
        ) {
            let mut histogram = Histogram::default();
            values.iter().for_each(|v| histogram.add(*v, 1));
            values.sort_unstable();
            let got = histogram.percentiles(&DEFAULT_PERCENTILES);
            for (p, shown) in DEFAULT_PERCENTILES.iter().zip(got) {
                let rank = wanted(*p, values.len() as u64) as usize;
                let exact = values[rank - 1];
                prop_assert!(shown.abs_diff(exact) as f64 <= exact as f64 / 128.0);
            }
        }

        #[test]
        fn coarse_shares_are_exact(values in prop::collection::vec(
            prop_oneof![0u64..3_000, 0u64..3_000_000, 0u64..3_000_000_000], 0..300)) {
            let mut histogram = Histogram::default();
            let mut expected = [0u64; 32];
            for v in values {
                histogram.add(v, 1);
                expected[slot_of(v)] += 1;
            }
            let coarse = histogram.coarse();
            let got: Vec<u64> =
                coarse.ns.into_iter().chain(coarse.us).chain(coarse.ms).collect();
            prop_assert_eq!(&got[..], &expected[..]);
        }

        #[test]
        fn serialisation_and_merge_lose_nothing(
            a in prop::collection::vec(0u64..u64::MAX, 0..50),
            b in prop::collection::vec(0u64..2_000_000, 0..50),
        ) {
            let (mut x, mut y, mut all) =
                (Histogram::default(), Histogram::default(), Histogram::default());
            a.iter().for_each(|v| { x.add(*v, 1); all.add(*v, 1) });
            b.iter().for_each(|v| { y.add(*v, 2); all.add(*v, 2) });
            let text = serde_json::to_string(&x).unwrap();
            let mut back: Histogram = serde_json::from_str(&text).unwrap();
            back.merge(&y);
            prop_assert_eq!(back, all);
        }
    }

    #[test]
    fn bins_on_every_edge() {
        for (i, edge) in EDGES_NS.iter().enumerate() {
            let mut histogram = Histogram::default();
            histogram.add(*edge, 3);
            histogram.add(edge - 1, 2);
            let coarse = histogram.coarse();
            let all: Vec<u64> = coarse
                .ns
                .into_iter()
                .chain(coarse.us)
                .chain(coarse.ms)
                .collect();
            assert_eq!((all[i], all[i + 1]), (2, 3), "edge {edge}");
        }
    }
}
