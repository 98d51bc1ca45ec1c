//! Folding the workers of a group into one reported block, with fio's arithmetic.

use crate::{Direction, Job};
use units::Ddir;

/// Workers in order, those of one grouped group folded into the first of them.
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
    blocks
}

/// Adds one worker to a block. Latencies, counts and maps add exactly; sampled rates stack.
pub fn fold(block: &mut Job, job: &Job) {
    block.members += job.members;
    block.elapsed_s = block.elapsed_s.max(job.elapsed_s);
    block.runtime_ms += job.runtime_ms;
    block.total_errors += job.total_errors;
    if block.first_error == 0 {
        block.first_error = job.first_error;
    }
    if block.failure.is_none() {
        block.failure.clone_from(&job.failure);
    }
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
}

/// Adds one direction of a worker that ran at the same time.
fn fold_direction(block: &mut Direction, job: &Direction) {
    block.bytes += job.bytes;
    block.issued += job.issued;
    block.ios += job.ios;
    block.short += job.short;
    block.dropped += job.dropped;
    block.runtime_ms = block.runtime_ms.max(job.runtime_ms);
    block.slat.merge(&job.slat);
    block.clat.merge(&job.clat);
    block.lat.merge(&job.lat);
    block.bw.stack(&job.bw);
    block.iops.stack(&job.iops);
    if let Some((hits, misses)) = job.cache_hits {
        let total = block.cache_hits.get_or_insert((0, 0));
        total.0 += hits;
        total.1 += misses;
    }
}

/// All directions of a job as one (`unified_rw_reporting`): sequential pooling, no stacking.
pub fn mixed(job: &Job) -> Direction {
    let mut all = Direction::default();
    for ddir in Ddir::DATA {
        let dir = &job.dirs[ddir];
        if dir.ios > 0 || dir.runtime_ms > 0 {
            fold_direction(&mut all, dir);
        }
    }
    all
}
