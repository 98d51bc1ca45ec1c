//! Loops that touch the first 16 bytes of each line and leave the rest: the memory moves whole
//! lines all the same, and the core has a quarter of the instructions.

use super::super::Op;
use super::{Isa, Kernel};

macro_rules! part_family {
    ($($op:expr, $streams:literal, $body:tt;)*) => {
        /// The loops of this family.
        pub const TABLE: &[Kernel] = &[$(
            entry!(part, Isa::Part, $op, $streams, 1 [0], $body, {}, false),
        )*];
    };
}

part_family! {
    Op::Read, 8, { read [(0) (1) (2) (3) (4) (5) (6) (7)] };
    Op::Write, 8, { write [(0) (1) (2) (3) (4) (5) (6) (7)] };
    Op::WriteNt, 8, { write_nt [(0) (1) (2) (3) (4) (5) (6) (7)] };
    Op::Mix { loads: 1, stores: 1 }, 8,
        { read [(4) (5) (6) (7)] write [(0) (1) (2) (3)] };
    Op::Mix { loads: 1, stores: 2 }, 9,
        { read [(6) (7) (8)] write [(0) (1) (2) (3) (4) (5)] };
    Op::Mix { loads: 2, stores: 1 }, 9,
        { read [(3) (4) (5) (6) (7) (8)] write [(0) (1) (2)] };
    Op::Mix { loads: 3, stores: 1 }, 8,
        { read [(2) (3) (4) (5) (6) (7)] write [(0) (1)] };
    Op::Mix { loads: 4, stores: 1 }, 10,
        { read [(2) (3) (4) (5) (6) (7) (8) (9)] write [(0) (1)] };
    Op::Mix { loads: 5, stores: 1 }, 6, { read [(1) (2) (3) (4) (5)] write [(0)] };
    Op::Mix { loads: 6, stores: 1 }, 7, { read [(1) (2) (3) (4) (5) (6)] write [(0)] };
    Op::Mix { loads: 7, stores: 1 }, 8, { read [(1) (2) (3) (4) (5) (6) (7)] write [(0)] };
    Op::Mix { loads: 8, stores: 1 }, 9, { read [(1) (2) (3) (4) (5) (6) (7) (8)] write [(0)] };
    Op::MixNt { loads: 1, stores: 1 }, 8,
        { read [(4) (5) (6) (7)] write_nt [(0) (1) (2) (3)] };
    Op::MixNt { loads: 2, stores: 1 }, 9,
        { read [(3) (4) (5) (6) (7) (8)] write_nt [(0) (1) (2)] };
    Op::MixNt { loads: 3, stores: 1 }, 8,
        { read [(2) (3) (4) (5) (6) (7)] write_nt [(0) (1)] };
    Op::Triad, 9, { triad [(0 3 6) (1 4 7) (2 5 8)] };
    Op::TriadNt, 9, { triad_nt [(0 3 6) (1 4 7) (2 5 8)] };
}
