//! Least rates: a job that falls below them fails.

use crate::hot::EIO;
use plan::model;
use result::Failure;
use sys::clock::Clock;
use units::{Ddir, PerDdir};

/// No judgement before a job has run this long (fio's settling time).
const SETTLE_NS: u64 = 2_000_000_000;

/// Where a direction stood at the last look.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    at_ns: u64,
    ios: u64,
    bytes: u64,
}

/// Least rates of one worker.
#[derive(Debug)]
pub struct Least {
    job: String,
    bytes_per_s: PerDdir<Option<u64>>,
    ios_per_s: PerDdir<Option<u64>>,
    cycle_ns: u64,
    start: u64,
    marks: PerDdir<Option<Mark>>,
}

impl Least {
    /// Least rates of `job` from tick `start` on; `None` if none is asked for.
    pub fn new(job: &str, plan: &model::Pace, start: u64) -> Option<Least> {
        let any = |rates: &PerDdir<Option<u64>>| rates.0.iter().any(Option::is_some);
        (any(&plan.rate_min) || any(&plan.rate_iops_min)).then(|| Least {
            job: job.to_owned(),
            bytes_per_s: plan.rate_min,
            ios_per_s: plan.rate_iops_min,
            cycle_ns: plan.cycle_ns.max(1_000_000),
            start,
            marks: PerDdir::default(),
        })
    }

    /// Begins anew at tick `now`.
    pub fn restart(&mut self, now: u64) {
        self.start = now;
        self.marks = PerDdir::default();
    }

    /// Judges all directions at tick `now` by their totals so far.
    pub fn check<C: Clock>(
        &mut self,
        now: u64,
        clock: C,
        ios: PerDdir<u64>,
        bytes: PerDdir<u64>,
    ) -> Result<(), Failure> {
        let at_ns = clock.ns(now.saturating_sub(self.start));
        if at_ns < SETTLE_NS {
            return Ok(());
        }
        for ddir in Ddir::DATA.into_iter().filter(|d| ios[*d] > 0) {
            let mark = Mark {
                at_ns,
                ios: ios[ddir],
                bytes: bytes[ddir],
            };
            match self.marks[ddir] {
                Some(last) if at_ns - last.at_ns < self.cycle_ns => continue,
                Some(last) => self.judge(ddir, last, mark)?,
                None => {}
            }
            self.marks[ddir] = Some(mark);
        }
        Ok(())
    }

    fn judge(&self, ddir: Ddir, last: Mark, mark: Mark) -> Result<(), Failure> {
        let spent_ms = (mark.at_ns - last.at_ns) / 1_000_000;
        let per_s = |moved: u64| (u128::from(moved) * 1000 / u128::from(spent_ms)) as u64;
        let job = &self.job;
        let (bytes, ios) = (per_s(mark.bytes - last.bytes), per_s(mark.ios - last.ios));
        let message = match (self.bytes_per_s[ddir], self.ios_per_s[ddir]) {
            (Some(least), _) if bytes < least => {
                format!("{job}: rate_min={least}B/s not met, got {bytes}B/s")
            }
            (None, Some(least)) if ios < least => {
                format!("{job}: rate_iops_min={least} not met, got {ios} IOPS")
            }
            _ => return Ok(()),
        };
        Err(Failure::new(EIO, "check_min_rate", message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sys::clock::Step;

    fn least(bytes: Option<u64>, ios: Option<u64>) -> Least {
        let mut plan = model::Pace {
            cycle_ns: 1_000_000_000,
            ..model::Pace::default()
        };
        plan.rate_min[Ddir::Read] = bytes;
        plan.rate_iops_min[Ddir::Read] = ios;
        Least::new("slow", &plan, 0).expect("a least rate")
    }

    /// The judgement at each second, with so many requests of 10 bytes a second.
    fn judged(mut least: Least, per_s: u64) -> Vec<Option<String>> {
        let clock = Step::new(0);
        let at = |s: u64| PerDdir([s * per_s, 0, 0]);
        let one = |s: u64| {
            let bytes = at(s).map(|n| n * 10);
            least.check(s * 1_000_000_000, clock, at(s), bytes)
        };
        (1..6)
            .map(one)
            .map(|r| r.err().map(|e| e.message))
            .collect()
    }

    #[test]
    fn a_rate_below_the_least_fails_after_settling() {
        let verdicts = judged(least(Some(1000), None), 99);
        assert_eq!(verdicts[0], None, "too early");
        assert_eq!(verdicts[1], None, "nothing to compare with");
        let text = "slow: rate_min=1000B/s not met, got 990B/s".to_owned();
        assert_eq!(verdicts[2], Some(text));
        assert_eq!(judged(least(Some(1000), None), 100), vec![None; 5]);
        let verdicts = judged(least(None, Some(100)), 99);
        let text = "slow: rate_iops_min=100 not met, got 99 IOPS".to_owned();
        assert_eq!(verdicts[2], Some(text));
    }
}
