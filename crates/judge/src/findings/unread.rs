//! Reads that no device served: holes, unwritten extents, or the page cache.

use crate::Evidence;
use crate::say::{With, finding, grouped, percent, time};
use result::{Finding, LatencyClass, Severity};
use units::Ddir;

/// Share of the bytes that may be missing without a word, percent.
const SLACK_PERCENT: f64 = 5.0;
const LEAST_BYTES: u64 = 1 << 20;
/// No device answers so fast, through a file system and its interrupt.
const MEMORY_NS: u64 = 3000;

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    let Some(io) = &evidence.io else {
        return Vec::new();
    };
    let (issued, device) = (io.issued_bytes[0], io.device_bytes[0]);
    let missing = 100.0 - percent(device as f64, issued as f64);
    if issued < LEAST_BYTES || missing < SLACK_PERCENT {
        return Vec::new();
    }
    let seconds = io.runtime_ms.max(1) as f64 / 1000.0;
    let reported = io.issued_ios[0] as f64 / seconds;
    let corrected = reported * device as f64 / issued as f64;
    let hole_percent = holes(evidence);
    let direct = |job: &result::Job| job.setup.as_ref().is_some_and(|setup| setup.direct);
    let all_direct = evidence.run.jobs.iter().all(direct);
    let write_first =
        "write the whole file first, with fallocate=none or rw=write over its full size";
    let (id, cause, advice) = if hole_percent > 1.0 {
        (
            "holes-read",
            format!("{hole_percent:.1} % of the file were never written and read as zeroes"),
            write_first,
        )
    } else if let Some(ns) = fastest(evidence).filter(|ns| all_direct && *ns <= MEMORY_NS) {
        (
            "holes-read",
            format!(
                "direct reads of {} never met a device, so parts of the files were never written",
                time(ns)
            ),
            write_first,
        )
    } else if all_direct {
        (
            "reads-without-device",
            "something between the file and the device answered".to_owned(),
            "look for holes, compression, or a cache below the file system",
        )
    } else {
        (
            "page-cache-read",
            "the page cache answered".to_owned(),
            "use direct=1, or a file several times larger than memory",
        )
    };
    let text = format!(
        "{missing:.1} % of the reads were served without the device: {cause}. The device did \
         {} reads/s of the {} IOPS reported",
        grouped(corrected.round() as u64),
        grouped(reported as u64)
    );
    vec![
        finding(id, Severity::Invalid, text, advice)
            .count("issued_bytes", issued)
            .count("device_bytes", device)
            .number("missing_percent", missing)
            .number("hole_percent", hole_percent)
            .number("corrected_iops", corrected),
    ]
}

/// The time that one of a hundred direct reads stays below, where nobody could look at the files.
fn fastest(evidence: &Evidence<'_>) -> Option<u64> {
    evidence.run.source.as_ref()?;
    let jobs = evidence.run.jobs.iter();
    jobs.filter_map(|job| job.dirs[Ddir::Read].percentile(LatencyClass::Clat, 1.0))
        .min()
}

/// The share of never-written bytes in the targets that were looked at, percent.
fn holes(evidence: &Evidence<'_>) -> f64 {
    let targets = evidence.run.host.iter().flat_map(|host| &host.targets);
    let (mut size, mut data) = (0, 0);
    for (whole, written) in targets.filter_map(|t| t.size_bytes.zip(t.data_bytes)) {
        size += whole;
        data += written.min(whole);
    }
    100.0
        - if size > 0 {
            percent(data as f64, size as f64)
        } else {
            100.0
        }
}
