//! L'Ecuyer's combined Tausworthe generators with the seeding fio gives them.
//!
//! taus88: P. L'Ecuyer, "Maximally equidistributed combined Tausworthe generators", Math.
//! Comp. 65 (1996); taus258: "Tables of maximally equidistributed combined LFSR generators",
//! Math. Comp. 68 (1999). Equality with fio's streams is tested against the binary.

/// One component: shifts and mask from the tables of the papers; `$keep` is the lowest bit
/// that the mask keeps.
macro_rules! step {
    ($s:expr, $a:literal, $b:literal, $keep:literal, $shift:literal) => {
        (($s & !($keep - 1)) << $shift) ^ ((($s << $a) ^ $s) >> $b)
    };
}

/// The papers ask for a first state of at least `least`.
fn at_least(value: u64, least: u64) -> u64 {
    if value < least { value + least } else { value }
}

/// The 32-bit generator of three components.
#[derive(Clone, Debug)]
pub struct Taus88 {
    s: [u32; 3],
}

impl Taus88 {
    /// Seeds the generator; 53 and 69069 are fio's constants.
    pub fn new(seed: u32) -> Self {
        let mut s = [0; 3];
        let mut x = 53;
        for (state, least) in s.iter_mut().zip([1, 7, 15]) {
            x = at_least(u64::from(69069u32.wrapping_mul(x) ^ seed), least) as u32;
            *state = x;
        }
        let mut new = Taus88 { s };
        for _ in 0..6 {
            new.draw();
        }
        new
    }

    /// The next 32 bits.
    #[inline(always)]
    pub fn draw(&mut self) -> u32 {
        let [s0, s1, s2] = self.s;
        self.s = [
            step!(s0, 13, 19, 2, 12),
            step!(s1, 2, 25, 8, 4),
            step!(s2, 3, 11, 16, 17),
        ];
        self.s[0] ^ self.s[1] ^ self.s[2]
    }

    /// A value in `1..=100`. fio multiplies in floating point; the product of 100 and 32 bits
    /// is exact there, so the integer product is the same.
    #[inline(always)]
    pub fn percent(&mut self) -> u32 {
        1 + ((u64::from(self.draw()) * 100) >> 32) as u32
    }
}

/// The 64-bit generator of five components.
#[derive(Clone, Debug)]
pub struct Taus258 {
    s: [u64; 5],
}

impl Taus258 {
    /// Seeds the generator; 53 and 6906969069 are fio's constants.
    pub fn new(seed: u64) -> Self {
        let mut s = [0; 5];
        let mut x = 53u64;
        for (state, least) in s.iter_mut().zip([1, 7, 15, 33, 49]) {
            x = at_least(6_906_969_069u64.wrapping_mul(x) ^ seed, least);
            *state = x;
        }
        let mut new = Taus258 { s };
        for _ in 0..6 {
            new.draw();
        }
        new
    }

    /// The next 64 bits.
    #[inline(always)]
    pub fn draw(&mut self) -> u64 {
        let [s0, s1, s2, s3, s4] = self.s;
        self.s = [
            step!(s0, 1, 53, 2, 10),
            step!(s1, 24, 50, 512, 5),
            step!(s2, 3, 23, 4096, 29),
            step!(s3, 5, 24, 131_072, 23),
            step!(s4, 3, 33, 8_388_608, 8),
        ];
        self.s[0] ^ self.s[1] ^ self.s[2] ^ self.s[3] ^ self.s[4]
    }
}

/// One of the two, as `random_generator` decides per stream.
#[derive(Clone, Debug)]
pub enum Taus {
    /// 32 bits.
    Narrow(Taus88),
    /// 64 bits.
    Wide(Taus258),
}

impl Taus {
    /// A stream of the wanted width; the narrow one uses the low half of the seed.
    pub fn new(seed: u64, wide: bool) -> Self {
        if wide {
            Taus::Wide(Taus258::new(seed))
        } else {
            Taus::Narrow(Taus88::new(seed as u32))
        }
    }

    /// The next value, in the low 32 bits of a narrow stream.
    #[inline(always)]
    pub fn draw(&mut self) -> u64 {
        match self {
            Taus::Narrow(taus) => u64::from(taus.draw()),
            Taus::Wide(taus) => taus.draw(),
        }
    }

    /// A value below `n`, a whole number below 2^63. The product is rounded to a double as in
    /// fio, so the result for a large `n` is fio's and not that of an integer product. Scaling
    /// by a power of two is exact, which is why it may be done to either factor.
    #[inline(always)]
    pub fn below(&mut self, n: f64) -> u64 {
        let scaled = match self {
            Taus::Narrow(taus) => f64::from(taus.draw()) * (n * TWO_POW_MINUS_32),
            Taus::Wide(taus) => taus.draw() as f64 * (n * (TWO_POW_MINUS_32 * TWO_POW_MINUS_32)),
        };
        // Conversion to a signed number is one instruction, to an unsigned one several.
        scaled as i64 as u64
    }
}

/// 2^-32, exact.
pub(crate) const TWO_POW_MINUS_32: f64 = 1.0 / 4_294_967_296.0;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Printed by `fio --debug=random --rw=randread`: the default seed of thread 1.
    #[test]
    fn taus88_gives_the_values_fio_prints() {
        let mut taus = Taus88::new(0xb189_9bed);
        let got: Vec<u32> = (0..5).map(|_| taus.draw()).collect();
        assert_eq!(
            got,
            [
                259_043_585,
                3_179_521_932,
                3_621_444_214,
                2_018_697_059,
                1_726_199_243
            ]
        );
    }

    proptest! {
        #[test]
        fn below_is_the_rounded_quotient(seed: u32, n in 1u64..1 << 40) {
            let mut a = Taus::new(u64::from(seed), false);
            let mut b = a.clone();
            let divided = n as f64 * (b.draw() as f64 / (f64::from(u32::MAX) + 1.0));
            prop_assert_eq!(a.below(n as f64), divided as u64);
        }

        #[test]
        fn percent_is_the_floating_point_formula(seed: u32) {
            let mut a = Taus88::new(seed);
            let mut b = a.clone();
            let v = 1 + (100.0 * (f64::from(b.draw()) / 4_294_967_296.0)) as u32;
            prop_assert_eq!(a.percent(), v);
        }
    }
}
