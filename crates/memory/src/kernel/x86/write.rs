//! Stores alone, through the caches.

use super::super::Op;
use super::{Isa, Kernel};

family! {
    Op::Write, 1, 8 [0 64 128 192 256 320 384 448], { write [(0)] }, { soon_own [(0)] };
    Op::Write, 2, 4 [0 64 128 192], { write [(0) (1)] }, { soon_own [(0) (1)] };
    Op::Write, 3, 4 [0 64 128 192], { write [(0) (1) (2)] }, { soon_own [(0) (1) (2)] };
    Op::Write, 4, 2 [0 64], { write [(0) (1) (2) (3)] }, { soon_own [(0) (1) (2) (3)] };
    Op::Write, 6, 2 [0 64],
        { write [(0) (1) (2) (3) (4) (5)] },
        { soon_own [(0) (1) (2) (3) (4) (5)] };
    Op::Write, 8, 1 [0],
        { write [(0) (1) (2) (3) (4) (5) (6) (7)] },
        { soon_own [(0) (1) (2) (3) (4) (5) (6) (7)] };
    Op::Write, 12, 1 [0],
        { write [(0) (1) (2) (3) (4) (5) (6) (7) (8) (9) (10) (11)] },
        { soon_own [(0) (1) (2) (3) (4) (5) (6) (7) (8) (9) (10) (11)] };
}
