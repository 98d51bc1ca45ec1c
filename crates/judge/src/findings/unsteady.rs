//! A run whose speed had not settled, by the criterion of SNIA's performance test specification.

use crate::Evidence;
use crate::findings::change;
use crate::job::jobs;
use crate::say::{With, finding, percent};
use result::{Finding, Severity};

/// Rounds that are compared, and how long one is at least.
const ROUNDS: usize = 5;
const ROUND_MS: u64 = 12_000;
/// Largest distance of two rounds, and of the ends of the line through them, in percent of the
/// mean.
const RANGE_PERCENT: f64 = 20.0;
const SLOPE_PERCENT: f64 = 10.0;

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for job in jobs(evidence).iter().filter(|job| !job.setup.paced) {
        let Some((points, interval_ms)) = job.series() else {
            continue;
        };
        let long_enough = points.len() as u64 * interval_ms >= ROUNDS as u64 * ROUND_MS;
        if !long_enough || change::step(&points).is_some() {
            continue;
        }
        let rounds: [f64; ROUNDS] = std::array::from_fn(|round| {
            let part = &points[points.len() * round / ROUNDS..points.len() * (round + 1) / ROUNDS];
            part.iter().sum::<f64>() / part.len().max(1) as f64
        });
        let mean = rounds.iter().sum::<f64>() / ROUNDS as f64;
        let most = rounds.iter().copied().fold(f64::MIN, f64::max);
        let least = rounds.iter().copied().fold(f64::MAX, f64::min);
        let range = percent(most - least, mean);
        // Least squares over rounds -2 to 2, whose squares sum to 10.
        let slope: f64 = rounds
            .iter()
            .zip([-2.0, -1.0, 0.0, 1.0, 2.0])
            .map(|(rate, x)| rate * x / 10.0)
            .sum();
        let excursion = percent((slope * 4.0).abs(), mean);
        if range <= RANGE_PERCENT && excursion <= SLOPE_PERCENT {
            continue;
        }
        let trend = match excursion > SLOPE_PERCENT {
            true if slope > 0.0 => "and still rose",
            true => "and still fell",
            false => "to and fro",
        };
        let text = format!(
            "{}: the speed was not steady: the fifths of the run lie {range:.0} % apart {trend} \
             (steady is 20 %, and a trend of 10 %)",
            job.name
        );
        let advice = "run until it settles (steadystate=iops:...), and leave the start out";
        found.push(
            finding("not-steady", Severity::Note, text, advice)
                .number("range_percent", range)
                .number("trend_percent", excursion),
        );
    }
    found
}
