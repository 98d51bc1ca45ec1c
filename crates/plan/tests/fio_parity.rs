//! Plans against the installed fio: names and sizes of the files laid out, groups, and the bytes
//! and requests of every job in each direction.

mod support;

use plan::{Plan, layout};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use support::{plan, words};
use units::{Ddir, PerDdir};
use workload::Batch;

/// Command lines whose jobs end by themselves.
const LINES: &[&str] = &[
    "--directory=$DIR --name=a --size=1m",
    "--directory=$DIR --name=a --size=1m --rw=write --numjobs=3",
    "--directory=$DIR --name=a --size=1m --rw=randrw --nrfiles=3 --bs=8k --randrepeat=1",
    "--directory=$DIR --name=a --size=1000001 --nrfiles=7 --bs=4k --rw=read",
    "--directory=$DIR --name=a --size=100k --nrfiles=3 --bs=2k --rw=write",
    "--directory=$DIR --name=a --filesize=64k-256k --nrfiles=5 --rw=read",
    "--directory=$DIR --name=a --filesize=64k-256k --nrfiles=5 --rw=read --numjobs=3 --randseed=7",
    "--directory=$DIR --name=a --filesize=128k --nrfiles=4 --size=300k --rw=write",
    "--directory=$DIR --name=a --filesize=64k --size=1m --rw=randread",
    "--filename=$DIR/one:$DIR/two --name=a --size=1m --rw=rw",
    "--filename=$DIR/shared --name=a --size=512k --numjobs=4 --rw=randread",
    "--filename=$DIR/shared --name=a --size=64k --offset_increment=64k --numjobs=4 --rw=write",
    "--filename=$DIR/f --name=lay --size=1m --rw=write --name=b --stonewall --rw=read --offset=25%",
    "--filename=$DIR/f --name=a --size=1m --name=b --stonewall --size=50% --rw=read",
    "--filename=$DIR/f --name=a --size=1m --name=b --stonewall --size=33% --bs=8k --rw=read",
    "--filename=$DIR/f --name=a --size=1m --name=b --stonewall --size=30% --offset=90% --rw=read",
    "--filename=$DIR/f --name=a --size=1m --name=b --stonewall --offset=10% \
     --offset_increment=20% --numjobs=3 --size=64k --rw=read",
    "--filename=$DIR/f --name=a --size=1m --name=b --stonewall --offset=3% --offset_align=512 \
     --size=64k --rw=read",
    "--directory=$DIR --name=a --size=1m --io_size=256k --rw=randwrite",
    "--directory=$DIR --name=a --size=256k --io_size=1m --rw=write",
    "--directory=$DIR --name=a --size=1m --io_size=25% --rw=write",
    "--directory=$DIR --name=a --size=1m --loops=3 --rw=read",
    "--directory=$DIR --name=a --size=1m --number_ios=17 --rw=read",
    "--directory=$DIR --name=a --size=1m --bs=4k,16k --rw=write",
    "--directory=$DIR --name=a --size=1m --bsrange=1k-16k --rw=randwrite",
    "--directory=$DIR --name=a --size=1m --bssplit=4k/50:16k/50 --rw=read",
    "--directory=$DIR --name=a --size=1m --rw=write --fallocate=none",
    "--directory=$DIR --name=a --size=1m --rw=write --fallocate=truncate",
    "--directory=$DIR --name=a --size=1m --rw=write --fallocate=keep",
    "--directory=$DIR --name=a --size=1m --rw=write --overwrite=1",
    "--directory=$DIR --name=a --size=1m --rw=randwrite --ba=8k --bs=4k",
    "--directory=$DIR --filename_format=$jobname-$filenum-$jobnum --nrfiles=2 --name=a --size=64k",
    "--directory=$DIR --filename_format=d/$jobnum/$filenum --nrfiles=2 --numjobs=2 --name=a \
     --size=64k",
    "--directory=$DIR --name=a --size=64k --new_group --name=b --size=64k --name=c --size=64k \
     --new_group --numjobs=2",
    "--directory=$DIR --name=a --size=64k --stonewall --name=b --size=64k --stonewall --name=c \
     --size=64k",
    "--name=lay --filename=$DIR/x --size=1m --rw=write --name=b --stonewall \
     --filename=$DIR/x:$DIR/y --rw=write",
    "--ioengine=null --name=a --size=1m --rw=randread --numjobs=2",
    "--ioengine=null --name=a --size=1m --nrfiles=3 --rw=randwrite --bs=8k",
    "--ioengine=null --name=a --size=1m --rw=rw --rwmixread=30",
    "--ioengine=null --name=a --filesize=128k --nrfiles=4 --rw=read",
    "--directory=$DIR --ioengine=mmap --name=a --size=256k --rw=write",
    "--directory=$DIR --ioengine=libaio --iodepth=8 --direct=1 --name=a --size=1m --rw=randread",
];

