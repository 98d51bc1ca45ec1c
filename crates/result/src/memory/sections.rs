//! What was measured, one type for each section.

use super::{Figure, Pages};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Everything that one run measured of memory. Times are nanoseconds, rates bytes per second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Memory {
    /// Under what circumstances.
    pub conditions: super::Conditions,
    /// Latency of dependent loads.
    pub latency: Option<Latency>,
    /// Latency over the size of the working set.
    pub cache: Option<CacheCurve>,
    /// Bandwidth of several mixes.
    pub bandwidth: Option<Bandwidth>,
    /// Latency under load.
    pub loaded: Vec<Loaded>,
    /// Transfers between cores.
    pub c2c: Option<CoreToCore>,
    /// From node to node.
    pub matrix: Option<Matrix>,
    /// Region by region of physical memory.
    pub scan: Option<Scan>,
    /// What the memory modules could do.
    pub data_sheet: Option<DataSheet>,
    /// Wall-clock time that the measurement took, seconds.
    pub elapsed_s: f64,
}

/// Latency of dependent loads in several orders and page sizes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// CPU that measured.
    pub cpu: u32,
    /// One row a variant; the first is the one to quote.
    pub rows: Vec<LatencyRow>,
    /// Where the time goes.
    pub split: Option<LatencySplit>,
}

/// One variant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyRow {
    /// Short name, such as `full random`.
    pub name: String,
    /// Bytes of the buffer.
    pub buffer_bytes: u64,
    /// Bytes from one element to the next.
    pub stride_bytes: u64,
    /// Bytes within which the order is random; `None` for the whole buffer.
    pub window_bytes: Option<u64>,
    /// Pages of the buffer.
    pub pages: Pages,
    /// Time of one load.
    pub ns: Figure,
    /// The same in cycles of the core, where its frequency is known.
    pub cycles: Option<f64>,
}

/// Differences between variants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencySplit {
    /// A load from an open row of the memory, with large pages.
    pub dram_ns: f64,
    /// What a random row costs besides.
    pub row_ns: f64,
    /// What small pages cost besides.
    pub tlb_ns: Option<f64>,
    /// What the prefetchers hide when the stride is one line.
    pub prefetch_ns: f64,
}

/// Latency over the size of the working set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CacheCurve {
    /// CPU that measured.
    pub cpu: u32,
    /// One curve for each page size.
    pub curves: Vec<Curve>,
}

/// A curve with one size of pages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Curve {
    /// Pages of its largest buffer.
    pub pages: Pages,
    /// In rising order of bytes.
    pub points: Vec<CachePoint>,
    /// Levels found in the points alone.
    pub plateaus: Vec<Plateau>,
}

/// One working set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CachePoint {
    /// Its size.
    pub bytes: u64,
    /// Time of one load.
    pub ns: Figure,
}

/// A level of the staircase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plateau {
    /// `L1`, `L2`, `L3` or `memory`.
    pub name: String,
    /// Largest working set that it holds, found in the points.
    pub bytes: u64,
    /// What the kernel says its size is.
    pub told_bytes: Option<u64>,
    /// Latency.
    pub ns: f64,
}

/// Cache lines that one round of a mix touches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mix {
    /// Loaded.
    pub loads: u32,
    /// Stored through the cache.
    pub stores: u32,
    /// Stored past the cache.
    pub nt_stores: u32,
}

impl Mix {
    fn share(self, lines: u32) -> f64 {
        f64::from(lines) / f64::from((self.loads + self.stores + self.nt_stores).max(1))
    }

    /// Bytes that the memory sees for one byte that is loaded or stored: a store through the cache
    /// reads its line first. An estimate, because processors may leave that read out.
    pub fn controller(self) -> f64 {
        self.share(self.loads + 2 * self.stores + self.nt_stores)
    }

    /// Bytes stored for one byte loaded or stored: what a copy has copied.
    pub fn copied(self) -> f64 {
        self.share(self.stores + self.nt_stores)
    }
}

/// Bandwidth of several mixes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bandwidth {
    /// Bytes of each thread's buffers.
    pub buffer_bytes: u64,
    /// Pages of those buffers.
    pub pages: Pages,
    /// One row for a mix and a number of threads.
    pub rows: Vec<BandwidthRow>,
    /// What was tried before the kernels of the rows were chosen.
    pub search: Vec<Tried>,
}

/// One mix on one set of CPUs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BandwidthRow {
    /// `read`, `copy`, `3:1`, `STREAM triad`.
    pub name: String,
    /// CPUs that took part.
    pub cpus: Vec<u32>,
    /// Kernel that was used.
    pub kernel: String,
    /// What a round of it touches.
    pub mix: Mix,
    /// Bytes loaded and stored per second, all CPUs together. This is how STREAM counts.
    pub rate: Figure,
    /// Middle of what each CPU reached, in the order of `cpus`; empty where it was not kept.
    #[serde(default)]
    pub each: Vec<f64>,
}

/// One kernel of the search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tried {
    /// Mix that it was tried for.
    pub mix: String,
    /// Threads.
    pub threads: usize,
    /// Its name.
    pub kernel: String,
    /// Bytes loaded and stored per second.
    pub rate: Figure,
}

