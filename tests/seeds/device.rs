//! Does the block device confirm what a report claims to have moved with direct I/O?

use serde_json::Value;

use crate::harness::{Mounted, place};

/// What journals, superblocks and directories may add.
const METADATA_BYTES: u64 = 64 << 20;

/// The device's counters with nothing left in the page cache.
#[derive(Debug)]
pub struct Counters {
    read_bytes: u64,
    written_bytes: u64,
}

impl Counters {
    /// Flushes the file system, then reads the counters.
    pub fn now(mounted: &Mounted) -> Self {
        let path = mounted.path().to_str().expect("UTF-8");
        place::system("sync", &["-f", path]).expect("the file system can be flushed");
        let (read_bytes, written_bytes) = mounted.disk.traffic_bytes();
        Counters {
            read_bytes,
            written_bytes,
        }
    }
}

/// Directions in which the device saw less than was reported, or far more than it should.
pub fn disagreements(document: &Value, before: &Counters, after: &Counters) -> Vec<String> {
    let reported = |direction: &str| -> u64 {
        let jobs = document["jobs"].as_array().into_iter().flatten();
        jobs.filter_map(|job| job[direction]["io_bytes"].as_u64())
            .sum()
    };
    // Files that a job reads are first laid out, which writes them once.
    let laid_out = if reported("read") > 0 { 512 << 20 } else { 0 };
    let mut out = Vec::new();
    let mut compare = |what: &str, reported: u64, seen: u64, extra: u64| {
        let most = reported + reported / 10 + extra + METADATA_BYTES;
        if seen < reported || seen > most {
            out.push(format!(
                "{what}: reported {reported} bytes, the device counted {seen}"
            ));
        }
    };
    compare(
        "read",
        reported("read"),
        after.read_bytes - before.read_bytes,
        0,
    );
    compare(
        "write",
        reported("write"),
        after.written_bytes - before.written_bytes,
        laid_out,
    );
    out
}
