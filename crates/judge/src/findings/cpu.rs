//! Workers that had no CPU time left: their figure is the CPU's.

use crate::Evidence;
use crate::findings::{cached, no_disk, unread};
use crate::job::jobs;
use crate::say::{With, finding, percent};
use result::host::DeviceKind;
use result::{Finding, Severity};

const BOUND_PERCENT: f64 = 95.0;
/// Shorter times are measured too coarsely.
const LEAST_MS: u64 = 500;

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    // Where memory answers, the CPU is what moves the data, and another finding says so.
    let in_memory = evidence.run.host.as_ref().is_some_and(|host| {
        let ram = |kind| matches!(kind, DeviceKind::Zram | DeviceKind::Ram);
        host.devices.iter().any(|device| ram(device.kind))
    });
    let others = [unread::rule, cached::rule, no_disk::rule];
    if in_memory || others.iter().any(|rule| !rule(evidence).is_empty()) {
        return Vec::new();
    }
    jobs(evidence)
        .iter()
        .filter(|job| !job.setup.idle_engine && !job.setup.paced)
        .filter_map(|job| {
            let busiest = job
                .list
                .iter()
                .filter(|worker| worker.runtime_ms >= LEAST_MS)
                .map(|worker| {
                    let used = worker.usage.user_us + worker.usage.system_us;
                    percent(used as f64, worker.runtime_ms as f64 * 1000.0)
                })
                .fold(0.0, f64::max);
            (busiest >= BOUND_PERCENT).then(|| {
                let text = format!(
                    "{}: a worker used {busiest:.0} % of its CPU: the figure is the CPU's limit, \
                     not the target's",
                    job.name
                );
                let advice = "spread the load over more jobs, or make each I/O cheaper \
                              (larger bs, io_uring with registered buffers, fewer statistics)";
                finding("cpu-bound", Severity::Warning, text, advice).number("cpu_percent", busiest)
            })
        })
        .collect()
}
