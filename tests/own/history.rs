//! `assay history` and `assay compare` as a person uses them.

use crate::harness::command::{Outcome, assay_path};
use crate::harness::place::LoopDisk;
use crate::harness::{Scratch, fio};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const SEEDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../result/tests/seeds");

/// Runs a verb with the history of the test.
pub(super) fn assay(scratch: &Scratch, words: &[&str]) -> Output {
    Command::new(assay_path())
        .args(words)
        .env("ASSAY_DB", scratch.path().join("h.db"))
        .env("TZ", "UTC")
        .current_dir(scratch.path())
        .output()
        .expect("the binary runs")
}

#[track_caller]
pub(super) fn out(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{text}{errors}");
    assert_eq!(errors, "");
    text
}

pub(super) fn notes(name: &str) -> String {
    format!("{SEEDS}/{name}")
}

pub(super) fn list(scratch: &Scratch, words: &[&str]) -> Vec<Value> {
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
    // The tagged run stays, and those without a date do.
    let before = ["history", "gc", "--before", "2100-01-01"];
    let gone = out(&assay(&scratch, &before));
    let left = list(&scratch, &[]).len();
    assert_eq!(gone, format!("{} runs removed\n", 23 - left));
    assert!(left < 10, "{left}");
    assert_eq!(list(&scratch, &["--tag", "random"]).len(), 1);
}

#[test]
fn another_history_takes_in_what_was_exported() {
    let scratch = Scratch::new("moved");
    out(&assay(&scratch, &["import", &notes("cloud.txt")]));
    out(&assay(&scratch, &["history", "tag", "20", "random"]));
    out(&assay(&scratch, &["history", "note", "20", "first disk"]));
    let export = ["history", "export", "--format", "json", "-o", "all.json"];
    assert_eq!(out(&assay(&scratch, &export)), "");
    let words = ["history", "import", "all.json", "--db", "second.db"];
    assert_eq!(out(&assay(&scratch, &words)), "25 runs kept\n");
    assert_eq!(out(&assay(&scratch, &words)), "25 runs were kept already\n");
    let second = ["--db", "second.db"];
    let one = list(&scratch, &[&second[..], &["--tag", "random"]].concat());
    assert_eq!(one[0]["note"], "first disk");
    let strip = |mut list: Vec<Value>| {
        for entry in &mut list {
            let entry = entry.as_object_mut().expect("an object");
            entry.remove("saved_ms");
            entry.remove("id");
        }
        list
    };
    assert_eq!(strip(list(&scratch, &second)), strip(list(&scratch, &[])));
    // What is no export says so, and changes nothing.
    let done = assay(&scratch, &["history", "import", &notes("cloud.txt")]);
    assert_eq!(done.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(
        errors.contains("not written by `assay history export"),
        "{errors}"
    );
}

#[test]
fn parquet_is_a_file_of_its_own_kind() {
    let scratch = Scratch::new("parquet");
    out(&assay(&scratch, &["import", &notes("cloud.txt")]));
    let words = [
        "history",
        "export",
        "--format",
        "parquet",
        "-o",
        "all.parquet",
    ];
    out(&assay(&scratch, &words));
    let bytes = std::fs::read(scratch.path().join("all.parquet")).expect("the file");
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    // Somebody else reads the same rows as CSV has.
    let csv = out(&assay(&scratch, &["history", "export"]));
    let script = "import pandas, sys; t = pandas.read_parquet('all.parquet'); \
                  print(len(t), t.value.sum() > 0, t.columns[-1])";
    let read = Command::new("python3")
        .args(["-c", script])
        .current_dir(scratch.path())
        .output();
    match read {
        Ok(read) if read.status.success() => assert_eq!(
            String::from_utf8_lossy(&read.stdout),
            format!("{} True value\n", csv.lines().count() - 1)
        ),
        _ => crate::harness::skip("parquet_is_a_file", "pandas cannot read Parquet here"),
    }
}

/// Runs words with a data directory of the test's own; returns where the history would be.
fn at_home(scratch: &Scratch, words: &str) -> (Outcome, PathBuf) {
    let home = scratch.path().join("home");
    let mut own = fio(words).env("XDG_DATA_HOME", home.to_str().expect("UTF-8"));
    own = own.in_dir(scratch.path());
    let outcome = own.spawn_as(Command::new(assay_path())).wait();
    (outcome, home.join("assay/history.db"))
}

/// The runs of that history.
fn kept_at(path: &Path) -> Vec<Value> {
    let path = path.to_str().expect("UTF-8");
    let words = fio("history list --format json --db").arg(path);
    let outcome = words
        .spawn_as(Command::new(assay_path()))
        .wait()
        .expect_ok();
    serde_json::from_str(&outcome.stdout).expect("an array")
}

#[test]
fn own_verbs_keep_their_runs_unless_told_not_to() {
    let scratch = Scratch::new("own-verbs");
    let (outcome, path) = at_home(&scratch, "mem latency --buffer 4m --no-save");
    assert!(!outcome.expect_ok().stdout.contains("kept as run"));
    assert!(!path.exists());
    let (outcome, path) = at_home(&scratch, "mem latency --buffer 4m --tag quiet");
    assert!(outcome.expect_ok().stdout.contains("kept as run 1 "));
    // JSON stays alone on its stream.
    let (outcome, _) = at_home(&scratch, "mem latency --buffer 4m --json");
    let document: Value = serde_json::from_str(&outcome.expect_ok().stdout).expect("JSON");
    assert!(document["memory"]["latency"].is_object());
    let runs = kept_at(&path);
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[0]["suite"], "mem");
    assert_eq!(runs[0]["tags"][0], "quiet");
    assert_eq!(
        runs[0]["command"],
        "assay mem latency --buffer 4m --tag quiet"
    );
    assert!(runs[0]["host"].is_string(), "{}", runs[0]);
    assert!(runs[0]["latency"].as_f64() > Some(0.0), "{}", runs[0]);
    assert_eq!(runs[0]["configuration"], runs[1]["configuration"]);
    let (outcome, _) = at_home(&scratch, "mem latency --buffer 4m --repeat 2 --tag twice");
    let told = outcome.expect_ok().stdout;
    assert!(
        told.contains("kept as run 3 ") && told.contains("kept as run 4 "),
        "{told}"
    );
    let runs = kept_at(&path);
    let twice: Vec<&Value> = runs
        .iter()
        .filter(|run| run["tags"][0] == "twice")
        .collect();
    assert_eq!(twice.len(), 2);
    for run in twice {
        assert!(run["latency"].as_f64() > Some(0.0), "{run}");
    }
    for words in ["--json", "--output=x.json", "check --baseline=x.json"] {
        let (outcome, _) = at_home(&scratch, &format!("mem {words} --repeat 2"));
        assert_eq!(outcome.code, Some(1), "{outcome}");
        outcome.explains(&["--repeat=2", "history"]);
    }
}

