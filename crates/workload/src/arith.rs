//! Division by numbers known when a worker starts, as multiplications.

/// Quotients by a fixed divisor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Divider {
    divisor: u64,
    /// ceil(2^64 / divisor), or 0 for powers of two.
    reciprocal: u64,
    shift: u32,
}

impl Divider {
    /// For divisors from 1 to 2^31 and dividends below 2^33: the error of the rounded
    /// reciprocal times the dividend stays below one part of the divisor.
    pub(crate) fn new(divisor: u64) -> Self {
        debug_assert!((1..=1 << 31).contains(&divisor));
        let reciprocal = if divisor.is_power_of_two() {
            0
        } else {
            u64::MAX / divisor + 1
        };
        Divider {
            divisor,
            reciprocal,
            shift: divisor.trailing_zeros(),
        }
    }

    /// `n / divisor`, rounded down.
    #[inline(always)]
    pub(crate) fn quotient(self, n: u64) -> u64 {
        debug_assert!(n < 1 << 33);
        if self.reciprocal == 0 {
            n >> self.shift
        } else {
            ((u128::from(n) * u128::from(self.reciprocal)) >> 64) as u64
        }
    }

    /// The largest multiple of the divisor that is at most `n`.
    #[inline(always)]
    pub(crate) fn round_down(self, n: u64) -> u64 {
        self.quotient(n) * self.divisor
    }
}

/// Remainders by a fixed modulus, for all 64-bit values (Lemire, Kaser, Kurz, "Faster
/// remainder by direct computation", 2019).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Modulus {
    modulus: u64,
    /// ceil(2^128 / modulus), modulo 2^128.
    reciprocal: u128,
}

impl Modulus {
    pub(crate) fn new(modulus: u64) -> Self {
        let reciprocal = (u128::MAX / u128::from(modulus)).wrapping_add(1);
        Modulus {
            modulus,
            reciprocal,
        }
    }

    /// `n % modulus`.
    #[inline(always)]
    pub(crate) fn of(self, n: u64) -> u64 {
        let fraction = self.reciprocal.wrapping_mul(u128::from(n));
        let modulus = u128::from(self.modulus);
        let low = (u128::from(fraction as u64) * modulus) >> 64;
        (((fraction >> 64) * modulus + low) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn quotients_are_exact(n in 0u64..1 << 33, d in 1u64..=1 << 31) {
            let divider = Divider::new(d);
            prop_assert_eq!(divider.quotient(n), n / d);
            prop_assert_eq!(divider.round_down(n), n / d * d);
        }

        #[test]
        fn quotients_are_exact_next_to_multiples(q in 0u64..1 << 22, d in 1u64..1 << 11) {
            for n in [q * d, (q * d).saturating_sub(1), q * d + d - 1] {
                prop_assert_eq!(Divider::new(d).quotient(n), n / d);
            }
        }

        #[test]
        fn remainders_are_exact(n: u64, shift in 0u32..64, m: u64) {
            let m = (m >> shift).max(1);
            prop_assert_eq!(Modulus::new(m).of(n), n % m);
            let multiple = (n / m) * m;
            prop_assert_eq!(Modulus::new(m).of(multiple), 0);
            let below = multiple.wrapping_sub(1);
            prop_assert_eq!(Modulus::new(m).of(below), below % m);
        }
    }
}
