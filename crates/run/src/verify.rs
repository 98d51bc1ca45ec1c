//! Verified contents in a worker: stamps writes, keeps the log of them, checks what is read.
//!
//! A request in a slot is either known to have come back complete, or its slot is taken up by
//! the next one without that; the latter means that it failed, and a failed write is not read
//! back. The log is handed over in blocks, so the loop takes its lock once per block.

use crate::failure::{EILSEQ, VERIFY};
use engine::Io;
use plan::model::{Target, Verify, Worker};
use result::Failure;
use std::collections::VecDeque;
use std::io::Write as _;
use std::path::Path;
use units::Ddir;
use workload::verify::{
    Backlog, Expect, Feed, Mismatch, Piece, ReadBack, ReadOrder, Stamper, Verifier, VerifyKind,
    VerifySeeds, WithBacklog, Written,
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
    targets: &'a [Target],
    stamper: Stamper,
    verifier: Verifier,
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
    pub fn new(worker: &'a Worker, depth: u32, fake: bool) -> Option<Self> {
        let plan = worker.verify.as_ref()?;
        let spec = &worker.requests;
        let order = ReadOrder::of(spec);
        let writes = spec.direction.writes();
        let smallest = spec.block[Ddir::Write].min.max(1);
        let expected = if writes {
            (spec.size / smallest).min(MOST_RESERVED)
        } else {
            0
        };
        Some(Verification {
            plan,
            targets: &worker.targets,
            stamper: Stamper::new(&plan.content, worker.number, VerifySeeds::of(spec)),
            verifier: Verifier::new(&plan.content),
            feed: Feed::new(Written::new(order, expected as usize)),
            fresh: Vec::with_capacity(BLOCK),
            block: if plan.backlog > 0 { 1 } else { BLOCK },
            expected: VecDeque::with_capacity(2 * BLOCK),
            slots: vec![Slot::Idle; depth.max(1) as usize].into_boxed_slice(),
            number: 0,
            reads_only: !writes,
            reading_back: false,
            fake,
        })
    }

    /// The job's requests with the reads of `verify_backlog` in between.
    pub fn with_backlog(&self, fill: Box<dyn Fill>) -> Box<dyn Fill> {
        if self.plan.backlog == 0 || !self.plan.read_back {
            return fill;
        }
        let backlog = Backlog::new(self.plan.backlog, self.plan.backlog_batch);
        Box::new(WithBacklog::new(fill, &self.feed, backlog))
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
                Slot::Writing(piece(io.file, io.offset, io.len, numberio, seed))
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
                let expect = Expect {
                    numberio: known.then_some(piece.numberio),
                    seed: known.then_some(piece.seed),
                    trimmed: piece.trimmed,
                };
                self.expected.pop_front();
                Slot::Reading(expect, io.offset)
            }
            _ if self.reads_only => Slot::Reading(Expect::ANY, io.offset),
            _ => Slot::Idle,
        }
    }

    /// A request came back complete.
    ///
    /// # Errors
    /// Data that are not what was written, with errno 84.
    #[inline]
    pub fn done(&mut self, io: &Io, buffer: &[u8]) -> Result<(), Failure> {
        match std::mem::replace(&mut self.slots[io.slot as usize], Slot::Idle) {
            Slot::Writing(piece) if self.plan.read_back => {
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
        let mut found = Vec::new();
        let fatal = self.plan.fatal;
        self.verifier
            .check_each(buffer, io.offset, expect, |mismatch| {
                found.push(mismatch);
                !fatal
            });
        match found.first() {
            None => Ok(()),
            Some(first) => {
                found
                    .iter()
                    .for_each(|mismatch| self.complain(io, buffer, mismatch));
                let text = first.text(&self.target(io).path.display());
                let line = text.lines().next().unwrap_or_default();
                Err(Failure::new(EILSEQ, VERIFY, line))
            }
        }
    }

    fn target(&self, io: &Io) -> &'a Target {
        &self.targets[usize::from(io.file)]
    }

    /// Says at once what is wrong, as a run may last for days, and dumps the block if asked.
    #[cold]
    fn complain(&self, io: &Io, buffer: &[u8], mismatch: &Mismatch) {
        let path = &self.target(io).path;
        let mut text = mismatch.text(&path.display()) + "\n";
        if self.plan.dump {
            let at = (mismatch.offset - mismatch.request_offset) as usize;
            let received = &buffer[at..at + mismatch.len as usize];
            if mismatch.reason.is_header() {
                text += &dump(path, mismatch.offset, "hdr_fail", received);
            } else {
                text += &dump(path, mismatch.offset, "received", received);
                let expected = self.verifier.expected(buffer, mismatch);
                text += &dump(path, mismatch.offset, "expected", &expected);
            }
        }
        // Nobody is left to tell if standard error is closed.
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
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
        self.reading_back = self.plan.read_back && !self.feed.is_empty();
        self.reading_back
            .then(|| Box::new(ReadBack::new(&self.feed)) as Box<dyn Fill>)
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

/// Writes a block to the current directory under fio's name; what there is to say about it.
fn dump(target: &Path, offset: u64, what: &str, block: &[u8]) -> String {
    let base = target
        .file_name()
        .unwrap_or(target.as_os_str())
        .to_string_lossy();
    let name = format!("{base}.{offset}.{what}");
    match std::fs::write(&name, block) {
        Ok(()) => format!("       {what} data dumped as {name}\n"),
        Err(error) => format!("       {what} data not dumped as {name}: {error}\n"),
    }
}
