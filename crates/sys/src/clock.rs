//! What time is it, in ticks: the clocks a hot loop can be built over.
//!
//! A loop reads ticks and keeps them as ticks; it turns *differences* into nanoseconds, so no
//! clock needs an epoch. [`Tsc`](crate::tsc::Tsc) is the fast one, [`Monotonic`] works
//! everywhere, [`System`] is that or what a [`Keeper`] keeps, [`Step`] makes runs repeatable.

use rustix::thread::{ClockId as SleepClock, clock_nanosleep_absolute};
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::cell::Cell;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;

/// Nanoseconds before a deadline at which [`Clock::sleep_until`] stops sleeping and spins: a
/// timer wakes late by roughly this much on an idle machine.
const SPIN_NS: u64 = 60_000;

/// A source of ticks. Copied into each loop, so that reading it is one inlined instruction
/// sequence.
pub trait Clock: Copy + Send + 'static {
    /// The name reports use for this source.
    const NAME: &'static str;

    /// The time now, in ticks since some fixed moment.
    fn now(&self) -> u64;

    /// Nanoseconds in a difference of ticks.
    fn ns(&self, ticks_delta: u64) -> u64;

    /// Ticks in a number of nanoseconds, rounded up: `ns(ticks(n)) >= n`. Saturates.
    fn ticks(&self, ns: u64) -> u64;

    /// Returns when `now() >= deadline`; sleeps most of the way and spins the rest.
    fn sleep_until(&self, deadline: u64) {
        loop {
            let now = self.now();
            if now >= deadline {
                return;
            }
            let left_ns = self.ns(deadline - now);
            if left_ns > SPIN_NS {
                sleep_ns(left_ns - SPIN_NS);
            } else {
                std::hint::spin_loop();
            }
        }
    }
}

/// `CLOCK_MONOTONIC` through the vDSO; one tick is one nanosecond.
#[derive(Clone, Copy, Debug, Default)]
pub struct Monotonic;

impl Clock for Monotonic {
    const NAME: &'static str = "clock_gettime";

    #[inline]
    fn now(&self) -> u64 {
        monotonic_ns()
    }

    #[inline]
    fn ns(&self, ticks_delta: u64) -> u64 {
        ticks_delta
    }

    #[inline]
    fn ticks(&self, ns: u64) -> u64 {
        ns
    }
}

/// [`Monotonic`], read by whoever asks or kept in memory by a thread for it.
///
/// One type for both, so that loops are built once for them: a test of a value that never changes
/// is nothing beside the call, and the loops over [`Tsc`](crate::tsc::Tsc) have neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// Read when asked.
    Read,
    /// As the [`Keeper`] has last read it.
    Kept,
}

impl Clock for System {
    const NAME: &'static str = Monotonic::NAME;

    #[inline]
    fn now(&self) -> u64 {
        match self {
            System::Read => monotonic_ns(),
            System::Kept => KEPT.0.load(Relaxed),
        }
    }

    #[inline]
    fn ns(&self, ticks_delta: u64) -> u64 {
        ticks_delta
    }

    #[inline]
    fn ticks(&self, ns: u64) -> u64 {
        ns
    }
}

/// The time that a [`Keeper`] keeps, nanoseconds; alone on its cache lines, because it changes all
/// the time.
#[repr(align(128))]
struct Kept(AtomicU64);

static KEPT: Kept = Kept(AtomicU64::new(0));

/// A thread that does nothing but read [`Monotonic`] for all who ask [`System::Kept`]; it ends
/// with this value, and the time stands still then.
#[derive(Debug)]
pub struct Keeper {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    /// Starts the thread on one CPU; the time is kept when this returns.
    pub fn start(cpu: usize) -> io::Result<Keeper> {
        let stop = Arc::new(AtomicBool::new(false));
        let (told, news) = channel();
        let over = Arc::clone(&stop);
        let keep = move || {
            let placed = crate::process::set_affinity(&[cpu]);
            let failed = placed.is_err();
            KEPT.0.store(monotonic_ns(), Relaxed);
            // Whoever started this thread waits for it.
            drop(told.send(placed));
            while !failed && !over.load(Relaxed) {
                KEPT.0.store(monotonic_ns(), Relaxed);
            }
        };
        let thread = std::thread::Builder::new()
            .name("clock".to_owned())
            .spawn(keep)?;
        let keeper = Keeper {
            stop,
            thread: Some(thread),
        };
        match news.recv() {
            Ok(placed) => placed.map(|()| keeper),
            Err(_) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            // It cannot panic.
            let _ = thread.join();
        }
    }
}

thread_local! {
    static STEP_NOW_NS: Cell<u64> = const { Cell::new(0) };
}

/// A clock that advances by a fixed step at each reading; one tick is one nanosecond. Time
/// belongs to the thread, so a run in one thread is repeatable to the last bit.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    step_ns: u64,
}

impl Step {
    /// A clock whose readings are `step_ns` apart; the calling thread's time restarts at zero.
    pub fn new(step_ns: u64) -> Step {
        STEP_NOW_NS.set(0);
        Step { step_ns }
    }

