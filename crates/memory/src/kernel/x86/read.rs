//! Loads alone, of 1 to 12 streams. With stores beside them a second prefetch gains nothing; alone,
//! it kept more of a core's misses under way (a tenth to a sixth more bytes where it was tried).

use super::super::Op;
use super::{Isa, Kernel};

family! {
    Op::Read, 1, 8 [0 64 128 192 256 320 384 448], { read [(0)] }, { soon_twice [(0)] };
    Op::Read, 2, 4 [0 64 128 192], { read [(0) (1)] }, { soon_twice [(0) (1)] };
    Op::Read, 3, 4 [0 64 128 192], { read [(0) (1) (2)] }, { soon_twice [(0) (1) (2)] };
    Op::Read, 4, 4 [0 64 128 192],
        { read [(0) (1) (2) (3)] },
        { soon_twice [(0) (1) (2) (3)] };
    Op::Read, 6, 2 [0 64],
        { read [(0) (1) (2) (3) (4) (5)] },
        { soon_twice [(0) (1) (2) (3) (4) (5)] };
    Op::Read, 8, 1 [0],
        { read [(0) (1) (2) (3) (4) (5) (6) (7)] },
        { soon_twice [(0) (1) (2) (3) (4) (5) (6) (7)] };
    Op::Read, 10, 1 [0],
        { read [(0) (1) (2) (3) (4) (5) (6) (7) (8) (9)] },
        { soon_twice [(0) (1) (2) (3) (4) (5) (6) (7) (8) (9)] };
    Op::Read, 12, 1 [0],
        { read [(0) (1) (2) (3) (4) (5) (6) (7) (8) (9) (10) (11)] },
        { soon_twice [(0) (1) (2) (3) (4) (5) (6) (7) (8) (9) (10) (11)] };
}
