//! Times without a single completion, which means hide.

use crate::Evidence;
use crate::job::{Workers, crowded, jobs, main_direction, word};
use crate::say::{With, finding, time};
use result::{Finding, Severity};

/// A single I/O that took this long is a stall by itself.
const LONG_NS: u64 = 1_000_000_000;
/// The same on a machine whose CPUs others keep busy.
const CROWDED_NS: u64 = 5_000_000_000;

/// Slower jobs have seconds without a completion of their own.
const LEAST_RATE: f64 = 10.0;
/// And so many times the mean.
const TIMES_MEAN: f64 = 5.0;

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let least = if crowded(evidence) {
        CROWDED_NS
    } else {
        LONG_NS
    };
    for job in jobs(evidence).iter().filter(|job| !job.setup.paced) {
        let worst = job
            .list
            .iter()
            .filter_map(|worker| main_direction(worker))
            .max_by_key(|(_, dir)| dir.clat.moments.max);
        let Some((ddir, dir)) = worst else { continue };
        let longest = dir.clat.moments.max;
        if let Some(one) = silence(job, least) {
            found.push(one);
            continue;
        }
        // Where all I/Os are slow, a slow one is no stall.
        if longest < least || (longest as f64) < TIMES_MEAN * dir.clat.moments.mean() {
            continue;
        }
        let text = format!(
            "{}: {} stalled: one of them took {}, against {} on average",
            job.name,
            word(ddir),
            time(longest),
            time(dir.clat.moments.mean() as u64)
        );
        let advice = "look at the series (write_lat_log), the device's health, and other users";
        found.push(
            finding("stall", Severity::Warning, text, advice)
                .count("longest_ns", longest)
                .number("mean_ns", dir.clat.moments.mean()),
        );
    }
    found
}

/// Intervals in which nothing was completed.
fn silence(job: &Workers<'_>, least_ns: u64) -> Option<Finding> {
    let (points, interval_ms) = job.series()?;
    let silent = points.iter().filter(|rate| **rate == 0.0).count();
    let moved = points.len() - silent;
    let mean = points.iter().sum::<f64>() / moved.max(1) as f64;
    // More silence than work, or a few I/Os a second, are another kind of job.
    if silent == 0 || silent > moved || mean < LEAST_RATE {
        return None;
    }
    let seconds = |n: usize| n as f64 * interval_ms as f64 / 1000.0;
    let longest = points.split(|rate| *rate > 0.0).map(<[f64]>::len).max()?;
    if seconds(longest) * 1e9 < least_ns as f64 {
        return None;
    }
    let text = format!(
        "{}: nothing was completed in {:.0} of {:.0} s, for {:.0} s on end",
        job.name,
        seconds(silent),
        seconds(points.len()),
        seconds(longest)
    );
    let advice = "look at the series (write_lat_log), the device's health, and other users";
    Some(
        finding("stall", Severity::Warning, text, advice)
            .number("silent_s", seconds(silent))
            .number("longest_s", seconds(longest)),
    )
}
