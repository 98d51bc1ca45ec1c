//! How sure one run is of its own mean.
//!
//! Samples of neighbouring seconds resemble each other, so their spread says too little. Means of
//! batches do not, once the batches are long enough: they grow until neighbours correlate by less
//! than 0.2, and the interval comes from Student's t over the batches (Law, Simulation Modeling
//! and Analysis, 9.5.3).

use super::{ALPHA, t_quantile};
use serde::Serialize;

/// Batches to begin with; and the fewest that still say something.
const BATCHES: usize = 30;
const FEWEST: usize = 5;
/// Correlation of neighbours that is low enough.
const CORRELATION: f64 = 0.2;

/// A mean with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Batches it rests on.
    pub batches: usize,
    /// The batches no longer resembled their neighbours; otherwise the run was too short, and
    /// the interval is too narrow.
    pub independent: bool,
}

impl Interval {
    /// Half of its width.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }
}

/// The interval of the mean of a series; `None` with fewer than five values.
pub fn batch_means(series: &[f64]) -> Option<Interval> {
    if series.len() < FEWEST {
        return None;
    }
    let mut length = series.len().div_ceil(BATCHES).max(1);
    loop {
        // A rest that fills no batch is left out at the start, which is the least steady part.
        let skip = series.len() % length;
        let batches: Vec<f64> = series[skip..].chunks(length).map(mean).collect();
        let next = length + length.div_ceil(2);
        let independent = correlation(&batches).abs() < CORRELATION;
        if independent || series.len() / next < FEWEST {
            return Some(interval(&batches, independent));
        }
        length = next;
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Correlation of each value with the next.
fn correlation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let distance: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let all: f64 = distance.iter().map(|d| d * d).sum();
    if all == 0.0 {
        return 0.0;
    }
    distance
        .windows(2)
        .map(|pair| pair[0] * pair[1])
        .sum::<f64>()
        / all
}

fn interval(batches: &[f64], independent: bool) -> Interval {
    let n = batches.len() as f64;
    let mean = mean(batches);
    let squares: f64 = batches.iter().map(|value| (value - mean).powi(2)).sum();
    let error = (squares / (n - 1.0) / n).sqrt();
    let half = t_quantile(1.0 - ALPHA / 2.0, n - 1.0) * error;
    Interval {
        mean,
        low: mean - half,
        high: mean + half,
        batches: batches.len(),
        independent,
    }
}
