//! Data that follow from a seed: fio's generator, and finding where data depart from it.
//!
//! Four lanes, `seed` times 1, 2, 3 and 5, take turns word by word; each word is the lane's
//! word before it times a constant. What is left behind the last four whole words goes on from
//! the first lane alone, with the same constant. The sequence is a format: fio regenerates it.

use super::pattern::Difference;

/// 2^64 divided by the golden ratio, rounded to an odd number.
const RATIO: u64 = 0x61c8_8646_80b5_83eb;
/// The inverse of [`RATIO`] modulo 2^64: a word times this is the one before it.
const INVERSE: u64 = inverse(RATIO);
const LANES: usize = 4;
const FACTORS: [u64; LANES] = [1, 2, 3, 5];
const GROUP: usize = LANES * 8;

/// Newton's iteration doubles the number of right bits; an odd number is its own inverse
/// modulo 8.
const fn inverse(odd: u64) -> u64 {
    let mut x = odd;
    let mut bits = 3;
    while bits < 64 {
        x = x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x)));
        bits *= 2;
    }
    x
}

/// Fills `buf` from `seed`.
#[inline]
pub(super) fn fill_random(buf: &mut [u8], seed: u64) {
    let mut lanes = FACTORS.map(|factor| seed.wrapping_mul(factor));
    let (groups, rest) = buf.as_chunks_mut::<GROUP>();
    for group in groups {
        for (word, lane) in group.as_chunks_mut::<8>().0.iter_mut().zip(&mut lanes) {
            *word = lane.to_le_bytes();
            *lane = lane.wrapping_mul(RATIO);
        }
    }
    let mut value = lanes[0];
    for word in rest.chunks_mut(8) {
        word.copy_from_slice(&value.to_le_bytes()[..word.len()]);
        value = value.wrapping_mul(RATIO);
    }
}

/// Bytes of a request that are random if this share of it is not. fio turns 100 percent into
/// `zero_buffers`, which verified contents do not follow.
fn random_bytes(len: usize, compress_percent: u32) -> usize {
    match compress_percent {
        0..100 => (len as u64 * u64::from(100 - compress_percent) / 100) as usize,
        _ => len,
    }
}

/// What a request's data follow from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Content<'a> {
    /// Seed.
    pub seed: u64,
    /// Share of the request, at its end, that is not random, in percent.
    pub compress_percent: u32,
    /// What that share repeats; empty: zeros.
    pub fill_pattern: &'a [u8],
}

impl Content<'_> {
    /// Fills the buffer of a whole request.
    #[inline]
    pub(super) fn fill(&self, buf: &mut [u8]) {
        let (random, rest) = buf.split_at_mut(random_bytes(buf.len(), self.compress_percent));
        fill_random(random, self.seed);
        // Also because a memset of no bytes at the end of a mapping is slow: with AVX-512 it is a
        // masked store, whose fault on the page behind the processor must first suppress.
        if rest.is_empty() {
            return;
        }
        if self.fill_pattern.is_empty() {
            rest.fill(0);
        } else {
            for part in rest.chunks_mut(self.fill_pattern.len()) {
                part.copy_from_slice(&self.fill_pattern[..part.len()]);
            }
        }
    }

    /// The first byte of `data`, which begins `from` bytes into a request of `len` bytes, that
    /// this content does not have there.
    pub(super) fn first_difference(
        &self,
        data: &[u8],
        from: usize,
        len: usize,
    ) -> Option<Difference> {
        let random = random_bytes(len, self.compress_percent);
        let (noise, rest) = data.split_at(random.saturating_sub(from).min(data.len()));
        let found = self.random_difference(noise, from, random);
        if found.is_some() || rest.is_empty() {
            return found;
        }
        let from = from + noise.len() - random;
        let wanted = |at: usize| match self.fill_pattern {
            [] => 0,
            pattern => pattern[(from + at) % pattern.len()],
        };
        (0..rest.len())
            .find(|&at| rest[at] != wanted(at))
            .map(|at| (noise.len() + at, rest[at], wanted(at)))
    }

    fn random_difference(&self, data: &[u8], from: usize, len: usize) -> Option<Difference> {
        let stream = Stream {
            seed: self.seed,
            len,
        };
        // Byte by byte to the start of a group, group by group, and byte by byte again.
        let head = (from.next_multiple_of(GROUP) - from).min(data.len());
        let groups_end = (len / GROUP * GROUP).max(from + head) - from;
        let body_end = head + (groups_end.min(data.len()) - head) / GROUP * GROUP;
        let slow = |mut range: std::ops::Range<usize>| {
            let at = range.find(|&at| data[at] != stream.byte(from + at))?;
            Some((at, data[at], stream.byte(from + at)))
        };
        if let Some(found) = slow(0..head) {
            return Some(found);
        }
        let power = RATIO.wrapping_pow(((from + head) / GROUP) as u32);
        let mut lanes = FACTORS.map(|factor| self.seed.wrapping_mul(factor).wrapping_mul(power));
        for (nth, group) in data[head..body_end]
            .as_chunks::<GROUP>()
            .0
            .iter()
            .enumerate()
        {
            let mut differs = 0;
            for (word, lane) in group.as_chunks::<8>().0.iter().zip(&mut lanes) {
                differs |= u64::from_le_bytes(*word) ^ *lane;
                *lane = lane.wrapping_mul(RATIO);
            }
            if differs != 0 {
                let start = head + nth * GROUP;
                return slow(start..start + GROUP);
            }
        }
        slow(body_end..data.len())
    }
}

