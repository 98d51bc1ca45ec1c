//! Fills the buffers of a worker's slots. The kind of work is chosen once, from the policy.

use super::{FillPolicy, WorkingSet};
use crate::rng::{Taus258, Wide};

/// Bytes between two stamps: the smallest block a device can deduplicate.
const SECTOR: usize = 512;
/// Odd, so that the members of a working set have different seeds.
const MEMBER: u64 = 0xa076_1d64_78bd_642f;

/// What one `prepare` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Each {
    /// Leave the buffer as `init` made it.
    Nothing,
    /// Stamp each sector.
    Scramble,
    /// New contents, or for this share of the writes in percent those of the write before.
    Refill { dedupe_percent: u32 },
}

/// Fills write buffers as one [`FillPolicy`] says.
#[derive(Clone, Debug)]
pub struct Filler {
    each: Each,
    zero: bool,
    pattern: Box<[u8]>,
    compress_percent: usize,
    /// Bytes of a chunk; 0: the whole buffer.
    compress_chunk: usize,
    random: Wide,
    /// State from which the last unique contents were made; repeating it repeats them.
    last: Wide,
    choice: Taus258,
    sets: Box<[WorkingSet]>,
    writes: u64,
}

impl Filler {
    /// A filler for all slots of one worker.
    pub fn new(policy: &FillPolicy) -> Self {
        let all_zero = policy.zero || (policy.compress_percent >= 100 && policy.pattern.is_empty());
        let fixed = all_zero
            || (!policy.pattern.is_empty()
                && (policy.compress_percent == 0 || policy.compress_percent >= 100));
        let refill = policy.refill || policy.dedupe_percent > 0 || policy.compress_percent > 0;
        let each = if fixed {
            Each::Nothing
        } else if refill {
            Each::Refill {
                dedupe_percent: policy.dedupe_percent.min(100),
            }
        } else if policy.scramble {
            Each::Scramble
        } else {
            Each::Nothing
        };
        let random = Wide::new(policy.seed);
        Filler {
            each,
            zero: all_zero,
            pattern: policy.pattern.clone().into_boxed_slice(),
            compress_percent: policy.compress_percent.min(100) as usize,
            compress_chunk: policy.compress_chunk as usize,
            last: random.clone(),
            random,
            choice: Taus258::new(policy.seed),
            sets: policy.working_sets.clone().into_boxed_slice(),
            writes: 0,
        }
    }

    /// Gives a slot's buffer its first contents; call once per slot before the run.
    pub fn init(&mut self, buf: &mut [u8]) {
        if self.zero {
            buf.fill(0);
        } else {
            self.contents(buf);
        }
    }

    /// Prepares `buf`, the part of a slot's buffer that is written next, for a write at byte
    /// `offset` of its file. `init` has filled it before.
    #[inline]
    pub fn prepare(&mut self, slot_index: usize, buf: &mut [u8], offset: u64) {
        match self.each {
            Each::Nothing => {}
            Each::Scramble => self.scramble(slot_index, buf, offset),
            Each::Refill { dedupe_percent } => self.refill(buf, dedupe_percent),
        }
    }

    /// Writes the offset to the start of one of the eight cache lines of each sector, and the
    /// number of the write to its end, so that no two written sectors are equal. fio stamps
    /// the time instead of the number; the number needs no clock and is unique.
    fn scramble(&mut self, slot_index: usize, buf: &mut [u8], offset: u64) {
        self.writes += 1;
        let stamp = self.writes.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let line = ((stamp >> 61) as usize) * 64;
        let slot = slot_index as u64;
        let (sectors, _) = buf.as_chunks_mut::<SECTOR>();
        for (sector, at) in sectors.iter_mut().zip((offset..).step_by(SECTOR)) {
            sector[line..line + 8].copy_from_slice(&at.to_le_bytes());
            sector[line + 48..line + 56].copy_from_slice(&slot.to_le_bytes());
            sector[line + 56..line + 64].copy_from_slice(&stamp.to_le_bytes());
        }
    }

