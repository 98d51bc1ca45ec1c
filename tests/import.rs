//! `assay import` as a person uses it.

use crate::harness::{Scratch, command::assay_path};
use serde_json::Value;
use std::process::{Command, Output};

fn import(words: &[&str]) -> Output {
    let seeds = concat!(env!("CARGO_MANIFEST_DIR"), "/../result/tests/seeds");
    Command::new(assay_path())
        .args(["import", "--no-save"])
        .args(words)
        .current_dir(seeds)
        .output()
        .expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn notes_become_a_table() {
    let done = import(&["cloud.txt", "laptops.txt"]);
    let out = text(&done.stdout);
    assert_eq!(
        (done.status.code(), text(&done.stderr).as_str()),
        (Some(0), "")
    );
    assert!(out.starts_with("cloud.txt: 25 runs\n"), "{out}");
    let row = out
        .lines()
        .find(|line| line.contains("seq-write x4"))
        .expect("a row");
    let words: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(
        words[1..],
        [
            "fio-3.23",
            "seq-write",
            "x4",
            "write",
            "38106",
            "148.9",
            "3.36",
            "ms",
            "6.39",
            "ms"
        ]
    );
    // What cannot be read names its file and line, as compilers do.
    let told = |line: &str| line.starts_with("laptops.txt:") && line.contains(": cannot be read");
    assert!(out.lines().any(told), "{out}");
}

#[test]
fn documents_go_round() {
    let scratch = Scratch::new("import");
    let done = import(&["--json", "striping.txt"]);
    let document: Value = serde_json::from_slice(&done.stdout).expect("JSON alone");
    let runs = document["runs"].as_array().expect("runs");
    assert_eq!(
        (runs.len(), document["problems"].as_array().map(Vec::len)),
        (14, Some(0))
    );
    assert_eq!(runs[0]["source"]["file"], "striping.txt");
    // Of a table, because a JSON value of the test has no integers of 128 bits.
    let done = import(&["--json", "tables.txt"]);
    let document: Value = serde_json::from_slice(&done.stdout).expect("JSON alone");
    let run = &document["runs"][1];
    let path = scratch.path().join("one.json");
    std::fs::write(&path, run.to_string()).expect("a file");
    let done = import(&["--json", path.to_str().expect("UTF-8")]);
    let again: Value = serde_json::from_slice(&done.stdout).expect("JSON alone");
    assert_eq!(again["runs"][0]["jobs"], run["jobs"]);
}

#[test]
fn nothing_found_is_an_error() {
    let done = import(&["README.md", "no such file"]);
    assert_eq!(done.status.code(), Some(1));
    let errors = text(&done.stderr);
    assert!(
        errors.contains("README.md: no result of a known kind"),
        "{errors}"
    );
    assert!(errors.contains("no such file: No such file"), "{errors}");
}

#[test]
fn old_reports_are_judged() {
    let done = import(&["instance_store.txt", "cloud.txt"]);
    let out = text(&done.stdout);
    for told in [
        "412,279 reads/s of the 581,387 IOPS reported [holes-read]",
        "[streams-overlap]",
        "together: warning: `bs=1M dd oflag=sync rw=write` has no result for",
    ] {
        assert!(out.contains(told), "{told} missing:\n{out}");
    }
    let bought = "--expect=type=io1,gib=100,iops=2500,count=6,instance=m5d.4xlarge";
    let out = text(&import(&[bought, "striping.txt"]).stdout);
    let verdict = "verdict: bound by m5d.4xlarge EBS limit, 593.75 MB/s: measured 101.2 %";
    let lines: Vec<&str> = out
        .lines()
        .filter(|line| line.contains("verdict"))
        .collect();
    assert!(
        lines.iter().any(|line| line.ends_with(verdict)),
        "{lines:#?}"
    );
    let wrong = import(&["--expect=type=io9", "striping.txt"]);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(text(&wrong.stderr).contains("io9"));
}
