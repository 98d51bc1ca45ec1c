//! How fast a worker may go: rates, think time, flows, the search for a depth, and the limits
//! that fail a job. One file for each; this one asks them in fio's order.

mod depth;
mod flow;
mod least;
mod rate;
mod think;

pub use flow::Flow;

use crate::failure::ETIMEDOUT;
use crate::hot::{Done, Gate};
use crate::live::{Live, Phase, order};
use depth::{Search, Step};
use flow::Member;
use least::Least;
use measure::Latency;
use plan::model::Worker;
use rate::Rate;
use result::Failure;
use std::path::PathBuf;
use std::sync::Arc;
use sys::clock::Clock;
use think::{Think, Turn};
use units::{Ddir, PerDdir};
use workload::{Batch, Fill, Steer};

/// Requests that the first batch of a paced job holds; each further batch holds twice as many. A
/// slow job touches little of its random map that way.
const FIRST_AHEAD: usize = 1;

/// Pace of one worker; each part is absent unless the job asks for it.
#[derive(Debug)]
pub struct Pace {
    rate: Option<Rate>,
    think: Option<Think>,
    /// Think time does not count against the rates.
    ignores_think: bool,
    flow: Option<Member>,
    search: Option<Search>,
    least: Option<Least>,
    max_latency_ns: PerDdir<Option<u64>>,
    spin_ticks: u64,
    /// A request was issued since the last spin.
    spins: bool,
    paths: Vec<Arc<PathBuf>>,
    /// Requests to generate next time.
    ahead: usize,
    /// Requests are served by other threads, and come back while this one waits.
    offload: bool,
}

impl Pace {
    /// The pace of `worker` from tick `start` on, with at most `slots` requests in flight; `None`
    /// if it may go as fast as it can.
    pub fn new(
        worker: &Worker,
        start: u64,
        slots: u32,
        flow: Option<&Arc<Flow>>,
    ) -> Option<Box<Pace>> {
        let plan = &worker.pace;
        let requests = &worker.requests;
        let mixed = requests.direction.is_mixed() && (1..100).contains(&requests.rwmix_read);
        let seed = requests.thread_number.into();
        let flow = plan
            .flow
            .zip(flow)
            .map(|(plan, flow)| Member::new(flow, plan));
        let used = PerDdir::from_fn(|ddir| worker.uses(ddir) || worker.verify.is_some());
        let limited = plan.max_latency_ns.0.iter().any(Option::is_some);
        let pace = Pace {
            rate: Rate::new(plan, start, seed, slots, mixed, used),
            think: plan.think.map(|think| Think::new(think, start)),
            ignores_think: plan.ignore_thinktime,
            flow,
            search: plan.search.map(|search| Search::new(search, slots, start)),
            least: Least::new(&worker.name, plan, start),
            max_latency_ns: plan.max_latency_ns,
            spin_ticks: plan.spin_ticks,
            spins: false,
            paths: worker.targets.iter().map(|t| Arc::clone(&t.path)).collect(),
            ahead: FIRST_AHEAD,
            offload: worker.depth.offload,
        };
        let wanted = pace.rate.is_some()
            || pace.think.is_some()
            || pace.flow.is_some()
            || pace.search.is_some()
            || pace.least.is_some()
            || limited
            || pace.spin_ticks > 0;
        wanted.then(|| Box::new(pace))
    }

