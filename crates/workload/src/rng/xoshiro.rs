//! xoshiro256++ (Blackman and Vigna, <https://prng.di.unimi.it/>), eight lanes side by side.
//!
//! Decides what random write buffers hold. Not one of fio's streams: contents need not be
//! equal to fio's, they need to be cheap. The lanes are independent, so the compiler turns
//! the inner loop into vector instructions.

const LANES: usize = 8;

/// Eight interleaved xoshiro256++ streams.
#[derive(Clone, Debug)]
pub struct Xoshiro {
    s0: [u64; LANES],
    s1: [u64; LANES],
    s2: [u64; LANES],
    s3: [u64; LANES],
}

/// splitmix64 (Steele, Lea, Flood), the seeding the authors of xoshiro recommend.
pub(crate) fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Xoshiro {
    /// Streams derived from one seed.
    pub fn new(seed: u64) -> Self {
        let mut state = seed;
        let mut draw = || std::array::from_fn(|_| splitmix64(&mut state));
        Xoshiro {
            s0: draw(),
            s1: draw(),
            s2: draw(),
            s3: draw(),
        }
    }

    /// The next value of each stream.
    #[inline(always)]
    pub fn draw(&mut self) -> [u64; LANES] {
        let mut out = [0; LANES];
        for (lane, value) in out.iter_mut().enumerate() {
            let (s0, s1, s2, s3) = (self.s0[lane], self.s1[lane], self.s2[lane], self.s3[lane]);
            *value = s0.wrapping_add(s3).rotate_left(23).wrapping_add(s0);
            let (s2, s3) = (s2 ^ s0, s3 ^ s1);
            self.s1[lane] = s1 ^ s2;
            self.s0[lane] = s0 ^ s3;
            self.s2[lane] = s2 ^ (s1 << 17);
            self.s3[lane] = s3.rotate_left(45);
        }
        out
    }

    /// Fills `buf` with random bytes.
    pub fn fill(&mut self, buf: &mut [u8]) {
        // The state lives in locals during the loop; through `self` it would be stored back
        // after each step.
        let mut state = self.clone();
        let (chunks, rest) = buf.as_chunks_mut::<{ LANES * 8 }>();
        for chunk in chunks {
            let (words, _) = chunk.as_chunks_mut::<8>();
            for (word, value) in words.iter_mut().zip(state.draw()) {
                *word = value.to_le_bytes();
            }
        }
        if !rest.is_empty() {
            let mut tail = [0; LANES * 8];
            for (word, value) in tail.as_chunks_mut::<8>().0.iter_mut().zip(state.draw()) {
                *word = value.to_le_bytes();
            }
            rest.copy_from_slice(&tail[..rest.len()]);
        }
        *self = state;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First values for the state {1, 2, 3, 4}, from the published reference code.
    #[test]
    fn lanes_are_the_published_generator() {
        let mut x = Xoshiro {
            s0: [1; LANES],
            s1: [2; LANES],
            s2: [3; LANES],
            s3: [4; LANES],
        };
        let got: Vec<u64> = (0..4).map(|_| x.draw()[5]).collect();
        assert_eq!(
            got,
            [41943041, 58720359, 3588806011781223, 3591011842654386]
        );
    }

    #[test]
    fn every_length_is_filled_and_bits_are_balanced() {
        for len in [0, 1, 7, 63, 64, 65, 4096, 4099] {
            let mut buf = vec![0u8; len];
            Xoshiro::new(7).fill(&mut buf);
            let ones: u32 = buf.iter().map(|b| b.count_ones()).sum();
            let mean = len as f64 * 4.0;
            assert!((f64::from(ones) - mean).abs() <= 6.0 * (len as f64 * 2.0).sqrt() + 1.0);
        }
    }
}
