//! Steady state detection: samples of a job or group, judged over a window, end it early.
//!
//! The arithmetic is fio's: the slope is that of a least squares line through equally spaced
//! samples, the deviation is the greatest from the mean; a limit in percent is one of the mean.

use plan::model;
use result::{Steady, SteadyMetric};
use std::collections::VecDeque;

/// A sample may be this early: the last one of a run is due at its very end.
const SLACK_NS: u64 = 1_000_000;

/// One sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// I/Os per second.
    pub iops: u64,
    /// Bytes per second.
    pub bytes_per_s: u64,
    /// Mean completion latency, nanoseconds.
    pub lat_ns: u64,
}

/// The window of samples and the verdict on it.
#[derive(Clone, Debug)]
pub struct Judge {
    plan: model::Steady,
    window: VecDeque<Sample>,
    criterion: f64,
    deviation: f64,
    slope: f64,
    attained: bool,
}

impl Judge {
    /// A judge with an empty window.
    pub fn new(plan: model::Steady) -> Judge {
        Judge {
            plan,
            window: VecDeque::with_capacity(plan.samples as usize),
            criterion: 0.0,
            deviation: 0.0,
            slope: 0.0,
            attained: false,
        }
    }

    /// Has the criterion been met?
    pub fn attained(&self) -> bool {
        self.attained
    }

    /// Adds a sample; true if the window is full and meets the criterion.
    pub fn add(&mut self, sample: Sample) -> bool {
        let most = self.plan.samples as usize;
        if self.window.len() == most {
            self.window.pop_front();
        }
        self.window.push_back(sample);
        if self.window.len() < most {
            return false;
        }
        let values: Vec<f64> = self.window.iter().map(|s| self.value(s) as f64).collect();
        let sum = values.iter().sum::<f64>();
        let n = values.len() as f64;
        let (absolute, mean) = if self.plan.by_slope {
            self.slope = slope(&values);
            // fio's mean is a whole number here, and a broken one below.
            (self.slope, (sum / n).floor())
        } else {
            let mean = sum / n;
            self.deviation = values.iter().map(|v| (v - mean).abs()).fold(0.0, f64::max);
            (self.deviation, mean)
        };
        self.criterion = match self.plan.percent {
            true if mean > 0.0 => 100.0 * absolute / mean,
            // Nothing moves: that is not steady, and no percentage.
            true => return false,
            false => absolute,
        };
        self.attained = self.criterion.abs() < self.plan.limit;
        self.attained
    }

    fn value(&self, sample: &Sample) -> u64 {
        match self.plan.metric {
            SteadyMetric::Iops => sample.iops,
            SteadyMetric::Bandwidth => sample.bytes_per_s,
            SteadyMetric::Latency => sample.lat_ns,
        }
    }

    /// What is known now.
    pub fn result(&self) -> Steady {
        let plan = &self.plan;
        let column = |of: fn(&Sample) -> u64| {
            let mut column: Vec<u64> = self.window.iter().map(of).collect();
            column.resize(plan.samples as usize, 0);
            column
        };
        Steady {
            metric: plan.metric,
            by_slope: plan.by_slope,
            limit: plan.limit,
            percent: plan.percent,
            duration_s: plan.samples * plan.interval_ns / 1_000_000_000,
            attained: self.attained,
            criterion: self.criterion,
            deviation: self.deviation,
            slope: self.slope,
            iops: column(|s| s.iops),
            bytes_per_s: column(|s| s.bytes_per_s),
            lat_ns: match plan.metric {
                SteadyMetric::Latency => column(|s| s.lat_ns),
                SteadyMetric::Iops | SteadyMetric::Bandwidth => Vec::new(),
            },
        }
    }
}

/// Slope of the least squares line through values one apart.
fn slope(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let (mut x, mut xx, mut y, mut xy) = (0.0, 0.0, 0.0, 0.0);
    for (i, value) in values.iter().enumerate() {
        let i = i as f64;
        x += i;
        xx += i * i;
        y += value;
        xy += i * value;
    }
    (xy - x * y / n) / (xx - x * x / n)
}

