//! Seeds of a worker's random streams: one per purpose, so that changing the block sizes of
//! a job does not move its offsets.

use crate::rng::splitmix64;
use crate::spec::{FioRules, Seed, Spec};

/// fio's constant for offsets under `randrepeat`, and for everything under `allrandrepeat`.
const REPEAT: u64 = 0xb189_9bed;
/// Multiplier between one purpose and the next.
const SPREAD: u64 = 0x9e37_0001;
/// Purposes in fio's order, those that no sequence depends on included.
const PURPOSES: usize = 21;

/// Index of a purpose in fio's order.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    SizeRead = 0,
    SizeWrite = 1,
    SizeTrim = 2,
    Verify = 3,
    Mix = 4,
    File = 5,
    Offset = 6,
    SequentialOrRandom = 10,
    Zone = 16,
}

/// The seeds of one worker.
#[derive(Clone, Debug)]
pub(crate) struct Seeds([u64; PURPOSES]);

impl Seeds {
    pub(crate) fn new(spec: &Spec) -> Self {
        let thread = u64::from(spec.thread_number);
        let mut seeds = [0; PURPOSES];
        match spec.seed {
            Seed::Fixed(seed) => {
                let mut seed = (0..4).fold(seed, |seed, _| seed.wrapping_mul(SPREAD));
                for (i, slot) in (0..).zip(&mut seeds) {
                    *slot = seed.wrapping_mul(thread).wrapping_add(i);
                    seed = seed.wrapping_mul(SPREAD);
                }
            }
            Seed::Entropy(entropy) => {
                let mut state = entropy ^ thread.wrapping_mul(SPREAD);
                seeds.fill_with(|| splitmix64(&mut state));
            }
        }
        if spec.all_rand_repeat {
            for (i, slot) in (0..).zip(&mut seeds) {
                *slot = REPEAT.wrapping_mul(thread).wrapping_add(i);
            }
        }
        if spec.rules == FioRules::V3_33 && spec.randrepeat && spec.direction.is_random() {
            seeds[Purpose::Offset as usize] = REPEAT.wrapping_mul(thread);
        }
        Seeds(seeds)
    }

    /// Seed of the zipf, pareto or normal distribution over one file.
    pub(crate) fn skew(&self, spec: &Spec, name_hash: u32) -> u32 {
        let named = name_hash.wrapping_mul(spec.thread_number);
        match spec.rules {
            FioRules::V3_33 if spec.repeats() => named,
            FioRules::V3_33 => self.of(Purpose::Offset) as u32,
            FioRules::V3_42 => named.wrapping_mul(self.of(Purpose::Offset) as u32),
        }
    }

    pub(crate) fn of(&self, purpose: Purpose) -> u64 {
        self.0[purpose as usize]
    }
}
