//! Verification beside fio's: saved states, checking threads, sequences generated again, and
//! every kind of damage found and counted.

use std::fs;
use std::path::Path;

use crate::harness::command::have_peer;
use crate::harness::{Outcome, Scratch, Tool, assert_none, fio};

const JOB: &str = "--name=v --filename=f --bs=4k --size=1m --output-format=json";

fn run(dir: &Path, tool: Tool, words: &str) -> Outcome {
    fio(&format!("{JOB} {words}")).in_dir(dir).with(tool).run()
}

fn reads(run: &Outcome) -> u64 {
    run.job()["read"]["total_ios"].as_u64().expect("a number")
}

#[test]
fn verification_ends_where_a_saved_state_does() {
    let test = "verification_ends_where_a_saved_state_does";
    if !have_peer(test) {
        return;
    }
    let mut findings = Vec::new();
    for order in ["write", "randwrite"] {
        for writer in [Tool::Peer, Tool::Assay] {
            for reader in [Tool::Peer, Tool::Assay] {
                let scratch = Scratch::new("verify");
                let dir = scratch.path();
                let job = format!("--rw={order} --verify=crc32c");
                let half = run(dir, writer, &format!("{job} --io_size=512k --do_verify=0"));
                assert_eq!(half.code, Some(0), "{half}");
                assert!(dir.join("local-v-0-verify.state").exists(), "{half}");
                let load = format!("{job} --verify_only --verify_state_load=1");
                let half = run(dir, reader, &load);
                if half.code != Some(0) || reads(&half) != 128 {
                    findings.push(format!("{order} {writer:?} {reader:?}: {half}"));
                }
            }
        }
    }
    assert_none(&findings, test);
}

#[test]
fn a_state_of_another_kind_is_told() {
    let scratch = Scratch::new("verify");
    let dir = scratch.path();
    let job = "--rw=write --verify=crc32c --verify_state_load=1";
    run(dir, Tool::Assay, job).explains(&["local-v-0-verify.state"]);
    let wrote = run(dir, Tool::Assay, "--rw=write --verify=crc32c");
    assert_eq!(wrote.code, Some(0), "{wrote}");
    let path = dir.join("local-v-0-verify.state");
    let mut state = fs::read(&path).expect("state");
    state[0] = 9;
    fs::write(&path, &state).expect("state");
    run(dir, Tool::Assay, job).explains(&["version 9"]);
    fs::remove_file(&path).expect("state");
    let quiet = run(
        dir,
        Tool::Assay,
        "--rw=write --verify=md5 --verify_state_save=0",
    );
    assert!(quiet.code == Some(0) && !path.exists(), "{quiet}");
}

#[test]
fn threads_and_regeneration_read_as_much_as_fio() {
    let test = "threads_and_regeneration_read_as_much_as_fio";
    if !have_peer(test) {
        return;
    }
    let mut findings = Vec::new();
    for words in [
        "--rw=randwrite --verify=crc32c --verify_async=3",
        "--rw=write --verify=md5 --verify_async=2 --verify_async_cpus=0",
        "--rw=randwrite --verify=crc32c --ioengine=libaio --iodepth=8 --verify_async=2",
        "--rw=randwrite --verify=sha1 --verify_backlog=16 --verify_async=2",
        "--rw=randwrite --verify=crc32c --experimental_verify=1",
        "--rw=write --verify=crc64 --experimental_verify=1",
    ] {
        let scratch = Scratch::new("verify");
        let total = |tool| {
            let run = run(scratch.path(), tool, words);
            let job = run.job();
            let number = |ddir: &str| job[ddir]["total_ios"].clone();
            (run.code, number("read"), number("write"))
        };
        let (ours, theirs) = (total(Tool::Assay), total(Tool::Peer));
        if ours != theirs {
            findings.push(format!("`{words}`: fio {theirs:?} here {ours:?}"));
        }
    }
    assert_none(&findings, test);
}

/// Blocks of a file that were damaged.
fn damage(path: &Path) -> Vec<u64> {
    let mut data = fs::read(path).expect("file");
    let block = |n: usize| n * 4096..(n + 1) * 4096;
    // Flipped bits, in the header and in the data.
    data[2 * 4096 + 5] ^= 0x80;
    data[4 * 4096 + 4095] ^= 1;
    // Two blocks in each other's place.
    let seventh = data[block(7)].to_vec();
    data.copy_within(block(9), 7 * 4096);
    data[block(9)].copy_from_slice(&seventh);
    // A write that reached the medium in part: sectors of another block.
    data.copy_within(50 * 4096 + 1536..51 * 4096, 60 * 4096 + 1536);
    data.copy_within(50 * 4096..50 * 4096 + 512, 61 * 4096);
    // A block that never arrived.
    data[block(200)].fill(0);
    fs::write(path, data).expect("file");
    vec![2, 4, 7, 9, 60, 61, 200]
}