    fn refill(&mut self, buf: &mut [u8], dedupe_percent: u32) {
        if dedupe_percent > 0 {
            // The high half of the product of a 64-bit draw and 100 is uniform in 0..100.
            let draw = ((u128::from(self.choice.draw()) * 100) >> 64) as u32;
            if draw < dedupe_percent {
                if !self.sets.is_empty() {
                    return self.repeat_member(buf);
                }
                self.random = self.last.clone();
            } else {
                self.last = self.random.clone();
            }
        }
        self.contents(buf);
    }

    /// Contents of a block of the working sets, each equally often.
    fn repeat_member(&mut self, buf: &mut [u8]) {
        let all: u64 = self.sets.iter().map(|set| set.blocks).sum();
        let mut member = ((u128::from(self.choice.draw()) * u128::from(all)) >> 64) as u64;
        for set in &self.sets {
            if member < set.blocks {
                let seed = set.seed ^ member.wrapping_mul(MEMBER);
                let unique = std::mem::replace(&mut self.random, Wide::new(seed));
                self.contents(buf);
                self.random = unique;
                return;
            }
            member -= set.blocks;
        }
    }

    /// Random bytes, with the wanted share of each chunk zero or pattern.
    fn contents(&mut self, buf: &mut [u8]) {
        if !self.pattern.is_empty() && matches!(self.compress_percent, 0 | 100) {
            repeat(&self.pattern, buf);
        } else if self.compress_percent == 0 {
            self.random.fill(buf);
        } else {
            let chunk = if self.compress_chunk == 0 {
                buf.len()
            } else {
                self.compress_chunk
            };
            for part in buf.chunks_mut(chunk.max(1)) {
                let (noise, rest) =
                    part.split_at_mut(part.len() * (100 - self.compress_percent) / 100);
                self.random.fill(noise);
                if self.pattern.is_empty() {
                    rest.fill(0);
                } else {
                    repeat(&self.pattern, rest);
                }
            }
        }
    }
}

