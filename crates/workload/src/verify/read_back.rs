//! Reads back what was written: generators whose requests come from the log, and the way by
//! which the loop that issues them learns what each should find.
//!
//! Generator and loop share one [`Feed`]. It is locked once per block of requests, by the loop
//! too as long as it hands over written requests in blocks.

use super::trims::Candidates;
use super::written::{Backlog, Piece, Written};
use crate::batch::{Amended, Batch, Fill, Steer};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use units::Ddir;

/// The log of written requests and those of them that are being read back.
#[derive(Clone, Debug)]
pub struct Feed(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    written: Written,
    /// Requests given to a batch, in order, that the loop has not taken up.
    expected: VecDeque<Piece>,
    /// Which of the written requests are to be trimmed.
    candidates: Option<Candidates>,
}

impl Feed {
    /// A feed from a log.
    pub fn new(written: Written) -> Self {
        Feed(Arc::new(Mutex::new(State {
            written,
            expected: VecDeque::new(),
            candidates: None,
        })))
    }

    /// Chooses `percent` of the written requests to be trimmed.
    pub fn trims(&self, percent: u32, seed: u64) {
        self.lock().candidates = Some(Candidates::new(percent, seed));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("nothing panics under this lock")
    }

    /// A request is about to be written: what it touches is not trimmed any more.
    pub fn writes(&self, piece: &Piece) {
        if let Some(candidates) = &mut self.lock().candidates {
            candidates.writes(piece);
        }
    }

    /// Adds written requests to the log and empties `pieces`.
    pub fn log(&self, pieces: &mut Vec<Piece>) {
        let mut state = self.lock();
        for piece in pieces.drain(..) {
            state.written.push(&piece);
            if let Some(candidates) = &mut state.candidates {
                candidates.wrote(&piece);
            }
        }
    }

    /// Adds a request that failed: its range is not read back.
    pub fn log_failed(&self, piece: &Piece) {
        let mut state = self.lock();
        state.written.push(piece);
        state.written.fail(piece);
    }

    /// Moves the requests that generators have given out since the last call to `expected`.
    pub fn take_expected(&self, expected: &mut VecDeque<Piece>) {
        expected.append(&mut self.lock().expected);
    }

    /// Adds requests that are given out for reading.
    pub fn expect(&self, pieces: &[Piece]) {
        self.lock().expected.extend(pieces);
    }

    /// Forgets everything: another pass begins.
    pub fn clear(&self) {
        let mut state = self.lock();
        state.written.clear();
        state.expected.clear();
        if let Some(candidates) = &mut state.candidates {
            candidates.clear();
        }
    }

    /// Requests that reading back would yield, at most.
    pub fn len(&self) -> usize {
        self.lock().written.len()
    }

    /// True when there is nothing to read back.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills a batch with up to `want` trims of chosen requests; `read_back`: they are read back
    /// as zeros.
    pub(super) fn fill_trims(&self, batch: &mut Batch, want: usize, read_back: bool) -> usize {
        batch.clear();
        let mut state = self.lock();
        while batch.n < want.min(Batch::CAPACITY) {
            let taken = state.candidates.as_mut().and_then(Candidates::take);
            let Some(piece) = taken else { break };
            if !state.written.trim(&piece, read_back) {
                // It has been read back already.
                continue;
            }
            let at = batch.n;
            batch.offset[at] = piece.offset;
            batch.len[at] = piece.len;
            batch.ddir[at] = Ddir::Trim;
            batch.file[at] = piece.file;
            batch.n += 1;
        }
        batch.n
    }

    /// Fills a batch with up to `want` reads of the log.
    fn fill(&self, batch: &mut Batch, want: usize) -> usize {
        batch.clear();
        let mut state = self.lock();
        while batch.n < want.min(Batch::CAPACITY) {
            let Some(piece) = state.written.pop() else {
                break;
            };
            let at = batch.n;
            batch.offset[at] = piece.offset;
            batch.len[at] = piece.len;
            batch.ddir[at] = Ddir::Read;
            batch.file[at] = piece.file;
            batch.n += 1;
            state.expected.push_back(piece);
        }
        batch.n
    }
}

/// Reads everything in the log once.
#[derive(Clone, Debug)]
pub struct ReadBack(Feed);

impl ReadBack {
    /// A generator over the log.
    pub fn new(feed: &Feed) -> Self {
        ReadBack(feed.clone())
    }
}

impl Fill for ReadBack {
    fn fill(&mut self, batch: &mut Batch, want: usize) -> usize {
        self.0.fill(batch, want)
    }

    /// The log decides what is left; there is no position to go back to.
    fn restart(&mut self) {}

    fn more(&mut self) -> bool {
        !self.0.is_empty()
    }
}

/// `verify_backlog`: a workload with reads of the log in between. Batches end where the log
/// has its turn; a log whose requests are still in flight gets it a little later.
pub struct WithBacklog {
    inner: Box<dyn Fill>,
    feed: Feed,
    backlog: Backlog,
    /// Writes given out and not yet given out for reading.
    outstanding: u64,
    after_read: bool,
}

