//! Workers on several CPUs, all at it in one common window.
//!
//! There is one thread per CPU and no other: the caller is worker 0, because a controlling thread
//! would take slices from the worker whose CPU it shares. Every window goes through three
//! barriers. After the first the workers know what to run, after the second when: they start at
//! once, warm up until the window begins, note what they have done when they see it begin and
//! again when they see it end, and go on until the last one has. So everybody counts only while
//! everybody works, and a rate is what a worker did between its own two readings of the clock.
//!
//! What a worker does stands behind [`Worker`]: kernels over a buffer
//! ([`Injector`](crate::injector::Injector)), or loads
//! that wait for each other.

use crate::watch::{Disturbance, HostWatch, ThreadWatch, Used};
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use sys::clock::{Clock, Monotonic};
use sys::process::{affinity, set_affinity};
use sys::tsc::Tsc;

/// Looks at the barrier before a waiting thread begins to sleep between looks.
const SPINS: u32 = 4096;
/// The first such sleep, in nanoseconds; each further one is half as long again, so that threads
/// who wait for long are as good as absent.
const FIRST_NAP_NS: u64 = 50_000;
/// The longest.
const LONGEST_NAP_NS: u64 = 1_000_000;
/// Share of a window, as a divisor, by which a worker may see it begin late.
const LATE: u64 = 20;

/// What all workers are told before a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// Which of its variants each worker runs.
    pub variant: usize,
    /// Cycles of the core that an injector pauses for each line it moves.
    pub delay: u64,
}

impl Order {
    /// A variant at full speed.
    pub fn variant(variant: usize) -> Order {
        Order { variant, delay: 0 }
    }
}

/// What runs in a window.
pub trait Worker {
    /// Prepares for a window.
    fn begin(&mut self, order: Order);

    /// Works for some microseconds. Returns what was done, in the worker's own unit.
    fn step(&mut self) -> u64;
}

impl<W: Worker + ?Sized> Worker for Box<W> {
    fn begin(&mut self, order: Order) {
        (**self).begin(order);
    }

    fn step(&mut self) -> u64 {
        (**self).step()
    }
}

/// How long a window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Work before it begins.
    pub warm: Duration,
    /// Its length.
    pub length: Duration,
}

impl Default for Window {
    /// 3 ms and 20 ms.
    fn default() -> Window {
        Window {
            warm: Duration::from_millis(3),
            length: Duration::from_millis(20),
        }
    }
}

/// What one worker did in a window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Done {
    /// In the worker's unit.
    pub units: u64,
    /// Time between the two readings of the clock.
    pub ns: u64,
    /// Time of it that the worker ran.
    pub cpu_ns: u64,
}

impl Done {
    /// Units per second.
    pub fn rate(&self) -> f64 {
        self.units as f64 * 1e9 / self.ns.max(1) as f64
    }

    /// Units per second of its own CPU time: what the rate would have been if nobody else had
    /// used the CPU. Good for choosing between variants on a busy machine, not for reports.
    pub fn rate_while_running(&self) -> f64 {
        self.units as f64 * 1e9 / self.cpu_ns.clamp(1, self.ns.max(1)) as f64
    }

    /// Nanoseconds per unit.
    pub fn ns_per_unit(&self) -> f64 {
        self.ns as f64 / self.units.max(1) as f64
    }
}

/// What came out of a window.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// One entry per worker, in the order of the CPUs.
    pub done: Vec<Done>,
    /// What else happened meanwhile.
    pub disturbed: Option<Disturbance>,
}

impl Outcome {
    /// The sum of the workers' rates, in units per second.
    pub fn rate(&self) -> f64 {
        self.done.iter().map(Done::rate).sum()
    }

    /// The sum of the rates in CPU time: see [`Done::rate_while_running`].
    pub fn rate_while_running(&self) -> f64 {
        self.done.iter().map(Done::rate_while_running).sum()
    }
}

/// Worker 0's side of a session: it works like the others and says what is done next.
#[derive(Debug)]
pub struct Lead<'s, W> {
    shared: &'s Shared,
    worker: W,
}

