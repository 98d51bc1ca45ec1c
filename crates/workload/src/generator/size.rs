//! The sizes of requests: one size, a range, or weighted ones.

use crate::arith::Divider;
use crate::rng::Taus;
use crate::spec::BlockSize;

/// A weighted size, and the draws below which it is taken.
#[derive(Clone, Copy, Debug)]
struct Share {
    bytes: u64,
    narrow: u64,
    wide: u64,
}

/// Sizes of one direction.
#[derive(Clone, Debug)]
pub(super) struct Size {
    pub(super) min: u64,
    max: u64,
    /// `max` as a double.
    span: f64,
    unaligned: bool,
    divider: Divider,
    /// Weighted sizes in ascending order of shares.
    split: Box<[Share]>,
}

impl Size {
    pub(super) fn new(block: &BlockSize, unaligned: bool) -> Self {
        let mut shares = block.split.clone();
        shares.retain(|share| share.percent > 0);
        shares.sort_by_key(|share| share.percent);
        let mut sum = 0;
        let split = shares.iter().map(|share| {
            sum += u64::from(share.percent);
            // fio compares draw / percent <= largest draw / 100, in integers.
            let limit = |largest: u64| (largest / 100 + 1).saturating_mul(sum);
            Share {
                bytes: share.bytes,
                narrow: limit(u32::MAX.into()),
                wide: limit(u64::MAX),
            }
        });
        Size {
            min: block.min,
            max: block.max,
            span: block.max as f64,
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
                self.min + rand.below(self.span)
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
        let (draw, wide) = match rand {
            Taus::Narrow(rand) => (u64::from(rand.draw()), false),
            Taus::Wide(rand) => (rand.draw(), true),
        };
        let mut drawn = self.min;
        for share in &self.split {
            drawn = share.bytes;
            if draw < if wide { share.wide } else { share.narrow } && drawn <= room {
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
