//! A run against the limits that are known.

use super::{
    Declared, Limit, Measured, Workload, binding, instance_limit, limits, of_host, verdict,
};
use crate::told::block_bytes;
use result::host::DeviceKind;
use result::{Expectation, ExpectedLimit, Host, Run, Unified};
use units::Ddir;

/// From here a limit is told although nobody asked, percent.
const NEAR_PERCENT: f64 = 90.0;

/// What was expected of a run, and what became of it.
pub(crate) struct Judged {
    /// The sentence.
    pub verdict: Option<String>,
    /// For the document.
    pub expectation: Expectation,
    /// All limits that are known.
    pub limits: Vec<Limit>,
    /// What was measured.
    pub measured: Measured,
    /// The limits are those of several volumes or drives together.
    pub shared: bool,
}

/// Judges a run by what was declared and what its host tells; `None` where nothing is known, or
/// nothing ran.
pub(crate) fn of_run(run: &Run, declared: Option<&Declared>) -> Option<Judged> {
    let (measured, work) = measured(run)?;
    let mut known = declared.map_or_else(Vec::new, |declared| limits(declared, &work));
    if let Some(host) = &run.host {
        known.extend(of_host(host, &work));
        let told = declared.is_some_and(|declared| declared.instance.is_some());
        known.extend(instance(host).filter(|_| !told));
    }
    let (limit, allowed) = binding(&known, measured.block_bytes)?;
    let percent = 100.0 * measured.iops / allowed.iops;
    let bought = declared.is_some_and(|one| one.kind.is_some() || one.instance.is_some());
    let rows = known.iter().filter_map(|limit| {
        let allowed = limit.allows(measured.block_bytes)?;
        Some(ExpectedLimit {
            name: limit.name.clone(),
            iops: allowed.iops,
            bytes_per_s: allowed.iops * measured.block_bytes as f64,
            while_it_lasts: limit.while_it_lasts.clone(),
            source: limit.source.clone(),
            as_of: limit.as_of.clone(),
        })
    });
    let needed = (allowed.iops * measured.latency_ns / 1e9).ceil() as u64;
    let verdict = verdict(&known, &measured).filter(|_| bought || percent >= NEAR_PERCENT);
    Some(Judged {
        verdict: verdict.clone(),
        expectation: Expectation {
            subject: "all jobs".to_owned(),
            verdict,
            measured_iops: measured.iops,
            block_bytes: measured.block_bytes,
            read_share: work.read_share,
            binding: limit.name.clone(),
            by_bytes: allowed.by_bytes,
            iops: allowed.iops,
            bytes_per_s: allowed.iops * measured.block_bytes as f64,
            measured_percent: percent,
            depth_needed: (measured.latency_ns > 0.0).then_some(needed.max(1)),
            limits: rows.collect(),
        },
        shared: declared.is_some_and(|declared| declared.count > 1),
        limits: known,
        measured,
    })
}

/// The EBS limit of the instance the run was on, where all its disks are EBS volumes.
fn instance(host: &Host) -> Option<Limit> {
    let kind = host.cloud.as_ref()?.instance_type.as_ref()?;
    let disks = || {
        let of = |device: &&result::host::Device| device.kind == DeviceKind::Disk;
        host.devices.iter().filter(of)
    };
    let ebs = |device: &result::host::Device| {
        let model = device.model.as_deref().unwrap_or_default();
        model.contains("Elastic Block Store")
    };
    let all = disks().count() > 0 && disks().all(ebs);
    all.then(|| instance_limit(kind)).flatten()
}

/// Counts over the longest time where there are counts, else the rates of the report.
fn measured(run: &Run) -> Option<(Measured, Workload)> {
    let (mut ios, mut bytes, mut reads) = (0.0, 0.0, 0.0);
    let (mut longest_ms, mut waited_ns, mut depth) = (0, 0.0, 0);
    let mut stated = false;
    for job in &run.jobs {
        let block = block_bytes(run, job);
        for ddir in [Ddir::Read, Ddir::Write] {
            let dir = &job.dirs[ddir];
            // What is not counted is derived from the block size.
            let (some, moved) = match (dir.ios, dir.bytes) {
                (0, 0) => {
                    stated = stated || dir.bytes_per_s() > 0.0;
                    match (block, dir.iops(), dir.bytes_per_s()) {
                        (Some(block), iops, _) if iops > 0.0 => (iops, iops * block as f64),
                        (Some(block), _, rate) => (rate / block as f64, rate),
                        (None, iops, rate) => (iops, rate),
                    }
                }
                (0, moved) => (moved as f64 / block? as f64, moved as f64),
                (some, moved) => (some as f64, moved as f64),
            };
            ios += some;
            bytes += moved;
            longest_ms = longest_ms.max(dir.runtime_ms);
            waited_ns += dir.mean_latency_ns().unwrap_or(0.0) * some;
            reads += match (job.reporting.unified, ddir) {
                (Unified::Mixed, _) => some / 2.0,
                (_, Ddir::Read) => some,
                _ => 0.0,
            };
        }
        depth += job.setup.as_ref().map_or(0, |setup| {
            let each = if setup.sync { 1 } else { setup.iodepth };
            u64::from(each) * u64::from(job.members.max(1))
        });
    }
    let seconds = if stated {
        1.0
    } else {
        longest_ms as f64 / 1000.0
    };
    if ios <= 0.0 || bytes <= 0.0 || seconds <= 0.0 {
        return None;
    }
    let block_bytes = (bytes / ios).round().max(1.0) as u64;
    let work = Workload {
        block_bytes,
        read_share: (reads / ios).clamp(0.0, 1.0),
    };
    let measured = Measured {
        block_bytes,
        iops: bytes / block_bytes as f64 / seconds,
        depth,
        latency_ns: waited_ns / ios,
    };
    Some((measured, work))
}
