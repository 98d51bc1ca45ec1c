//! Which blocks of a region have been visited, and where the next free one is.
//!
//! One bit a block, plus a level in which one bit says that 64 bits below are all set, and so
//! on until one word is left: 1.6 % more memory, and a search looks at two words a level.
//! What "next free" and a partly taken run mean is fio's (its "axmap").

use crate::spec::SpecError;

/// A set of visited blocks.
#[derive(Clone, Debug)]
pub(crate) struct Map {
    levels: Vec<Vec<u64>>,
    blocks: u64,
    /// Something has been set since the last [`reset`](Self::reset).
    touched: bool,
}

impl Map {
    /// A map of `blocks` blocks, all free.
    pub(crate) fn new(blocks: u64) -> Result<Self, SpecError> {
        let mut levels = Vec::new();
        let mut words = blocks.div_ceil(64).max(1);
        loop {
            levels.push(zeroed(words)?);
            if words == 1 {
                return Ok(Map {
                    levels,
                    blocks,
                    touched: false,
                });
            }
            words = words.div_ceil(64);
        }
    }

    /// Makes all blocks free.
    pub(crate) fn reset(&mut self) {
        if std::mem::take(&mut self.touched) {
            for level in &mut self.levels {
                level.fill(0);
            }
        }
    }

    /// Whether a block has been visited; blocks beyond the end have not.
    #[inline(always)]
    pub(crate) fn is_set(&self, block: u64) -> bool {
        self.levels[0]
            .get((block >> 6) as usize)
            .is_some_and(|word| word >> (block & 63) & 1 == 1)
    }

    /// The first free block at or after `block`, if it is near: in the same word. Whether `block`
    /// itself is free makes no branch, which would be guessed wrong half of the time.
    #[inline(always)]
    pub(crate) fn free_near(&self, block: u64) -> Option<u64> {
        let word = self.levels[0].get((block >> 6) as usize)?;
        let free = !word & (u64::MAX << (block & 63));
        let found = (block & !63) + u64::from(free.trailing_zeros());
        (free != 0 && found < self.blocks).then_some(found)
    }

    /// `block` if it is free, else the next free one.
    #[cold]
    #[inline(never)]
    pub(crate) fn free_from_block(&self, block: u64) -> Option<u64> {
        match self.is_set(block) {
            true => self.next_free(block),
            false => Some(block),
        }
    }

    /// The first free block after `block`, or else the first free one of all.
    pub(crate) fn next_free(&self, block: u64) -> Option<u64> {
        self.free_from(block + 1).or_else(|| self.free_from(0))
    }

    /// The first free block at or after `start`.
    fn free_from(&self, start: u64) -> Option<u64> {
        let mut index = start;
        let mut level = 0;
        // Up, until a word has a free bit at or after `index`.
        let mut found = loop {
            let words = self.levels.get(level)?;
            let word = words.get((index >> 6) as usize)?;
            let free = !word & (u64::MAX << (index & 63));
            if free != 0 {
                break (index & !63) + u64::from(free.trailing_zeros());
            }
            index = (index >> 6) + 1;
            level += 1;
        };
        // Down, to the first free bit below it. Free bits of the upper levels behind the last
        // word below stand for nothing.
        while level > 0 {
            level -= 1;
            let word = self.levels[level].get(found as usize)?;
            found = (found << 6) + u64::from((!word).trailing_zeros());
        }
        (found < self.blocks).then_some(found)
    }

    /// How many of `count` blocks from `block` are free without a gap.
    pub(crate) fn free_run(&self, block: u64, count: u64) -> u64 {
        let free = |n: &u64| block + n < self.blocks && !self.is_set(block + n);
        (0..count).take_while(free).count() as u64
    }

    /// Marks up to `count` blocks from `block`, which must be free, and stops before the
    /// first visited one. Returns how many it marked.
    #[inline(always)]
    pub(crate) fn set_run(&mut self, block: u64, count: u64) -> u64 {
        self.touched = true;
        let mut done = 0;
        while done < count {
            let at = block + done;
            let (index, bit) = ((at >> 6) as usize, at & 63);
            let Some(word) = self.levels[0].get_mut(index) else {
                break;
            };
            let want = (count - done).min(64 - bit);
            // The bits above `bit` that are free without a gap.
            let free = u64::from((*word >> bit).trailing_zeros()).min(want);
            *word |= free_mask(bit, free);
            if *word == u64::MAX {
                self.fill_up(index);
            }
            done += free;
            if free < want {
                break;
            }
        }
        done
    }

