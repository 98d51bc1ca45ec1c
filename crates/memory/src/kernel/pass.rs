//! Where in a buffer a loop runs, and running it there: the checked side of the machine code.

use super::{Isa, Kernel, LINE, Op, pause};
use sys::area::Area;

/// Distances between streams are kept off multiples of this many bytes by [`SKEW`]: streams that
/// are pages apart fall into the same sets of a cache and the same banks of the memory.
const PAGE: usize = 4096;
/// Share of a buffer that may be left out for the sake of the distance.
const SPARE: usize = 16;

/// Steps between two rounds of flushes.
const FLUSHED: usize = 8;

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
    /// A loop in random order does not tell which lines it has stored.
    #[error("{0} cannot flush the lines that it stores")]
    NothingToFlush(String),
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
    /// Stored lines are flushed soon after.
    flush: bool,
    /// Random loops: where they draw lines.
    window: Window,
}

/// Lines among which a random loop draws, and how long it stays there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Window {
    lines: usize,
    /// Its first line.
    first: usize,
    /// Steps until the next one.
    left: usize,
}

impl Window {
    fn of(kernel: &Kernel, first: usize, lines: usize) -> Window {
        let left = lines.div_ceil(kernel.lines);
        Window { lines, first, left }
    }
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
            flush: false,
            window: Window {
                lines: usize::MAX,
                first: 0,
                left: usize::MAX,
            },
        })
    }

    /// Drops stored lines from the caches soon after they are stored (CLFLUSH), so that memory
    /// has them.
    ///
    /// # Errors
    /// A loop that stores nothing, or in random order.
    pub fn flushing(self) -> Result<Pass, Error> {
        if self.kernel.random || self.kernel.written() == 0 {
            return Err(Error::NothingToFlush(self.kernel.name()));
        }
        Ok(Pass {
            flush: true,
            ..self
        })
    }

    /// A loop in random order stays among so many lines until it has drawn as many, and goes on
    /// with the next ones; others stay as they are.
    pub fn within(self, lines: usize) -> Pass {
        if !self.kernel.random || lines >= self.layout.stride {
            return self;
        }
        let window = Window::of(self.kernel, 0, lines.max(1));
        Pass { window, ..self }
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
        let cycles = delay.saturating_mul((step / LINE) as u64);
        let most = match (delay, self.flush) {
            (0, false) => usize::MAX,
            (0, true) => FLUSHED,
            _ => 1,
        };
        let mut left = steps;
        while left > 0 {
            let part = left.min(most).min(self.window.left);
            let from = self.next;
            self.steps(base, part);
            if self.flush {
                self.flush_stored(area, from, part);
            }
            pause(cycles);
            left -= part;
        }
        self.settle();
        (steps * step) as u64
    }

    /// Flushes what the written streams have stored in `steps` steps from `from` on.
    fn flush_stored(&self, area: &Area, from: usize, steps: usize) {
        let unit = self.kernel.lines * LINE;
        for stream in 0..self.kernel.written() {
            let begin = area.address() + stream * self.layout.stride + from * unit;
            for line in (begin..begin + steps * unit).step_by(LINE) {
                // SAFETY: the loop has just stored to this line of the borrowed area.
                unsafe { super::chase::flush(line) };
            }
        }
    }

    /// Runs `steps`, which are not 0 and do not reach beyond the end.
    fn steps(&mut self, memory: *mut u8, steps: usize) {
        let from = if self.kernel.random {
            self.window.first * LINE
        } else {
            self.next * self.kernel.lines * LINE
        };
        let ahead = if self.kernel.random {
            // Another seed for each call, spread over the word.
            (self.next + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        } else {
            self.ahead
        };
        let stride = self.layout.stride.min(self.window.lines);
        // SAFETY: `advance`, the only caller, saw that the borrowed area has `reach` bytes from
        // `memory` on, aligned; `next + steps <= layout.steps`, so the lines touched are within
        // `reach`, see the module above; a random loop's window is a part of the lines that `reach`
        // has; `new` saw the instructions.
        unsafe { (self.kernel.run)(memory.add(from), stride, steps, ahead, self.value) };
        self.next += steps;
        if self.next >= self.layout.steps && !self.kernel.random {
            self.next = 0;
        }
        if self.window.lines < self.layout.stride {
            self.window.left -= steps;
            if self.window.left == 0 {
                self.next_window();
            }
        }
    }

    /// The next whole window of the buffer; behind the last comes the first.
    fn next_window(&mut self) {
        let Window { lines, first, .. } = self.window;
        let next = first + lines;
        let first = if next + lines <= self.layout.stride {
            next
        } else {
            0
        };
        self.window = Window::of(self.kernel, first, lines);
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
