//! The greps, awks and paths of well-known scripts, run on real output.

use std::path::Path;

use crate::harness::{Scratch, fio, place};

/// Pipes a report through a shell filter.
fn filter(dir: &Path, report: &str, script: &str) -> String {
    std::fs::write(dir.join("report"), report).expect("scratch");
    let script = format!("cd '{}' && cat report | {script}", dir.display());
    place::system("sh", &["-c", &script]).unwrap_or_else(|e| panic!("{script}: {e}\n{report}"))
}

fn number(text: &str) -> f64 {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    digits
        .parse()
        .unwrap_or_else(|_| panic!("`{text}` is no number"))
}

#[test]
fn yabs_reads_terse_fields() {
    let scratch = Scratch::new("scripts");
    let dir = scratch.path();
    let words = "--name=rand_rw_4k --ioengine=libaio --rw=randrw --rwmixread=50 --bs=4k \
        --iodepth=64 --numjobs=2 --size=16m --runtime=1 --gtod_reduce=1 --direct=1 \
        --filename=test.fio --group_reporting --minimal";
    let report = fio(words).in_dir(dir).ok().stdout;
    for field in ["$7", "$8", "$48", "$49"] {
        let script = format!("grep rand_rw_4k | awk -F';' '{{print {field}}}'");
        assert!(number(&filter(dir, &report, &script)) > 0.0, "{field}");
    }
}

#[test]
fn dbench_greps_normal_output() {
    let scratch = Scratch::new("scripts");
    let dir = scratch.path();
    let base = "--randrepeat=0 --verify=0 --ioengine=libaio --direct=1 --filename=fiotest \
        --size=16m --time_based --runtime=1s";
    let run = |words: &str| fio(&format!("{base} {words}")).in_dir(dir).ok().stdout;
    let report = run("--gtod_reduce=1 --name=read_iops --bs=4K --iodepth=64 --readwrite=randread");
    let iops = filter(
        dir,
        &report,
        "grep -E 'read ?:' | grep -Eoi 'IOPS=[0-9k.]+' | cut -d'=' -f2",
    );
    assert!(number(&iops) > 0.0);
    let report =
        run("--gtod_reduce=1 --name=write_iops --bs=4K --iodepth=64 --readwrite=randwrite");
    let iops = filter(
        dir,
        &report,
        "grep -E 'write: ?' | grep -Eoi 'IOPS=[0-9k.]+' | cut -d'=' -f2",
    );
    assert!(number(&iops) > 0.0);
    let report = run("--name=read_bw --bs=128K --iodepth=16 --readwrite=read --thread --numjobs=2");
    let bw = filter(
        dir,
        &report,
        "grep -E 'READ:' | grep -Eoi '(aggrb|bw)=[0-9GMKiBs/.]+' | cut -d'=' -f2",
    );
    assert!(bw.ends_with("iB/s"), "{bw}");
    let report = run("--name=read_latency --bs=4K --iodepth=4 --readwrite=randread");
    let lat = filter(
        dir,
        &report,
        "grep ' lat.*avg' | grep -Eoi 'avg=[ ]*[0-9.]+' | cut -d'=' -f2 | tr -d ' '",
    );
    assert!(number(&lat) > 0.0);
    let unit = filter(dir, &report, "grep ' lat.*avg' | grep -Eo '\\([num]sec\\)'");
    assert!(
        ["(nsec)", "(usec)", "(msec)"].contains(&unit.as_str()),
        "{unit}"
    );
}

#[test]
fn etcd_guides_read_sync_percentiles() {
    let scratch = Scratch::new("scripts");
    let dir = scratch.path();
    let words = "--rw=write --ioengine=sync --fdatasync=1 --directory=. --size=500k --bs=2300 \
        --name=mytest";
    let report = fio(words).in_dir(dir).ok().stdout;
    let tail = filter(
        dir,
        &report,
        "sed -n '/fsync\\/fdatasync/,$p' | grep -Eo '99.00th=\\[ *[0-9]+\\]'",
    );
    assert!(tail.starts_with("99.00th=["), "{tail}");
    let job = fio(words)
        .arg("--output-format=json")
        .in_dir(dir)
        .ok()
        .job();
    let p99 = &job["sync"]["lat_ns"]["percentile"]["99.000000"];
    assert!(p99.as_u64() > Some(0), "{p99}");
    // Each write but possibly the last is followed by one fdatasync.
    let (writes, syncs) = (
        job["write"]["total_ios"].as_u64(),
        job["sync"]["total_ios"].as_u64(),
    );
    assert!(
        writes.zip(syncs).is_some_and(|(w, s)| w - s <= 1),
        "{writes:?} {syncs:?}"
    );
}

#[test]
fn kbench_reads_json_paths() {
    let scratch = Scratch::new("scripts");
    let words = "--idle-prof=percpu --name=mix --filename=f --size=16m --ioengine=libaio --direct=1 \
        --readwrite=randrw --bs=4k --iodepth=16 --time_based --runtime=1 --output-format=json --output=o";
    fio(words).in_dir(scratch.path()).ok();
    let text = std::fs::read_to_string(scratch.path().join("o")).expect("the report");
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    for direction in ["read", "write"] {
        let of = &document["jobs"][0][direction];
        assert!(of["iops"].as_f64() > Some(0.0) && of["bw"].as_u64() > Some(0));
        assert!(of["lat_ns"]["mean"].as_f64() > Some(0.0));
    }
    assert!(document["cpu_idleness"]["system"].is_f64());
}

#[test]
fn clat_bins_convert_as_jsonplus_scripts_do() {
    let scratch = Scratch::new("scripts");
    let words = "--name=x --size=4m --rw=randread --output-format=json+";
    let job = fio(words).in_dir(scratch.path()).ok().job();
    let bins = job["read"]["clat_ns"]["bins"]
        .as_object()
        .expect("bins")
        .clone();
    let keys: Vec<u64> = bins
        .keys()
        .map(|key| key.parse().expect("nanoseconds"))
        .collect();
    assert!(keys.is_sorted(), "bins ascend");
    let total: u64 = bins.values().filter_map(serde_json::Value::as_u64).sum();
    assert_eq!(total, 1024);
}
