//! One element of `jobs`.

use super::put_options;
use super::tree::{Object, Value};
use crate::figures;
use measure::Latency;
use result::{Direction, GroupTotal, Job, PriorityLatency, Run, Steady, SteadyMetric, Unified};
use units::{Ddir, PerDdir};

/// `eta` while a run is too short to estimate anything (`INT_MAX`).
const ETA_UNKNOWN: u64 = 2_147_483_647;
/// Runs shorter than this many seconds have no estimate.
const ETA_FROM_S: u64 = 3;

/// What all elements share: seconds since the start of the run, and estimated seconds left.
pub(super) struct Clock {
    elapsed_s: u64,
    eta_s: u64,
}

impl Clock {
    pub(super) fn of(run: &Run) -> Self {
        let elapsed_s = run.jobs.iter().map(|job| job.elapsed_s).max().unwrap_or(0);
        let eta_s = if elapsed_s < ETA_FROM_S {
            ETA_UNKNOWN
        } else {
            run.eta_s
        };
        Clock { elapsed_s, eta_s }
    }
}

pub(super) fn object(
    job: &Job,
    totals: &PerDdir<Option<GroupTotal>>,
    clock: &Clock,
    plus: bool,
) -> Object {
    let mut root = Object::default();
    root.put("jobname", job.name.as_str());
    root.put("groupid", job.group);
    root.put("job_start", job.started_ms);
    root.put("error", figures::error_of(job));
    root.put("eta", clock.eta_s);
    root.put("elapsed", clock.elapsed_s);
    put_options(&mut root, "job options", &job.options);
    put_directions(&mut root, job, totals, plus);
    let (user, system) = figures::cpu_percent(job);
    root.put("job_runtime", job.runtime_ms);
    root.put("usr_cpu", user);
    root.put("sys_cpu", system);
    root.put("ctx", job.usage.context_switches);
    root.put("majf", job.usage.major_faults);
    root.put("minf", job.usage.minor_faults);
    put_shares(&mut root, job);
    if job.reporting.continues_on_error {
        root.put("total_err", job.total_errors);
        root.put("first_error", job.first_error);
    }
    put_target(&mut root, job);
    if let Some(text) = job.description.as_ref().filter(|text| !text.is_empty()) {
        root.put("desc", text.as_str());
    }
    // `block` (trim lifetimes) belongs here.
    if let Some(steady) = &job.steady {
        root.put("steadystate", steady_state(steady));
    }
    if job.reporting.zoned {
        root.put("zone_resets", job.zone_resets);
    }
    root
}

fn put_directions(root: &mut Object, job: &Job, totals: &PerDdir<Option<GroupTotal>>, plus: bool) {
    let object = |dir, ddir| direction(job, dir, totals[ddir].as_ref(), plus);
    match job.reporting.unified {
        Unified::Mixed => root.put("mixed", object(&job.dirs[Ddir::Read], Ddir::Read)),
        Unified::Separate | Unified::Both => {
            for (ddir, dir) in job.dirs.iter() {
                root.put(ddir.name(), object(dir, ddir));
            }
            let mut sync = Object::default();
            sync.put("total_ios", job.sync.ios);
            let wanted = job.reporting.lat_percentiles || job.reporting.clat_percentiles;
            sync.put("lat_ns", latency(job, &job.sync.lat, wanted, plus));
            root.put("sync", sync);
        }
    }
    if job.reporting.unified == Unified::Both {
        root.put("mixed", object(&result::merge::mixed(job), Ddir::Read));
    }
}

fn direction(job: &Job, dir: &Direction, total: Option<&GroupTotal>, plus: bool) -> Object {
    let how = &job.reporting;
    let bytes_per_s = figures::rate(dir);
    let iops = if dir.runtime_ms == 0 {
        0.0
    } else {
        1000.0 * dir.issued as f64 / dir.runtime_ms as f64
    };
    let mut object = Object::default();
    object.put("io_bytes", dir.bytes);
    object.put("io_kbytes", dir.bytes >> 10);
    object.put("bw_bytes", bytes_per_s);
    object.put("bw", bytes_per_s / 1024);
    object.put("iops", iops);
    object.put("runtime", dir.runtime_ms);
    object.put("total_ios", dir.issued);
    object.put("short_ios", dir.short);
    object.put("drop_ios", dir.dropped);
    object.put(
        "slat_ns",
        latency(job, &dir.slat, how.slat_percentiles, plus),
    );
    object.put(
        "clat_ns",
        latency(job, &dir.clat, how.clat_percentiles, plus),
    );
    object.put("lat_ns", latency(job, &dir.lat, how.lat_percentiles, plus));
    // Not fio's: only there where a rate says when a request should have started.
    if let Some(late) = &dir.lat_intended {
        object.put("lat_intended_ns", latency(job, late, true, plus));
    }
    let several = figures::priorities(dir);
    if !several.is_empty() {
        let (name, wanted) = match how.lat_percentiles {
            true => ("lat_ns", true),
            false => ("clat_ns", how.clat_percentiles),
        };
        let one = |of: &PriorityLatency| {
            let mut object = Object::default();
            object.put("prioclass", u32::from(of.class));
            object.put("prio", u32::from(of.level));
            object.put("priohint", u32::from(of.hint));
            object.put(name, latency(job, &of.latency, wanted, plus));
            Value::from(object)
        };
        object.put("prios", several.into_iter().map(one).collect::<Vec<_>>());
    }
    let share = if dir.bw.n == 0 {
        0.0
    } else {
        figures::share_of_group(&dir.bw, total)
    };
    object.put("bw_min", dir.bw.min);
    object.put("bw_max", dir.bw.max);
    object.put("bw_agg", share);
    object.put("bw_mean", dir.bw.mean);
    object.put("bw_dev", dir.bw.stddev());
    object.put("bw_samples", dir.bw.n);
    object.put("iops_min", dir.iops.min);
    object.put("iops_max", dir.iops.max);
    object.put("iops_mean", dir.iops.mean);
    object.put("iops_stddev", dir.iops.stddev());
    object.put("iops_samples", dir.iops.n);
    if let Some(percent) = figures::cache_hit_percent(dir) {
        object.put("cachehit", percent);
    }
    object
}

