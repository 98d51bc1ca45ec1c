//! Rates sampled at an interval (`bw`, `iops` lines): extremes, mean and deviation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Running mean and deviation of sampled rates (Welford's recurrence; a few samples a second).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Samples {
    /// Number of samples.
    pub n: u64,
    /// Smallest sample, 0 when there is none.
    pub min: u64,
    /// Largest sample.
    pub max: u64,
    /// Mean.
    pub mean: f64,
    /// Sum of squared distances from the mean.
    pub spread: f64,
}

impl Samples {
    /// Adds one sampled rate.
    pub fn add(&mut self, value: u64) {
        self.min = if self.n == 0 {
            value
        } else {
            self.min.min(value)
        };
        self.max = self.max.max(value);
        self.n += 1;
        let distance = value as f64 - self.mean;
        self.mean += distance / self.n as f64;
        self.spread += distance * (value as f64 - self.mean);
    }

    /// Sample standard deviation, 0 with fewer than two samples.
    pub fn stddev(&self) -> f64 {
        if self.n < 2 {
            0.0
        } else {
            (self.spread / (self.n - 1) as f64).sqrt()
        }
    }

    /// Pools the samples of two series of the same quantity (parallel variance formula).
    pub fn pool(&mut self, other: &Samples) {
        if other.n == 0 {
            return;
        }
        if self.n == 0 {
            *self = *other;
            return;
        }
        let (a, b) = (self.n as f64, other.n as f64);
        let distance = other.mean - self.mean;
        self.spread += other.spread + distance * distance * a * b / (a + b);
        self.mean += distance * b / (a + b);
        self.n += other.n;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Adds a concurrent series as fio's group report does: extremes, means and spreads add up,
    /// because the group's rate is the sum of its members' rates.
    pub fn stack(&mut self, other: &Samples) {
        if other.n == 0 {
            return;
        }
        self.min += other.min;
        self.max += other.max;
        self.mean += other.mean;
        self.spread += other.spread;
        self.n += other.n;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pooling_equals_one_series() {
        let values = [5u64, 9, 1, 1, 40, 7];
        let (mut a, mut b, mut all) = (Samples::default(), Samples::default(), Samples::default());
        values[..2].iter().for_each(|v| a.add(*v));
        values[2..].iter().for_each(|v| b.add(*v));
        values.iter().for_each(|v| all.add(*v));
        a.pool(&b);
        assert_eq!((a.n, a.min, a.max), (all.n, all.min, all.max));
        assert!((a.mean - all.mean).abs() < 1e-9 && (a.stddev() - all.stddev()).abs() < 1e-9);
    }
}
