//! From streams to instructions.
//!
//! Registers: `p` walks the first stream, `f` the same `ahead` bytes further on, `n` counts steps
//! down; `s`, `s3` .. `s11` are odd multiples of the distance between streams, which with x86's
//! scaled addressing reach twelve streams. Vector register 15 holds the value in every element, 0
//! is for data: renaming keeps the uses of it apart.

/// The address of stream `k` from the pointer `p` or `f`.
macro_rules! at {
    ($r:literal 0) => {
        concat!("{", $r, "}")
    };
    ($r:literal 1) => {
        concat!("{", $r, "} + {s}")
    };
    ($r:literal 2) => {
        concat!("{", $r, "} + {s}*2")
    };
    ($r:literal 3) => {
        concat!("{", $r, "} + {s3}")
    };
    ($r:literal 4) => {
        concat!("{", $r, "} + {s}*4")
    };
    ($r:literal 5) => {
        concat!("{", $r, "} + {s5}")
    };
    ($r:literal 6) => {
        concat!("{", $r, "} + {s3}*2")
    };
    ($r:literal 7) => {
        concat!("{", $r, "} + {s7}")
    };
    ($r:literal 8) => {
        concat!("{", $r, "} + {s}*8")
    };
    ($r:literal 9) => {
        concat!("{", $r, "} + {s9}")
    };
    ($r:literal 10) => {
        concat!("{", $r, "} + {s5}*2")
    };
    ($r:literal 11) => {
        concat!("{", $r, "} + {s11}")
    };
}

/// One instruction on the part at `d + c` of stream `k`.
macro_rules! ins {
    (sse2 load $k:tt $d:tt $c:tt) => { ins!(from "movaps xmm0" $k $d $c) };
    (avx2 load $k:tt $d:tt $c:tt) => { ins!(from "vmovaps ymm0" $k $d $c) };
    (avx512 load $k:tt $d:tt $c:tt) => { ins!(from "vmovaps zmm0" $k $d $c) };
    (sse2 add $k:tt $d:tt $c:tt) => { ins!(from "addpd xmm0" $k $d $c) };
    (avx2 add $k:tt $d:tt $c:tt) => { ins!(from "vaddpd ymm0, ymm0" $k $d $c) };
    (avx512 add $k:tt $d:tt $c:tt) => { ins!(from "vaddpd zmm0, zmm0" $k $d $c) };
    (sse2 store $k:tt $d:tt $c:tt) => { ins!(to "movaps" "xmm0" $k $d $c) };
    (avx2 store $k:tt $d:tt $c:tt) => { ins!(to "vmovaps" "ymm0" $k $d $c) };
    (avx512 store $k:tt $d:tt $c:tt) => { ins!(to "vmovaps" "zmm0" $k $d $c) };
    (sse2 stream $k:tt $d:tt $c:tt) => { ins!(to "movntps" "xmm0" $k $d $c) };
    (avx2 stream $k:tt $d:tt $c:tt) => { ins!(to "vmovntps" "ymm0" $k $d $c) };
    (avx512 stream $k:tt $d:tt $c:tt) => { ins!(to "vmovntps" "zmm0" $k $d $c) };
    (sse2 store_value $k:tt $d:tt $c:tt) => { ins!(to "movaps" "xmm15" $k $d $c) };
    (avx2 store_value $k:tt $d:tt $c:tt) => { ins!(to "vmovaps" "ymm15" $k $d $c) };
    (avx512 store_value $k:tt $d:tt $c:tt) => { ins!(to "vmovaps" "zmm15" $k $d $c) };
    (sse2 stream_value $k:tt $d:tt $c:tt) => { ins!(to "movntps" "xmm15" $k $d $c) };
    (avx2 stream_value $k:tt $d:tt $c:tt) => { ins!(to "vmovntps" "ymm15" $k $d $c) };
    (avx512 stream_value $k:tt $d:tt $c:tt) => { ins!(to "vmovntps" "zmm15" $k $d $c) };
    (sse2 times_value) => { "mulpd xmm0, xmm15\n" };
    (avx2 times_value) => { "vmulpd ymm0, ymm0, ymm15\n" };
    (avx512 times_value) => { "vmulpd zmm0, zmm0, zmm15\n" };
    (sse2 spread) => { "unpcklpd xmm15, xmm15\n" };
    (part spread) => { ins!(sse2 spread) };
    (part end) => { ins!(sse2 end) };
    (avx2 spread) => { "vbroadcastsd ymm15, xmm15\n" };
    (avx512 spread) => { "vbroadcastsd zmm15, xmm15\n" };
    // Without this every later SSE instruction of the program would be slow.
    (sse2 end) => { "" };
    (avx2 end) => { "vzeroupper\n" };
    (avx512 end) => { "vzeroupper\n" };
    (from $what:literal $k:tt $d:tt $c:tt) => {
        concat!($what, ", [", at!("p" $k), " + ", $d, " + ", $c, "]\n")
    };
    (to $what:literal $data:literal $k:tt $d:tt $c:tt) => {
        concat!($what, " [", at!("p" $k), " + ", $d, " + ", $c, "], ", $data, "\n")
    };
}

