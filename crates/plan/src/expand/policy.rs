//! When a worker ends: errors, limits, steadiness, and what follows.

use crate::job::Job;
use crate::model::{ErrorPolicy, ExitScope, Lifecycle, Steady};
use result::{LatencyTarget, SteadyMetric};
use spec::kinds::{self, ContinueOn, ExitWhat};

/// errno values that `continue_on_error` passes over: EIO and EILSEQ.
const NON_FATAL: [i32; 2] = [5, 84];

pub(super) fn error_policy(job: &Job<'_>) -> ErrorPolicy {
    let faults = &job.options.faults;
    let (read, write, verify) = match faults.continue_on_error {
        ContinueOn::None => (false, false, false),
        ContinueOn::Read => (true, false, false),
        ContinueOn::Write => (false, true, false),
        ContinueOn::Io => (true, true, false),
        ContinueOn::Verify => (false, false, true),
        ContinueOn::All => (true, true, true),
    };
    // A list of one's own replaces the usual one and needs no continue_on_error.
    let passed_over = |continues: bool, own: &[i32]| match (own, continues) {
        ([], false) => Vec::new(),
        ([], true) => NON_FATAL.to_vec(),
        (own, _) => own.to_vec(),
    };
    let own = &faults.ignore_error;
    ErrorPolicy {
        passed_over: [
            passed_over(read, &own.read),
            passed_over(write, &own.write),
            passed_over(verify, &own.verify),
        ],
        verify_fatal: job.options.verify.verify_fatal,
        dump: faults.error_dump,
    }
}

pub(super) fn lifecycle(job: &Job<'_>) -> Lifecycle {
    let (process, target) = (&job.options.process, &job.options.target);
    Lifecycle {
        create_only: target.create_only,
        end_fsync: job.options.io.end_fsync,
        end_syncfs: job.options.io.end_syncfs,
        fsync_on_close: job.options.io.fsync_on_close,
        unlink: target.unlink,
        unlink_each_loop: target.unlink_each_loop,
        exitall: process.exitall.then_some(match process.exit_what {
            ExitWhat::Group => ExitScope::Group,
            ExitWhat::Stonewall => ExitScope::Stage,
            ExitWhat::All => ExitScope::All,
        }),
        exitall_on_error: job.options.faults.exitall_on_error,
        prerun: process.exec_prerun.clone(),
        postrun: process.exec_postrun.clone(),
    }
}

/// The table and its checks see to it that the window is a multiple of the interval.
pub(super) fn steady(job: &Job<'_>) -> Option<Steady> {
    let steady = &job.options.steady;
    let interval_ns = steady.steadystate_check_interval.ns();
    let samples = steady.steadystate_duration.ns().checked_div(interval_ns)?;
    let (metric, by_slope) = match steady.steadystate.metric {
        kinds::SteadyMetric::Iops => (SteadyMetric::Iops, false),
        kinds::SteadyMetric::IopsSlope => (SteadyMetric::Iops, true),
        kinds::SteadyMetric::Bw => (SteadyMetric::Bandwidth, false),
        kinds::SteadyMetric::BwSlope => (SteadyMetric::Bandwidth, true),
        kinds::SteadyMetric::Lat => (SteadyMetric::Latency, false),
        kinds::SteadyMetric::LatSlope => (SteadyMetric::Latency, true),
    };
    (samples > 0).then_some(Steady {
        metric,
        by_slope,
        limit: steady.steadystate.limit,
        percent: steady.steadystate.percent,
        samples,
        ramp_ns: steady.steadystate_ramp_time.ns(),
        interval_ns,
    })
}

pub(super) fn latency_target(job: &Job<'_>) -> LatencyTarget {
    let pace = &job.options.pace;
    LatencyTarget {
        target_ns: pace.latency_target.ns(),
        window_ns: pace.latency_window.ns(),
        percentile: pace.latency_percentile,
        depth: job.options.queue.iodepth,
    }
}
