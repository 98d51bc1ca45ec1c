//! `verify_pattern`: bytes over and over, with the request's offset at marked places.

/// Bytes that `%o` takes: the offset, little-endian.
const OFFSET_BYTES: usize = 8;

/// A parsed `verify_pattern`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    bytes: Vec<u8>,
    offsets: Vec<u32>,
}

impl Pattern {
    /// `bytes` with eight bytes reserved at each place in `offsets`, one place per `%o`, in
    /// order. `None` if there are no bytes or the places do not fit.
    pub fn new(bytes: Vec<u8>, offsets: Vec<u32>) -> Option<Self> {
        let fits = |at: &u32| *at as usize + OFFSET_BYTES <= bytes.len();
        let apart = |pair: &[u32]| pair[1] as usize >= pair[0] as usize + OFFSET_BYTES;
        let valid = offsets.iter().all(fits) && offsets.windows(2).all(apart);
        (!bytes.is_empty() && valid).then_some(Pattern { bytes, offsets })
    }

    /// The bytes, zero where offsets go.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Places of the offsets.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// Writes `offset` to the marked places of `out`, one copy of the pattern or its start.
    fn paste(&self, out: &mut [u8], offset: u64) {
        for &at in &self.offsets {
            let Some(place) = out.get_mut(at as usize..) else {
                return;
            };
            let bytes = OFFSET_BYTES.min(place.len());
            place[..bytes].copy_from_slice(&offset.to_le_bytes()[..bytes]);
        }
    }

    /// Fills the buffer of the request at `offset`. The pattern starts over after `interval`
    /// bytes, with the offset of that place; 0: it goes on through the request.
    pub(super) fn fill(&self, buf: &mut [u8], offset: u64, interval: u32) {
        let interval = if interval == 0 {
            buf.len().max(1)
        } else {
            interval as usize
        };
        for (part, at) in buf.chunks_mut(interval).zip((offset..).step_by(interval)) {
            let first = self.bytes.len().min(part.len());
            part[..first].copy_from_slice(&self.bytes[..first]);
            self.paste(&mut part[..first], at);
            // Whole patterns are doubled, so each copy continues the pattern.
            let mut filled = first;
            while filled < part.len() {
                let more = filled.min(part.len() - filled);
                part.copy_within(..more, filled);
                filled += more;
            }
        }
    }
}

/// Compares read data with a pattern. Holds the copy that offsets are pasted into, so that a
/// check allocates nothing.
#[derive(Clone, Debug)]
pub(super) struct PatternCheck {
    pattern: Pattern,
    interval: u32,
    pasted: Vec<u8>,
}

/// Place, byte found, byte wanted.
pub(super) type Difference = (usize, u8, u8);

impl PatternCheck {
    pub(super) fn new(pattern: &Pattern, interval: u32) -> Self {
        PatternCheck {
            pasted: pattern.bytes.clone(),
            pattern: pattern.clone(),
            interval,
        }
    }

    /// The first byte of `data`, which begins `from` bytes into the request at `offset`, that
    /// is not the pattern's. The place counts from the start of `data`.
    pub(super) fn first_difference(
        &mut self,
        data: &[u8],
        from: usize,
        offset: u64,
    ) -> Option<Difference> {
        let size = self.pasted.len();
        let mut done = 0;
        while done < data.len() {
            let at = from + done;
            let (start, end) = if self.interval == 0 {
                (0, data.len())
            } else {
                let interval = self.interval as usize;
                let start = at / interval * interval;
                (start, (start + interval - from).min(data.len()))
            };
            self.pattern.paste(&mut self.pasted, offset + start as u64);
            let phase = (at - start) % size;
            if let Some(place) = differs(&data[done..end], &self.pasted, phase) {
                let wanted = self.pasted[(phase + place) % size];
                return Some((done + place, data[done + place], wanted));
            }
            done = end;
        }
        None
    }
}

/// First place where `data` is not `pattern` repeated, starting `phase` bytes into it.
fn differs(data: &[u8], pattern: &[u8], phase: usize) -> Option<usize> {
    // One period against the pattern, the rest against what is one period before it: two long
    // comparisons however short the pattern is.
    let size = pattern.len();
    let (head, rest) = data.split_at(data.len().min(size - phase));
    let wrapped = rest.len().min(phase);
    let same = head == &pattern[phase..phase + head.len()]
        && rest[..wrapped] == pattern[..wrapped]
        && (data.len() <= size || data[size..] == data[..data.len() - size]);
    if same {
        return None;
    }
    (0..data.len()).find(|&at| data[at] != pattern[(phase + at) % size])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn places_must_fit() {
        assert_eq!(Pattern::new(vec![], vec![]), None);
        assert_eq!(Pattern::new(vec![0; 8], vec![1]), None);
        assert_eq!(Pattern::new(vec![0; 18], vec![0, 7]), None);
        assert!(Pattern::new(vec![0; 9], vec![1]).is_some());
    }

    proptest! {
        #[test]
        fn filled_is_accepted_and_any_other_byte_found(
            bytes in prop::collection::vec(any::<u8>(), 1..40),
            places in prop::collection::vec(0u32..32, 0..3),
            len in 1usize..3000, interval in prop::sample::select(vec![0u32, 7, 64, 512]),
            offset: u32, from in 0usize..600, at: prop::sample::Index, flip in 1u8..,
        ) {
            let mut places: Vec<u32> = places;
            places.sort_unstable();
            places.dedup_by(|next, at| *next < *at + 8);
            places.retain(|&at| at as usize + 8 <= bytes.len());
            let pattern = Pattern::new(bytes, places).unwrap();
            let mut buf = vec![0; len];
            pattern.fill(&mut buf, offset.into(), interval);
            let mut check = PatternCheck::new(&pattern, interval);
            let from = from % len;
            prop_assert_eq!(check.first_difference(&buf[from..], from, offset.into()), None);
            let at = from + at.index(len - from);
            let was = buf[at];
            buf[at] ^= flip;
            prop_assert_eq!(
                check.first_difference(&buf[from..], from, offset.into()),
                Some((at - from, buf[at], was))
            );
        }
    }
}
