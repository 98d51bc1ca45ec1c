//! The log of what a worker wrote, for reading it back: which requests still stand on the
//! medium, in the order in which fio verifies them.
//!
//! Requests that cannot overlap are read in the order of writing; others are sorted by file
//! and offset, and a later one displaces every earlier one that it touches, as in fio. An entry
//! takes 28 bytes; displaced ones are found when the log is read, not when it is written.

use crate::spec::{Distribution, Spec};
use std::collections::BTreeMap;

/// One written (or trimmed) request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Index of the file.
    pub file: u16,
    /// First byte.
    pub offset: u64,
    /// Bytes, below 2^31.
    pub len: u32,
    /// Number of the write among the worker's writes, below 2^47.
    pub numberio: u64,
    /// Seed of the data.
    pub seed: u64,
    /// Trimmed rather than written.
    pub trimmed: bool,
}

/// A [`Piece`] in 28 bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
struct Entry {
    offset: u64,
    seed: u64,
    number_low: u32,
    /// The highest bit: trimmed.
    len: u32,
    /// The highest bit: failed, so that what is on the medium is not known.
    number_high: u16,
    file: u16,
}

const TRIMMED: u32 = 1 << 31;
const FAILED: u16 = 1 << 15;

impl Entry {
    fn new(piece: &Piece) -> Self {
        Entry {
            offset: piece.offset,
            seed: piece.seed,
            number_low: piece.numberio as u32,
            len: piece.len | if piece.trimmed { TRIMMED } else { 0 },
            number_high: (piece.numberio >> 32) as u16 & !FAILED,
            file: piece.file,
        }
    }

    fn piece(&self) -> Piece {
        Piece {
            file: self.file,
            offset: self.offset,
            len: self.bytes(),
            numberio: self.number(),
            seed: self.seed,
            trimmed: self.len & TRIMMED != 0,
        }
    }

    fn bytes(&self) -> u32 {
        self.len & !TRIMMED
    }

    fn failed(&self) -> bool {
        self.number_high & FAILED != 0
    }

    fn place(&self) -> (u16, u64) {
        (self.file, self.offset)
    }

    fn number(&self) -> u64 {
        u64::from(self.number_low) | (u64::from(self.number_high & !FAILED) << 32)
    }
}

/// The order in which written requests are read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOrder {
    /// By number, as they were issued: no request overlaps another.
    Written,
    /// By file and offset, later ones displacing earlier ones.
    Sorted,
}

impl ReadOrder {
    /// The order for a workload: random maps and registers make each pass touch a block once,
    /// all else may overlap.
    pub fn of(spec: &Spec) -> Self {
        let once = spec.direction.is_random()
            && !spec.norandommap
            && !spec.softrandommap
            && !spec.time_based
            && spec.sequence_count <= 1
            && spec.distribution == Distribution::Random
            && spec
                .percentage_random
                .0
                .iter()
                .all(|&percent| percent == 100)
            && spec.block_align.0.iter().all(|&align| align == 0);
        if once {
            ReadOrder::Written
        } else {
            ReadOrder::Sorted
        }
    }
}

/// The written requests of one worker that are still to be read back.
#[derive(Clone, Debug)]
pub struct Written {
    order: ReadOrder,
    entries: Vec<Entry>,
    /// Entries before this one have been taken out.
    head: usize,
    /// Entries from here on have not been sorted in.
    sorted: usize,
}

impl Written {
    /// An empty log. `expected` entries are reserved, so that the run up to there does not
    /// allocate; memory is touched only as it is used.
    pub fn new(order: ReadOrder, expected: usize) -> Self {
        Written {
            order,
            entries: Vec::with_capacity(expected),
            head: 0,
            sorted: 0,
        }
    }

    /// Notes a request that was written, in any order near that of issue.
    #[inline]
    pub fn push(&mut self, piece: &Piece) {
        self.entries.push(Entry::new(piece));
    }

    /// Notes that a request failed: what stands in its range is not known and not verified.
    pub fn fail(&mut self, piece: &Piece) {
        let wanted = piece.place();
        let entries = &mut self.entries[self.head..];
        if let Some(entry) = entries
            .iter_mut()
            .rev()
            .find(|entry| entry.place() == wanted && entry.piece().numberio == piece.numberio)
        {
            entry.number_high |= FAILED;
        }
    }

    /// Notes that a request is trimmed: it is read back as zeros, or not at all. False when it
    /// is no longer here.
    pub fn trim(&mut self, piece: &Piece, read_back: bool) -> bool {
        let wanted = piece.place();
        let entries = &mut self.entries[self.head..];
        let found = entries.iter_mut().rev().find(|entry| {
            entry.place() == wanted && entry.number() == piece.numberio && !entry.failed()
        });
        let Some(entry) = found else { return false };
        if read_back {
            entry.len |= TRIMMED;
        } else {
            entry.number_high |= FAILED;
        }
        true
    }

