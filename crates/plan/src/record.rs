//! What is recorded and how it is reported: latency classes, windows, percentiles, log files.

use crate::error::Fault;
use crate::guard;
use crate::job::Job;
use crate::model::{Clock, Logs, Measured, Target, TargetKind};
use host::Facts;
use result::{Reporting, Unified};
use spec::kinds::{
    ClockSource, ContinueOn, IgnoreErrors, LogValue, Unified as UnifiedWord, UnitBase, ZoneMode,
};
use std::path::PathBuf;

/// Bytes of samples that are compressed together where `log_compression` does not say.
const PACKED_BYTES: u32 = 256 << 10;
/// Decimals that percentiles are printed with at least.
const MIN_PRECISION: usize = 2;

/// Settings that only change reports.
pub(crate) fn reporting(job: &Job<'_>) -> Reporting {
    let (identity, measure) = (&job.options.identity, &job.options.measure);
    let mut percentiles = measure.percentile_list.values.clone();
    percentiles.sort_by(f64::total_cmp);
    let sync = job.caps.sync_at(job.depth.iodepth);
    Reporting {
        grouped: job.options.process.group_reporting,
        unified: match identity.unified_rw_reporting {
            UnifiedWord::None => Unified::Separate,
            UnifiedWord::Mixed => Unified::Mixed,
            UnifiedWord::Both => Unified::Both,
        },
        kb_base: identity.kb_base.factor(),
        unit_base: match identity.unit_base {
            UnitBase::Auto if job.caps.bits => 1,
            UnitBase::Auto => 0,
            UnitBase::Bytes => 8,
            UnitBase::Bits => 1,
        },
        significant_figures: identity.significant_figures,
        percentiles,
        percentile_precision: measure.percentile_list.decimals.max(MIN_PRECISION) as u32,
        slat_percentiles: measure.slat_percentiles && job.slat,
        clat_percentiles: measure.clat_percentiles && !measure.disable_clat,
        lat_percentiles: measure.lat_percentiles && !measure.disable_lat,
        has_slat: job.slat && !sync,
        has_clat: !measure.disable_clat,
        has_lat: !measure.disable_lat,
        shown: measure.stats,
        continues_on_error: job.options.faults.continue_on_error != ContinueOn::None
            || job.options.faults.ignore_error != IgnoreErrors::default(),
        zoned: job.options.zone.zonemode == ZoneMode::Zbd,
    }
}

/// What workers record.
pub(crate) fn measured(job: &Job<'_>, kept: bool) -> Measured {
    let measure = &job.options.measure;
    // A log without its own window samples at the log's pace, as in fio.
    let window = |log: bool, set: &str, own_ns: u64| {
        let follows = log && !job.options.was_set(set);
        if follows {
            measure.log_avg_msec.ns()
        } else {
            own_ns
        }
    };
    Measured {
        slat: job.slat,
        clat: !measure.disable_clat,
        lat: !measure.disable_lat,
        samples: !measure.disable_bw_measurement,
        bw_window_ns: window(
            measure.write_bw_log.is_some(),
            "bwavgtime",
            measure.bwavgtime.ns(),
        ),
        iops_window_ns: window(
            measure.write_iops_log.is_some(),
            "iopsavgtime",
            measure.iopsavgtime.ns(),
        ),
        reduced: measure.gtod_reduce,
        disks: measure.disk_util && !job.caps.diskless,
        start_clock: measure.job_start_clock_id,
        clock: measure
            .clocksource
            .map(|clock| match clock {
                ClockSource::Cpu => Clock::Cpu,
                ClockSource::ClockGettime => Clock::ClockGettime,
                ClockSource::Gettimeofday => Clock::Gettimeofday,
            })
            .or(kept.then_some(Clock::Kept)),
    }
}

/// Looks at the files that the logs of a worker with `targets` go to.
pub(crate) fn check_logs(facts: &Facts, logs: &Logs, targets: &[Target]) -> Result<(), Fault> {
    for path in logs.paths() {
        guard::output(facts, path)?;
        let mut files = targets
            .iter()
            .filter(|target| target.kind == TargetKind::File);
        if files.any(|target| guard::is_same_file(path, &target.path)) {
            return Err(Fault::Path {
                path: path.clone(),
                reason: "is a target of the job; its log needs another file".to_owned(),
            });
        }
    }
    Ok(())
}

/// Names of the log files of the worker with thread number `number`.
pub(crate) fn logs(job: &Job<'_>, number: u32) -> Logs {
    let measure = &job.options.measure;
    let ending = if measure.log_store_compressed {
        "log.fz"
    } else {
        "log"
    };
    let name = |prefix: &Option<String>, kind: &str| {
        let prefix = prefix.as_deref()?;
        let prefix = if prefix.is_empty() { job.name } else { prefix };
        Some(PathBuf::from(if measure.per_job_logs {
            format!("{prefix}_{kind}.{number}.{ending}")
        } else {
            format!("{prefix}_{kind}.{ending}")
        }))
    };
    let latency =
        |kind: &str, disabled: bool| name(&measure.write_lat_log, kind).filter(|_| !disabled);
    Logs {
        bw: name(&measure.write_bw_log, "bw"),
        iops: name(&measure.write_iops_log, "iops"),
        lat: latency("lat", measure.disable_lat),
        slat: latency("slat", !job.slat),
        clat: latency("clat", measure.disable_clat),
        hist: name(&measure.write_hist_log, "clat_hist"),
        iolog: match &job.options.replay {
            replay if replay.read_iolog.is_some() => None,
            replay => replay.write_iolog.as_ref().map(PathBuf::from),
        },
        window_ns: measure.log_avg_msec.ns(),
        hist_window_ns: measure.log_hist_msec.ns(),
        hist_coarseness: measure.log_hist_coarseness,
        log_max: measure.log_window_value != LogValue::Average,
        log_mean: measure.log_window_value != LogValue::Max,
        offsets: measure.log_offset,
        append: !measure.per_job_logs,
        epoch: match (measure.log_alternate_epoch, measure.log_unix_epoch) {
            (_, true) => Some(0),
            (true, false) => Some(measure.log_alternate_epoch_clock_id),
            (false, false) => None,
        },
        priority: measure.log_prio,
        issue_time: measure.log_issue_time,
        packed: measure
            .log_store_compressed
            .then(|| measure.log_compression.unwrap_or(PACKED_BYTES)),
        cpus: measure
            .log_compression_cpus
            .as_ref()
            .map_or_else(Vec::new, |cpus| cpus.0.clone()),
        entries: measure.log_entries,
    }
}
