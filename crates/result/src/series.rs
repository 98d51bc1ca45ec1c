//! What a run did second by second.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Ddir;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Quantity {
    /// Bytes per second.
    Bandwidth,
    /// I/Os per second.
    Iops,
    /// Submission latency, nanoseconds.
    Slat,
    /// Completion latency, nanoseconds.
    Clat,
    /// Total latency, nanoseconds.
    Lat,
}

impl Quantity {
    /// Its name in tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Quantity::Bandwidth => "bandwidth",
            Quantity::Iops => "iops",
            Quantity::Slat => "slat",
            Quantity::Clat => "clat",
            Quantity::Lat => "lat",
        }
    }
}

/// One second: values that ended in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Second {
    /// Number of values.
    pub n: u64,
    /// Smallest of them.
    pub min: u64,
    /// Largest of them.
    pub max: u64,
    /// Their sum.
    pub sum: u64,
}

impl Second {
    /// Mean of the values, 0 without any.
    pub fn mean(&self) -> f64 {
        if self.n == 0 {
            0.0
        } else {
            self.sum as f64 / self.n as f64
        }
    }
}

/// One quantity of one direction, a point per interval. Four words a point, and no more points
/// than [`Series::MOST`]: a longer run gets longer intervals, not more memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// What it is of.
    pub quantity: Quantity,
    /// Direction.
    pub ddir: Ddir,
    /// Milliseconds a point; 1000 unless the run was long.
    pub interval_ms: u64,
    /// `n`, `min`, `max`, `sum` of each interval since the start.
    points: Vec<Second>,
}

impl Series {
    /// Points of a series at most: 18 hours of seconds, then two seconds a point, and so on.
    pub const MOST: usize = 1 << 16;
    /// No value lies later than this: ten years.
    const LATEST_MS: u64 = 10 * 366 * 86_400_000;

    /// An empty series.
    pub fn new(quantity: Quantity, ddir: Ddir) -> Self {
        Series {
            quantity,
            ddir,
            interval_ms: 1000,
            points: Vec::new(),
        }
    }

    /// The series of this quantity and direction in a list, made where there is none.
    pub fn of(list: &mut Vec<Series>, quantity: Quantity, ddir: Ddir) -> &mut Series {
        let known = list
            .iter()
            .position(|series| series.quantity == quantity && series.ddir == ddir);
        let at = known.unwrap_or_else(|| {
            list.push(Series::new(quantity, ddir));
            list.len() - 1
        });
        &mut list[at]
    }

    /// Adds a value that ended at `time_ms` since the start; false where that is absurd.
    pub fn add(&mut self, time_ms: u64, value: u64) -> bool {
        if time_ms > Self::LATEST_MS {
            return false;
        }
        // A value of exactly one second is of the first second.
        let ended = time_ms.saturating_sub(1);
        while ended / self.interval_ms >= Self::MOST as u64 {
            self.halve();
        }
        let at = (ended / self.interval_ms) as usize;
        if at >= self.points.len() {
            self.points.resize(at + 1, Second::default());
        }
        let point = &mut self.points[at];
        point.min = if point.n == 0 {
            value
        } else {
            point.min.min(value)
        };
        point.max = point.max.max(value);
        point.n += 1;
        point.sum = point.sum.saturating_add(value);
        true
    }

    /// Adds a value as [`add`](Self::add) does, and keeps to `most` points.
    pub fn add_within(&mut self, most: usize, time_ms: u64, value: u64) -> bool {
        let ended = time_ms.saturating_sub(1);
        while time_ms <= Self::LATEST_MS && ended / self.interval_ms >= most.max(2) as u64 {
            self.halve();
        }
        self.add(time_ms, value)
    }

