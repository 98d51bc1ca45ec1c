//! Whole lines in random order: the next number of a linear congruential generator (Knuth's
//! MMIX) gives the line. Four lines a step; no loop waits for data, only for its own arithmetic.

use super::super::Op;
use super::{Isa, Kernel};

/// Lines per step.
const LINES: usize = 4;

/// The offset of the next random line, in `y`.
macro_rules! draw {
    () => {
        "imul {x}, {a}\n add {x}, {c}\n mov {y}, {x}\n shr {y}, 32\n imul {y}, {lines}\n\
         shr {y}, 32\n shl {y}, 6\n"
    };
}

/// One part of the line at `y`.
macro_rules! piece {
    (sse2 load $c:literal) => {
        concat!("movaps xmm0, [{p} + {y} + ", $c, "]\n")
    };
    (avx2 load $c:literal) => {
        concat!("vmovaps ymm0, [{p} + {y} + ", $c, "]\n")
    };
    (avx512 load $c:literal) => {
        concat!("vmovaps zmm0, [{p} + {y} + ", $c, "]\n")
    };
    (sse2 store $c:literal) => {
        concat!("movaps [{p} + {y} + ", $c, "], xmm15\n")
    };
    (avx2 store $c:literal) => {
        concat!("vmovaps [{p} + {y} + ", $c, "], ymm15\n")
    };
    (avx512 store $c:literal) => {
        concat!("vmovaps [{p} + {y} + ", $c, "], zmm15\n")
    };
    (sse2 stream $c:literal) => {
        concat!("movntps [{p} + {y} + ", $c, "], xmm15\n")
    };
    (avx2 stream $c:literal) => {
        concat!("vmovntps [{p} + {y} + ", $c, "], ymm15\n")
    };
    (avx512 stream $c:literal) => {
        concat!("vmovntps [{p} + {y} + ", $c, "], zmm15\n")
    };
}

macro_rules! whole {
    (sse2 $what:ident) => {
        concat!(piece!(sse2 $what 0), piece!(sse2 $what 16), piece!(sse2 $what 32),
            piece!(sse2 $what 48))
    };
    (avx2 $what:ident) => { concat!(piece!(avx2 $what 0), piece!(avx2 $what 32)) };
    (avx512 $what:ident) => { piece!(avx512 $what 0) };
}

macro_rules! random_loop {
    ($i:ident, $isa:expr, $op:expr, [$($what:ident)*]) => {
        Kernel {
            op: $op,
            isa: $isa,
            streams: 1,
            lines: LINES,
            prefetch: false,
            random: true,
            run: {
                unsafe fn run(base: *mut u8, lines: usize, steps: usize, seed: usize, value: f64) {
                    // SAFETY: a drawn offset is (32 random bits * lines) >> 32 lines, which is
                    // below `lines * 64` bytes; the caller promises that many.
                    unsafe {
                        std::arch::asm!(
                            concat!(
                                ins!($i spread),
                                ".p2align 6\n",
                                "2:\n",
                                $(draw!(), whole!($i $what),)*
                                "dec {n}\n",
                                "jnz 2b\n",
                                ins!($i end)
                            ),
                            p = in(reg) base,
                            n = inout(reg) steps => _,
                            lines = in(reg) lines,
                            x = inout(reg) seed => _,
                            y = out(reg) _,
                            a = in(reg) 6_364_136_223_846_793_005_u64,
                            c = in(reg) 1_442_695_040_888_963_407_u64,
                            inout("xmm15") value => _,
                            out("xmm0") _,
                            options(nostack)
                        );
                    }
                }
                run
            },
        }
    };
}

macro_rules! random_family {
    ($($op:expr, $whats:tt;)*) => {
        /// The loops of this family.
        pub const TABLE: &[Kernel] = &[$(
            random_loop!(sse2, Isa::Sse2, $op, $whats),
            random_loop!(avx2, Isa::Avx2, $op, $whats),
            random_loop!(avx512, Isa::Avx512, $op, $whats),
        )*];
    };
}

random_family! {
    Op::Read, [load load load load];
    Op::Write, [store store store store];
    Op::WriteNt, [stream stream stream stream];
    Op::Mix { loads: 1, stores: 1 }, [load store load store];
}
