//! A book over a clock that stands still.

use super::super::pen::Seat;
use super::*;
use std::path::PathBuf;
use std::sync::mpsc::sync_channel;
use sys::clock::Step;

/// Time stands still but for `advance`.
const CLOCK_STEP_NS: u64 = 0;

/// A book, and what its writer would receive.
fn book(logs: &Logs, ramps: bool) -> (Book, Receiver<Message>) {
    let (out, inbox) = sync_channel(64);
    let (pen, _home) = Pen::new((0, Seat::Worker), out.clone(), 2, 256);
    let (spare, bins) = sync_channel(4);
    for _ in 0..4 {
        spare.send(super::super::window::no_bins()).unwrap();
    }
    let each = logs.window_ns == 0;
    let rated = (each && logs.bw.is_some(), each && logs.iops.is_some());
    let wanted = Wanted {
        logs,
        stamped: true,
        rated,
        files: 2,
        ramps,
    };
    (
        Book::new(&wanted, (0, out), pen, bins, Arc::default()),
        inbox,
    )
}

fn every_log() -> Logs {
    let path = |name: &str| Some(PathBuf::from(name));
    Logs {
        bw: path("bw"),
        iops: path("iops"),
        lat: path("lat"),
        slat: path("slat"),
        clat: path("clat"),
        log_mean: true,
        ..Logs::default()
    }
}

fn read(start: u64, issue: u64, end: u64) -> Done {
    let io = Io::new(0, 1, Ddir::Read, 8192, 4096);
    Done {
        io,
        start,
        issue,
        end,
    }
}

fn records(inbox: &Receiver<Message>) -> Vec<Record> {
    let chunks = inbox.try_iter().filter_map(|message| match message {
        Message::Chunk(_, _, records) => Some(records),
        _ => None,
    });
    chunks.flatten().collect()
}

#[test]
fn each_request_is_one_record_and_one_sample() {
    let clock = Step::new(CLOCK_STEP_NS);
    let (mut book, inbox) = book(&every_log(), false);
    let live = Live::default();
    book.begin(1000);
    let done = read(2000, 2500, 1_000_000 + 1000);
    book.issued(&done.io, done.start, done.issue, &live, clock);
    book.done(&done, &live, clock);
    let sampled = book.finish(&live, clock);
    let want = Record {
        offset: 8192,
        len: 4096,
        ..Record::default()
    };
    assert_eq!(
        records(&inbox),
        [
            Record {
                kind: Kind::Issued,
                time_ns: 1500,
                a: 500,
                ..want
            },
            Record {
                kind: Kind::Done,
                time_ns: MS,
                a: 998_500,
                b: 999_000,
                ..want
            },
        ]
    );
    assert_eq!(sampled.bw[Ddir::Read].max, rate_of(4096, 998_500));
    assert_eq!(
        (sampled.iops[Ddir::Read].n, sampled.iops[Ddir::Read].max),
        (1, 1)
    );
}

#[test]
fn the_warm_up_is_in_no_log_and_ends_at_time_zero() {
    let clock = Step::new(CLOCK_STEP_NS);
    let (mut book, inbox) = book(&every_log(), true);
    let live = Live::default();
    live.enter(Phase::Ramp);
    book.begin(0);
    book.done(&read(10, 10, 20), &live, clock);
    live.enter(Phase::Running);
    book.done(&read(30, 30, 5 * MS), &live, clock);
    book.done(&read(40, 40, 6 * MS), &live, clock);
    book.finish(&live, clock);
    let times: Vec<u64> = records(&inbox)
        .iter()
        .map(|record| record.time_ns)
        .collect();
    assert_eq!(times, [0, MS]);
}

#[test]
fn unfinished_windows_become_rows_at_the_end() {
    let clock = Step::new(CLOCK_STEP_NS);
    let logs = Logs {
        window_ns: 100 * MS,
        log_max: true,
        ..every_log()
    };
    let (mut book, inbox) = book(&logs, false);
    let live = Live::default();
    book.begin(0);
    book.done(&read(0, 10, 30), &live, clock);
    book.done(&read(0, 10, 50), &live, clock);
    clock.advance(42 * MS);
    let sampled = book.finish(&live, clock);
    let want = Record {
        time_ns: 42 * MS,
        ..Record::default()
    };
    assert_eq!(
        records(&inbox),
        [
            Record {
                kind: Kind::ClatWindow,
                a: 30,
                b: 40,
                ..want
            },
            Record {
                kind: Kind::LatWindow,
                a: 40,
                b: 50,
                ..want
            },
        ]
    );
    assert_eq!(
        sampled.bw[Ddir::Read].n,
        0,
        "rates of windows are the crew's"
    );
}

#[test]
fn histograms_hand_over_what_was_counted_since() {
    let clock = Step::new(CLOCK_STEP_NS);
    let hist = Some(PathBuf::from("hist"));
    let (mut book, inbox) = book(
        &Logs {
            hist,
            hist_window_ns: 10 * MS,
            ..Logs::default()
        },
        false,
    );
    let live = Live::default();
    book.begin(0);
    for end_ms in [1, 5, 11, 12, 21] {
        book.done(&read(0, end_ms * MS - 7, end_ms * MS), &live, clock);
    }
    let rows: Vec<(u64, u64)> = inbox
        .try_iter()
        .filter_map(|message| match message {
            Message::Bins(_, row) => Some((row.time_ms, row.bins[7])),
            _ => None,
        })
        .collect();
    assert_eq!(rows, [(11, 3), (21, 2)]);
}

#[test]
fn the_pattern_opens_files_at_first_use_in_each_pass() {
    let clock = Step::new(CLOCK_STEP_NS);
    let iolog = Some(PathBuf::from("x"));
    let (mut book, inbox) = book(
        &Logs {
            iolog,
            ..Logs::default()
        },
        false,
    );
    book.begin(0);
    let io = Io::new(0, 1, Ddir::Write, 4096, 512);
    book.taken(&io, 1000, clock);
    book.taken(
        &Io {
            ddir: Ddir::Sync,
            len: 0,
            ..io
        },
        2000,
        clock,
    );
    book.pass_over(3000, clock);
    book.taken(&io, 4000, clock);
    book.finish(&Live::default(), clock);
    let kinds: Vec<(Kind, Ddir, u64)> = records(&inbox)
        .iter()
        .map(|r| (r.kind, r.ddir, r.time_ns))
        .collect();
    let (w, s) = (Ddir::Write, Ddir::Sync);
    let expected = [
        (Kind::Opened, w, 1000),
        (Kind::Taken, w, 1000),
        (Kind::Taken, s, 2000),
        (Kind::Closed, Ddir::Read, 3000),
        (Kind::Opened, w, 4000),
        (Kind::Taken, w, 4000),
    ];
    assert_eq!(kinds, expected);
}