    /// What several workers that began together did as one; `None` of none.
    pub fn total<'a>(all: impl IntoIterator<Item = &'a Series>) -> Option<Series> {
        let mut all = all.into_iter();
        let mut total = all.next()?.clone();
        all.for_each(|one| total.fold(one, 0));
        Some(total)
    }

    /// Adds what another worker did in the same time: rates add, latencies pool. `late_ms` is how
    /// much later the other one began.
    pub fn fold(&mut self, other: &Series, late_ms: u64) {
        let mut other = other.clone();
        while self.interval_ms < other.interval_ms {
            self.halve();
        }
        while other.interval_ms < self.interval_ms {
            other.halve();
        }
        let rate = matches!(self.quantity, Quantity::Bandwidth | Quantity::Iops);
        let shift = usize::try_from(late_ms / self.interval_ms).unwrap_or(usize::MAX);
        for (at, more) in other.points.iter().enumerate() {
            let at = at.saturating_add(shift);
            if at >= Self::MOST {
                break;
            }
            if at >= self.points.len() {
                self.points.resize(at + 1, Second::default());
            }
            let point = &mut self.points[at];
            *point = match (point.n, more.n) {
                (_, 0) => *point,
                (0, _) => *more,
                (n, m) if rate => Second {
                    n: n.max(m),
                    min: point.min.saturating_add(more.min),
                    max: point.max.saturating_add(more.max),
                    sum: ((point.mean() + more.mean()) * n.max(m) as f64).round() as u64,
                },
                (n, m) => Second {
                    n: n + m,
                    min: point.min.min(more.min),
                    max: point.max.max(more.max),
                    sum: point.sum.saturating_add(more.sum),
                },
            };
        }
    }

    fn halve(&mut self) {
        self.interval_ms *= 2;
        let pairs = self.points.chunks(2).map(|pair| {
            pair.iter()
                .fold(Second::default(), |a, b| match (a.n, b.n) {
                    (0, _) => *b,
                    (_, 0) => a,
                    _ => Second {
                        n: a.n + b.n,
                        min: a.min.min(b.min),
                        max: a.max.max(b.max),
                        sum: a.sum.saturating_add(b.sum),
                    },
                })
        });
        self.points = pairs.collect();
    }

    /// The points from the start on; those without values have `n` 0.
    pub fn points(&self) -> impl ExactSizeIterator<Item = &Second> {
        self.points.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_workers_add_up() {
        let mut all = Series::new(Quantity::Iops, Ddir::Read);
        let mut slow = all.clone();
        for second in 1..=8u64 {
            assert!(all.add(second * 1000, 100));
            if second > 2 {
                assert!(slow.add_within(4, second * 1000, 10));
            }
        }
        assert_eq!((slow.interval_ms, slow.points().len()), (2000, 4));
        all.fold(&slow, 0);
        let means: Vec<f64> = all.points().map(Second::mean).collect();
        assert_eq!(means, [100.0, 110.0, 110.0, 110.0]);
    }

    #[test]
    fn rates_of_two_workers_add_and_latencies_pool() {
        let series = |quantity, values: &[u64]| {
            let mut series = Series::new(quantity, Ddir::Read);
            for (second, value) in (1..).zip(values) {
                assert!(series.add(second * 1000, *value));
            }
            series
        };
        let means = |series: &Series| series.points().map(Second::mean).collect::<Vec<_>>();
        let mut rate = series(Quantity::Iops, &[10, 20]);
        rate.fold(&series(Quantity::Iops, &[1, 2, 3]), 1000);
        assert_eq!(means(&rate), [10.0, 21.0, 2.0, 3.0]);
        let mut latency = series(Quantity::Clat, &[10, 20]);
        latency.fold(&series(Quantity::Clat, &[30]), 0);
        assert_eq!(means(&latency), [20.0, 20.0]);
        assert_eq!(latency.points().next().map(|point| point.max), Some(30));
    }

    #[test]
    fn long_runs_get_longer_intervals() {
        let mut series = Series::new(Quantity::Iops, Ddir::Read);
        for second in 1..=100_000u64 {
            assert!(series.add(second * 1000, second));
        }
        assert_eq!(series.interval_ms, 2000);
        assert_eq!(series.points().len(), 50_000);
        let all: u64 = series.points().map(|point| point.n).sum();
        assert_eq!(all, 100_000);
        let first = series.points().next().copied().unwrap_or_default();
        assert_eq!((first.n, first.min, first.max, first.sum), (2, 1, 2, 3));
        assert!(!series.add(u64::MAX, 1));
    }
}
