//! Same seed, same offsets: both tools are traced and the kernel's word is compared.
//!
//! `psync` issues one pread64 or pwrite64 per I/O, so strace sees offset, length, direction and
//! file of every request without either tool's help.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::harness::command::{have, have_peer};
use crate::harness::{Scratch, Tool, assert_none, fio, skip};

/// Calls traced; layout uses others.
const CALLS: &str = "trace=pread64,pwrite64,fsync,fdatasync,sync_file_range";

/// What each file saw, in order: `R 4096 @ 8192`.
pub(super) type Issued = BTreeMap<String, Vec<String>>;

pub(super) fn issued(dir: &Path, words: &str, tool: Tool) -> Result<Issued, String> {
    let traces = Scratch::new("strace");
    let mut strace = Command::new("strace");
    strace
        .args(["-ff", "-y", "-qq", "-s0", "-e", CALLS, "-o"])
        .arg(traces.path().join("t"));
    let inner = tool.command();
    strace
        .arg("--")
        .arg(inner.get_program())
        .args(inner.get_args());
    let outcome = fio("--ioengine=psync")
        .args(words.split_whitespace())
        .in_dir(dir);
    let outcome = outcome.spawn_as(strace).wait();
    if outcome.code != Some(0) {
        return Err(outcome.to_string());
    }
    // One trace per thread; clones that share a file are told apart by what they did.
    let mut threads: Vec<Vec<(String, String)>> = Vec::new();
    for entry in fs::read_dir(traces.path()).expect("traces") {
        let text = fs::read_to_string(entry.expect("entry").path()).expect("trace");
        threads.push(text.lines().filter_map(|line| parse(dir, line)).collect());
    }
    threads.sort();
    let mut out = Issued::new();
    for (file, what) in threads.into_iter().flatten() {
        out.entry(file).or_default().push(what);
    }
    Ok(out)
}

/// `pread64(3</dir/a.0.0>, ""..., 4096, 8192) = 4096` becomes (`a.0.0`, `R 4096 @ 8192`).
fn parse(dir: &Path, line: &str) -> Option<(String, String)> {
    let (call, rest) = line.split_once('(')?;
    let path = rest.split_once('<')?.1.split_once('>')?.0;
    let file = Path::new(path).strip_prefix(dir).ok()?.to_str()?.to_owned();
    if call.ends_with("sync") {
        return Some((file, call.to_owned()));
    }
    if call == "sync_file_range" {
        let inside = rest.split_once(">, ")?.1.rsplit_once(") = ")?.0;
        return Some((file, format!("{call} {inside}")));
    }
    let inside = rest.rsplit_once(") = ")?.0;
    let mut words = inside.rsplit(", ");
    let (offset, length) = (words.next()?, words.next()?);
    let direction = if call == "pread64" { 'R' } else { 'W' };
    Some((file, format!("{direction} {length} @ {offset}")))
}

fn compare(dir: &Path, words: &str) -> Vec<String> {
    let trace = |tool| {
        // Files exist beforehand, so that neither tool's layout is in the trace.
        crate::harness::place::empty(dir);
        let prepare =
            fio("--ioengine=psync --create_only=1 --overwrite=1").args(words.split_whitespace());
        let prepared = prepare.in_dir(dir).with(Tool::Peer).run();
        assert_eq!(prepared.code, Some(0), "{prepared}");
        issued(dir, words, tool)
    };
    let want = trace(Tool::Peer).unwrap_or_else(|error| panic!("fio itself: {error}"));
    let have = match trace(Tool::Assay) {
        Ok(have) => have,
        Err(error) => return vec![error],
    };
    assert!(
        want.values().any(|list| list.len() > 4),
        "nothing was traced for `{words}`"
    );
    let mut out = Vec::new();
    for file in want
        .keys()
        .chain(have.keys().filter(|file| !want.contains_key(*file)))
    {
        let (a, b) = (want.get(file), have.get(file));
        let empty = Vec::new();
        let (a, b) = (a.unwrap_or(&empty), b.unwrap_or(&empty));
        if a == b {
            continue;
        }
        let at = a.iter().zip(b).take_while(|(x, y)| x == y).count();
        let show = |list: &[String]| {
            list.get(at..)
                .unwrap_or_default()
                .iter()
                .take(4)
                .cloned()
                .collect::<Vec<_>>()
        };
        out.push(format!(
            "{file}: {} and {} requests, different from number {at}: fio {:?} here {:?}",
            a.len(),
            b.len(),
            show(a),
            show(b)
        ));
    }
    out
}

