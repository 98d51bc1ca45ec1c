//! Priorities of single requests: the shares asked for, and latencies of each as fio tells them.

use serde_json::Value;
use std::collections::BTreeSet;

use crate::harness::command::have_peer;
use crate::harness::{Scratch, Tool, assert_none, fio};

const JOB: &str = "--name=a --filename=f --rw=randrw --bs=1k --size=4m --iodepth=4";

/// Class, level and share in percent of each priority of a direction, and what they add up to.
fn shares(job: &Value, ddir: &str) -> (Vec<(u64, u64, f64)>, u64, BTreeSet<String>) {
    let all = job[ddir]["prios"].as_array().cloned().unwrap_or_default();
    let n = |of: &Value| of["clat_ns"]["N"].as_u64().unwrap_or(0);
    let total: u64 = all.iter().map(n).sum();
    let one = |of: &Value| {
        let number = |key: &str| of[key].as_u64().unwrap_or(99);
        let share = 100.0 * n(of) as f64 / total as f64;
        (number("prioclass"), number("prio"), share)
    };
    let mut keys = BTreeSet::new();
    for of in &all {
        keys.extend(of["clat_ns"].as_object().expect("object").keys().cloned());
    }
    let mut found: Vec<_> = all.iter().map(one).collect();
    found.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
    (found, total, keys)
}

#[test]
fn priorities_have_the_shares_asked_for_and_their_own_latencies() {
    let test = "priorities_have_the_shares_asked_for_and_their_own_latencies";
    if !have_peer(test) {
        return;
    }
    let mut findings = Vec::new();
    for words in [
        "--ioengine=libaio --cmdprio_percentage=30",
        "--ioengine=io_uring --cmdprio_percentage=20,50 --cmdprio_class=2 --cmdprio=3",
        "--ioengine=libaio --prio=4 --prioclass=2 --cmdprio_percentage=40",
        "--ioengine=io_uring --cmdprio_bssplit=1k/25/2/7:4k/90,1k/60",
        "--ioengine=libaio",
        "--ioengine=libaio --group_reporting --prio=2 --prioclass=2 --name=b --filename=g \
         --rw=randrw --bs=1k --size=1m --prio=6",
    ] {
        let scratch = Scratch::new("priorities");
        let job = |tool| {
            let run = fio(&format!("--output-format=json {JOB} {words}"))
                .in_dir(scratch.path())
                .with(tool)
                .run();
            assert_eq!(run.code, Some(0), "{run}");
            run.job()
        };
        let (ours, theirs) = (job(Tool::Assay), job(Tool::Peer));
        for ddir in ["read", "write"] {
            let (mine, total, keys) = shares(&ours, ddir);
            let (fios, _, fio_keys) = shares(&theirs, ddir);
            let alike = mine.len() == fios.len()
                && mine
                    .iter()
                    .zip(&fios)
                    .all(|(a, b)| (a.0, a.1) == (b.0, b.1) && (a.2 - b.2).abs() < 8.0);
            let counted = mine.is_empty() || ours[ddir]["total_ios"] == total;
            if !alike || !counted || keys != fio_keys {
                findings.push(format!("`{words}` {ddir}: fio {fios:?} here {mine:?}"));
            }
        }
    }
    assert_none(&findings, test);
}

#[test]
fn the_normal_report_tells_each_priority() {
    let scratch = Scratch::new("priorities");
    let run = fio(&format!("{JOB} --ioengine=libaio --cmdprio_percentage=50"))
        .in_dir(scratch.path())
        .ok();
    for line in ["    clat prio 1/0/0 (", "    clat prio 0/0/0 ("] {
        assert_eq!(run.stdout.matches(line).count(), 4, "{run}");
    }
    assert!(run.stdout.contains("% of IOs) percentiles ("), "{run}");
    fio(&format!(
        "{JOB} --ioengine=libaio --cmdprio_percentage=5 --cmdprio_bssplit=1k/5"
    ))
    .in_dir(scratch.path())
    .fails();
}

#[test]
fn directions_are_reported_apart_together_and_both() {
    let test = "directions_are_reported_apart_together_and_both";
    if !have_peer(test) {
        return;
    }
    let job = "--name=a --ioengine=null --rw=randrw --rwmixread=70 --bs=4k --size=8m \
               --lat_percentiles=1 --slat_percentiles=1 --output-format=json";
    let mut findings = Vec::new();
    for form in ["none", "mixed", "both", "0", "1", "2"] {
        let told = |tool| {
            let run = fio(&format!("{job} --unified_rw_reporting={form}"))
                .with(tool)
                .run();
            let job = run.job();
            let mut found = Vec::new();
            for ddir in ["read", "write", "trim", "mixed"] {
                let of = &job[ddir];
                let percentiles = |class: &str| {
                    let all = of[class]["percentile"].as_object();
                    all.map_or(0, serde_json::Map::len)
                };
                let classes = ["slat_ns", "clat_ns", "lat_ns"].map(percentiles);
                let counts = ["io_bytes", "total_ios"].map(|key| of[key].as_u64());
                let n = ["clat_ns", "lat_ns"].map(|class| of[class]["N"].as_u64());
                found.push((ddir, classes, counts, n));
            }
            found
        };
        let (theirs, ours) = (told(Tool::Peer), told(Tool::Assay));
        if theirs != ours {
            findings.push(format!("{form}: fio {theirs:?}\n here {ours:?}"));
        }
    }
    assert_none(&findings, test);
}
