//! The sizes of requests: one size, a range, or weighted ones.

use crate::arith::Divider;
use crate::rng::Taus;
use crate::spec::BlockSize;

/// Sizes of one direction.
#[derive(Clone, Debug)]
pub(super) struct Size {
    pub(super) min: u64,
    max: u64,
    unaligned: bool,
    divider: Divider,
    /// Sizes with the percent of draws up to which they hold, in ascending order of shares.
    split: Box<[(u64, u64)]>,
}

impl Size {
    pub(super) fn new(block: &BlockSize, unaligned: bool) -> Self {
        let mut shares = block.split.clone();
        shares.retain(|share| share.percent > 0);
        shares.sort_by_key(|share| share.percent);
        let mut sum = 0;
        let split = shares.iter().map(|share| {
            sum += u64::from(share.percent);
            (share.bytes, sum)
        });
        Size {
            min: block.min,
            max: block.max,
            unaligned,
            divider: Divider::new(block.min),
            split: split.collect(),
        }
    }

    /// The size of a request with `room` bytes to the end of the region; `None` if not even
    /// the smallest fits. A job of one size does not look at the room, as in fio.
    #[inline]
    pub(super) fn next(&self, rand: &mut Taus, room: u64) -> Option<u64> {
        if self.min == self.max {
            return Some(self.min);
        }
        if room < self.min {
            return None;
        }
        loop {
            let mut bytes = if self.split.is_empty() {
                self.min + rand.below(self.max)
            } else {
                self.drawn(rand, room)
            };
            if !self.unaligned {
                bytes = self.divider.round_down(bytes);
            }
            bytes = bytes.min(self.max);
            if bytes <= room {
                return Some(bytes);
            }
        }
    }

    /// The first size whose share includes the draw and that fits, else the last one.
    #[inline]
    fn drawn(&self, rand: &mut Taus, room: u64) -> u64 {
        let draw = rand.draw();
        // fio compares draw / percent <= max / 100 in integers.
        let unit = u128::from(rand.max() / 100 + 1);
        let mut drawn = self.min;
        for &(bytes, percent) in &self.split {
            drawn = bytes;
            if u128::from(draw) < unit * u128::from(percent) && bytes <= room {
                break;
            }
        }
        drawn
    }

    /// Number of smallest blocks that a request covers, the last one possibly in part.
    #[inline]
    pub(super) fn blocks(&self, bytes: u64) -> u64 {
        self.divider.quotient(bytes + self.min - 1)
    }
}
