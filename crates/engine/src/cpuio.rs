//! `cpuio`: burns CPU time instead of doing I/O.
//!
//! As in fio: a request is a stretch of work of `cpuchunks`, and between two of them the job
//! sleeps for as long as `cpuload` asks.

use crate::api::{Aside, Caps, Engine, EngineError, Io, Job, Queued, Setup};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use sys::clock::monotonic_ns;
use sys::file::File;
use sys::pages::Pool;

/// Numbers sorted at once, few enough that an order to stop is not kept waiting.
const SORTED: usize = 4096;

option::choices! {
    /// What the CPU works on
    pub enum Mode {
        /// Nothing: it counts
        Noop = "noop";
        /// Sorting, which draws more power
        Qsort = "qsort";
    }
}

option::options! {
    /// cpuio
    pub struct Options {
        /// Percentage of a CPU's time to use; must be given.
        cpuload: u32 = "0";
        /// Length of a stretch of work in microseconds.
        cpuchunks: u32 = "50000", at_least(1), parent("cpuload");
        /// What to work on.
        cpumode: Mode = "noop";
        /// End when all jobs that do I/O have ended.
        exit_on_io_done: bool = "0";
    }
}

impl Options {
    fn load(&self) -> u32 {
        self.cpuload.min(100)
    }

    /// How long to sleep after each stretch of work, microseconds.
    fn sleep_us(&self) -> u64 {
        let load = u64::from(self.load());
        u64::from(self.cpuchunks) * (100 - load) / load
    }
}

/// The engine.
#[derive(Debug)]
pub struct Cpuio {
    pool: Pool,
    work_ns: u64,
    sleep_ns: u64,
    /// When the next stretch begins.
    next_ns: u64,
    /// Numbers to sort.
    numbers: Option<Box<[u64]>>,
    io_workers: Option<Arc<AtomicU32>>,
    aside: Aside,
}

impl Engine for Cpuio {
    type Options = Options;
    const NAME: &'static str = "cpuio";
    const HELP: &'static str = "Burns CPU time instead of doing I/O";
    const CAPS: Caps = Caps {
        sync: true,
        diskless: true,
        fake: true,
        no_io: true,
        ..Caps::NONE
    };

    fn start(setup: Setup<'_, Options>) -> Result<Self, EngineError> {
        let options = setup.options;
        if options.cpuload == 0 {
            return Err(EngineError::Unsupported {
                engine: Self::NAME,
                what: "cpuload= must say which percentage of a CPU to use".into(),
            });
        }
        Ok(Cpuio {
            pool: setup.pool,
            work_ns: u64::from(options.cpuchunks) * 1000,
            sleep_ns: options.sleep_us() * 1000,
            next_ns: 0,
            numbers: (options.cpumode == Mode::Qsort).then(|| vec![0; SORTED].into()),
            io_workers: options.exit_on_io_done.then_some(setup.job.io_workers),
            aside: Aside::End,
        })
    }

    fn queue(&mut self, _io: Io) -> Queued {
        let alone = |workers: &Arc<AtomicU32>| workers.load(Ordering::Relaxed) == 0;
        if self.io_workers.as_ref().is_some_and(alone) {
            self.aside = Aside::End;
            return Queued::Aside;
        }
        let start_ns = monotonic_ns();
        if start_ns < self.next_ns {
            // Whoever has an order for the worker wakes it.
            std::thread::park_timeout(Duration::from_nanos(self.next_ns - start_ns));
            return Queued::Full;
        }
        let mut now_ns = start_ns;
        while now_ns - start_ns < self.work_ns {
            match &mut self.numbers {
                None => (0..64).for_each(|turn: u32| {
                    black_box(turn);
                }),
                Some(numbers) => sort_afresh(numbers),
            }
            now_ns = monotonic_ns();
        }
        self.next_ns = now_ns + self.sleep_ns;
        self.aside = Aside::Timed {
            result: 0,
            ns: now_ns - start_ns,
        };
        Queued::Aside
    }

    fn slot(&self, slot: u32) -> &[u8] {
        self.pool.slot(slot)
    }

    fn slot_mut(&mut self, slot: u32) -> &mut [u8] {
        self.pool.slot_mut(slot)
    }

    fn files(&self) -> &[File] {
        &[]
    }

    fn aside(&mut self) -> Aside {
        self.aside
    }

    fn opening(options: &Options, job: &Job<'_>) -> Vec<String> {
        if options.cpuload == 0 {
            return Vec::new();
        }
        vec![format!(
            "{} ({}): ioengine=cpuio, cpuload={}, cpucycle={}",
            job.name,
            options.cpumode.word(),
            options.load(),
            options.cpuchunks
        )]
    }
}

/// Fills the numbers without any order and sorts them.
fn sort_afresh(numbers: &mut [u64]) {
    let mut state = numbers.last().copied().unwrap_or(0) | 1;
    for number in numbers.iter_mut() {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        *number = state;
    }
    black_box(numbers).sort_unstable();
}

#[cfg(test)]
mod tests {
    use super::*;
    use sys::pages::Kind;
    use units::Ddir;

    fn start(options: &Options, workers: u32) -> Result<Cpuio, EngineError> {
        let pool = Pool::new(1, 4096, 4096, &Kind::Anonymous, false).unwrap();
        let job = Job {
            io_workers: Arc::new(AtomicU32::new(workers)),
            ..Job::default()
        };
        Cpuio::start(Setup {
            job,
            ..Setup::plain(options, 1, vec![], pool)
        })
    }

    fn options(cpumode: Mode) -> Options {
        Options {
            cpuload: 50,
            cpuchunks: 100,
            cpumode,
            exit_on_io_done: true,
        }
    }

    #[test]
    fn work_is_timed_and_then_there_is_a_pause() {
        for mode in [Mode::Noop, Mode::Qsort] {
            let mut engine = start(&options(mode), 1).unwrap();
            let io = Io::new(0, 0, Ddir::Read, 0, 4096);
            assert_eq!(engine.queue(io), Queued::Aside);
            let Aside::Timed { result: 0, ns } = engine.aside() else {
                panic!("{:?}", engine.aside());
            };
            assert!(ns >= 100_000 && engine.next_ns > 0);
            // However slow the machine is, this moment has not come.
            engine.next_ns = monotonic_ns() + 3_600_000_000_000;
            std::thread::current().unpark();
            assert_eq!(engine.queue(io), Queued::Full);
        }
    }

    #[test]
    fn it_ends_when_nobody_else_works() {
        let mut engine = start(&options(Mode::Noop), 0).unwrap();
        assert_eq!(
            engine.queue(Io::new(0, 0, Ddir::Read, 0, 4096)),
            Queued::Aside
        );
        assert_eq!(engine.aside(), Aside::End);
    }

    #[test]
    fn the_load_decides_the_pause() {
        let pause = |cpuload| {
            let options = Options {
                cpuload,
                ..Options::default()
            };
            options.sleep_us()
        };
        assert_eq!(
            [1, 33, 50, 100, 300].map(pause),
            [4_950_000, 101_515, 50_000, 0, 0]
        );
        let error = start(&Options::default(), 1).unwrap_err().to_string();
        assert!(error.starts_with("cpuio: cpuload= must"), "{error}");
        let job = Job {
            name: "burn",
            ..Job::default()
        };
        assert_eq!(
            Cpuio::opening(&options(Mode::Qsort), &job),
            ["burn (qsort): ioengine=cpuio, cpuload=50, cpucycle=100"]
        );
    }
}
