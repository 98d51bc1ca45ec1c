//! Copies: the first half of the streams from the second.

use super::super::Op;
use super::{Isa, Kernel};

family! {
    Op::Copy, 2, 4 [0 64 128 192], { copy [(0 1)] }, { soon [(1)] soon_own [(0)] };
    Op::Copy, 4, 2 [0 64], { copy [(0 2) (1 3)] }, { soon [(2) (3)] soon_own [(0) (1)] };
    Op::Copy, 6, 2 [0 64],
        { copy [(0 3) (1 4) (2 5)] },
        { soon [(3) (4) (5)] soon_own [(0) (1) (2)] };
    Op::Copy, 8, 1 [0],
        { copy [(0 4) (1 5) (2 6) (3 7)] },
        { soon [(4) (5) (6) (7)] soon_own [(0) (1) (2) (3)] };
    Op::Copy, 12, 1 [0],
        { copy [(0 6) (1 7) (2 8) (3 9) (4 10) (5 11)] },
        { soon [(6) (7) (8) (9) (10) (11)] soon_own [(0) (1) (2) (3) (4) (5)] };
    Op::CopyNt, 2, 4 [0 64 128 192], { copy_nt [(0 1)] }, { soon [(1)] };
    Op::CopyNt, 4, 2 [0 64], { copy_nt [(0 2) (1 3)] }, { soon [(2) (3)] };
    Op::CopyNt, 6, 2 [0 64], { copy_nt [(0 3) (1 4) (2 5)] }, { soon [(3) (4) (5)] };
    Op::CopyNt, 8, 1 [0], { copy_nt [(0 4) (1 5) (2 6) (3 7)] }, { soon [(4) (5) (6) (7)] };
    Op::CopyNt, 12, 1 [0],
        { copy_nt [(0 6) (1 7) (2 8) (3 9) (4 10) (5 11)] },
        { soon [(6) (7) (8) (9) (10) (11)] };
}