    /// Entries that have not been taken out, displaced ones that are not yet found included.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len() - self.head
    }

    /// True when there is nothing to read back.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets everything: another pass begins.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.head = 0;
        self.sorted = 0;
    }

    /// Takes out the next request to read back.
    pub fn pop(&mut self) -> Option<Piece> {
        self.pop_if(|_| true)
    }

    /// Takes out the next request to read back if `ready` agrees. In the midst of writing it
    /// is the caller who knows what is still in flight.
    pub fn pop_if(&mut self, ready: impl Fn(&Piece) -> bool) -> Option<Piece> {
        self.sort();
        while let Some(entry) = self.entries.get(self.head) {
            let (piece, failed) = (entry.piece(), entry.failed());
            if !failed && !ready(&piece) {
                return None;
            }
            self.head += 1;
            if !failed {
                self.release();
                return Some(piece);
            }
        }
        self.clear();
        None
    }

    /// Gives up the memory of taken entries when they are the larger part.
    fn release(&mut self) {
        if self.head == self.entries.len() {
            self.clear();
        } else if self.head > 4096 && self.head > self.entries.len() / 2 {
            self.entries.drain(..self.head);
            self.sorted = self.sorted.saturating_sub(self.head);
            self.head = 0;
        }
    }

    /// Puts entries into the order of reading and drops displaced ones.
    fn sort(&mut self) {
        if self.sorted == self.entries.len() {
            return;
        }
        self.entries.drain(..self.head);
        self.head = 0;
        if self.order == ReadOrder::Written {
            // Nearly in order already: requests finish close to the order of their issue.
            self.entries.sort_by_key(Entry::number);
        } else if is_uniform(&self.entries) {
            // Equal ranges or none: the last of each place stays. The sort is stable.
            self.entries.sort_by_key(Entry::place);
            self.entries.dedup_by(|later, kept| {
                let same = later.place() == kept.place();
                if same {
                    *kept = *later;
                }
                same
            });
        } else {
            drop_displaced(&mut self.entries);
            self.entries.sort_unstable_by_key(Entry::place);
        }
        self.sorted = self.entries.len();
    }
}

impl Piece {
    fn place(&self) -> (u16, u64) {
        (self.file, self.offset)
    }
}

/// True if all entries are of one length and at multiples of it from each other.
fn is_uniform(entries: &[Entry]) -> bool {
    let Some(first) = entries.first() else {
        return true;
    };
    let len = first.bytes();
    let bytes = u64::from(len.max(1));
    let phase = first.offset % bytes;
    entries
        .iter()
        .all(|entry| entry.bytes() == len && entry.offset % bytes == phase)
}

/// Keeps the entries that no later entry touches.
fn drop_displaced(entries: &mut Vec<Entry>) {
    // What later entries cover, as disjoint ranges: start to end.
    let mut covered: BTreeMap<(u16, u64), u64> = BTreeMap::new();
    let mut keep = vec![false; entries.len()];
    for (entry, keep) in entries.iter().zip(&mut keep).rev() {
        let (file, mut start) = entry.place();
        let mut end = start + u64::from(entry.bytes());
        *keep = true;
        while let Some((&(at, from), &to)) = covered.range(..(file, end)).next_back() {
            if at != file || to <= start {
                break;
            }
            *keep = false;
            covered.remove(&(at, from));
            start = start.min(from);
            end = end.max(to);
        }
        covered.insert((file, start), end);
    }
    let mut keep = keep.iter();
    entries.retain(|_| *keep.next().expect("one flag per entry"));
}

/// `verify_backlog`: when to interrupt writing, and for how many requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    every: u64,
    batch: u64,
    left: u64,
}

impl Backlog {
    /// Verify after each `every` written requests, `batch` of them (0: `every`).
    pub fn new(every: u64, batch: u64) -> Self {
        Backlog {
            every: every.max(1),
            batch: if batch == 0 { every } else { batch },
            left: 0,
        }
    }

    /// True if the next request is one of the log. `pending` is the log's length;
    /// `after_read`: the last request issued was a read.
    #[inline]
    pub fn is_due(&mut self, pending: usize, after_read: bool) -> bool {
        if pending == 0 {
            return false;
        }
        if self.left == 0 && !after_read && (pending as u64).is_multiple_of(self.every) {
            self.left = self.batch;
        }
        self.left > 0
    }

    /// Requests of the log still to be taken in this turn.
    pub(super) fn left(&self) -> usize {
        usize::try_from(self.left).unwrap_or(usize::MAX)
    }

    /// Writes until [`is_due`](Backlog::is_due) may hold again; 1 in the midst of a turn.
    pub(super) fn until_due(&self, pending: u64) -> usize {
        let writes = if self.left > 0 {
            1
        } else {
            self.every - pending % self.every
        };
        usize::try_from(writes).unwrap_or(usize::MAX)
    }

