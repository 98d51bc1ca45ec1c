//! Log files and recorded patterns: same files, same rows but for what a clock decides.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::harness::command::have_peer;
use crate::harness::{Scratch, Tool, assert_none, fio};

/// Log files of a run by name.
type Logs = BTreeMap<String, String>;

fn logs(words: &str, tool: Tool) -> Logs {
    let scratch = Scratch::new("logs");
    let outcome = fio(words)
        .args(["--output=out"])
        .in_dir(scratch.path())
        .with(tool)
        .run();
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let read = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().expect("ASCII names");
        name.contains("log")
            .then(|| (name, fs::read_to_string(entry.path()).expect("log")))
    };
    let entries = fs::read_dir(scratch.path()).expect("scratch");
    entries
        .filter_map(|entry| read(entry.expect("entry")))
        .collect()
}

/// Times never go back, whoever wrote the log. Clones that share a file start over.
fn assert_monotonic(name: &str, text: &str, separator: char) {
    let times = text
        .lines()
        .filter_map(|row| row.split(separator).next()?.parse::<u64>().ok());
    assert!(times.is_sorted(), "{name} goes back in time:\n{text}");
}

/// Compares each file's rows without the columns `time, value`.
fn compare(words: &str) -> Vec<String> {
    let words = format!("--name=a --ioengine=null --bs=4k {words}");
    let (want, have) = (logs(&words, Tool::Peer), logs(&words, Tool::Assay));
    assert!(!want.is_empty(), "fio wrote no log for `{words}`");
    if !want.keys().eq(have.keys()) {
        return vec![format!(
            "{words}: fio {:?}, here {:?}",
            want.keys(),
            have.keys()
        )];
    }
    let mut out = Vec::new();
    for (name, theirs) in &want {
        let ours = &have[name];
        let fixed = |text: &str| -> Vec<String> {
            let columns = |row: &str| row.splitn(3, ", ").nth(2).map(str::to_owned);
            text.lines().filter_map(columns).collect()
        };
        let (a, b) = (fixed(theirs), fixed(ours));
        if a != b {
            let at = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
            out.push(format!(
                "{words}: {name}: {} and {} rows, row {at}: fio {:?} here {:?}",
                a.len(),
                b.len(),
                a.get(at),
                b.get(at)
            ));
        }
    }
    out
}

#[test]
fn rows_of_every_request_equal_fios() {
    if !have_peer("rows_of_every_request_equal_fios") {
        return;
    }
    let all = "--write_lat_log=x --write_bw_log=x --write_iops_log=x";
    let table = [
        format!("--rw=read --size=1m {all}"),
        format!("--rw=randrw --size=1m --log_offset=1 --log_prio=1 --prioclass=1 --prio=3 {all}"),
        format!("--rw=randrw --size=64k --prioclass=1 {all}"),
        format!(
            "--rw=randtrimwrite --size=512k --numjobs=2 --bssplit=4k/50:8k/50 --log_offset=1 {all}"
        ),
        format!("--rw=read --size=128k --numjobs=2 --per_job_logs=0 {all}"),
        format!("--rw=read --size=64k --disable_slat=1 --disable_clat=1 {all}"),
        format!("--rw=read --size=64k --gtod_reduce=1 {all}"),
        "--rw=read --size=64k --log_entries=2048 --write_bw_log".to_owned(),
        "--rw=read --size=64k --write_hist_log=h --log_hist_msec=10000".to_owned(),
    ];
    let findings: Vec<String> = table.iter().flat_map(|words| compare(words)).collect();
    assert_none(&findings, "log rows");
}

/// Stalls put the requests into known windows, so that the number of rows is known as well.
#[test]
fn rows_of_windows_equal_fios() {
    if !have_peer("rows_of_windows_equal_fios") {
        return;
    }
    let stall = "--rw=read --size=160k --thinktime=330ms --thinktime_blocks=8 --log_avg_msec=50";
    let findings: Vec<String> = ["", "--log_max_value=1", "--log_offset=1 --log_prio=1"]
        .iter()
        .flat_map(|more| compare(&format!("{stall} --write_lat_log=x {more}")))
        .collect();
    assert_none(&findings, "windowed rows");
}

