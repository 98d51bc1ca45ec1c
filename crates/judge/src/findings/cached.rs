//! Buffered I/O of which no device statistics are there: the waiting itself tells.

use crate::Evidence;
use crate::job::{Workers, jobs, mean_ns};
use crate::say::{With, finding, grouped, time};
use result::{Finding, Severity};
use units::Ddir;

/// An I/O that waits for a device costs a context switch; a hundredth of that is memory.
const SWITCHES_PER_IO: f64 = 0.01;
/// No device and file system answer one request at a time so fast, nanoseconds.
const MEMORY_NS: f64 = 30_000.0;
/// Reads that take so many times as long as the writes beside them were real.
const TIMES: f64 = 4.0;
const LEAST_IOS: u64 = 1000;

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    // With statistics of the devices there is no need to infer.
    if evidence.io.is_some() || evidence.run.source.is_none() {
        return Vec::new();
    }
    let jobs = jobs(evidence);
    let buffered = jobs
        .iter()
        .filter(|job| job.setup.on_disk && job.setup.sync && !job.setup.direct);
    buffered.filter_map(of_job).collect()
}

fn of_job(job: &Workers<'_>) -> Option<Finding> {
    let advice = "use direct=1, or a file several times larger than memory";
    let switches: u64 = job.list.iter().map(|one| one.usage.context_switches).sum();
    let (reads, writes) = (job.ios(Ddir::Read), job.ios(Ddir::Write));
    let (read_ns, write_ns) = (mean_ns(job, Ddir::Read), mean_ns(job, Ddir::Write));
    let few = (switches as f64) < (reads + writes) as f64 * SWITCHES_PER_IO;
    if let (Some(ns), true) = (read_ns, reads >= LEAST_IOS)
        && few
        && ns < MEMORY_NS
    {
        let text = format!(
            "{}: the page cache answered: {} buffered reads of {} with {} context switches never \
             waited for a device",
            job.name,
            grouped(reads),
            time(ns as u64),
            grouped(switches)
        );
        let one = finding("page-cache-read", Severity::Invalid, text, advice);
        return Some(
            one.count("reads", reads)
                .count("context_switches", switches),
        );
    }
    if let (Some(read), Some(write)) = (read_ns, write_ns)
        && reads.min(writes) >= LEAST_IOS
        && read > TIMES * write
        && write < MEMORY_NS
    {
        let text = format!(
            "{}: reads waited for the device ({}), writes only for memory ({}): the two cannot be \
             compared",
            job.name,
            time(read as u64),
            time(write as u64)
        );
        let one = finding("buffered-mix", Severity::Invalid, text, advice);
        return Some(one.number("read_ns", read).number("write_ns", write));
    }
    if let (Some(ns), true) = (write_ns, writes >= LEAST_IOS)
        && few
        && ns < MEMORY_NS
    {
        let text = format!(
            "{}: memory took the writes: {} of them, {} each, with {} context switches",
            job.name,
            grouped(writes),
            time(ns as u64),
            grouped(switches)
        );
        let advice = "use direct=1, or end_fsync=1 so that the time includes the device";
        let one = finding("page-cache-write", Severity::Invalid, text, advice);
        return Some(
            one.count("writes", writes)
                .count("context_switches", switches),
        );
    }
    None
}
