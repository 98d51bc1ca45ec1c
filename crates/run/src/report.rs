//! What a worker counted becomes its part of the document.

use crate::sampler::Sampled;
use crate::stats::Stats;
use engine::Caps;
use measure::{BatchMap, Coarse, DepthMap, Latency};
use plan::model::{Target, TargetKind, Worker};
use result::{Direction, Job, LatencyTarget, Place, PriorityLatency, Punts, Setup, Steady, Usage};
use units::{Ddir, PerDdir};

/// Everything known about one worker at one moment.
pub struct Account<'a> {
    /// Its plan.
    pub worker: &'a Worker,
    /// What steady state detection saw, when it is on.
    pub steady: Option<Steady>,
    /// Its statistics.
    pub stats: &'a Stats,
    /// Live counters, warm-up included.
    pub ios: PerDdir<u64>,
    /// Live counters, warm-up included.
    pub bytes: PerDdir<u64>,
    /// Thread id.
    pub pid: u32,
    /// Wall-clock start, milliseconds since the epoch.
    pub started_ms: u64,
    /// Duration of I/O passes, nanoseconds.
    pub io_ns: u64,
    /// Duration of read-back passes, nanoseconds.
    pub verify_ns: u64,
    /// Start to end of the worker, nanoseconds.
    pub total_ns: u64,
    /// Start of the run to the end of the worker, nanoseconds.
    pub elapsed_ns: u64,
    /// CPU cost.
    pub usage: Usage,
    /// Requests that the kernel handed to threads of its own.
    pub punts: Punts,
    /// Sampled rates.
    pub sampled: &'a Sampled,
}

fn ms_up(ns: u64) -> u64 {
    ns.div_ceil(1_000_000)
}

/// The job entry of the document.
pub fn job(account: &Account<'_>) -> Job {
    let Account { worker, stats, .. } = account;
    let caps = worker.engine.kind.caps();
    let sync = caps.sync_at(worker.depth.iodepth);
    let dirs = PerDdir::from_fn(|ddir| direction(account, ddir, caps));
    let (depth, submit, complete) = maps(stats, &dirs, worker);
    let mut reporting = worker.reporting.clone();
    reporting.has_slat &= !sync;
    let failure = stats.failure.clone();
    Job {
        name: worker.name.clone(),
        description: worker.description.clone(),
        number: worker.number,
        group: worker.group,
        members: 1,
        pid: account.pid,
        started_ms: account.started_ms,
        elapsed_s: account.elapsed_ns.div_ceil(1_000_000_000),
        failure,
        total_errors: stats.errors,
        first_error: stats.first_error,
        options: worker.options.clone(),
        reporting,
        dirs,
        sync: stats.sync.clone(),
        runtime_ms: account.total_ns / 1_000_000,
        usage: account.usage,
        depth,
        submit,
        complete,
        // As in fio, operations on names have completion latencies and nothing else.
        coarse: if caps.by_name.is_some() {
            Coarse::default()
        } else {
            stats.coarse(&worker.measured)
        },
        target: LatencyTarget {
            depth: stats.latency_depth.unwrap_or(worker.target.depth),
            ..worker.target
        },
        steady: account.steady.clone(),
        zone_resets: stats.zone_resets,
        series: account.sampled.series.clone(),
        punts: account.punts,
        setup: Some(setup(worker)),
    }
}

/// How the worker was set up, for judgements.
fn setup(worker: &Worker) -> Setup {
    let caps = worker.engine.kind.caps();
    let pace = &worker.pace;
    let moves_data = !caps.diskless && !caps.no_io && !caps.fake && !caps.alters;
    let kinds = |target: &Target| matches!(target.kind, TargetKind::File | TargetKind::Block);
    let rated = |rate: &PerDdir<Option<u64>>| rate.0.iter().any(Option::is_some);
    Setup {
        engine: worker.engine.kind.name().to_owned(),
        sync: caps.sync_at(worker.depth.iodepth),
        direct: worker.access.direct,
        on_disk: moves_data
            && caps.by_name.is_none()
            && !worker.targets.is_empty()
            && worker.targets.iter().all(kinds),
        idle_engine: caps.no_io,
        iodepth: worker.depth.iodepth,
        paced: rated(&pace.rate)
            || rated(&pace.rate_iops)
            || pace.think.is_some()
            || pace.search.is_some()
            || pace.flow.is_some(),
        warms_up: worker.limits.ramps() || worker.access.pre_read,
        verifies: worker.verify.is_some(),
        zero_buffers: worker.buffers.fill.zero,
        random: worker.requests.direction.is_random(),
        runtime_s: Some(worker.limits.runtime_ns / 1_000_000_000).filter(|s| *s > 0),
        places: places(worker),
    }
}

/// Where the worker reads and writes, unless that is in very many files.
fn places(worker: &Worker) -> Vec<Place> {
    if worker.targets.len() > Place::MOST {
        return Vec::new();
    }
    let place = |target: &Target| Place {
        path: target.path.display().to_string(),
        file: target.kind == TargetKind::File,
        offset_bytes: target.offset_bytes,
        length_bytes: target.length_bytes,
    };
    worker.targets.iter().map(place).collect()
}

