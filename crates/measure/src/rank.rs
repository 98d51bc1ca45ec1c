//! How many of N values a percentile must cover.
//!
//! Percentiles such as the 30th of 100 values fall exactly on a value, and there the rounding of
//! `p / 100 * N` decides which bin is shown. fio computes in 80-bit floats on x86, so that is
//! what is done here, in integers: the quotient and the product are each rounded to 64 bits.

/// Smallest count that reaches `percentile` (positive, finite) of `total` values.
pub(crate) fn wanted(percentile: f64, total: u64) -> u64 {
    if !percentile.is_normal() || percentile < 0.0 || total == 0 {
        return 0;
    }
    let (fraction, exponent) = parts(percentile);
    // The quotient keeps at least 114 bits; what the division leaves over only matters as
    // "more than nothing".
    let scaled = u128::from(fraction) << 74;
    let quotient = (scaled / 100) | u128::from(scaled % 100 != 0);
    let (share, shift) = round_64(quotient);
    let (product, more) = round_64(u128::from(share) * u128::from(total));
    ceil_scaled(product, exponent - 74 + shift + more)
}

/// A normal float as `fraction * 2^exponent` with a 53-bit fraction.
fn parts(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let fraction = (bits & ((1 << 52) - 1)) | (1 << 52);
    (fraction, ((bits >> 52) & 0x7ff) as i32 - 1075)
}

/// The nearest number of 64 bits times a power of two, halves to even.
fn round_64(value: u128) -> (u64, i32) {
    let shift = 64u32.saturating_sub(value.leading_zeros());
    if shift == 0 {
        return (value as u64, 0);
    }
    let kept = (value >> shift) as u64;
    let (rest, half) = (value & ((1 << shift) - 1), 1u128 << (shift - 1));
    let up = rest > half || (rest == half && kept & 1 == 1);
    match kept.checked_add(u64::from(up)) {
        Some(rounded) => (rounded, shift as i32),
        None => (1 << 63, shift as i32 + 1),
    }
}

/// `value * 2^exponent`, rounded up, at most `u64::MAX`.
fn ceil_scaled(value: u64, exponent: i32) -> u64 {
    if exponent >= 0 {
        let wide = u128::from(value)
            .checked_shl(exponent.min(64) as u32)
            .unwrap_or(u128::MAX);
        return u64::try_from(wide).unwrap_or(u64::MAX);
    }
    match exponent.unsigned_abs() {
        64.. => u64::from(value > 0),
        shift => {
            let up = value & ((1 << shift) - 1) != 0;
            (value >> shift) + u64::from(up)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Computed by a C program in `long double` on x86-64.
    #[test]
    fn equals_extended_precision() {
        for (percentile, total, count) in [
            (30.0, 50, 16),
            (30.0, 100, 31),
            (50.0, 100, 50),
            (99.95, 2000, 2000),
            (99.9, 1000, 1000),
            (99.0, 100, 99),
            (95.0, 20, 19),
            (1.0, 1, 1),
            (1.0, 100, 1),
            (0.1, 1000, 2),
            (33.3, 1000, 333),
            (99.99, 123456789, 123444444),
            (99.999, 100000, 99999),
            (100.0, 7, 7),
            (30.0, 1099511627776, 329853488333),
            (60.0, 1000000007, 600000005),
            (99.5, 18446744073709551615, 18354510353341003857),
            (100.0, 18446744073709551615, 18446744073709551615),
            (1e-09, 5, 1),
            (90.0, 3000, 2700),
            (70.0, 30, 21),
        ] {
            assert_eq!(wanted(percentile, total), count, "{percentile} of {total}");
        }
        assert_eq!(
            (wanted(0.0, 5), wanted(f64::NAN, 5), wanted(50.0, 0)),
            (0, 0, 0)
        );
    }

    proptest! {
        #[test]
        fn is_within_one_of_the_exact_rank(percentile in 0.0001f64..100.0, total in 1u64..1 << 40) {
            let near = percentile / 100.0 * total as f64;
            let got = wanted(percentile, total) as f64;
            prop_assert!(got >= near * (1.0 - 1e-12) && got <= near * (1.0 + 1e-12) + 1.0);
        }
    }
}
