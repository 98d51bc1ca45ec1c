//! Verified contents in a worker: stamps writes, keeps the log of them, checks what is read.
//!
//! A request in a slot is either known to have come back complete, or its slot is taken up by
//! the next one without that; the latter means that it failed, and a failed write is not read
//! back. The log is handed over in blocks, so the loop takes its lock once per block.

mod check;

use check::{Checker, Inspectors};
use engine::Io;
use plan::model::{Verify, Worker};
use plan::saved::State;
use result::Failure;
use std::collections::VecDeque;
use std::sync::Arc;
use units::Ddir;
use workload::verify::{
    Backlog, Expect, Feed, Piece, ReadBack, ReadOrder, Stamper, Twin, UntilSaved, VerifyKind,
    VerifySeeds, WithBacklog, WithTrims, Written,
};
use workload::{Batch, Fill};

/// Written requests handed to the log at once.
const BLOCK: usize = 64;
/// Most log entries reserved before the run.
const MOST_RESERVED: u64 = 1 << 24;

/// What a slot is doing.
#[derive(Clone, Copy, Debug)]
enum Slot {
    /// Nothing that is of interest here.
    Idle,
    /// Writing what the log will say.
    Writing(Piece),
    /// Reading something to be checked.
    Reading(Expect, u64),
}

/// True where a job's write buffers are filled by stamping, so that nothing else needs to.
pub fn stamps(worker: &Worker) -> bool {
    worker
        .verify
        .as_ref()
        .is_some_and(|verify| verify.content.kind != VerifyKind::Null)
}

/// Verification of one worker.
pub struct Verification<'a> {
    plan: &'a Verify,
    stamper: Stamper,
    checker: Checker,
    /// Threads that check in the worker's place.
    inspectors: Option<Inspectors>,
    /// The sequence again, instead of a log.
    twin: Option<Twin>,
    /// Number of the first write of this pass.
    base: u64,
    /// What is saved when the job ends.
    state: Option<State>,
    order: ReadOrder,
    feed: Feed,
    /// Written requests that the log does not have yet, handed over when `block` are there.
    fresh: Vec<Piece>,
    block: usize,
    /// Requests of the log whose turn to be read has come.
    expected: VecDeque<Piece>,
    slots: Box<[Slot]>,
    /// Writes issued so far.
    number: u64,
    /// The job only reads: every read is checked.
    reads_only: bool,
    /// Reads come from the log now.
    reading_back: bool,
    /// The engine moves no data; there is nothing to compare.
    fake: bool,
}

impl<'a> Verification<'a> {
    /// Verification with `depth` slots, if the job asks for it. `fake`: the engine moves no
    /// data.
    ///
    /// # Errors
    /// A checking thread cannot be started.
    pub fn new(worker: &'a Worker, depth: u32, fake: bool) -> Result<Option<Box<Self>>, Failure> {
        let Some(plan) = worker.verify.as_ref() else {
            return Ok(None);
        };
        let spec = &worker.requests;
        let order = ReadOrder::of(spec);
        let writes = worker.uses(Ddir::Write);
        let smallest = spec.block[Ddir::Write].min.max(1);
        let checker = Checker::new(plan, &worker.targets);
        let longest = worker.buffers.slot_bytes as usize;
        let inspectors = (plan.threads > 0)
            .then(|| Inspectors::start(plan, &checker, longest))
            .transpose()?;
        let twin = (plan.regenerates && writes && worker.replay.is_none())
            .then(|| workload::generator(spec))
            .transpose()
            .map_err(|error| Failure::new(22, "experimental_verify", error.to_string()))?;
        let state = plan.save.as_ref().map(|_| State {
            depth,
            files: worker.targets.len() as u32,
            writes: 0,
            index: u64::from(worker.number) - 1,
            name: worker.name.clone(),
            completed: vec![VecDeque::new(); worker.targets.len()],
        });
        let expected = if writes && twin.is_none() {
            (spec.size / smallest).min(MOST_RESERVED)
        } else {
            0
        };
        let feed = Feed::new(Written::new(order, expected as usize));
        if let Some(trims) = plan.trims {
            feed.trims(trims.percent, worker.buffers.fill.seed);
        }
        Ok(Some(Box::new(Verification {
            plan,
            stamper: Stamper::new(&plan.content, worker.number, VerifySeeds::of(spec)),
            checker,
            inspectors,
            twin: twin.map(Twin::new),
            base: 0,
            state,
            order,
            feed,
            fresh: Vec::with_capacity(BLOCK),
            block: if plan.backlog > 0 || plan.trims.is_some() {
                1
            } else {
                BLOCK
            },
            expected: VecDeque::with_capacity(2 * BLOCK),
            slots: vec![Slot::Idle; depth.max(1) as usize].into_boxed_slice(),
            number: 0,
            reads_only: !writes,
            reading_back: false,
            fake,
        })))
    }

