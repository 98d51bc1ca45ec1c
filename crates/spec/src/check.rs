//! Contradictions that show in the words alone, without a look at files or devices.

use crate::kinds::SteadyMetric;
use crate::model::{Job, Spec};
use crate::options::Options;
use crate::place::Diagnostic;
use units::Ddir;

/// A header moved by less than its own size would overlap where it was.
const LEAST_VERIFY_OFFSET: u32 = 40;

/// fio's reports have room for this many percentiles.
const MAX_PERCENTILES: usize = 20;

/// Everything that is wrong or doubtful about the jobs.
pub fn check(spec: &Spec) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (at, job) in spec.jobs.iter().enumerate() {
        let mut error = |text: &str| {
            let text = format!("job `{}`: {text}", job.name);
            found.push(Diagnostic::error(Some(job.place.clone()), text));
        };
        let o = &job.options;
        let mode = o.io.rw.mode;
        if spec.switches.readonly && (mode.writes() || mode.trims()) {
            error("trim and write operations are not allowed with the --readonly parameter");
        }
        rates(o, &mut error);
        if !o.pace.latency_target.is_zero() && o.pace.latency_window.is_zero() {
            error("latency_target needs a latency_window to judge by");
        }
        steady(o, &spec.jobs[..at], &mut error);
        if !o.extent.ramp_time.is_zero() && o.extent.ramp_size > 0 {
            error("ramp_time and ramp_size exclude each other");
        }
        if o.measure.percentile_list.values.len() > MAX_PERCENTILES {
            error("percentile_list takes at most 20 values");
        }
        if let Some(name) = &o.process.wait_for
            && !spec.jobs[..at].iter().any(|earlier| earlier.name == *name)
        {
            error(&format!("wait_for={name}: no earlier job has this name"));
        }
        if (1..LEAST_VERIFY_OFFSET).contains(&o.verify.verify_offset) {
            error("verify_offset must be 40 at least, the size of a header");
        }
        if o.was_set("prio") && o.process.prioclass == Some(0) {
            error("prio needs a prioclass of 1 or 2");
        }
        found.extend(doubts(job));
    }
    found
}

fn rates(o: &Options, error: &mut impl FnMut(&str)) {
    let limited = |ddir: Ddir| o.pace.rate[ddir] > 0;
    let counted = |ddir: Ddir| o.pace.rate_iops[ddir] > 0;
    if Ddir::DATA.into_iter().any(limited) && Ddir::DATA.into_iter().any(counted) {
        error("rate and rate_iops exclude each other");
    }
    let least = |ddir: Ddir| o.pace.rate_min[ddir] > 0;
    let least_counted = |ddir: Ddir| o.pace.rate_iops_min[ddir] > 0;
    if Ddir::DATA.into_iter().any(least) && Ddir::DATA.into_iter().any(least_counted) {
        error("rate_min and rate_iops_min exclude each other");
    }
    for ddir in Ddir::DATA {
        if limited(ddir) && o.pace.rate_min[ddir] > o.pace.rate[ddir] {
            error("rate_min is greater than rate");
        }
        if counted(ddir) && o.pace.rate_iops_min[ddir] > o.pace.rate_iops[ddir] {
            error("rate_iops_min is greater than rate_iops");
        }
    }
}

fn steady(o: &Options, earlier: &[Job], error: &mut impl FnMut(&str)) {
    let steady = &o.steady;
    if steady.steadystate_duration.is_zero() {
        return;
    }
    let (window, interval) = (
        steady.steadystate_duration,
        steady.steadystate_check_interval,
    );
    if interval.ms() < 1000 {
        error("steadystate_check_interval must be at least 1s");
    } else if window <= interval || window.ns() % interval.ns() != 0 {
        error(&format!(
            "steadystate_duration={window} must be a multiple of \
             steadystate_check_interval={interval}, and more than one"
        ));
    }
    let mut others = earlier.iter().map(|job| &job.options.steady);
    if others.any(|other| other.steadystate_check_interval != interval) {
        error("steadystate_check_interval must be the same for all jobs");
    }
    if o.measure.gtod_reduce
        && matches!(
            steady.steadystate.metric,
            SteadyMetric::Lat | SteadyMetric::LatSlope
        )
    {
        error("steadystate of latencies needs latencies, which gtod_reduce=1 leaves out");
    }
}

fn doubts(job: &Job) -> Vec<Diagnostic> {
    let o = &job.options;
    let mut found = Vec::new();
    let mut doubt = |text: &str| {
        let text = format!("job `{}`: {text}", job.name);
        found.push(Diagnostic::warning(Some(job.place.clone()), text));
    };
    if o.extent.time_based && o.extent.runtime.is_zero() {
        doubt("time_based needs a runtime; without one it has no effect");
    }
    if o.queue.iodepth_low.is_some_and(|low| low > o.queue.iodepth) {
        doubt("iodepth_low is greater than iodepth; iodepth is used");
    }
    if !o.extent.runtime.is_zero() && o.pace.thinktime > o.extent.runtime {
        doubt("thinktime is longer than runtime");
    }
    found
}
