//! A ring of pointers in memory that it owns, and the loops that follow it.
//!
//! Invariant of the unsafe blocks: every cell of a [`Ring`] is an aligned word inside its area and
//! holds the address of a cell of the same ring; so does `at`. Cells are written by `link` alone,
//! which needs the ring exclusively; everything else that writes to the area stays off the words
//! that are cells, which lie at multiples of [`CELL`].

/// Loads in one turn of `arch::follow`.
pub const LOADS: u64 = 16;
/// Dependent additions in one turn of `arch::count`, one core cycle each.
const CYCLES: u64 = 32;

/// An instruction over and over.
macro_rules! times {
    (16, $text:literal) => {
        concat!(
            $text, $text, $text, $text, $text, $text, $text, $text, $text, $text, $text, $text,
            $text, $text, $text, $text
        )
    };
}

#[cfg(target_arch = "aarch64")]
#[path = "chase_aarch64.rs"]
mod arch;
#[cfg(target_arch = "x86_64")]
#[path = "chase_x86_64.rs"]
mod arch;

use super::LINE;
use std::sync::atomic::{AtomicUsize, Ordering};
use sys::area::Area;

pub(super) use arch::flush;
pub use arch::settle;

/// Cells begin at multiples of this many bytes; the second half is free for [`Ring::dirty`].
pub const CELL: usize = 16;

/// See the module.
#[derive(Debug)]
pub struct Ring {
    area: Area,
    cells: u64,
    first: usize,
    /// Address of the cell that is loaded next.
    at: AtomicUsize,
}

impl Ring {
    /// Links the cells at `order` into one ring, in that order.
    ///
    /// Panics if there are none, or an offset is no multiple of [`CELL`] or outside the area.
    pub fn link(area: Area, order: impl Iterator<Item = usize>) -> Ring {
        let mut ring = Ring {
            area,
            cells: 0,
            first: 0,
            at: AtomicUsize::new(0),
        };
        ring.relink(order);
        ring
    }

    /// Links other cells of the same area. Panics as [`Ring::link`] does.
    pub fn relink(&mut self, mut order: impl Iterator<Item = usize>) {
        let base = self.area.address();
        let checked = |offset: usize| {
            assert!(offset.is_multiple_of(CELL), "no cell at {offset}");
            assert!(offset < self.area.bytes(), "{offset} is outside the area");
            offset
        };
        let first = checked(order.next().expect("a ring needs a cell"));
        let mut last = first;
        let mut cells = 1;
        for offset in order {
            // The next cell is known to be good before its address is written down.
            let offset = checked(offset);
            self.area.store(last, (base + offset) as u64);
            last = offset;
            cells += 1;
        }
        self.area.store(last, (base + first) as u64);
        self.cells = cells;
        self.first = base + first;
        self.at = AtomicUsize::new(base + first);
    }

    /// Cells in the ring.
    pub fn cells(&self) -> u64 {
        self.cells
    }

    /// Bytes of the area.
    pub fn bytes(&self) -> usize {
        self.area.bytes()
    }

    /// The memory again.
    pub fn into_area(self) -> Area {
        self.area
    }

    /// Continues from the first cell.
    pub fn rewind(&self) {
        self.at.store(self.first, Ordering::Relaxed);
    }

    /// Loads at least `loads` cells, one after the other, from where the last call ended; how many
    /// it were.
    #[inline]
    pub fn follow(&self, loads: u64) -> u64 {
        let turns = loads.div_ceil(LOADS).max(1);
        let at = self.at.load(Ordering::Relaxed);
        // SAFETY: `at` is a cell, and so is whatever it leads to.
        let end = unsafe { arch::follow(at, turns) };
        self.at.store(end, Ordering::Relaxed);
        turns * LOADS
    }

    /// Loads one cell and returns the ticks of the time-stamp counter that it took, overhead
    /// included.
    #[inline]
    pub fn timed(&self) -> u64 {
        let at = self.at.load(Ordering::Relaxed);
        // SAFETY: as in `follow`.
        let (end, ticks) = unsafe { arch::timed(at) };
        self.at.store(end, Ordering::Relaxed);
        ticks
    }

