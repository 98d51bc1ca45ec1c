//! Folding the workers of a group into one reported block, with fio's arithmetic.
//!
//! Identity (name, description, pid, start, unit bases) is the first member's; options,
//! percentile settings and the latency target are the last member's. Latencies and counts pool;
//! sampled rates stack, because the rate of a group is the sum of its members' rates.

use crate::series::Series;
use crate::{Direction, Job, PriorityLatency, Unified};
use units::{Ddir, PerDdir};

/// Blocks as reports show them: workers in order, those of a `group_reporting` group folded into
/// the first of them. With `unified_rw_reporting=mixed` all directions stand in the read slot.
pub fn reported(jobs: &[Job]) -> Vec<Job> {
    let mut blocks: Vec<Job> = Vec::new();
    for job in jobs.iter().filter(|job| job.reporting.shown) {
        let folded = blocks.iter_mut().find(|block| {
            block.reporting.grouped && job.reporting.grouped && block.group == job.group
        });
        match folded {
            Some(block) => fold(block, job),
            None => blocks.push(job.clone()),
        }
    }
    for block in &mut blocks {
        if block.reporting.unified == Unified::Mixed {
            let all = mixed(block);
            block.dirs = PerDdir::default();
            block.dirs[Ddir::Read] = all;
        }
    }
    blocks
}

/// Adds one worker to a block. Latencies, counts and maps add exactly; sampled rates stack.
pub fn fold(block: &mut Job, job: &Job) {
    block.members = block.members.saturating_add(job.members);
    block.elapsed_s = block.elapsed_s.max(job.elapsed_s);
    block.runtime_ms = block.runtime_ms.saturating_add(job.runtime_ms);
    fold_settings(block, job);
    for ddir in Ddir::DATA {
        fold_direction(&mut block.dirs[ddir], &job.dirs[ddir]);
    }
    block.sync.ios += job.sync.ios;
    block.sync.lat.merge(&job.sync.lat);
    block.usage.user_us += job.usage.user_us;
    block.usage.system_us += job.usage.system_us;
    block.usage.context_switches += job.usage.context_switches;
    block.usage.major_faults += job.usage.major_faults;
    block.usage.minor_faults += job.usage.minor_faults;
    block.depth.merge(&job.depth);
    block.submit.merge(&job.submit);
    block.complete.merge(&job.complete);
    block.coarse.merge(&job.coarse);
    block.zone_resets += job.zone_resets;
    block.punts.threads += job.punts.threads;
    block.punts.cpu_us += job.punts.cpu_us;
    let late_ms = job.started_ms.saturating_sub(block.started_ms);
    for series in &job.series {
        Series::of(&mut block.series, series.quantity, series.ddir).fold(series, late_ms);
    }
}

/// Errors: the first counts. Settings of the report: the last member's, but for the bases.
fn fold_settings(block: &mut Job, job: &Job) {
    block.total_errors += job.total_errors;
    if block.first_error == 0 {
        block.first_error = job.first_error;
    }
    if block.failure.is_none() {
        block.failure.clone_from(&job.failure);
    }
    block.options.clone_from(&job.options);
    block.target = job.target;
    if job.steady.is_some() {
        block.steady.clone_from(&job.steady);
    }
    let (mine, theirs) = (&mut block.reporting, &job.reporting);
    mine.percentiles.clone_from(&theirs.percentiles);
    mine.percentile_precision = theirs.percentile_precision;
    mine.slat_percentiles = theirs.slat_percentiles;
    mine.clat_percentiles = theirs.clat_percentiles;
    mine.lat_percentiles = theirs.lat_percentiles;
    mine.continues_on_error = theirs.continues_on_error;
    mine.zoned |= theirs.zoned;
    mine.has_slat |= theirs.has_slat;
    mine.has_clat |= theirs.has_clat;
    mine.has_lat |= theirs.has_lat;
}

/// Adds one direction of a worker that ran at the same time.
fn fold_direction(block: &mut Direction, job: &Direction) {
    let both = block.runtime_ms > 0 && job.runtime_ms > 0;
    block.bytes += job.bytes;
    block.issued += job.issued;
    block.ios += job.ios;
    block.short += job.short;
    block.dropped += job.dropped;
    block.runtime_ms = block.runtime_ms.max(job.runtime_ms);
    block.slat.merge(&job.slat);
    block.clat.merge(&job.clat);
    block.lat.merge(&job.lat);
    if let Some(late) = &job.lat_intended {
        block.lat_intended.get_or_insert_default().merge(late);
    }
    block.bw.stack(&job.bw);
    block.iops.stack(&job.iops);
    for theirs in &job.priorities {
        let key = |of: &PriorityLatency| (of.class, of.level, of.hint);
        let known = block.priorities.iter_mut();
        match known.into_iter().find(|mine| key(mine) == key(theirs)) {
            Some(mine) => mine.latency.merge(&theirs.latency),
            None => block.priorities.push(theirs.clone()),
        }
    }
    if both {
        // Stated rates and percentiles of parts say nothing about the whole.
        block.stated = None;
    } else if block.stated.is_none() {
        block.stated.clone_from(&job.stated);
    }
    if let Some((hits, misses)) = job.cache_hits {
        let total = block.cache_hits.get_or_insert((0, 0));
        total.0 += hits;
        total.1 += misses;
    }
}

/// All directions of a job as one (`unified_rw_reporting`).
pub fn mixed(job: &Job) -> Direction {
    let mut all = Direction::default();
    for (_, dir) in job.dirs.iter() {
        fold_direction(&mut all, dir);
    }
    all
}
