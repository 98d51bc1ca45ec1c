//! Against scipy 1.17 on stored data.

use judge::compare::{batch_means, holm, mann_whitney, t_quantile};
use serde_json::Value;

fn stored() -> Value {
    serde_json::from_str(include_str!("scipy.json")).expect("JSON")
}

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().expect("a list");
    list.iter().filter_map(Value::as_f64).collect()
}

#[track_caller]
fn near(got: f64, want: &Value, tolerance: f64) {
    let want = want.as_f64().expect("a number");
    assert!(
        (got - want).abs() <= tolerance * want.abs().max(1.0),
        "{got} is not {want}"
    );
}

#[test]
fn mann_whitney_exact_and_approximate() {
    let stored = stored();
    for (kind, exact, tolerance) in [
        ("mann_whitney", true, 1e-9),
        // Ties: scipy's permutation test of the rank sum.
        ("permutation", true, 1e-9),
        ("asymptotic", false, 1e-9),
    ] {
        let cases = stored[kind].as_array().expect("cases");
        assert!(cases.len() >= 3);
        for case in cases {
            let test = mann_whitney(&numbers(&case["a"]), &numbers(&case["b"]));
            near(test.u, &case["u"], 1e-12);
            near(test.p, &case["p"], tolerance);
            assert_eq!(test.exact, exact);
        }
    }
}

#[test]
fn quantiles_of_t() {
    for case in stored()["t"].as_array().expect("cases") {
        let p = case[0].as_f64().expect("p");
        near(t_quantile(p, case[1].as_f64().expect("df")), &case[2], 1e-9);
    }
}

#[test]
fn holms_correction() {
    for case in stored()["holm"].as_array().expect("cases") {
        for (got, want) in holm(&numbers(&case[0])).into_iter().zip(numbers(&case[1])) {
            assert!((got - want).abs() < 1e-12, "{case}");
        }
    }
}

#[test]
fn intervals_of_batch_means() {
    let stored = stored();
    let case = &stored["batch"];
    let interval = batch_means(&numbers(&case["series"])).expect("sixty values");
    assert_eq!((interval.batches, interval.independent), (30, true));
    near(interval.mean, &case["mean"], 1e-9);
    near(interval.low, &case["low"], 1e-9);
    near(interval.high, &case["high"], 1e-9);
}