fn latency(job: &Job, class: &Latency, percentiles: bool, plus: bool) -> Object {
    let moments = &class.moments;
    let mut object = Object::default();
    object.put("min", moments.min());
    object.put("max", moments.max);
    object.put("mean", moments.mean());
    object.put("stddev", moments.stddev());
    object.put("N", moments.n);
    let Some(histogram) = class
        .histogram
        .as_ref()
        .filter(|_| percentiles && moments.n > 0)
    else {
        return object;
    };
    let list = &job.reporting.percentiles;
    let values = histogram.percentiles(list);
    let pairs = list
        .iter()
        .zip(values)
        .map(|(percent, value)| (format!("{percent:.6}"), value));
    object.put("percentile", Object::of(pairs));
    if plus {
        let bins = histogram
            .occupied()
            .map(|(value, count)| (value.to_string(), count));
        object.put("bins", Object::of(bins));
    }
    object
}

fn put_shares(root: &mut Object, job: &Job) {
    const DEPTHS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
    const BATCHES: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];
    const LATENCIES: [&str; 12] = [
        "2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000",
    ];
    let ios = figures::issued(job);
    let batches = |map| Object::of(BATCHES.into_iter().zip(figures::batch_shares(map)));
    let depths = figures::depth_shares(&job.depth, ios);
    root.put("iodepth_level", Object::of(DEPTHS.into_iter().zip(depths)));
    root.put("iodepth_submit", batches(&job.submit));
    root.put("iodepth_complete", batches(&job.complete));
    let shares = figures::latency_shares(&job.coarse, ios);
    root.put(
        "latency_ns",
        Object::of(LATENCIES.into_iter().zip(shares.ns)),
    );
    root.put(
        "latency_us",
        Object::of(LATENCIES.into_iter().zip(shares.us)),
    );
    root.put(
        "latency_ms",
        Object::of(LATENCIES.into_iter().zip(shares.ms)),
    );
}

fn steady_state(steady: &Steady) -> Object {
    let unit = if steady.percent { "%" } else { "" };
    let slope = if steady.by_slope { "_slope" } else { "" };
    let metric = figures::steady_metric(steady.metric);
    let numbers = |values: &[u64]| values.iter().map(|n| Value::from(*n)).collect::<Vec<_>>();
    let mut data = Object::default();
    data.put("bw_mean", Steady::mean(&steady.bytes_per_s));
    data.put("iops_mean", Steady::mean(&steady.iops));
    if steady.metric == SteadyMetric::Latency {
        data.put("lat_mean", Steady::mean(&steady.lat_ns));
        data.put("lat_ns", numbers(&steady.lat_ns));
    }
    data.put("iops", numbers(&steady.iops));
    data.put("bw", numbers(&steady.bytes_per_s));
    let mut object = Object::default();
    object.put("ss", &*format!("{metric}{slope}:{:.6}{unit}", steady.limit));
    object.put("duration", steady.duration_s);
    object.put("attained", u32::from(steady.attained));
    object.put("criterion", &*format!("{:.6}{unit}", steady.criterion));
    object.put("max_deviation", steady.deviation);
    object.put("slope", steady.slope);
    object.put("data", data);
    object
}

/// The target in nanoseconds and the window in microseconds, each under its old and its new name.
fn put_target(root: &mut Object, job: &Job) {
    let target = &job.target;
    if target.depth == 0 {
        return;
    }
    root.put("latency_depth", target.depth);
    root.put("latency_target", target.target_ns);
    root.put("latency_target_ns", target.target_ns);
    root.put("latency_percentile", target.percentile);
    root.put("latency_window", target.window_ns / 1000);
    root.put("latency_window_us", target.window_ns / 1000);
}
