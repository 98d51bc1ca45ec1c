//! Logs of every request: many entries cost no memory.

use crate::harness::{Scratch, fio};
use std::os::unix::fs::symlink;

/// Requests, each of which has a row in four logs.
const REQUESTS: u64 = 5_000_000;
/// More than the tool takes with a log of few entries, far less than the entries would take.
const MOST_KIB: u64 = 64 << 10;

/// The most memory that a process has had so far, KiB; `None` when it is gone.
fn peak_kib(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[test]
fn twenty_million_log_entries_leave_memory_flat() {
    let scratch = Scratch::new("many-entries");
    for log in ["lat", "clat", "bw", "iops"] {
        let name = scratch.path().join(format!("l_{log}.1.log"));
        symlink("/dev/null", name).expect("a link");
    }
    let logs = "--write_lat_log=l --write_bw_log=l --write_iops_log=l --disable_slat=1";
    let running = fio("--name=a --ioengine=null --rw=randread --norandommap --size=64g")
        .args(logs.split_whitespace())
        .args([
            format!("--number_ios={REQUESTS}"),
            "--output-format=json".to_owned(),
        ])
        .in_dir(scratch.path())
        .spawn();
    let pid = running.pid();
    let watcher = std::thread::spawn(move || {
        let mut peak = 0;
        while let Some(kib) = peak_kib(pid) {
            peak = kib;
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        peak
    });
    let outcome = running.wait().expect_ok();
    assert_eq!(outcome.job()["read"]["total_ios"], REQUESTS);
    let peak = watcher.join().expect("no panic");
    assert!((1..MOST_KIB).contains(&peak), "{peak} KiB");
}