/// One thread per CPU, pinned to it; `make` builds each worker in its own thread, so that what it
/// touches first is near. `lead` runs in the calling thread, which is worker 0 and gets its own
/// affinity back afterwards.
///
/// # Errors
/// A CPU that cannot be had (`EINVAL`), or the first error of `make`. `InvalidInput` for no CPUs.
pub fn session<W: Worker, T, E: From<io::Error> + Send>(
    cpus: &[usize],
    make: impl Fn(usize) -> Result<W, E> + Sync,
    lead: impl FnOnce(&mut Lead<'_, W>) -> T,
) -> Result<T, E> {
    let Some(&own) = cpus.first() else {
        let what = "memory is measured by at least one CPU";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what).into());
    };
    let before = affinity()?;
    let shared = Shared::new(cpus.len());
    let first_error = Mutex::new(None);
    let fail = |error: E| {
        shared.failed.store(true, Ordering::Release);
        if let Ok(mut first) = first_error.lock() {
            first.get_or_insert(error);
        }
    };
    let made = |index: usize, cpu: usize| {
        let worker = set_affinity(&[cpu]).map_err(E::from);
        worker.and_then(|()| make(index)).map_err(fail).ok()
    };
    let led = std::thread::scope(|scope| {
        for (index, &cpu) in cpus.iter().enumerate().skip(1) {
            let (shared, made) = (&shared, &made);
            let body = move || follow(shared, index, || made(index, cpu));
            let name = format!("memory-{index}");
            let spawned = std::thread::Builder::new()
                .name(name)
                .spawn_scoped(scope, body);
            if let Err(error) = spawned {
                // The others wait for a full house that will never come.
                fail(error.into());
                shared.barrier.open();
                return None;
            }
        }
        let worker = made(0, own);
        shared.barrier.wait();
        let failed = shared.failed.load(Ordering::Acquire);
        let _ends = EndAtDrop(&shared);
        worker.filter(|_| !failed).map(|worker| {
            lead(&mut Lead {
                shared: &shared,
                worker,
            })
        })
    });
    let restored = set_affinity(&before);
    match (led, first_error.into_inner().unwrap_or(None)) {
        (Some(led), None) => Ok(restored.map(|()| led)?),
        (_, Some(error)) => Err(error),
        (None, None) => Err(io::Error::other("a worker ended without a reason").into()),
    }
}

/// Lets the other threads go, also when one panics.
struct EndAtDrop<'s>(&'s Shared);

impl Drop for EndAtDrop<'_> {
    fn drop(&mut self) {
        self.0.failed.store(true, Ordering::Release);
        self.0.barrier.open();
    }
}

impl<W: Worker> Lead<'_, W> {
    /// Runs one window on all CPUs.
    pub fn window(&mut self, order: Order, window: &Window) -> Outcome {
        let shared = self.shared;
        shared.variant.store(order.variant, Ordering::Relaxed);
        shared.delay.store(order.delay, Ordering::Relaxed);
        shared.past.store(0, Ordering::Relaxed);
        let ns = |d: Duration| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX);
        let host = HostWatch::start();
        shared.barrier.wait();
        self.worker.begin(order);
        let clock = shared.clock;
        let begin = clock.now().saturating_add(clock.ticks(ns(window.warm)));
        let end = begin.saturating_add(clock.ticks(ns(window.length)));
        shared.begin.store(begin, Ordering::Relaxed);
        shared.end.store(end, Ordering::Relaxed);
        shared.barrier.wait();
        let own = take_part(shared, &mut self.worker);
        shared.report(0, own);
        shared.barrier.wait();
        let reports: Vec<(Done, Used)> = shared.reports();
        let used: Vec<Used> = reports.iter().map(|(_, used)| *used).collect();
        Outcome {
            disturbed: host.stop(&used),
            done: reports.into_iter().map(|(done, _)| done).collect(),
        }
    }

    /// Worker 0 itself.
    pub fn worker(&mut self) -> &mut W {
        &mut self.worker
    }

    /// Number of workers.
    pub fn workers(&self) -> usize {
        self.shared.barrier.count
    }
}

