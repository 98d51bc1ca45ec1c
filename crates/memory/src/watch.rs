//! Was the machine left alone while a sample was taken?
//!
//! A sample is disturbed when a worker lost time (wall time minus CPU time) beyond half a percent,
//! when other work used more than one tick plus 5 % of a CPU, when the host stole more than a
//! tick, or when pages faulted. An involuntary context switch alone is no disturbance: kernel
//! threads take 20 us now and then and would refuse every sample.

use host::Root;
use host::cpu::Times;
use sys::clock::monotonic_ns;
use sys::process::{Usage, thread_usage};

/// Share of the time that a worker may lose.
const LOST_SHARE: f64 = 0.005;
/// Lost time below this is the kernel's own book-keeping, in nanoseconds.
const LOST_GRAIN_NS: f64 = 40_000.0;
/// Share of one CPU that other work may use, beyond one tick.
const OTHER_SHARE: f64 = 0.05;
/// Page faults that a sample survives: the first touch of a stack page, not of a buffer.
const FAULTS: u64 = 2;
/// Nanoseconds in a tick of `/proc/stat` (`USER_HZ` is 100 on every Linux platform).
const TICK_NS: f64 = 10_000_000.0;

/// Why a sample does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Disturbance {
    /// A worker was ready and did not run.
    LostTime,
    /// Other programs used the CPUs.
    OtherWork,
    /// The host gave the CPU to another guest.
    Steal,
    /// Pages were not in place.
    Faults,
}

impl Disturbance {
    /// The word for reports.
    pub fn name(self) -> &'static str {
        match self {
            Disturbance::LostTime => "lost time",
            Disturbance::OtherWork => "other work",
            Disturbance::Steal => "steal",
            Disturbance::Faults => "page faults",
        }
    }
}

/// What one worker used during a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// Time that passed.
    pub wall_ns: u64,
    /// Time that the worker ran.
    pub cpu_ns: u64,
    /// Page faults.
    pub faults: u64,
}

impl Used {
    /// The worker's own disturbance, if any.
    pub fn disturbed(&self) -> Option<Disturbance> {
        let lost = self.wall_ns.saturating_sub(self.cpu_ns) as f64;
        if lost > (self.wall_ns as f64 * LOST_SHARE).max(LOST_GRAIN_NS) {
            return Some(Disturbance::LostTime);
        }
        (self.faults > FAULTS).then_some(Disturbance::Faults)
    }
}

/// Watches the calling thread.
#[derive(Debug)]
pub struct ThreadWatch {
    wall_ns: u64,
    usage: Usage,
}

impl ThreadWatch {
    /// Begins.
    pub fn start() -> ThreadWatch {
        let usage = thread_usage();
        ThreadWatch {
            wall_ns: monotonic_ns(),
            usage,
        }
    }

    /// What the thread has used since; call it from the thread that began.
    pub fn stop(self) -> Used {
        let wall_ns = monotonic_ns() - self.wall_ns;
        let used = thread_usage().since(&self.usage);
        Used {
            wall_ns,
            cpu_ns: (used.user_us + used.system_us) * 1000,
            faults: used.minor_faults + used.major_faults,
        }
    }
}

/// Watches all CPUs of the machine.
#[derive(Debug)]
pub struct HostWatch {
    /// `None` where `/proc/stat` cannot be read: then only the workers' own view counts.
    before: Option<Times>,
}

impl HostWatch {
    /// Begins. Reads one file.
    pub fn start() -> HostWatch {
        HostWatch { before: times() }
    }

    /// What disturbed the workers, from their own view and from the machine's.
    pub fn stop(self, workers: &[Used]) -> Option<Disturbance> {
        if let Some(own) = workers.iter().find_map(Used::disturbed) {
            return Some(own);
        }
        let (before, after) = (self.before?, times()?);
        judge(before, after, workers)
    }
}

fn times() -> Option<Times> {
    Some(host::cpu::times(&Root::default()).ok()?.0)
}

/// `/proc/stat` is rounded down to ticks for each CPU, so every CPU in use may be one tick off.
fn judge(before: Times, after: Times, workers: &[Used]) -> Option<Disturbance> {
    let ticks = |of: fn(&Times) -> u64| of(&after).saturating_sub(of(&before));
    if ticks(|t| t.steal) > 1 {
        return Some(Disturbance::Steal);
    }
    let busy = ticks(|t| t.total - t.idle - t.steal) as f64 * TICK_NS;
    let own: f64 = workers.iter().map(|used| used.cpu_ns as f64).sum();
    let wall = workers.iter().map(|used| used.wall_ns).max().unwrap_or(0) as f64;
    let grain = TICK_NS * workers.len().clamp(1, 2) as f64;
    (busy - own > grain + wall * OTHER_SHARE).then_some(Disturbance::OtherWork)
}

/// Does `work` in the calling thread and says what disturbed it.
pub fn watched<T>(work: impl FnOnce() -> T) -> (T, Option<Disturbance>) {
    let host = HostWatch::start();
    let thread = ThreadWatch::start();
    let done = work();
    let used = thread.stop();
    (done, host.stop(&[used]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Used = Used {
        wall_ns: 40_000_000,
        cpu_ns: 39_990_000,
        faults: 0,
    };

    #[test]
    fn a_worker_that_waits_or_faults_is_disturbed() {
        assert_eq!(QUIET.disturbed(), None);
        let waits = Used {
            cpu_ns: 39_700_000,
            ..QUIET
        };
        assert_eq!(waits.disturbed(), Some(Disturbance::LostTime));
        let faults = Used {
            faults: 100,
            ..QUIET
        };
        assert_eq!(faults.disturbed(), Some(Disturbance::Faults));
    }

    #[test]
    fn others_and_the_host_are_seen_beyond_a_tick() {
        let at = |idle, steal, total| Times {
            idle,
            steal,
            total,
            ..Times::default()
        };
        let before = at(1000, 10, 5000);
        // Two CPUs, 4 ticks each: one is ours, one is idle.
        let judged = |after| judge(before, after, &[QUIET]);
        assert_eq!(judged(at(1004, 10, 5008)), None);
        assert_eq!(judged(at(1003, 10, 5008)), None);
        let busy = at(1000, 10, 5008);
        assert_eq!(judged(busy), Some(Disturbance::OtherWork));
        assert_eq!(judge(before, busy, &[QUIET, QUIET]), None);
        assert_eq!(judged(at(1002, 12, 5008)), Some(Disturbance::Steal));
    }

    #[test]
    fn touching_new_memory_is_a_disturbance() {
        let ((), why) = watched(|| {
            let touched = vec![1u8; 64 << 20];
            assert_eq!(std::hint::black_box(&touched)[4096], 1);
        });
        assert!(why.is_some());
    }
}
