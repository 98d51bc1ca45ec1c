//! Bandwidth and IOPS sampled by the crew from the workers' live counters.

use crate::logs::{Kind, Pen, Record};
use measure::Samples;
use result::series::{Quantity, Series};
use units::{Ddir, PerDdir};

/// A sample may be this early: the last one of a run is due at its very end, and each one is
/// taken a little late (fio's rule).
const SLACK_NS: u64 = 1_000_000;
/// The series has a point a second, and longer intervals once there are so many of them.
const SECOND_NS: u64 = 1_000_000_000;
const MOST_POINTS: usize = 1024;

/// Sampled rates of one worker.
#[derive(Clone, Debug, Default)]
pub struct Sampled {
    /// KiB/s.
    pub bw: PerDdir<Samples>,
    /// I/Os per second.
    pub iops: PerDdir<Samples>,
    /// Bytes and I/Os per second, second by second, whatever the windows of the samples.
    pub series: Vec<Series>,
}

/// One quantity sampled at one interval.
#[derive(Clone, Debug, Default)]
struct Track {
    every_ns: u64,
    last_ns: u64,
    seen: PerDdir<u64>,
}

impl Track {
    /// Rates per second since the last sample if the window is over; a direction that did not
    /// move gives no sample.
    fn sample(&mut self, now_ns: u64, counters: PerDdir<u64>) -> PerDdir<Option<u64>> {
        let spent_ms = now_ns.saturating_sub(self.last_ns) / 1_000_000;
        let early = now_ns + SLACK_NS < self.due_ns();
        if self.every_ns == 0 || early || spent_ms == 0 {
            return PerDdir::default();
        }
        self.last_ns = now_ns;
        PerDdir::from_fn(|ddir| {
            let moved = counters[ddir] - self.seen[ddir];
            self.seen[ddir] = counters[ddir];
            (moved > 0).then(|| (u128::from(moved) * 1000 / u128::from(spent_ms)) as u64)
        })
    }

    fn due_ns(&self) -> u64 {
        self.last_ns.saturating_add(self.every_ns)
    }
}

/// Samples one worker.
#[derive(Clone, Debug, Default)]
pub struct Sampler {
    bw: Track,
    iops: Track,
    /// For the series: bytes and I/Os.
    seconds: [Track; 2],
    /// Second of the last look at them, and the last one that has a point.
    second: u64,
    filled: PerDdir<u64>,
    /// Time zero of log rows.
    begun_ns: u64,
    /// What was sampled.
    pub sampled: Sampled,
}

impl Sampled {
    /// Adds samples taken elsewhere.
    pub fn pool(&mut self, other: &Sampled) {
        for ddir in Ddir::DATA {
            self.bw[ddir].pool(&other.bw[ddir]);
            self.iops[ddir].pool(&other.iops[ddir]);
        }
    }
}

impl Sampler {
    /// Samples at these windows from `now_ns` on; 0 samples nothing.
    pub fn new(bw_window_ns: u64, iops_window_ns: u64, now_ns: u64) -> Self {
        let track = |every_ns| Track {
            every_ns,
            last_ns: now_ns,
            seen: PerDdir::default(),
        };
        Sampler {
            bw: track(bw_window_ns),
            iops: track(iops_window_ns),
            seconds: [track(SECOND_NS), track(SECOND_NS)],
            second: 0,
            filled: PerDdir::default(),
            begun_ns: now_ns,
            sampled: Sampled::default(),
        }
    }

    /// Forgets everything and starts anew with these counters (end of the warm-up).
    pub fn restart(&mut self, now_ns: u64, ios: PerDdir<u64>, bytes: PerDdir<u64>) {
        self.begun_ns = now_ns;
        (self.bw.last_ns, self.bw.seen) = (now_ns, bytes);
        (self.iops.last_ns, self.iops.seen) = (now_ns, ios);
        for (track, counters) in self.seconds.iter_mut().zip([bytes, ios]) {
            (track.last_ns, track.seen) = (now_ns, counters);
        }
        (self.second, self.filled) = (0, PerDdir::default());
        self.sampled = Sampled::default();
    }

    /// Takes the samples that are due, and gives them to the logs of the worker.
    pub fn tick(
        &mut self,
        now_ns: u64,
        ios: PerDdir<u64>,
        bytes: PerDdir<u64>,
        mut pen: Option<&mut Pen>,
    ) {
        self.second(now_ns, [bytes, ios]);
        let time_ns = now_ns.saturating_sub(self.begun_ns);
        let mut log = |kind: Kind, ddir: Ddir, rate: u64| {
            if let Some(pen) = &mut pen {
                let row = Record {
                    kind,
                    ddir,
                    time_ns,
                    a: rate,
                    b: rate,
                    ..Record::default()
                };
                pen.put(row);
            }
        };
        for (ddir, rate) in self.bw.sample(now_ns, bytes).iter() {
            if let Some(rate) = rate {
                self.sampled.bw[ddir].add(rate / 1024);
                log(Kind::BwWindow, ddir, rate / 1024);
            }
        }
        for (ddir, rate) in self.iops.sample(now_ns, ios).iter() {
            if let Some(rate) = rate {
                self.sampled.iops[ddir].add(*rate);
                log(Kind::IopsWindow, ddir, *rate);
            }
        }
    }

