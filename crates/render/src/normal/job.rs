//! One block: a worker, or the workers of a group folded into one.

use super::{header, latency, put};
use crate::figures;
use measure::Samples;
use result::{Direction, GroupTotal, Job, PriorityLatency, Run, Steady, SteadyMetric, Unified};
use std::fmt::Write;
use units::{Ddir, Human, PerDdir};

/// Appends the block of `job`; nothing when it did nothing at all.
pub(super) fn show(out: &mut String, job: &Job, totals: PerDdir<Option<GroupTotal>>, run: &Run) {
    let ios = figures::issued(job);
    if ios == 0 && job.dirs.iter().all(|(_, dir)| dir.bytes == 0) {
        return;
    }
    out.push_str(&header(job, run));
    if let Some(text) = job.description.as_ref().filter(|text| !text.is_empty()) {
        put!(out, "  Description  : [{text}]\n");
    }
    for (ddir, dir) in job.dirs.iter().filter(|(_, dir)| dir.bytes > 0) {
        let word = figures::direction_word(job, ddir);
        direction(
            out,
            job,
            word,
            ddir == Ddir::Read,
            dir,
            totals[ddir].as_ref(),
        );
    }
    if job.reporting.unified == Unified::Both {
        let all = result::merge::mixed(job);
        direction(out, job, "mixed", true, &all, totals[Ddir::Read].as_ref());
    }
    latency::shares(out, &figures::latency_shares(&job.coarse, ios));
    sync(out, job);
    cost(out, job);
    depths(out, job, ios);
    totals_and_errors(out, job);
    target(out, job);
    // Block lifetime percentiles belong here.
    if let Some(steady) = &job.steady {
        steady_state(out, job, steady);
    }
}

/// fio takes the mean for kilobytes of either family, so that one of the two rates is off by the
/// difference between them; so do we.
fn steady_state(out: &mut String, job: &Job, steady: &Steady) {
    let how = &job.reporting;
    let figures_shown = how.significant_figures;
    let rate = Human::rate(figures_shown, how.kb_base, how.unit_base);
    let kilos = Steady::mean(&steady.bytes_per_s) / u64::from(how.kb_base);
    let other = if how.kb_base.is_power_of_two() {
        1000
    } else {
        1024
    };
    let number = Human::number(figures_shown);
    let latency = match steady.metric {
        SteadyMetric::Latency => {
            format!(", lat={}nsec", number.show(Steady::mean(&steady.lat_ns)))
        }
        SteadyMetric::Iops | SteadyMetric::Bandwidth => String::new(),
    };
    put!(
        out,
        "  steadystate  : attained={}, bw={} ({}), iops={}{latency}, {}{}={:.3}{}\n",
        if steady.attained { "yes" } else { "no" },
        rate.show(kilos * u64::from(how.kb_base)),
        rate.other_family().show(kilos * other),
        number.show(Steady::mean(&steady.iops)),
        figures::steady_metric(steady.metric),
        if steady.by_slope {
            " slope"
        } else {
            " mean dev"
        },
        steady.criterion,
        if steady.percent { "%" } else { "" },
    );
}

fn direction(
    out: &mut String,
    job: &Job,
    word: &str,
    reads: bool,
    dir: &Direction,
    total: Option<&GroupTotal>,
) {
    if dir.runtime_ms == 0 {
        return;
    }
    let how = &job.reporting;
    let figures_shown = how.significant_figures;
    let rate = Human::rate(figures_shown, how.kb_base, how.unit_base);
    let bytes_per_s = figures::rate(dir);
    put!(
        out,
        "  {word}: IOPS={}, BW={} ({})({}/{}msec){}\n",
        Human::number(figures_shown).show(figures::per_second(dir.issued, dir.runtime_ms)),
        rate.show(bytes_per_s),
        rate.other_family().show(bytes_per_s),
        Human::bytes(figures_shown, how.kb_base).show(dir.bytes),
        dir.runtime_ms,
        tail(job, reads, dir),
    );
    latency::line(out, "slat", &dir.slat.moments);
    latency::line(out, "clat", &dir.clat.moments);
    latency::line(out, " lat", &dir.lat.moments);
    let several = figures::priorities(dir);
    let name = if how.lat_percentiles { "lat" } else { "clat" };
    for of in &several {
        let name = format!("{name} prio {}/{}/{}", of.class, of.level, of.hint);
        latency::line(out, &name, &of.latency.moments);
    }
    let classes = [
        (how.slat_percentiles, "slat", &dir.slat),
        (how.clat_percentiles, "clat", &dir.clat),
        (how.lat_percentiles, "lat", &dir.lat),
    ];
    for (_, name, class) in classes.into_iter().filter(|(wanted, _, _)| *wanted) {
        latency::percentiles(out, name, class, &how.percentiles, how.percentile_precision);
    }
    if how.clat_percentiles || how.lat_percentiles {
        let count = |of: &PriorityLatency| of.latency.moments.n as f64;
        let all: f64 = several.iter().map(|of| count(of)).sum();
        for of in &several {
            let share = 100.0 * count(of) / all;
            let name = format!(
                "{name} prio {}/{}/{} ({share:.2}% of IOs)",
                of.class, of.level, of.hint
            );
            let (list, precision) = (&how.percentiles, how.percentile_precision);
            latency::percentiles(out, &name, &of.latency, list, precision);
        }
    }
    bandwidth(
        out,
        &dir.bw,
        how.kb_base,
        figures::share_of_group(&dir.bw, total),
    );
    iops(out, &dir.iops);
}