/// Counters of one member at the last look.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// When, on the crew's clock.
    pub at_ns: u64,
    /// Completed I/Os.
    pub ios: u64,
    /// Moved bytes.
    pub bytes: u64,
    /// Count and sum of completion latencies, where they are the metric.
    pub lat: (u64, u64),
}

/// What is judged together: one job, or the jobs that are reported as one.
#[derive(Debug)]
pub struct Watch {
    /// The judge.
    pub judge: Judge,
    plan: model::Steady,
    /// Positions of the members in the crew, and what was seen of them since measuring began.
    members: Vec<(usize, Option<Seen>)>,
    /// When the next sample is due; `None` until one of them measures.
    due_ns: Option<u64>,
}

impl Watch {
    /// Watches over all workers of a plan that ask for it.
    pub fn all(workers: &[model::Worker]) -> Vec<Watch> {
        let mut watches: Vec<Watch> = Vec::new();
        for (index, worker) in workers.iter().enumerate() {
            let Some(plan) = worker.steady else { continue };
            let same = |watch: &&mut Watch| {
                let first = &workers[watch.members[0].0];
                let grouped = first.reporting.grouped && worker.reporting.grouped;
                grouped && first.group == worker.group
            };
            match watches.iter_mut().find(same) {
                Some(watch) => watch.members.push((index, None)),
                None => watches.push(Watch {
                    judge: Judge::new(plan),
                    plan,
                    members: vec![(index, None)],
                    due_ns: None,
                }),
            }
        }
        watches
    }

    /// Is the worker at this position one of them?
    pub fn covers(&self, index: usize) -> bool {
        self.members.iter().any(|(member, _)| *member == index)
    }