/// What one operation does with one part of its group of streams.
macro_rules! part {
    ($i:ident read ($a:tt) $d:tt $c:tt) => { ins!($i load $a $d $c) };
    ($i:ident write ($a:tt) $d:tt $c:tt) => { ins!($i store_value $a $d $c) };
    ($i:ident write_nt ($a:tt) $d:tt $c:tt) => { ins!($i stream_value $a $d $c) };
    ($i:ident copy ($a:tt $b:tt) $d:tt $c:tt) => {
        concat!(ins!($i load $b $d $c), ins!($i store $a $d $c))
    };
    ($i:ident copy_nt ($a:tt $b:tt) $d:tt $c:tt) => {
        concat!(ins!($i load $b $d $c), ins!($i stream $a $d $c))
    };
    ($i:ident scale ($a:tt $b:tt) $d:tt $c:tt) => {
        concat!(ins!($i load $b $d $c), ins!($i times_value), ins!($i store $a $d $c))
    };
    ($i:ident scale_nt ($a:tt $b:tt) $d:tt $c:tt) => {
        concat!(ins!($i load $b $d $c), ins!($i times_value), ins!($i stream $a $d $c))
    };
    ($i:ident add ($a:tt $b:tt $e:tt) $d:tt $c:tt) => {
        concat!(ins!($i load $b $d $c), ins!($i add $e $d $c), ins!($i store $a $d $c))
    };
    ($i:ident add_nt ($a:tt $b:tt $e:tt) $d:tt $c:tt) => {
        concat!(ins!($i load $b $d $c), ins!($i add $e $d $c), ins!($i stream $a $d $c))
    };
    ($i:ident triad ($a:tt $b:tt $e:tt) $d:tt $c:tt) => {
        concat!(ins!($i load $e $d $c), ins!($i times_value), ins!($i add $b $d $c),
            ins!($i store $a $d $c))
    };
    ($i:ident triad_nt ($a:tt $b:tt $e:tt) $d:tt $c:tt) => {
        concat!(ins!($i load $e $d $c), ins!($i times_value), ins!($i add $b $d $c),
            ins!($i stream $a $d $c))
    };
    // Prefetches take a line at once.
    ($i:ident soon ($a:tt) $d:tt 0) => {
        concat!("prefetcht0 [", at!("f" $a), " + ", $d, "]\n")
    };
    ($i:ident soon_own ($a:tt) $d:tt 0) => {
        concat!("prefetchw [", at!("f" $a), " + ", $d, "]\n")
    };
    // Near into the first cache, and once more a KiB further on into the outer ones.
    ($i:ident soon_twice ($a:tt) $d:tt 0) => {
        concat!("prefetcht0 [", at!("f" $a), " + ", $d, "]\n",
            "prefetcht2 [", at!("f" $a), " + ", $d, " + 1024]\n")
    };
    ($i:ident soon ($a:tt) $d:tt $c:tt) => { "" };
    ($i:ident soon_twice ($a:tt) $d:tt $c:tt) => { "" };
    ($i:ident soon_own ($a:tt) $d:tt $c:tt) => { "" };
}

/// One line of a group.
macro_rules! line {
    (sse2 $what:ident $group:tt $d:tt) => {
        concat!(part!(sse2 $what $group $d 0), part!(sse2 $what $group $d 16),
            part!(sse2 $what $group $d 32), part!(sse2 $what $group $d 48))
    };
    (avx2 $what:ident $group:tt $d:tt) => {
        concat!(part!(avx2 $what $group $d 0), part!(avx2 $what $group $d 32))
    };
    (avx512 $what:ident $group:tt $d:tt) => { part!(avx512 $what $group $d 0) };
    (part $what:ident $group:tt $d:tt) => { part!(sse2 $what $group $d 0) };
}

