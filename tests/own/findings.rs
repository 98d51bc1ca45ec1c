//! Findings on real files and devices: each run has exactly its own, and a clean run none.

use crate::harness::{LoopDisk, Mounted, Outcome, fio, skip};
use std::path::Path;

pub(super) fn ids(outcome: &Outcome) -> Vec<String> {
    let list = outcome.json()["assay"]["findings"].clone();
    let list = list
        .as_array()
        .unwrap_or_else(|| panic!("no findings in {outcome}"))
        .clone();
    list.iter()
        .map(|one| one["id"].as_str().expect("an id").to_owned())
        .collect()
}

/// The findings of a run that lasts a moment, but for that it was short, and for a tail or a
/// stall, which a busy machine gives anyhow.
pub(super) fn own(outcome: &Outcome) -> Vec<String> {
    let all = ids(outcome);
    let chance = ["short-run", "long-tail", "stall"];
    all.into_iter()
        .filter(|id| !chance.contains(&id.as_str()))
        .collect()
}

fn ext4(test: &str) -> Option<Mounted> {
    // Without the thread that goes on making the file system after it has been mounted.
    let mounted = LoopDisk::new(96).and_then(|disk| disk.mounted("ext4", "noinit_itable"));
    mounted.map_err(|why| skip(test, &why)).ok()
}

/// A run on a file system that has nothing left to write.
pub(super) fn run(dir: &Path, words: &str) -> Outcome {
    let path = dir.to_str().expect("UTF-8");
    crate::harness::place::system("sync", &["-f", path]).expect("sync");
    fio(&format!(
        "--name=x --filename=f --bs=4k {words} --output-format=json"
    ))
    .in_dir(dir)
    .ok()
}

/// A file of 32 MiB with data in every block, on its device.
pub(super) fn filled(mounted: &Mounted) {
    std::fs::write(mounted.path().join("f"), vec![7; 32 << 20]).expect("room for it");
}

#[test]
fn clean_runs_have_none() {
    let Some(mounted) = ext4("clean run") else {
        return;
    };
    filled(&mounted);
    let words = "--size=32m --direct=1 --ioengine=libaio --iodepth=8";
    for rw in ["randread", "randwrite", "read", "randrw"] {
        let outcome = run(mounted.path(), &format!("{words} --rw={rw}"));
        assert_eq!(own(&outcome), [""; 0], "{rw}: {outcome}");
        let io = &outcome.json()["assay"]["device_io"];
        let issued = |way: &str| io[way]["issued_bytes"].as_u64();
        assert_eq!(
            issued("read").zip(issued("write")).map(|(r, w)| r + w),
            Some(32 << 20)
        );
    }
}

#[test]
fn a_run_of_some_length_has_none_at_all() {
    let Some(mounted) = ext4("clean run of some length") else {
        return;
    };
    filled(&mounted);
    let words = "--size=32m --direct=1 --ioengine=libaio --iodepth=4 --time_based --runtime=1200ms";
    for rw in ["randread", "randwrite"] {
        let outcome = run(mounted.path(), &format!("{words} --rw={rw}"));
        // A busy machine gives tails; nothing else is left to chance.
        let told: Vec<String> = ids(&outcome)
            .into_iter()
            .filter(|id| id != "long-tail" && id != "stall")
            .collect();
        assert_eq!(told, [""; 0], "{rw}: {outcome}");
    }
}

#[test]
fn others_on_the_device_are_told_when_they_matter() {
    let Some(mounted) = ext4("others on the device") else {
        return;
    };
    filled(&mounted);
    // Something to write over: what a file system does for a new file is not meant here.
    std::fs::write(mounted.path().join("o"), vec![7; 32 << 20]).expect("room for it");
    let path = mounted.path().to_str().expect("UTF-8");
    crate::harness::place::system("sync", &["-f", path]).expect("sync");
    let beside = |other: &str| {
        let words = "--name=x --filename=f --size=32m --direct=1 --rw=read --bs=64k --time_based \
                     --runtime=1500ms --output-format=json";
        let mine = fio(words).in_dir(mounted.path()).spawn();
        let words = format!("--name=o --filename=o --rw=write --bs=64k --direct=1 {other}");
        fio(&words).in_dir(mounted.path()).ok();
        mine.wait().expect_ok()
    };
    // More than the journal of a quiet system, and next to nothing beside the run.
    let quiet = beside("--size=4352k");
    assert_eq!(own(&quiet), [""; 0], "{quiet}");
    let disturbed = beside("--size=32m --time_based --runtime=700ms");
    assert_eq!(own(&disturbed), ["foreign-io"], "{disturbed}");
}