    /// Adds the seconds since the last look. Silence is written down when something moves again,
    /// so that the time after the end has no points.
    fn second(&mut self, now_ns: u64, counters: [PerDdir<u64>; 2]) {
        let before = self.seconds[0].last_ns;
        let rates = [0, 1].map(|at| self.seconds[at].sample(now_ns, counters[at]));
        if self.seconds[0].last_ns == before {
            return;
        }
        let second = (now_ns.saturating_sub(self.begun_ns) + SECOND_NS / 2) / SECOND_NS;
        for ddir in Ddir::DATA {
            let quantities = [Quantity::Bandwidth, Quantity::Iops];
            let moved = rates.iter().any(|rates| rates[ddir].is_some());
            for (quantity, rates) in quantities.into_iter().zip(&rates).filter(|_| moved) {
                let series = Series::of(&mut self.sampled.series, quantity, ddir);
                for at in self.filled[ddir] + 1..=second {
                    // A look that came late speaks for all seconds since the last one.
                    let rate = rates[ddir].filter(|_| at > self.second);
                    series.add_within(MOST_POINTS, at * 1000, rate.unwrap_or(0));
                }
            }
            if moved {
                self.filled[ddir] = second;
            }
        }
        self.second = second;
    }

    /// When the next sample is due; `None` when nothing is sampled.
    pub fn due_ns(&self) -> Option<u64> {
        let tracks = [&self.bw, &self.iops, &self.seconds[0]];
        tracks
            .into_iter()
            .filter(|t| t.every_ns > 0)
            .map(Track::due_ns)
            .min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(ddir: Ddir, value: u64) -> PerDdir<u64> {
        let mut counters = PerDdir::default();
        counters[ddir] = value;
        counters
    }

    const MS: u64 = 1_000_000;

    #[test]
    fn rates_come_from_differences_and_silence_is_no_sample() {
        let mut sampler = Sampler::new(500 * MS, 500 * MS, 0);
        sampler.tick(
            498 * MS,
            only(Ddir::Read, 10),
            only(Ddir::Read, 10 << 20),
            None,
        );
        assert_eq!(sampler.sampled.bw[Ddir::Read].n, 0);
        sampler.tick(
            500 * MS,
            only(Ddir::Read, 10),
            only(Ddir::Read, 10 << 20),
            None,
        );
        sampler.tick(
            1000 * MS,
            only(Ddir::Read, 10),
            only(Ddir::Read, 10 << 20),
            None,
        );
        sampler.tick(
            1600 * MS,
            only(Ddir::Read, 16),
            only(Ddir::Read, 16 << 20),
            None,
        );
        let (bw, iops) = (
            sampler.sampled.bw[Ddir::Read],
            sampler.sampled.iops[Ddir::Read],
        );
        assert_eq!((bw.n, bw.min, bw.max), (2, 10240, 20480));
        assert_eq!((iops.n, iops.min, iops.max), (2, 10, 20));
        assert_eq!(sampler.sampled.bw[Ddir::Write].n, 0);
    }

    #[test]
    fn every_second_of_a_series_has_a_value_and_the_end_has_none() {
        let mut sampler = Sampler::new(0, 0, 0);
        let mut look = |ms: u64, ios: u64| {
            let bytes = only(Ddir::Read, ios << 10);
            sampler.tick(ms * MS, only(Ddir::Read, ios), bytes, None);
            let means = |quantity| -> Vec<f64> {
                let found = sampler.sampled.series.iter();
                let found = found.filter(|series| series.quantity == quantity);
                let points = found.flat_map(Series::points);
                points.map(result::series::Second::mean).collect()
            };
            let (bandwidth, iops) = (means(Quantity::Bandwidth), means(Quantity::Iops));
            assert!(
                bandwidth
                    .iter()
                    .zip(&iops)
                    .all(|(b, n)| (b / 1024.0 - n).abs() < 2.0)
            );
            assert_eq!(bandwidth.len(), iops.len());
            iops
        };
        assert_eq!(look(600, 60), [0.0; 0]);
        assert_eq!(look(1003, 100), [99.0]);
        // Nothing for a second, then a look that came late by one.
        assert_eq!(look(2003, 100), [99.0]);
        assert_eq!(look(4001, 300), [99.0, 0.0, 100.0, 100.0]);
        assert_eq!(look(9000, 300).len(), 4);
    }

    #[test]
    fn the_warm_up_leaves_no_trace() {
        let mut sampler = Sampler::new(500 * MS, 0, 0);
        sampler.tick(
            500 * MS,
            only(Ddir::Read, 1),
            only(Ddir::Read, 1 << 30),
            None,
        );
        sampler.restart(700 * MS, only(Ddir::Read, 1), only(Ddir::Read, 1 << 30));
        assert_eq!(sampler.due_ns(), Some(1200 * MS));
        assert!(sampler.sampled.series.is_empty());
        sampler.tick(
            1200 * MS,
            only(Ddir::Read, 2),
            only(Ddir::Read, (1 << 30) + (1 << 19)),
            None,
        );
        assert_eq!(sampler.sampled.bw[Ddir::Read].max, 1024);
    }
}
