//! In which order the cells of a ring follow each other.
//!
//! Whatever the order, every cache line of the buffer is visited once before any is visited
//! again, so that a buffer of four times the cache cannot be found in it: with a stride above one
//! line the buffer is walked several times, each time a line further.
//!
//! A random order is a permutation that is computed, not stored: rounds of multiplication and
//! shift that map `0..2^bits` onto itself, skipping what lies beyond the number of cells. The
//! permutation of the counter visits everything once, which makes it one cycle by construction.

use crate::kernel::LINE;
use crate::kernel::chase::CELL;
use crate::sample::Random;

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Ascending, `stride` bytes apart. The processor's prefetchers see it coming.
    Sequential {
        /// Bytes.
        stride: usize,
    },
    /// Random within a window, window after window.
    Window {
        /// Distance of the places that may be visited, bytes.
        stride: usize,
        /// Bytes.
        window: usize,
    },
    /// Random over all lines of the buffer.
    Random,
}

impl Layout {
    /// Stays within a DRAM row and few pages, and yet no prefetcher follows: 256 bytes apart in
    /// 256 KiB.
    pub const LOCAL: Layout = Layout::Window {
        stride: 256,
        window: 256 << 10,
    };

    /// In words.
    pub fn name(&self) -> String {
        match self {
            Layout::Sequential { stride } => format!("sequential, stride {stride} B"),
            Layout::Window { stride, window } => {
                format!(
                    "random in windows of {} KiB, stride {stride} B",
                    window >> 10
                )
            }
            Layout::Random => "random over the buffer".to_owned(),
        }
    }

    /// Offsets of the cells in a buffer of `bytes`, each once.
    ///
    /// # Errors
    /// In words, when the stride or window does not go with the buffer.
    pub fn order(&self, bytes: usize) -> Result<Order, String> {
        let (stride, window, random) = match *self {
            Layout::Sequential { stride } => (stride, bytes, false),
            Layout::Window { stride, window } => (stride, window.min(bytes), true),
            Layout::Random => (LINE, bytes, true),
        };
        if stride == 0 || !stride.is_multiple_of(CELL) {
            return Err(format!(
                "a stride is a multiple of {CELL} bytes; {stride} is not"
            ));
        }
        if stride > LINE && !stride.is_multiple_of(LINE) {
            return Err(format!(
                "a stride above {LINE} bytes is a multiple of it; {stride} is not"
            ));
        }
        if window < stride || bytes < window {
            return Err(format!(
                "a stride of {stride} bytes does not fit a buffer of {window}"
            ));
        }
        Ok(Order {
            stride,
            window,
            windows: bytes / window,
            phases: (stride / LINE).max(1),
            random,
            shuffle: Shuffle::new(window / stride, 0),
            phase: 0,
            at_window: 0,
            step: 0,
        })
    }
}

/// The offsets, see [`Layout::order`].
#[derive(Clone, Debug)]
pub struct Order {
    stride: usize,
    window: usize,
    windows: usize,
    /// Walks through the whole buffer, each a line further.
    phases: usize,
    random: bool,
    shuffle: Shuffle,
    phase: usize,
    at_window: usize,
    step: usize,
}

impl Order {
    /// Number of offsets.
    pub fn cells(&self) -> usize {
        self.phases * self.windows * (self.window / self.stride)
    }
}

impl Iterator for Order {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.step == self.window / self.stride {
            self.step = 0;
            self.at_window += 1;
            if self.at_window == self.windows {
                self.at_window = 0;
                self.phase += 1;
            }
            let seed = self.phase * self.windows + self.at_window;
            self.shuffle = Shuffle::new(self.window / self.stride, seed as u64);
        }
        if self.phase == self.phases {
            return None;
        }
        let place = match self.random {
            true => self.shuffle.at(self.step),
            false => self.step,
        };
        self.step += 1;
        Some(self.at_window * self.window + place * self.stride + self.phase * LINE)
    }
}

/// A permutation of `0..count`.
#[derive(Clone, Copy, Debug)]
struct Shuffle {
    count: usize,
    mask: usize,
    shift: u32,
    /// Added and multiplied by in each round; the factors are odd.
    rounds: [(usize, usize); 3],
}