    /// Loads the first words of `loads` lines, each drawn from the `lines` (not 0) that begin at
    /// offset `from`, whatever was drawn before; returns the state of the draw to go on with. A
    /// draw waits for the word that the last one loaded, by a bit of it that is never set: the
    /// area holds pointers and counters.
    pub fn wander(&self, from: usize, lines: usize, loads: u64, mut state: u64) -> u64 {
        /// Knuth's multiplier for 64 bits; only the upper half of the state is used.
        const FACTOR: u64 = 6_364_136_223_846_793_005;
        for _ in 0..loads {
            let line = ((u128::from(state) * lines as u128) >> 64) as usize;
            let never = self.area.load(from + line * LINE) >> 63;
            state = state.wrapping_mul(FACTOR).wrapping_add(1 + never);
        }
        state
    }

    /// Stores into the line of every cell, beside the pointer: the calling CPU then has them
    /// modified.
    pub fn dirty(&self) {
        self.each(|ring, offset| {
            let word = ring.area.word(offset + CELL / 2);
            word.store(
                word.load(Ordering::Relaxed).wrapping_add(1),
                Ordering::Relaxed,
            );
        });
        settle();
    }

    /// Loads every cell once.
    pub fn read(&self) {
        self.each(|_, _| {});
        settle();
    }

    /// Drops the line of every cell from all caches.
    pub fn flush(&self) {
        let base = self.area.address();
        self.each(|_, offset| {
            // SAFETY: the cell is inside the area.
            unsafe { arch::flush(base + offset) };
        });
        settle();
    }

    /// Offsets of the cells from the first on, once around.
    pub fn offsets(&self) -> Vec<usize> {
        let mut offsets = Vec::with_capacity(self.cells as usize);
        self.each(|_, offset| offsets.push(offset));
        offsets
    }

    /// Calls `work` with the offset of every cell once.
    fn each(&self, mut work: impl FnMut(&Ring, usize)) {
        let base = self.area.address();
        let mut offset = self.first - base;
        for _ in 0..self.cells {
            let next = self.area.load(offset) as usize - base;
            work(self, offset);
            offset = next;
        }
    }
}

/// Takes at least `cycles` cycles of the core and returns how many it were.
pub fn count_cycles(cycles: u64) -> u64 {
    let turns = cycles.div_ceil(CYCLES).max(1);
    arch::count(turns);
    turns * CYCLES
}

#[cfg(test)]
mod tests {
    use super::*;
    use sys::area::Pages;

    fn area() -> Area {
        Area::map(1 << 16, Pages::Base).unwrap()
    }

    #[test]
    fn following_visits_the_cells_in_order_and_remembers_its_place() {
        let order: Vec<usize> = (0..48).map(|k| (k * 7 % 48) * 64).collect();
        let ring = Ring::link(area(), order.iter().copied());
        assert_eq!((ring.cells(), ring.offsets()), (48, order.clone()));
        let base = ring.area.address();
        let place = |ring: &Ring| ring.at.load(Ordering::Relaxed) - base;
        assert_eq!(ring.follow(1), 16);
        assert_eq!(place(&ring), order[16]);
        assert_eq!(ring.follow(17), 32);
        assert_eq!(place(&ring), order[0]);
        assert!(ring.timed() > 0 || cfg!(target_arch = "aarch64"));
        assert_eq!(place(&ring), order[1]);
        ring.rewind();
        assert_eq!(place(&ring), order[0]);
    }

    #[test]
    fn dirtying_and_flushing_leave_the_ring_whole() {
        let mut ring = Ring::link(area(), [0, 128, 64].into_iter());
        ring.dirty();
        ring.dirty();
        ring.flush();
        assert_eq!(ring.offsets(), [0, 128, 64]);
        assert_eq!(ring.area.load(64 + 8), 2);
        ring.relink([4096, 0].into_iter());
        assert_eq!((ring.cells(), ring.offsets()), (2, vec![4096, 0]));
        assert_eq!(ring.into_area().bytes(), 1 << 16);
    }

    #[test]
    fn cells_outside_the_area_or_askew_are_refused() {
        for order in [vec![], vec![0, 1 << 16], vec![8]] {
            let linked = std::panic::catch_unwind(|| Ring::link(area(), order.iter().copied()));
            assert!(linked.is_err(), "{order:?}");
        }
    }

    #[test]
    fn cycles_are_counted_in_whole_turns() {
        assert_eq!(count_cycles(1), 32);
        assert_eq!(count_cycles(33), 64);
    }
}
