//! Rates: when the next request of each direction is due, and how late it was served.
//!
//! A schedule is kept in totals since the start, so that rounding never accumulates and a worker
//! that fell behind catches up, as with fio. A request's due time is its intended start: the
//! latency from there includes what a closed loop leaves out, the time a request had to wait
//! because an earlier one was slow (coordinated omission).

use measure::Latency;
use plan::model;
use sys::clock::Clock;
use units::{Ddir, PerDdir};
use workload::rng::Taus258;

/// What one direction is allowed per second.
#[derive(Clone, Copy, Debug)]
enum PerSecond {
    Bytes(u64),
    Ios(u64),
}

/// Schedule of one direction.
#[derive(Clone, Debug)]
struct Schedule {
    rate: PerSecond,
    /// Bytes or requests issued since the start.
    amount: u64,
    /// Nanoseconds after the start when the next request is due.
    due_ns: u64,
}

impl Schedule {
    fn of(bytes: Option<u64>, ios: Option<u64>) -> Option<Schedule> {
        let positive = |rate: Option<u64>| rate.filter(|rate| *rate > 0);
        let rate = match (positive(bytes), positive(ios)) {
            (Some(bytes), _) => PerSecond::Bytes(bytes),
            (None, Some(ios)) => PerSecond::Ios(ios),
            (None, None) => return None,
        };
        Some(Schedule {
            rate,
            amount: 0,
            due_ns: 0,
        })
    }

    /// A request of `len` bytes was issued: when is the next one due?
    fn issued(&mut self, len: u32, random: Option<&mut Taus258>) {
        let (amount, per_s) = match self.rate {
            PerSecond::Bytes(per_s) => (u64::from(len), per_s),
            PerSecond::Ios(per_s) => (1, per_s),
        };
        let Some(random) = random else {
            self.amount += amount;
            self.due_ns = (u128::from(self.amount) * 1_000_000_000 / u128::from(per_s)) as u64;
            return;
        };
        // Uniform in (0, 1]: the logarithm stays finite.
        let uniform = ((random.draw() >> 11) + 1) as f64 / (1u64 << 53) as f64;
        self.due_ns += (-uniform.ln() * amount as f64 * 1e9 / per_s as f64) as u64;
    }
}

/// Rates of one worker.
#[derive(Debug)]
pub struct Rate {
    start: u64,
    schedules: PerDdir<Option<Schedule>>,
    /// Draws the gaps of Poisson arrivals.
    random: Option<Taus258>,
    /// The other direction may go where the one whose turn it is must wait.
    steers: bool,
    /// Intended start of the request in each slot, ticks; `None` if its direction has no rate.
    intended: Box<[Option<u64>]>,
    /// Latency from the intended start.
    late: PerDdir<Latency>,
}

impl Rate {
    /// Rates from tick `start` on, for `slots` requests in flight in the directions `used`; `None`
    /// if there is no limit.
    pub fn new(
        plan: &model::Pace,
        start: u64,
        seed: u64,
        slots: u32,
        mixed: bool,
        used: PerDdir<bool>,
    ) -> Option<Rate> {
        let schedules = PerDdir::from_fn(|d| Schedule::of(plan.rate[d], plan.rate_iops[d]));
        let late = |d: Ddir| match schedules[d] {
            Some(_) if used[d] => Latency::with_histogram(),
            _ => Latency::default(),
        };
        let late = PerDdir::from_fn(late);
        schedules.0.iter().any(Option::is_some).then(|| Rate {
            start,
            schedules,
            random: plan.poisson.then(|| Taus258::new(seed)),
            steers: mixed,
            intended: vec![None; slots as usize].into_boxed_slice(),
            late,
        })
    }

    /// Forgets what was issued and begins anew at tick `now`.
    pub fn restart(&mut self, now: u64) {
        self.start = now;
        for schedule in self.schedules.0.iter_mut().flatten() {
            schedule.amount = 0;
            schedule.due_ns = 0;
        }
        for late in &mut self.late.0 {
            late.moments = Default::default();
            if let Some(histogram) = &mut late.histogram {
                *histogram = Default::default();
            }
        }
    }

