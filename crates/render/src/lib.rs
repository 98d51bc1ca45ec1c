//! The `Run` document becomes bytes: fio's normal, terse and JSON formats and its status line, and
//! reports with charts as pages, Markdown, CSV and text.
//!
//! Every rendering is a pure function of the document: no clock, no file, no terminal. Which
//! characters stand where follows fio 3.42 (`stat.c`, `eta.c`, `json.c` as behaviour, checked
//! against the output of a real fio); what is measured and how it is folded is decided before.
#![forbid(unsafe_code)]

pub mod chart;
mod disks;
mod eta;
mod figures;
mod findings;
mod html;
pub mod human;
mod inspect;
mod json;
pub mod memory;
pub mod mlc;
mod normal;
pub mod report;
mod start;
mod status;
mod terse;

pub use eta::{Eta, JobProgress, Phase, job_eta, run_eta};
pub use findings::findings;
pub use html::{PACKED, html, site};
pub use inspect::inspect;
pub use json::json;
pub use normal::normal;
pub use start::{BlockSizes, JobLine, laying_out, starting};
pub use status::{Progress, RateLimits, StatusLine, condensed, eta_text, status};
pub use terse::{TERSE_VERSIONS, TerseVersion, terse};

/// The version that reports name. Scripts test the prefix `fio-3.`; the formats are those of this
/// version.
pub const FIO_VERSION: &str = "fio-3.42";
