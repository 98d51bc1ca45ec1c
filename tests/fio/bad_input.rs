//! Each refusal is one clear line that names the place, and no data is touched.

use std::path::Path;

use crate::harness::{Scratch, fio, place};

/// Runs a command that must be refused beside a file that must survive it.
fn refused(dir: &Path, words: &str, names: &[&str]) {
    let precious = dir.join("precious");
    std::fs::write(&precious, b"do not touch".repeat(9000)).expect("scratch");
    let before = place::checksum(&precious);
    fio(words).in_dir(dir).fails().explains(names);
    assert_eq!(place::checksum(&precious), before, "`{words}` changed data");
}

/// Refusals on the command line alone: nothing may be created either.
fn refused_early(table: &[(&str, &[&str])]) {
    for (words, names) in table {
        let scratch = Scratch::new("bad");
        refused(
            scratch.path(),
            &format!("--name=x --filename=precious {words}"),
            names,
        );
        let created = std::fs::read_dir(scratch.path()).expect("scratch").count();
        assert_eq!(created, 1, "`{words}` left something behind");
    }
}

#[test]
fn unknown_words_name_the_nearest_known_one() {
    refused_early(&[
        ("--size=64k --iodepthh=4", &["iodepthh", "iodepth"]),
        ("--size=64k --io-size=4k", &["io-size", "io_size"]),
        ("--size=64k --rw=randwrte", &["rw", "randwrte", "randwrite"]),
        (
            "--size=64k --ioengine=libiao",
            &["engine", "libiao", "libaio"],
        ),
        (
            "--size=64k --ioengine=bogus_engine",
            &["engine", "bogus_engine"],
        ),
        ("--size=64k --output-format=jsn", &["jsn", "json"]),
        ("--size=64k --mem=maloc", &["mem", "maloc", "malloc"]),
    ]);
}

#[test]
fn bad_values_name_the_option_and_the_value() {
    refused_early(&[
        ("--rw=write --size=1zz", &["size", "1zz"]),
        ("--rw=write --size=64k --bs=4kfoo", &["bs", "4kfoo"]),
        (
            "--rw=write --size=64k --runtime=5parsecs",
            &["runtime", "5parsecs"],
        ),
        ("--rw=write --size=64k --iodepth=many", &["iodepth", "many"]),
        (
            "--rw=randrw --size=64k --rwmixread=150",
            &["rwmixread", "150"],
        ),
        ("--rw=write --size=64k --iodepth=0", &["iodepth", "0"]),
        ("--rw=write --size=64k --bs=0", &["bs"]),
        (
            "--rw=write --size=64k --bssplit=4k/60:8k/60",
            &["bssplit", "100"],
        ),
        (
            "--rw=write --size=64k --cpus_allowed=4095",
            &["cpus_allowed", "4095"],
        ),
        ("--rw=write --size=64k --bs", &["bs"]),
    ]);
}

#[test]
fn ambiguous_abbreviations_list_the_candidates() {
    refused_early(&[
        (
            "--size=64k --iodept=4",
            &["iodept", "iodepth", "iodepth_batch"],
        ),
        ("--size=64k --r=read", &["rw", "rwmixread"]),
    ]);
}

#[test]
fn impossible_jobs_say_what_is_wrong() {
    refused_early(&[
        ("--rw=write --size=1m --bs=2m", &["size", "bs"]),
        (
            "--rw=write --size=64k --rate=1m --rate_iops=100",
            &["rate", "rate_iops"],
        ),
        ("--rw=write --size=64k --readonly", &["readonly"]),
        ("--rw=randtrim --size=64k --readonly", &["readonly"]),
    ]);
}

#[test]
fn without_a_size_there_is_nothing_to_do() {
    let scratch = Scratch::new("bad");
    refused(scratch.path(), "--name=x --rw=write", &["size"]);
}

#[test]
fn a_missing_file_is_named() {
    let scratch = Scratch::new("bad");
    let words = "--name=x --filename=absent --allow_file_create=0 --size=64k --rw=read";
    refused(scratch.path(), words, &["absent"]);
    assert!(!scratch.path().join("absent").exists());
}

#[test]
fn a_file_that_cannot_grow_is_named() {
    let scratch = Scratch::new("bad");
    let words = "--name=x --filename=/proc/version --size=64k --rw=write";
    refused(scratch.path(), words, &["/proc/version"]);
}

#[test]
fn a_directory_is_no_target() {
    let scratch = Scratch::new("bad");
    std::fs::create_dir(scratch.path().join("folder")).expect("scratch");
    refused(
        scratch.path(),
        "--name=x --filename=folder --size=64k --rw=write",
        &["folder"],
    );
}

#[test]
fn no_jobs_at_all() {
    let scratch = Scratch::new("bad");
    refused(scratch.path(), "", &["job"]);
    refused(scratch.path(), "--output-format=json", &["job"]);
}

#[test]
fn job_files_are_named_with_line() {
    let scratch = Scratch::new("bad");
    let dir = scratch.path();
    refused(dir, "nosuch.fio", &["nosuch.fio"]);
    std::fs::create_dir(dir.join("folder.fio")).expect("scratch");
    refused(dir, "folder.fio", &["folder.fio"]);
    scratch.file("empty.fio", "");
    refused(dir, "empty.fio", &["empty.fio"]);
    scratch.file("comments.fio", "# nothing\n; here\n[global]\nbs=4k\n");
    refused(dir, "comments.fio", &["comments.fio"]);
    scratch.file(
        "unknown.fio",
        "[x]\nfilename=precious\nsize=64k\niodepthh=4\n",
    );
    refused(
        dir,
        "unknown.fio",
        &["unknown.fio:4", "iodepthh", "iodepth"],
    );
    scratch.file("value.fio", "[x]\nfilename=precious\nsize=64k\n\nrw=wrte\n");
    refused(dir, "value.fio", &["value.fio:5", "wrte", "write"]);
    scratch.file("loose.fio", "bs=4k\n[x]\nsize=64k\n");
    refused(dir, "loose.fio", &["loose.fio:1"]);
    scratch.file("include.fio", "[x]\nsize=64k\ninclude absent.fio\n");
    refused(dir, "include.fio", &["include.fio:3", "absent.fio"]);
    scratch.file("circle.fio", "[x]\nsize=64k\ninclude circle.fio\n");
    refused(dir, "circle.fio", &["circle.fio"]);
    scratch.file("binary.fio", [0xff, 0xfe, 0, 1, 2, b'\n']);
    refused(dir, "binary.fio", &["binary.fio"]);
    // Opens, and cannot be read at its start.
    refused(dir, "/proc/self/mem", &["/proc/self/mem"]);
}

#[test]
fn an_output_file_that_cannot_be_written_is_named() {
    let scratch = Scratch::new("bad");
    let words = "--name=x --filename=precious --rw=write --size=64k --output=absent/report";
    refused(scratch.path(), words, &["absent/report"]);
}
