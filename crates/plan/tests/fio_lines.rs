//! What fio says before it starts, and how it names its logs, against the plan.

mod support;

use plan::{Plan, Worker};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use support::{plan, words};
use units::{Ddir, Human};

const LINES: &[&str] = &[
    "--directory=$DIR --name=a --size=1m --numjobs=3",
    "--directory=$DIR --name=a --size=48m --nrfiles=3 --rw=write --bs=1m",
    "--directory=$DIR --name=a --size=1m --bs=4k,8k,16k --rw=randrw",
    "--directory=$DIR --name=a --size=1m --bsrange=1k-16k,2k-8k --rw=randwrite --ioengine=sync",
    "--directory=$DIR --name=a --size=1m --bssplit=512/10:64k/90 --ioengine=libaio --iodepth=7",
    "--directory=$DIR --name=a --size=64k --name=b --new_group --size=20m --stonewall",
    "--directory=$DIR --name=a --size=1m --bs_is_seq_rand=1 --bs=4k,64k --rw=randread",
    "--filename=$DIR/f --name=a --size=1m --numjobs=2 --rw=write --name=b --size=2m --rw=read",
    "--filename=$DIR/f --name=a --size=1m --rw=write --fallocate=none --name=b --size=1m --rw=rw",
    "--ioengine=null --name=a --size=1m --rw=trimwrite",
];

fn lines_of_fio(line: &str, dir: &Path) -> Option<String> {
    let out = Command::new("fio")
        .args(words(line, dir))
        .current_dir(dir)
        .output();
    let Ok(out) = out else {
        eprintln!("SKIP: fio is not installed");
        return None;
    };
    assert!(
        out.status.success(),
        "{line}: {}",
        String::from_utf8_lossy(&out.stderr)
    );
    Some(String::from_utf8(out.stdout).unwrap())
}

/// The line that announces a job, from what the plan says.
fn announcement(worker: &Worker) -> String {
    let size = |bytes| Human::bytes(4, 1024).show(bytes);
    let range = |d: Ddir| {
        let (min, max) = worker.display.block[d];
        format!("{}-{}", size(min), size(max))
    };
    let display = &worker.display;
    let mut blocks = format!("bs=(R) {}, (W) {}", range(Ddir::Read), range(Ddir::Write));
    blocks += &match display.seq_rand {
        true => ", bs_is_seq_rand".to_owned(),
        false => format!(", (T) {}", range(Ddir::Trim)),
    };
    format!(
        "{}: (g={}): rw={}, {blocks}, ioengine={}, iodepth={}",
        worker.name, worker.group, display.rw, display.engine, display.iodepth
    )
}

fn said_by(plan: &Plan) -> (Vec<String>, Vec<String>) {
    let first = plan.workers.iter().filter(|worker| worker.clone == 0);
    let headlines = plan.layouts.iter().filter_map(|layout| layout.headline());
    (first.map(announcement).collect(), headlines.collect())
}

#[test]
fn announcements_and_layouts_read_the_same() {
    for line in LINES {
        let (ours, theirs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let Some(text) = lines_of_fio(line, theirs.path()) else {
            return;
        };
        let plan = plan(line, ours.path()).unwrap_or_else(|e| panic!("{line}: {e}"));
        let with = |part| {
            text.lines()
                .filter(|l| l.contains(part))
                .map(str::to_owned)
                .collect()
        };
        let theirs: (Vec<String>, Vec<String>) = (with(": (g="), with("Laying out"));
        // The report repeats "name: (groupid=", not "(g=".
        assert_eq!(said_by(&plan), theirs, "{line}");
    }
}

#[test]
fn logs_have_the_same_names() {
    for more in [
        "--write_bw_log=$DIR/p --write_iops_log=$DIR/q --write_lat_log=$DIR/r --numjobs=2",
        "--write_bw_log=$DIR/p --per_job_logs=0 --numjobs=2",
        "--write_lat_log=$DIR/r --disable_slat=1 --disable_lat=1",
    ] {
        let line = format!("--ioengine=null --size=64k --name=first --name=a {more}");
        let (ours, theirs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        if lines_of_fio(&line, theirs.path()).is_none() {
            return;
        }
        let plan = plan(&line, ours.path()).unwrap();
        let logs = plan.workers.iter().map(|worker| &worker.logs);
        let ours: BTreeSet<String> = logs
            .flat_map(|l| [&l.bw, &l.iops, &l.lat, &l.slat, &l.clat])
            .flatten()
            .map(|path| {
                path.strip_prefix(ours.path())
                    .unwrap()
                    .display()
                    .to_string()
            })
            .collect();
        let theirs: BTreeSet<String> = std::fs::read_dir(theirs.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        assert_eq!(ours, theirs, "{line}");
    }
}
