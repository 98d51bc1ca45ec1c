//! Counters of the block devices below the targets, and CPU idleness.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a device did during the run (differences of its sysfs `stat` file).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiskCounters {
    /// Completed requests: read, write.
    pub ios: [u64; 2],
    /// Requests merged in the queue: read, write.
    pub merges: [u64; 2],
    /// 512-byte sectors: read, write.
    pub sectors: [u64; 2],
    /// Milliseconds spent by requests: read, write.
    pub ticks_ms: [u64; 2],
    /// Weighted milliseconds in the queue.
    pub in_queue_ms: u64,
    /// Milliseconds with at least one request in flight.
    pub busy_ms: u64,
    /// Length of the observation in milliseconds.
    pub elapsed_ms: u64,
}

impl DiskCounters {
    /// Share of the time with a request in flight, in percent, at most 100.
    pub fn util_percent(&self) -> f64 {
        if self.elapsed_ms == 0 {
            return 0.0;
        }
        (100.0 * self.busy_ms as f64 / self.elapsed_ms as f64).min(100.0)
    }
}

/// One block device and, for md, dm and other stacked devices, its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Disk {
    /// Kernel name, such as `vda`.
    pub name: String,
    /// Serial number or another name that stays when kernel names move.
    #[serde(default)]
    pub identity: Option<String>,
    /// Counters of this device.
    pub counters: DiskCounters,
    /// Members below it; printed under their parent, averaged into its `aggr*` fields.
    pub members: Vec<Disk>,
}

/// Time that a CPU spent in interrupts during the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Interrupts {
    /// The CPU.
    pub cpu: u32,
    /// Its time in hard and soft interrupts, in percent.
    pub percent: f64,
    /// Its time at work of any kind, interrupts included, in percent.
    pub busy_percent: f64,
}

/// Result of `--idle-prof`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuIdle {
    /// True to list every CPU, not only the mean.
    pub per_cpu: bool,
    /// Mean idleness in percent.
    pub system_percent: f64,
    /// Idleness of each CPU in percent.
    pub cpus_percent: Vec<f64>,
    /// Mean duration of the calibrated unit of work in microseconds.
    pub unit_mean_us: f64,
    /// Its standard deviation in microseconds.
    pub unit_stddev_us: f64,
}
