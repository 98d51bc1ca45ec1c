//! What every end-to-end test needs: run a tool, read its output, have a place to run in.

pub mod acceptance;
pub mod coherent;
pub mod command;
pub mod lines;
pub mod place;
pub mod shape;
pub mod web;

pub use acceptance::{Line, Shrink};
pub use command::{Fio, Outcome, Tool, fio};
pub use place::{LoopDisk, Mounted, Scratch};

/// Says why a test did not run. Written past the test harness's capture so that it shows.
pub fn skip(what: &str, why: &str) {
    use std::io::Write;
    // A closed stderr only loses the remark.
    let _ = writeln!(std::io::stderr().lock(), "SKIPPED {what}: {why}");
}

/// Fails with every collected finding at once, so one run shows the whole picture.
pub fn assert_none(findings: &[String], what: &str) {
    assert!(
        findings.is_empty(),
        "{} finding(s) in {what}:\n{}",
        findings.len(),
        findings.join("\n")
    );
}