    /// Moves the calling thread's time forward without a reading.
    pub fn advance(&self, ns: u64) {
        STEP_NOW_NS.set(STEP_NOW_NS.get().saturating_add(ns));
    }
}

impl Clock for Step {
    const NAME: &'static str = "step";

    #[inline]
    fn now(&self) -> u64 {
        let now = STEP_NOW_NS.get();
        STEP_NOW_NS.set(now + self.step_ns);
        now
    }

    #[inline]
    fn ns(&self, ticks_delta: u64) -> u64 {
        ticks_delta
    }

    #[inline]
    fn ticks(&self, ns: u64) -> u64 {
        ns
    }

    /// Jumps to the deadline: nothing in a deterministic run waits.
    fn sleep_until(&self, deadline: u64) {
        STEP_NOW_NS.set(STEP_NOW_NS.get().max(deadline));
    }
}

/// `CLOCK_MONOTONIC` in nanoseconds.
#[inline]
pub fn monotonic_ns() -> u64 {
    timespec_ns(clock_gettime(ClockId::Monotonic))
}

/// `CLOCK_MONOTONIC_RAW` in nanoseconds: not slewed by time synchronisation.
#[inline]
pub fn monotonic_raw_ns() -> u64 {
    timespec_ns(clock_gettime(ClockId::MonotonicRaw))
}

/// The clocks of the system that show a time, by their numbers in `clock_gettime`.
const CLOCKS: [(u32, ClockId); 10] = [
    (0, ClockId::Realtime),
    (1, ClockId::Monotonic),
    (2, ClockId::ProcessCPUTime),
    (3, ClockId::ThreadCPUTime),
    (4, ClockId::MonotonicRaw),
    (5, ClockId::RealtimeCoarse),
    (6, ClockId::MonotonicCoarse),
    (7, ClockId::Boottime),
    (8, ClockId::RealtimeAlarm),
    (9, ClockId::BoottimeAlarm),
];

/// What the clock with this number shows, milliseconds; `None` if there is no such clock.
pub fn clock_ms(id: u32) -> Option<u64> {
    let (_, clock) = CLOCKS.iter().find(|(number, _)| *number == id)?;
    Some(timespec_ns(clock_gettime(*clock)) / 1_000_000)
}

#[inline]
fn timespec_ns(t: Timespec) -> u64 {
    // The kernel's monotonic clocks are never negative.
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// Sleeps for `ns` nanoseconds with an absolute deadline, so that signals do not stretch it.
pub fn sleep_ns(ns: u64) {
    sleep_until_monotonic(monotonic_ns().saturating_add(ns));
}

/// Sleeps until `CLOCK_MONOTONIC` reads `deadline_ns`.
pub fn sleep_until_monotonic(deadline_ns: u64) {
    let at = Timespec {
        tv_sec: (deadline_ns / 1_000_000_000) as i64,
        tv_nsec: (deadline_ns % 1_000_000_000) as _,
    };
    // Interrupted by a signal: the deadline is absolute, so sleeping again is exact.
    while clock_nanosleep_absolute(SleepClock::Monotonic, &at) == Err(rustix::io::Errno::INTR) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_counts_readings_and_jumps() {
        let clock = Step::new(7);
        assert_eq!([clock.now(), clock.now(), clock.now()], [0, 7, 14]);
        clock.sleep_until(1000);
        assert_eq!(clock.now(), 1000);
        clock.sleep_until(5);
        assert_eq!(clock.now(), 1007);
        clock.advance(3);
        assert_eq!(clock.now(), 1017);
    }

    #[test]
    fn a_keeper_keeps_the_time_while_it_lives() {
        let cpu = *crate::process::affinity().unwrap().last().unwrap();
        let before = monotonic_ns();
        let keeper = Keeper::start(cpu).unwrap();
        let clock = System::Kept;
        let first = clock.now();
        assert!(first >= before);
        clock.sleep_until(first + 2_000_000);
        let last = clock.now();
        assert!(last >= first + 2_000_000 && last <= System::Read.now());
        drop(keeper);
        let stopped = clock.now();
        assert!(System::Read.now() > stopped && clock.now() == stopped);
        assert!(Keeper::start(1 << 30).is_err());
    }

    #[test]
    fn clocks_have_the_numbers_of_the_system() {
        let now = std::time::SystemTime::now();
        let wall = now
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap()
            .as_millis() as u64;
        assert!(clock_ms(0).unwrap() >= wall);
        let later = monotonic_ns() / 1_000_000;
        assert!(clock_ms(7).unwrap() >= later && clock_ms(1).unwrap() >= later);
        assert_eq!((clock_ms(10), clock_ms(99)), (None, None));
    }

    #[test]
    fn monotonic_sleep_reaches_its_deadline() {
        let clock = Monotonic;
        let deadline = clock.now() + clock.ticks(200_000);
        clock.sleep_until(deadline);
        assert!(clock.now() >= deadline);
        let raw = monotonic_raw_ns();
        sleep_ns(1000);
        assert!(monotonic_raw_ns() > raw);
    }
}