/// Latency under load for one mix.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Loaded {
    /// Name of the mix of the load.
    pub name: String,
    /// What a round of it touches.
    pub mix: Mix,
    /// CPU whose latency is measured; `None` when only load was made.
    pub cpu: Option<u32>,
    /// CPUs that make the load.
    pub load_cpus: Vec<u32>,
    /// Kernel of the load.
    pub kernel: String,
    /// Latency without load, by the same chase.
    pub idle_ns: Option<Figure>,
    /// One point a delay.
    pub points: Vec<LoadedPoint>,
    /// The point from which more load costs much latency.
    pub knee: Option<Knee>,
    /// Latency at shares of the highest bandwidth.
    pub at: Vec<AtShare>,
}

/// One point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadedPoint {
    /// Cycles of a spin between two requests of a load thread.
    pub delay: u32,
    /// Latency of the measuring thread; `None` when only load was made.
    pub ns: Option<Figure>,
    /// Bytes per second as the memory sees them, the measuring thread's included.
    pub rate: Figure,
}

/// Where the curve bends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Knee {
    /// Bandwidth there.
    pub rate: f64,
    /// Latency there.
    pub ns: f64,
}

/// Latency at a share of the highest bandwidth, between two points on a straight line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AtShare {
    /// 0 to 1.
    pub share: f64,
    /// Latency.
    pub ns: f64,
}

/// Transfers between cores.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoreToCore {
    /// CPUs in the order of rows and columns.
    pub cpus: Vec<u32>,
    /// What one number is.
    pub definition: String,
    /// One entry a pair and state.
    pub pairs: Vec<Transfer>,
}

/// State of the line in the cache that gives it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LineState {
    /// Changed by its owner (HITM).
    #[default]
    Modified,
    /// Read by its owner (HIT).
    Clean,
}

/// Lines that one core takes from the cache of another.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Transfer {
    /// Who had the line.
    pub writer: u32,
    /// Who takes it.
    pub reader: u32,
    /// In which state it was.
    pub state: LineState,
    /// NUMA node of the memory behind the line.
    pub home: Option<u32>,
    /// Time of one transfer, median over lines.
    pub ns: Figure,
    /// Fastest line.
    pub best_line_ns: f64,
    /// Lines that were measured.
    pub lines: usize,
}

/// From node to node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Matrix {
    /// Nodes with CPUs: the rows.
    pub from: Vec<u32>,
    /// Nodes with memory: the columns.
    pub to: Vec<u32>,
    /// Latency.
    pub latency_ns: Vec<Vec<Figure>>,
    /// Bandwidth of reads, bytes per second.
    pub read: Vec<Vec<Figure>>,
    /// Bandwidth of writes past the cache, bytes per second; empty where it was not measured.
    pub write: Vec<Vec<Figure>>,
    /// What was asked for and what the kernel says, where they differ.
    pub misplaced: Vec<String>,
}

/// Region by region.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scan {
    /// Bytes of a region.
    pub region_bytes: u64,
    /// Node of the memory.
    pub node: u32,
    /// Threads that read.
    pub threads: usize,
    /// Physical addresses are known; otherwise the regions are counted only.
    pub physical: bool,
    /// The regions.
    pub regions: Vec<Region>,
}

/// One region.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Region {
    /// Physical address of its first byte, or its distance from the first region.
    pub address: u64,
    /// Bandwidth of reads, bytes per second.
    pub rate: Figure,
}

/// What the memory modules could do at best.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DataSheet {
    /// Where it comes from: `given`, `SMBIOS`.
    pub source: String,
    /// Modules as they are counted, such as `8xDDR5-4800`.
    pub modules: String,
    /// Channels, one for each module.
    pub channels: u32,
    /// Megatransfers per second of a channel.
    pub mt_per_s: u32,
    /// Bytes of one transfer.
    pub transfer_bytes: u32,
    /// Slots without a module, where that is known.
    pub empty_slots: u32,
    /// Channels times transfers times their bytes, bytes per second.
    pub peak: f64,
}

/// Most bytes per second that one core can have under way: lines outstanding over latency.
pub fn core_ceiling(outstanding_lines: u32, latency_ns: f64) -> f64 {
    if latency_ns <= 0.0 {
        return 0.0;
    }
    f64::from(outstanding_lines) * 64.0 / latency_ns * 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_conventions() {
        let copy = Mix {
            loads: 1,
            stores: 1,
            nt_stores: 0,
        };
        assert_eq!((copy.controller(), copy.copied()), (1.5, 0.5));
        let triad = Mix {
            loads: 2,
            stores: 0,
            nt_stores: 1,
        };
        assert_eq!(triad.controller(), 1.0);
        assert_eq!(Mix::default().controller(), 0.0);
    }

    #[test]
    fn a_core_is_bound_by_its_outstanding_lines() {
        assert_eq!(core_ceiling(48, 100.0), 30.72e9);
        assert_eq!(core_ceiling(48, 0.0), 0.0);
    }

    #[test]
    fn a_document_of_before_has_no_memory() {
        let run: crate::Run = serde_json::from_str(
            r#"{"schema":1,"tool_version":"","finished_ms":0,"global_options":[],"jobs":[],
                "disks":[],"cpu_idle":null,"partial":false,"notes":[]}"#,
        )
        .unwrap();
        assert_eq!(run.memory, None);
        let memory: Memory = serde_json::from_str("{}").unwrap();
        assert_eq!(memory, Memory::default());
        let text = serde_json::to_string(&memory).unwrap();
        assert_eq!(serde_json::from_str::<Memory>(&text).unwrap(), memory);
    }
}
