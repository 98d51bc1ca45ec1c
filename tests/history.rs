//! `assay history` and `assay compare` as a person uses them.

use crate::harness::{Scratch, command::assay_path};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

const SEEDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../result/tests/seeds");

/// Runs a verb with the history of the test.
fn assay(scratch: &Scratch, words: &[&str]) -> Output {
    Command::new(assay_path())
        .args(words)
        .env("ASSAY_DB", scratch.path().join("h.db"))
        .current_dir(scratch.path())
        .output()
        .expect("the binary runs")
}

#[track_caller]
fn out(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{text}{errors}");
    assert_eq!(errors, "");
    text
}

fn notes(name: &str) -> String {
    format!("{SEEDS}/{name}")
}

fn list(scratch: &Scratch, words: &[&str]) -> Vec<Value> {
    let words = [&["history", "list", "--format", "json"], words].concat();
    serde_json::from_str(&out(&assay(scratch, &words))).expect("an array")
}

#[test]
fn what_is_imported_is_found_again() {
    let scratch = Scratch::new("history");
    let text = out(&assay(&scratch, &["import", &notes("cloud.txt")]));
    assert!(text.ends_with("25 runs kept\n"), "{text}");
    let text = out(&assay(&scratch, &["import", &notes("cloud.txt")]));
    assert!(text.ends_with("25 runs were kept already\n"), "{text}");
    assert_eq!(list(&scratch, &[]).len(), 25);
    assert_eq!(list(&scratch, &["--device", "sdc"]).len(), 6);
    assert_eq!(
        list(
            &scratch,
            &["--since", "2025-02-12", "--until", "2025-02-13"]
        )
        .len(),
        4
    );
    out(&assay(&scratch, &["history", "tag", "20", "random"]));
    out(&assay(&scratch, &["history", "note", "20", "first disk"]));
    assert_eq!(
        list(&scratch, &["--tag", "random"])[0]["note"],
        "first disk"
    );
    let shown = out(&assay(&scratch, &["history", "show", "20"]));
    assert!(
        shown.contains("seq-write") && shown.contains("38106 IOPS"),
        "{shown}"
    );
    let source = out(&assay(
        &scratch,
        &["history", "show", "20", "--format", "source"],
    ));
    assert!(source.starts_with("$ fio --name=seq-write --ioengine=libaio --rw=randwrite"));
    let csv = out(&assay(&scratch, &["history", "export", "--tag", "random"]));
    let row = csv
        .lines()
        .find(|line| line.contains(",iops,"))
        .expect("a row");
    assert!(
        row.starts_with("20,") && row.contains(",seq-write,write,iops,38106."),
        "{row}"
    );
    let json = out(&assay(
        &scratch,
        &["history", "export", "--format", "json", "--last", "2"],
    ));
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json.as_array().map(Vec::len), Some(2));
    assert!(json[1]["run"]["jobs"][0]["dirs"].is_array());
    out(&assay(&scratch, &["history", "rm", "1", "2"]));
    assert_eq!(list(&scratch, &[]).len(), 23);
    let gone = out(&assay(
        &scratch,
        &["history", "gc", "--before", "2100-01-01"],
    ));
    assert_eq!(gone, "22 runs removed\n");
    assert_eq!(list(&scratch, &[]).len(), 1);
}

