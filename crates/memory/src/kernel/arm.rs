//! AArch64 loops: pairs of NEON registers, `stnp` as the store that hints past the caches. One
//! pointer register per stream; one line of each stream per step; no prefetch instructions.
//!
//! Every loop has been compared with scalar results under emulation (qemu-user). None has run on
//! such a processor, so which form is fast there is not known.

use super::{Isa, Kernel, Op};

/// The families.
pub const TABLES: [&[Kernel]; 2] = [TABLE, RANDOM];

/// What one operation does with one line of its group of streams.
macro_rules! line {
    (load $b:tt) => {
        concat!("ldp q0, q1, [{r", $b, "}], #32\n", "ldp q2, q3, [{r", $b, "}], #32\n")
    };
    (plus $b:tt) => {
        concat!("ldp q4, q5, [{r", $b, "}], #32\n", "ldp q6, q7, [{r", $b, "}], #32\n",
            "fadd v0.2d, v0.2d, v4.2d\n", "fadd v1.2d, v1.2d, v5.2d\n",
            "fadd v2.2d, v2.2d, v6.2d\n", "fadd v3.2d, v3.2d, v7.2d\n")
    };
    (times_value) => {
        concat!("fmul v0.2d, v0.2d, v16.2d\n", "fmul v1.2d, v1.2d, v16.2d\n",
            "fmul v2.2d, v2.2d, v16.2d\n", "fmul v3.2d, v3.2d, v16.2d\n")
    };
    (store $a:tt) => {
        concat!("stp q0, q1, [{r", $a, "}], #32\n", "stp q2, q3, [{r", $a, "}], #32\n")
    };
    (stream $a:tt) => {
        concat!("stnp q0, q1, [{r", $a, "}]\n", "stnp q2, q3, [{r", $a, "}, #32]\n",
            "add {r", $a, "}, {r", $a, "}, #64\n")
    };
    (read ($a:tt)) => { line!(load $a) };
    (write ($a:tt)) => {
        concat!("stp q16, q16, [{r", $a, "}], #32\n", "stp q16, q16, [{r", $a, "}], #32\n")
    };
    (write_nt ($a:tt)) => {
        concat!("stnp q16, q16, [{r", $a, "}]\n", "stnp q16, q16, [{r", $a, "}, #32]\n",
            "add {r", $a, "}, {r", $a, "}, #64\n")
    };
    (copy ($a:tt $b:tt)) => { concat!(line!(load $b), line!(store $a)) };
    (copy_nt ($a:tt $b:tt)) => { concat!(line!(load $b), line!(stream $a)) };
    (scale ($a:tt $b:tt)) => { concat!(line!(load $b), line!(times_value), line!(store $a)) };
    (scale_nt ($a:tt $b:tt)) => { concat!(line!(load $b), line!(times_value), line!(stream $a)) };
    (add ($a:tt $b:tt $c:tt)) => { concat!(line!(load $b), line!(plus $c), line!(store $a)) };
    (add_nt ($a:tt $b:tt $c:tt)) => { concat!(line!(load $b), line!(plus $c), line!(stream $a)) };
    (triad ($a:tt $b:tt $c:tt)) => {
        concat!(line!(load $c), line!(times_value), line!(plus $b), line!(store $a))
    };
    (triad_nt ($a:tt $b:tt $c:tt)) => {
        concat!(line!(load $c), line!(times_value), line!(plus $b), line!(stream $a))
    };
}

macro_rules! lines {
    ($what:ident [$($group:tt)*]) => { concat!($(line!($what $group)),*) };
}

