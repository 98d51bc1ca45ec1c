//! Are two sets of measurements different, and by how much?
//!
//! Repeated runs are compared by the exact Mann-Whitney test, which assumes no distribution, and
//! the size of the difference is the ratio of the medians with a bootstrap interval. A
//! difference is called one only if the test, the interval and a threshold of what matters agree
//! (criterion's rule). Single runs have an interval from batch means and no test, because one run
//! says nothing about the next.

mod batch;
mod bootstrap;
mod change;
mod holm;
mod mann_whitney;
mod student;

pub use batch::{Interval, batch_means};
pub use bootstrap::{RatioInterval, median_ratio};
pub use change::{Change, change_points};
pub use holm::holm;
pub use mann_whitney::{MannWhitney, least_p, mann_whitney};
pub use student::t_quantile;

use serde::Serialize;

/// Level of the tests and one minus the level of the intervals.
pub const ALPHA: f64 = 0.05;
/// A difference below this share does not matter, unless the machine is noisier.
pub const LEAST_EFFECT: f64 = 0.02;
/// Seed of the bootstrap: the same data give the same interval.
const SEED: u64 = 0x5eed;

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Rates.
    Higher,
    /// Latencies.
    Lower,
}

/// What a comparison says of B against A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// B is better.
    Better,
    /// B is worse.
    Worse,
    /// No difference that matters: the interval lies within the threshold.
    Same,
    /// The data cannot tell.
    Unclear,
    /// Single runs: an effect, not a test.
    Untested,
}

/// One metric of A and B.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Number of values of A and of B.
    pub n: [usize; 2],
    /// Medians of A and of B.
    pub median: [f64; 2],
    /// Coefficients of variation of A and of B; 0 of a single value.
    pub cv: [f64; 2],
    /// Median of B over median of A.
    pub ratio: f64,
    /// Interval of the ratio, 95 %; `None` where nothing is known about the spread.
    pub interval: Option<[f64; 2]>,
    /// Two-sided p of the Mann-Whitney test, after Holm's correction where there are several
    /// metrics; `None` for single runs.
    pub p: Option<f64>,
    /// Least effect that counts.
    pub threshold: f64,
    /// What follows.
    pub verdict: Verdict,
    /// Why the data could not tell, in words.
    pub remark: Option<String>,
}

/// Median; 0 of nothing.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    middle(&sorted)
}

fn middle(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    match n {
        0 => 0.0,
        _ if n % 2 == 1 => sorted[n / 2],
        _ => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}

/// Standard deviation over mean; 0 with fewer than two values.
pub fn variation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n.max(1.0);
    if values.len() < 2 || mean == 0.0 {
        return 0.0;
    }
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (n - 1.0)).sqrt() / mean.abs()
}

/// The least effect that counts on a machine whose repeated runs vary like this: three times the
/// median of their coefficients of variation, and at least [`LEAST_EFFECT`].
pub fn noise_threshold(variations: &[f64]) -> f64 {
    (3.0 * median(variations)).max(LEAST_EFFECT)
}

/// Compares two sets of repeated runs. Values are positive and finite.
pub fn repeated(a: &[f64], b: &[f64], better: Better, threshold: f64) -> Comparison {
    if a.len() < 2 || b.len() < 2 {
        return single(a, b, None, threshold);
    }
    let test = mann_whitney(a, b);
    let interval = median_ratio(a, b, SEED);
    let mut comparison = Comparison {
        n: [a.len(), b.len()],
        median: [median(a), median(b)],
        cv: [variation(a), variation(b)],
        ratio: interval.ratio,
        interval: Some([interval.low, interval.high]),
        p: Some(test.p),
        threshold,
        verdict: Verdict::Unclear,
        remark: None,
    };
    comparison.judge(better, 1);
    comparison
}