fn fio_is_here() -> bool {
    let here = Command::new("fio").arg("--version").output().is_ok();
    if !here {
        eprintln!("SKIP: fio is not installed");
    }
    here
}

fn fio(line: &str, dir: &Path, more: &[&str]) -> serde_json::Value {
    let out = Command::new("fio")
        .args(words(line, dir))
        .args(["--output-format=json", "--eta=never"])
        .args(more)
        .current_dir(dir)
        .output()
        .unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(
        out.status.success(),
        "{line}: {text} {}",
        String::from_utf8_lossy(&out.stderr)
    );
    // Notes stand before the document.
    let json = &text[text
        .find("\n{")
        .map_or_else(|| text.find('{').unwrap(), |at| at + 1)..];
    serde_json::from_str(json).unwrap_or_else(|e| panic!("{line}: {e}: {text}"))
}

fn tree(dir: &Path) -> BTreeMap<String, u64> {
    let mut files = BTreeMap::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(at) = dirs.pop() {
        for entry in std::fs::read_dir(at).unwrap().map(Result::unwrap) {
            let meta = entry.metadata().unwrap();
            if meta.is_dir() {
                dirs.push(entry.path());
            } else {
                let name = entry
                    .path()
                    .strip_prefix(dir)
                    .unwrap()
                    .display()
                    .to_string();
                files.insert(name, meta.len());
            }
        }
    }
    files
}

fn make(plan: &Plan) {
    layout::make(&plan.layouts, &AtomicBool::new(false), &mut |_| ()).unwrap();
}

#[test]
fn the_same_files_are_laid_out() {
    if !fio_is_here() {
        return;
    }
    for line in LINES {
        let (ours, theirs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        make(&plan(line, ours.path()).unwrap_or_else(|e| panic!("{line}: {e}")));
        fio(line, theirs.path(), &["--create_only=1"]);
        // create_only on the command line holds for the last job only.
        if line.contains("--stonewall") || line.contains("--new_group") {
            continue;
        }
        assert_eq!(tree(ours.path()), tree(theirs.path()), "{line}");
    }
}

/// Bytes and requests of one worker if nobody stops it.
fn totals(requests: &workload::Spec) -> (PerDdir<u64>, PerDdir<u64>) {
    let mut fill = workload::generator(requests).unwrap();
    let mut batch = Batch::default();
    let (mut bytes, mut ios) = (PerDdir::splat(0), PerDdir::splat(0));
    let mut first = true;
    while fill.more() {
        if !first {
            fill.restart();
        }
        first = false;
        loop {
            batch.clear();
            fill.fill(&mut batch, 64);
            if batch.n == 0 {
                break;
            }
            for i in 0..batch.n {
                let ddir = batch.ddir[i];
                if ddir.is_data() {
                    bytes[ddir] += u64::from(batch.len[i]);
                    ios[ddir] += 1;
                }
            }
        }
    }
    (bytes, ios)
}

#[test]
fn jobs_move_the_same_bytes_in_the_same_groups() {
    if !fio_is_here() {
        return;
    }
    for line in LINES {
        let (ours, theirs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let plan = plan(line, ours.path()).unwrap_or_else(|e| panic!("{line}: {e}"));
        let document = fio(line, theirs.path(), &[]);
        let jobs = document["jobs"].as_array().unwrap();
        assert_eq!(plan.workers.len(), jobs.len(), "{line}");
        for (worker, job) in plan.workers.iter().zip(jobs) {
            let place = format!("{line}: worker {}", worker.number);
            assert_eq!(worker.name, job["jobname"], "{place}");
            assert_eq!(worker.group, job["groupid"], "{place}");
            let (bytes, ios) = totals(&worker.requests);
            for ddir in Ddir::DATA {
                let theirs = &job[ddir.name()];
                assert_eq!(
                    bytes[ddir],
                    theirs["io_bytes"],
                    "{place} {} bytes",
                    ddir.name()
                );
                assert_eq!(
                    ios[ddir],
                    theirs["total_ios"],
                    "{place} {} requests",
                    ddir.name()
                );
            }
        }
    }
}
