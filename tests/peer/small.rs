//! Small facts of reports and files that fio settles in its own way.

use std::collections::BTreeMap;
use std::fs;

use super::compare;
use crate::harness::command::have_peer;
use crate::harness::{Scratch, Tool, assert_none, fio, place};

/// Lines of a report that a job of known size fixes to the digit.
fn fixed_lines(report: &str) -> Vec<String> {
    let fixed = [
        "  IO depths ",
        "     submit ",
        "     complete ",
        "    slat ",
    ];
    let lines = report.lines().filter_map(|line| {
        let head = fixed.iter().find(|head| line.starts_with(**head))?;
        // The latency itself is the machine's; that there is one, the command line's.
        Some(if *head == fixed[3] { *head } else { line })
    });
    lines.map(str::to_owned).collect()
}

#[test]
fn depths_and_batches_equal_fios() {
    if !have_peer("depths_and_batches_equal_fios") {
        return;
    }
    let scratch = Scratch::new("small");
    let mut findings = Vec::new();
    for words in [
        "--ioengine=null",
        "--ioengine=null --iodepth=4",
        "--ioengine=null --rw=randrw --fsync=4",
        "--ioengine=psync --rw=randrw --fsync=4",
        "--ioengine=mmap",
        "--ioengine=io_uring --sqthread_poll=0",
    ] {
        let words = format!("--name=x --filename=f --rw=read --size=256k {words}");
        let [peer, here] = compare::both(scratch.path(), || fio(&words));
        assert_eq!(peer.code, Some(0), "{peer}");
        let (want, have) = (fixed_lines(&peer.stdout), fixed_lines(&here.stdout));
        if want != have {
            findings.push(format!("{words}: fio {want:#?} here {have:#?}"));
        }
    }
    assert_none(&findings, "depths and batches");
}

/// A kernel thread submits; newer versions than 3.33 count batches then.
#[test]
fn there_is_no_submission_latency_without_submissions() {
    let scratch = Scratch::new("small");
    let words = "--name=x --rw=read --size=64k --ioengine=io_uring --iodepth=2 --sqthread_poll=";
    for (polled, lines) in [("0", 1), ("1", 0)] {
        for tool in [Tool::Assay, Tool::Peer] {
            if tool == Tool::Peer && !have_peer("no submission latency") {
                continue;
            }
            let command = fio(&format!("{words}{polled}")).in_dir(scratch.path());
            let report = command.with(tool).ok().stdout;
            assert_eq!(report.matches("    slat (").count(), lines, "{report}");
        }
    }
}

#[test]
fn files_are_those_fio_makes() {
    if !have_peer("files_are_those_fio_makes") {
        return;
    }
    let scratch = Scratch::new("small");
    let jobs = scratch.file(
        "jobs.fio",
        "[global]\nfilename=f1\nsize=64k\n[a]\nfilename=f2:f3\n[b]\nnrfiles=3\n\
         [c]\nfilename=f4\nfilename=f5\n",
    );
    let jobs = jobs.to_str().expect("UTF-8").to_owned();
    let dir = scratch.path().join("run");
    fs::create_dir(&dir).expect("scratch");
    let mut findings = Vec::new();
    for words in [
        jobs.as_str(),
        "--size=64k --filename=f1 --name=a --filename=f2",
        "--size=64k --filename=f1 --name=a --filename=f2 --name=b --rw=write",
        "--name=a --size=64k --nrfiles=3",
        "--name=a --size=64k --numjobs=2 --create_only=1",
        "--name=a --rw=write --size=64k --loops=2 --unlink_each_loop=1",
        "--name=a --rw=write --size=64k --loops=2 --unlink_each_loop=1 --unlink=1",
        "--name=a --rw=randwrite --size=64k --loops=3 --unlink_each_loop=1 --ioengine=libaio \
         --iodepth=4 --nrfiles=2",
    ] {
        let sizes = |tool: Tool| -> BTreeMap<String, u64> {
            place::empty(&dir);
            fio(words).in_dir(&dir).with(tool).ok();
            let entries = fs::read_dir(&dir).expect("scratch").flatten();
            let size = |entry: &fs::DirEntry| entry.metadata().expect("a file").len();
            let name = |entry: &fs::DirEntry| entry.file_name().into_string().expect("ASCII");
            entries.map(|entry| (name(&entry), size(&entry))).collect()
        };
        let (want, have) = (sizes(Tool::Peer), sizes(Tool::Assay));
        if want != have {
            findings.push(format!("{words}: fio {want:?} here {have:?}"));
        }
    }
    assert_none(&findings, "files");
}
