//! The processor's time-stamp counter as a clock, if it can be trusted.
//!
//! Trust needs three things: CPUID says the counter is invariant, a frequency measured against
//! `CLOCK_MONOTONIC_RAW` settles within a few milliseconds, and no CPU ever shows a value below
//! one that another CPU has already published. If any fails there is no [`Tsc`], only a reason.
//!
//! Ticks become nanoseconds by the high word of one 64 x 64 bit multiplication:
//! `ns = ticks * (1e9 * 2^64 / hz) / 2^64`. The factor fits 64 bits because counters slower
//! than 1 GHz are refused.

use crate::clock::{Clock, monotonic_raw_ns};
use std::sync::OnceLock;

/// First measuring window; each further one doubles it.
const FIRST_WINDOW_NS: u64 = 1_000_000;
/// Windows tried: 1 + 2 + 4 + 8 ms.
const WINDOWS: u32 = 4;
/// Two successive estimates closer than this (parts per million) settle the frequency.
const AGREEMENT_PPM: u64 = 50;
/// Counter frequencies that make sense. The lower bound keeps the factor within 64 bits.
const SANE_HZ: std::ops::RangeInclusive<u64> = 1_000_000_001..=20_000_000_000;

/// A calibrated time-stamp counter; get it with [`Tsc::get`].
#[derive(Clone, Copy, Debug)]
pub struct Tsc {
    /// `1e9 * 2^64 / hz`.
    ns_per_tick_2_64: u64,
    hz: u64,
}

impl Tsc {
    /// The process's calibrated counter, or the reason why it cannot be used. The first call
    /// takes a few milliseconds; later ones are free.
    pub fn get() -> Result<Tsc, &'static str> {
        static CALIBRATED: OnceLock<Result<Tsc, &'static str>> = OnceLock::new();
        *CALIBRATED.get_or_init(|| {
            invariant()?;
            let hz = settle(measure)?;
            if warps() {
                return Err("the time-stamp counters of the CPUs disagree");
            }
            Tsc::with_hz(hz)
        })
    }

    /// Counter frequency in ticks per second.
    pub fn hz(&self) -> u64 {
        self.hz
    }

    fn with_hz(hz: u64) -> Result<Tsc, &'static str> {
        if !SANE_HZ.contains(&hz) {
            return Err("the time-stamp counter's frequency makes no sense");
        }
        let factor = (1_000_000_000u128 << 64) / u128::from(hz);
        Ok(Tsc {
            ns_per_tick_2_64: factor as u64,
            hz,
        })
    }
}

impl Clock for Tsc {
    const NAME: &'static str = "tsc";

    #[inline(always)]
    fn now(&self) -> u64 {
        rdtsc()
    }

    #[inline(always)]
    fn ns(&self, ticks_delta: u64) -> u64 {
        ((u128::from(ticks_delta) * u128::from(self.ns_per_tick_2_64)) >> 64) as u64
    }

    fn ticks(&self, ns: u64) -> u64 {
        // Rounded up twice, because the factor itself was rounded down.
        let scaled = u128::from(ns.saturating_add(1)) << 64;
        u64::try_from(scaled / u128::from(self.ns_per_tick_2_64) + 1).unwrap_or(u64::MAX)
    }
}

/// Reads the counter. Not a fence: work may move across by some ten instructions, which is far
/// below anything measured here, and a fence would cost more than the read.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn rdtsc() -> u64 {
    // SAFETY: RDTSC has no memory operands; every x86-64 CPU has it, and a kernel that forbids
    // it raises a signal, which is not undefined behaviour.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn rdtsc() -> u64 {
    // Never the clock of a run: `invariant` refuses other architectures.
    monotonic_raw_ns()
}

/// CPUID leaf 0x8000_0007, EDX bit 8: the counter runs at one rate in all power states.
#[cfg(target_arch = "x86_64")]
fn invariant() -> Result<(), &'static str> {
    use core::arch::x86_64::__cpuid;
    let reaches = __cpuid(0x8000_0000).eax >= 0x8000_0007;
    if reaches && __cpuid(0x8000_0007).edx & (1 << 8) != 0 {
        Ok(())
    } else {
        Err("the CPU does not promise an invariant time-stamp counter")
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn invariant() -> Result<(), &'static str> {
    Err("only x86-64 has a time-stamp counter that Assay knows how to trust")
}

/// Doubles the window until two successive estimates agree.
fn settle(mut measure: impl FnMut(u64) -> u64) -> Result<u64, &'static str> {
    let mut window_ns = FIRST_WINDOW_NS;
    let mut last_hz = measure(window_ns);
    for _ in 1..WINDOWS {
        window_ns *= 2;
        let hz = measure(window_ns);
        if hz.abs_diff(last_hz) <= hz / (1_000_000 / AGREEMENT_PPM) {
            return Ok(hz);
        }
        last_hz = hz;
    }
    Err("the time-stamp counter's frequency did not settle")
}