pub(super) fn check(test: &str, table: &[&str]) {
    if !have_peer(test) {
        return;
    }
    if !have("strace") {
        return skip(test, "strace is not installed");
    }
    let scratch = Scratch::new("offsets");
    let mut findings = Vec::new();
    for words in table {
        let found = compare(scratch.path(), &format!("--name=a --size=1m {words}"));
        findings.extend(found.into_iter().map(|text| format!("`{words}`: {text}")));
    }
    assert_none(&findings, test);
}

#[test]
fn sequential_jobs() {
    check(
        "offsets of sequential jobs",
        &[
            "--rw=read",
            "--rw=write --bs=8k",
            "--rw=rw --rwmixread=30",
            "--rw=read --offset=64k --io_size=2m",
            "--rw=write:4k",
            "--rw=read:-8k --offset=512k --io_size=128k",
            "--rw=read --loops=2",
            "--rw=write --bs=3000",
            "--rw=write --fsync=16",
            "--rw=rw --fdatasync=8",
            "--rw=read --numjobs=3 --offset_increment=128k --filename=shared",
        ],
    );
}

#[test]
fn random_jobs() {
    check(
        "offsets of random jobs",
        &[
            "--rw=randread",
            "--rw=randwrite --bs=8k",
            "--rw=randrw",
            "--rw=randrw --rwmixread=75",
            "--rw=randrw --rwmixwrite=30 --bs=512",
            "--rw=randread --norandommap",
            "--rw=randread --randseed=42",
            "--rw=randread --randrepeat=1 --allrandrepeat=1",
            "--rw=randwrite --io_size=3m",
            "--rw=randread --loops=3",
            "--rw=randread --offset=100k",
            "--rw=randread --numjobs=4",
            "--rw=randread:4",
            "--rw=randrw --percentage_random=40",
            "--rw=randread --blockalign=16k",
            "--rw=randread --bs=3000",
            "--rw=randread --thread --numjobs=2",
            "--rw=randread --number_ios=50",
        ],
    );
}

#[test]
fn block_size_mixes() {
    check(
        "offsets of mixed block sizes",
        &[
            "--rw=randwrite --bsrange=4k-32k",
            "--rw=randwrite --bsrange=1k-9k --bs_unaligned",
            "--rw=randread --bssplit=4k/60:16k/30:64k/10",
            "--rw=randrw --bs=4k,16k",
            "--rw=randrw --bssplit=4k/50:8k/50,16k/50:32k/50",
            "--rw=rw --bsrange=4k-16k",
            "--rw=randread --bs=8k --norandommap --bsrange=4k-8k",
        ],
    );
}

#[test]
fn distributions_and_generators() {
    check(
        "offsets of distributions",
        &[
            "--rw=randread --random_distribution=zipf:1.2",
            "--rw=randread --random_distribution=pareto:0.3",
            "--rw=randread --random_distribution=normal:20",
            "--rw=randread --random_distribution=zoned:50/5:30/15:20/80",
            "--rw=randread --random_distribution=zoned_abs:60/256k:40/256k",
            "--rw=randread --random_generator=lfsr",
            "--rw=randread --random_generator=tausworthe64",
        ],
    );
}

#[test]
fn several_files() {
    check(
        "offsets in several files",
        &[
            "--rw=randread --nrfiles=4",
            "--rw=read --nrfiles=4",
            "--rw=randwrite --nrfiles=4 --file_service_type=sequential",
            "--rw=randread --nrfiles=4 --file_service_type=random",
            "--rw=randread --nrfiles=4 --file_service_type=roundrobin:8",
            "--rw=randrw --nrfiles=3 --filesize=200k --io_size=2m",
            "--rw=randread --filename=x:y:z",
            "--rw=randread --nrfiles=8 --openfiles=3",
        ],
    );
}

#[test]
fn several_jobs() {
    check(
        "offsets of several jobs",
        &[
            "--rw=randread --name=b --size=512k --rw=randwrite",
            "--rw=read --name=b --size=512k --rw=randread --stonewall",
            "--rw=randrw --numjobs=2 --group_reporting --name=c --size=256k --rw=randrw --randseed=7",
        ],
    );
}
