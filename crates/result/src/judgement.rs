//! What a run's own data say about its figures.

use serde::{Deserialize, Serialize};

/// How much a finding matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
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

/// All of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Judgement {
    /// Findings, the gravest first.
    pub findings: Vec<Finding>,
    /// The limit that bound the run, where limits are known.
    pub verdict: Option<String>,
    /// Issued against device I/O, where all targets lie on watched devices.
    pub device_io: Option<DeviceIo>,
}