/// Ticks per second over one window, in which the thread sleeps.
fn measure(window_ns: u64) -> u64 {
    let (tick_a, ns_a) = tightest_pair();
    crate::clock::sleep_ns(window_ns);
    let (tick_b, ns_b) = tightest_pair();
    let span_ns = ns_b.saturating_sub(ns_a).max(1);
    let hz = u128::from(tick_b.wrapping_sub(tick_a)) * 1_000_000_000 / u128::from(span_ns);
    u64::try_from(hz).unwrap_or(u64::MAX)
}

/// A counter value and the raw clock at the same moment: the tightest of a few sandwiches.
fn tightest_pair() -> (u64, u64) {
    let mut best = (u64::MAX, 0, 0);
    for _ in 0..30 {
        let before = rdtsc();
        let ns = monotonic_raw_ns();
        let gap = rdtsc().wrapping_sub(before);
        if gap < best.0 {
            best = (gap, before.wrapping_add(gap / 2), ns);
        }
    }
    (best.1, best.2)
}

/// True if some CPU read a counter below a value another CPU had published before. Up to 16
/// CPUs of the process's own set take part, spread over the set.
fn warps() -> bool {
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    const READINGS: u32 = 1000;
    const MOST: usize = 16;

    let Ok(allowed) = crate::process::affinity() else {
        return false;
    };
    let stride = allowed.len().div_ceil(MOST).max(1);
    let cpus: Vec<usize> = allowed.into_iter().step_by(stride).collect();
    if cpus.len() < 2 {
        return false;
    }
    let (last, warped) = (AtomicU64::new(0), AtomicBool::new(false));
    let start = std::sync::Barrier::new(cpus.len());
    std::thread::scope(|scope| {
        for cpu in cpus {
            let (last, warped, start) = (&last, &warped, &start);
            scope.spawn(move || {
                let pinned = crate::process::set_affinity(&[cpu]).is_ok();
                start.wait();
                for _ in 0..READINGS {
                    let seen = last.load(Ordering::SeqCst);
                    let now = ordered_rdtsc();
                    if pinned && now < seen {
                        warped.store(true, Ordering::Relaxed);
                    }
                    last.fetch_max(now, Ordering::SeqCst);
                }
            });
        }
    });
    warped.into_inner()
}

/// A counter reading that cannot move before the loads that precede it.
#[cfg(target_arch = "x86_64")]
fn ordered_rdtsc() -> u64 {
    // SAFETY: LFENCE is part of SSE2, which every x86-64 CPU has.
    unsafe { core::arch::x86_64::_mm_lfence() };
    rdtsc()
}

#[cfg(not(target_arch = "x86_64"))]
fn ordered_rdtsc() -> u64 {
    rdtsc()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversion_is_exact_to_a_nanosecond_over_a_day() {
        for hz in [
            1_000_000_001u64,
            2_100_000_000,
            2_999_999_871,
            5_700_000_000,
        ] {
            let tsc = Tsc::with_hz(hz).unwrap();
            for seconds in [1u64, 60, 86_400] {
                let ns = tsc.ns(hz * seconds);
                let want = seconds * 1_000_000_000;
                assert!(want - ns <= 1, "{hz} Hz, {seconds} s: {ns}");
                assert!(tsc.ns(tsc.ticks(want)) >= want);
                assert!(tsc.ns(tsc.ticks(want)) <= want + 2);
            }
        }
        assert_eq!(
            Tsc::with_hz(3_000_000_000).unwrap().ticks(u64::MAX),
            u64::MAX
        );
    }

    #[test]
    fn impossible_frequencies_are_refused() {
        assert!(Tsc::with_hz(0).is_err());
        assert!(Tsc::with_hz(1_000_000_000).is_err());
        assert!(Tsc::with_hz(u64::MAX).is_err());
    }

    #[test]
    fn settling_wants_two_estimates_that_agree() {
        let mut good = [2_000_000_000u64, 2_400_000_000, 2_400_010_000].into_iter();
        assert_eq!(settle(|_| good.next().unwrap()), Ok(2_400_010_000));
        let mut wild = [1u64, 2, 4, 8].into_iter().map(|f| f * 1_000_000_000);
        assert!(settle(|_| wild.next().unwrap()).is_err());
    }

    #[test]
    fn a_trusted_counter_follows_the_raw_clock() {
        let Ok(tsc) = Tsc::get() else { return };
        let (tick_a, ns_a) = tightest_pair();
        crate::clock::sleep_ns(2_000_000);
        let (tick_b, ns_b) = tightest_pair();
        let (by_tsc, by_raw) = (tsc.ns(tick_b - tick_a), ns_b - ns_a);
        // Both clocks measure the same span, so a busy machine cannot part them.
        assert!(
            by_tsc.abs_diff(by_raw) < by_raw / 500 + 2_000,
            "{by_tsc} against {by_raw}"
        );
    }
}
