//! Refusals that need a file system or a device of their own.

use crate::harness::{LoopDisk, Mounted, assert_none, fio, place, skip};

/// A small file system, or a visible skip.
fn small_ext4(test: &str) -> Option<Mounted> {
    match Mounted::ext4(32) {
        Ok(mounted) => Some(mounted),
        Err(why) => {
            skip(test, &why);
            None
        }
    }
}

#[test]
fn a_full_disk_is_reported_and_other_files_survive() {
    let Some(mounted) = small_ext4("no space") else {
        return;
    };
    let precious = mounted.path().join("precious");
    std::fs::write(&precious, b"data".repeat(1000)).expect("room for this");
    let before = place::checksum(&precious);
    for words in [
        "--name=x --rw=write --size=256m",
        "--name=x --rw=write --size=256m --fallocate=none",
        "--name=x --rw=read --size=256m",
    ] {
        fio(words)
            .in_dir(mounted.path())
            .fails()
            .explains(&["space"]);
        assert_eq!(place::checksum(&precious), before);
        let _ = std::fs::remove_file(mounted.path().join("x.0.0"));
    }
}

#[test]
fn a_read_only_file_system_is_named() {
    let Some(mounted) = small_ext4("read-only file system") else {
        return;
    };
    std::fs::write(mounted.path().join("data"), vec![7; 65536]).expect("room for this");
    mounted.remount("ro");
    let outcome = fio("--name=x --filename=data --rw=write --size=64k")
        .in_dir(mounted.path())
        .fails();
    outcome.explains(&["data", "read-only"]);
    fio("--name=x --filename=data --rw=read --size=64k")
        .in_dir(mounted.path())
        .ok();
}

#[test]
fn impossible_alignment_says_what_the_device_wants() {
    let Some(mounted) = small_ext4("direct alignment") else {
        return;
    };
    let words = "--name=x --rw=write --size=64k --bs=1000 --direct=1";
    fio(words)
        .in_dir(mounted.path())
        .fails()
        .explains(&["1000", "512"]);
}

#[test]
fn a_mounted_device_is_not_written() {
    let Some(mounted) = small_ext4("mounted device") else {
        return;
    };
    let file = mounted.path().join("precious");
    std::fs::write(&file, b"data".repeat(1000)).expect("room for this");
    place::system("sync", &["-f", file.to_str().expect("UTF-8")]).expect("sync");
    let device = mounted.disk.device().to_str().expect("UTF-8").to_owned();
    let (_, written) = mounted.disk.traffic_bytes();
    for rw in ["write", "randwrite", "randtrim", "randrw"] {
        let words = format!("--name=x --filename={device} --size=1m --rw={rw}");
        fio(&words).fails().explains(&[&device, "mounted"]);
    }
    assert_eq!(
        mounted.disk.traffic_bytes().1,
        written,
        "the device was written to"
    );
    fio(&format!("--name=x --filename={device} --size=1m --rw=read")).ok();
}

#[test]
fn a_link_to_a_mounted_device_is_seen_through() {
    let Some(mounted) = small_ext4("link to a mounted device") else {
        return;
    };
    let scratch = crate::harness::Scratch::new("link");
    std::os::unix::fs::symlink(mounted.disk.device(), scratch.path().join("d")).expect("link");
    let words = "--name=x --filename=d --size=1m --rw=write";
    fio(words)
        .in_dir(scratch.path())
        .fails()
        .explains(&["mounted"]);
}

#[test]
fn a_mistyped_device_name_creates_no_file() {
    let path = "/dev/assay-no-such-device";
    let words = format!("--name=x --filename={path} --size=1m --rw=write");
    let outcome = fio(&words).run();
    let created = std::path::Path::new(path).exists();
    let _ = std::fs::remove_file(path);
    assert!(!created, "a regular file appeared under /dev: {outcome}");
    assert_ne!(outcome.code, Some(0), "{outcome}");
    outcome.explains(&[path]);
}

#[test]
fn a_job_larger_than_its_device_is_refused_or_cut() {
    let disk = match LoopDisk::new(16) {
        Ok(disk) => disk,
        Err(why) => return skip("device size", &why),
    };
    let device = disk.device().to_str().expect("UTF-8");
    let words = format!("--name=x --filename={device} --rw=read --bs=64k --output-format=json");
    let whole = fio(&words).ok().job();
    assert_eq!(
        whole["read"]["io_bytes"],
        16 << 20,
        "without a size the device's own counts"
    );
    let mut findings = Vec::new();
    let half = fio(&format!("{words} --size=50%")).ok().job();
    if half["read"]["io_bytes"] != 8 << 20 {
        findings.push(format!("size=50% read {}", half["read"]["io_bytes"]));
    }
    let tail = fio(&format!("{words} --offset=12m")).ok().job();
    if tail["read"]["io_bytes"] != 4 << 20 {
        findings.push(format!("offset=12m read {}", tail["read"]["io_bytes"]));
    }
    assert_none(&findings, "sizes from the device");
}
