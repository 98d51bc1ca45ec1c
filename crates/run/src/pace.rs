//! How fast a worker may go: rates, think time and their failures.
//!
//! All arithmetic is on totals since the start, so that rounding never accumulates and a worker
//! that fell behind catches up, as with fio.

use crate::failure::ETIMEDOUT;
use crate::hot::{EIO, Gate};
use plan::model;
use result::Failure;
use sys::clock::Clock;
use units::{Ddir, PerDdir};
use workload::rng::Taus258;

/// Schedule of one direction.
#[derive(Clone, Debug, Default)]
struct Schedule {
    bytes_per_s: Option<u64>,
    ios_per_s: Option<u64>,
    bytes: u64,
    ios: u64,
    /// Nanoseconds after the start when the next I/O is due.
    due_ns: u64,
    /// Totals at the last minimum check.
    checked: (u64, u64, u64),
}

/// Pace of one worker.
#[derive(Debug)]
pub struct Pace {
    start: u64,
    schedules: PerDdir<Schedule>,
    settings: model::Pace,
    random: Taus258,
    /// I/Os since the last stall.
    blocks: u32,
    /// Tick when the last stall ended.
    stalled: u64,
}

impl Pace {
    /// A schedule that begins at tick `start`.
    pub fn new(settings: model::Pace, start: u64, seed: u64) -> Self {
        let schedules = PerDdir::from_fn(|d| Schedule {
            bytes_per_s: settings.rate[d].filter(|rate| *rate > 0),
            ios_per_s: settings.rate_iops[d].filter(|rate| *rate > 0),
            ..Schedule::default()
        });
        let random = Taus258::new(seed);
        Pace {
            start,
            schedules,
            settings,
            random,
            blocks: 0,
            stalled: start,
        }
    }

    /// Does the worker need a pace at all?
    pub fn wanted(settings: &model::Pace) -> bool {
        let any = |values: &PerDdir<Option<u64>>| values.0.iter().any(Option::is_some);
        any(&settings.rate)
            || any(&settings.rate_iops)
            || any(&settings.rate_min)
            || any(&settings.rate_iops_min)
            || any(&settings.max_latency_ns)
            || settings.think.is_some()
    }

    /// May an I/O of this direction and size be issued now?
    pub fn gate<C: Clock>(&mut self, ddir: Ddir, len: u32, clock: C) -> Gate {
        if !ddir.is_data() {
            return Gate::Go;
        }
        if let Some(gate) = self.think(clock) {
            return gate;
        }
        let schedule = &mut self.schedules[ddir];
        if schedule.bytes_per_s.is_none() && schedule.ios_per_s.is_none() {
            self.issued();
            return Gate::Go;
        }
        let deadline = self.start + clock.ticks(schedule.due_ns);
        if clock.now() < deadline {
            return Gate::Until(deadline);
        }
        schedule.bytes += u64::from(len);
        schedule.ios += 1;
        schedule.due_ns = if self.settings.poisson {
            let mean_ns = match (schedule.bytes_per_s, schedule.ios_per_s) {
                (Some(rate), _) => u64::from(len) as f64 * 1e9 / rate as f64,
                (None, rate) => 1e9 / rate.unwrap_or(1) as f64,
            };
            // Uniform in (0, 1]: the logarithm stays finite.
            let uniform = ((self.random.draw() >> 11) + 1) as f64 / (1u64 << 53) as f64;
            schedule.due_ns + (-uniform.ln() * mean_ns) as u64
        } else {
            match (schedule.bytes_per_s, schedule.ios_per_s) {
                (Some(rate), _) => due_ns(schedule.bytes, rate),
                (None, rate) => due_ns(schedule.ios, rate.unwrap_or(1)),
            }
        };
        self.issued();
        Gate::Go
    }

    fn issued(&mut self) {
        if self.settings.think.is_some_and(|think| think.at_issue) {
            self.blocks += 1;
        }
    }

    /// The stall that is due, if any.
    fn think<C: Clock>(&mut self, clock: C) -> Option<Gate> {
        let think = self.settings.think?;
        let now = clock.now();
        let due = if think.io_time_ns > 0 {
            clock.ns(now.wrapping_sub(self.stalled)) >= think.io_time_ns
        } else {
            self.blocks >= think.blocks
        };
        if !due {
            return None;
        }
        self.blocks = 0;
        let spin = think.spin_ns.min(think.stall_ns);
        let end = now + clock.ticks(think.stall_ns);
        let spun = now + clock.ticks(spin);
        while clock.now() < spun {
            std::hint::spin_loop();
        }
        self.stalled = end;
        if self.settings.ignore_thinktime {
            // No catching up: the schedule shifts by the stall.
            for schedule in &mut self.schedules.0 {
                schedule.due_ns += think.stall_ns;
            }
        }
        (clock.now() < end).then_some(Gate::Until(end))
    }

    /// Checks limits when an I/O of `ddir` has taken `lat_ns` and moved `len` bytes.
    pub fn done<C: Clock>(
        &mut self,
        ddir: Ddir,
        lat_ns: u64,
        now: u64,
        clock: C,
        live: (u64, u64),
    ) -> Result<(), Failure> {
        if self.settings.think.is_some_and(|think| !think.at_issue) {
            self.blocks += 1;
        }
        if let Some(limit) = self.settings.max_latency_ns[ddir]
            && limit > 0
            && lat_ns > limit
        {
            let (took, most) = (lat_ns / 1000, limit / 1000);
            let message = format!("latency of {took} usec exceeds specified max ({most} usec)");
            return Err(Failure::new(ETIMEDOUT, "max_latency", message));
        }
        self.check_minimum(ddir, now, clock, live)
    }