/// Compares single runs whose own intervals are known.
pub fn single(
    a: &[f64],
    b: &[f64],
    intervals: Option<[Interval; 2]>,
    threshold: f64,
) -> Comparison {
    let medians = [median(a), median(b)];
    let ratio = medians[1] / medians[0];
    // Errors of a quotient of independent means, to first order.
    let interval = intervals.map(|[a, b]| {
        let share = (a.half_width() / a.mean).hypot(b.half_width() / b.mean);
        [ratio * (1.0 - share), ratio * (1.0 + share)]
    });
    Comparison {
        n: [a.len(), b.len()],
        median: medians,
        cv: [variation(a), variation(b)],
        ratio,
        interval,
        p: None,
        threshold,
        verdict: Verdict::Untested,
        remark: Some("single runs are not tested: repeat each at least 4 times".to_owned()),
    }
}

impl Comparison {
    /// Settles the verdict from p, interval and threshold; `figures` are tested together.
    fn judge(&mut self, better: Better, figures: usize) {
        let (Some(p), Some([low, high])) = (self.p, self.interval) else {
            return;
        };
        let apart = low > 1.0 || high < 1.0;
        let matters = (self.ratio - 1.0).abs() > self.threshold;
        self.verdict = match (p < ALPHA && apart, matters) {
            (true, true) if (self.ratio > 1.0) == (better == Better::Higher) => Verdict::Better,
            (true, true) => Verdict::Worse,
            _ if low > 1.0 - self.threshold && high < 1.0 + self.threshold => Verdict::Same,
            _ => Verdict::Unclear,
        };
        self.remark = (self.verdict == Verdict::Unclear)
            .then(|| too_few(self.n[0], self.n[1], figures))
            .flatten();
    }
}

/// Holm's correction of the p values of several comparisons, and the verdicts that follow.
pub fn correct(comparisons: &mut [(Comparison, Better)]) {
    let tested: Vec<usize> = (0..comparisons.len())
        .filter(|at| comparisons[*at].0.p.is_some())
        .collect();
    let p: Vec<f64> = tested
        .iter()
        .filter_map(|at| comparisons[*at].0.p)
        .collect();
    let (figures, all) = (tested.len(), comparisons.len());
    let (one, needed) = (runs_needed(1), runs_needed(all));
    for (comparison, _) in comparisons.iter_mut().filter(|(c, _)| c.p.is_none()) {
        if let Some(remark) = comparison.remark.as_mut().filter(|_| needed > one) {
            remark.push_str(&format!(", {needed} for the {all} figures compared here"));
        }
    }
    for (at, p) in tested.into_iter().zip(holm(&p)) {
        let (comparison, better) = &mut comparisons[at];
        comparison.p = Some(p);
        comparison.judge(*better, figures);
    }
}

/// How many runs a side it takes that each of `figures` compared together can be told apart: the
/// least p of that many runs, times Holm's greatest factor, is below the level.
pub fn runs_needed(figures: usize) -> usize {
    let told = |runs: &usize| least_p(*runs, *runs) * (figures as f64) < ALPHA;
    (1..).find(told).expect("the least p falls without end")
}

/// What to say when so few values cannot reach the level at all where `figures` are compared
/// together.
pub fn too_few(a: usize, b: usize, figures: usize) -> Option<String> {
    let least = least_p(a, b);
    if least * (figures as f64) < ALPHA {
        return None;
    }
    let (one, all) = (runs_needed(1), runs_needed(figures));
    let all = (all > one).then(|| {
        format!("{all} against {all} for the {figures} compared here (Holm's correction)")
    });
    Some(if least < ALPHA {
        format!(
            "{a} against {b} reaches p < {ALPHA} for one figure (the least is {least:.3}); it \
             takes {}",
            all.unwrap_or_default()
        )
    } else {
        let all = all.map_or_else(String::new, |all| format!(" for one figure, {all}"));
        format!(
            "{a} against {b} cannot reach p < {ALPHA} (the least is {least:.2}); \
             {one} against {one} can{all}"
        )
    })
}
