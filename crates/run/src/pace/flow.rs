//! Flows: jobs that keep their requests in proportion to their weights.

use crate::hot::Gate;
use plan::model;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use sys::clock::Clock;

/// What the jobs of one flow share. Unlike the counters of a worker these have many writers, so
/// they are atomic additions; only jobs with `flow=` pay for that.
#[derive(Debug)]
pub struct Flow {
    /// Requests of all members, and one more, so that a share of it is always defined.
    issued: AtomicU64,
    weight: AtomicU64,
}

impl Default for Flow {
    fn default() -> Self {
        Flow {
            issued: AtomicU64::new(1),
            weight: AtomicU64::new(0),
        }
    }
}

impl Flow {
    /// A member starts. All that start together do so before one of them issues anything.
    pub fn enter(&self, plan: model::Flow) {
        self.weight.fetch_add(plan.weight.into(), Relaxed);
    }

    /// A member has ended: the others need not wait for it.
    pub fn leave(&self, plan: model::Flow) {
        self.weight.fetch_sub(plan.weight.into(), Relaxed);
    }
}

/// The requests of one member of a flow; they leave the flow when it is dropped.
#[derive(Debug)]
pub struct Member {
    flow: Arc<Flow>,
    plan: model::Flow,
    issued: u64,
    /// The request that is next has been counted already.
    admitted: bool,
}

impl Member {
    /// A member that has issued nothing.
    pub fn new(flow: &Arc<Flow>, plan: model::Flow) -> Member {
        Member {
            flow: Arc::clone(flow),
            plan,
            issued: 0,
            admitted: false,
        }
    }

    /// May a request be issued, or is the job ahead of its share?
    pub fn gate<C: Clock>(&mut self, now: u64, clock: C) -> Gate {
        if self.admitted {
            return Gate::Go;
        }
        let share = |part: u64, all: u64| part as f64 / all as f64;
        let issued = share(self.issued, self.flow.issued.load(Relaxed));
        let weight = share(self.plan.weight.into(), self.flow.weight.load(Relaxed));
        if issued > weight {
            if self.plan.sleep_ns > 0 {
                return Gate::Until(now + clock.ticks(self.plan.sleep_ns));
            }
            // The others need the processor to catch up.
            std::thread::yield_now();
            return Gate::Hold;
        }
        self.flow.issued.fetch_add(1, Relaxed);
        self.issued += 1;
        self.admitted = true;
        Gate::Go
    }

    /// The request was issued.
    pub fn issued(&mut self) {
        self.admitted = false;
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.flow.issued.fetch_sub(self.issued, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sys::clock::Step;

    fn member(flow: &Arc<Flow>, weight: u32) -> Member {
        let plan = model::Flow {
            id: 0,
            weight,
            sleep_ns: 0,
        };
        flow.enter(plan);
        Member::new(flow, plan)
    }

    /// Issues a request if the flow admits it.
    fn issue(member: &mut Member, clock: Step) -> u64 {
        let goes = member.gate(0, clock) == Gate::Go;
        if goes {
            assert_eq!(
                member.gate(0, clock),
                Gate::Go,
                "asking twice costs nothing"
            );
            member.issued();
        }
        goes.into()
    }

    #[test]
    fn requests_stay_in_proportion_and_a_member_that_leaves_frees_the_rest() {
        let (clock, flow) = (Step::new(1), Arc::new(Flow::default()));
        let (mut small, mut large) = (member(&flow, 1), member(&flow, 3));
        let (mut a, mut b) = (0, 0);
        for _ in 0..4000 {
            a += issue(&mut small, clock);
            b += issue(&mut large, clock);
        }
        assert!((3 * a).abs_diff(b) < 10, "{a} and {b}");
        assert_eq!(small.issued, a);
        flow.leave(large.plan);
        drop(large);
        assert_eq!(
            (0..1000).map(|_| issue(&mut small, clock)).sum::<u64>(),
            1000
        );
        drop(small);
        assert_eq!(flow.issued.load(Relaxed), 1);
    }
}
