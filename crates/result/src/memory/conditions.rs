//! Under what circumstances memory was measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a reader must know before comparing two results.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Conditions {
    /// Name of the processor.
    pub processor: String,
    /// CPUs that this process may use.
    pub cpus: Vec<u32>,
    /// Physical cores among them.
    pub cores: usize,
    /// Several hardware threads share a core.
    pub smt: Option<bool>,
    /// Caches that one core reaches, nearest first.
    pub caches: Vec<Cache>,
    /// NUMA nodes with memory.
    pub nodes: Vec<u32>,
    /// Vector instructions that the kernels may use, such as `avx512`.
    pub isa: String,
    /// Source of time stamps and its frequency.
    pub clock: Clock,
    /// The kernel's frequency governor; `None` where the kernel has no say.
    pub governor: Option<String>,
    /// The core may exceed its base frequency.
    pub boost: Option<bool>,
    /// Pages of the buffers.
    pub pages: Pages,
    /// What was done about the prefetchers.
    pub prefetch: String,
    /// Name of the hypervisor, or `unknown` for one that does not say; `None` on bare metal.
    pub hypervisor: Option<String>,
    /// Bytes that this process may use (cgroup), where they are limited.
    pub memory_limit_bytes: Option<u64>,
    /// CPUs worth of time that this process may use (cgroup), where it is limited.
    pub cpu_limit: Option<f64>,
    /// Times that the limit on CPU time stopped it during the measurement.
    pub throttled: u64,
    /// Share of CPU time that the host took away during the measurement, 0 to 1.
    pub steal: f64,
    /// The kernel moves pages between nodes on its own.
    pub numa_balancing: Option<bool>,
    /// Remarks about what makes these numbers hard to compare.
    pub remarks: Vec<String>,
}

/// One level of cache.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cache {
    /// 1 for the nearest.
    pub level: u32,
    /// Size in bytes.
    pub bytes: u64,
    /// CPUs that share it.
    pub shared_by: usize,
}

/// Time stamps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Clock {
    /// `tsc`, `cntvct` or `clock_gettime`.
    pub source: String,
    /// Ticks per second.
    pub ticks_per_s: f64,
    /// Cycles per second of a busy core when the measurement began.
    pub core_hz_before: Option<f64>,
    /// And when it ended.
    pub core_hz_after: Option<f64>,
}

impl Clock {
    /// How far the frequency of the core moved meanwhile, as a share of where it began.
    pub fn drift(&self) -> Option<f64> {
        let (before, after) = (self.core_hz_before?, self.core_hz_after?);
        (before > 0.0).then(|| (after - before) / before)
    }
}

/// Pages of a buffer, as the kernel gave them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Pages {
    /// Bytes of most pages.
    pub bytes: u64,
    /// How they came about: `transparent`, `hugetlb`, `small`.
    pub kind: String,
    /// Share of the buffer that has them, 0 to 1.
    pub share: f64,
    /// Nodes on which the kernel says they lie, and the share on each, most first; empty where it
    /// does not say.
    pub nodes: Vec<(u32, f64)>,
    /// The node that was asked for.
    pub asked: Option<u32>,
}

impl Pages {
    /// The kernel confirms the node that was asked for, or nothing was asked.
    pub fn in_place(&self) -> bool {
        self.asked
            .is_none_or(|asked| self.nodes.iter().all(|(node, _)| *node == asked))
    }
}