    /// The positions of the members.
    pub fn members(&self) -> impl Iterator<Item = usize> + '_ {
        self.members.iter().map(|(index, _)| *index)
    }

    /// When the next sample is due.
    pub fn due_ns(&self) -> Option<u64> {
        self.due_ns.filter(|_| !self.judge.attained())
    }

    /// Is a sample due?
    pub fn is_due(&self, now: u64) -> bool {
        self.due_ns().is_some_and(|due| now + SLACK_NS >= due)
    }

    /// True if samples need latencies.
    pub fn wants_latency(&self) -> bool {
        self.plan.metric == SteadyMetric::Latency
    }

    /// Looks at the members: `seen` tells what the worker at a position has done, and when it
    /// began to measure, if it measures now. True if the criterion is met.
    pub fn look(&mut self, now: u64, seen: impl Fn(usize) -> Option<(u64, Seen)>) -> bool {
        if self.judge.attained() {
            return false;
        }
        for (index, last) in &mut self.members {
            if last.is_none()
                && let Some((since_ns, first)) = seen(*index)
            {
                *last = Some(first);
                self.due_ns.get_or_insert(since_ns + self.plan.interval_ns);
            }
        }
        let Some(due) = self.due_ns.filter(|due| now + SLACK_NS >= *due) else {
            return false;
        };
        self.due_ns = Some(due + self.plan.interval_ns);
        let mut sample = Sample::default();
        let (mut collects, mut lat) = (false, (0, 0));
        for (index, last) in &mut self.members {
            let Some((since_ns, mark)) = seen(*index) else {
                continue;
            };
            let Some(before) = last.replace(mark) else {
                continue;
            };
            let spent_ns = mark.at_ns.saturating_sub(before.at_ns);
            let ran_ns = now.saturating_sub(since_ns) + SLACK_NS;
            let settled = ran_ns >= self.plan.ramp_ns + self.plan.interval_ns;
            if spent_ns == 0 || (self.plan.ramp_ns > 0 && !settled) {
                continue;
            }
            collects = true;
            let per_s = |n: u64| (u128::from(n) * 1_000_000_000 / u128::from(spent_ns)) as u64;
            sample.iops += per_s(mark.ios.saturating_sub(before.ios));
            sample.bytes_per_s += per_s(mark.bytes.saturating_sub(before.bytes));
            lat.0 += mark.lat.0.saturating_sub(before.lat.0);
            lat.1 += mark.lat.1.saturating_sub(before.lat.1);
        }
        sample.lat_ns = lat.1.checked_div(lat.0).unwrap_or(0);
        collects && self.judge.add(sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: model::Steady = model::Steady {
        metric: SteadyMetric::Iops,
        by_slope: false,
        limit: 10.0,
        percent: false,
        samples: 3,
        ramp_ns: 0,
        interval_ns: SECOND,
    };
    const SECOND: u64 = 1_000_000_000;

    /// The number of samples until the criterion holds, and the verdict then.
    fn judged(plan: model::Steady, iops: &[u64]) -> (Option<usize>, Steady) {
        let mut judge = Judge::new(plan);
        let at = iops.iter().position(|&iops| {
            judge.add(Sample {
                iops,
                bytes_per_s: iops * 4096,
                lat_ns: 1,
            })
        });
        (at, judge.result())
    }

    #[test]
    fn the_greatest_deviation_from_the_mean_is_compared() {
        let (at, steady) = judged(PLAN, &[100, 150, 130, 140, 141]);
        assert_eq!(at, Some(4), "130, 140, 141: mean 137, 130 is 7 away");
        assert_eq!(steady.iops, [130, 140, 141]);
        assert!((steady.deviation - 7.0).abs() < 1e-9 && steady.attained);
        let percent = model::Steady {
            percent: true,
            ..PLAN
        };
        let (at, steady) = judged(percent, &[100, 150, 130, 140]);
        assert_eq!(at, Some(3), "140 is the mean, 10 is 7 % of it");
        assert!((steady.criterion - 1000.0 / 140.0).abs() < 1e-9);
    }

    #[test]
    fn the_slope_has_a_sign_and_the_limit_has_none() {
        let plan = model::Steady {
            by_slope: true,
            ..PLAN
        };
        // 120, 100, 100 falls by 10, which is not less than 10.
        let (at, steady) = judged(plan, &[200, 160, 120, 100, 100, 95]);
        assert_eq!((at, steady.slope), (Some(5), -2.5));
        let (at, steady) = judged(plan, &[130, 120, 112]);
        assert_eq!((at, steady.slope), (Some(2), -9.0));
    }

    #[test]
    fn a_window_that_is_not_full_is_filled_up_with_nothing() {
        let (at, steady) = judged(PLAN, &[100]);
        assert_eq!((at, steady.attained), (None, false));
        assert_eq!(
            (steady.iops.as_slice(), steady.lat_ns.len()),
            (&[100, 0, 0][..], 0)
        );
        assert_eq!(
            (steady.duration_s, Steady::mean(&steady.bytes_per_s)),
            (3, 136_533)
        );
    }

    #[test]
    fn nothing_moving_is_not_steady_in_percent() {
        let percent = model::Steady {
            percent: true,
            ..PLAN
        };
        assert_eq!(judged(percent, &[0, 0, 0, 0]).0, None);
    }

    #[test]
    fn samples_add_up_over_members_and_begin_after_the_settling_time() {
        let plan = model::Steady {
            ramp_ns: 2 * SECOND,
            ..PLAN
        };
        let mut watch = Watch {
            judge: Judge::new(plan),
            plan,
            members: vec![(0, None), (1, None)],
            due_ns: None,
        };
        let mut end = None;
        for second in 1..20 {
            let now = second * SECOND;
            // The first does 100 a second, the second 7, and begins two seconds later.
            let seen = |index: usize| {
                let (since, per_s) = [(1, 100), (3, 7)][index];
                let ran = second.checked_sub(since)?;
                let mark = Seen {
                    at_ns: now,
                    ios: ran * per_s,
                    bytes: 0,
                    lat: (0, 0),
                };
                Some((since * SECOND, mark))
            };
            if watch.look(now, seen) {
                end = Some(second);
                break;
            }
        }
        // Collecting begins at 4 for the first, at 6 for the second.
        assert_eq!(end, Some(6));
        assert_eq!(watch.judge.result().iops, [100, 100, 107]);
    }
}