    /// Generates requests: one at a time where the rates choose the direction.
    pub fn refill<C: Clock>(&mut self, fill: &mut dyn Fill, batch: &mut Batch, clock: C) -> usize {
        struct Rates<'a, C>(&'a Rate, C);
        impl<C: Clock> Steer for Rates<'_, C> {
            fn choose(&mut self, drawn: Ddir) -> Ddir {
                self.0.choose(drawn, self.1.now(), self.1)
            }
        }
        match &self.rate {
            Some(rate) if rate.steers() => fill.fill_steered(batch, &mut Rates(rate, clock)),
            _ => {
                let ahead = self.ahead;
                self.ahead = (2 * ahead).min(Batch::CAPACITY);
                fill.fill(batch, ahead)
            }
        }
    }

    /// The direction of a mix that is next by its rates.
    pub fn choose<C: Clock>(&self, drawn: Ddir, clock: C) -> Ddir {
        match &self.rate {
            Some(rate) if rate.steers() => rate.choose(drawn, clock.now(), clock),
            _ => drawn,
        }
    }

    /// Most requests that may be in flight now.
    pub fn most(&self) -> usize {
        let depth = self.search.as_ref().map(|search| search.depth() as usize);
        depth.unwrap_or(usize::MAX)
    }

    /// May an I/O of this direction be issued now?
    pub fn gate<C: Clock>(&mut self, ddir: Ddir, clock: C, live: &Live) -> Gate {
        if !ddir.is_data() {
            return Gate::Go;
        }
        self.spin(clock, live);
        let now = clock.now();
        if let Some(gate) = self.search(now, clock, live) {
            return gate;
        }
        match self.think(now, clock, live) {
            Some(Gate::Until(deadline)) if self.offload => return Gate::At(deadline),
            Some(gate) => return gate,
            None => {}
        }
        if let Some(flow) = &mut self.flow {
            let gate = flow.gate(now, clock);
            if gate != Gate::Go {
                return gate;
            }
        }
        let due = self
            .rate
            .as_ref()
            .and_then(|rate| rate.wait(ddir, now, clock));
        match due {
            None => Gate::Go,
            Some(due) if self.offload => Gate::At(due),
            Some(due) => Gate::Until(due),
        }
    }

    /// `thinkcycles` after each request.
    fn spin<C: Clock>(&mut self, clock: C, live: &Live) {
        if self.spin_ticks > 0 && std::mem::take(&mut self.spins) {
            let end = clock.now().saturating_add(self.spin_ticks);
            while clock.now() < end && !live.ordered() {
                std::hint::spin_loop();
            }
        }
    }

    fn think<C: Clock>(&mut self, now: u64, clock: C, live: &Live) -> Option<Gate> {
        match self.think.as_mut()?.turn(now, clock, live) {
            Turn::Go => None,
            Turn::Wait(gate) => Some(gate),
            Turn::Over(ns) => {
                if let Some(rate) = self.rate.as_mut().filter(|_| self.ignores_think) {
                    rate.shift(ns);
                }
                None
            }
        }
    }

    fn search<C: Clock>(&mut self, now: u64, clock: C, live: &Live) -> Option<Gate> {
        let search = self.search.as_mut()?;
        let ios = live.ios().0.iter().sum();
        if live.phase() != Phase::Ramp {
            search.judge(now, clock, ios);
        }
        match search.step(now, ios) {
            Step::Go => None,
            Step::Drain => Some(Gate::Until(now)),
            Step::Afresh => {
                live.give(order::AFRESH);
                Some(Gate::Until(now))
            }
            Step::Stop => Some(Gate::Stop),
        }
    }

    /// The pauses after the last request of a pass; fio takes them too.
    pub fn linger<C: Clock>(&mut self, clock: C, live: &Live) {
        self.spin(clock, live);
        while let Some(Gate::Until(deadline)) = self.think(clock.now(), clock, live) {
            if live.ordered() {
                return;
            }
            crate::wait::until(clock, live, deadline);
        }
    }

    /// The request was issued.
    pub fn issued<C: Clock>(&mut self, ddir: Ddir, slot: u32, len: u32, clock: C) {
        if !ddir.is_data() {
            return;
        }
        self.spins = true;
        if let Some(rate) = &mut self.rate {
            rate.issued(ddir, slot, len, clock);
        }
        if let Some(think) = &mut self.think {
            think.issued();
        }
        if let Some(flow) = &mut self.flow {
            flow.issued();
        }
    }

    /// A request came back complete; the totals of `live` include it.
    pub fn done<C: Clock>(&mut self, done: &Done, clock: C, live: &Live) -> Result<(), Failure> {
        let ddir = done.io.ddir;
        if let Some(rate) = &mut self.rate {
            rate.done(ddir, done.io.slot, done.end, clock);
        }
        if let Some(think) = &mut self.think {
            think.done();
        }
        let lat_ns = clock.ns(done.end.wrapping_sub(done.start));
        if let Some(most_ns) = self.max_latency_ns[ddir].filter(|most_ns| lat_ns > *most_ns) {
            return Err(self.too_slow(done, lat_ns, most_ns));
        }
        if let Some(search) = &mut self.search {
            search.done(lat_ns)?;
        }
        match &mut self.least {
            Some(least) if live.phase() != Phase::Ramp => {
                least.check(done.end, clock, live.ios(), live.bytes())
            }
            _ => Ok(()),
        }
    }

    #[cold]
    fn too_slow(&self, done: &Done, lat_ns: u64, most_ns: u64) -> Failure {
        let io = &done.io;
        let path = self.paths.get(usize::from(io.file));
        let path = path.map_or_else(|| "(no file)".into(), |path| path.display().to_string());
        let message = format!(
            "latency of {lat_ns} nsec exceeds specified max ({most_ns} nsec): {path} {} {} {}",
            io.ddir.name(),
            io.offset,
            io.len
        );
        Failure::new(ETIMEDOUT, "max latency exceeded", message)
    }

    /// Measuring begins at tick `now`.
    pub fn restart(&mut self, now: u64, live: &Live) {
        if let Some(rate) = &mut self.rate {
            rate.restart(now);
        }
        if let Some(think) = &mut self.think {
            think.restart(now);
        }
        if let Some(search) = &mut self.search {
            search.restart(now, live.ios().0.iter().sum());
        }
        if let Some(least) = &mut self.least {
            least.restart(now);
        }
    }

    /// Latencies from the intended start, for directions with a rate; they begin anew.
    pub fn take_late(&mut self) -> PerDdir<Option<Latency>> {
        self.rate.as_mut().map(Rate::take_late).unwrap_or_default()
    }

    /// The depth that `latency_target` holds now.
    pub fn depth(&self) -> Option<u32> {
        self.search.as_ref().map(Search::depth)
    }
}
