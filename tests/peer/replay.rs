//! Recordings: what one tool writes down, both replay alike, and so do traces of the kernel.

use std::fs;
use std::path::Path;

use super::offsets::issued;
use crate::harness::command::{have, have_peer};
use crate::harness::{Scratch, Tool, assert_none, fio, skip};

fn ready(test: &str) -> bool {
    let traces = have("strace");
    if !traces {
        skip(test, "strace is not installed");
    }
    traces && have_peer(test)
}

/// Both tools replay what lies in `dir` with `words`; how they differ.
fn differences(dir: &Path, words: &str) -> Vec<String> {
    let words = format!("--name=r --replay_no_stall=1 {words}");
    let want = issued(dir, &words, Tool::Peer).unwrap_or_else(|e| panic!("fio itself: {e}"));
    let requests: usize = want.values().map(Vec::len).sum();
    assert!(
        requests > 2,
        "fio replayed {requests} requests of `{words}`"
    );
    match issued(dir, &words, Tool::Assay) {
        Ok(have) if have == want => Vec::new(),
        Ok(have) => vec![format!("`{words}`: fio {want:?}\n here {have:?}")],
        Err(error) => vec![format!("`{words}`: {error}")],
    }
}

#[test]
fn what_either_tool_records_both_replay() {
    let test = "what_either_tool_records_both_replay";
    if !ready(test) {
        return;
    }
    let mut findings = Vec::new();
    for recorder in [Tool::Peer, Tool::Assay] {
        for job in [
            "--rw=randrw --bs=4k --size=256k --nrfiles=3 --fsync=8",
            "--rw=write --bsrange=1k-8k --size=128k --fdatasync=4 --ioengine=psync",
            "--rw=randread --bs=512 --size=64k --numjobs=1 --loops=2",
        ] {
            let scratch = Scratch::new("replay");
            let recorded = fio(&format!("--name=a --write_iolog=log {job}"))
                .in_dir(scratch.path())
                .with(recorder)
                .run();
            assert_eq!(recorded.code, Some(0), "{recorded}");
            findings.extend(differences(scratch.path(), "--read_iolog=log"));
            findings.extend(differences(
                scratch.path(),
                "--read_iolog=log --replay_scale=2 --replay_align=1k",
            ));
        }
    }
    assert_none(&findings, test);
}

const LOG: &str = "fio version 3 iolog\n0 a add\n0 b add\n5 a open\n6 b open\n\
    9 a read 0 4096\n12 b read 12288 512\n13 a write 8192 8192\n14 a sync 0 0\n\
    15 b write 4096 4096\n16 b datasync 0 0\n17 a read 20480 1024\n30 a close\n31 b close\n";

#[test]
fn the_options_of_a_replay_mean_what_they_mean_to_fio() {
    let test = "the_options_of_a_replay_mean_what_they_mean_to_fio";
    if !ready(test) {
        return;
    }
    let scratch = Scratch::new("replay");
    let dir = scratch.path();
    for file in ["a", "b", "c"] {
        fs::write(dir.join(file), vec![1; 64 << 10]).expect("file");
    }
    fs::write(dir.join("v3"), LOG).expect("log");
    let second = "fio version 2 iolog\na add\na open\na read 4096 4096\na wait 20 0\n\
        a write 0 512\na sync 0 0\na read 8192 512\na close\n";
    fs::write(dir.join("v2"), second).expect("log");
    let mut findings = Vec::new();
    for words in [
        "--read_iolog=v3",
        "--read_iolog=v3 --thread",
        "--read_iolog=v3 --replay_redirect=c",
        "--read_iolog=v3 --replay_scale=4 --replay_align=512",
        "--read_iolog=v3 --read_iolog_chunked=1",
        "--read_iolog=v3:v2 --numjobs=2",
        "--read_iolog=v3 --readonly",
        "--read_iolog=v3 --loops=3 --replay_time_scale=50",
        "--read_iolog=v2",
        "--read_iolog=v2 --replay_redirect=c",
    ] {
        findings.extend(differences(dir, words));
    }
    assert_none(&findings, test);
}

/// A record of the block layer's trace.
fn record(time_ns: u64, sector: u64, bytes: u32, action: u32, device: u32) -> Vec<u8> {
    let mut raw = Vec::new();
    raw.extend(0x6561_7407u32.to_ne_bytes());
    raw.extend(0u32.to_ne_bytes());
    raw.extend(time_ns.to_ne_bytes());
    raw.extend(sector.to_ne_bytes());
    for word in [bytes, action, 1, device, 0] {
        raw.extend(word.to_ne_bytes());
    }
    raw.extend([0; 4]);
    raw
}

const READ: u32 = 1 | 1 << 16;
const WRITE: u32 = 1 | 1 << 17;
const FLUSH: u32 = 1 | 1 << 18;
const COMPLETE: u32 = 8 | 1 << 17;
const DEVICE: u32 = (240 << 20) | 5;

