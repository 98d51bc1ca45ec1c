//! How often comparisons are wrong, and what they say.

use judge::compare::{
    Better, Verdict, batch_means, change_points, correct, least_p, median_ratio, noise_threshold,
    repeated, runs_needed, single, too_few, variation,
};

/// Normal values, the same on every machine.
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        // Knuth's MMIX generator; the high half is good enough for sums.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / (1u64 << 31) as f64
    }

    /// Sum of twelve uniforms: mean 0, deviation 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    fn runs(&mut self, n: usize, mean: f64, cv: f64) -> Vec<f64> {
        (0..n).map(|_| mean * (1.0 + cv * self.normal())).collect()
    }
}

/// Share of trials that end in one of `verdicts`.
fn share(trials: usize, n: usize, effect: f64, cv: f64, verdicts: &[Verdict]) -> f64 {
    let mut noise = Noise(n as u64);
    let told = (0..trials).filter(|_| {
        let (a, b) = (noise.runs(n, 1e5, cv), noise.runs(n, 1e5 * effect, cv));
        verdicts.contains(&repeated(&a, &b, Better::Higher, 0.02).verdict)
    });
    told.count() as f64 / trials as f64
}

#[test]
fn the_same_is_seldom_called_different() {
    for (trials, n, cv) in [(1000, 8, 0.03), (300, 4, 0.10)] {
        let wrong = share(trials, n, 1.0, cv, &[Verdict::Better, Verdict::Worse]);
        assert!(wrong <= 0.05, "{wrong} of {n} against {n} at {cv}");
    }
}

#[test]
fn five_percent_are_found() {
    let found = share(400, 8, 1.05, 0.02, &[Verdict::Better]);
    assert!(found >= 0.9, "{found}");
    let found = share(200, 8, 0.95, 0.02, &[Verdict::Worse]);
    assert!(found >= 0.9, "{found}");
}

#[test]
fn directions_and_thresholds() {
    let a = [100.0, 101.0, 99.0, 100.5];
    let b = [110.0, 111.0, 109.0, 110.5];
    let compared = repeated(&a, &b, Better::Higher, 0.02);
    assert_eq!(compared.verdict, Verdict::Better);
    assert!((compared.ratio - 1.0998).abs() < 1e-3, "{compared:?}");
    assert!((compared.p.unwrap_or(1.0) - 2.0 / 70.0).abs() < 1e-12);
    assert_eq!(
        repeated(&a, &b, Better::Lower, 0.02).verdict,
        Verdict::Worse
    );
    // A difference that is sure and does not matter on this machine.
    assert_eq!(repeated(&a, &b, Better::Higher, 0.2).verdict, Verdict::Same);
    let again = repeated(&a, &b, Better::Higher, 0.02);
    assert_eq!(compared, again);
}

#[test]
fn too_few_runs_are_told_so() {
    assert!((least_p(3, 3) - 0.1).abs() < 1e-12);
    assert!((least_p(4, 4) - 2.0 / 70.0).abs() < 1e-12);
    assert_eq!(
        too_few(3, 3, 1).as_deref(),
        Some("3 against 3 cannot reach p < 0.05 (the least is 0.10); 4 against 4 can")
    );
    assert_eq!(too_few(4, 4, 1), None);
    // 2/70 is enough for one figure, 2/252 for six, 2/924 for twenty-three.
    let needed = [1, 2, 6, 7, 23, 24].map(runs_needed);
    assert_eq!(needed, [4, 5, 5, 6, 6, 7]);
    assert_eq!(too_few(5, 5, 6), None);
    assert_eq!(
        too_few(4, 4, 2).as_deref(),
        Some(
            "4 against 4 reaches p < 0.05 for one figure (the least is 0.029); it takes 5 against \
             5 for the 2 compared here (Holm's correction)"
        )
    );
    assert_eq!(
        too_few(3, 3, 7).as_deref(),
        Some(
            "3 against 3 cannot reach p < 0.05 (the least is 0.10); 4 against 4 can for one \
             figure, 6 against 6 for the 7 compared here (Holm's correction)"
        )
    );
    // What is said to be enough is enough, and one less is not.
    for figures in 1..40 {
        let runs = runs_needed(figures);
        let apart = |runs: usize| {
            let of =
                |base: f64| -> Vec<f64> { (0..runs).map(|i| base + i as f64 / 100.0).collect() };
            let one = (
                repeated(&of(1.0), &of(2.0), Better::Higher, 0.02),
                Better::Higher,
            );
            let mut all = vec![one; figures];
            correct(&mut all);
            all.iter().all(|(one, _)| one.verdict == Verdict::Better)
        };
        assert!(
            apart(runs) && !apart(runs - 1),
            "{figures} figures, {runs} runs"
        );
    }
    let compared = repeated(&[1.0, 1.1, 1.2], &[2.0, 2.1, 2.2], Better::Higher, 0.02);
    assert_eq!(compared.verdict, Verdict::Unclear);
    assert!(
        compared
            .remark
            .is_some_and(|text| text.contains("4 against 4 can"))
    );
    let compared = repeated(&[1.0], &[2.0, 2.1], Better::Higher, 0.02);
    assert_eq!((compared.verdict, compared.p), (Verdict::Untested, None));
}