    /// Must directions be asked for one by one?
    pub fn steers(&self) -> bool {
        self.steers
    }

    fn due_ns(&self, ddir: Ddir) -> u64 {
        self.schedules[ddir]
            .as_ref()
            .map_or(0, |schedule| schedule.due_ns)
    }

    /// The direction to go on in at tick `now`, where the mix says `ddir`: that one if it is due,
    /// else the other if that is, else the one that will be first.
    pub fn choose<C: Clock>(&self, ddir: Ddir, now: u64, clock: C) -> Ddir {
        let other = match ddir {
            Ddir::Read => Ddir::Write,
            _ => Ddir::Read,
        };
        let at_ns = clock.ns(now.saturating_sub(self.start));
        let (mine, theirs) = (self.due_ns(ddir), self.due_ns(other));
        let stays = mine <= at_ns || (theirs > at_ns && mine <= theirs);
        if stays { ddir } else { other }
    }

    /// The tick when the next request of `ddir` is due, if that is still to come.
    pub fn wait<C: Clock>(&self, ddir: Ddir, now: u64, clock: C) -> Option<u64> {
        let due = self.start + clock.ticks(self.schedules[ddir].as_ref()?.due_ns);
        (now < due).then_some(due)
    }

    /// The request in `slot` was issued.
    pub fn issued<C: Clock>(&mut self, ddir: Ddir, slot: u32, len: u32, clock: C) {
        let schedule = self.schedules[ddir].as_mut();
        self.intended[slot as usize] = schedule.map(|schedule| {
            let intended = self.start + clock.ticks(schedule.due_ns);
            schedule.issued(len, self.random.as_mut());
            intended
        });
    }

    /// The request in `slot` came back complete at tick `end`.
    pub fn done<C: Clock>(&mut self, ddir: Ddir, slot: u32, end: u64, clock: C) {
        if let Some(intended) = self.intended[slot as usize] {
            self.late[ddir].add(clock.ns(end.saturating_sub(intended)), 1);
        }
    }

    /// Moves the schedule by a pause that is not to be caught up with.
    pub fn shift(&mut self, pause_ns: u64) {
        for schedule in self.schedules.0.iter_mut().flatten() {
            let more = match schedule.rate {
                PerSecond::Bytes(per_s) | PerSecond::Ios(per_s) => {
                    u128::from(per_s) * u128::from(pause_ns) / 1_000_000_000
                }
            };
            schedule.amount += more as u64;
            schedule.due_ns += pause_ns;
        }
    }