    fn check_minimum<C: Clock>(
        &mut self,
        ddir: Ddir,
        now: u64,
        clock: C,
        (ios, bytes): (u64, u64),
    ) -> Result<(), Failure> {
        let least_bytes = self.settings.rate_min[ddir].filter(|rate| *rate > 0);
        let least_ios = self.settings.rate_iops_min[ddir].filter(|rate| *rate > 0);
        if least_bytes.is_none() && least_ios.is_none() {
            return Ok(());
        }
        let at_ns = clock.ns(now.wrapping_sub(self.start));
        let (then_ns, then_ios, then_bytes) = self.schedules[ddir].checked;
        let elapsed_ns = at_ns - then_ns;
        if elapsed_ns < self.settings.cycle_ns.max(1) {
            return Ok(());
        }
        self.schedules[ddir].checked = (at_ns, ios, bytes);
        let per_s = |n: u64| (u128::from(n) * 1_000_000_000 / u128::from(elapsed_ns)) as u64;
        let (got, wanted, unit) = match least_bytes {
            Some(wanted) => (per_s(bytes - then_bytes), wanted, "B/s"),
            None => (per_s(ios - then_ios), least_ios.unwrap_or(0), "IOPS"),
        };
        if got >= wanted {
            return Ok(());
        }
        let message = format!("rate_min={wanted} {unit} not met, got {got} {unit}");
        Err(Failure::new(EIO, "check_min_rate", message))
    }
}

/// When `amount` at `per_s` is due, nanoseconds after the start.
fn due_ns(amount: u64, per_s: u64) -> u64 {
    (u128::from(amount) * 1_000_000_000 / u128::from(per_s)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use sys::clock::Step;

    fn settings() -> model::Pace {
        model::Pace {
            cycle_ns: 1_000_000_000,
            ..model::Pace::default()
        }
    }

    /// Issues until `n` I/Os have passed the gate; the nanoseconds that took.
    fn issue(pace: &mut Pace, clock: Step, n: u32, len: u32) -> u64 {
        let begin = clock.now();
        for _ in 0..n {
            loop {
                match pace.gate(Ddir::Read, len, clock) {
                    Gate::Go => break,
                    Gate::Until(deadline) => clock.sleep_until(deadline),
                    other => panic!("{other:?}"),
                }
            }
        }
        clock.now() - begin
    }

    #[test]
    fn a_rate_is_kept_on_average() {
        let clock = Step::new(100);
        let mut linear = settings();
        linear.rate[Ddir::Read] = Some(1_000_000);
        let took = issue(&mut Pace::new(linear, clock.now(), 1), clock, 1001, 1000);
        assert!((999_000_000..1_002_000_000).contains(&took), "{took}");

        let mut iops = settings();
        iops.rate_iops[Ddir::Read] = Some(500);
        let took = issue(&mut Pace::new(iops, clock.now(), 1), clock, 501, 4096);
        assert!((999_000_000..1_002_000_000).contains(&took), "{took}");
    }

    #[test]
    fn poisson_arrivals_have_the_requested_mean_and_spread() {
        let clock = Step::new(10);
        let mut poisson = settings();
        poisson.rate_iops[Ddir::Read] = Some(1000);
        poisson.poisson = true;
        let mut pace = Pace::new(poisson, clock.now(), 7);
        let gaps: Vec<f64> = (0..20_000)
            .map(|_| issue(&mut pace, clock, 1, 4096) as f64 / 1e6)
            .collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let var = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean - 1.0).abs() < 0.03, "{mean}");
        assert!(
            (var - 1.0).abs() < 0.1,
            "an exponential has equal mean and deviation: {var}"
        );
    }

    #[test]
    fn think_time_comes_after_the_given_blocks() {
        let clock = Step::new(10);
        let mut thinking = settings();
        thinking.think = Some(model::Think {
            stall_ns: 1_000_000,
            spin_ns: 0,
            blocks: 4,
            at_issue: true,
            io_time_ns: 0,
        });
        let mut pace = Pace::new(thinking, clock.now(), 1);
        assert!(issue(&mut pace, clock, 4, 4096) < 10_000);
        let took = issue(&mut pace, clock, 4, 4096);
        assert!((1_000_000..1_010_000).contains(&took), "{took}");
    }

    #[test]
    fn limits_fail_by_name() {
        let clock = Step::new(1);
        let mut limited = settings();
        limited.max_latency_ns[Ddir::Write] = Some(5_000);
        limited.rate_min[Ddir::Read] = Some(1_000_000);
        let mut pace = Pace::new(limited, 0, 1);
        assert!(pace.done(Ddir::Write, 5_000, 10, clock, (1, 1)).is_ok());
        assert_eq!(
            pace.done(Ddir::Write, 5_001, 10, clock, (1, 1))
                .unwrap_err()
                .errno,
            ETIMEDOUT
        );
        assert!(
            pace.done(Ddir::Read, 1, 999_999_999, clock, (1, 10))
                .is_ok()
        );
        let slow = pace
            .done(Ddir::Read, 1, 1_000_000_000, clock, (1, 10))
            .unwrap_err();
        assert!(
            slow.message.contains("rate_min=1000000"),
            "{}",
            slow.message
        );
    }
}
