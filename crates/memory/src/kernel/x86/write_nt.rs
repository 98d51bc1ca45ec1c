//! Stores alone, past the caches. There is nothing to prefetch.

use super::super::Op;
use super::{Isa, Kernel};

plain_family! {
    Op::WriteNt, 1, 8 [0 64 128 192 256 320 384 448], { write_nt [(0)] };
    Op::WriteNt, 2, 4 [0 64 128 192], { write_nt [(0) (1)] };
    Op::WriteNt, 3, 4 [0 64 128 192], { write_nt [(0) (1) (2)] };
    Op::WriteNt, 4, 2 [0 64], { write_nt [(0) (1) (2) (3)] };
    Op::WriteNt, 6, 2 [0 64], { write_nt [(0) (1) (2) (3) (4) (5)] };
    Op::WriteNt, 8, 1 [0], { write_nt [(0) (1) (2) (3) (4) (5) (6) (7)] };
    Op::WriteNt, 12, 1 [0], { write_nt [(0) (1) (2) (3) (4) (5) (6) (7) (8) (9) (10) (11)] };
}
