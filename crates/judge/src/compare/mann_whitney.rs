//! The Mann-Whitney U test.
//!
//! Exact: all ways to choose which of the pooled ranks are A's are equally likely, so the
//! distribution of the rank sum is counted (ties take mid-ranks, and the count is that of the
//! permutation test). Mann and Whitney, Annals of Mathematical Statistics 18 (1947), 50-60. Large
//! samples use the normal approximation with correction for ties and continuity.

/// Result of the test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MannWhitney {
    /// U of the first sample: pairs in which it is larger, ties half.
    pub u: f64,
    /// Two-sided p.
    pub p: f64,
    /// Counted and not approximated.
    pub exact: bool,
}

/// Values in both samples together up to which all choices are counted.
const EXACT: usize = 100;

/// Tests whether values of one sample tend to be larger than those of the other.
pub fn mann_whitney(a: &[f64], b: &[f64]) -> MannWhitney {
    let ranks = twice_ranks(a, b);
    let (n, m) = (a.len(), b.len());
    let sum: usize = ranks[..n].iter().sum();
    let u = sum as f64 / 2.0 - (n * (n + 1)) as f64 / 2.0;
    let exact = n + m <= EXACT;
    let p = match exact {
        _ if n == 0 || m == 0 => 1.0,
        true => counted(&ranks, n, sum),
        false => approximated(&ranks, n, u),
    };
    MannWhitney { u, p, exact }
}

/// The least p that samples of these sizes can have: all of one above all of the other.
pub fn least_p(n: usize, m: usize) -> f64 {
    // One over n + m choose n, as a product.
    let ways = (1..=n).map(|k| (m + k) as f64 / k as f64).product::<f64>();
    (2.0 / ways).min(1.0)
}

/// Twice the mid-ranks of the pooled values, those of `a` first.
fn twice_ranks(a: &[f64], b: &[f64]) -> Vec<usize> {
    let pooled: Vec<f64> = a.iter().chain(b).copied().collect();
    let mut order: Vec<usize> = (0..pooled.len()).collect();
    order.sort_by(|i, j| pooled[*i].total_cmp(&pooled[*j]));
    let mut ranks = vec![0; pooled.len()];
    let mut start = 0;
    while start < order.len() {
        let value = pooled[order[start]];
        let run = order[start..].iter().take_while(|i| pooled[**i] == value);
        let end = start + run.count();
        for i in &order[start..end] {
            // First and last rank of the run, from 1.
            ranks[*i] = start + 1 + end;
        }
        start = end;
    }
    ranks
}

/// Twice the smaller tail of the distribution of the sum of `n` ranks.
fn counted(ranks: &[usize], n: usize, sum: usize) -> f64 {
    let most: usize = ranks.iter().sum();
    // ways[k][s]: choices of k ranks with sum s.
    let mut ways = vec![vec![0.0f64; most + 1]; n + 1];
    ways[0][0] = 1.0;
    for (seen, rank) in ranks.iter().enumerate() {
        for k in (1..=n.min(seen + 1)).rev() {
            let (below, above) = ways.split_at_mut(k);
            let (from, to) = (&below[k - 1], &mut above[0]);
            for s in *rank..=most {
                to[s] += from[s - rank];
            }
        }
    }
    let last = &ways[n];
    let all: f64 = last.iter().sum();
    let low: f64 = last[..=sum].iter().sum();
    let high: f64 = last[sum..].iter().sum();
    (2.0 * low.min(high) / all).min(1.0)
}

fn approximated(ranks: &[usize], n: usize, u: f64) -> f64 {
    let all = ranks.len() as f64;
    let (n, m) = (n as f64, all - n as f64);
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    let ties: f64 = sorted
        .chunk_by(|a, b| a == b)
        .map(|run| (run.len() as f64).powi(3) - run.len() as f64)
        .sum();
    let variance = n * m / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let distance = (u - n * m / 2.0).abs() - 0.5;
    (2.0 * upper_normal(distance.max(0.0) / variance.sqrt())).min(1.0)
}

/// Upper tail of the normal distribution, by its continued fraction far out and its series near
/// (Abramowitz and Stegun 26.2.11 and 26.2.14).
fn upper_normal(z: f64) -> f64 {
    let density = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if z > 3.0 {
        let tail = (1..=200).rev().fold(z, |tail, k| z + f64::from(k) / tail);
        return density / tail;
    }
    let (mut term, mut sum) = (z, z);
    for k in 1..200 {
        term *= z * z / f64::from(2 * k + 1);
        sum += term;
    }
    0.5 - density * sum
}