#[test]
fn holes_and_the_page_cache_are_told_apart() {
    let Some(mounted) = ext4("holes") else { return };
    // Half of the file is a hole.
    let path = mounted.path().join("f");
    std::fs::write(&path, vec![7; 16 << 20]).expect("room for it");
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .expect("own file");
    file.set_len(32 << 20).expect("a hole");
    file.sync_all().expect("flushed");
    let outcome = run(mounted.path(), "--size=32m --direct=1 --rw=randread");
    assert_eq!(own(&outcome), ["holes-read"], "{outcome}");
    let evidence = &outcome.json()["assay"]["findings"][0]["evidence"];
    let missing = evidence["missing_percent"].as_f64().expect("a number");
    assert!((45.0..55.0).contains(&missing), "{evidence}");
    filled(&mounted);
    std::fs::read(&path).expect("into the cache");
    let outcome = run(mounted.path(), "--size=32m --rw=randread --invalidate=0");
    assert_eq!(own(&outcome), ["page-cache-read"], "{outcome}");
}

#[test]
fn depth_zeroes_memory_and_buffered_writes() {
    let Some(mounted) = ext4("depth") else { return };
    filled(&mounted);
    let words = "--size=32m --direct=1 --rw=randread --ioengine=psync --iodepth=8";
    assert_eq!(own(&run(mounted.path(), words)), ["depth-without-queue"]);
    let words = "--size=32m --direct=1 --rw=write --zero_buffers";
    assert_eq!(own(&run(mounted.path(), words)), ["zero-data"]);
    let words = "--size=32m --rw=write";
    assert_eq!(own(&run(mounted.path(), words)), ["page-cache-write"]);
    let words = "--size=32m --direct=1 --rw=randrw --rwmixread=66.66";
    match fio(&format!("--name=x --filename=f --bs=4k {words}"))
        .in_dir(mounted.path())
        .run()
    {
        refused if refused.code == Some(1) => {
            refused.explains(&["rwmixread"]);
        }
        _ => assert_eq!(own(&run(mounted.path(), words)), ["mix-not-whole"]),
    }
    if Path::new("/dev/shm").is_dir() {
        let name = format!("assay-e2e-{}", std::process::id());
        let words = format!("--name=x --filename=/dev/shm/{name} --size=8m --rw=randread --bs=4k");
        let outcome = fio(&words).arg("--output-format=json").run();
        let _ = std::fs::remove_file(Path::new("/dev/shm").join(name));
        match outcome.code {
            Some(0) => assert_eq!(own(&outcome), ["target-in-memory"], "{outcome}"),
            _ => skip("target in memory", "/dev/shm cannot be written"),
        }
    }
}

#[test]
fn the_layout_is_told_beside_the_figures() {
    let Some(mounted) = ext4("layout") else {
        return;
    };
    let words = "--size=8m --direct=1 --rw=read --bs=64k";
    let first = run(mounted.path(), words).json()["assay"]["layout"].clone();
    let one = first[0].as_object().expect("a layout");
    assert_eq!((&one["job"], &one["files"]), (&"x".into(), &1.into()));
    assert_eq!(one["size_bytes"], 8 << 20);
    assert_eq!(one["written_bytes"], 8 << 20);
    assert!(one["duration_ms"].is_u64(), "{first}");
    // The file is there now.
    let second = run(mounted.path(), words).json();
    assert!(second["assay"]["layout"].is_null(), "{second}");
}

#[test]
fn a_worker_without_a_device_is_bound_by_its_cpu() {
    let words = "--name=x --ioengine=null --size=100g --bs=4k --time_based --runtime=1 --rw=read";
    let outcome = fio(words).arg("--output-format=json").ok();
    // On a machine that others use, a worker may not get all of a CPU.
    let expected = ["cpu-bound"];
    let told = own(&outcome);
    assert!(told == expected || told.is_empty(), "{outcome}");
}

#[test]
fn people_see_them_after_fios_own_lines_when_they_ask() {
    let disk = match LoopDisk::new(16) {
        Ok(disk) => disk,
        Err(why) => return skip("findings as text", &why),
    };
    let device = disk.device().to_str().expect("UTF-8");
    let words = format!("--name=x --filename={device} --rw=write --bs=64k --iodepth=4 --size=1m");
    let silent = fio(&words).ok();
    assert!(!silent.stdout.contains("Findings:"), "{silent}");
    let told = fio(&words).arg("--findings").ok();
    let (report, findings) = told.stdout.split_once("\nFindings:\n").expect("findings");
    assert!(report.contains("Disk stats (read/write):"), "{told}");
    assert!(findings.contains("[depth-without-queue]"), "{told}");
}
