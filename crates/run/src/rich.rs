//! The hooks of jobs with rare features: pace, think time, latency limits, logs, verification.

use crate::hot::{Done, Gate, Hooks};
use crate::live::Live;
use crate::logs::Book;
use crate::pace::Pace;
use crate::verify::Verification;
use engine::Io;
use result::Failure;
use std::sync::Arc;
use sys::clock::Clock;
use workload::{Batch, Fill};

/// Features of one worker; each is absent unless the job asks for it.
pub struct Rich<'a> {
    /// Rates, think time, latency limits.
    pub pace: Option<Pace>,
    /// Log rows and the recorded pattern.
    pub book: Option<Book>,
    /// Stamps on writes, checks of reads.
    pub verification: Option<Verification<'a>>,
    /// Counters for minimum checks, and the phase for logs.
    pub live: Arc<Live>,
}

impl Hooks for Rich<'_> {
    const ACTIVE: bool = true;
    const STAMPED: bool = true;

    fn gate<C: Clock>(&mut self, io: &Io, clock: C) -> Gate {
        let reading_back = self
            .verification
            .as_ref()
            .is_some_and(|v| v.is_reading_back());
        match &mut self.pace {
            Some(pace) if !reading_back => pace.gate(io.ddir, io.len, clock),
            _ => Gate::Go,
        }
    }

    fn prepare<C: Clock>(&mut self, io: &Io, buffer: &mut [u8], clock: C) {
        if let Some(verification) = &mut self.verification {
            verification.prepare(io, buffer, clock.ns(clock.now()));
        }
    }

    fn pretend(&mut self, fill: &mut dyn Fill, batch: &mut Batch) -> Option<(u64, u64)> {
        self.verification
            .as_mut()
            .filter(|v| v.pretends())
            .map(|v| v.pretend(fill, batch))
    }

    fn read_back(&mut self) -> Option<Box<dyn Fill>> {
        self.verification.as_mut()?.read_back()
    }

    fn read_back_over(&mut self) {
        if let Some(verification) = &mut self.verification {
            verification.read_back_over();
        }
    }

    fn taken<C: Clock>(&mut self, io: &Io, at: u64, clock: C) {
        if let Some(book) = &mut self.book {
            book.taken(io, at, clock);
        }
    }

    fn issued<C: Clock>(&mut self, io: &Io, start: u64, issue: u64, clock: C) {
        if let Some(book) = &mut self.book {
            book.issued(io, start, issue, &self.live, clock);
        }
    }

    fn pass_over<C: Clock>(&mut self, clock: C) {
        if let Some(book) = &mut self.book {
            book.pass_over(clock.now(), clock);
        }
    }

    fn done<C: Clock>(&mut self, done: &Done, buffer: &[u8], clock: C) -> Result<(), Failure> {
        let ddir = done.io.ddir;
        if let Some(book) = &mut self.book {
            book.done(done, &self.live, clock);
        }
        if let Some(pace) = &mut self.pace {
            let lat_ns = clock.ns(done.end.wrapping_sub(done.start));
            let totals = (self.live.ios()[ddir], self.live.bytes()[ddir]);
            pace.done(ddir, lat_ns, done.end, clock, totals)?;
        }
        match &mut self.verification {
            Some(verification) => verification.done(&done.io, buffer),
            None => Ok(()),
        }
    }
}
