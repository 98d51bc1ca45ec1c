//! getopt_long_only spellings, defaults, several jobs, and the link named `fio`.

use std::process::Command;

use serde_json::Value;

use crate::harness::command::assay_path;
use crate::harness::{Scratch, fio};

/// Runs in a scratch directory and returns the JSON document.
fn json(words: &str) -> Value {
    let scratch = Scratch::new("cli");
    fio(words)
        .arg("--output-format=json")
        .in_dir(scratch.path())
        .ok()
        .json()
}

#[test]
fn every_spelling_of_an_option() {
    for spelling in [
        "--rw=randread",
        "--rw randread",
        "-rw=randread",
        "-rw randread",
        "--readwrite=randread",
        "--readwrit=randread",
        "-readwri randread",
    ] {
        let job = &json(&format!("--name=x --size=64k {spelling}"))["jobs"][0];
        assert_eq!(job["job options"]["rw"], "randread", "{spelling}");
        assert_eq!(job["read"]["total_ios"], 16, "{spelling}");
    }
}

#[test]
fn flags_need_no_value() {
    let words = "--name=x --size=64k --rw=randread --norandommap --thread=1 --group_reporting";
    let job = &json(words)["jobs"][0];
    assert_eq!(job["job options"]["norandommap"], "");
    assert_eq!(job["job options"]["thread"], "1");
    assert_eq!(job["read"]["total_ios"], 16);
}

#[test]
fn name_with_a_blank_and_the_job_first() {
    let job = &json("--name fio_test_file --size=64k --rw=write")["jobs"][0];
    assert_eq!(job["jobname"], "fio_test_file");
    assert_eq!(job["write"]["io_bytes"], 65536);
}

#[test]
fn options_before_the_first_name_are_defaults() {
    let document = json("--bs=8k --rw=write --name=a --size=64k --name=b --size=64k --bs=16k");
    let jobs = &document["jobs"];
    assert_eq!(document["global options"]["bs"], "8k");
    assert_eq!(jobs[0]["write"]["total_ios"], 8);
    assert_eq!(jobs[1]["write"]["total_ios"], 4);
    assert_eq!(jobs[1]["job options"]["bs"], "16k");
}

#[test]
fn name_global_edits_the_defaults() {
    let document = json("--name=global --rw=write --bs=32k --name=a --size=64k");
    assert_eq!(document["jobs"].as_array().map(Vec::len), Some(1));
    assert_eq!(document["jobs"][0]["write"]["total_ios"], 2);
}

#[test]
fn stonewall_and_new_group_number_the_groups() {
    let words = "--rw=write --size=64k --name=a --name=b --stonewall --name=c --new_group";
    let document = json(words);
    let groups: Vec<_> = (0..3)
        .map(|i| document["jobs"][i]["groupid"].as_u64())
        .collect();
    assert_eq!(groups, [Some(0), Some(1), Some(2)]);
}

#[test]
fn group_reporting_folds_clones() {
    let document = json("--rw=write --size=64k --name=a --numjobs=4 --group_reporting");
    assert_eq!(document["jobs"].as_array().map(Vec::len), Some(1));
    assert_eq!(document["jobs"][0]["write"]["io_bytes"], 4 * 65536);
    let apart = json("--rw=write --size=64k --name=a --numjobs=4");
    assert_eq!(apart["jobs"].as_array().map(Vec::len), Some(4));
}

#[test]
fn section_picks_jobs() {
    let document =
        json("--section=b --name=a --size=64k --rw=write --name=b --size=32k --rw=write");
    assert_eq!(document["jobs"].as_array().map(Vec::len), Some(1));
    assert_eq!(document["jobs"][0]["jobname"], "b");
}

#[test]
fn harmless_switches_are_accepted() {
    let scratch = Scratch::new("cli");
    let aux = scratch.path().join("aux");
    std::fs::create_dir(&aux).expect("scratch");
    let words = "--max-jobs=100 --warnings-fatal --eta=never --name=x --size=64k --rw=write";
    let aux = format!("--aux-path={}", aux.display());
    fio(words).args([aux]).in_dir(scratch.path()).ok();
}

#[test]
fn readonly_lets_reads_of_existing_files_pass() {
    let scratch = Scratch::new("cli");
    let file = scratch.file("data", vec![1; 65536]);
    let words = "--readonly --name=x --filename=data --rw=read --output-format=json";
    let job = fio(words).in_dir(scratch.path()).ok().job();
    assert_eq!(job["read"]["total_ios"], 16);
    assert_eq!(std::fs::read(file).expect("still there"), vec![1; 65536]);
}

#[test]
fn parse_only_does_no_io() {
    let scratch = Scratch::new("cli");
    let words = "--parse-only --name=x --size=64k --rw=write";
    fio(words).in_dir(scratch.path()).ok();
    assert_eq!(
        std::fs::read_dir(scratch.path()).expect("scratch").count(),
        0
    );
}

#[test]
fn a_link_named_fio_needs_no_verb() {
    let scratch = Scratch::new("cli");
    let link = scratch.path().join("fio");
    std::os::unix::fs::symlink(assay_path(), &link).expect("link");
    let command = fio("--name=x --size=64k --rw=write --output-format=json").in_dir(scratch.path());
    let outcome = command.spawn_as(Command::new(link)).wait().expect_ok();
    assert_eq!(outcome.job()["write"]["io_bytes"], 65536);
}

#[test]
fn generated_file_names() {
    let scratch = Scratch::new("cli");
    let dir = scratch.path();
    fio("--name=a --numjobs=2 --nrfiles=2 --size=64k --rw=write")
        .in_dir(dir)
        .ok();
    for name in ["a.0.0", "a.0.1", "a.1.2", "a.1.3"] {
        let alternatives = [
            name.to_owned(),
            name.replace("1.2", "1.0").replace("1.3", "1.1"),
        ];
        assert!(
            alternatives.iter().any(|name| dir.join(name).is_file()),
            "{name}"
        );
    }
    let format = "--filename_format=$jobname-$filenum.dat";
    fio("--name=b --size=64k --rw=write --unlink=0")
        .args([format])
        .in_dir(dir)
        .ok();
    assert!(dir.join("b-0.dat").is_file());
    fio("--name=c --size=64k --rw=write --unlink=1")
        .in_dir(dir)
        .ok();
    assert!(!dir.join("c.0.0").exists());
}
