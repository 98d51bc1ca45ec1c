//! Which readings count, and what they amount to.
//!
//! Many short readings beat a few long ones: on a shared machine a long one is hardly ever left
//! alone. Disturbed readings are dropped and counted, and taken again after a pause of random
//! length. Variants that are to be compared are measured in turn, one reading of each per round in
//! rotating order, because a machine's level drifts by tens of percent within the hour while the
//! ratio within a round stays within a few.

use crate::watch::Disturbance;
use result::memory::Figure;
use std::time::{Duration, Instant};

/// Bootstrap resamples.
const RESAMPLES: usize = 1000;
/// Seed of the resampling and of the pauses: the same samples give the same interval.
const SEED: u64 = 0x2545_f491_4f6c_dd1d;
/// Readings of one variant in one round before it is taken as it comes.
const TRIES: usize = 3;
/// With fewer clean samples than this the disturbed ones are used as well.
const FEWEST: usize = 3;
/// Samples at which even an unreached interval ends the sampling.
const MOST: usize = 2000;

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Rates.
    Higher,
    /// Latencies.
    Lower,
}

/// One reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// In the figure's unit.
    pub value: f64,
    /// What else happened meanwhile.
    pub disturbed: Option<Disturbance>,
}

/// How long to go on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// Clean samples wanted of each variant.
    pub samples: usize,
    /// Go on until the 95 % interval is this share of the median on either side.
    pub until: Option<f64>,
    /// Rounds whose readings are forgotten.
    pub warm_up: usize,
    /// When to stop with what there is. At least one round is always taken.
    pub cap: Duration,
}

impl Default for Rule {
    fn default() -> Rule {
        Rule {
            samples: 9,
            until: None,
            warm_up: 1,
            cap: Duration::from_secs(5),
        }
    }
}

/// Readings of several variants taken in turn.
#[derive(Clone, Debug)]
pub struct Interleaved {
    better: Better,
    /// By round, then by variant.
    rounds: Vec<Vec<Reading>>,
    dropped: Vec<usize>,
}

/// Takes readings of one quantity.
///
/// # Errors
/// Those of `take`.
pub fn collect<E>(
    rule: &Rule,
    better: Better,
    mut take: impl FnMut() -> Result<Reading, E>,
) -> Result<Figure, E> {
    Ok(interleave(1, rule, better, |_| take())?.figure(0))
}

/// Takes readings of `variants` quantities in turn; `take` gets the variant's number.
///
/// # Errors
/// Those of `take`.
pub fn interleave<E>(
    variants: usize,
    rule: &Rule,
    better: Better,
    mut take: impl FnMut(usize) -> Result<Reading, E>,
) -> Result<Interleaved, E> {
    let begun = Instant::now();
    let mut pauses = Random(SEED);
    let mut all = Interleaved {
        better,
        rounds: Vec::new(),
        dropped: vec![0; variants],
    };
    for _ in 0..rule.warm_up {
        for variant in 0..variants {
            take(variant)?;
        }
    }
    loop {
        let turn = all.rounds.len();
        let mut round = vec![None; variants];
        for place in 0..variants {
            let variant = (place + turn) % variants;
            for attempt in 1..=TRIES {
                let reading = take(variant)?;
                round[variant] = Some(reading);
                if reading.disturbed.is_none() {
                    break;
                }
                all.dropped[variant] += 1;
                if attempt == TRIES || begun.elapsed() >= rule.cap {
                    break;
                }
                std::thread::sleep(Duration::from_micros(500 + pauses.below(4000) as u64));
            }
        }
        all.rounds.push(round.into_iter().flatten().collect());
        let late = begun.elapsed() >= rule.cap || all.rounds.len() >= MOST;
        if late || all.enough(rule) {
            return Ok(all);
        }
    }
}

impl Interleaved {
    /// The figure of one variant. Panics if there is no such variant.
    pub fn figure(&self, variant: usize) -> Figure {
        let column: Vec<Reading> = self.rounds.iter().map(|round| round[variant]).collect();
        summary(&column, self.better, self.dropped[variant])
    }

    /// Variant `a` over variant `b`, by round. Panics if there is no such variant.
    pub fn ratio(&self, a: usize, b: usize) -> Figure {
        let pairs: Vec<Reading> = self
            .rounds
            .iter()
            .map(|round| Reading {
                value: round[a].value / round[b].value,
                disturbed: round[a].disturbed.or(round[b].disturbed),
            })
            .collect();
        let dropped = pairs.iter().filter(|pair| pair.disturbed.is_some()).count();
        summary(&pairs, self.better, dropped)
    }

    fn enough(&self, rule: &Rule) -> bool {
        let clean = |variant: usize| {
            let column = self.rounds.iter().map(move |round| round[variant]);
            column.filter(|reading| reading.disturbed.is_none()).count()
        };
        (0..self.dropped.len()).all(|variant| {
            clean(variant) >= rule.samples.max(1)
                && rule
                    .until
                    .is_none_or(|share| self.figure(variant).uncertainty() <= share)
        })
    }
}

/// The clean readings, or all of them if there are too few clean ones.
fn summary(readings: &[Reading], better: Better, dropped: usize) -> Figure {
    let clean: Vec<f64> = readings
        .iter()
        .filter(|reading| reading.disturbed.is_none())
        .map(|reading| reading.value)
        .collect();
    if clean.len() >= FEWEST.min(readings.len()) {
        return figure(clean, better, dropped);
    }
    let all = readings.iter().map(|reading| reading.value).collect();
    Figure {
        disturbed: true,
        // Every reading in use is one that was not dropped after all.
        ..figure(
            all,
            better,
            dropped.saturating_sub(readings.len() - clean.len()),
        )
    }
}

