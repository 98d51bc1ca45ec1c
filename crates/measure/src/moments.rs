//! Exact count, extremes, sum and sum of squares of integer values.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Integer moments: merging is addition and nothing is rounded until it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Moments {
    /// Number of values.
    pub n: u64,
    /// Smallest value; `u64::MAX` while `n` is 0. Use [`Moments::min`] to show it.
    pub min: u64,
    /// Largest value.
    pub max: u64,
    /// Sum of the values.
    pub sum: u64,
    /// Sum of their squares.
    pub squares: u128,
}

impl Default for Moments {
    fn default() -> Self {
        Moments {
            n: 0,
            min: u64::MAX,
            max: 0,
            sum: 0,
            squares: 0,
        }
    }
}

impl Moments {
    /// Adds `n` equal values.
    #[inline(always)]
    pub fn add(&mut self, value: u64, n: u64) {
        self.n += n;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        let sum = value * n;
        self.sum += sum;
        self.squares += u128::from(value) * u128::from(sum);
    }

    /// Adds another set of values.
    pub fn merge(&mut self, other: &Moments) {
        self.n += other.n;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum += other.sum;
        self.squares += other.squares;
    }

    /// Smallest value, 0 when there is none.
    pub fn min(&self) -> u64 {
        if self.n == 0 { 0 } else { self.min }
    }

    /// Arithmetic mean, 0 when there is no value.
    pub fn mean(&self) -> f64 {
        if self.n == 0 {
            0.0
        } else {
            self.sum as f64 / self.n as f64
        }
    }

    /// Sample standard deviation (n - 1), 0 with fewer than two values.
    pub fn stddev(&self) -> f64 {
        if self.n < 2 {
            return 0.0;
        }
        let n = u128::from(self.n);
        let sum = u128::from(self.sum);
        // sum^2 / n, split so that the product cannot overflow, and its fractional part.
        let rest = sum % n * sum;
        let whole = self.squares.saturating_sub(sum / n * sum + rest / n);
        let centred = whole as f64 - (rest % n) as f64 / self.n as f64;
        (centred.max(0.0) / (self.n - 1) as f64).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_values_keep_their_fraction() {
        let mut m = Moments::default();
        m.add(1, 1);
        m.add(2, 1);
        assert!((m.stddev() - 0.5f64.sqrt()).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn matches_the_two_pass_formula(
            values in prop::collection::vec(0u64..10_000_000_000, 2..200)
        ) {
            let mut m = Moments::default();
            values.iter().for_each(|v| m.add(*v, 1));
            let mean = values.iter().map(|v| *v as f64).sum::<f64>() / values.len() as f64;
            let var = values.iter().map(|v| (*v as f64 - mean).powi(2)).sum::<f64>()
                / (values.len() - 1) as f64;
            prop_assert!((m.mean() - mean).abs() <= mean * 1e-9);
            prop_assert!((m.stddev() - var.sqrt()).abs() <= 1.0 + var.sqrt() * 1e-6);
            prop_assert_eq!(m.min(), *values.iter().min().unwrap());
        }

        #[test]
        fn a_run_equals_repeated_values(value in 0u64..1_000_000_000, n in 1u64..100) {
            let (mut a, mut b) = (Moments::default(), Moments::default());
            a.add(value, n);
            (0..n).for_each(|_| b.add(value, 1));
            prop_assert_eq!(a, b);
        }
    }
}
