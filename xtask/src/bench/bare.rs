//! Rows that compare a loop with statistics and a bare one, as `assay selfcheck` measures them.

use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::Bench;
use super::load::pinned_cpu;
use super::rows::{Loop, Target};
use super::table::Round;

/// One self-check; the bare loop stands in fio's place. The values are requests per second of
/// CPU time.
pub fn round(which: Loop, bench: &Bench) -> Result<Round> {
    let file = bench
        .places()
        .path(Target::Cached)
        .map_err(anyhow::Error::msg)?;
    let output = Command::new("taskset")
        .args(["-c", pinned_cpu()])
        .arg(bench.assay())
        .args(["selfcheck", "--json", "--file", &file])
        .output()
        .context("taskset")?;
    if !output.status.success() {
        bail!("selfcheck: {}", String::from_utf8_lossy(&output.stderr));
    }
    let check: Value = serde_json::from_slice(&output.stdout).context("the self-check")?;
    let figures = match which {
        Loop::Nop => &check["ring"],
        Loop::File => &check["file"],
    };
    let per_s = |key: &str| -> Result<f64> {
        let ns = figures[key].as_f64().context("no io_uring here")?;
        Ok(1e9 / ns)
    };
    Ok(Round {
        assay: per_s("full_ns")?,
        fio: per_s("bare_ns")?,
        user_cpu_ratio: None,
    })
}
