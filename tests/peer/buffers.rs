//! What written files hold: as compressible and as repetitive as asked, and as fio's are.

use std::collections::HashSet;
use std::fs;

use crate::harness::command::have_peer;
use crate::harness::{Scratch, Tool, assert_none, fio};

const BLOCK: usize = 4096;

/// The file that a tool writes.
fn written(tool: Tool, words: &str) -> Vec<u8> {
    let scratch = Scratch::new("buffers");
    let job = "--name=a --filename=f --rw=write --bs=4k --size=8m";
    let run = fio(&format!("{job} {words}"))
        .in_dir(scratch.path())
        .with(tool)
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    fs::read(scratch.path().join("f")).expect("file")
}

/// Share that compression takes away, in percent.
fn saved(bytes: &[u8]) -> f64 {
    let left = zstd::bulk::compress(bytes, 1).expect("zstd").len();
    100.0 * (1.0 - left as f64 / bytes.len() as f64)
}

/// Share of blocks that are equal to an earlier one, in percent.
fn repeated(bytes: &[u8]) -> f64 {
    let all = bytes.chunks(BLOCK).count();
    let different = bytes.chunks(BLOCK).collect::<HashSet<_>>().len();
    100.0 * (1.0 - different as f64 / all as f64)
}

#[test]
fn data_are_as_compressible_as_asked_and_as_fios() {
    let test = "data_are_as_compressible_as_asked_and_as_fios";
    if !have_peer(test) {
        return;
    }
    let mut findings = Vec::new();
    for (percent, more) in [
        (0.0, "--refill_buffers"),
        (30.0, "--buffer_compress_percentage=30"),
        (
            50.0,
            "--buffer_compress_percentage=50 --buffer_compress_chunk=4k",
        ),
        (
            75.0,
            "--buffer_compress_percentage=75 --buffer_compress_chunk=1k",
        ),
        (
            60.0,
            "--buffer_compress_percentage=60 --verify=crc32c --do_verify=0",
        ),
    ] {
        let ours = saved(&written(Tool::Assay, more));
        let fios = saved(&written(Tool::Peer, more));
        if (ours - percent).abs() > 3.0 || (ours - fios).abs() > 3.0 {
            findings.push(format!("{more}: {ours:.1}, fio {fios:.1}"));
        }
    }
    let zero = written(Tool::Assay, "--buffer_compress_percentage=100");
    if zero.iter().any(|byte| *byte != 0) {
        findings.push("100 percent is not all zeros".into());
    }
    assert_none(&findings, test);
}

#[test]
fn blocks_repeat_as_often_as_asked_and_as_fios() {
    let test = "blocks_repeat_as_often_as_asked_and_as_fios";
    if !have_peer(test) {
        return;
    }
    let mut findings = Vec::new();
    for (percent, more) in [
        (20.0, "--dedupe_percentage=20"),
        (80.0, "--dedupe_percentage=80"),
        (100.0, "--dedupe_percentage=100"),
        (
            50.0,
            "--dedupe_percentage=50 --buffer_compress_percentage=50",
        ),
        // A set of 20 blocks among 2048: nearly every use of it repeats one.
        (
            70.0,
            "--dedupe_percentage=70 --dedupe_mode=working_set --dedupe_working_set_percentage=1",
        ),
    ] {
        let ours = repeated(&written(Tool::Assay, more));
        let fios = repeated(&written(Tool::Peer, more));
        if (ours - percent).abs() > 4.0 || (ours - fios).abs() > 5.0 {
            findings.push(format!("{more}: {ours:.1}, fio {fios:.1}"));
        }
    }
    assert_none(&findings, test);
}

#[test]
fn jobs_can_share_a_working_set() {
    let job = "--rw=write --bs=4k --size=2m --dedupe_percentage=90 --dedupe_mode=working_set \
               --dedupe_working_set_percentage=5";
    let common = |global: u8| {
        let scratch = Scratch::new("buffers");
        fio(&format!("--name=a {job} --dedupe_global={global}"))
            .args(format!("--name=b {job} --dedupe_global={global}").split_whitespace())
            .in_dir(scratch.path())
            .ok();
        let read = |name| fs::read(scratch.path().join(name)).expect("file");
        let (a, b) = (read("a.0.0"), read("b.0.0"));
        let of_a: HashSet<_> = a.chunks(BLOCK).collect();
        b.chunks(BLOCK).filter(|block| of_a.contains(block)).count()
    };
    assert_eq!(common(0), 0);
    // 90 percent of 512 blocks come from the common set of 50.
    assert!(common(1) > 350);
}

#[test]
fn buffers_of_every_memory_hold_the_data() {
    let scratch = Scratch::new("buffers");
    let job = "--name=a --filename=f --rw=write --bs=4k --size=256k --verify=crc32c";
    for mem in [
        "malloc",
        "shm",
        "mmap",
        "mmapshared",
        "mmap:m",
        "mmapshared:m",
    ] {
        fio(&format!("{job} --mem={mem} --lockmem=1m"))
            .in_dir(scratch.path())
            .ok();
    }
    assert!(
        fs::metadata(scratch.path().join("m"))
            .expect("mapping")
            .len()
            >= 4096
    );
    fio(&format!("{job} --mem=mmapshared:/dev/asay_typo"))
        .in_dir(scratch.path())
        .fails()
        .explains(&["/dev/asay_typo"]);
    let free = fs::read_to_string("/proc/meminfo").expect("meminfo");
    let free = free
        .lines()
        .find(|line| line.starts_with("HugePages_Free:"));
    let free = free.and_then(|line| line.split_whitespace().nth(1));
    let huge = fio(&format!("{job} --mem=mmaphuge"))
        .in_dir(scratch.path())
        .run();
    if free.is_some_and(|n| n == "0") {
        assert_eq!(huge.code, Some(1), "{huge}");
        assert!(huge.stderr.contains("nr_hugepages"), "{huge}");
    } else {
        assert_eq!(huge.code, Some(0), "{huge}");
    }
}
