//! Verification as a user runs it: write and read back, read elsewhere, damage, dumps.

use crate::harness::command::have_peer;
use crate::harness::{Scratch, Tool, fio};
use std::path::Path;

const JOB: &str = "--name=v --filename=f --bs=4k --size=1m --output-format=json";

/// Reads, writes and bytes of a job that must succeed.
fn totals(dir: &Path, tool: Tool, words: &str) -> [u64; 4] {
    let job = fio(&format!("{JOB} {words}"))
        .in_dir(dir)
        .with(tool)
        .ok()
        .job();
    let number = |ddir: &str, key: &str| job[ddir][key].as_u64().expect("a number");
    [
        number("read", "total_ios"),
        number("write", "total_ios"),
        number("read", "io_bytes"),
        number("write", "io_bytes"),
    ]
}

#[test]
fn written_data_are_read_back_as_often_as_fio_does() {
    if !have_peer("verify totals") {
        return;
    }
    for words in [
        "--rw=write --verify=md5",
        "--rw=randwrite --verify=crc32c --ioengine=libaio --iodepth=8",
        "--rw=randwrite --verify=sha256 --norandommap",
        "--rw=randrw --verify=crc64 --loops=2",
        "--rw=write --verify=pattern --verify_pattern=0xabcd%o --verify_interval=512",
        "--rw=randwrite --verify=meta --verify_backlog=16 --verify_backlog_batch=4",
        "--rw=randwrite --verify=crc32c --do_verify=0",
        "--rw=write --verify=null",
        "--rw=randwrite --verify=crc7 --ioengine=null",
    ] {
        let scratch = Scratch::new("verify");
        let ours = totals(scratch.path(), Tool::Assay, words);
        // The other one writes over the same file and so has the same work to do.
        let theirs = totals(scratch.path(), Tool::Peer, words);
        assert_eq!(ours, theirs, "{words}");
    }
}

#[test]
fn an_earlier_run_is_verified_across_programs() {
    if !have_peer("verify across programs") {
        return;
    }
    let verify = "--verify=sha512 --verify_interval=1024 --verify_offset=200";
    for (writer, reader) in [(Tool::Assay, Tool::Peer), (Tool::Peer, Tool::Assay)] {
        let scratch = Scratch::new("verify");
        totals(
            scratch.path(),
            writer,
            &format!("--rw=randwrite {verify} --do_verify=0"),
        );
        for words in ["--rw=read", "--rw=randread", "--rw=randwrite --verify_only"] {
            totals(scratch.path(), reader, &format!("{words} {verify}"));
        }
    }
}

/// N blocks damaged, N reported, with file and offset; the first one ends the job otherwise.
#[test]
fn every_damaged_block_is_reported() {
    let scratch = Scratch::new("verify");
    let dir = scratch.path();
    totals(dir, Tool::Assay, "--rw=randwrite --verify=crc32c");
    let path = dir.join("f");
    let mut data = std::fs::read(&path).expect("the file");
    // A flipped bit, two swapped blocks, a lost sector.
    data[3 * 4096 + 100] ^= 1;
    let block = data[7 * 4096..8 * 4096].to_vec();
    data.copy_within(9 * 4096..10 * 4096, 7 * 4096);
    data[9 * 4096..10 * 4096].copy_from_slice(&block);
    data[200 * 4096 + 1024..200 * 4096 + 1536].fill(0);
    std::fs::write(&path, data).expect("the file");

    let read = format!("{JOB} --rw=read --verify=crc32c");
    let all = fio(&format!("{read} --continue_on_error=verify"))
        .in_dir(dir)
        .run();
    assert_eq!(all.job()["total_err"], 4);
    for at in [3, 7, 9, 200] {
        let place = format!("at file f offset {}, length 4096", at * 4096);
        assert_eq!(
            all.stderr.matches(&place).count(),
            1,
            "{place}: {}",
            all.stderr
        );
    }

    let first = fio(&format!("{read} --verify_dump=1")).in_dir(dir).fails();
    assert_eq!(first.job()["error"], 84);
    let dumped = |what: &str| std::fs::read(dir.join(format!("f.12288.{what}"))).expect("a dump");
    let (received, expected) = (dumped("received"), dumped("expected"));
    let differs: Vec<usize> = (0..4096)
        .filter(|&at| received[at] != expected[at])
        .collect();
    assert_eq!(differs, [100]);
}
