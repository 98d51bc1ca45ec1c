//! Mixes of loads and stores at given ratios: some streams are loaded, others stored, and the
//! data of the two have nothing to do with each other.

use super::super::Op;
use super::{Isa, Kernel};

family! {
    Op::Mix { loads: 1, stores: 1 }, 2, 4 [0 64 128 192],
        { read [(1)] write [(0)] },
        { soon [(1)] soon_own [(0)] };
    Op::Mix { loads: 1, stores: 1 }, 4, 2 [0 64],
        { read [(2) (3)] write [(0) (1)] },
        { soon [(2) (3)] soon_own [(0) (1)] };
    Op::Mix { loads: 1, stores: 1 }, 6, 2 [0 64],
        { read [(3) (4) (5)] write [(0) (1) (2)] },
        { soon [(3) (4) (5)] soon_own [(0) (1) (2)] };
    Op::Mix { loads: 1, stores: 1 }, 8, 1 [0],
        { read [(4) (5) (6) (7)] write [(0) (1) (2) (3)] },
        { soon [(4) (5) (6) (7)] soon_own [(0) (1) (2) (3)] };
    Op::Mix { loads: 1, stores: 1 }, 12, 1 [0],
        { read [(6) (7) (8) (9) (10) (11)] write [(0) (1) (2) (3) (4) (5)] },
        { soon [(6) (7) (8) (9) (10) (11)] soon_own [(0) (1) (2) (3) (4) (5)] };
    Op::Mix { loads: 1, stores: 2 }, 3, 4 [0 64 128 192],
        { read [(2)] write [(0) (1)] },
        { soon [(2)] soon_own [(0) (1)] };
    Op::Mix { loads: 1, stores: 2 }, 6, 2 [0 64],
        { read [(4) (5)] write [(0) (1) (2) (3)] },
        { soon [(4) (5)] soon_own [(0) (1) (2) (3)] };
    Op::Mix { loads: 1, stores: 2 }, 9, 1 [0],
        { read [(6) (7) (8)] write [(0) (1) (2) (3) (4) (5)] },
        { soon [(6) (7) (8)] soon_own [(0) (1) (2) (3) (4) (5)] };
    Op::Mix { loads: 1, stores: 2 }, 12, 1 [0],
        { read [(8) (9) (10) (11)] write [(0) (1) (2) (3) (4) (5) (6) (7)] },
        { soon [(8) (9) (10) (11)] soon_own [(0) (1) (2) (3) (4) (5) (6) (7)] };
    Op::Mix { loads: 2, stores: 1 }, 3, 4 [0 64 128 192],
        { read [(1) (2)] write [(0)] },
        { soon [(1) (2)] soon_own [(0)] };
    Op::Mix { loads: 2, stores: 1 }, 6, 2 [0 64],
        { read [(2) (3) (4) (5)] write [(0) (1)] },
        { soon [(2) (3) (4) (5)] soon_own [(0) (1)] };
    Op::Mix { loads: 2, stores: 1 }, 9, 1 [0],
        { read [(3) (4) (5) (6) (7) (8)] write [(0) (1) (2)] },
        { soon [(3) (4) (5) (6) (7) (8)] soon_own [(0) (1) (2)] };
    Op::Mix { loads: 2, stores: 1 }, 12, 1 [0],
        { read [(4) (5) (6) (7) (8) (9) (10) (11)] write [(0) (1) (2) (3)] },
        { soon [(4) (5) (6) (7) (8) (9) (10) (11)] soon_own [(0) (1) (2) (3)] };
    Op::Mix { loads: 3, stores: 1 }, 4, 2 [0 64],
        { read [(1) (2) (3)] write [(0)] },
        { soon [(1) (2) (3)] soon_own [(0)] };
    Op::Mix { loads: 3, stores: 1 }, 8, 1 [0],
        { read [(2) (3) (4) (5) (6) (7)] write [(0) (1)] },
        { soon [(2) (3) (4) (5) (6) (7)] soon_own [(0) (1)] };
    Op::Mix { loads: 3, stores: 1 }, 12, 1 [0],
        { read [(3) (4) (5) (6) (7) (8) (9) (10) (11)] write [(0) (1) (2)] },
        { soon [(3) (4) (5) (6) (7) (8) (9) (10) (11)] soon_own [(0) (1) (2)] };
    Op::Mix { loads: 4, stores: 1 }, 5, 2 [0 64],
        { read [(1) (2) (3) (4)] write [(0)] },
        { soon [(1) (2) (3) (4)] soon_own [(0)] };
    Op::Mix { loads: 4, stores: 1 }, 10, 1 [0],
        { read [(2) (3) (4) (5) (6) (7) (8) (9)] write [(0) (1)] },
        { soon [(2) (3) (4) (5) (6) (7) (8) (9)] soon_own [(0) (1)] };
    Op::Mix { loads: 5, stores: 1 }, 6, 2 [0 64],
        { read [(1) (2) (3) (4) (5)] write [(0)] },
        { soon [(1) (2) (3) (4) (5)] soon_own [(0)] };
    Op::Mix { loads: 5, stores: 1 }, 12, 1 [0],
        { read [(2) (3) (4) (5) (6) (7) (8) (9) (10) (11)] write [(0) (1)] },
        { soon [(2) (3) (4) (5) (6) (7) (8) (9) (10) (11)] soon_own [(0) (1)] };
    Op::Mix { loads: 6, stores: 1 }, 7, 2 [0 64],
        { read [(1) (2) (3) (4) (5) (6)] write [(0)] },
        { soon [(1) (2) (3) (4) (5) (6)] soon_own [(0)] };
    Op::Mix { loads: 7, stores: 1 }, 8, 1 [0],
        { read [(1) (2) (3) (4) (5) (6) (7)] write [(0)] },
        { soon [(1) (2) (3) (4) (5) (6) (7)] soon_own [(0)] };
    Op::Mix { loads: 8, stores: 1 }, 9, 1 [0],
        { read [(1) (2) (3) (4) (5) (6) (7) (8)] write [(0)] },
        { soon [(1) (2) (3) (4) (5) (6) (7) (8)] soon_own [(0)] };
    Op::MixNt { loads: 1, stores: 1 }, 2, 4 [0 64 128 192],
        { read [(1)] write_nt [(0)] },
        { soon [(1)] };
    Op::MixNt { loads: 1, stores: 1 }, 4, 2 [0 64],
        { read [(2) (3)] write_nt [(0) (1)] },
        { soon [(2) (3)] };
    Op::MixNt { loads: 1, stores: 1 }, 6, 2 [0 64],
        { read [(3) (4) (5)] write_nt [(0) (1) (2)] },
        { soon [(3) (4) (5)] };
    Op::MixNt { loads: 1, stores: 1 }, 8, 1 [0],
        { read [(4) (5) (6) (7)] write_nt [(0) (1) (2) (3)] },
        { soon [(4) (5) (6) (7)] };
    Op::MixNt { loads: 1, stores: 1 }, 12, 1 [0],
        { read [(6) (7) (8) (9) (10) (11)] write_nt [(0) (1) (2) (3) (4) (5)] },
        { soon [(6) (7) (8) (9) (10) (11)] };
    Op::MixNt { loads: 2, stores: 1 }, 3, 4 [0 64 128 192],
        { read [(1) (2)] write_nt [(0)] },
        { soon [(1) (2)] };
    Op::MixNt { loads: 2, stores: 1 }, 6, 2 [0 64],
        { read [(2) (3) (4) (5)] write_nt [(0) (1)] },
        { soon [(2) (3) (4) (5)] };
    Op::MixNt { loads: 2, stores: 1 }, 9, 1 [0],
        { read [(3) (4) (5) (6) (7) (8)] write_nt [(0) (1) (2)] },
        { soon [(3) (4) (5) (6) (7) (8)] };
    Op::MixNt { loads: 2, stores: 1 }, 12, 1 [0],
        { read [(4) (5) (6) (7) (8) (9) (10) (11)] write_nt [(0) (1) (2) (3)] },
        { soon [(4) (5) (6) (7) (8) (9) (10) (11)] };
    Op::MixNt { loads: 3, stores: 1 }, 4, 2 [0 64],
        { read [(1) (2) (3)] write_nt [(0)] },
        { soon [(1) (2) (3)] };
    Op::MixNt { loads: 3, stores: 1 }, 8, 1 [0],
        { read [(2) (3) (4) (5) (6) (7)] write_nt [(0) (1)] },
        { soon [(2) (3) (4) (5) (6) (7)] };
    Op::MixNt { loads: 3, stores: 1 }, 12, 1 [0],
        { read [(3) (4) (5) (6) (7) (8) (9) (10) (11)] write_nt [(0) (1) (2)] },
        { soon [(3) (4) (5) (6) (7) (8) (9) (10) (11)] };
}
