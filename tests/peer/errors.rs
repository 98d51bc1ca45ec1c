//! Errors and what survives them: exit status, counts, messages and log rows as in fio.

use std::path::Path;

use serde_json::Value;

use super::compare;
use crate::harness::command::{documents, have_peer};
use crate::harness::{Outcome, Scratch, Tool, assert_none, fio};

/// The first job of the document, which fio may print after a message.
fn job(outcome: &Outcome) -> Value {
    let at = outcome.stdout.find("{\n").unwrap_or_default();
    let all = documents(&outcome.stdout[at..]).unwrap_or_else(|e| panic!("{e}: {outcome}"));
    assert_eq!(all.len(), 1, "{outcome}");
    all[0]["jobs"][0].clone()
}

fn told(outcome: &Outcome, keys: &[&str]) -> Vec<Value> {
    let job = job(outcome);
    let one = |key: &&str| key.split('.').fold(&job, |at, part| &at[part]).clone();
    let mut told: Vec<Value> = keys.iter().map(one).collect();
    told.push(outcome.code.into());
    told
}

fn differences(dir: &Path, words: &str, keys: &[&str]) -> Option<String> {
    let [peer, here] = compare::both(dir, || fio(words).arg("--output-format=json"));
    let (want, have) = (told(&peer, keys), told(&here, keys));
    (want != have).then(|| format!("`{words}`: fio {want:?} here {have:?}"))
}

#[test]
fn errors_are_survived_as_in_fio() {
    if !have_peer("errors_are_survived_as_in_fio") {
        return;
    }
    let scratch = Scratch::new("errors");
    let mut findings = Vec::new();
    for engine in ["psync", "io_uring"] {
        for (policy, survives) in [
            ("", false),
            ("--continue_on_error=all", false),
            ("--ignore_error=,ENOSPC", true),
            ("--ignore_error=,ENOSPC --continue_on_error=all", true),
            ("--ignore_error=ENOSPC", false),
            ("--fill_device=1", false),
        ] {
            let words = format!(
                "--name=x --filename=/dev/full --rw=write --size=64k --iodepth=2 \
                 --ioengine={engine} {policy}"
            );
            // fio counts an error that ends the job with some engines and not with others.
            let counts = if survives { 6 } else { 4 };
            let keys = [
                "error",
                "write.total_ios",
                "write.io_bytes",
                "read.total_ios",
                "total_err",
                "first_error",
            ];
            findings.extend(differences(scratch.path(), &words, &keys[..counts]));
        }
    }
    assert_none(&findings, "survived errors");
}

#[test]
fn a_survived_error_of_a_trim_leaves_no_log_row() {
    let scratch = Scratch::new("errors");
    let words = "--name=x --filename=/dev/full --rw=trim --size=64k --ioengine=io_uring \
                 --ignore_error=,ENODEV --write_lat_log=x --output-format=json";
    let outcome = fio(words).in_dir(scratch.path()).ok();
    assert_eq!(outcome.job()["total_err"], 16);
    let log = std::fs::read_to_string(scratch.path().join("x_lat.1.log")).expect("the log");
    assert_eq!(log, "");
}

/// A file with two damaged blocks of sixteen.
fn damaged(dir: &Path) {
    let words = "--name=v --filename=f --rw=write --size=64k --verify=crc32c --do_verify=0";
    fio(words).in_dir(dir).ok();
    let path = dir.join("f");
    let mut data = std::fs::read(&path).expect("the file");
    data[5000] ^= 1;
    data[25_000] ^= 1;
    std::fs::write(&path, data).expect("the file");
}

#[test]
fn bad_blocks_are_told_once_and_end_jobs_as_in_fio() {
    if !have_peer("bad_blocks_are_told_once_and_end_jobs_as_in_fio") {
        return;
    }
    let mut findings = Vec::new();
    for engine in ["psync", "libaio"] {
        for policy in [
            "",
            "--verify_fatal=1",
            "--continue_on_error=verify",
            "--verify_fatal=1 --continue_on_error=verify",
            "--verify_fatal=1 --continue_on_error=verify --loops=2",
            "--ignore_error=,,84",
        ] {
            let words = format!(
                "--name=v --filename=f --rw=read --size=64k --verify=crc32c --ioengine={engine} \
                 --output-format=json {policy}"
            );
            let scratch = Scratch::new("errors");
            damaged(scratch.path());
            let [peer, here] = [Tool::Peer, Tool::Assay]
                .map(|tool| fio(&words).in_dir(scratch.path()).with(tool).run());
            if peer.stderr != here.stderr {
                findings.push(format!("{words}:\n{}{}", peer.stderr, here.stderr));
            }
            let keys = ["error", "read.total_ios", "read.io_bytes", "total_err"];
            let (want, have) = (told(&peer, &keys), told(&here, &keys));
            if want != have {
                findings.push(format!("{words}: fio {want:?} here {have:?}"));
            }
        }
    }
    assert_none(&findings, "bad blocks");
}
