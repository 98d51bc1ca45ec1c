//! Seeds of written data, one per request, in the order the requests are made.

use crate::rng::Taus;
use crate::seeds::{Purpose, Seeds};
use crate::spec::{Generator, Spec};

/// The stream of a worker's seeds. Starting it over gives the seeds of a pass again, as the
/// read-back in the order of writing does.
#[derive(Clone, Debug)]
pub struct VerifySeeds {
    start: Taus,
    now: Taus,
}

impl VerifySeeds {
    /// The stream of a worker.
    pub fn of(spec: &Spec) -> Self {
        let wide = spec.generator == Generator::Tausworthe64;
        VerifySeeds::new(Seeds::new(spec).of(Purpose::Verify), wide)
    }

    /// The stream that begins with `seed`; `wide` picks the 64-bit generator as for offsets.
    pub fn new(seed: u64, wide: bool) -> Self {
        let start = Taus::new(seed, wide);
        VerifySeeds {
            now: start.clone(),
            start,
        }
    }

    /// The next seed: the product of two draws, modulo 2^64.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        let first = self.now.draw();
        first.wrapping_mul(self.now.draw())
    }

    /// Goes back to the first seed.
    pub fn restart(&mut self) {
        self.now = self.start.clone();
    }
}
