//! Thinning long series without losing their extremes.

/// Indices of at most `most` values (a multiple of 2 is best): the smallest and the largest of
/// each of `most / 2` equal stretches, in order. All of them when there are few enough.
pub fn extremes(values: &[f64], most: usize) -> Vec<usize> {
    if values.len() <= most {
        return (0..values.len()).collect();
    }
    let stretches = (most / 2).max(1);
    let mut kept = Vec::with_capacity(stretches * 2);
    for stretch in 0..stretches {
        let from = stretch * values.len() / stretches;
        let to = (stretch + 1) * values.len() / stretches;
        let by = |a: &usize, b: &usize| values[*a].total_cmp(&values[*b]);
        let (Some(low), Some(high)) = ((from..to).min_by(by), (from..to).max_by(by)) else {
            continue;
        };
        kept.push(low.min(high));
        if low != high {
            kept.push(low.max(high));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::extremes;

    #[test]
    fn a_single_peak_and_a_single_hole_survive() {
        let mut values = vec![100.0; 1_000_000];
        values[123_456] = 5000.0;
        values[777_777] = 0.0;
        let kept = extremes(&values, 160);
        assert!(kept.len() <= 160);
        assert!(kept.contains(&123_456) && kept.contains(&777_777));
        assert!(kept.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(extremes(&values[..3], 160), [0, 1, 2]);
    }
}
