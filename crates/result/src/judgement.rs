//! What a run's own data say about its figures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much a finding matters.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know.
    #[default]
    Note,
    /// The figure stands, but not for what one may think.
    Warning,
    /// The figure is not what the report calls it.
    Invalid,
}

impl Severity {
    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Invalid => "invalid",
        }
    }
}

/// One piece of evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Figure {
    /// A count.
    Count(u64),
    /// A number; its unit stands in its name.
    Number(f64),
    /// A word.
    Text(String),
}

/// One finding.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Finding {
    /// Name that stays; also its place in `docs/findings.md`.
    pub id: String,
    /// How much it matters.
    pub severity: Severity,
    /// One plain sentence with the numbers.
    pub text: String,
    /// What to do.
    pub advice: String,
    /// The numbers behind it, each with its unit in its name.
    pub evidence: Vec<(String, Figure)>,
}

/// What was asked for and what the devices below did, read and write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DeviceIo {
    /// I/Os of the jobs.
    pub issued_ios: [u64; 2],
    /// Bytes of the jobs.
    pub issued_bytes: [u64; 2],
    /// Requests that the devices completed.
    pub device_ios: [u64; 2],
    /// Requests that were merged into these.
    pub device_merges: [u64; 2],
    /// Bytes that the devices moved.
    pub device_bytes: [u64; 2],
    /// Longest time of a job in milliseconds.
    pub runtime_ms: u64,
}

impl DeviceIo {
    /// Device requests per second of a direction, 0 reads and 1 writes.
    pub fn device_iops(&self, direction: usize) -> f64 {
        self.device_ios[direction] as f64 * 1000.0 / self.runtime_ms.max(1) as f64
    }
}

/// A limit that is known, and what it allows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ExpectedLimit {
    /// What limits, such as `io1 volume`.
    pub name: String,
    /// I/Os per second of the job's block size that it allows.
    pub iops: f64,
    /// Bytes per second likewise.
    pub bytes_per_s: f64,
    /// What holds only for a while, in words.
    pub while_it_lasts: Option<String>,
    /// Where the figure is from.
    pub source: String,
    /// When it was read there, `YYYY-MM`; empty for what the machine itself tells.
    pub as_of: String,
}

/// What should have been measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Expectation {
    /// Whose: `all jobs`, or a part of the run.
    pub subject: String,
    /// The sentence on it.
    pub verdict: Option<String>,
    /// Bytes of one I/O, on average.
    pub block_bytes: u64,
    /// Share of reads, 0 to 1.
    pub read_share: f64,
    /// The tightest limit.
    pub binding: String,
    /// Its leg of bytes is the tighter one, not that of I/Os.
    pub by_bytes: bool,
    /// I/Os per second that it allows.
    pub iops: f64,
    /// Bytes per second likewise.
    pub bytes_per_s: f64,
    /// I/Os per second that were measured.
    pub measured_iops: f64,
    /// What was measured, in percent of what is allowed.
    pub measured_percent: f64,
    /// I/Os in flight at which the limit is reached with the latency that was measured (Little).
    pub depth_needed: Option<u64>,
    /// All limits that are known.
    pub limits: Vec<ExpectedLimit>,
}

/// How long moving an amount of data takes at the speed of the run, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TimeToSave {
    /// The amount.
    pub bytes: u64,
    /// At the mean speed.
    pub likely_s: f64,
    /// At the upper end of its 95 % interval.
    pub least_s: f64,
    /// At the lower end; the same as `least_s` where the run was too short for an interval.
    pub most_s: f64,
}

/// All of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Judgement {
    /// Findings, the gravest first.
    pub findings: Vec<Finding>,
    /// The limit that bound the run, where limits are known.
    pub verdict: Option<String>,
    /// What should have been measured, where limits are known: of the run, or of each of its parts.
    pub expectations: Vec<Expectation>,
    /// How long an amount of data takes, where that was asked for.
    pub time_to_save: Option<TimeToSave>,
    /// Issued against device I/O, where all targets lie on watched devices.
    pub device_io: Option<DeviceIo>,
}
