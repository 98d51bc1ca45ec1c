//! `pvsync2`: `preadv2` and `pwritev2`, whose flags ask for polling, no waiting, no caching or
//! untorn writes.

use crate::api::Setup;
use crate::inline::{Inline, Transfer};
use sys::file::File;
use sys::transfer::{self, RWF_ATOMIC, RWF_DONTCACHE, RWF_HIPRI, RWF_NOWAIT};

/// The engine.
pub type Pvsync2 = Inline<Flagged>;

option::options! {
    /// preadv2 and pwritev2
    pub struct Options {
        /// Poll for completions (RWF_HIPRI). Needs direct I/O on a device with poll queues.
        hipri: bool = "0", bare();
        /// Percentage of requests that poll, drawn per request.
        hipri_percentage: u32 = "100", range(0, 100), parent("hipri");
        /// Drop pages from the cache after use (RWF_DONTCACHE). Needs Linux 6.14.
        uncached: bool = "0";
        /// Fail with EAGAIN instead of blocking (RWF_NOWAIT); see ignore_error.
        nowait: bool = "0";
    }
}

/// Moves data with `preadv2` and `pwritev2`.
#[derive(Debug)]
pub struct Flagged {
    read_flags: u32,
    write_flags: u32,
    /// Polling requests in a hundred.
    polled: u32,
    dice: u64,
}

impl Flagged {
    /// `RWF_HIPRI` for the wanted share of requests.
    #[inline]
    fn poll_flag(&mut self) -> u32 {
        if self.polled == 0 {
            return 0;
        }
        // xorshift64*: any even spread serves, and fio's sequence is not part of its format.
        self.dice ^= self.dice >> 12;
        self.dice ^= self.dice << 25;
        self.dice ^= self.dice >> 27;
        let drawn = self.dice.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32;
        if (drawn * 100) >> 32 < u64::from(self.polled) {
            RWF_HIPRI
        } else {
            0
        }
    }
}

impl Transfer for Flagged {
    type Options = Options;
    const NAME: &'static str = "pvsync2";
    const HELP: &'static str = "preadv2 and pwritev2, one request at a time";
    const ATOMIC: bool = true;

    fn new(setup: &Setup<'_, Options>) -> Self {
        let options = setup.options;
        let flag = |on: bool, flag: u32| if on { flag } else { 0 };
        let both = flag(options.uncached, RWF_DONTCACHE) | flag(options.nowait, RWF_NOWAIT);
        Flagged {
            read_flags: both,
            write_flags: both | flag(setup.atomic, RWF_ATOMIC),
            polled: if options.hipri {
                options.hipri_percentage
            } else {
                0
            },
            dice: 0x9e37_79b9_7f4a_7c15,
        }
    }

    #[inline]
    fn read(&mut self, _: u16, fd: &File, buffer: &mut [u8], offset: u64) -> i32 {
        let flags = self.read_flags | self.poll_flag();
        transfer::preadv2(fd, buffer, offset, flags)
    }

    #[inline]
    fn write(&mut self, _: u16, fd: &File, buffer: &[u8], offset: u64) -> i32 {
        let flags = self.write_flags | self.poll_flag();
        transfer::pwritev2(fd, buffer, offset, flags)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_polled_requests_is_as_asked() {
        for (percent, low, high) in [(0, 0, 0), (30, 2800, 3200), (100, 10_000, 10_000)] {
            let mut flagged = Flagged {
                read_flags: 0,
                write_flags: 0,
                polled: percent,
                dice: 7,
            };
            let polled = (0..10_000)
                .filter(|_| flagged.poll_flag() == RWF_HIPRI)
                .count();
            assert!((low..=high).contains(&polled), "{percent} %: {polled}");
        }
    }
}
