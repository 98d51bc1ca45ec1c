//! fio's log-linear latency bins: 29 groups of 64, exact below 128 ns, at most 1/128 wide above.
//!
//! The layout is a file format (`clat_hist` logs, JSON `bins`), so it may not change.

/// Bits that select a bin inside its group.
const GROUP_BITS: u32 = 6;
/// Groups of bins.
const GROUPS: usize = 29;
/// Number of bins; the last one absorbs everything from about 17 s upwards.
pub const BINS: usize = GROUPS << GROUP_BITS;

/// Bin of a value in nanoseconds. Branch-free but for the clamp.
#[inline(always)]
pub const fn bin_index(value_ns: u64) -> usize {
    let shift = 57 - (value_ns | 64).leading_zeros();
    let index = ((shift as usize) << GROUP_BITS) + (value_ns >> shift) as usize;
    if index < BINS { index } else { BINS - 1 }
}

/// Value in nanoseconds that stands for a bin: exact below 128, else the midpoint.
pub const fn bin_value(index: usize) -> u64 {
    if index < 2 << GROUP_BITS {
        return index as u64;
    }
    let shift = (index >> GROUP_BITS) - 1;
    let base = 1u64 << (shift + GROUP_BITS as usize);
    let step = (index & ((1 << GROUP_BITS) - 1)) as u64;
    base + (step << shift) + (1 << (shift - 1))
}

/// Smallest value that falls into a bin.
pub(crate) const fn bin_floor(index: usize) -> u64 {
    if index < 2 << GROUP_BITS {
        return index as u64;
    }
    let shift = (index >> GROUP_BITS) - 1;
    (1u64 << (shift + GROUP_BITS as usize)) + (((index & ((1 << GROUP_BITS) - 1)) as u64) << shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_bin_holds_its_own_value_and_floor() {
        for index in 0..BINS {
            assert_eq!(bin_index(bin_value(index)), index);
            assert_eq!(bin_index(bin_floor(index)), index);
            assert!(index == 0 || bin_index(bin_floor(index) - 1) == index - 1);
        }
        assert_eq!(bin_index(u64::MAX), BINS - 1);
    }

    proptest! {
        #[test]
        fn midpoint_is_within_one_part_in_128(value in 0u64..17_000_000_000) {
            let shown = bin_value(bin_index(value));
            prop_assert!(shown.abs_diff(value) as f64 <= value as f64 / 128.0);
        }
    }
}