#[test]
fn intervals_are_stable_and_hold_the_ratio() {
    let mut noise = Noise(1);
    let (a, b) = (noise.runs(8, 100.0, 0.02), noise.runs(8, 103.0, 0.02));
    let interval = median_ratio(&a, &b, 7);
    assert_eq!(interval, median_ratio(&a, &b, 7));
    assert!(interval.low < interval.ratio && interval.ratio < interval.high);
    // The stored value: a change of the generator or of the rule shows here.
    let shown = format!(
        "{:.6} {:.6} {:.6}",
        interval.ratio, interval.low, interval.high
    );
    assert_eq!(shown, "1.039757 1.013304 1.051892");
    // How often the interval holds the true ratio.
    let held = (0..400).filter(|_| {
        let (a, b) = (noise.runs(10, 100.0, 0.03), noise.runs(10, 105.0, 0.03));
        let interval = median_ratio(&a, &b, 1);
        interval.low <= 1.05 && 1.05 <= interval.high
    });
    assert!(held.count() >= 360);
}

#[test]
fn single_runs_have_intervals_of_their_own() {
    let mut noise = Noise(3);
    // A slow wave: seconds resemble their neighbours.
    let mut level = 0.0;
    let series: Vec<f64> = (0..600)
        .map(|_| {
            level = 0.97 * level + noise.normal();
            1000.0 + 5.0 * level
        })
        .collect();
    let interval = batch_means(&series).expect("600 values");
    assert!(
        interval.independent && interval.batches < 30,
        "{interval:?}"
    );
    assert!(
        interval.low < 1000.0 && 1000.0 < interval.high,
        "{interval:?}"
    );
    assert_eq!(batch_means(&series[..4]), None);
    let compared = single(&[1000.0], &[1100.0], Some([interval, interval]), 0.02);
    assert_eq!(compared.verdict, Verdict::Untested);
    assert!(
        compared
            .interval
            .is_some_and(|[low, high]| low < 1.1 && 1.1 < high)
    );
}

#[test]
fn many_metrics_are_corrected() {
    let a = [100.0, 101.0, 99.0, 100.5];
    let b = [110.0, 111.0, 109.0, 110.5];
    let same = [100.2, 100.9, 99.1, 100.4];
    let mut all = vec![
        (repeated(&a, &b, Better::Higher, 0.02), Better::Higher),
        (repeated(&a, &same, Better::Higher, 0.02), Better::Higher),
    ];
    assert_eq!(all[0].0.verdict, Verdict::Better);
    correct(&mut all);
    // 0.029 twice over is no longer below 0.05.
    assert_eq!(all[0].0.verdict, Verdict::Unclear);
    assert!((all[0].0.p.unwrap_or(0.0) - 4.0 / 70.0).abs() < 1e-12);
}

#[test]
fn steps_of_a_history() {
    let mut noise = Noise(9);
    let mut history = noise.runs(20, 1000.0, 0.01);
    history.extend(noise.runs(15, 900.0, 0.01));
    history.extend(noise.runs(25, 1050.0, 0.01));
    let steps = change_points(&history);
    let places: Vec<usize> = steps.iter().map(|step| step.at).collect();
    assert_eq!(places, [20, 35]);
    assert!((steps[0].before - 1000.0).abs() < 10.0 && (steps[0].after - 900.0).abs() < 10.0);
    // One outlier is no step, and neither is noise.
    let mut flat = noise.runs(60, 1000.0, 0.01);
    flat[30] = 500.0;
    assert_eq!(change_points(&flat), []);
    let alarms = (0..200).filter(|_| !change_points(&noise.runs(50, 1000.0, 0.02)).is_empty());
    let alarms = alarms.count();
    assert!(alarms <= 10, "{alarms}");
    assert_eq!(change_points(&[5.0; 40]), []);
    assert_eq!(change_points(&[]), []);
}

#[test]
fn thresholds_come_from_the_machine() {
    assert_eq!(noise_threshold(&[]), 0.02);
    assert!((noise_threshold(&[0.01, 0.05, 0.02]) - 0.06).abs() < 1e-12);
    assert!((variation(&[9.0, 10.0, 11.0]) - 0.1).abs() < 1e-12);
}
