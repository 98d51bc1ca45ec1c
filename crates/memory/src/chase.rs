//! A chain of dependent loads, timed.
//!
//! One reading is a block of loads that takes the sample time, a few milliseconds at least, between
//! two readings of the raw monotonic clock: what the clock costs is lost in it. A core's frequency
//! comes from dependent additions timed the same way, because the time-stamp counter does not
//! follow the core.

use crate::error::Error;
use crate::kernel::LINE;
use crate::kernel::chase::{Ring, count_cycles};
use crate::layout::Layout;
use crate::machine::{Machine, mib};
use crate::place::{Buffer, Placement, Wish};
use crate::sample::{Better, Reading, Rule, collect};
use crate::watch::{HostWatch, ThreadWatch, watched};
use result::memory::Figure;
use std::cell::Cell;
use std::convert::Infallible;
use std::ops::Range;
use std::time::Duration;
use sys::clock::monotonic_raw_ns;

/// Loads from which the number for a sample is estimated.
const PROBE: u64 = 2048;
/// Fewest loads in a reading.
const FEWEST: u64 = 256;
/// Core cycles in one reading of the frequency: about a millisecond.
const CYCLES: u64 = 3_000_000;

/// A linked buffer.
#[derive(Debug)]
pub struct Chain {
    ring: Ring,
    layout: Layout,
    got: Placement,
    /// Time of one load by the last reading; 0 before the first.
    last_ns: Cell<f64>,
    /// State of the draw of [`Chain::wandering`].
    drawn: Cell<u64>,
}

impl Chain {
    /// Makes, fills and links a buffer, from the calling thread unless `wish` says otherwise.
    ///
    /// # Errors
    /// Those of [`Buffer::new`], and a layout that does not go with the buffer.
    pub fn new(machine: &Machine, wish: &Wish, layout: Layout) -> Result<Chain, Error> {
        // Before gigabytes are filled for nothing.
        layout.order(wish.bytes as usize).map_err(Error::Refused)?;
        let mut chain = Chain::of(Buffer::new(machine, wish)?, layout)?;
        // A buffer ends with its last page, which may lie far behind a small working set.
        if (wish.bytes as usize) < chain.ring.bytes() {
            chain.relink(layout, wish.bytes as usize)?;
        }
        Ok(chain)
    }

    /// Links a buffer.
    ///
    /// # Errors
    /// The layout does not go with the buffer.
    pub fn of(buffer: Buffer, layout: Layout) -> Result<Chain, Error> {
        let (area, got) = buffer.into_parts();
        let order = layout.order(area.bytes()).map_err(Error::Refused)?;
        Ok(Chain {
            ring: Ring::link(area, order),
            layout,
            got,
            last_ns: Cell::new(0.0),
            drawn: Cell::new(1),
        })
    }

    /// Links the first `bytes` of the buffer anew.
    ///
    /// # Errors
    /// The layout does not go with so many bytes, or the buffer has fewer.
    pub fn relink(&mut self, layout: Layout, bytes: usize) -> Result<(), Error> {
        if bytes > self.ring.bytes() {
            return Err(Error::refused(format!(
                "{} is more than the buffer",
                mib(bytes as u64)
            )));
        }
        let order = layout.order(bytes).map_err(Error::Refused)?;
        self.ring.relink(order);
        self.layout = layout;
        self.last_ns.set(0.0);
        Ok(())
    }

    /// Links the first `cells` places of the order over the first `bytes` alone. For transfers
    /// between caches, where every line is to be touched by nothing but its own load.
    pub(crate) fn relink_first(
        &mut self,
        layout: Layout,
        bytes: usize,
        cells: usize,
    ) -> Result<(), Error> {
        let order = layout.order(bytes).map_err(Error::Refused)?;
        self.ring.relink(order.take(cells));
        self.layout = layout;
        self.last_ns.set(0.0);
        Ok(())
    }

    /// The order of the loads.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Where the buffer is.
    pub fn placement(&self) -> &Placement {
        &self.got
    }

    /// The ring itself.
    pub fn ring(&self) -> &Ring {
        &self.ring
    }

    /// Mean time of a load over about `sample`, ns. Time in which the thread did not run is left
    /// out, so that a reading on a busy machine, which is marked as disturbed, is not far off.
    pub fn reading(&self, sample: Duration) -> Reading {
        self.timed(sample, |chain, loads| chain.block(loads))
    }

    /// The same of loads that are drawn within `place`, offsets in the buffer: each line as likely
    /// as any other every time, where a ring passes through all before it comes back. A load
    /// includes the draw, a constant.
    pub fn wandering(&self, place: &Range<usize>, sample: Duration) -> Reading {
        self.timed(sample, |chain, loads| chain.wander(place, loads))
    }

    /// A reading of about `sample` of `block`, which gets a number of loads.
    fn timed(&self, sample: Duration, block: impl Fn(&Chain, u64) -> f64) -> Reading {
        if self.last_ns.get() == 0.0 {
            block(self, PROBE);
        }
        let loads = (sample.as_nanos() as f64 / self.last_ns.get()) as u64;
        let host = HostWatch::start();
        let thread = ThreadWatch::start();
        let each_ns = block(self, loads.max(FEWEST));
        let used = thread.stop();
        let ran = used.cpu_ns.min(used.wall_ns) as f64 / used.wall_ns.max(1) as f64;
        Reading {
            value: each_ns * ran,
            disturbed: host.stop(&[used]),
        }
    }

    /// Mean time of a load over `loads` or a few more, ns.
    pub fn block(&self, loads: u64) -> f64 {
        let begun = monotonic_raw_ns();
        let done = self.ring.follow(loads);
        let each_ns = (monotonic_raw_ns() - begun).max(1) as f64 / done as f64;
        self.last_ns.set(each_ns);
        each_ns
    }

    /// Mean time of a load of [`Chain::wandering`] over `loads`, ns.
    pub fn wander(&self, place: &Range<usize>, loads: u64) -> f64 {
        let lines = place.len() / LINE;
        let begun = monotonic_raw_ns();
        let drawn = self
            .ring
            .wander(place.start, lines, loads, self.drawn.get());
        self.drawn.set(drawn);
        let each_ns = (monotonic_raw_ns() - begun).max(1) as f64 / loads as f64;
        self.last_ns.set(each_ns);
        each_ns
    }
}

/// The calling thread's core frequency now, in cycles per nanosecond (GHz).
pub fn core_ghz() -> Figure {
    let rule = Rule {
        samples: 5,
        warm_up: 1,
        cap: Duration::from_millis(200),
        ..Rule::default()
    };
    let figure = collect(&rule, Better::Higher, || {
        let ((cycles, ns), disturbed) = watched(|| {
            let begun = monotonic_raw_ns();
            let cycles = count_cycles(CYCLES);
            (cycles, monotonic_raw_ns() - begun)
        });
        Ok::<_, Infallible>(Reading {
            value: cycles as f64 / ns.max(1) as f64,
            disturbed,
        })
    });
    match figure {
        Ok(figure) => figure,
        Err(never) => match never {},
    }
}