/// The bytes of a random fill one by one.
#[derive(Clone, Copy)]
struct Stream {
    seed: u64,
    len: usize,
}

impl Stream {
    fn byte(self, at: usize) -> u8 {
        let groups_end = self.len / GROUP * GROUP;
        let word = if at < groups_end {
            let factor = FACTORS[at / 8 % LANES];
            self.seed
                .wrapping_mul(factor)
                .wrapping_mul(RATIO.wrapping_pow((at / GROUP) as u32))
        } else {
            let steps = (groups_end / GROUP + (at - groups_end) / 8) as u32;
            self.seed.wrapping_mul(RATIO.wrapping_pow(steps))
        };
        word.to_le_bytes()[at % 8]
    }
}

/// True if `data`, which begins `from` bytes into a block, are a piece of such a sequence from
/// any seed and any place: each word is the one some lanes before it times the constant. Also
/// true for the other numbers of lanes that builds of fio use. For blocks whose place in the
/// request that wrote them is unknown; a tear between two writes breaks the sequence.
pub(super) fn is_sequence(data: &[u8], from: usize) -> bool {
    let (head, rest) = data.split_at((from.next_multiple_of(8) - from).min(data.len()));
    let (words, tail) = rest.as_chunks::<8>();
    let word = |at: usize| u64::from_le_bytes(words[at]);
    let steps = |at: usize, back: usize| word(at) == word(at - back).wrapping_mul(RATIO);
    let ends = |at: usize| word(at).wrapping_mul(RATIO).to_le_bytes()[..tail.len()] == *tail;
    let last = words.len();
    [LANES, 1, 2, 8, 16].into_iter().any(|lanes| {
        // Words of an incomplete last group follow each other.
        let whole = last.saturating_sub(lanes);
        last > 2 * lanes
            && (lanes..whole).all(|at| steps(at, lanes))
            && (whole..last).all(|at| steps(at, lanes) || steps(at, 1))
            && (ends(last - lanes) || ends(last - 1))
            && word(lanes - 1).wrapping_mul(INVERSE).to_le_bytes()[8 - head.len()..] == *head
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Bytes 64 to 80 of the first block that `fio --verify=crc32c --bs=4k` writes.
    #[test]
    fn data_are_fios() {
        let mut buf = [0; 4096];
        fill_random(&mut buf, 0x00a4_cc01_c509_543c);
        assert_eq!(buf[..8], 0x00a4_cc01_c509_543c_u64.to_le_bytes());
        assert_eq!(
            buf[64..72],
            [0x5c, 0xbb, 0xe6, 0x9a, 0x27, 0xb3, 0x0c, 0x02]
        );
        assert_eq!(
            buf[72..80],
            [0xb8, 0x76, 0xcd, 0x35, 0x4f, 0x66, 0x19, 0x04]
        );
    }

    proptest! {
        #[test]
        fn filled_is_accepted_and_any_other_byte_found(
            seed: u64, len in 1usize..2000, compress_percent in 0u32..=100, from in 0usize..300,
            fill_pattern in prop::collection::vec(any::<u8>(), 0..5),
            at: prop::sample::Index, flip in 1u8..,
        ) {
            let content = Content { seed, compress_percent, fill_pattern: &fill_pattern };
            let mut buf = vec![1; len];
            content.fill(&mut buf);
            let from = from % len;
            prop_assert_eq!(content.first_difference(&buf[from..], from, len), None);
            let at = from + at.index(len - from);
            let was = buf[at];
            buf[at] ^= flip;
            prop_assert_eq!(
                content.first_difference(&buf[from..], from, len),
                Some((at - from, buf[at], was))
            );
        }

        #[test]
        fn a_piece_of_a_sequence_is_known_and_any_other_byte_found(
            seed: u64, len in 5000usize..6000, from in 1usize..90,
            at: prop::sample::Index, flip in 1u8..,
        ) {
            let mut buf = vec![0; len];
            fill_random(&mut buf, seed | 1);
            let data = &mut buf[4096 + from..];
            prop_assert!(is_sequence(data, from));
            let at = at.index(data.len());
            data[at] ^= flip;
            prop_assert!(!is_sequence(data, from));
        }
    }
}
