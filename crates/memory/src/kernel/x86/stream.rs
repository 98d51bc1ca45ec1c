//! The arithmetic kernels of STREAM: scale, add and triad, through the caches and past them.
//! Its copy is the family `copy`.

use super::super::Op;
use super::{Isa, Kernel};

family! {
    Op::Scale, 2, 4 [0 64 128 192], { scale [(0 1)] }, { soon [(1)] soon_own [(0)] };
    Op::Scale, 4, 2 [0 64], { scale [(0 2) (1 3)] }, { soon [(2) (3)] soon_own [(0) (1)] };
    Op::Scale, 8, 1 [0],
        { scale [(0 4) (1 5) (2 6) (3 7)] },
        { soon [(4) (5) (6) (7)] soon_own [(0) (1) (2) (3)] };
    Op::Scale, 12, 1 [0],
        { scale [(0 6) (1 7) (2 8) (3 9) (4 10) (5 11)] },
        { soon [(6) (7) (8) (9) (10) (11)] soon_own [(0) (1) (2) (3) (4) (5)] };
    Op::ScaleNt, 2, 4 [0 64 128 192], { scale_nt [(0 1)] }, { soon [(1)] };
    Op::ScaleNt, 4, 2 [0 64], { scale_nt [(0 2) (1 3)] }, { soon [(2) (3)] };
    Op::ScaleNt, 8, 1 [0], { scale_nt [(0 4) (1 5) (2 6) (3 7)] }, { soon [(4) (5) (6) (7)] };
    Op::ScaleNt, 12, 1 [0],
        { scale_nt [(0 6) (1 7) (2 8) (3 9) (4 10) (5 11)] },
        { soon [(6) (7) (8) (9) (10) (11)] };
    Op::Add, 3, 4 [0 64 128 192], { add [(0 1 2)] }, { soon [(1) (2)] soon_own [(0)] };
    Op::Add, 6, 2 [0 64], { add [(0 2 4) (1 3 5)] }, { soon [(2) (3) (4) (5)] soon_own [(0) (1)] };
    Op::Add, 9, 1 [0],
        { add [(0 3 6) (1 4 7) (2 5 8)] },
        { soon [(3) (4) (5) (6) (7) (8)] soon_own [(0) (1) (2)] };
    Op::Add, 12, 1 [0],
        { add [(0 4 8) (1 5 9) (2 6 10) (3 7 11)] },
        { soon [(4) (5) (6) (7) (8) (9) (10) (11)] soon_own [(0) (1) (2) (3)] };
    Op::AddNt, 3, 4 [0 64 128 192], { add_nt [(0 1 2)] }, { soon [(1) (2)] };
    Op::AddNt, 6, 2 [0 64], { add_nt [(0 2 4) (1 3 5)] }, { soon [(2) (3) (4) (5)] };
    Op::AddNt, 9, 1 [0], { add_nt [(0 3 6) (1 4 7) (2 5 8)] }, { soon [(3) (4) (5) (6) (7) (8)] };
    Op::AddNt, 12, 1 [0],
        { add_nt [(0 4 8) (1 5 9) (2 6 10) (3 7 11)] },
        { soon [(4) (5) (6) (7) (8) (9) (10) (11)] };
    Op::Triad, 3, 4 [0 64 128 192], { triad [(0 1 2)] }, { soon [(1) (2)] soon_own [(0)] };
    Op::Triad, 6, 2 [0 64],
        { triad [(0 2 4) (1 3 5)] },
        { soon [(2) (3) (4) (5)] soon_own [(0) (1)] };
    Op::Triad, 9, 1 [0],
        { triad [(0 3 6) (1 4 7) (2 5 8)] },
        { soon [(3) (4) (5) (6) (7) (8)] soon_own [(0) (1) (2)] };
    Op::Triad, 12, 1 [0],
        { triad [(0 4 8) (1 5 9) (2 6 10) (3 7 11)] },
        { soon [(4) (5) (6) (7) (8) (9) (10) (11)] soon_own [(0) (1) (2) (3)] };
    Op::TriadNt, 3, 4 [0 64 128 192], { triad_nt [(0 1 2)] }, { soon [(1) (2)] };
    Op::TriadNt, 6, 2 [0 64], { triad_nt [(0 2 4) (1 3 5)] }, { soon [(2) (3) (4) (5)] };
    Op::TriadNt, 9, 2 [0 64],
        { triad_nt [(0 3 6) (1 4 7) (2 5 8)] },
        { soon [(3) (4) (5) (6) (7) (8)] };
    Op::TriadNt, 12, 2 [0 64],
        { triad_nt [(0 4 8) (1 5 9) (2 6 10) (3 7 11)] },
        { soon [(4) (5) (6) (7) (8) (9) (10) (11)] };
}