/// Fills `buf` with `pattern` over and over; doubles what is there, so that short patterns
/// are copied in long runs.
fn repeat(pattern: &[u8], buf: &mut [u8]) {
    let mut filled = pattern.len().min(buf.len());
    buf[..filled].copy_from_slice(&pattern[..filled]);
    // Whole patterns only are doubled, so each copy continues the pattern.
    while filled < buf.len() {
        let more = filled.min(buf.len() - filled);
        buf.copy_within(..more, filled);
        filled += more;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{HashMap, HashSet};

    const BLOCK: usize = 4096;

    /// Buffers of `n` consecutive writes of four slots.
    fn writes(policy: &FillPolicy, n: usize) -> Vec<Vec<u8>> {
        let mut filler = Filler::new(policy);
        let mut slots = vec![vec![0xa5; BLOCK]; 4];
        slots.iter_mut().for_each(|slot| filler.init(slot));
        let mut all = Vec::new();
        for i in 0..n {
            let slot = i % slots.len();
            filler.prepare(slot, &mut slots[slot], (i * BLOCK) as u64);
            all.push(slots[slot].clone());
        }
        all
    }

    fn sectors(writes: &[Vec<u8>]) -> (usize, usize) {
        let all: Vec<&[u8]> = writes
            .iter()
            .flat_map(|write| write.chunks(SECTOR))
            .collect();
        (all.len(), all.iter().collect::<HashSet<_>>().len())
    }

    #[test]
    fn scrambled_sectors_are_all_different_and_carry_their_offset() {
        let all = writes(&FillPolicy::default(), 300);
        let (total, different) = sectors(&all);
        assert_eq!(total, different);
        for (i, write) in all.iter().enumerate() {
            for (k, sector) in write.chunks(SECTOR).enumerate() {
                let at = ((i * BLOCK + k * SECTOR) as u64).to_le_bytes();
                assert!((0..8).any(|line| sector[line * 64..line * 64 + 8] == at));
            }
        }
    }

    #[test]
    fn scrambling_changes_no_more_than_its_stamps() {
        let once = writes(
            &FillPolicy {
                scramble: false,
                ..FillPolicy::default()
            },
            4,
        );
        let stamped = writes(&FillPolicy::default(), 4);
        for (a, b) in once.iter().zip(&stamped) {
            for (a, b) in a.chunks(SECTOR).zip(b.chunks(SECTOR)) {
                assert!(a.iter().zip(b).filter(|(a, b)| a != b).count() <= 24);
            }
        }
    }

    #[test]
    fn refilled_buffers_share_no_sector() {
        let all = writes(
            &FillPolicy {
                refill: true,
                ..FillPolicy::default()
            },
            300,
        );
        let (total, different) = sectors(&all);
        assert_eq!(total, different);
    }

    #[test]
    fn without_refill_and_scramble_contents_stay() {
        let all = writes(
            &FillPolicy {
                scramble: false,
                ..FillPolicy::default()
            },
            40,
        );
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), 4);
    }

    #[test]
    fn zeros_and_patterns() {
        let zero = FillPolicy {
            zero: true,
            ..FillPolicy::default()
        };
        assert!(writes(&zero, 8).iter().flatten().all(|&byte| byte == 0));
        for length in [1, 3, 4, 100, 5000] {
            let pattern: Vec<u8> = (0..length).map(|i| (i * 7 + 1) as u8).collect();
            let policy = FillPolicy {
                pattern: pattern.clone(),
                ..FillPolicy::default()
            };
            for write in writes(&policy, 8) {
                assert!(
                    write
                        .iter()
                        .zip(pattern.iter().cycle())
                        .all(|(a, b)| a == b)
                );
            }
        }
    }

    #[test]
    fn the_asked_share_of_writes_is_a_duplicate() {
        for percent in [0, 10, 50, 90, 100] {
            let policy = FillPolicy {
                dedupe_percent: percent,
                ..FillPolicy::default()
            };
            let policy = FillPolicy {
                refill: true,
                ..policy
            };
            let all = writes(&policy, 4000);
            let unique = all.iter().collect::<HashSet<_>>().len();
            let share = 100.0 * (1.0 - unique as f64 / all.len() as f64);
            assert!(
                (share - f64::from(percent)).abs() < 3.0,
                "{percent}: {share}"
            );
        }
    }

    #[test]
    fn a_working_set_is_picked_from_evenly() {
        let set = |seed, blocks| WorkingSet { seed, blocks };
        let policy = FillPolicy {
            dedupe_percent: 60,
            working_sets: vec![set(1, 7), set(2, 3)],
            ..FillPolicy::default()
        };
        let all = writes(&policy, 4000);
        let mut counts: HashMap<&[u8], u32> = HashMap::new();
        for write in &all {
            *counts.entry(write).or_default() += 1;
        }
        let members: Vec<u32> = counts.values().copied().filter(|n| *n > 1).collect();
        assert_eq!(members.len(), 10);
        // 2400 writes on ten members: 240 each, deviation 15.
        assert!(
            members.iter().all(|n| (160..320).contains(n)),
            "{members:?}"
        );
        // Another worker with the same sets repeats the same blocks.
        let other = writes(&FillPolicy { seed: 5, ..policy }, 400);
        let shared = other
            .iter()
            .filter(|write| counts.contains_key(write.as_slice()));
        assert!((180..300).contains(&shared.count()));
    }

    /// Bytes after zstd at its fastest ordinary level.
    fn compressed(bytes: &[u8]) -> usize {
        zstd::bulk::compress(bytes, 1).unwrap().len()
    }

    #[test]
    fn data_compress_by_the_asked_percentage() {
        for percent in [0, 25, 50, 80] {
            for chunk in [512, 4096, 0] {
                let policy = FillPolicy {
                    refill: true,
                    compress_percent: percent,
                    compress_chunk: chunk,
                    ..FillPolicy::default()
                };
                let bytes = writes(&policy, 256).concat();
                let left = compressed(&bytes);
                let saved = 100.0 * (1.0 - left as f64 / bytes.len() as f64);
                assert!(
                    (saved - f64::from(percent)).abs() < 3.0,
                    "{percent}/{chunk}: {saved}"
                );
            }
        }
    }

    #[test]
    fn a_pattern_takes_the_place_of_zeros_in_compressible_data() {
        let policy = FillPolicy {
            compress_percent: 50,
            pattern: b"ab".to_vec(),
            ..FillPolicy::default()
        };
        for write in writes(&policy, 4) {
            for chunk in write.chunks(512) {
                assert_eq!(chunk[256..], b"ab".repeat(128)[..]);
                assert_ne!(chunk[..256], b"ab".repeat(128)[..]);
            }
        }
    }
}
