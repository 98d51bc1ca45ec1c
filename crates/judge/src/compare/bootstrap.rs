//! Interval of the ratio of two medians by the percentile bootstrap (Efron and Tibshirani, An
//! Introduction to the Bootstrap, chapter 13).

use super::middle;

/// Resamples.
const TIMES: usize = 10_000;

/// Median of B over median of A and its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioInterval {
    /// The ratio.
    pub ratio: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The same data and seed give the same interval everywhere.
pub fn median_ratio(a: &[f64], b: &[f64], seed: u64) -> RatioInterval {
    let mut random = SplitMix(seed);
    let mut resampled = |values: &[f64], space: &mut Vec<f64>| {
        space.clear();
        space.extend((0..values.len()).map(|_| values[random.below(values.len())]));
        space.sort_by(f64::total_cmp);
        middle(space)
    };
    let mut space = Vec::with_capacity(a.len().max(b.len()));
    let mut ratios: Vec<f64> = (0..TIMES)
        .map(|_| {
            let base = resampled(a, &mut space);
            resampled(b, &mut space) / base
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    let at = |share: f64| ratios[(share * (TIMES - 1) as f64).round() as usize];
    RatioInterval {
        ratio: super::median(b) / super::median(a),
        low: at(0.025),
        high: at(0.975),
    }
}

/// Steele, Lea and Flood, Fast splittable pseudorandom number generators (2014).
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform below `n`; the bias of a product of 64 bits does not matter here.
    fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }
}