fn direction(account: &Account<'_>, ddir: Ddir, caps: Caps) -> Direction {
    let sync = caps.sync_at(account.worker.depth.iodepth);
    let inline = crate::prepare::inline(account.worker);
    let Account { worker, stats, .. } = account;
    let measured = &worker.measured;
    let classes = &stats.classes[ddir];
    let kept = |wanted: bool, class: &Latency| {
        if wanted {
            class.clone()
        } else {
            Latency::default()
        }
    };
    let clat = kept(measured.clat, &classes.clat);
    let lat = if caps.by_name.is_some() {
        Latency::default()
    } else if inline {
        sync_lat(worker, &classes.clat)
    } else {
        classes.lat.clone()
    };
    let ios = account.ios[ddir] - stats.base_ios[ddir];
    let bytes = account.bytes[ddir] - stats.base_bytes[ddir];
    let odd = &stats.odd[ddir];
    let mut runtime_ns = 0;
    // What moves nothing has no rates either.
    if ios > 0 && !caps.no_io {
        // Reads of `verify_backlog` come between the writes.
        let between = |v: &plan::model::Verify| ddir == Ddir::Read && v.backlog > 0;
        if worker.uses(ddir) || worker.verify.as_ref().is_some_and(between) {
            runtime_ns += account.io_ns;
        }
        if ddir == Ddir::Read {
            runtime_ns += account.verify_ns;
        }
    }
    let lat = kept(measured.lat, &lat);
    let all = match worker.reporting.lat_percentiles {
        true => &lat,
        false => &clat,
    };
    let priorities = priorities(account, ddir, all);
    Direction {
        bytes,
        issued: if inline {
            ios + odd.failed + odd.again
        } else {
            stats.issued[ddir]
        },
        ios,
        short: odd.short,
        dropped: odd.dropped,
        runtime_ms: ms_up(runtime_ns),
        slat: kept(measured.slat && !sync, &classes.slat),
        clat,
        lat,
        lat_intended: stats.late[ddir].clone(),
        bw: account.sampled.bw[ddir],
        iops: account.sampled.iops[ddir],
        cache_hits: None,
        priorities,
        stated: None,
    }
}

/// Latencies by priority: of the requests of a job that gives them their own, else `all` of a
/// job that may be folded into one with jobs of other priorities.
fn priorities(account: &Account<'_>, ddir: Ddir, all: &Latency) -> Vec<PriorityLatency> {
    let Account { worker, stats, .. } = account;
    let of = |(priority, latency): (u16, &Latency)| {
        let (class, level, hint) = sys::process::io_priority_parts(priority);
        PriorityLatency {
            class,
            level,
            hint,
            latency: latency.clone(),
        }
    };
    let own = stats.priorities[ddir].iter();
    let own: Vec<_> = own
        .map(|(priority, latency)| of((*priority, latency)))
        .collect();
    if !own.is_empty() || !worker.reporting.grouped || all.moments.n == 0 {
        return own;
    }
    vec![of((worker.placement.io_priority.unwrap_or(0), all))]
}

/// For a synchronous engine the total latency is the completion latency; its bins are kept only
/// where percentiles of it are wanted.
fn sync_lat(worker: &Worker, clat: &Latency) -> Latency {
    let histogram = worker
        .reporting
        .lat_percentiles
        .then(|| clat.histogram.clone())
        .flatten();
    Latency {
        moments: clat.moments,
        histogram,
    }
}

/// Depth and batch maps; with a synchronous engine every I/O is a submission and a reap of one.
/// An engine that is synchronous at depth one only has no batches there, as in fio.
fn maps(
    stats: &Stats,
    dirs: &PerDdir<Direction>,
    worker: &Worker,
) -> (DepthMap, BatchMap, BatchMap) {
    let caps = worker.engine.kind.caps();
    // A thread of its own has a depth of one, as fio counts.
    if !caps.sync_at(worker.depth.iodepth) && !worker.depth.offload {
        return (stats.depth, stats.submit, stats.complete);
    }
    let calls = dirs.0.iter().map(|d| d.issued).sum::<u64>() + stats.sync.ios;
    let mut depth = DepthMap::default();
    depth.0[0] = calls;
    if !caps.sync && !worker.depth.offload {
        return (depth, BatchMap::default(), BatchMap::default());
    }
    let mut batches = BatchMap {
        calls,
        ..BatchMap::default()
    };
    batches.slots[1] = calls;
    (depth, batches, batches)
}

/// CPU cost as the document holds it.
pub fn usage(usage: &sys::process::Usage) -> Usage {
    Usage {
        user_us: usage.user_us,
        system_us: usage.system_us,
        context_switches: usage.context_switches,
        major_faults: usage.major_faults,
        minor_faults: usage.minor_faults,
    }
}