/// The life of the threads 1, 2, ...
fn follow<W: Worker>(shared: &Shared, index: usize, made: impl FnOnce() -> Option<W>) {
    let worker = made();
    shared.barrier.wait();
    let Some(mut worker) = worker else { return };
    let _ends = EndAtDrop(shared);
    loop {
        shared.barrier.wait();
        if shared.failed.load(Ordering::Acquire) {
            return;
        }
        worker.begin(Order {
            variant: shared.variant.load(Ordering::Relaxed),
            delay: shared.delay.load(Ordering::Relaxed),
        });
        shared.barrier.wait();
        if shared.failed.load(Ordering::Acquire) {
            return;
        }
        let done = take_part(shared, &mut worker);
        shared.report(index, done);
        shared.barrier.wait();
    }
}

/// Warms up, counts what is done in the window, and goes on until everybody has counted.
fn take_part<W: Worker>(shared: &Shared, worker: &mut W) -> (Done, Used) {
    let clock = shared.clock;
    let (begin, end) = (
        shared.begin.load(Ordering::Relaxed),
        shared.end.load(Ordering::Relaxed),
    );
    while clock.now() < begin {
        worker.step();
    }
    let watch = ThreadWatch::start();
    let started = clock.now();
    let mut units = 0;
    let stopped = loop {
        units += worker.step();
        let now = clock.now();
        if now >= end {
            break now;
        }
    };
    let mut used = watch.stop();
    let (ns, cpu_ns) = (clock.ns(stopped - started), used.cpu_ns);
    // Who saw the window begin much later than by one step was not running then.
    if started.saturating_sub(begin) > end.saturating_sub(begin) / LATE {
        used.wall_ns += clock.ns(started.saturating_sub(begin));
    }
    shared.past.fetch_add(1, Ordering::Relaxed);
    while shared.past.load(Ordering::Relaxed) < shared.barrier.count
        && !shared.failed.load(Ordering::Relaxed)
    {
        worker.step();
    }
    (Done { units, ns, cpu_ns }, used)
}

/// The counter where it can be trusted, else the system's clock.
#[derive(Clone, Copy, Debug)]
enum Ticks {
    Tsc(Tsc),
    System,
}

impl Ticks {
    fn now(self) -> u64 {
        match self {
            Ticks::Tsc(tsc) => tsc.now(),
            Ticks::System => Monotonic.now(),
        }
    }

    fn ns(self, ticks: u64) -> u64 {
        match self {
            Ticks::Tsc(tsc) => tsc.ns(ticks),
            Ticks::System => ticks,
        }
    }

    fn ticks(self, ns: u64) -> u64 {
        match self {
            Ticks::Tsc(tsc) => tsc.ticks(ns),
            Ticks::System => ns,
        }
    }
}

/// What the threads share. Written between barriers by the leader, or by one thread each.
#[derive(Debug)]
struct Shared {
    clock: Ticks,
    barrier: Barrier,
    variant: AtomicUsize,
    delay: AtomicU64,
    begin: AtomicU64,
    end: AtomicU64,
    /// Workers that have seen the window's end.
    past: AtomicUsize,
    /// Nothing more will be done: a worker could not be made, or the session is over.
    failed: AtomicBool,
    reports: Mutex<Vec<(Done, Used)>>,
}

impl Shared {
    fn new(count: usize) -> Shared {
        Shared {
            clock: Tsc::get().map_or(Ticks::System, Ticks::Tsc),
            barrier: Barrier::new(count),
            variant: AtomicUsize::new(0),
            delay: AtomicU64::new(0),
            begin: AtomicU64::new(0),
            end: AtomicU64::new(0),
            past: AtomicUsize::new(0),
            failed: AtomicBool::new(false),
            reports: Mutex::new(vec![Default::default(); count]),
        }
    }

    fn report(&self, index: usize, what: (Done, Used)) {
        if let Ok(mut reports) = self.reports.lock() {
            reports[index] = what;
        }
    }

    fn reports(&self) -> Vec<(Done, Used)> {
        self.reports
            .lock()
            .map(|all| all.clone())
            .unwrap_or_default()
    }
}

/// A barrier that spins for a while and then sleeps between looks: pure spinning would keep a
/// worker from a CPU that it shares, pure sleeping would make threads start far apart.
#[derive(Debug)]
struct Barrier {
    count: usize,
    arrived: AtomicUsize,
    /// Changes each time the barrier lets the threads through.
    sense: AtomicUsize,
    open: AtomicBool,
}