macro_rules! family {
    ($($op:expr, $streams:literal, { $($what:ident $groups:tt)* };)*) => {
        /// Loops in ascending order.
        const TABLE: &[Kernel] = &[$(Kernel {
            op: $op,
            isa: Isa::Neon,
            streams: $streams,
            lines: 1,
            prefetch: false,
            random: false,
            run: {
                unsafe fn run(p: *mut u8, s: usize, steps: usize, _ahead: usize, value: f64) {
                    let at = |k: usize| p.wrapping_add(k.wrapping_mul(s));
                    // SAFETY: the addresses are those of the invariant in the module above, which
                    // the caller promises; pointers of streams that the loop has not are unused.
                    unsafe {
                        std::arch::asm!(
                            concat!(
                                "dup v16.2d, v16.d[0]\n",
                                ".p2align 6\n",
                                "2:\n",
                                $(lines!($what $groups),)*
                                "subs {n}, {n}, #1\n",
                                "b.ne 2b\n",
                                "// {r0} {r1} {r2} {r3} {r4} {r5} {r6} {r7} {r8} {r9} {r10} {r11}"
                            ),
                            n = inout(reg) steps => _,
                            r0 = inout(reg) at(0) => _,
                            r1 = inout(reg) at(1) => _,
                            r2 = inout(reg) at(2) => _,
                            r3 = inout(reg) at(3) => _,
                            r4 = inout(reg) at(4) => _,
                            r5 = inout(reg) at(5) => _,
                            r6 = inout(reg) at(6) => _,
                            r7 = inout(reg) at(7) => _,
                            r8 = inout(reg) at(8) => _,
                            r9 = inout(reg) at(9) => _,
                            r10 = inout(reg) at(10) => _,
                            r11 = inout(reg) at(11) => _,
                            inout("v16") value => _,
                            out("v0") _, out("v1") _, out("v2") _, out("v3") _,
                            out("v4") _, out("v5") _, out("v6") _, out("v7") _,
                            options(nostack)
                        );
                    }
                }
                run
            },
        }),*];
    };
}

family! {
    Op::Read, 1, { read [(0)] };
    Op::Read, 2, { read [(0) (1)] };
    Op::Read, 4, { read [(0) (1) (2) (3)] };
    Op::Read, 8, { read [(0) (1) (2) (3) (4) (5) (6) (7)] };
    Op::Read, 12, { read [(0) (1) (2) (3) (4) (5) (6) (7) (8) (9) (10) (11)] };
    Op::Write, 1, { write [(0)] };
    Op::Write, 2, { write [(0) (1)] };
    Op::Write, 4, { write [(0) (1) (2) (3)] };
    Op::WriteNt, 1, { write_nt [(0)] };
    Op::WriteNt, 2, { write_nt [(0) (1)] };
    Op::WriteNt, 4, { write_nt [(0) (1) (2) (3)] };
    Op::Copy, 2, { copy [(0 1)] };
    Op::Copy, 4, { copy [(0 2) (1 3)] };
    Op::Copy, 8, { copy [(0 4) (1 5) (2 6) (3 7)] };
    Op::CopyNt, 2, { copy_nt [(0 1)] };
    Op::CopyNt, 4, { copy_nt [(0 2) (1 3)] };
    Op::CopyNt, 8, { copy_nt [(0 4) (1 5) (2 6) (3 7)] };
    Op::Scale, 2, { scale [(0 1)] };
    Op::Scale, 4, { scale [(0 2) (1 3)] };
    Op::Scale, 8, { scale [(0 4) (1 5) (2 6) (3 7)] };
    Op::ScaleNt, 2, { scale_nt [(0 1)] };
    Op::ScaleNt, 4, { scale_nt [(0 2) (1 3)] };
    Op::ScaleNt, 8, { scale_nt [(0 4) (1 5) (2 6) (3 7)] };
    Op::Add, 3, { add [(0 1 2)] };
    Op::Add, 6, { add [(0 2 4) (1 3 5)] };
    Op::Add, 12, { add [(0 4 8) (1 5 9) (2 6 10) (3 7 11)] };
    Op::AddNt, 3, { add_nt [(0 1 2)] };
    Op::AddNt, 6, { add_nt [(0 2 4) (1 3 5)] };
    Op::AddNt, 12, { add_nt [(0 4 8) (1 5 9) (2 6 10) (3 7 11)] };
    Op::Triad, 3, { triad [(0 1 2)] };
    Op::Triad, 6, { triad [(0 2 4) (1 3 5)] };
    Op::Triad, 12, { triad [(0 4 8) (1 5 9) (2 6 10) (3 7 11)] };
    Op::TriadNt, 3, { triad_nt [(0 1 2)] };
    Op::TriadNt, 6, { triad_nt [(0 2 4) (1 3 5)] };
    Op::TriadNt, 12, { triad_nt [(0 4 8) (1 5 9) (2 6 10) (3 7 11)] };
    Op::Mix { loads: 1, stores: 1 }, 8, { read [(4) (5) (6) (7)] write [(0) (1) (2) (3)] };
    Op::Mix { loads: 1, stores: 2 }, 12,
        { read [(8) (9) (10) (11)] write [(0) (1) (2) (3) (4) (5) (6) (7)] };
    Op::Mix { loads: 2, stores: 1 }, 12,
        { read [(4) (5) (6) (7) (8) (9) (10) (11)] write [(0) (1) (2) (3)] };
    Op::Mix { loads: 3, stores: 1 }, 12,
        { read [(3) (4) (5) (6) (7) (8) (9) (10) (11)] write [(0) (1) (2)] };
    Op::Mix { loads: 4, stores: 1 }, 10, { read [(2) (3) (4) (5) (6) (7) (8) (9)] write [(0) (1)] };
    Op::Mix { loads: 5, stores: 1 }, 12,
        { read [(2) (3) (4) (5) (6) (7) (8) (9) (10) (11)] write [(0) (1)] };
    Op::Mix { loads: 6, stores: 1 }, 7, { read [(1) (2) (3) (4) (5) (6)] write [(0)] };
    Op::Mix { loads: 7, stores: 1 }, 8, { read [(1) (2) (3) (4) (5) (6) (7)] write [(0)] };
    Op::Mix { loads: 8, stores: 1 }, 9, { read [(1) (2) (3) (4) (5) (6) (7) (8)] write [(0)] };
    Op::MixNt { loads: 1, stores: 1 }, 8, { read [(4) (5) (6) (7)] write_nt [(0) (1) (2) (3)] };
    Op::MixNt { loads: 2, stores: 1 }, 12,
        { read [(4) (5) (6) (7) (8) (9) (10) (11)] write_nt [(0) (1) (2) (3)] };
    Op::MixNt { loads: 3, stores: 1 }, 12,
        { read [(3) (4) (5) (6) (7) (8) (9) (10) (11)] write_nt [(0) (1) (2)] };
}

