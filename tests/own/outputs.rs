//! Reports, logs and recordings go into files of their own: never onto a device, over a target,
//! or over what they are made from.

use super::assay;
use super::guard::{backing, text};
use crate::harness::place::checksum;
use crate::harness::{LoopDisk, Scratch, fio, skip};
use std::path::Path;

const JOB: &str = "--name=x --ioengine=null --size=4k --rw=read";

#[test]
fn nothing_is_written_onto_a_device() {
    let disk = match LoopDisk::new(8) {
        Ok(disk) => disk,
        Err(why) => return skip("outputs onto a device", &why),
    };
    let scratch = Scratch::new("outputs");
    let device = text(disk.device()).to_owned();
    let link = scratch.path().join("report.txt");
    std::os::unix::fs::symlink(disk.device(), &link).expect("a link");
    let before = checksum(&backing(&disk));
    let file = "--name=x --rw=write --size=64k --bs=4k --filename=f";
    for words in [
        format!("{JOB} --output={device}"),
        format!("{JOB} --output={device} --output-format=json"),
        format!("{JOB} --output={}", text(&link)),
        format!("{file} --write_iolog={device}"),
        format!("{file} --output={device}"),
    ] {
        let outcome = fio(&words).in_dir(scratch.path()).fails();
        outcome.explains(&["block device", "reports, logs and recordings go into files"]);
    }
    let target = scratch.path().join("f");
    assert!(!target.exists(), "a refused run made its file");
    let logs = format!("{file} --write_bw_log=d --per_job_logs=0 --log_avg_msec=100");
    std::os::unix::fs::symlink(disk.device(), scratch.path().join("d_bw.log")).expect("a link");
    fio(&logs)
        .in_dir(scratch.path())
        .fails()
        .explains(&["d_bw.log", "block device"]);
    let run = fio(JOB).arg("--output-format=json").ok();
    let json = scratch.file("run.json", &run.stdout);
    for words in [
        format!("report {} -o {device} --format html", text(&json)),
        format!("report {} -o {} --format txt", text(&json), text(&link)),
    ] {
        assay(&words).refuses(&["block device"]);
    }
    assert_eq!(checksum(&backing(&disk)), before, "the device was written");
}

#[test]
fn mistyped_devices_do_not_become_files() {
    let path = format!("/dev/assay-no-such-{}", std::process::id());
    fio(&format!("{JOB} --output={path}"))
        .fails()
        .explains(&["is no device", &path]);
    assert!(!Path::new(&path).exists());
    // These are there to be written to.
    fio(&format!("{JOB} --output=/dev/null")).ok();
    let told = fio(&format!("{JOB} --output=/dev/stdout")).ok();
    assert!(told.stdout.contains("x: (groupid=0"), "{told}");
}

#[test]
fn a_report_does_not_replace_what_it_is_of() {
    let scratch = Scratch::new("apart");
    let data = scratch.file("data", vec![7; 64 << 10]);
    let before = checksum(&data);
    let words = "--name=x --rw=read --bs=4k --size=64k --filename=data";
    for more in [
        "--output=data",
        "--output=./data",
        "--write_iolog=data",
        "--write_bw_log=data --per_job_logs=0 --filename=data_bw.log:data",
    ] {
        scratch.file("data_bw.log", vec![7; 64 << 10]);
        fio(&format!("{words} {more}"))
            .in_dir(scratch.path())
            .fails()
            .explains(&["target of the job"]);
        assert_eq!(checksum(&data), before, "{more}");
    }
    let job = scratch.file("a.fio", "[x]\nioengine=null\nsize=4k\n");
    for more in ["--output=a.fio a.fio", "a.fio --output a.fio"] {
        fio(more)
            .in_dir(scratch.path())
            .fails()
            .explains(&["a.fio is read, and cannot be written too"]);
    }
    assert!(
        std::fs::read_to_string(&job)
            .expect("a file")
            .starts_with("[x]")
    );
    // Another file is emptied first, as always.
    let old = scratch.file("old", vec![b'x'; 64 << 10]);
    fio(&format!("{JOB} --output=old"))
        .in_dir(scratch.path())
        .ok();
    let report = std::fs::read_to_string(&old).expect("a report");
    assert!(report.contains("x: (groupid=0") && !report.contains("xxxx"));
    let json = fio(JOB).arg("--output-format=json").ok().stdout;
    let json = scratch.file("run.json", json);
    assay(&format!("report {0} -o {0}", text(&json))).refuses(&["is read"]);
}

#[test]
fn a_page_that_nobody_named_replaces_pages_only() {
    let scratch = Scratch::new("page");
    let seed = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../result/tests/seeds/striping.txt"
    );
    let page = scratch.file("assay-report.html", "my own notes");
    let report = || super::Own(fio("report").arg(seed).in_dir(scratch.path()));
    report().refuses(&["no page of Assay's", "-o"]);
    let kept = std::fs::read_to_string(&page).expect("a file");
    assert_eq!(kept, "my own notes");
    std::fs::remove_file(&page).expect("own file");
    // Once more over its own page.
    report().ok();
    report().ok();
}