impl Shuffle {
    fn new(count: usize, seed: u64) -> Shuffle {
        let mut random = Random(seed ^ 0x5851_f42d_4c95_7f2d);
        let bits = usize::BITS - count.saturating_sub(1).leading_zeros();
        Shuffle {
            count,
            mask: (1usize << bits) - 1,
            shift: (bits / 2).max(1),
            rounds: [(); 3].map(|()| (random.bits() as usize, random.bits() as usize | 1)),
        }
    }

    /// Where `step` goes.
    #[inline]
    fn at(&self, step: usize) -> usize {
        let mut x = step;
        loop {
            for (add, factor) in self.rounds {
                x = x.wrapping_add(add).wrapping_mul(factor) & self.mask;
                x ^= x >> self.shift;
            }
            if x < self.count {
                return x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    const KIB: usize = 1 << 10;

    fn offsets(layout: Layout, bytes: usize) -> Vec<usize> {
        layout.order(bytes).unwrap().collect()
    }

    proptest! {
        #[test]
        fn a_shuffle_is_a_permutation(count in 1usize..3000, seed: u64) {
            let shuffle = Shuffle::new(count, seed);
            let mut seen: Vec<usize> = (0..count).map(|step| shuffle.at(step)).collect();
            seen.sort_unstable();
            prop_assert!(seen.into_iter().eq(0..count));
        }

        #[test]
        fn every_line_is_visited_once(
            stride in prop::sample::select(vec![64usize, 128, 256, 1024, 4096]),
            pages in 1usize..6,
            windows in 1usize..5,
        ) {
            let window = pages * 4096;
            let bytes = window * windows;
            for layout in [
                Layout::Sequential { stride },
                Layout::Window { stride, window },
                Layout::Random,
            ] {
                let mut seen = offsets(layout, bytes);
                prop_assert_eq!(seen.len(), layout.order(bytes).unwrap().cells());
                seen.sort_unstable();
                prop_assert!(seen.into_iter().eq((0..bytes).step_by(64)));
            }
        }
    }

    #[test]
    fn windows_come_one_after_the_other_and_strides_hold() {
        let layout = Layout::Window {
            stride: 256,
            window: 64 * KIB,
        };
        let all = offsets(layout, 256 * KIB);
        for (index, places) in all.chunks(256).enumerate() {
            let base = index % 4 * 64 * KIB;
            let phase = index / 4 * 64;
            assert!(
                places
                    .iter()
                    .all(|place| place / (64 * KIB) * (64 * KIB) == base)
            );
            assert!(places.iter().all(|place| place % 256 == phase));
        }
        // No two windows in the same order.
        let relative = |chunk: usize| -> Vec<usize> {
            let part = all[chunk * 256..][..256].iter();
            part.map(|place| place % (64 * KIB)).collect()
        };
        assert_ne!(relative(0), relative(1));
    }

    #[test]
    fn random_steps_have_no_favourite() {
        for bytes in [256 * KIB, 3 << 20] {
            let all = offsets(Layout::Random, bytes);
            let mut steps: HashMap<isize, usize> = HashMap::new();
            let mut far = 0.0;
            for pair in all.windows(2) {
                let step = pair[1] as isize - pair[0] as isize;
                *steps.entry(step).or_default() += 1;
                far += step.unsigned_abs() as f64 / all.len() as f64;
            }
            let most = *steps.values().max().unwrap();
            assert!(
                most * 200 < all.len(),
                "{most} of {} steps alike",
                all.len()
            );
            // Two uniform places are a third of the buffer apart on average.
            let third = bytes as f64 / 3.0;
            assert!((far / third - 1.0).abs() < 0.1, "{far} against {third}");
            let near = all
                .windows(2)
                .filter(|pair| pair[0].abs_diff(pair[1]) <= 128);
            assert!(near.count() * 100 < all.len());
        }
    }

    #[test]
    fn impossible_strides_are_refused_in_words() {
        let refuse = |stride, bytes| Layout::Sequential { stride }.order(bytes).unwrap_err();
        assert!(refuse(0, 4096).contains("multiple of 16"));
        assert!(refuse(24, 4096).contains("multiple of 16"));
        assert!(refuse(96, 4096).contains("multiple of it"));
        assert!(refuse(8192, 4096).contains("does not fit"));
        assert_eq!(
            offsets(Layout::Sequential { stride: 16 }, 64),
            [0, 16, 32, 48]
        );
        // A window larger than the buffer is the buffer.
        let wide = Layout::Window {
            stride: 64,
            window: 1 << 30,
        };
        assert_eq!(wide.order(4096).unwrap().cells(), 64);
    }
}