#[test]
fn histogram_rows_have_a_column_per_bin() {
    let words = "--name=a --ioengine=null --rw=read --size=160k --thinktime=110ms \
                 --thinktime_blocks=8 --write_hist_log=h --log_hist_msec=50";
    for (coarseness, columns) in [(0, 1859), (3, 235), (6, 32)] {
        let words = format!("{words} --log_hist_coarseness={coarseness}");
        for (name, text) in logs(&words, Tool::Assay) {
            assert_eq!(name, "h_clat_hist.1.log");
            assert!(text.lines().count() >= 4, "{text}");
            assert!(text.lines().all(|row| row.split(", ").count() == columns));
            assert_monotonic(&name, &text, ',');
        }
    }
}

/// What a recorded pattern asks of its files, without the times.
fn requests(text: &str) -> Vec<String> {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("fio version 3 iolog"));
    assert_monotonic("the pattern", text, ' ');
    lines
        .filter_map(|line| Some(line.split_once(' ')?.1.to_owned()))
        .collect()
}

#[test]
fn recorded_patterns_equal_fios_and_replay() {
    if !have_peer("recorded_patterns_equal_fios_and_replay") {
        return;
    }
    let table = [
        "--rw=read --size=256k",
        "--rw=randread --size=4m",
        "--rw=randrw --rwmixread=70 --size=2m",
        "--rw=randwrite --size=2m --bssplit=4k/60:16k/40",
        "--rw=randread --size=2m --random_distribution=zipf:1.2",
        "--rw=randread --size=2m --random_generator=lfsr",
        "--rw=randread --size=2m --norandommap --randseed=42",
        "--rw=randread --size=256k --loops=3",
        "--rw=randread --size=4m --number_ios=37",
    ];
    let mut findings = Vec::new();
    for words in table {
        let words = format!("--name=a --ioengine=null --bs=4k {words} --write_iolog=x.iolog");
        let (want, have) = (logs(&words, Tool::Peer), logs(&words, Tool::Assay));
        let (want, have) = (requests(&want["x.iolog"]), requests(&have["x.iolog"]));
        if want != have {
            let at = want.iter().zip(&have).take_while(|(x, y)| x == y).count();
            findings.push(format!(
                "{words}: line {at}: fio {:?} here {:?}",
                want.get(at),
                have.get(at)
            ));
        }
    }
    assert_none(&findings, "recorded patterns");
    replay("--rw=randrw --size=1m --nrfiles=2 --ioengine=psync");
}

/// fio replays what was recorded here, request for request.
fn replay(words: &str) {
    let scratch = Scratch::new("replay");
    let record = fio("--name=a --bs=4k --write_iolog=x.iolog").args(words.split_whitespace());
    assert_eq!(record.in_dir(scratch.path()).run().code, Some(0));
    let asked = count(scratch.path());
    let words = "--name=r --read_iolog=x.iolog --replay_no_stall=1 --output-format=json";
    let outcome = fio(words).in_dir(scratch.path()).with(Tool::Peer).run();
    let job = &outcome.json()["jobs"][0];
    let total = |ddir: &str| job[ddir]["total_ios"].as_u64().expect("a count");
    assert_eq!(total("read") + total("write"), asked, "{outcome}");
}

fn count(dir: &Path) -> u64 {
    let text = fs::read_to_string(dir.join("x.iolog")).expect("pattern");
    let lines = requests(&text);
    lines
        .iter()
        .filter(|line| line.contains(" read ") || line.contains(" write "))
        .count() as u64
}

#[test]
fn a_log_that_cannot_be_written_fails_the_job_by_name() {
    fio("--name=x --ioengine=null --size=64k --write_bw_log=/nowhere/x")
        .fails()
        .explains(&["/nowhere/x_bw.1.log"]);
}
