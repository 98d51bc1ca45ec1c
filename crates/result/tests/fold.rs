//! Folding against fio's own: in client mode fio prints every job and their sum, side by side.

use result::{Job, Run, import};
use units::Ddir;

const CLIENTS: &str = include_str!("goldens/fio_clients.json");

fn read(text: &str) -> Run {
    import::fio_json(text).expect("fio's JSON").remove(0)
}

fn close(fio: f64, ours: f64, what: &str) {
    assert!(
        (fio - ours).abs() <= 2e-6 + fio.abs() * 1e-8,
        "{what}: fio {fio}, ours {ours}"
    );
}

/// The four jobs folded, and fio's sum of them.
fn both() -> (Job, Job) {
    let jobs = read(CLIENTS).jobs;
    assert_eq!(jobs.len(), 4);
    let mut folded = jobs[0].clone();
    jobs[1..]
        .iter()
        .for_each(|job| result::merge::fold(&mut folded, job));
    let renamed = CLIENTS.replace("\"All clients\"", "\"sum\"");
    let sum = read(&renamed).jobs.pop().expect("five entries");
    assert_eq!(sum.name, "sum");
    (folded, sum)
}

#[test]
fn latencies_pool() {
    let (ours, fio) = both();
    for ddir in Ddir::DATA {
        let (ours, fio) = (&ours.dirs[ddir], &fio.dirs[ddir]);
        for (ours, fio) in [(&ours.clat, &fio.clat), (&ours.lat, &fio.lat)] {
            let (ours, fio) = (&ours.moments, &fio.moments);
            assert_eq!((ours.n, ours.min(), ours.max), (fio.n, fio.min(), fio.max));
            close(fio.mean(), ours.mean(), "mean");
            close(fio.stddev(), ours.stddev(), "deviation");
        }
    }
}

#[test]
fn sampled_rates_stack() {
    let (ours, fio) = both();
    for ddir in Ddir::DATA {
        let (ours, fio) = (&ours.dirs[ddir], &fio.dirs[ddir]);
        for (ours, fio) in [(&ours.bw, &fio.bw), (&ours.iops, &fio.iops)] {
            assert_eq!((ours.n, ours.min, ours.max), (fio.n, fio.min, fio.max));
            close(fio.mean, ours.mean, "mean");
            close(fio.stddev(), ours.stddev(), "deviation");
        }
    }
}

#[test]
fn counts_add_and_run_times_are_the_longest() {
    let (ours, fio) = both();
    for ddir in Ddir::DATA {
        let (ours, fio) = (&ours.dirs[ddir], &fio.dirs[ddir]);
        assert_eq!((ours.bytes, ours.issued), (fio.bytes, fio.issued));
        assert_eq!(ours.runtime_ms, fio.runtime_ms);
    }
    assert_eq!(ours.runtime_ms, fio.runtime_ms);
    assert_eq!(ours.usage, fio.usage);
    assert_eq!((ours.depth, ours.coarse), (fio.depth, fio.coarse));
}