impl WithBacklog {
    /// Puts reads of the feed's log between the requests of `inner`.
    pub fn new(inner: Box<dyn Fill>, feed: &Feed, backlog: Backlog) -> Self {
        WithBacklog {
            inner,
            feed: feed.clone(),
            backlog,
            outstanding: 0,
            after_read: false,
        }
    }
}

impl WithBacklog {
    /// A batch of at most `want`: reads of the log where they are due, else what `requests`
    /// takes from the workload.
    fn give(
        &mut self,
        batch: &mut Batch,
        want: usize,
        requests: impl FnOnce(&mut dyn Fill, &mut Batch, usize) -> usize,
    ) -> usize {
        let pending = usize::try_from(self.outstanding).unwrap_or(usize::MAX);
        if self.backlog.is_due(pending, self.after_read) {
            let reads = self.feed.fill(batch, want.min(self.backlog.left()));
            (0..reads).for_each(|_| self.backlog.took());
            self.outstanding = self.outstanding.saturating_sub(reads as u64);
            if reads > 0 {
                self.after_read = true;
                return reads;
            }
        }
        let room = self.backlog.until_due(self.outstanding);
        let given = requests(self.inner.as_mut(), batch, want.min(room));
        let writes = batch.ddir[..given]
            .iter()
            .filter(|&&ddir| ddir == Ddir::Write)
            .count();
        self.outstanding += writes as u64;
        self.after_read = given > 0 && batch.ddir[given - 1] == Ddir::Read;
        given
    }
}

impl Fill for WithBacklog {
    fn fill(&mut self, batch: &mut Batch, want: usize) -> usize {
        self.give(batch, want, |inner, batch, want| inner.fill(batch, want))
    }

    fn fill_steered(&mut self, batch: &mut Batch, steer: &mut dyn Steer) -> usize {
        self.give(batch, 1, |inner, batch, _| inner.fill_steered(batch, steer))
    }

    fn amend(&mut self, became: Option<Amended>) {
        self.inner.amend(became);
    }

    fn restart(&mut self) {
        self.outstanding = 0;
        self.inner.restart();
    }

    fn more(&mut self) -> bool {
        self.inner.more()
    }
}

#[cfg(test)]
mod tests {
    use super::super::written::ReadOrder;
    use super::*;
    use crate::{BlockSize, Direction, FileRegion, Spec, generator};
    use units::PerDdir;

    /// Runs a generator, writing and reading at once; the trace of directions and all reads.
    fn run(mut fill: Box<dyn Fill>, feed: &Feed) -> (String, Vec<Piece>) {
        let mut batch = Batch::default();
        let (mut trace, mut number, mut expected) = (String::new(), 0, VecDeque::new());
        while fill.fill(&mut batch, 64) > 0 {
            feed.take_expected(&mut expected);
            for at in 0..batch.n {
                if batch.ddir[at] == Ddir::Read {
                    trace.push('r');
                } else {
                    trace.push('w');
                    let piece = Piece {
                        file: batch.file[at],
                        offset: batch.offset[at],
                        len: batch.len[at],
                        numberio: number,
                        seed: number,
                        trimmed: false,
                    };
                    number += 1;
                    feed.log(&mut vec![piece]);
                }
            }
        }
        (trace, expected.into())
    }

    fn writes(n: u64) -> (Box<dyn Fill>, Feed) {
        let spec = Spec {
            direction: Direction::RandWrite,
            block: PerDdir::splat(BlockSize::fixed(4096)),
            files: vec![FileRegion::new(0, n * 4096)],
            size: n * 4096,
            ..Spec::default()
        };
        let order = ReadOrder::of(&spec);
        assert_eq!(order, ReadOrder::Written);
        (generator(&spec).unwrap(), Feed::new(Written::new(order, 0)))
    }

    #[test]
    fn everything_is_read_once_in_the_order_of_writing() {
        let (fill, feed) = writes(200);
        let (trace, none) = run(fill, &feed);
        assert_eq!((trace, none.len()), ("w".repeat(200), 0));
        assert_eq!(feed.len(), 200);
        let (trace, pieces) = run(Box::new(ReadBack::new(&feed)), &feed);
        assert_eq!(trace, "r".repeat(200));
        assert!(pieces.iter().map(|piece| piece.numberio).eq(0..200));
        assert!(feed.is_empty());
    }

    #[test]
    fn a_backlog_takes_turns() {
        for (every, batch, writes_n, wanted) in [
            (3, 0, 7, "wwwrrrwwwrrrw"),
            (4, 2, 8, "wwwwrrwwrrwwrr"),
            (100, 0, 3, "www"),
        ] {
            let (inner, feed) = writes(writes_n);
            let backlog = Backlog::new(every, batch);
            let fill = Box::new(WithBacklog::new(inner, &feed, backlog));
            assert_eq!(run(fill, &feed).0, wanted, "every {every} batch {batch}");
        }
    }
}
