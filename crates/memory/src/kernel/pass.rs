//! Where in a buffer a loop runs, and running it there: the checked side of the machine code.

use super::{Isa, Kernel, LINE, Op, pause};
use sys::area::Area;

/// Distances between streams are kept off multiples of this many bytes by [`SKEW`]: streams that
/// are pages apart fall into the same sets of a cache and the same banks of the memory.
const PAGE: usize = 4096;
/// Share of a buffer that may be left out for the sake of the distance.
const SPARE: usize = 16;

/// Why a loop cannot run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Not one step fits.
    #[error("{name} needs {needed} bytes, the buffer has {bytes}")]
    TooSmall {
        /// The loop.
        name: String,
        /// The least it needs.
        needed: usize,
        /// What there is.
        bytes: usize,
    },
    /// The processor lacks the instructions.
    #[error("this processor has no {}", .0.name())]
    Unsupported(Isa),
}

/// Which bytes of a buffer a loop covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bytes between the starts of neighbouring streams; for random order, lines in all.
    pub stride: usize,
    /// Steps from the start to the end of each stream.
    pub steps: usize,
    /// Bytes of the buffer that are needed.
    pub reach: usize,
}

impl Kernel {
    /// How the loop covers a buffer of `bytes`.
    ///
    /// # Errors
    /// If not one step fits.
    pub fn layout(&self, bytes: usize) -> Result<Layout, Error> {
        let needed = self.bytes_per_step();
        if bytes < needed {
            let name = self.name();
            return Err(Error::TooSmall {
                name,
                needed,
                bytes,
            });
        }
        if self.random {
            // The loops multiply a line number with a random half word.
            let lines = (bytes / LINE).min(u32::MAX as usize);
            return Ok(Layout {
                stride: lines,
                steps: bytes / needed,
                reach: lines * LINE,
            });
        }
        let unit = self.lines * LINE;
        let stride = self.distance(bytes);
        let steps = stride / unit;
        let reach = (self.streams - 1) * stride + steps * unit;
        Ok(Layout {
            stride,
            steps,
            reach,
        })
    }

    /// The distance between streams: as long as fits, and an odd number of lines past pages.
    fn distance(&self, bytes: usize) -> usize {
        let unit = self.lines * LINE;
        let longest = bytes / self.streams / unit * unit;
        if self.streams == 1 || longest < PAGE * SPARE {
            return longest;
        }
        // Streams spread evenly over a page's worth of cache sets.
        let skew = ((PAGE / self.streams / LINE) | 1) * LINE;
        let stride = longest / PAGE * PAGE + skew;
        if stride <= longest {
            stride
        } else {
            stride - PAGE
        }
    }
}

/// A loop on its way through a buffer, again and again.
#[derive(Clone, Debug)]
pub struct Pass {
    kernel: &'static Kernel,
    layout: Layout,
    ahead: usize,
    value: f64,
    /// The step that comes next, below `layout.steps`; random loops: steps done.
    next: usize,
}

impl Pass {
    /// For buffers of at least `bytes`, with prefetches `ahead` bytes before the loads (if the
    /// loop has any).
    ///
    /// # Errors
    /// If not one step fits or the processor lacks the instructions.
    pub fn new(kernel: &'static Kernel, bytes: usize, ahead: usize) -> Result<Pass, Error> {
        if !kernel.isa.supported() {
            return Err(Error::Unsupported(kernel.isa));
        }
        Ok(Pass {
            kernel,
            layout: kernel.layout(bytes)?,
            ahead,
            value: 1.25,
            next: 0,
        })
    }

    /// What is stored, or multiplied by.
    pub fn with_value(self, value: f64) -> Pass {
        Pass { value, ..self }
    }

    /// The loop.
    pub fn kernel(&self) -> &'static Kernel {
        self.kernel
    }

    /// Where it runs.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Goes on for about `bytes`, at least one step and at most to the end of the buffer, where
    /// the next call starts over, with a pause of about `delay` cycles of the core for each line.
    /// Returns the bytes loaded and stored; the stores are complete.
    ///
    /// Panics if `area` is smaller than what the pass was made for, or not aligned to a line.
    pub fn advance(&mut self, area: &Area, bytes: usize, delay: u64) -> u64 {
        assert!(
            area.bytes() >= self.layout.reach && area.address().is_multiple_of(LINE),
            "{} needs {} aligned bytes",
            self.kernel.name(),
            self.layout.reach
        );
        let base = std::ptr::with_exposed_provenance_mut(area.address());
        let step = self.kernel.bytes_per_step();
        let left = if self.kernel.random {
            self.layout.steps
        } else {
            self.layout.steps - self.next
        };
        let steps = (bytes / step).clamp(1, left);
        if delay == 0 {
            self.steps(base, steps);
        } else {
            let cycles = delay.saturating_mul((step / LINE) as u64);
            for _ in 0..steps {
                self.steps(base, 1);
                pause(cycles);
            }
        }
        self.settle();
        (steps * step) as u64
    }

    /// Runs `steps`, which are not 0 and do not reach beyond the end.
    fn steps(&mut self, memory: *mut u8, steps: usize) {
        let from = if self.kernel.random {
            0
        } else {
            self.next * self.kernel.lines * LINE
        };
        let ahead = if self.kernel.random {
            // Another seed for each call, spread over the word.
            (self.next + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        } else {
            self.ahead
        };
        // SAFETY: `advance`, the only caller, saw that the borrowed area has `reach` bytes from
        // `memory` on, aligned; `next + steps <= layout.steps`, so the lines touched are within
        // `reach`, see the module above; `new` saw the instructions.
        unsafe {
            (self.kernel.run)(
                memory.add(from),
                self.layout.stride,
                steps,
                ahead,
                self.value,
            )
        };
        self.next += steps;
        if self.next >= self.layout.steps && !self.kernel.random {
            self.next = 0;
        }
    }

    /// Stores past the caches are ordered before everything that follows.
    fn settle(&self) {
        if !self.kernel.op.traffic().nt {
            return;
        }
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a fence of SSE, which every x86-64 has.
        unsafe {
            core::arch::x86_64::_mm_sfence()
        };
        #[cfg(not(target_arch = "x86_64"))]
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    }
}

/// Fills an area with ordinary numbers, so that arithmetic on it is ordinary arithmetic.
///
/// # Errors
/// An area of less than a few lines.
pub fn fill(area: &Area, value: f64) -> Result<(), Error> {
    let isa = Isa::widest().unwrap_or(Isa::Sse2);
    let write = super::find(Op::Write, isa, 1, false).ok_or(Error::Unsupported(isa))?;
    let mut pass = Pass::new(write, area.bytes(), 0)?.with_value(value);
    pass.advance(area, usize::MAX, 0);
    Ok(())
}
