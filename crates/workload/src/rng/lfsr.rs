//! A maximal linear feedback shift register: every value below a bound once, in an order that
//! needs no memory. Steps, taps and the order of values are fio's.

/// Positions of the feedback taps of a register of N bits (N from 3 to 63), the highest left
/// out because it is N itself. Any maximal polynomial would do; these are fio's.
const TAPS: [&[u8]; 61] = [
    &[2],
    &[3],
    &[3],
    &[5],
    &[6],
    &[6, 5, 4],
    &[5],
    &[7],
    &[9],
    &[6, 4, 1],
    &[4, 3, 1],
    &[5, 3, 1],
    &[14],
    &[15, 13, 4],
    &[14],
    &[11],
    &[6, 2, 1],
    &[17],
    &[19],
    &[21],
    &[18],
    &[23, 22, 17],
    &[22],
    &[6, 2, 1],
    &[5, 2, 1],
    &[25],
    &[27],
    &[6, 4, 1],
    &[28],
    &[31, 29, 1],
    &[20],
    &[27, 2, 1],
    &[33],
    &[25],
    &[5, 4, 3, 2, 1],
    &[6, 5, 1],
    &[35],
    &[38, 21, 19],
    &[38],
    &[41, 20, 19],
    &[42, 38, 37],
    &[43, 18, 17],
    &[44, 42, 41],
    &[45, 26, 25],
    &[42],
    &[47, 21, 20],
    &[40],
    &[49, 24, 23],
    &[50, 36, 35],
    &[49],
    &[52, 38, 37],
    &[53, 18, 17],
    &[31],
    &[55, 35, 34],
    &[50],
    &[39],
    &[58, 38, 37],
    &[59],
    &[60, 46, 45],
    &[61, 6, 5],
    &[62],
];

/// Visits each value below a bound exactly once per round.
#[derive(Clone, Debug)]
pub struct Lfsr {
    value: u64,
    bound: u64,
    feedback: u64,
    top: u64,
    left: u64,
    /// The first value of a new register is stepped over, not so after [`reset`](Self::reset).
    fresh: bool,
}

impl Lfsr {
    /// A register for the values below `bound`. `None` if the bound is 0 or above 2^63, or if
    /// the seed gives the one state (all bits set) that a register never leaves.
    pub fn new(bound: u64, seed: u64) -> Option<Self> {
        let bits = (3..64)
            .find(|&bits| (1u64 << bits) > bound)
            .filter(|_| bound > 0)?;
        let feedback = TAPS[bits as usize - 3]
            .iter()
            .fold(1 << (bits - 1), |mask, &tap| mask | 1u64 << (tap - 1));
        let mut new = Lfsr {
            value: 0,
            bound,
            feedback,
            top: 1 << (bits - 1),
            left: 0,
            fresh: true,
        };
        new.reset(seed).then_some(new)
    }

    /// Starts a new round from `seed`; false if the register cannot leave that state.
    pub fn reset(&mut self, seed: u64) -> bool {
        let mask = (self.top << 1) - 1;
        self.value = seed & mask;
        self.left = self.bound;
        self.value != mask
    }

    #[inline(always)]
    fn step(&mut self) {
        let feedback = (self.value & 1).wrapping_sub(1) & self.feedback;
        self.value = ((self.value >> 1) | self.top) ^ feedback;
    }

    /// The next value, or `None` when the round is complete.
    #[inline]
    pub fn draw(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        if self.fresh {
            self.fresh = false;
            self.step();
        }
        // Less than half of the register's values are out of bounds.
        loop {
            self.step();
            if self.value < self.bound {
                return Some(self.value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_value_once_in_each_round(bound in 1u64..70_000, seed: u64, again: u64) {
            let Some(mut lfsr) = Lfsr::new(bound, seed) else { return Ok(()) };
            for seed in [seed, again] {
                if !lfsr.reset(seed) { return Ok(()) }
                let mut seen = vec![false; bound as usize];
                while let Some(value) = lfsr.draw() {
                    prop_assert!(!std::mem::replace(&mut seen[value as usize], true));
                }
                prop_assert!(seen.iter().all(|&seen| seen));
            }
        }
    }

    #[test]
    fn larger_registers_do_not_repeat_early() {
        for bits in 20..26 {
            let bound = (1 << bits) - 1;
            let mut lfsr = Lfsr::new(bound, 5).unwrap();
            let mut sum = 0u64;
            while let Some(value) = lfsr.draw() {
                sum += value;
            }
            assert_eq!(sum, bound * (bound - 1) / 2, "{bits} bits");
        }
    }
}
