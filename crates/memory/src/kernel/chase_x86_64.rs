//! Dependent loads on x86-64. Each load's address is the value of the one before, so that nothing
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
            times!(16, "mov {at}, [{at}]\n"),
            "dec {turns}",
            "jnz 2b",
            at = inout(reg) at => end,
            turns = inout(reg) turns => _,
            options(nostack, readonly)
        );
    }
    end
}

/// Follows one pointer between two readings of the time-stamp counter; the value and the ticks.
///
/// # Safety
/// `at` is a readable word.
pub unsafe fn timed(at: usize) -> (usize, u64) {
    let (next, low, high, begun): (usize, u64, u64, u64);
    // SAFETY: the caller vouches for the address. RDTSCP waits for the load; the fences keep
    // other instructions out of the interval.
    unsafe {
        asm!(
            "mfence",
            "lfence",
            "rdtsc",
            "lfence",
            "shl rdx, 32",
            "or rax, rdx",
            "mov {begun}, rax",
            "mov {at}, [{at}]",
            "rdtscp",
            "lfence",
            at = inout(reg) at => next,
            begun = out(reg) begun,
            out("rax") low,
            out("rdx") high,
            out("rcx") _,
            options(nostack)
        );
    }
    (next, (high << 32 | low).wrapping_sub(begun))
}

/// Takes `turns` times 32 (`CYCLES`) core cycles. Additions of a register, because some processors
/// do additions of constants for nothing.
pub fn count(turns: u64) {
    // SAFETY: registers only.
    unsafe {
        asm!(
            "2:",
            times!(16, "add {sum}, {one}\nadd {sum}, {one}\n"),
            "dec {turns}",
            "jnz 2b",
            sum = inout(reg) 0u64 => _,
            one = in(reg) 1u64,
            turns = inout(reg) turns.max(1) => _,
            options(nomem, nostack)
        );
    }
}

/// Drops the line at `at` from all caches; [`settle`] makes sure that it is done.
///
/// # Safety
/// `at` is a readable address.
pub unsafe fn flush(at: usize) {
    // SAFETY: CLFLUSH is part of SSE2, behaves as a load and changes no contents.
    unsafe { asm!("clflush [{at}]", at = in(reg) at, options(nostack)) };
}

/// Waits until earlier loads, stores and flushes are done.
pub fn settle() {
    // SAFETY: a fence.
    unsafe { asm!("mfence", "lfence", options(nostack)) };
}
