//! Memory tests of other tools: labelled tables, because what is in them depends on the machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which test a table is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum MemoryTest {
    /// Latency of one core without load.
    IdleLatency,
    /// The same of each core or node to each node.
    LatencyMatrix,
    /// Bandwidth with every core asking as fast as it can.
    PeakInjection,
    /// Best bandwidth over several injection rates.
    MaxBandwidth,
    /// Bandwidth from each node to each node.
    BandwidthMatrix,
    /// Latency and bandwidth under a load that is made less step by step.
    LoadedLatency,
    /// Latency of a line that another core holds.
    CacheToCache,
    /// Bandwidth of each region of physical memory.
    Scan,
}

impl MemoryTest {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            MemoryTest::IdleLatency => "idle latency",
            MemoryTest::LatencyMatrix => "latency matrix",
            MemoryTest::PeakInjection => "peak injection bandwidth",
            MemoryTest::MaxBandwidth => "maximum bandwidth",
            MemoryTest::BandwidthMatrix => "bandwidth matrix",
            MemoryTest::LoadedLatency => "loaded latency",
            MemoryTest::CacheToCache => "cache-to-cache latency",
            MemoryTest::Scan => "memory bandwidth scan",
        }
    }
}

/// One table. Bandwidths are in MB/s (1,000,000 bytes), latencies in nanoseconds, unless the
/// column says otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryTable {
    /// The test.
    pub test: MemoryTest,
    /// How it was run, as printed: traffic, buffers, access.
    pub conditions: Vec<String>,
    /// Name and unit of each column, such as `node 0 (ns)`.
    pub columns: Vec<String>,
    /// Rows in the order of the report.
    pub rows: Vec<MemoryRow>,
}

/// A row of a [`MemoryTable`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryRow {
    /// What the row is of: a core, a node, a mix, an injection delay in cycles.
    pub label: String,
    /// A value for each column; `None` where the report has none.
    pub values: Vec<Option<f64>>,
}