/// One part of a line at `y`, for the random loops.
macro_rules! whole {
    (load) => {
        "ldp q0, q1, [{y}]\n ldp q2, q3, [{y}, #32]\n"
    };
    (store) => {
        "stp q16, q16, [{y}]\n stp q16, q16, [{y}, #32]\n"
    };
    (stream) => {
        "stnp q16, q16, [{y}]\n stnp q16, q16, [{y}, #32]\n"
    };
}

macro_rules! random_family {
    ($($op:expr, [$($what:ident)*];)*) => {
        /// Loops in random order: four lines a step, drawn as on x86-64.
        const RANDOM: &[Kernel] = &[$(Kernel {
            op: $op,
            isa: Isa::Neon,
            streams: 1,
            lines: 4,
            prefetch: false,
            random: true,
            run: {
                unsafe fn run(p: *mut u8, lines: usize, steps: usize, seed: usize, value: f64) {
                    // SAFETY: a drawn offset is (32 random bits * lines) >> 32 lines, which is
                    // below `lines * 64` bytes; the caller promises that many.
                    unsafe {
                        std::arch::asm!(
                            concat!(
                                "dup v16.2d, v16.d[0]\n",
                                ".p2align 6\n",
                                "2:\n",
                                $("madd {x}, {x}, {a}, {c}\n",
                                "lsr {y}, {x}, #32\n",
                                "mul {y}, {y}, {lines}\n",
                                "lsr {y}, {y}, #32\n",
                                "add {y}, {p}, {y}, lsl #6\n",
                                whole!($what),)*
                                "subs {n}, {n}, #1\n",
                                "b.ne 2b\n"
                            ),
                            p = in(reg) p,
                            n = inout(reg) steps => _,
                            lines = in(reg) lines,
                            x = inout(reg) seed => _,
                            y = out(reg) _,
                            a = in(reg) 6_364_136_223_846_793_005_u64,
                            c = in(reg) 1_442_695_040_888_963_407_u64,
                            inout("v16") value => _,
                            out("v0") _, out("v1") _, out("v2") _, out("v3") _,
                            options(nostack)
                        );
                    }
                }
                run
            },
        }),*];
    };
}

random_family! {
    Op::Read, [load load load load];
    Op::Write, [store store store store];
    Op::WriteNt, [stream stream stream stream];
    Op::Mix { loads: 1, stores: 1 }, [load store load store];
}