/// What follows the run time on the line of a direction.
fn tail(job: &Job, reads: bool, dir: &Direction) -> String {
    if job.reporting.zoned {
        return format!("; {} zone resets", job.zone_resets);
    }
    match (dir.cache_hits, figures::cache_hit_percent(dir)) {
        (Some((1.., 1..)), Some(percent)) if reads => format!("; Cachehit={percent:.2}%"),
        _ => String::new(),
    }
}

/// The sampled bandwidth. fio knows no bits here, and calls 1000 kB a MiB; so do we.
fn bandwidth(out: &mut String, bw: &Samples, kb_base: u32, percent: f64) {
    if bw.n == 0 {
        return;
    }
    let base = f64::from(kb_base);
    let large = bw.mean > base * base;
    let scale = if large { base } else { 1.0 };
    let unit = match (large, kb_base.is_power_of_two()) {
        (true, _) => "MiB",
        (false, true) => "KiB",
        (false, false) => "kB",
    };
    put!(
        out,
        "   bw ({unit:>5}/s): min={:5}, max={:5}, per={percent:3.2}%, avg={:5.2}, stdev={:5.2}, \
         samples={}\n",
        (bw.min as f64 / scale) as u64,
        (bw.max as f64 / scale) as u64,
        bw.mean / scale,
        bw.stddev() / scale,
        bw.n,
    );
}

fn iops(out: &mut String, iops: &Samples) {
    if iops.n == 0 {
        return;
    }
    put!(
        out,
        "   iops        : min={:5}, max={:5}, avg={:5.2}, stdev={:5.2}, samples={}\n",
        iops.min,
        iops.max,
        iops.mean,
        iops.stddev(),
        iops.n,
    );
}

fn sync(out: &mut String, job: &Job) {
    if job.sync.lat.moments.n == 0 {
        return;
    }
    let how = &job.reporting;
    out.push_str("  fsync/fdatasync/sync_file_range/syncfs:\n");
    latency::line(out, "sync", &job.sync.lat.moments);
    latency::percentiles(
        out,
        "sync",
        &job.sync.lat,
        &how.percentiles,
        how.percentile_precision,
    );
}

fn cost(out: &mut String, job: &Job) {
    let (user, system) = figures::cpu_percent(job);
    put!(
        out,
        "  cpu          : usr={user:3.2}%, sys={system:3.2}%, ctx={}, majf={}, minf={}\n",
        job.usage.context_switches,
        job.usage.major_faults,
        job.usage.minor_faults,
    );
}

fn depths(out: &mut String, job: &Job, ios: u64) {
    const DEPTHS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
    const BATCHES: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];
    let row = |labels: [&str; 7], shares: [f64; 7]| {
        let entries: Vec<String> = labels
            .iter()
            .zip(shares)
            .map(|(label, share)| format!("{label}={share:3.1}%"))
            .collect();
        entries.join(", ")
    };
    put!(
        out,
        "  IO depths    : {}\n",
        row(DEPTHS, figures::depth_shares(&job.depth, ios))
    );
    put!(
        out,
        "     submit    : {}\n",
        row(BATCHES, figures::batch_shares(&job.submit))
    );
    put!(
        out,
        "     complete  : {}\n",
        row(BATCHES, figures::batch_shares(&job.complete))
    );
}

fn totals_and_errors(out: &mut String, job: &Job) {
    let PerDdir([read, write, trim]) = &job.dirs;
    put!(
        out,
        "     issued rwts: total={},{},{},{} short={},{},{},0 dropped={},{},{},0\n",
        read.issued,
        write.issued,
        trim.issued,
        job.sync.ios,
        read.short,
        write.short,
        trim.short,
        read.dropped,
        write.dropped,
        trim.dropped,
    );
    if job.reporting.continues_on_error {
        put!(
            out,
            "     errors    : total={}, first_error={}/<{}>\n",
            job.total_errors,
            job.first_error,
            figures::errno_text(job.first_error),
        );
    }
}

/// Always there, with target 0 when none was set, because the depth defaults to `iodepth`.
fn target(out: &mut String, job: &Job) {
    let target = &job.target;
    if target.depth == 0 {
        return;
    }
    put!(
        out,
        "     latency   : target={}, window={}, percentile={:.2}%, depth={}\n",
        scaled_ns(target.target_ns),
        scaled_ns(target.window_ns),
        target.percentile,
        target.depth,
    );
}

fn scaled_ns(ns: u64) -> String {
    let (divisor, unit) = match ns {
        0..2_000 => (1.0, "ns"),
        2_000..2_000_000 => (1e3, "us"),
        2_000_000..2_000_000_000 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{:.2}{unit}", ns as f64 / divisor)
}
