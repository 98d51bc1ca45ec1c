//! A step in the series: the figure is the mean of two speeds.

use crate::Evidence;
use crate::job::jobs;
use crate::say::{With, finding, grouped};
use result::{Finding, Severity};

/// Fewest points that are looked at, and on either side of a step.
const LEAST_POINTS: usize = 20;
const LEAST_SIDE: usize = 5;
/// The slower speed is at most so much of the faster one, percent.
const STEP_PERCENT: f64 = 70.0;
/// The step is so many times the spread about the two levels.
const SPREADS: f64 = 3.0;

/// Two levels and where one becomes the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step {
    pub at: usize,
    pub before: f64,
    pub after: f64,
}

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for job in jobs(evidence).iter().filter(|job| !job.setup.paced) {
        let Some((points, interval_ms)) = job.series() else {
            continue;
        };
        let Some(step) = step(&points) else { continue };
        let seconds = (step.at + 1) as f64 * interval_ms as f64 / 1000.0;
        let (before, after) = (step.before.round() as u64, step.after.round() as u64);
        let (verb, cause) = match after < before {
            true => (
                "fell",
                "burst credits, a fast part of the drive (SLC), or its temperature came to an end",
            ),
            false => ("rose", "a cache was warm, or another user had gone"),
        };
        let text = format!(
            "{}: the rate {verb} from {} to {} a second after {seconds:.0} s, so its mean is that \
             of neither: {cause}",
            job.name,
            grouped(before),
            grouped(after)
        );
        let advice = "run longer, leave the first part out with ramp_time, and quote both levels";
        found.push(
            finding("speed-changed", Severity::Warning, text, advice)
                .number("after_s", seconds)
                .number("before_per_s", step.before)
                .number("after_per_s", step.after),
        );
    }
    found
}

/// The split into two levels with the least squared error, where it is a step.
pub(crate) fn step(points: &[f64]) -> Option<Step> {
    let n = points.len();
    if n < LEAST_POINTS {
        return None;
    }
    let (mut sums, mut squares) = (vec![0.0], vec![0.0]);
    for (at, value) in points.iter().enumerate() {
        sums.push(sums[at] + value);
        squares.push(squares[at] + value * value);
    }
    let part = |from: usize, to: usize| {
        let count = (to - from) as f64;
        let mean = (sums[to] - sums[from]) / count;
        let error = squares[to] - squares[from] - mean * mean * count;
        (mean, error.max(0.0))
    };
    let error = |at: usize| part(0, at).1 + part(at, n).1;
    let at = (LEAST_SIDE..=n - LEAST_SIDE).min_by(|a, b| error(*a).total_cmp(&error(*b)))?;
    let (before, after) = (part(0, at).0, part(at, n).0);
    let spread = (error(at) / n as f64).sqrt();
    let small = before.min(after) > before.max(after) * STEP_PERCENT / 100.0;
    if small || (before - after).abs() < SPREADS * spread {
        return None;
    }
    Some(Step { at, before, after })
}
