//! `zonemode=zbd` on files: requests go where fio has them go, zones are reset as often, and what
//! is impossible is refused in its words.

use std::fs;
use std::path::Path;

use super::offsets::issued;
use crate::harness::command::{have, have_peer};
use crate::harness::{Scratch, Tool, assert_none, fio, skip};

/// All jobs: a megabyte in 16 zones, which fio wants to be there.
const JOB: &str = "--name=a --filename=f --size=1m --zonemode=zbd --zonesize=64k";

fn prepare(dir: &Path) {
    crate::harness::place::empty(dir);
    for name in ["f", "g"] {
        fs::write(dir.join(name), vec![1; 1 << 20]).expect("file");
    }
}

#[test]
fn zones_are_written_and_read_alike() {
    let test = "zones_are_written_and_read_alike";
    if !have_peer(test) {
        return;
    }
    if !have("strace") {
        return skip(test, "strace is not installed");
    }
    let scratch = Scratch::new("zoned");
    let mut findings = Vec::new();
    for words in [
        "--rw=randrw --bs=16k --max_open_zones=2 --job_max_open_zones=2",
        "--rw=randwrite --bs=16k --filename=f:g --max_open_zones=2 --loops=2",
        "--rw=randrw --bsrange=4k-20k --rwmixread=70",
        "--rw=randwrite --bs=16k --offset=2z --size=4z --norandommap --io_size=40z",
        "--rw=write --bs=24k --zonecapacity=56k --zoneskip=1z",
        "--rw=randwrite --bs=16k --offset=10k --size=1000k --zone_reset_threshold=0.3 \
         --zone_reset_frequency=0.5 --norandommap --io_size=2m",
        "--rw=read --bs=16k --read_beyond_wp=1",
        "--rw=trimwrite --bs=64k",
    ] {
        let job = format!("{JOB} {words}");
        let trace = |tool| {
            prepare(scratch.path());
            issued(scratch.path(), &job, tool)
        };
        let want = trace(Tool::Peer).unwrap_or_else(|error| panic!("fio itself: {error}"));
        let some = want.values().any(|list| list.len() > 4);
        assert!(some, "nothing was traced for `{words}`");
        match trace(Tool::Assay) {
            Ok(have) if have == want => {}
            Ok(_) => findings.push(format!("`{words}`: other requests")),
            Err(error) => findings.push(format!("`{words}`: {error}")),
        }
    }
    assert_none(&findings, test);
}

#[test]
fn zone_resets_are_counted() {
    let scratch = Scratch::new("zoned");
    prepare(scratch.path());
    // Each pass but the first finds every zone full.
    let words = format!("{JOB} --rw=write --bs=16k --loops=3");
    let run = fio(&words).in_dir(scratch.path()).run();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stdout.contains("; 32 zone resets"), "{run}");
    // A trim is a reset where there is something to forget, and touches no data.
    let before = fs::read(scratch.path().join("f")).expect("file");
    let words =
        format!("{JOB} --rw=trimwrite --bs=64k --loops=2 --number_ios=32 --output-format=json");
    let run = fio(&words).in_dir(scratch.path()).run();
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(run.job()["zone_resets"].as_u64(), Some(16), "{run}");
    assert_ne!(fs::read(scratch.path().join("f")).expect("file"), before);
}

#[test]
fn jobs_share_the_zones_of_a_file() {
    let scratch = Scratch::new("zoned");
    for engine in ["psync", "io_uring --iodepth=8"] {
        prepare(scratch.path());
        let words = format!(
            "{JOB} --rw=randwrite --bs=4k --numjobs=4 --ioengine={engine} --max_open_zones=3 \
             --time_based --runtime=300ms --write_iolog=log.$jobnum --output-format=json"
        );
        let run = fio(&words).in_dir(scratch.path()).run();
        assert_eq!(run.code, Some(0), "{run}");
        for job in run.json()["jobs"].as_array().expect("jobs") {
            assert!(job["write"]["total_ios"].as_u64() > Some(0), "{run}");
        }
    }
}

#[test]
fn what_no_zone_can_take_is_refused() {
    let scratch = Scratch::new("zoned");
    prepare(scratch.path());
    for (words, told) in [
        ("--zonesize=0 --rw=write", "zone size is mandatory"),
        ("--zonesize=100 --rw=write", "at least 512 bytes"),
        (
            "--zonesize=2m --rw=write",
            "file/device size 1048576 is smaller than zone size 2097152",
        ),
        (
            "--zonecapacity=128k --rw=write",
            "zonecapacity 131072 is larger than zone size 65536",
        ),
        (
            "--rw=write --zoneskip=1k",
            "zoneskip 1024 is not a multiple",
        ),
        ("--rw=write --size=63k", "io_size must be at least one zone"),
        (
            "--rw=randtrim --bs=4k",
            "trim block size 4096 is not the zone size 65536",
        ),
        (
            "--rw=randtrim --bsrange=4k-64k",
            "not allowed for trim with zonemode=zbd",
        ),
        (
            "--rw=write --bs=24k --verify=md5",
            "block size 24576 is not a divisor",
        ),
        (
            "--rw=write --job_max_open_zones=2",
            "without a global open zones limit",
        ),
        ("--rw=write --max_open_zones=5000", "max_open_zones"),
        (
            "--rw=write --max_open_zones=2 --name=b --filename=f --size=1m --zonemode=zbd \
             --zonesize=64k --max_open_zones=3",
            "Different 'max_open_zones'",
        ),
        ("--rw=write --bs=128k", "exceeds the zone size"),
        (
            "--rw=write --zonecapacity=8k --bs=16k",
            "smaller than minimum block size",
        ),
        (
            "--rw=write --verify=md5 --zone_reset_frequency=1",
            "zone_reset_frequency",
        ),
        ("--rw=write --verify=md5 --verify_only=1", "verify_only"),
        (
            "--filename=nothing --rw=write",
            "file/device size 0 is smaller",
        ),
    ] {
        fio(&format!("{JOB} {words}"))
            .in_dir(scratch.path())
            .fails()
            .explains(&[told]);
    }
    // Regenerated, the sequence would be another: what was written is remembered all the same.
    let words = "--rw=randwrite --bs=16k --verify=md5 --experimental_verify=1 --loops=2";
    let run = fio(&format!("{JOB} {words} --output-format=json"));
    let job = run.in_dir(scratch.path()).ok().job();
    assert_eq!(job["read"]["total_ios"].as_u64(), Some(128));
    // Rounding is told.
    let run = fio(&format!("{JOB} --rw=write --bs=4k --offset=1k --size=128k"))
        .in_dir(scratch.path())
        .run();
    for line in [
        "f: rounded up offset from 1024 to 65536",
        "f: rounded down io_size from 66560 to 65536",
    ] {
        assert!(run.stdout.contains(line), "{run}");
    }
}
