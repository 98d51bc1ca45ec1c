//! What was measured of memory: figures with their spread.

pub mod compare;
mod conditions;
mod sections;

pub use conditions::{Cache, Clock, Conditions, Pages};
pub use sections::{
    AtShare, Bandwidth, BandwidthRow, CacheCurve, CachePoint, CoreToCore, Curve, DataSheet, Knee,
    Latency, LatencyRow, LatencySplit, LineState, Loaded, LoadedPoint, Matrix, Memory, Mix,
    Plateau, Region, Scan, Transfer, Tried, core_ceiling,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One quantity with its spread. The unit is that of the field that holds it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// Middle of the samples.
    pub median: f64,
    /// Median of the absolute deviations from the median.
    pub mad: f64,
    /// Number of samples that the figure rests on.
    pub n: usize,
    /// Lower end of the 95 % bootstrap interval of the median.
    pub low: f64,
    /// Upper end of it.
    pub high: f64,
    /// The best sample: the highest rate, the lowest latency.
    pub best: f64,
    /// Samples thrown away because something else used the machine meanwhile.
    pub dropped: usize,
    /// No undisturbed samples could be had: the figure rests on disturbed ones.
    pub disturbed: bool,
    /// The samples in the order they were taken.
    pub samples: Vec<f64>,
}

impl Figure {
    /// Half the width of the interval over the median: 0.01 is plus or minus one percent.
    pub fn uncertainty(&self) -> f64 {
        if self.median == 0.0 {
            return 0.0;
        }
        (self.high - self.low) / 2.0 / self.median.abs()
    }
}
