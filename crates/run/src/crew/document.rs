//! What a run has to tell, at its end and on the way.

use super::Session;
use crate::live::order;
use crate::member::{Member, State};
use crate::report::{self, Account};
use crate::stats::Stats;
use crate::worker;
use result::{Job, Run, SCHEMA_VERSION};
use std::time::{Duration, Instant};
use sys::clock::monotonic_ns;
use units::PerDdir;

/// How long a running report waits for the workers' own copies.
const SNAPSHOT_WAIT: Duration = Duration::from_millis(40);

impl Session<'_, '_> {
    /// Asks the running workers for copies of their statistics and shows the report.
    pub(super) fn report_running(&mut self) {
        self.collect();
        let run = self.document(true);
        self.observer.report(run);
    }

    /// Asks the running workers for copies of their statistics.
    pub(super) fn collect(&mut self) {
        let running = |m: &&mut Member<'_>| matches!(m.state, State::Running);
        for member in self.members.iter_mut().filter(running) {
            member.give(order::SNAPSHOT);
        }
        let until = Instant::now() + SNAPSHOT_WAIT;
        loop {
            let mut missing = false;
            for member in self.members.iter_mut().filter(running) {
                let taken = member
                    .shared
                    .snapshot
                    .lock()
                    .ok()
                    .and_then(|mut copy| copy.take());
                match taken {
                    Some(snapshot) => member.last = Some(snapshot),
                    None => missing |= member.shared.live.orders() & order::SNAPSHOT != 0,
                }
            }
            if !missing || Instant::now() >= until {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// The document as of now.
    pub(super) fn document(&self, partial: bool) -> Run {
        self.frame(partial, (0..self.members.len()).map(|at| self.job(at)))
    }

    /// The document at the end. Workers lose their statistics as they enter it: a thousand of
    /// them would otherwise stand in memory twice.
    pub(super) fn last_document(&mut self, partial: bool) -> Run {
        let mut jobs = Vec::with_capacity(self.members.len());
        for at in 0..self.members.len() {
            jobs.push(self.job(at));
            if let State::Done(outcome) = &mut self.members[at].state {
                outcome.stats = Stats::default();
            }
        }
        self.frame(partial, jobs)
    }

    fn frame(&self, partial: bool, jobs: impl IntoIterator<Item = Job>) -> Run {
        Run {
            schema: SCHEMA_VERSION,
            tool_version: env!("CARGO_PKG_VERSION").into(),
            finished_ms: worker::epoch_ms(),
            global_options: self.plan.global_options.clone(),
            jobs: jobs.into_iter().collect(),
            notes: self.plan.notes.clone(),
            partial,
            ..Run::default()
        }
    }

    fn job(&self, at: usize) -> Job {
        let member = &self.members[at];
        let now = monotonic_ns();
        let blank;
        let (stats, outcome) = match (&member.state, &member.last) {
            (State::Done(outcome), _) => (&outcome.stats, Some(outcome)),
            (_, Some(snapshot)) => (&snapshot.stats, None),
            _ => {
                blank = Stats::new(member.plan, false);
                (&blank, None)
            }
        };
        let measured_ns = member
            .measured_ns
            .map_or(0, |from| now.saturating_sub(from));
        let known = outcome.is_some() || member.last.is_some();
        let zero = PerDdir::default();
        let end_ns = if outcome.is_some() {
            member.ended_ns
        } else {
            now
        };
        let mut sampled = member.sampler.sampled.clone();
        if let Some(outcome) = outcome {
            sampled.pool(&outcome.sampled);
        }
        let watch = self.watches.iter().find(|watch| watch.covers(at));
        report::job(&Account {
            worker: member.plan,
            steady: watch.map(|watch| watch.judge.result()),
            stats,
            ios: if known {
                member.shared.live.ios()
            } else {
                zero
            },
            bytes: if known {
                member.shared.live.bytes()
            } else {
                zero
            },
            pid: outcome.map_or(member.last.as_ref().map_or(0, |s| s.pid), |o| o.pid),
            started_ms: outcome.map_or_else(worker::epoch_ms, |o| o.started_ms),
            io_ns: outcome.map_or(measured_ns, |o| o.io_ns),
            verify_ns: outcome.map_or(0, |o| o.verify_ns),
            total_ns: outcome.map_or(measured_ns, |o| o.total_ns),
            elapsed_ns: end_ns.saturating_sub(self.genesis_ns),
            usage: match (outcome, &member.last) {
                (Some(outcome), _) => report::usage(&outcome.usage),
                (None, Some(snapshot)) => report::usage(&snapshot.usage),
                (None, None) => Default::default(),
            },
            punts: outcome.map_or_else(Default::default, |outcome| outcome.punts),
            sampled: &sampled,
        })
    }
}
