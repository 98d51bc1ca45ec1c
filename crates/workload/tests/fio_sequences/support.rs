//! Runs the installed fio and reads back which requests it issued, in order.

use std::path::Path;
use std::process::Command;
use units::Ddir;
use workload::{Batch, FileRegion, Spec, generator};

/// One request: direction, file number, offset, length. Synchronisations have no place.
pub type Row = (Ddir, usize, u64, u64);

/// False, with a visible reason, where there is no fio 3.33 to compare with.
pub fn fio_present() -> bool {
    match Command::new("fio").arg("--version").output() {
        Ok(out) if out.stdout.starts_with(b"fio-3.33") => true,
        Ok(out) => {
            println!(
                "SKIP: sequences are fio 3.33's, not {}",
                String::from_utf8_lossy(&out.stdout)
            );
            false
        }
        Err(error) => {
            println!("SKIP: no fio to compare with: {error}");
            false
        }
    }
}

fn row(action: &str, file: usize, offset: u64, len: u64) -> Option<Row> {
    let ddir = match action {
        "read" => Ddir::Read,
        "write" => Ddir::Write,
        "trim" => Ddir::Trim,
        "sync" => Ddir::Sync,
        "datasync" => Ddir::DataSync,
        "sync_file_range" => Ddir::SyncFileRange,
        _ => return None,
    };
    Some(if ddir.is_data() {
        (ddir, file, offset, len)
    } else {
        (ddir, file, 0, 0)
    })
}

fn run(dir: &Path, args: &[&str]) -> std::process::Output {
    let out = Command::new("fio")
        .current_dir(dir)
        .arg("--name=x")
        .args(args)
        .output()
        .unwrap();
    assert!(
        out.status.success(),
        "{args:?}: {}",
        String::from_utf8_lossy(&out.stdout)
    );
    out
}

/// What one job with the given options issues, at most `most` requests.
pub fn fio_log(args: &[&str], most: usize) -> Vec<Row> {
    let dir = tempfile::tempdir().unwrap();
    let mut all = args.to_vec();
    if !args.iter().any(|arg| arg.starts_with("--ioengine")) {
        all.push("--ioengine=null");
    }
    all.push("--write_iolog=log");
    run(dir.path(), &all);
    let log = std::fs::read_to_string(dir.path().join("log")).unwrap();
    let mut names: Vec<&str> = Vec::new();
    let mut rows = Vec::new();
    for line in log.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let &[_, name, action, ref place @ ..] = &words[..] else {
            continue;
        };
        if action == "add" {
            names.push(name);
        }
        let number = |i: usize| place.get(i).map_or(0, |word: &&str| word.parse().unwrap());
        let Some(file) = names.iter().position(|known| *known == name) else {
            continue;
        };
        rows.extend(row(action, file, number(0), number(1)));
        if rows.len() == most {
            break;
        }
    }
    rows
}

/// What each clone of a job with `numjobs` issues, in clone order, from the debug output.
pub fn fio_clones(args: &[&str], clones: usize) -> Vec<Vec<Row>> {
    let dir = tempfile::tempdir().unwrap();
    let numjobs = format!("--numjobs={clones}");
    let mut all = args.to_vec();
    all.extend(["--ioengine=null", "--debug=io", &numjobs]);
    let out = run(dir.path(), &all);
    let mut rows = vec![Vec::new(); clones];
    for line in String::from_utf8_lossy(&out.stdout).lines() {
        let Some((_, place)) = line.split_once("queue: io_u ") else {
            continue;
        };
        let field = |name: &str| place.split(&format!("{name}=")).nth(1).unwrap();
        let value = |name: &str| field(name).split(',').next().unwrap();
        let hex = |name: &str| u64::from_str_radix(&value(name)[2..], 16).unwrap();
        let ddir = Ddir::DATA[value("ddir").parse::<usize>().unwrap()];
        let clone: usize = field("file").split('.').nth(1).unwrap().parse().unwrap();
        rows[clone].push((ddir, 0, hex("off"), hex("len")));
    }
    rows
}

/// What the generator makes of `spec`, at most `most` requests over all passes, taken in
/// batches of varying size.
pub fn ours(spec: &Spec, most: usize) -> Vec<Row> {
    let mut requests = generator(spec).unwrap();
    let mut batch = Batch::default();
    let mut rows = Vec::new();
    let mut first = true;
    while rows.len() < most && requests.more() {
        if !std::mem::take(&mut first) {
            requests.restart();
        }
        let before = rows.len();
        while rows.len() < most {
            let want = [64, 1, 17][rows.len() % 3].min(most - rows.len());
            if requests.fill(&mut batch, want) == 0 {
                break;
            }
            for i in 0..batch.n {
                let (ddir, file) = (batch.ddir[i], usize::from(batch.file[i]));
                let (offset, len) = (batch.offset[i], u64::from(batch.len[i]));
                rows.push(match ddir.is_data() {
                    true => (ddir, file, offset, len),
                    false => (ddir, file, 0, 0),
                });
            }
        }
        if rows.len() == before {
            break;
        }
    }
    rows
}

/// A region of a diskless engine: fio takes its end for the end of the file.
pub fn region(offset: u64, length: u64) -> FileRegion {
    FileRegion::new(offset, length)
}

/// A specification for one file of a diskless engine.
pub fn one_file(size: u64) -> Spec {
    Spec {
        files: vec![region(0, size)],
        size,
        ..Spec::default()
    }
}

/// Compares two sequences and shows where they part.
#[track_caller]
pub fn assert_same(name: &str, fio: &[Row], ours: &[Row]) {
    if let Some(at) = fio.iter().zip(ours).position(|(a, b)| a != b) {
        let around = at.saturating_sub(3)..at + 4;
        let show = |rows: &[Row]| {
            let rows = &rows[around.start.min(rows.len())..around.end.min(rows.len())];
            format!("{rows:?}")
        };
        panic!(
            "{name}: request {at} differs\n fio: {}\nours: {}",
            show(fio),
            show(ours)
        );
    }
    assert_eq!(fio.len(), ours.len(), "{name}: lengths differ");
}
