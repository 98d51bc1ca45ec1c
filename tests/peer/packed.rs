//! Compressed logs: what either tool stores, both tell alike.

use std::fs;

use crate::harness::command::have_peer;
use crate::harness::{Scratch, Tool, assert_none, fio};

#[test]
fn compressed_logs_are_read_across_programs() {
    let test = "compressed_logs_are_read_across_programs";
    if !have_peer(test) {
        return;
    }
    let mut findings = Vec::new();
    for more in [
        "--log_compression=16k",
        "--log_compression=64k --log_offset=1",
        "--log_compression=1k --log_prio=1 --prio=3 --log_compression_cpus=0",
        "--log_compression=64k --log_avg_msec=1",
    ] {
        let mut shapes = Vec::new();
        for writer in [Tool::Peer, Tool::Assay] {
            let scratch = Scratch::new("packed");
            let dir = scratch.path();
            let words = format!(
                "--name=a --ioengine=null --rw=randrw --bs=4k --size=4m --write_lat_log=x \
                 --log_store_compressed=1 {more}"
            );
            let run = fio(&words).in_dir(dir).with(writer).run();
            assert_eq!(run.code, Some(0), "{run}");
            let log = "x_clat.1.log.fz";
            if !dir.join(log).exists() {
                findings.push(format!("{more}: {writer:?} wrote no {log}"));
                continue;
            }
            let told = |tool| {
                let run = fio(&format!("--inflate-log={log}"))
                    .in_dir(dir)
                    .with(tool)
                    .run();
                (run.code, run.stdout)
            };
            let (theirs, ours) = (told(Tool::Peer), told(Tool::Assay));
            if theirs != ours || ours.1.is_empty() {
                findings.push(format!("{more}: the log of {writer:?} is told differently"));
            }
            let columns = |row: &str| row.splitn(3, ", ").nth(2).map(str::to_owned);
            shapes.push(ours.1.lines().filter_map(columns).collect::<Vec<_>>());
        }
        // Windows depend on the clock, requests do not.
        if !more.contains("avg") && shapes.len() == 2 && shapes[0] != shapes[1] {
            findings.push(format!("{more}: rows differ between the programs"));
        }
    }
    assert_none(&findings, test);
}

#[test]
fn compression_alone_leaves_readable_logs() {
    let scratch = Scratch::new("packed");
    let dir = scratch.path();
    fio("--name=a --ioengine=null --rw=read --bs=4k --size=1m --write_bw_log=x")
        .args(["--log_compression=4k"])
        .in_dir(dir)
        .ok();
    let rows = fs::read_to_string(dir.join("x_bw.1.log")).expect("log");
    assert_eq!(rows.lines().count(), 256);
    fs::write(dir.join("bad.log.fz"), "no log").expect("file");
    fio("--inflate-log=bad.log.fz")
        .in_dir(dir)
        .fails()
        .explains(&["bad.log.fz"]);
    fio("--name=a --ioengine=null --size=1m --write_lat_log=x --log_store_compressed=1")
        .args(["--log_window_value=both", "--log_avg_msec=1"])
        .in_dir(dir)
        .fails()
        .explains(&["log_window_value", "log_store_compressed"]);
}