    /// Marks one free block.
    #[inline(always)]
    pub(crate) fn set(&mut self, block: u64) {
        self.touched = true;
        let index = (block >> 6) as usize;
        let Some(word) = self.levels[0].get_mut(index) else {
            return;
        };
        *word |= 1 << (block & 63);
        if *word == u64::MAX {
            self.fill_up(index);
        }
    }

    /// Notes in the upper levels that a word has become full.
    #[cold]
    fn fill_up(&mut self, index: usize) {
        let mut index = index;
        for level in &mut self.levels[1..] {
            let word = &mut level[index >> 6];
            *word |= 1 << (index & 63);
            if *word != u64::MAX {
                return;
            }
            index >>= 6;
        }
    }
}

/// The `count` bits from `bit`; `count` may be 0 and the end may be bit 64.
#[inline(always)]
fn free_mask(bit: u64, count: u64) -> u64 {
    if count == 0 {
        0
    } else {
        (u64::MAX >> (64 - count)) << bit
    }
}

/// From here on it is asked first whether there is so much memory. The probe of a small map would
/// only leave used memory behind, which has to be zeroed and so becomes resident.
const PROBED_WORDS: u64 = 1 << 16;

/// Zeroed words from the allocator, which maps them lazily; an error instead of an abort.
fn zeroed(words: u64) -> Result<Vec<u64>, SpecError> {
    let fail = || SpecError::MapMemory {
        bytes: words.saturating_mul(8),
    };
    let count = usize::try_from(words).map_err(|_| fail())?;
    if words >= PROBED_WORDS {
        let mut probe: Vec<u64> = Vec::new();
        probe.try_reserve_exact(count).map_err(|_| fail())?;
    }
    Ok(vec![0; count])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The meaning, one block at a time.
    struct Plain(Vec<bool>);

    impl Plain {
        fn next_free(&self, block: usize) -> Option<u64> {
            let n = self.0.len();
            (block + 1..n)
                .chain(0..n)
                .find(|&i| !self.0[i])
                .map(|i| i as u64)
        }

        fn set_run(&mut self, block: usize, count: usize) -> u64 {
            let run = self.0[block..]
                .iter()
                .take(count)
                .take_while(|&&set| !set)
                .count();
            self.0[block..block + run].fill(true);
            run as u64
        }
    }

    proptest! {
        #[test]
        fn behaves_like_one_bool_a_block(
            blocks in 1u64..20_000,
            steps in prop::collection::vec((any::<u64>(), 1u64..200), 1..400),
        ) {
            let mut map = Map::new(blocks).unwrap();
            let mut plain = Plain(vec![false; blocks as usize]);
            for (pick, count) in steps {
                let mut block = pick % blocks;
                prop_assert_eq!(map.is_set(block), plain.0[block as usize]);
                let wanted = match plain.0[block as usize] {
                    true => plain.next_free(block as usize),
                    false => Some(block),
                };
                prop_assert_eq!(map.free_from_block(block), wanted);
                let near = map.free_near(block);
                prop_assert!(near.is_none() || near == wanted, "{near:?} {wanted:?}");
                let far = |b: u64| b / 64 != block / 64 || b < block;
                prop_assert!(near.is_some() || wanted.is_none_or(far));
                if map.is_set(block) {
                    let free = map.next_free(block);
                    prop_assert_eq!(free, plain.next_free(block as usize));
                    let Some(free) = free else { break };
                    block = free;
                }
                let count = count.min(blocks - block);
                let got = map.set_run(block, count);
                prop_assert_eq!(got, plain.set_run(block as usize, count as usize));
            }
            map.reset();
            prop_assert!((0..blocks).all(|block| !map.is_set(block)));
        }

        #[test]
        fn fills_up_to_the_last_block(blocks in 1u64..9_000, start: u64) {
            let mut map = Map::new(blocks).unwrap();
            let mut at = Some(start % blocks);
            for _ in 0..blocks {
                let block = at.expect("blocks are left");
                prop_assert!(!map.is_set(block));
                map.set(block);
                at = map.next_free(block);
            }
            prop_assert_eq!(at, None);
        }
    }

    #[test]
    fn refuses_what_cannot_be_allocated() {
        assert!(matches!(
            Map::new(u64::MAX),
            Err(SpecError::MapMemory { .. })
        ));
    }
}