    /// Notes that one request of the log has been taken.
    #[inline]
    pub fn took(&mut self) {
        self.left = self.left.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn piece(file: u16, offset: u64, len: u32, numberio: u64) -> Piece {
        Piece {
            file,
            offset,
            len,
            numberio,
            seed: !numberio,
            trimmed: numberio.is_multiple_of(3),
        }
    }

    fn drain(mut log: Written) -> Vec<Piece> {
        std::iter::from_fn(|| log.pop()).collect()
    }

    /// fio's rule, one entry at a time: a new request takes out what it touches.
    fn one_by_one(pieces: &[Piece]) -> Vec<Piece> {
        let mut tree: Vec<Piece> = Vec::new();
        for new in pieces {
            tree.retain(|old| {
                old.file != new.file
                    || old.offset + u64::from(old.len) <= new.offset
                    || new.offset + u64::from(new.len) <= old.offset
            });
            tree.push(*new);
        }
        tree.sort_by_key(Piece::place);
        tree
    }

    #[test]
    fn entries_are_small_and_lossless() {
        assert_eq!(size_of::<Entry>(), 28);
        for trimmed in [false, true] {
            let piece = Piece {
                file: u16::MAX,
                offset: u64::MAX,
                len: (1 << 31) - 1,
                numberio: (1 << 47) - 1,
                seed: 0x0123_4567_89ab_cdef,
                trimmed,
            };
            let mut log = Written::new(ReadOrder::Written, 1);
            log.push(&piece);
            assert_eq!(log.pop(), Some(piece));
            assert!(log.is_empty());
        }
    }

    #[test]
    fn failed_writes_are_not_read_and_still_displace() {
        for order in [ReadOrder::Written, ReadOrder::Sorted] {
            let mut log = Written::new(order, 4);
            let pieces = [piece(0, 0, 8, 0), piece(0, 8, 8, 1), piece(0, 0, 8, 2)];
            pieces.iter().for_each(|piece| log.push(piece));
            log.fail(&pieces[2]);
            let left = drain(log);
            let wanted = if order == ReadOrder::Sorted {
                &pieces[1..2]
            } else {
                &pieces[..2]
            };
            assert_eq!(left, wanted);
        }
    }

    #[test]
    fn requests_in_flight_wait() {
        let mut log = Written::new(ReadOrder::Written, 2);
        (0..2).for_each(|n| log.push(&piece(0, n * 8, 8, n)));
        assert_eq!(log.pop_if(|piece| piece.numberio != 0), None);
        assert_eq!(log.pop_if(|piece| piece.numberio == 0).unwrap().numberio, 0);
        assert_eq!(log.len(), 1);
    }

    #[test]
    fn backlog_takes_batches_as_fio_does() {
        // Which requests of a run are verify reads (r), and how many writes precede the first.
        let run = |every, batch, writes: u32| {
            let (mut backlog, mut pending, mut after_read) = (Backlog::new(every, batch), 0, false);
            let mut trace = String::new();
            let mut left = writes;
            while left > 0 {
                if backlog.is_due(pending, after_read) {
                    backlog.took();
                    pending -= 1;
                    trace.push('r');
                    after_read = true;
                } else {
                    pending += 1;
                    left -= 1;
                    trace.push('w');
                    after_read = false;
                }
            }
            trace
        };
        assert_eq!(run(3, 0, 7), "wwwrrrwwwrrrw");
        assert_eq!(run(4, 2, 8), "wwwwrrwwrrww");
        assert_eq!(run(2, 5, 6), "wwrrwrwrwrw");
    }

    proptest! {
        #[test]
        fn displaced_as_one_by_one(
            raw in prop::collection::vec((0u16..2, 0u64..40, 1u32..9), 0..60),
            uniform: bool, taken in 0usize..20,
        ) {
            let pieces: Vec<Piece> = (0..).zip(&raw).map(|(n, &(file, offset, len))| {
                if uniform { piece(file, offset * 8, 8, n) } else { piece(file, offset, len, n) }
            }).collect();
            let mut log = Written::new(ReadOrder::Sorted, 0);
            let half = pieces.len() / 2;
            pieces[..half].iter().for_each(|piece| log.push(piece));
            // A part is read in the midst of writing.
            let mut tree = one_by_one(&pieces[..half]);
            for _ in 0..taken.min(tree.len()) {
                prop_assert_eq!(log.pop(), Some(tree.remove(0)));
            }
            pieces[half..].iter().for_each(|piece| log.push(piece));
            tree.sort_by_key(|piece| piece.numberio);
            tree.extend(&pieces[half..]);
            prop_assert_eq!(drain(log), one_by_one(&tree));
        }

        #[test]
        fn the_order_of_writing_is_kept(offsets in prop::collection::vec(any::<u32>(), 0..9000)) {
            let mut log = Written::new(ReadOrder::Written, 0);
            let pieces: Vec<Piece> =
                (0..).zip(&offsets).map(|(n, &at)| piece(0, at.into(), 1, n)).collect();
            pieces.iter().for_each(|piece| log.push(piece));
            prop_assert_eq!(drain(log), pieces);
        }
    }
}
