//! The block of requests that a generator fills and a worker drains, and the trait between them.

use units::Ddir;

/// One block of requests, generated ahead of their submission, as a structure of arrays.
#[derive(Clone, Debug)]
pub struct Batch {
    /// First byte, from the start of the file or device.
    pub offset: [u64; Batch::CAPACITY],
    /// Bytes; 0 for the synchronisation kinds (for a `SyncFileRange`: to the end of the file).
    pub len: [u32; Batch::CAPACITY],
    /// What the request does.
    pub ddir: [Ddir; Batch::CAPACITY],
    /// Index into the files of the worker.
    pub file: [u16; Batch::CAPACITY],
    /// Number of valid requests.
    pub n: usize,
    /// Next request to issue.
    pub pos: usize,
}

impl Batch {
    /// Requests that one batch can hold.
    pub const CAPACITY: usize = 64;

    /// Makes the batch empty; the arrays keep their old contents.
    #[inline]
    pub fn clear(&mut self) {
        self.n = 0;
        self.pos = 0;
    }

    /// Requests that have not been issued yet.
    #[inline]
    pub fn left(&self) -> usize {
        self.n - self.pos
    }
}

impl Default for Batch {
    fn default() -> Self {
        Batch {
            offset: [0; Batch::CAPACITY],
            len: [0; Batch::CAPACITY],
            ddir: [Ddir::Read; Batch::CAPACITY],
            file: [0; Batch::CAPACITY],
            n: 0,
            pos: 0,
        }
    }
}

/// Has a say in a request while it is made.
pub trait Steer {
    /// In a mix of reads and writes: the direction in place of the one that was `drawn`. The mix
    /// goes on from the answer.
    fn choose(&mut self, drawn: Ddir) -> Ddir {
        drawn
    }

    /// The direction in `file` after all; the mix does not hear of it.
    fn divert(&mut self, _file: usize, chosen: Ddir) -> Ddir {
        chosen
    }

    /// True: requests are not cut where they meet blocks that this pass has visited, nor their
    /// blocks marked, before they are amended.
    fn cuts(&self) -> bool {
        false
    }

    /// The request to come is cut to this many bytes, wherever it goes.
    fn cut(&mut self, _most: u64) {}

    /// Where the sequential requests of a direction go on: the next position, in a region that
    /// starts at `base`.
    fn go_on(&mut self, _file: usize, _ddir: Ddir, _position: &mut u64, _base: &mut u64) {}
}

/// Leaves everything as it is.
pub(crate) struct HandsOff;

impl Steer for HandsOff {}

/// A request that has moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amended {
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u32,
}

/// Generates requests. Boxed once per worker and called once per at most 64 requests, so the
/// indirect call is within noise of an inlined generator.
pub trait Fill: Send {
    /// Empties `batch` and puts up to `want` (at most [`Batch::CAPACITY`]) requests into it.
    /// Returns how many; 0 means that this pass over the region is finished.
    fn fill(&mut self, batch: &mut Batch, want: usize) -> usize;

    /// Puts one request into the emptied `batch`, with `steer` at its side. Returns 1, or 0 at
    /// the end of the pass.
    fn fill_steered(&mut self, batch: &mut Batch, _steer: &mut dyn Steer) -> usize {
        self.fill(batch, 1)
    }

    /// What became of the request that [`fill_steered`](Fill::fill_steered) gave last, if it is
    /// not issued as it was given; `None`: its file has no place for it or any other in this
    /// pass. Sequences go on from there.
    fn amend(&mut self, _became: Option<Amended>) {}

    /// Starts another pass as fio's loops and `time_based` do: the random streams start over
    /// if `randrepeat` is in effect, maps are emptied and sequential positions return to the
    /// start of their region. Counts against `io_size` and `number_ios` go on.
    fn restart(&mut self);

    /// Whether the options ask for another pass after one has ended: `time_based` always,
    /// otherwise while `loops` or the amount of `io_size` are not used up (fio's rule). The
    /// first pass counts as asked for too: `while requests.more() { .. }` runs all of them,
    /// with [`restart`](Fill::restart) between two.
    fn more(&mut self) -> bool;
}
