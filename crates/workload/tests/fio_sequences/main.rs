//! The sequence of requests equals that of the installed fio, request by request.

mod directions;
mod passes;
mod places;
mod sizes;
mod support;

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use support::{assert_same, fio_log, fio_present, one_file, ours};
use workload::{Direction, Spec};

const MIB: u64 = 1 << 20;

/// Jobs to run with fio and with the generator, several at a time: fio mostly waits.
#[derive(Default)]
struct Cases(Vec<(String, Spec, usize)>);

impl Cases {
    /// A job, its options separated by blanks, and what it means.
    fn add(&mut self, args: &str, spec: &Spec) {
        self.0.push((args.to_owned(), spec.clone(), usize::MAX));
    }

    /// As [`add`](Self::add), for a job that does not end by itself.
    fn add_first(&mut self, args: &str, spec: &Spec, most: usize) {
        self.0.push((args.to_owned(), spec.clone(), most));
    }

    fn compare(self) {
        if !fio_present() {
            return;
        }
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some((args, spec, most)) = self.0.get(next.fetch_add(1, Relaxed)) {
                same(args, spec, *most);
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(work);
            }
        });
    }
}

/// Compares one job.
fn same(args: &str, spec: &Spec, most: usize) {
    let list: Vec<&str> = args.split(' ').collect();
    let fio = fio_log(&list, most);
    let ours = ours(
        spec,
        if most == usize::MAX {
            1_000_000
        } else {
            fio.len()
        },
    );
    assert!(!fio.is_empty(), "{args}: fio issued nothing");
    assert_same(args, &fio, &ours);
}

fn random(direction: Direction, size: u64) -> Spec {
    Spec {
        direction,
        ..one_file(size)
    }
}
