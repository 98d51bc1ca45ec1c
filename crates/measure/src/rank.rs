//! How many of N values a percentile must cover.
//!
//! Percentiles such as the 30th of 100 values fall exactly on a value, and there the rounding of
//! `p / 100 * N` would decide which bin is shown. fio's compiler is free to reorder that product;
//! what it made of it counts such a value in, for every N and whole p that was tried, as exact
//! arithmetic does. The 99.9th of 1000 is the 1000th all the same: no float is 99.9, and the
//! nearest one is larger.

/// Smallest count that reaches `percentile` (positive, finite) of `total` values.
pub(crate) fn wanted(percentile: f64, total: u64) -> u64 {
    if !percentile.is_normal() || percentile < 0.0 || total == 0 {
        return 0;
    }
    let (fraction, exponent) = parts(percentile);
    let hundredth = (u128::from(fraction) * u128::from(total)).div_ceil(100);
    ceil_scaled(hundredth, exponent)
}

/// A normal float as `fraction * 2^exponent` with a 53-bit fraction.
fn parts(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let fraction = (bits & ((1 << 52) - 1)) | (1 << 52);
    (fraction, ((bits >> 52) & 0x7ff) as i32 - 1075)
}

/// `value * 2^exponent`, rounded up, at most `u64::MAX`.
fn ceil_scaled(value: u128, exponent: i32) -> u64 {
    let scaled = match exponent {
        0.. => return u64::MAX,
        -127..0 => {
            let shift = exponent.unsigned_abs();
            let up = value & ((1 << shift) - 1) != 0;
            (value >> shift) + u128::from(up)
        }
        _ => u128::from(value > 0),
    };
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Computed in fractions; the small ones are what fio 3.33 shows.
    #[test]
    fn equals_exact_arithmetic() {
        for (percentile, total, count) in [
            (30.0, 50, 15),
            (30.0, 750, 225),
            (60.0, 3000, 1800),
            (30.0, 100, 30),
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
