//! What steady state detection saw.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What had to become steady.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SteadyMetric {
    /// I/Os per second.
    #[default]
    Iops,
    /// Bytes per second.
    Bandwidth,
    /// Mean completion latency.
    Latency,
}

/// The criterion, how far it was from being met, and the window it was judged by.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Steady {
    /// What was looked at.
    pub metric: SteadyMetric,
    /// The slope of it, rather than the greatest deviation from its mean.
    pub by_slope: bool,
    /// The limit, in percent or in the unit of the metric.
    pub limit: f64,
    /// The limit is in percent of the mean.
    pub percent: bool,
    /// Length of the window, seconds.
    pub duration_s: u64,
    /// The criterion was met and ended the job.
    pub attained: bool,
    /// The last value that was compared with the limit; 0 before the window was full.
    pub criterion: f64,
    /// Greatest deviation from the mean; 0 when slopes are judged.
    pub deviation: f64,
    /// Slope per sample; 0 when deviations are judged.
    pub slope: f64,
    /// I/Os per second of each sample of the window, oldest first; 0 where there is none yet.
    pub iops: Vec<u64>,
    /// Bytes per second, likewise.
    pub bytes_per_s: Vec<u64>,
    /// Mean completion latency in nanoseconds, likewise; empty unless it is the metric.
    pub lat_ns: Vec<u64>,
}

impl Steady {
    /// Mean of samples of the window as fio has it: samples that are missing count as 0.
    pub fn mean(samples: &[u64]) -> u64 {
        let sum = samples.iter().map(|n| u128::from(*n)).sum::<u128>();
        // A mean of `u64`s is one.
        (sum / samples.len().max(1) as u128) as u64
    }
}