    /// The job's requests with the reads of `verify_backlog` in between; those of a job that
    /// only reads end where the saved state does.
    pub fn around(&self, fill: Box<dyn Fill>) -> Box<dyn Fill> {
        if self.reads_only {
            return self.until_saved(fill);
        }
        let fill = match self.plan.trims {
            Some(trims) => Box::new(WithTrims::new(fill, &self.feed, trims)),
            None => fill,
        };
        if self.plan.backlog == 0 || !self.plan.read_back {
            return fill;
        }
        let backlog = Backlog::new(self.plan.backlog, self.plan.backlog_batch);
        Box::new(WithBacklog::new(fill, &self.feed, backlog))
    }

    fn until_saved(&self, fill: Box<dyn Fill>) -> Box<dyn Fill> {
        match &self.plan.saved {
            Some(saved) => Box::new(UntilSaved::new(fill, Arc::clone(saved))),
            None => fill,
        }
    }

    /// Leaves the state of the job for a later run to load. A job is no worse for a state that
    /// cannot be saved, so that is only told.
    pub fn save(&mut self) {
        let (Some(state), Some(path)) = (&mut self.state, &self.plan.save) else {
            return;
        };
        state.writes = self.number;
        if let Err(error) = plan::saved::write(path, state) {
            eprintln!("fio: verify state {} not saved: {error}", path.display());
        }
    }

    /// A request is about to be issued, perhaps not for the first time: an engine that was
    /// busy gets it again in the same slot.
    #[inline]
    pub fn prepare(&mut self, io: &Io, buffer: &mut [u8], now_ns: u64) {
        let slot = io.slot as usize;
        if let Slot::Writing(piece) = self.slots[slot] {
            if io.ddir == Ddir::Write && is_at(&piece, io) {
                return;
            }
            self.feed.log_failed(&piece);
        }
        self.slots[slot] = match io.ddir {
            Ddir::Write => {
                let numberio = self.number;
                self.number += 1;
                let seed = self.stamper.stamp(buffer, io.offset, numberio, now_ns);
                let piece = piece(io.file, io.offset, io.len, numberio, seed);
                if self.plan.trims.is_some() {
                    self.feed.writes(&piece);
                }
                Slot::Writing(piece)
            }
            Ddir::Read => self.reading(io),
            _ => Slot::Idle,
        };
    }

    fn reading(&mut self, io: &Io) -> Slot {
        if let Slot::Reading(_, offset) = self.slots[io.slot as usize]
            && offset == io.offset
            && self.expected.front().is_none_or(|piece| !is_at(piece, io))
        {
            return self.slots[io.slot as usize];
        }
        if self.expected.is_empty() && (self.reading_back || self.plan.backlog > 0) {
            self.feed.take_expected(&mut self.expected);
        }
        match self.expected.front() {
            Some(piece) if is_at(piece, io) => {
                // What an earlier run wrote may have other numbers and other seeds.
                let known = !self.plan.only;
                let again = self.twin.is_some();
                // Of overlapping writes that are generated again, an earlier one is gone.
                let numbered = known && !(again && self.order == ReadOrder::Sorted);
                let expect = Expect {
                    numberio: numbered.then_some(piece.numberio),
                    seed: (known && !again).then_some(piece.seed),
                    trimmed: piece.trimmed,
                };
                self.expected.pop_front();
                Slot::Reading(expect, io.offset)
            }
            _ if self.reads_only => Slot::Reading(Expect::ANY, io.offset),
            _ => Slot::Idle,
        }
    }