fn trace(from: u64) -> Vec<u8> {
    [
        record(from + 1_000, 0, 4096, READ, DEVICE),
        record(from + 2_000, 64, 512, WRITE, DEVICE),
        record(from + 3_000, 64, 512, COMPLETE, DEVICE),
        record(from + 9_000, 8, 1536, WRITE, DEVICE),
        record(from + 11_000, 0, 0, FLUSH, DEVICE),
        record(from + 12_000, 16, 8192, READ, DEVICE),
    ]
    .concat()
}

#[test]
fn kernel_traces_are_replayed_alike() {
    let test = "kernel_traces_are_replayed_alike";
    if !ready(test) {
        return;
    }
    let scratch = Scratch::new("replay");
    let dir = scratch.path();
    fs::write(dir.join("t"), trace(0)).expect("trace");
    fs::write(dir.join("c"), vec![1; 64 << 10]).expect("file");
    let redirect = "--read_iolog=t --replay_redirect=c --direct=0";
    let mut findings = Vec::new();
    for words in [
        "",
        "--replay_scale=2",
        "--replay_align=4k",
        "--replay_skip=write",
        "--readonly",
    ] {
        findings.extend(differences(dir, &format!("{redirect} {words}")));
    }
    assert_none(&findings, test);
    // Without a place to go, the device of the trace is missed by name.
    fio("--name=r --read_iolog=t")
        .in_dir(dir)
        .fails()
        .explains(&["240:5", "replay_redirect"]);
}

#[test]
fn traces_are_merged_by_time() {
    let scratch = Scratch::new("replay");
    let dir = scratch.path();
    fs::write(dir.join("t"), trace(0)).expect("trace");
    fs::write(dir.join("u"), trace(500)).expect("trace");
    fs::write(dir.join("c"), vec![1; 64 << 10]).expect("file");
    let words = "--name=r --read_iolog=t:u --merge_blktrace_file=m \
         --merge_blktrace_scalars=100:50 --merge_blktrace_iters=1:2";
    for output in ["/dev/null", "/dev/asay_typo", "u"] {
        fio(&words.replace(
            "merge_blktrace_file=m",
            &format!("merge_blktrace_file={output}"),
        ))
        .args(["--merge-blktrace-only"])
        .in_dir(dir)
        .fails()
        .explains(&[output]);
    }
    let merged = fio(words).args(["--merge-blktrace-only"]).in_dir(dir).ok();
    assert!(merged.stderr.is_empty(), "{merged}");
    let bytes = fs::read(dir.join("m")).expect("merged trace");
    let times: Vec<u64> = bytes
        .chunks(48)
        .map(|raw| u64::from_ne_bytes(raw[8..16].try_into().expect("eight bytes")))
        .collect();
    // The second trace at double speed, twice; flushes and completions are left out.
    let wanted = [750, 1_000, 1_250, 2_000, 4_750, 6_250, 7_000, 7_500, 9_000];
    assert_eq!(times[..9], wanted, "{times:?}");
    assert_eq!((times.len(), times.is_sorted()), (12, true));
    let run = fio(words)
        .args(["--replay_redirect=c", "--output-format=json"])
        .in_dir(dir)
        .ok();
    let job = run.job();
    assert_eq!(job["read"]["total_ios"], 6, "{run}");
    assert_eq!(job["write"]["total_ios"], 6, "{run}");
}

#[test]
fn a_log_may_come_from_standard_input() {
    let scratch = Scratch::new("replay");
    let dir = scratch.path();
    for file in ["a", "b"] {
        fs::write(dir.join(file), vec![1; 64 << 10]).expect("file");
    }
    let run = fio("--name=r --read_iolog=- --output-format=json")
        .stdin(LOG)
        .in_dir(dir)
        .ok();
    assert_eq!(run.job()["read"]["io_bytes"], 4096 + 512 + 1024);
    fio("--name=r --read_iolog=- --read_iolog_chunked=1")
        .stdin(LOG)
        .in_dir(dir)
        .fails()
        .explains(&["read_iolog_chunked", "file"]);
}

#[test]
fn a_recording_needs_the_same_permits_as_any_writer() {
    let scratch = Scratch::new("replay");
    let dir = scratch.path();
    let log = "fio version 3 iolog\n0 /dev/asay_typo add\n1 /dev/asay_typo write 0 4096\n";
    fs::write(dir.join("log"), log).expect("log");
    fio("--name=r --read_iolog=log")
        .in_dir(dir)
        .fails()
        .explains(&["/dev/asay_typo"]);
    assert!(!Path::new("/dev/asay_typo").exists());
    for (text, words) in [
        ("fio version 3 iolog\n1 a jump 0 4096\n", ["line 2", "jump"]),
        ("fio version 3 iolog\n", ["log", "no requests"]),
        ("fio version 1 iolog\n", ["log", "version"]),
    ] {
        fs::write(dir.join("log"), text).expect("log");
        fio("--name=r --read_iolog=log")
            .in_dir(dir)
            .fails()
            .explains(&words);
    }
    fio("--name=r --read_iolog=nowhere")
        .in_dir(dir)
        .fails()
        .explains(&["nowhere"]);
}
