//! Which files are used, in which order, and what the kernel is told about them: as by fio.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::offsets::check;
use crate::harness::command::{documents, have, have_peer};
use crate::harness::{LoopDisk, Scratch, Tool, assert_none, fio, skip};

#[test]
fn files_are_chosen_alike() {
    check(
        "files_are_chosen_alike",
        &[
            "--rw=read --nrfiles=5 --file_service_type=zipf:1.2",
            "--rw=randread --nrfiles=7 --file_service_type=zipf",
            "--rw=read --nrfiles=6 --file_service_type=pareto:0.3",
            "--rw=randwrite --nrfiles=4 --file_service_type=normal:20",
            "--rw=write --nrfiles=4 --file_service_type=random:3",
            "--rw=read --nrfiles=4 --file_service_type=roundrobin:4 --openfiles=2",
            "--rw=read --nrfiles=3 --file_service_type=sequential",
            "--rw=randread --nrfiles=4 --filesize=64k-512k --bs=4k",
        ],
    );
}

#[test]
fn zones_are_strided_alike() {
    check(
        "zones_are_strided_alike",
        &[
            "--rw=read --zonemode=strided --zonesize=64k --zoneskip=64k --bs=16k",
            "--rw=write --zonemode=strided --zonesize=32k --zonerange=128k --bs=8k",
            "--rw=randread --zonemode=strided --zonesize=64k --zonerange=256k --bs=4k",
            "--rw=randwrite --zonemode=strided --zonesize=32k --zoneskip=96k --bs=4k --loops=2",
            "--rw=read --zonemode=strided --zonesize=16k --zoneskip=32k --bs=4k --io_size=2m",
        ],
    );
}

#[test]
fn ranges_are_synced_alike() {
    check(
        "ranges_are_synced_alike",
        &[
            "--rw=write --sync_file_range=write:8",
            "--rw=write --bs=8k --sync_file_range=wait_before,write,wait_after:4",
        ],
    );
}

#[test]
fn zone_options_need_a_mode() {
    for (words, told) in [
        ("--zonesize=64k", "zonemode=none"),
        ("--zonemode=strided", "zonesize"),
        ("--zonemode=zbd", "zone size is mandatory"),
    ] {
        fio(&format!("--name=a --ioengine=null --size=1m {words}"))
            .fails()
            .explains(&[told]);
    }
}

#[test]
fn appended_data_follow_what_was_there() {
    let test = "appended_data_follow_what_was_there";
    if !have_peer(test) {
        return;
    }
    let sizes = |tool| {
        let scratch = Scratch::new("targets");
        fs::write(scratch.path().join("f"), vec![7; 100_000]).expect("file");
        let words = "--name=a --filename=f --rw=write --bs=4k --size=64k --file_append=1";
        let run = fio(words).in_dir(scratch.path()).with(tool).run();
        assert_eq!(run.code, Some(0), "{run}");
        let bytes = fs::read(scratch.path().join("f")).expect("file");
        let kept = bytes.iter().take_while(|byte| **byte == 7).count();
        (bytes.len(), kept >= 99_000)
    };
    assert_eq!(sizes(Tool::Assay), sizes(Tool::Peer));
}

#[test]
fn every_file_below_a_directory_is_used() {
    let test = "every_file_below_a_directory_is_used";
    if !have_peer(test) {
        return;
    }
    let scratch = Scratch::new("targets");
    for (name, kib) in [("d/a", 64), ("d/b/c", 32), ("d/b/e/g", 16)] {
        let path = scratch.path().join(name);
        fs::create_dir_all(path.parent().expect("parent")).expect("directories");
        fs::write(path, vec![1; kib << 10]).expect("file");
    }
    let total = |tool| {
        let run = fio("--name=a --opendir=d --rw=read --bs=4k --output-format=json")
            .in_dir(scratch.path())
            .with(tool)
            .run();
        assert_eq!(run.code, Some(0), "{run}");
        // fio tells what it found ahead of the document.
        let at = run.stdout.find("{\n").expect("document");
        let found = documents(&run.stdout[at..]).expect("JSON");
        found[0]["jobs"][0]["read"]["io_bytes"].clone()
    };
    assert_eq!(total(Tool::Assay), 112 << 10);
    assert_eq!(total(Tool::Assay), total(Tool::Peer));
    fs::create_dir(scratch.path().join("none")).expect("directory");
    fio("--name=a --opendir=none --rw=read")
        .in_dir(scratch.path())
        .fails()
        .explains(&["opendir", "none"]);
}

/// Lines of these calls that name a file in `dir`, without descriptors.
fn calls(dir: &Path, traced: &str, words: &str, tool: Tool) -> Vec<String> {
    let trace = dir.join("trace");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-y", "-qq", "-e", traced, "-o"]);
    let inner = tool.command();
    strace
        .arg(&trace)
        .arg("--")
        .arg(inner.get_program())
        .args(inner.get_args());
    let run = fio(words).in_dir(dir).spawn_as(strace).wait();
    assert_eq!(run.code, Some(0), "{run}");
    let text = fs::read_to_string(&trace).expect("trace");
    let lines = text.lines().filter(|line| line.contains("/f>"));
    let call = |line: &str| {
        let (name, rest) = line.split_once('(')?;
        let name = name.split_whitespace().last()?.to_owned();
        Some(name + rest.split_once("/f>")?.1)
    };
    lines.filter_map(call).collect()
}