#[test]
fn nothing_is_kept_unless_wanted() {
    let scratch = Scratch::new("unkept");
    out(&assay(
        &scratch,
        &["import", "--no-save", &notes("cloud.txt")],
    ));
    let done = assay(&scratch, &["history", "list"]);
    assert_eq!(done.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(errors.contains("there is no history yet"), "{errors}");
}

#[test]
fn a_foreign_file_is_refused_and_left() {
    let scratch = Scratch::new("foreign");
    let path = scratch.path().join("letter");
    std::fs::write(&path, "Dear all").expect("a file");
    let path = path.to_str().expect("UTF-8");
    let done = assay(&scratch, &["import", "--db", path, &notes("cloud.txt")]);
    assert_eq!(done.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(
        errors.contains("not a history of Assay, left as it is"),
        "{errors}"
    );
    assert_eq!(std::fs::read_to_string(path).expect("the file"), "Dear all");
}

/// Notes of one run each, its rates times each factor.
fn documents(scratch: &Scratch, name: &str, factors: &[f64]) -> Vec<String> {
    let write = |(at, factor): (usize, &f64)| {
        let (iops, rate) = (38_000.0 * factor, 148.4375 * factor);
        let text = format!(
            "| what | IOPS | Bandwidth |\n|---|---|---|\n| 4KiB randwrite | {iops} | {rate} MiB/s |\n"
        );
        let path = scratch.path().join(format!("{name}{at}.md"));
        std::fs::write(&path, text).expect("a file");
        path.to_str().expect("UTF-8").to_owned()
    };
    factors.iter().enumerate().map(write).collect()
}

fn kept(scratch: &Scratch, tag: &str, factors: &[f64]) {
    let before = match Path::new(&scratch.path().join("h.db")).exists() {
        true => list(scratch, &[]).len(),
        false => 0,
    };
    let files = documents(scratch, tag, factors);
    let words: Vec<&str> = std::iter::once("import")
        .chain(files.iter().map(String::as_str))
        .collect();
    out(&assay(scratch, &words));
    for id in before + 1..=before + factors.len() {
        out(&assay(scratch, &["history", "tag", &id.to_string(), tag]));
    }
}

#[test]
fn repeated_runs_are_tested() {
    let scratch = Scratch::new("compare");
    kept(&scratch, "old", &[1.0, 1.01, 0.99, 1.005, 0.995]);
    kept(&scratch, "new", &[0.9, 0.91, 0.89, 0.905, 0.895]);
    let words = ["compare", "old", "new", "--metric", "iops"];
    let text = out(&assay(&scratch, &words));
    assert!(
        text.contains("A: old (5 runs)\nB: new (5 runs)\n"),
        "{text}"
    );
    assert!(text.contains("B is 0.900 x A [0."), "{text}");
    assert!(text.contains("p = 0.008, n = 5/5: B is worse"), "{text}");
    assert!(!text.contains("informative"), "{text}");
    let failing = assay(
        &scratch,
        &[&words[..], &["--fail-if", "slower=5%"]].concat(),
    );
    assert_eq!(failing.status.code(), Some(2));
    out(&assay(
        &scratch,
        &[&words[..], &["--fail-if", "slower=15%"]].concat(),
    ));
    let json = out(&assay(
        &scratch,
        &[&words[..], &["--format", "json"]].concat(),
    ));
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["lines"][0]["verdict"], "worse");
    let table = out(&assay(
        &scratch,
        &[&words[..], &["--format", "markdown"]].concat(),
    ));
    assert!(table.contains("| B is worse |"), "{table}");
    let trend = out(&assay(&scratch, &["history", "trend", "iops"]));
    assert!(
        trend.contains("4KiB randwrite, write") && trend.contains("10 runs"),
        "{trend}"
    );
    assert!(trend.contains("from run 6 on"), "{trend}");
}

#[test]
fn three_runs_are_too_few() {
    let scratch = Scratch::new("few");
    kept(&scratch, "old", &[1.0, 1.01, 0.99]);
    kept(&scratch, "new", &[0.9, 0.91, 0.89]);
    let text = out(&assay(
        &scratch,
        &["compare", "old", "new", "--metric", "iops"],
    ));
    assert!(text.contains("3 against 3 cannot reach p < 0.05"), "{text}");
    assert!(text.contains("4 against 4 can"), "{text}");
}

#[test]
fn different_work_is_informative_only() {
    let scratch = Scratch::new("different");
    out(&assay(&scratch, &["import", &notes("cloud.txt")]));
    // Sequential writes of one job and of four.
    let text = out(&assay(&scratch, &["compare", "8", "14"]));
    assert!(text.contains("informative only"), "{text}");
    assert!(text.contains("iodepth: 128 in A, 32 in B"), "{text}");
    assert!(text.contains("numjobs: not given in A, 4 in B"), "{text}");
    assert!(text.contains("n = 1/1: not tested"), "{text}");
    for words in [["compare", "8", "no such tag"], ["compare", "8", "999"]] {
        let done = assay(&scratch, &words);
        assert_eq!(done.status.code(), Some(1));
        let errors = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(
            errors.contains("no number, tag or suite of the history"),
            "{errors}"
        );
    }
    let done = assay(&scratch, &["compare", "8", "9", "--fail-if", "faster"]);
    assert_eq!(done.status.code(), Some(1));
}
