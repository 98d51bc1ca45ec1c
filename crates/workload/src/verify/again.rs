//! `experimental_verify`: the sequence of writes is generated a second time to read it back, so
//! that nothing has to be kept while writing.

use super::read_back::Feed;
use super::written::Piece;
use crate::batch::{Batch, Fill};
use std::sync::{Arc, Mutex};
use units::Ddir;

/// A second generator of a workload, which follows pass by pass.
#[derive(Clone)]
pub struct Twin(Arc<Mutex<State>>);

struct State {
    inner: Box<dyn Fill>,
    /// A pass has begun.
    begun: bool,
}

impl Twin {
    /// A twin from a generator of its own, in the state of the workload's beginning.
    pub fn new(inner: Box<dyn Fill>) -> Self {
        let state = State {
            inner,
            begun: false,
        };
        Twin(Arc::new(Mutex::new(state)))
    }

    /// The reads of what the present pass wrote: `writes` requests, the first of them with
    /// number `number`. Seeds are not known again.
    pub fn read_back(&self, feed: &Feed, number: u64, writes: u64) -> Box<dyn Fill> {
        let mut state = self.0.lock().expect("nothing panics under this lock");
        if state.begun {
            // The rest of the pass before, if it ended in other requests.
            let mut batch = Batch::default();
            while state.inner.fill(&mut batch, Batch::CAPACITY) > 0 {}
            state.inner.restart();
        }
        state.begun = true;
        Box::new(Again {
            twin: self.clone(),
            feed: feed.clone(),
            next: number,
            left: writes,
        })
    }
}

struct Again {
    twin: Twin,
    feed: Feed,
    next: u64,
    left: u64,
}

impl Fill for Again {
    fn fill(&mut self, batch: &mut Batch, want: usize) -> usize {
        let mut state = self.twin.0.lock().expect("nothing panics under this lock");
        let mut expected = Vec::with_capacity(Batch::CAPACITY);
        let want = want.min(usize::try_from(self.left).unwrap_or(usize::MAX));
        loop {
            if want == 0 || state.inner.fill(batch, want) == 0 {
                batch.clear();
                return 0;
            }
            for at in (0..batch.n).filter(|&at| batch.ddir[at] == Ddir::Write) {
                expected.push(Piece {
                    file: batch.file[at],
                    offset: batch.offset[at],
                    len: batch.len[at],
                    numberio: self.next,
                    seed: 0,
                    trimmed: false,
                });
                self.next += 1;
            }
            if !expected.is_empty() {
                break;
            }
        }
        batch.clear();
        for piece in &expected {
            let at = batch.n;
            batch.file[at] = piece.file;
            batch.offset[at] = piece.offset;
            batch.len[at] = piece.len;
            batch.ddir[at] = Ddir::Read;
            batch.n += 1;
        }
        self.left -= batch.n as u64;
        self.feed.expect(&expected);
        batch.n
    }

    fn restart(&mut self) {}

    fn more(&mut self) -> bool {
        self.left > 0
    }
}

#[cfg(test)]
mod tests {
    use super::super::written::{ReadOrder, Written};
    use super::*;
    use crate::{Direction, FileRegion, Spec, generator};

    #[test]
    fn reads_repeat_the_writes_of_each_pass() {
        let spec = Spec {
            direction: Direction::RandReadWrite,
            files: vec![FileRegion::new(0, 1 << 19)],
            size: 1 << 19,
            loops: 3,
            randrepeat: false,
            randseed_given: true,
            ..Spec::default()
        };
        let mut workload = generator(&spec).unwrap();
        let twin = Twin::new(generator(&spec).unwrap());
        let feed = Feed::new(Written::new(ReadOrder::Written, 0));
        let (mut batch, mut number, mut first) = (Batch::default(), 0, true);
        while workload.more() {
            if !std::mem::take(&mut first) {
                workload.restart();
            }
            let (mut wrote, base) = (Vec::new(), number);
            while workload.fill(&mut batch, 64) > 0 {
                let writes = (0..batch.n).filter(|&at| batch.ddir[at] == Ddir::Write);
                wrote.extend(writes.map(|at| batch.offset[at]));
            }
            number += wrote.len() as u64;
            let mut reads = twin.read_back(&feed, base, wrote.len() as u64);
            let mut read = Vec::new();
            while reads.fill(&mut batch, 64) > 0 {
                read.extend_from_slice(&batch.offset[..batch.n]);
            }
            assert_eq!(read, wrote);
            let mut expected = Default::default();
            feed.take_expected(&mut expected);
            assert!(expected.iter().map(|piece| piece.numberio).eq(base..number));
        }
        assert!(number > 150);
    }
}
