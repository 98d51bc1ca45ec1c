//! `trim_percentage`: a share of the written requests is trimmed again, some time after they
//! were written, and should read as zeros from then on.

use super::read_back::Feed;
use super::written::Piece;
use crate::batch::{Batch, Fill};
use crate::rng::Taus258;
use std::collections::{BTreeMap, VecDeque};
use units::Ddir;

/// How much is trimmed, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trims {
    /// Share of the written requests, in percent.
    pub percent: u32,
    /// Trim after every so many writes.
    pub every: u64,
    /// Most trims at a time; 0: all that there are.
    pub most: u64,
    /// What is trimmed is read back, as zeros; otherwise it is not read.
    pub read_back: bool,
}

/// Written requests that are to be trimmed. A later write takes its range off the list.
#[derive(Clone, Debug)]
pub(super) struct Candidates {
    percent: u32,
    random: Taus258,
    order: VecDeque<Piece>,
    /// Those of `order` that still hold, by place: length and number. Disjoint.
    valid: BTreeMap<(u16, u64), (u32, u64)>,
}

impl Candidates {
    pub fn new(percent: u32, seed: u64) -> Self {
        Candidates {
            percent,
            random: Taus258::new(seed),
            order: VecDeque::new(),
            valid: BTreeMap::new(),
        }
    }

    /// Takes what a request touches off the list, before the request is issued: a trim that
    /// came later would destroy what it writes.
    pub fn writes(&mut self, piece: &Piece) {
        let end = piece.offset + u64::from(piece.len);
        while let Some((&(file, at), &(len, _))) = self.valid.range(..(piece.file, end)).next_back()
            && file == piece.file
            && at + u64::from(len) > piece.offset
        {
            self.valid.remove(&(file, at));
        }
    }

    /// Notes a request that was written.
    pub fn wrote(&mut self, piece: &Piece) {
        self.writes(piece);
        // The high half of the product of a 64-bit draw and 100 is uniform in 0..100.
        let draw = ((u128::from(self.random.draw()) * 100) >> 64) as u32;
        if draw < self.percent {
            self.order.push_back(*piece);
            let place = (piece.file, piece.offset);
            self.valid.insert(place, (piece.len, piece.numberio));
        }
    }

    /// Takes the next request to trim.
    pub fn take(&mut self) -> Option<Piece> {
        while let Some(piece) = self.order.pop_front() {
            let place = (piece.file, piece.offset);
            if self.valid.get(&place) == Some(&(piece.len, piece.numberio)) {
                self.valid.remove(&place);
                return Some(piece);
            }
        }
        None
    }

    pub fn clear(&mut self) {
        self.order.clear();
        self.valid.clear();
    }
}

/// A workload with trims of what it wrote in between.
pub struct WithTrims {
    inner: Box<dyn Fill>,
    feed: Feed,
    trims: Trims,
    writes: u64,
    /// Trims that may still be given out in this turn.
    left: u64,
}

impl WithTrims {
    /// Puts trims between the requests of `inner`; `feed` chooses them.
    pub fn new(inner: Box<dyn Fill>, feed: &Feed, trims: Trims) -> Self {
        WithTrims {
            inner,
            feed: feed.clone(),
            trims,
            writes: 0,
            left: 0,
        }
    }
}

impl Fill for WithTrims {
    fn fill(&mut self, batch: &mut Batch, want: usize) -> usize {
        if self.left > 0 {
            let most = usize::try_from(self.left).unwrap_or(usize::MAX);
            let given = self
                .feed
                .fill_trims(batch, want.min(most), self.trims.read_back);
            if given > 0 {
                self.left -= given as u64;
                return given;
            }
            self.left = 0;
        }
        let every = self.trims.every.max(1);
        let room = every - self.writes % every;
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        let given = self.inner.fill(batch, want.min(room));
        let writes = batch.ddir[..given].iter();
        let before = self.writes / every;
        self.writes += writes.filter(|&&ddir| ddir == Ddir::Write).count() as u64;
        if self.writes / every > before {
            self.left = match self.trims.most {
                0 => u64::MAX,
                most => most,
            };
        }
        given
    }

    fn restart(&mut self) {
        self.left = 0;
        self.inner.restart();
    }

    fn more(&mut self) -> bool {
        self.inner.more()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(offset: u64, len: u32, numberio: u64) -> Piece {
        Piece {
            file: 0,
            offset,
            len,
            numberio,
            seed: 0,
            trimmed: false,
        }
    }

    #[test]
    fn a_later_write_is_not_trimmed_by_an_earlier_candidate() {
        let mut all = Candidates::new(100, 1);
        all.wrote(&piece(0, 4096, 0));
        all.wrote(&piece(4096, 4096, 1));
        all.wrote(&piece(8192, 4096, 2));
        // Touches the first two.
        all.wrote(&piece(2048, 4096, 3));
        let taken: Vec<u64> = std::iter::from_fn(|| all.take())
            .map(|p| p.numberio)
            .collect();
        assert_eq!(taken, [2, 3]);
    }

    #[test]
    fn the_asked_share_is_chosen() {
        let mut all = Candidates::new(25, 7);
        (0..10_000).for_each(|n| all.wrote(&piece(n * 512, 512, n)));
        let taken = std::iter::from_fn(|| all.take()).count();
        assert!((2300..2700).contains(&taken), "{taken}");
    }
}
