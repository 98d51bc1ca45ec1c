//! What the tool itself costs per I/O, measured where the run took place.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// CPU time of the measuring thread per I/O, in nanoseconds, with nothing or next to nothing
/// behind the loop. All figures carry full default statistics unless they say otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SelfCheck {
    /// Source of time stamps: `tsc` or `clock_gettime`.
    pub clock: String,
    /// Reading that clock once.
    pub stamp_ns: f64,
    /// The null engine, one request at a time.
    pub sync_ns: f64,
    /// The null engine, 32 requests in flight, submitted and reaped together.
    pub queued_ns: f64,
    /// Requests that do nothing through an io_uring, 32 at a time; `None` without io_uring.
    pub ring: Option<Beside>,
    /// Reads of a cached file through an io_uring, 32 at a time, where a file was given.
    pub file: Option<Beside>,
}

/// A loop with statistics beside a bare one that does the same requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Beside {
    /// Generate, submit, reap, nothing else.
    pub bare_ns: f64,
    /// With full statistics.
    pub full_ns: f64,
}

impl Beside {
    /// Speed of the full loop as a share of the bare one's.
    pub fn share(&self) -> f64 {
        self.bare_ns / self.full_ns
    }
}

impl SelfCheck {
    /// Share of the wall time per I/O that the tool takes itself, 0 to 1, for one worker that
    /// did `iops` I/Os per second at a depth.
    pub fn share(&self, iodepth: u32, iops: f64) -> f64 {
        let own_ns = if iodepth > 1 {
            self.queued_ns
        } else {
            self.sync_ns
        };
        (own_ns * iops / 1e9).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_time_per_request() {
        let check = SelfCheck {
            sync_ns: 50.0,
            queued_ns: 10.0,
            ..SelfCheck::default()
        };
        assert_eq!(check.share(1, 1e6), 0.05);
        assert_eq!(check.share(32, 1e6), 0.01);
        assert_eq!(check.share(1, 1e9), 1.0);
        let ring = Beside {
            bare_ns: 75.0,
            full_ns: 100.0,
        };
        assert_eq!(ring.share(), 0.75);
    }
}