/// All groups that do the same, one line of each after the other: a bit faster than several lines
/// of one group at once.
macro_rules! groups {
    ($i:ident $what:ident $groups:tt [$($d:tt)*]) => {
        concat!($(each_group!($i $what $groups $d)),*)
    };
}

/// One line of every group.
macro_rules! each_group {
    ($i:ident $what:ident [$($group:tt)*] $d:tt) => {
        concat!($(line!($i $what $group $d)),*)
    };
}

/// The machine code of one loop. `$count` lines per stream are at the displacements `$ds`.
macro_rules! machine {
    ($i:ident $count:literal $ds:tt { $($what:ident $groups:tt)* }) => {{
        unsafe fn run(base: *mut u8, stride: usize, steps: usize, ahead: usize, value: f64) {
            // SAFETY: the addresses are those of the invariant in the module above, which the
            // caller promises; the registers changed are declared. Prefetches beyond the buffer
            // do not fault.
            unsafe {
                std::arch::asm!(
                    concat!(
                        ins!($i spread),
                        ".p2align 6\n",
                        "2:\n",
                        $(groups!($i $what $groups $ds),)*
                        "add {p}, {step}\n",
                        "add {f}, {step}\n",
                        "dec {n}\n",
                        "jnz 2b\n",
                        ins!($i end),
                        // Not every loop uses every multiple.
                        "/* {s} {s3} {s5} {s7} {s9} {s11} */"
                    ),
                    p = inout(reg) base => _,
                    f = inout(reg) base.wrapping_add(ahead) => _,
                    n = inout(reg) steps => _,
                    s = in(reg) stride,
                    s3 = in(reg) stride.wrapping_mul(3),
                    s5 = in(reg) stride.wrapping_mul(5),
                    s7 = in(reg) stride.wrapping_mul(7),
                    s9 = in(reg) stride.wrapping_mul(9),
                    s11 = in(reg) stride.wrapping_mul(11),
                    step = const $count * 64,
                    inout("xmm15") value => _,
                    out("xmm0") _,
                    options(nostack)
                );
            }
        }
        run
    }};
}

/// A family's table: operation, streams, lines per stream with their displacements, what the
/// streams do, and what is prefetched.
macro_rules! family {
    ($($op:expr, $streams:literal, $count:literal $ds:tt, $body:tt, $soon:tt;)*) => {
        /// The loops of this family.
        pub const TABLE: &[Kernel] = &[$(
            entry!(sse2, Isa::Sse2, $op, $streams, $count $ds, $body, $soon, false),
            entry!(avx2, Isa::Avx2, $op, $streams, $count $ds, $body, $soon, false),
            entry!(avx512, Isa::Avx512, $op, $streams, $count $ds, $body, $soon, false),
            entry!(sse2, Isa::Sse2, $op, $streams, $count $ds, $body, $soon, true),
            entry!(avx2, Isa::Avx2, $op, $streams, $count $ds, $body, $soon, true),
            entry!(avx512, Isa::Avx512, $op, $streams, $count $ds, $body, $soon, true),
        )*];
    };
}

/// The same without prefetches.
macro_rules! plain_family {
    ($($op:expr, $streams:literal, $count:literal $ds:tt, $body:tt;)*) => {
        /// The loops of this family.
        pub const TABLE: &[Kernel] = &[$(
            entry!(sse2, Isa::Sse2, $op, $streams, $count $ds, $body, {}, false),
            entry!(avx2, Isa::Avx2, $op, $streams, $count $ds, $body, {}, false),
            entry!(avx512, Isa::Avx512, $op, $streams, $count $ds, $body, {}, false),
        )*];
    };
}

/// One line of a family's table.
macro_rules! entry {
    ($i:ident, $isa:expr, $op:expr, $streams:literal, $count:literal $ds:tt, $body:tt, $soon:tt,
     false) => {
        entry!($isa, $op, $streams, $count, false, machine!($i $count $ds $body))
    };
    ($i:ident, $isa:expr, $op:expr, $streams:literal, $count:literal $ds:tt, { $($body:tt)* },
     { $($soon:tt)* }, true) => {
        entry!($isa, $op, $streams, $count, true,
            machine!($i $count $ds { $($soon)* $($body)* }))
    };
    ($isa:expr, $op:expr, $streams:literal, $count:literal, $prefetch:literal, $run:expr) => {
        Kernel {
            op: $op,
            isa: $isa,
            streams: $streams,
            lines: $count,
            prefetch: $prefetch,
            random: false,
            run: $run,
        }
    };
}
