//! Fills the buffers of a worker's slots. The kind of work is chosen once, from the policy.

use super::FillPolicy;
use crate::rng::Xoshiro;

/// Bytes between two stamps: the smallest block a device can deduplicate.
const SECTOR: usize = 512;

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
    random: Xoshiro,
    /// State from which the last unique contents were made; repeating it repeats them.
    last: Xoshiro,
    choice: Xoshiro,
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
        let random = Xoshiro::new(policy.seed);
        Filler {
            each,
            zero: all_zero,
            pattern: policy.pattern.clone().into_boxed_slice(),
            compress_percent: policy.compress_percent.min(100) as usize,
            compress_chunk: policy.compress_chunk as usize,
            last: random.clone(),
            random,
            choice: Xoshiro::new(policy.seed ^ 0x6465_6475_7065),
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
            let draw = ((u128::from(self.choice.draw()[0]) * 100) >> 64) as u32;
            if draw < dedupe_percent {
                self.random = self.last.clone();
            } else {
                self.last = self.random.clone();
            }
        }
        self.contents(buf);
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
