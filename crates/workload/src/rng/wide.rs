//! Random bytes for buffers, as fast as they can be stored: eight lanes of Marsaglia's
//! xorshift64 (J. Stat. Soft. 8(14), 2003).
//!
//! Not one of fio's streams: contents need not equal fio's, they must neither compress nor
//! repeat. Three shifts and three exclusive ors a lane are all that the baseline x86-64 vector
//! instructions do well (no 64-bit rotation or product), so 64 bytes take 48 instructions;
//! xoshiro256++ takes four times as many.

const LANES: usize = 8;

/// Eight interleaved xorshift64 streams.
#[derive(Clone, Debug)]
pub struct Wide {
    lanes: [u64; LANES],
}

/// splitmix64 (Steele, Lea, Flood, 2014): spreads one seed over many.
pub(crate) fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Wide {
    /// Streams derived from one seed.
    pub fn new(seed: u64) -> Self {
        let mut state = seed;
        // A lane of 0 would stay 0.
        Wide {
            lanes: std::array::from_fn(|_| splitmix64(&mut state).max(1)),
        }
    }

    /// The next value of each stream. One loop a step: the form the compiler vectorises.
    #[inline(always)]
    fn step(x: &mut [u64; LANES]) {
        for lane in x.iter_mut() {
            *lane ^= *lane << 13;
        }
        for lane in x.iter_mut() {
            *lane ^= *lane >> 7;
        }
        for lane in x.iter_mut() {
            *lane ^= *lane << 17;
        }
    }

    /// Fills `buf` with random bytes.
    pub fn fill(&mut self, buf: &mut [u8]) {
        // A local stays in registers during the loop; through `self` it would be stored.
        let mut lanes = self.lanes;
        let (chunks, rest) = buf.as_chunks_mut::<{ LANES * 8 }>();
        for chunk in chunks {
            Self::step(&mut lanes);
            for (word, lane) in chunk.as_chunks_mut::<8>().0.iter_mut().zip(lanes) {
                *word = lane.to_le_bytes();
            }
        }
        if !rest.is_empty() {
            Self::step(&mut lanes);
            for (part, lane) in rest.chunks_mut(8).zip(lanes) {
                part.copy_from_slice(&lane.to_le_bytes()[..part.len()]);
            }
        }
        self.lanes = lanes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parameters are those of a full period: from state 1, values of a plain
    /// transcription of the paper's recurrence by hand for the first step.
    #[test]
    fn first_step_from_one() {
        let mut lanes = [1; LANES];
        Wide::step(&mut lanes);
        // 1 ^ 1<<13 = 0x2001; ^ >>7 = 0x2041; ^ <<17 = 0x40822041.
        assert_eq!(lanes, [0x4082_2041; LANES]);
    }

    #[test]
    fn every_length_is_filled_and_bits_are_balanced() {
        for len in [0, 1, 7, 63, 64, 65, 4096, 4099, 1 << 20] {
            let mut buf = vec![0u8; len];
            Wide::new(7).fill(&mut buf);
            let ones: u32 = buf.iter().map(|byte| byte.count_ones()).sum();
            let bits = len as f64 * 8.0;
            let slack = 5.0 * (bits / 4.0).sqrt() + 1.0;
            assert!(
                (f64::from(ones) - bits / 2.0).abs() <= slack,
                "{len}: {ones}"
            );
        }
    }

    #[test]
    fn bytes_are_uniform() {
        let mut buf = vec![0u8; 1 << 20];
        Wide::new(1).fill(&mut buf);
        let mut counts = [0f64; 256];
        buf.iter()
            .for_each(|&byte| counts[usize::from(byte)] += 1.0);
        let expected = buf.len() as f64 / 256.0;
        let chi: f64 = counts
            .iter()
            .map(|n| (n - expected).powi(2) / expected)
            .sum();
        // 255 degrees of freedom: mean 255, deviation 22.6; five deviations either way.
        assert!((142.0..368.0).contains(&chi), "{chi}");
    }
}