#[test]
fn the_kernel_is_told_the_same() {
    let test = "the_kernel_is_told_the_same";
    if !have_peer(test) {
        return;
    }
    if !have("strace") {
        return skip(test, "strace is not installed");
    }
    let mut findings = Vec::new();
    for (traced, words) in [
        ("trace=fadvise64", "--rw=read --fadvise_hint=sequential"),
        ("trace=fadvise64", "--rw=randread"),
        (
            "trace=fadvise64",
            "--rw=read --fadvise_hint=0 --invalidate=0",
        ),
        ("trace=fcntl", "--rw=write --write_hint=short"),
        ("trace=fcntl", "--rw=write --write_hint=extreme"),
    ] {
        let scratch = Scratch::new("targets");
        let dir = scratch.path();
        fs::write(dir.join("f"), vec![1; 64 << 10]).expect("file");
        let words = format!("--name=a --filename=f --bs=4k --size=64k --thread {words}");
        let only_hints = |mut all: Vec<String>| {
            all.retain(|line| line.contains("FADV_") || line.contains("RW_HINT"));
            all.sort();
            all.dedup();
            all
        };
        let fios = only_hints(calls(dir, traced, &words, Tool::Peer));
        let ours = only_hints(calls(dir, traced, &words, Tool::Assay));
        if fios != ours {
            findings.push(format!("`{words}`: fio {fios:?} here {ours:?}"));
        }
    }
    assert_none(&findings, test);
}

#[test]
fn one_call_flushes_the_file_system_at_the_end() {
    if !have("strace") {
        return skip(
            "one_call_flushes_the_file_system_at_the_end",
            "strace is not installed",
        );
    }
    let scratch = Scratch::new("targets");
    let words = "--name=a --filename=f --rw=write --size=64k --end_syncfs=1";
    let all = calls(scratch.path(), "trace=syncfs", words, Tool::Assay);
    assert_eq!(all.len(), 1, "{all:?}");
}

#[test]
fn locked_files_are_shared_in_turns() {
    let scratch = Scratch::new("targets");
    for lock in ["exclusive", "readwrite"] {
        for engine in ["psync", "io_uring --iodepth=8", "libaio --iodepth=4"] {
            let run = fio(&format!(
                "--name=a --filename=f --rw=randrw --bs=4k --size=512k --numjobs=3 \
                 --lockfile={lock} --ioengine={engine} --group_reporting --output-format=json"
            ))
            .in_dir(scratch.path())
            .ok();
            let job = run.job();
            let ios = |dir: &str| job[dir]["total_ios"].as_u64().expect("number");
            assert_eq!(ios("read") + ios("write"), 3 * 128, "{run}");
        }
    }
}

#[test]
fn atomic_writes_are_refused_where_nothing_can_make_them() {
    let scratch = Scratch::new("targets");
    let job = "--name=a --filename=f --rw=write --bs=4k --size=64k --atomic=1";
    fio(&format!("{job} --ioengine=psync"))
        .in_dir(scratch.path())
        .fails()
        .explains(&["atomic", "psync"]);
    let run = fio(&format!("{job} --ioengine=pvsync2"))
        .in_dir(scratch.path())
        .run();
    if run.code != Some(0) {
        run.explains(&["atomic", "f"]);
    }
}

#[test]
fn the_elevator_is_switched() {
    let test = "the_elevator_is_switched";
    let disk = match LoopDisk::new(16) {
        Ok(disk) => disk,
        Err(why) => return skip(test, &why),
    };
    let name = disk.device().file_name().expect("name").to_owned();
    let file = Path::new("/sys/block").join(name).join("queue/scheduler");
    let offered = fs::read_to_string(&file).expect("scheduler");
    let job = |word: &str| {
        fio("--name=a --rw=read --size=1m")
            .args([
                format!("--filename={}", disk.device().display()),
                format!("--ioscheduler={word}"),
            ])
            .run()
    };
    job("nonesuch").explains(&["ioscheduler", "nonesuch", "none"]);
    let Some(other) = offered
        .split_whitespace()
        .find(|word| !word.starts_with('['))
    else {
        return skip(test, "the kernel has one elevator only");
    };
    assert_eq!(job(other).code, Some(0));
    let now = fs::read_to_string(&file).expect("scheduler");
    assert!(now.contains(&format!("[{other}]")), "{now}");
}

#[test]
fn a_device_is_filled_to_its_end_without_an_error() {
    let test = "a_device_is_filled_to_its_end_without_an_error";
    let disk = match LoopDisk::new(8) {
        Ok(disk) => disk,
        Err(why) => return skip(test, &why),
    };
    for option in ["fill_device", "fill_fs"] {
        let run = fio(&format!("--name=a --rw=write --bs=64k --{option}=1"))
            .args([
                format!("--filename={}", disk.device().display()),
                "--output-format=json".into(),
            ])
            .ok();
        assert_eq!(run.job()["write"]["io_bytes"], 8 << 20, "{run}");
    }
}

#[test]
fn the_expected_type_of_a_file_is_checked() {
    let scratch = Scratch::new("targets");
    let job = "--name=a --filename=f --rw=write --bs=4k --size=64k";
    fio(&format!("{job} --filetype=file"))
        .in_dir(scratch.path())
        .ok();
    for kind in ["block", "char"] {
        fio(&format!("{job} --filetype={kind}"))
            .in_dir(scratch.path())
            .fails()
            .explains(&["f", "filetype"]);
    }
}