/// Sums samples up.
pub fn figure(samples: Vec<f64>, better: Better, dropped: usize) -> Figure {
    let median = median(&mut samples.clone());
    let mut deviations: Vec<f64> = samples.iter().map(|x| (x - median).abs()).collect();
    let (low, high) = interval(&samples);
    let best = match better {
        Better::Higher => samples.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        Better::Lower => samples.iter().copied().fold(f64::INFINITY, f64::min),
    };
    Figure {
        median,
        mad: self::median(&mut deviations),
        n: samples.len(),
        low,
        high,
        best: if samples.is_empty() { 0.0 } else { best },
        dropped,
        disturbed: false,
        samples,
    }
}

/// Middle of the values, the mean of the two middle ones for an even count, 0 for none.
/// Reorders them.
pub fn median(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let (middle, odd) = (values.len() / 2, !values.len().is_multiple_of(2));
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if odd { upper } else { (lower + upper) / 2.0 }
}

/// The 95 % percentile bootstrap interval of the median.
fn interval(samples: &[f64]) -> (f64, f64) {
    if samples.is_empty() {
        return (0.0, 0.0);
    }
    let mut random = Random(SEED);
    let mut drawn = vec![0.0; samples.len()];
    let mut medians: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            for value in &mut drawn {
                *value = samples[random.below(samples.len())];
            }
            median(&mut drawn)
        })
        .collect();
    medians.sort_by(f64::total_cmp);
    (
        medians[RESAMPLES / 40],
        medians[RESAMPLES - 1 - RESAMPLES / 40],
    )
}

/// SplitMix64 (Steele, Lea, Flood 2014).
#[derive(Clone, Copy, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, 0 for an empty range.
    pub fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.bits()) * end as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(value: f64) -> Result<Reading, ()> {
        Ok(Reading {
            value,
            disturbed: None,
        })
    }

    fn dirty(value: f64) -> Result<Reading, ()> {
        Ok(Reading {
            value,
            disturbed: Some(Disturbance::LostTime),
        })
    }

    #[test]
    fn medians_of_short_lists() {
        assert_eq!(median(&mut []), 0.0);
        assert_eq!(median(&mut [3.0]), 3.0);
        assert_eq!(median(&mut [3.0, 1.0]), 2.0);
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), 2.5);
    }

    #[test]
    fn a_figure_of_known_samples() {
        let got = figure(vec![1.0, 2.0, 3.0, 4.0, 100.0], Better::Higher, 2);
        assert_eq!((got.median, got.mad, got.n), (3.0, 1.0, 5));
        assert_eq!((got.best, got.dropped, got.disturbed), (100.0, 2, false));
        assert!(got.low >= 1.0 && got.low <= 3.0 && got.high >= 3.0);
        assert_eq!(got, figure(got.samples.clone(), Better::Higher, 2));
        assert_eq!(figure(vec![2.0, 5.0], Better::Lower, 0).best, 2.0);
    }

    #[test]
    fn the_interval_narrows_with_samples_and_is_a_point_for_constants() {
        let few: Vec<f64> = (0..9).map(f64::from).collect();
        let many: Vec<f64> = (0..900).map(|i| f64::from(i) / 100.0).collect();
        let width = |samples: &[f64]| {
            let (low, high) = interval(samples);
            high - low
        };
        assert!(width(&many) < width(&few) / 3.0);
        assert_eq!(interval(&[7.0; 5]), (7.0, 7.0));
    }

    #[test]
    fn disturbed_readings_are_dropped_counted_and_taken_again() {
        let rule = Rule {
            samples: 4,
            warm_up: 0,
            ..Rule::default()
        };
        let mut turn = 0;
        let got = collect(&rule, Better::Higher, || {
            turn += 1;
            if turn % 2 == 0 {
                dirty(99.0)
            } else {
                clean(5.0)
            }
        })
        .unwrap();
        assert_eq!(got.samples, [5.0; 4]);
        assert_eq!((got.dropped, got.disturbed), (3, false));
    }

    #[test]
    fn a_machine_that_is_never_quiet_gives_a_flagged_figure() {
        let rule = Rule {
            cap: Duration::ZERO,
            ..Rule::default()
        };
        let got = collect(&rule, Better::Lower, || dirty(3.0)).unwrap();
        assert!(got.disturbed);
        assert_eq!((got.samples.as_slice(), got.dropped), ([3.0].as_slice(), 0));
    }

    #[test]
    fn ratios_are_taken_within_rounds() {
        let rule = Rule {
            samples: 6,
            warm_up: 1,
            ..Rule::default()
        };
        let mut level = 1.0;
        let both = interleave(2, &rule, Better::Higher, |variant| {
            if variant == 0 {
                level *= 2.0;
            }
            clean(level * [3.0, 2.0][variant])
        })
        .unwrap();
        let ratio = both.ratio(0, 1);
        assert_eq!(ratio.n, 6);
        // The order rotates: every second round the level doubles between the two.
        assert_eq!((ratio.samples[0], ratio.samples[1]), (1.5, 3.0));
        assert!(both.figure(0).high > 10.0 * both.figure(0).low);
    }

    #[test]
    fn sampling_goes_on_until_the_interval_is_narrow() {
        let rule = Rule {
            samples: 3,
            until: Some(0.01),
            warm_up: 0,
            cap: Duration::from_secs(60),
        };
        let mut random = Random(1);
        let got = collect(&rule, Better::Higher, || {
            clean(100.0 + random.below(10) as f64)
        })
        .unwrap();
        assert!(got.uncertainty() <= 0.01 && got.n > 3);
        assert_eq!(
            Err(()),
            collect(&rule, Better::Higher, || Err::<Reading, ()>(()))
        );
    }
}
