//! `assay mem`: tables, the document, the comparison with an earlier one, the end by a signal.

use super::mem;
use crate::harness::command::assay_path;
use crate::harness::fio;
use serde_json::Value;

#[test]
fn latency_has_its_variants_its_spread_and_its_conditions() {
    let text = mem("latency --buffer 4m --dimms 8xDDR5-4800")
        .expect_ok()
        .stdout;
    for part in [
        "Latency of one dependent load, ns (CPU ",
        "full random: stride 64 B",
        "95 % interval",
        "TLB of small pages",
        "8 channels x 4800 MT/s x 8 B = 307.2 GB/s",
        "\nConditions\n  processor ",
        "\n  pages ",
        "\n  prefetchers ",
        "\n  host ",
    ] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
}

fn document(words: &str) -> Value {
    let outcome = mem(words).expect_ok();
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|e| panic!("{e}: {outcome}"))
}

#[test]
fn documents_hold_every_sample() {
    let document = document("latency --buffer 4m --json");
    let memory = &document["memory"];
    for row in memory["latency"]["rows"].as_array().unwrap() {
        let ns = &row["ns"];
        assert_eq!(
            ns["samples"].as_array().unwrap().len() as u64,
            ns["n"].as_u64().unwrap()
        );
        let number = |name: &str| ns[name].as_f64().unwrap();
        assert!(number("low") <= number("median") && number("median") <= number("high"));
        assert!(number("median") > 0.0);
    }
    assert_eq!(document["partial"], false);
    assert!(memory["conditions"]["pages"]["bytes"].as_u64().unwrap() >= 4096);
    assert!(memory.get("bandwidth").is_none_or(Value::is_null));
}

#[test]
fn bandwidth_counts_in_three_ways_and_names_its_loops() {
    let document =
        document("bandwidth --buffer 1m --json --isa sse2 --mixes read,write,copy,triad-nt");
    let rows = document["memory"]["bandwidth"]["rows"]
        .as_array()
        .unwrap()
        .clone();
    let row = |name: &str| {
        let found = rows.iter().find(|row| row["name"] == name);
        found
            .unwrap_or_else(|| panic!("no {name} in {rows:?}"))
            .clone()
    };
    for name in ["read", "write (1:1)", "STREAM copy", "triad NT"] {
        assert!(
            row(name)["rate"]["median"].as_f64().unwrap() > 0.0,
            "{name}"
        );
        assert!(
            row(name)["kernel"].as_str().unwrap().contains("sse2"),
            "{name}"
        );
    }
    assert!(rows.iter().all(|row| row["name"] != "STREAM add"));
    assert_eq!(row("STREAM copy")["mix"]["stores"], 1);
    assert_eq!(row("triad NT")["mix"]["nt_stores"], 1);
}

#[test]
fn the_curve_under_load_has_its_delays_and_its_idle_end() {
    if super::cpus().len() < 2 {
        return crate::harness::skip("the_curve_under_load", "it needs two CPUs");
    }
    let document = document("loaded --buffer 4m --json --isa sse2 --delays 0,1000 --mixes write");
    let curve = &document["memory"]["loaded"][0];
    let points = curve["points"].as_array().unwrap();
    let delays: Vec<u64> = points
        .iter()
        .map(|p| p["delay"].as_u64().unwrap())
        .collect();
    assert!(delays.contains(&0) && delays.contains(&1000), "{delays:?}");
    assert_eq!(curve["mix"]["stores"], 1);
    assert!(curve["idle_ns"]["median"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_baseline_holds_or_fails_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("base.json");
    let base = path.display();
    mem(&format!("latency --buffer 4m --output {base}")).expect_ok();
    let mut document: Value =
        serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let words = format!("check --baseline {base} --buffer 4m --max-regress 100%");
    // Twice as slow is allowed for, and the machine may be busy: only the verdict's form counts.
    let outcome = mem(&words);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    assert!(outcome.stdout.contains("5 figures, "), "{outcome}");
    // A baseline that no machine reaches.
    for row in document["memory"]["latency"]["rows"]
        .as_array_mut()
        .unwrap()
    {
        row["ns"]["median"] = 0.001.into();
    }
    document["memory"]["conditions"]["processor"] = "another".into();
    std::fs::write(&path, document.to_string()).unwrap();
    let outcome = mem(&words);
    assert_eq!(outcome.code, Some(3), "{outcome}");
    assert!(outcome.stdout.contains("WORSE"), "{outcome}");
    assert!(
        outcome
            .stdout
            .contains("not the same circumstances: processor: another then")
    );
    assert!(
        outcome.stderr.contains("5 figures are worse than"),
        "{outcome}"
    );
}

#[test]
fn a_signal_ends_it_with_what_there_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("part.json");
    let mut command = std::process::Command::new(assay_path());
    command.arg("mem");
    let words = format!(
        "--buffer 64m --until-ci 0.0001% --output {}",
        path.display()
    );
    let running = fio(&words).spawn_as(command);
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let pid = running.pid().to_string();
    assert!(
        std::process::Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
    let outcome = running.wait();
    assert_eq!(outcome.code, Some(128), "{outcome}");
    let document: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(document["partial"], true);
}
