//! The root of the document.

use crate::{CpuIdle, Disk, Job, MemoryTable, Options, Source, merge};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Ddir;

/// Version of the document's shape; raised by every incompatible change.
pub const SCHEMA_VERSION: u32 = 1;

/// Everything one invocation measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// Version of Assay that measured, such as `0.1.0`.
    pub tool_version: String,
    /// Wall-clock end of the run, milliseconds since the epoch.
    pub finished_ms: u64,
    /// Offset of local time from UTC where it ran, in seconds, for the dates that reports show.
    #[serde(default)]
    pub utc_offset_s: i32,
    /// Estimated seconds left of a running report; 0 when everything has ended.
    #[serde(default)]
    pub eta_s: u64,
    /// Options that held for all jobs (`[global]`), in the order given.
    pub global_options: Options,
    /// One entry per worker, in order of thread number. Empty workers are kept.
    pub jobs: Vec<Job>,
    /// What was done before the clock started, which no figure counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layouts: Vec<LaidOut>,
    /// Block devices below the targets. A member of a stacked device stands inside its parent.
    pub disks: Vec<Disk>,
    /// The CPU that interrupts kept busiest, where the kernel counts that.
    #[serde(default)]
    pub interrupts: Option<crate::Interrupts>,
    /// CPU idleness when it was asked for.
    pub cpu_idle: Option<CpuIdle>,
    /// True when a signal ended the run early or the document is a running report.
    pub partial: bool,
    /// Remarks for people, such as `iodepth` with a synchronous engine.
    pub notes: Vec<String>,
    /// What the tool itself cost per I/O on this machine, where that was measured.
    #[serde(default)]
    pub self_check: Option<crate::SelfCheck>,
    /// What was measured of memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Box<crate::memory::Memory>>,
    /// The machine, and what lay below the targets, as it was before the run.
    #[serde(default)]
    pub host: Option<crate::Host>,
    /// Memory tests of other tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory_tables: Vec<MemoryTable>,
    /// The command line that made it, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Where an imported run was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Box<Source>>,
    /// What the data above say about the figures, once the run has ended.
    #[serde(default)]
    pub judgement: Option<crate::Judgement>,
}

/// Files that were made as large as a job needs them, before it ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LaidOut {
    /// The job's name.
    pub job: String,
    /// How many files.
    pub files: u32,
    /// Their size in the end, bytes.
    pub size_bytes: u64,
    /// Data written for that, bytes; the rest is only allocated. Reports of others do not tell.
    pub written_bytes: Option<u64>,
    /// How long it took, milliseconds, where that is known.
    pub duration_ms: Option<u64>,
}

/// Totals of one reporting group for the `Run status group` lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupTotal {
    /// Bytes of this direction over the group.
    pub bytes: u64,
    /// Bytes per second over the group's longest run time.
    pub rate: u64,
    /// Slowest reported block in bytes per second.
    pub rate_min: u64,
    /// Fastest reported block in bytes per second.
    pub rate_max: u64,
    /// Shortest run time in milliseconds.
    pub runtime_min_ms: u64,
    /// Longest run time in milliseconds.
    pub runtime_max_ms: u64,
}

impl Run {
    /// The blocks that reports show: workers, with those of a `group_reporting` group folded into
    /// one, in order of their first worker.
    pub fn reported(&self) -> Vec<Job> {
        merge::reported(&self.jobs)
    }
}

/// Totals of `ddir` over the reported blocks of `group`; `None` when nothing ran in it.
pub fn group_total(blocks: &[Job], group: u32, ddir: Ddir) -> Option<GroupTotal> {
    let mut total = GroupTotal {
        rate_min: u64::MAX,
        runtime_min_ms: u64::MAX,
        ..Default::default()
    };
    let mut seen = false;
    for job in blocks.iter().filter(|job| job.group == group) {
        let dir = &job.dirs[ddir];
        if dir.runtime_ms == 0 {
            continue;
        }
        seen = true;
        total.bytes = total.bytes.saturating_add(dir.bytes);
        total.runtime_min_ms = total.runtime_min_ms.min(dir.runtime_ms);
        total.runtime_max_ms = total.runtime_max_ms.max(dir.runtime_ms);
        let rate = dir.bytes.saturating_mul(1000) / dir.runtime_ms;
        total.rate_min = total.rate_min.min(rate);
        total.rate_max = total.rate_max.max(rate);
    }
    if !seen {
        return None;
    }
    total.rate = total.bytes.saturating_mul(1000) / total.runtime_max_ms;
    Some(total)
}
