//! Dependent loads on AArch64. Each load's address is the value of the one before, so that nothing
//! but the latency decides how fast the loop is.

use std::arch::asm;

/// Follows `turns` times 16 (`LOADS`) pointers and returns the last.
///
/// # Safety
/// `at` is a readable word whose value is the address of such a word, and so on without end;
/// `turns` is not 0.
pub unsafe fn follow(at: usize, turns: u64) -> usize {
    let end;
    // SAFETY: the caller vouches for every address; nothing is written.
    unsafe {
        asm!(
            "2:",
            times!(16, "ldr {at}, [{at}]\n"),
            "subs {turns}, {turns}, #1",
            "b.ne 2b",
            at = inout(reg) at => end,
            turns = inout(reg) turns => _,
            options(nostack, readonly)
        );
    }
    end
}

/// Follows one pointer between two readings of the generic timer; the value and the ticks. A
/// tick is 1 to 40 ns, so that this only tells slow loads from fast ones.
///
/// # Safety
/// `at` is a readable word.
pub unsafe fn timed(at: usize) -> (usize, u64) {
    let (next, begun, ended): (usize, u64, u64);
    // SAFETY: the caller vouches for the address. The timer's second reading depends on the
    // loaded value, and the barriers keep other instructions out of the interval.
    unsafe {
        asm!(
            "dsb sy",
            "isb",
            "mrs {begun}, cntvct_el0",
            "isb",
            "ldr {at}, [{at}]",
            "dsb ld",
            "isb",
            "mrs {ended}, cntvct_el0",
            at = inout(reg) at => next,
            begun = out(reg) begun,
            ended = out(reg) ended,
            options(nostack)
        );
    }
    (next, ended.wrapping_sub(begun))
}

/// Takes `turns` times 32 (`CYCLES`) core cycles.
pub fn count(turns: u64) {
    // SAFETY: registers only.
    unsafe {
        asm!(
            "2:",
            times!(16, "add {sum}, {sum}, {one}\nadd {sum}, {sum}, {one}\n"),
            "subs {turns}, {turns}, #1",
            "b.ne 2b",
            sum = inout(reg) 0u64 => _,
            one = in(reg) 1u64,
            turns = inout(reg) turns.max(1) => _,
            options(nomem, nostack)
        );
    }
}

/// Drops the line at `at` from all caches; [`settle`] makes sure that it is done. Linux allows
/// the instruction to programs.
///
/// # Safety
/// `at` is a readable address.
pub unsafe fn flush(at: usize) {
    // SAFETY: behaves as a load and changes no contents.
    unsafe { asm!("dc civac, {at}", at = in(reg) at, options(nostack)) };
}

/// Waits until earlier loads, stores and flushes are done.
pub fn settle() {
    // SAFETY: barriers.
    unsafe { asm!("dsb sy", "isb", options(nostack)) };
}