impl Barrier {
    fn new(count: usize) -> Barrier {
        Barrier {
            count,
            arrived: AtomicUsize::new(0),
            sense: AtomicUsize::new(0),
            open: AtomicBool::new(false),
        }
    }

    /// Returns when all threads have come, or at once if it is open.
    fn wait(&self) {
        let sense = self.sense.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.count {
            self.arrived.store(0, Ordering::Relaxed);
            self.sense.store(sense.wrapping_add(1), Ordering::Release);
            return;
        }
        let (mut looks, mut nap_ns) = (0, FIRST_NAP_NS);
        while self.sense.load(Ordering::Acquire) == sense && !self.open.load(Ordering::Acquire) {
            looks += 1;
            if looks < SPINS {
                std::hint::spin_loop();
            } else {
                sys::clock::sleep_ns(nap_ns);
                nap_ns = (nap_ns + nap_ns / 2).min(LONGEST_NAP_NS);
            }
        }
    }

    /// Lets everybody through from now on.
    fn open(&self) {
        self.open.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Window = Window {
        warm: Duration::from_millis(1),
        length: Duration::from_millis(3),
    };

    /// Counts its steps.
    struct Counter {
        ordered: Vec<Order>,
        cpu: usize,
    }

    impl Worker for Counter {
        fn begin(&mut self, order: Order) {
            self.ordered.push(order);
        }

        fn step(&mut self) -> u64 {
            assert_eq!(affinity().unwrap(), [self.cpu]);
            1
        }
    }

    #[test]
    fn every_worker_is_pinned_gets_the_orders_and_counts() {
        let cpus = affinity().unwrap();
        let make = |index: usize| {
            io::Result::Ok(Counter {
                ordered: Vec::new(),
                cpu: cpus[index],
            })
        };
        let orders = [
            Order {
                variant: 7,
                delay: 9,
            },
            Order::variant(1),
        ];
        session(&cpus, make, |lead| {
            assert_eq!(lead.workers(), cpus.len());
            for order in orders {
                let outcome = lead.window(order, &SHORT);
                assert_eq!(outcome.done.len(), cpus.len());
                for done in &outcome.done {
                    assert!(done.units > 0 && done.ns > 0);
                }
                let sum: f64 = outcome.done.iter().map(Done::rate).sum();
                assert_eq!(outcome.rate(), sum);
            }
            assert_eq!(lead.worker().ordered, orders);
        })
        .unwrap();
        assert_eq!(affinity().unwrap(), cpus);
    }

    #[test]
    fn a_worker_that_cannot_be_made_ends_the_session_with_its_error() {
        let cpus = affinity().unwrap();
        for bad in 0..cpus.len() {
            let make = |index: usize| {
                if index == bad {
                    return Err(io::Error::other("no buffer"));
                }
                Ok(Counter {
                    ordered: Vec::new(),
                    cpu: cpus[index],
                })
            };
            let error = session(&cpus, make, |_| ()).unwrap_err();
            assert_eq!(error.to_string(), "no buffer");
            assert_eq!(affinity().unwrap(), cpus);
        }
        let make = |_| -> io::Result<Counter> { unreachable!() };
        assert!(session(&[], make, |_| ()).is_err());
        assert!(session(&[1_000_000], make, |_| ()).is_err());
    }

    #[test]
    fn a_worker_that_panics_does_not_leave_the_others_waiting() {
        struct Bad(bool);
        impl Worker for Bad {
            fn begin(&mut self, _: Order) {}
            fn step(&mut self) -> u64 {
                assert!(!self.0, "meant");
                1
            }
        }
        let cpus = affinity().unwrap();
        let last = cpus.len() - 1;
        let run = || {
            session(
                &cpus,
                |index| io::Result::Ok(Bad(index == last)),
                |lead| {
                    lead.window(Order::default(), &SHORT);
                },
            )
        };
        assert!(std::panic::catch_unwind(run).is_err());
        sys::process::set_affinity(&cpus).unwrap();
    }
}