    /// Whether a request is a read of the log, which is where it is.
    pub fn expects(&mut self, io: &Io) -> bool {
        if io.ddir != Ddir::Read || self.reads_only {
            return false;
        }
        if self.expected.is_empty() && (self.reading_back || self.plan.backlog > 0) {
            self.feed.take_expected(&mut self.expected);
        }
        self.expected.front().is_some_and(|piece| is_at(piece, io))
    }

    /// A request came back complete.
    ///
    /// # Errors
    /// Data that are not what was written, with errno 84.
    #[inline]
    pub fn done(&mut self, io: &Io, buffer: &[u8]) -> Result<(), Failure> {
        match std::mem::replace(&mut self.slots[io.slot as usize], Slot::Idle) {
            Slot::Writing(piece) => {
                if let Some(state) = &mut self.state {
                    let recent = &mut state.completed[usize::from(piece.file)];
                    recent.truncate(state.depth as usize - 1);
                    recent.push_front(piece.offset);
                }
                if !self.plan.read_back || self.twin.is_some() {
                    return Ok(());
                }
                self.fresh.push(piece);
                if self.fresh.len() >= self.block {
                    self.feed.log(&mut self.fresh);
                }
                Ok(())
            }
            Slot::Reading(expect, _) if !self.fake => self.check(io, buffer, &expect),
            _ => Ok(()),
        }
    }

    fn check(&mut self, io: &Io, buffer: &[u8], expect: &Expect) -> Result<(), Failure> {
        match &mut self.inspectors {
            Some(inspectors) => inspectors.check(io, buffer, expect),
            None => self.checker.check(io, buffer, expect),
        }
    }

    /// Something wrong that checking threads have found; waits for them.
    pub fn late_failure(&mut self) -> Option<Failure> {
        self.inspectors.as_mut()?.settle()
    }

    /// True if writes are not issued but taken for done.
    pub fn pretends(&self) -> bool {
        self.plan.only && !self.reads_only
    }

    /// `verify_only`: goes through a pass of the workload as if it wrote. Returns the writes
    /// and bytes that the report counts.
    pub fn pretend(&mut self, fill: &mut dyn Fill, batch: &mut Batch) -> (u64, u64) {
        let (mut ios, mut bytes) = (0, 0);
        while fill.fill(batch, Batch::CAPACITY) > 0 {
            for at in (0..batch.n).filter(|&at| batch.ddir[at] == Ddir::Write) {
                let (offset, len) = (batch.offset[at], batch.len[at]);
                self.fresh
                    .push(piece(batch.file[at], offset, len, self.number, 0));
                self.number += 1;
                ios += 1;
                bytes += u64::from(len);
            }
            self.feed.log(&mut self.fresh);
        }
        batch.clear();
        (ios, bytes)
    }

    /// The pass of writing is over: the requests that read it back, if there are any.
    pub fn read_back(&mut self) -> Option<Box<dyn Fill>> {
        for slot in &mut self.slots {
            if let Slot::Writing(piece) = std::mem::replace(slot, Slot::Idle) {
                self.feed.log_failed(&piece);
            }
        }
        self.feed.log(&mut self.fresh);
        let base = std::mem::replace(&mut self.base, self.number);
        let reads: Option<Box<dyn Fill>> = match &self.twin {
            _ if !self.plan.read_back => None,
            Some(_) if self.number == base => None,
            Some(twin) => Some(twin.read_back(&self.feed, base, self.number - base)),
            None if self.feed.is_empty() => None,
            None => Some(Box::new(ReadBack::new(&self.feed))),
        };
        self.reading_back = reads.is_some();
        reads.map(|reads| {
            if self.plan.only {
                self.until_saved(reads)
            } else {
                reads
            }
        })
    }

    /// The pass of reading back is over.
    pub fn read_back_over(&mut self) {
        self.reading_back = false;
        self.expected.clear();
        self.feed.clear();
        self.slots.fill(Slot::Idle);
    }

    /// True while reads come from the log; rates and think time do not hold then.
    pub fn is_reading_back(&self) -> bool {
        self.reading_back
    }
}

fn piece(file: u16, offset: u64, len: u32, numberio: u64, seed: u64) -> Piece {
    Piece {
        file,
        offset,
        len,
        numberio,
        seed,
        trimmed: false,
    }
}

fn is_at(piece: &Piece, io: &Io) -> bool {
    (piece.file, piece.offset, piece.len) == (io.file, io.offset, io.len)
}
