//! The hooks of jobs with rare features: pace, think time, latency limits, logs, verification.

use crate::hot::{Done, Gate, Hooks};
use crate::live::Live;
use crate::pace::Pace;
use engine::Io;
use result::Failure;
use std::sync::Arc;
use sys::clock::Clock;

/// Features of one worker; each is absent unless the job asks for it.
pub struct Rich {
    /// Rates, think time, latency limits.
    pub pace: Option<Pace>,
    /// Counters for minimum checks.
    pub live: Arc<Live>,
}

impl Hooks for Rich {
    const ACTIVE: bool = true;
    const STAMPED: bool = true;

    fn gate<C: Clock>(&mut self, io: &Io, clock: C) -> Gate {
        match &mut self.pace {
            Some(pace) => pace.gate(io.ddir, io.len, clock),
            None => Gate::Go,
        }
    }

    fn prepare<C: Clock>(&mut self, _io: &Io, _buffer: &mut [u8], _clock: C) {}

    fn done<C: Clock>(&mut self, done: &Done, _buffer: &[u8], clock: C) -> Result<(), Failure> {
        let ddir = done.io.ddir;
        if let Some(pace) = &mut self.pace {
            let lat_ns = clock.ns(done.end.wrapping_sub(done.start));
            let totals = (self.live.ios()[ddir], self.live.bytes()[ddir]);
            pace.done(ddir, lat_ns, done.end, clock, totals)?;
        }
        Ok(())
    }
}
