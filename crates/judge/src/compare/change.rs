//! Where the level of a history changed.
//!
//! The best partition into segments of constant level: squared distances from the means of the
//! segments, in units of the noise, plus a price for each segment (Jackson et al., IEEE Signal
//! Processing Letters 12 (2005), 105-108, with the pruning of Killick et al., JASA 107 (2012),
//! 1590-1598). The noise comes from the median of the differences of neighbours, which a step does
//! not move.

use super::median;
use serde::Serialize;

/// Fewest values of a level; two could be outliers.
const LEAST: usize = 3;
/// Price of a segment, in logarithms of the length: 2 would be BIC, more asks for clear steps.
const PRICE: f64 = 5.0;

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Change {
    /// Position of the first value of the new level.
    pub at: usize,
    /// Mean before, back to the previous step.
    pub before: f64,
    /// Mean from here on, up to the next step.
    pub after: f64,
}

/// Steps of a series, in order. Equal values throughout have none.
pub fn change_points(values: &[f64]) -> Vec<Change> {
    let n = values.len();
    if n < 2 * LEAST {
        return Vec::new();
    }
    let noise = noise(values);
    if noise == 0.0 {
        return Vec::new();
    }
    let sums = Sums::of(&without_outliers(values, noise), noise);
    let price = PRICE * (n as f64).ln();
    // best[i]: cheapest partition of the first i values, and where its last segment begins.
    let mut best = vec![(f64::INFINITY, 0usize); n + 1];
    best[0].0 = -price;
    let mut starts = vec![0];
    for end in LEAST..=n {
        let cost = |start: usize| best[start].0 + sums.cost(start, end) + price;
        let candidates = starts.iter().filter(|start| end - **start >= LEAST);
        let found = candidates
            .map(|start| (cost(*start), *start))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        let Some(found) = found else { continue };
        best[end] = found;
        // A start that is dearer even without its price never becomes the cheapest again.
        starts.retain(|start| {
            end - start < LEAST || best[*start].0 + sums.cost(*start, end) <= found.0
        });
        starts.push(end);
    }
    let mut bounds = vec![n];
    while let Some(&end) = bounds.last().filter(|end| **end > 0) {
        bounds.push(best[end].1);
    }
    bounds.reverse();
    let mean = |from: usize, to: usize| values[from..to].iter().sum::<f64>() / (to - from) as f64;
    bounds
        .windows(3)
        .map(|w| Change {
            at: w[1],
            before: mean(w[0], w[1]),
            after: mean(w[1], w[2]),
        })
        .collect()
}

/// Standard deviation of the noise: of a normal distribution whose differences have this median.
fn noise(values: &[f64]) -> f64 {
    let steps: Vec<f64> = values.windows(2).map(|w| (w[1] - w[0]).abs()).collect();
    let typical = median(&steps) / (0.674_489_750_196_081_7 * std::f64::consts::SQRT_2);
    if typical > 0.0 {
        return typical;
    }
    // Most values are equal; then any mean step is noise enough.
    steps.iter().sum::<f64>() / steps.len() as f64
}

/// Each value no further than three deviations from the median of it and its neighbours, two on
/// either side: a single outlier goes, a step of three values stays.
fn without_outliers(values: &[f64], noise: f64) -> Vec<f64> {
    let near = |at: usize| {
        let around = at.saturating_sub(2)..values.len().min(at + 3);
        let middle = median(&values[around]);
        values[at].clamp(middle - 3.0 * noise, middle + 3.0 * noise)
    };
    (0..values.len()).map(near).collect()
}

/// Running sums, so that a segment's cost takes no loop.
struct Sums(Vec<(f64, f64)>);

impl Sums {
    fn of(values: &[f64], noise: f64) -> Sums {
        let origin = values[0];
        let mut sums = vec![(0.0, 0.0)];
        let (mut sum, mut squares) = (0.0, 0.0);
        for value in values {
            let value = (value - origin) / noise;
            sum += value;
            squares += value * value;
            sums.push((sum, squares));
        }
        Sums(sums)
    }

    /// Squared distances from the mean of `start..end`.
    fn cost(&self, start: usize, end: usize) -> f64 {
        let (sum, squares) = (
            self.0[end].0 - self.0[start].0,
            self.0[end].1 - self.0[start].1,
        );
        squares - sum * sum / (end - start) as f64
    }
}