    /// Takes the latencies from the intended start; `None` for directions without a rate.
    pub fn take_late(&mut self) -> PerDdir<Option<Latency>> {
        let rated = |d: Ddir| self.schedules[d].is_some();
        PerDdir::from_fn(|d| rated(d).then(|| std::mem::take(&mut self.late[d])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sys::clock::Step;

    fn rate(plan: &model::Pace, clock: Step, mixed: bool) -> Rate {
        Rate::new(plan, clock.now(), 7, 1, mixed, PerDdir::splat(true)).expect("a rate was given")
    }

    /// Issues one request, waiting as long as it takes.
    fn issue(rate: &mut Rate, clock: Step, ddir: Ddir, len: u32) {
        while let Some(due) = rate.wait(ddir, clock.now(), clock) {
            clock.sleep_until(due);
        }
        rate.issued(ddir, 0, len, clock);
    }

    #[test]
    fn a_rate_is_kept_on_average() {
        let clock = Step::new(100);
        let mut plan = model::Pace::default();
        plan.rate[Ddir::Read] = Some(1_000_000);
        plan.rate_iops[Ddir::Write] = Some(500);
        let mut rate = rate(&plan, clock, false);
        (0..1001).for_each(|_| issue(&mut rate, clock, Ddir::Read, 1000));
        let took = clock.now();
        assert!((1_000_000_000..1_000_100_000).contains(&took), "{took}");
        (0..1001).for_each(|_| issue(&mut rate, clock, Ddir::Write, 4096));
        let took = clock.now();
        assert!((2_000_000_000..2_000_100_000).contains(&took), "{took}");
    }

    #[test]
    fn a_mix_follows_the_rates_and_not_the_coin() {
        let clock = Step::new(100);
        let mut plan = model::Pace::default();
        plan.rate[Ddir::Read] = Some(4_096_000);
        plan.rate_iops[Ddir::Write] = Some(3000);
        for poisson in [false, true] {
            plan.poisson = poisson;
            let mut rate = rate(&plan, clock, true);
            let begin = clock.now();
            let mut done = PerDdir([0u64; 3]);
            while clock.now() - begin < 20_000_000_000 {
                // The coin says read three times out of four.
                let coin = if (done[Ddir::Read] + done[Ddir::Write]) % 4 < 3 {
                    Ddir::Read
                } else {
                    Ddir::Write
                };
                let ddir = rate.choose(coin, clock.now(), clock);
                issue(&mut rate, clock, ddir, 4096);
                done[ddir] += 1;
            }
            for (ddir, want) in [(Ddir::Read, 20_000), (Ddir::Write, 60_000)] {
                let off = done[ddir].abs_diff(want);
                assert!(
                    off * 50 < want,
                    "{ddir:?}, poisson {poisson}: {}",
                    done[ddir]
                );
            }
        }
    }

    #[test]
    fn poisson_arrivals_have_the_requested_mean_and_spread() {
        let clock = Step::new(10);
        let mut plan = model::Pace::default();
        plan.rate_iops[Ddir::Read] = Some(1000);
        plan.poisson = true;
        let mut rate = rate(&plan, clock, false);
        let mut last = clock.now();
        let gaps: Vec<f64> = (0..20_000)
            .map(|_| {
                issue(&mut rate, clock, Ddir::Read, 4096);
                let now = clock.now();
                (now - std::mem::replace(&mut last, now)) as f64 / 1e6
            })
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
    fn latency_counts_from_the_intended_start() {
        let clock = Step::new(0);
        let mut plan = model::Pace::default();
        plan.rate_iops[Ddir::Read] = Some(1000);
        let mut rate = rate(&plan, clock, false);
        // The first request takes 10 ms; the nine behind it should have started meanwhile.
        for n in 0..10 {
            issue(&mut rate, clock, Ddir::Read, 4096);
            clock.advance(if n == 0 { 10_000_000 } else { 1 });
            rate.done(Ddir::Read, 0, clock.now(), clock);
        }
        let taken = rate.take_late();
        let late = taken[Ddir::Read].as_ref().expect("reads have a rate");
        assert_eq!((late.moments.n, late.moments.max), (10, 10_000_000));
        assert_eq!(
            late.moments.min(),
            1_000_009,
            "due at 9 ms, done 9 ns after 10 ms"
        );
        assert!(taken[Ddir::Write].is_none());
        issue(&mut rate, clock, Ddir::Read, 4096);
        rate.done(Ddir::Read, 0, clock.now(), clock);
        rate.restart(clock.now());
        let taken = rate.take_late();
        assert_eq!(taken[Ddir::Read].as_ref().map(|l| l.moments.n), Some(0));
    }

    #[test]
    fn a_pause_that_does_not_count_is_not_caught_up_with() {
        let clock = Step::new(0);
        let mut plan = model::Pace::default();
        plan.rate_iops[Ddir::Read] = Some(1000);
        let mut rate = rate(&plan, clock, false);
        issue(&mut rate, clock, Ddir::Read, 4096);
        clock.advance(100_000_000);
        rate.shift(100_000_000);
        (0..100).for_each(|_| issue(&mut rate, clock, Ddir::Read, 4096));
        assert_eq!(
            clock.now(),
            200_000_000,
            "one a millisecond after the pause"
        );
    }
}