#[test]
fn damage_is_found_whoever_checks() {
    let test = "damage_is_found_whoever_checks";
    let mut findings = Vec::new();
    for (words, reading) in [
        ("--verify=crc32c", "--rw=read"),
        ("--verify=crc32c --verify_async=3", "--rw=randread"),
        (
            "--verify=sha256 --verify_async=2",
            "--rw=read --ioengine=libaio --iodepth=8",
        ),
        ("--verify=md5", "--rw=randwrite --verify_only"),
        (
            "--verify=crc32c --verify_async=2",
            "--rw=randwrite --verify_only",
        ),
        (
            "--verify=crc64 --experimental_verify=1",
            "--rw=randwrite --verify_only",
        ),
    ] {
        let scratch = Scratch::new("verify");
        let dir = scratch.path();
        let wrote = run(
            dir,
            Tool::Assay,
            &format!("--rw=randwrite {words} --do_verify=0"),
        );
        assert_eq!(wrote.code, Some(0), "{wrote}");
        let bad = damage(&dir.join("f"));
        let all = format!("{reading} {words} --continue_on_error=verify");
        let found = run(dir, Tool::Assay, &all);
        let job = found.job();
        let told = bad.iter().filter(|n| {
            let place = format!("at file f offset {}, length 4096", *n * 4096);
            found.stderr.matches(&place).count() == 1
        });
        let (told, n) = (told.count(), bad.len());
        if told != n || job["total_err"] != n || job["first_error"] != 84 || reads(&found) != 256 {
            findings.push(format!("`{all}`: {told} of {n} told\n{found}"));
        }
        // Without leave to go on, the first one ends the job.
        let first = run(dir, Tool::Assay, &format!("{reading} {words}"));
        if first.code != Some(1) || first.job()["error"] != 84 {
            findings.push(format!("`{reading} {words}`: {first}"));
        }
    }
    assert_none(&findings, test);
}

/// fio 3.33 ends such jobs at the first trim, without an error; so they are judged by themselves.
#[test]
fn trimmed_blocks_read_as_zeros() {
    let scratch = Scratch::new("verify");
    let dir = scratch.path();
    let mut findings = Vec::new();
    let job = "--rw=randwrite --size=4m --verify=crc32c";
    // Trims in percent of the writes, and reads in percent.
    for (words, trims, reads) in [
        ("--trim_percentage=30 --trim_backlog=64", 30, 100),
        (
            "--trim_percentage=100 --trim_backlog=32 --verify=md5",
            100,
            100,
        ),
        (
            "--trim_percentage=50 --trim_backlog=64 --trim_verify_zero=0",
            50,
            50,
        ),
        ("--trim_percentage=20", 0, 100),
        // Beside writes in flight, and over and over the same blocks.
        (
            "--trim_percentage=40 --trim_backlog=16 --ioengine=io_uring --iodepth=16 \
             --norandommap --io_size=8m",
            40,
            0,
        ),
        (
            "--trim_percentage=40 --trim_backlog=16 --ioengine=libaio --iodepth=8 \
             --bsrange=4k-16k --verify_backlog=100 --verify_async=2",
            40,
            0,
        ),
    ] {
        let found = run(dir, Tool::Assay, &format!("{job} {words}"));
        let told = found.job();
        let number = |ddir: &str| told[ddir]["total_ios"].as_u64().expect("a number");
        let percent = |ddir: &str| 100 * number(ddir) / number("write").max(1);
        let near = percent("trim").abs_diff(trims) <= 12;
        let enough = reads == 0 || percent("read").abs_diff(reads) <= 12;
        if found.code != Some(0) || !near || !enough {
            findings.push(format!("`{words}`: {found}"));
        }
    }
    assert_none(&findings, "trimmed_blocks_read_as_zeros");
}

#[test]
fn patterns_start_anew_at_each_interval() {
    let scratch = Scratch::new("verify");
    let dir = scratch.path();
    let words = "--rw=write --verify=pattern --verify_pattern=0xab%o --verify_pattern_interval=512";
    let wrote = run(dir, Tool::Assay, words);
    assert_eq!((wrote.code, reads(&wrote)), (Some(0), 256), "{wrote}");
    let mut data = fs::read(dir.join("f")).expect("file");
    for (n, part) in data.chunks(512).enumerate() {
        let offset = (n as u64 * 512).to_le_bytes();
        assert_eq!((part[0], &part[1..9]), (0xab, &offset[..]), "part {n}");
    }
    data[5 * 4096 + 700] ^= 4;
    fs::write(dir.join("f"), data).expect("file");
    let found = run(dir, Tool::Assay, &format!("{words} --verify_only"));
    assert_eq!(found.job()["error"], 84, "{found}");
}
