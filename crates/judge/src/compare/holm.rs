//! Holm's step-down correction (Scandinavian Journal of Statistics 6 (1979), 65-70).

/// Corrected p values, in the order given: the chance of any false alarm among them stays below
/// the level.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|i, j| p[*i].total_cmp(&p[*j]));
    let mut corrected = vec![1.0; p.len()];
    let mut so_far = 0.0f64;
    for (rank, at) in order.into_iter().enumerate() {
        so_far = so_far.max(p[at] * (p.len() - rank) as f64).min(1.0);
        corrected[at] = so_far;
    }
    corrected
}