#[test]
fn the_check_is_kept() {
    let disk = match LoopDisk::new(32) {
        Ok(disk) => disk,
        Err(why) => return crate::harness::skip("the_check_is_kept", &why),
    };
    let scratch = Scratch::new("check-kept");
    let words = format!("check {} --tag before", disk.device().display());
    let (outcome, path) = at_home(&scratch, &words);
    assert!(outcome.expect_ok().stdout.contains("kept as run 1 "));
    let runs = kept_at(&path);
    let name = disk.device().file_name().expect("a name").to_string_lossy();
    assert_eq!(runs[0]["suite"], "check");
    assert_eq!(runs[0]["devices"][0], *name);
    let jobs: Vec<&str> = runs[0]["metrics"]
        .as_array()
        .expect("figures")
        .iter()
        .filter(|metric| metric["name"] == "iops")
        .filter_map(|metric| metric["job"].as_str())
        .collect();
    assert_eq!(
        jobs,
        ["sequential-read", "random-read-QD-32", "random-read-QD-1"]
    );
}

#[test]
fn personalities_keep_nothing_unless_asked() {
    let scratch = Scratch::new("personalities");
    let job = "fio --name=j --ioengine=null --rw=randread --size=4m";
    let (outcome, path) = at_home(&scratch, job);
    outcome.expect_ok();
    let (outcome, _) = at_home(&scratch, "mlc --idle_latency -b1m -x0");
    outcome.expect_ok();
    assert!(!path.exists());
    let (outcome, _) = at_home(&scratch, &format!("{job} --save"));
    outcome.expect_ok();
    let (outcome, _) = at_home(&scratch, "mlc --idle_latency -b1m -x0 --save");
    outcome.expect_ok();
    let runs = kept_at(&path);
    let commands: Vec<&Value> = runs.iter().map(|run| &run["command"]).collect();
    assert_eq!(
        commands,
        [&format!("{job} --save"), "mlc --idle_latency -b1m -x0"]
    );
    assert_eq!(runs[0]["title"], "j");
    let figures = runs[1]["metrics"].as_array().map(Vec::len);
    assert_eq!(figures, Some(2), "{}", runs[1]);
    // The variable does the same, and names the file.
    let db = scratch.path().join("named.db");
    let name = db.to_str().expect("UTF-8");
    fio("--name=j --ioengine=null --rw=randread --size=4m --output-format=json")
        .env("ASSAY_DB", name)
        .ok()
        .json();
    assert_eq!(kept_at(&db).len(), 1);
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
