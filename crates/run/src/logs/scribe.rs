//! The one writer thread of a run, and what each worker gets from it.

use super::book::{Book, Wanted};
use super::desk::Desk;
use super::pen::{Message, Pen, Seat};
use super::window::no_bins;
use crate::failure;
use plan::model::Worker;
use result::Failure;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Chunks of a pen that logs every request.
const CHUNKS: usize = 8;
/// Chunks of a pen that logs windows.
const FEW_CHUNKS: usize = 2;
/// Records of a chunk that logs windows.
const FEW_RECORDS: usize = 128;
/// Most records of one chunk: `log_entries` beyond it would only delay the writer.
const MOST_RECORDS: usize = 16 << 10;
/// Histograms on their way to the writer and back.
const SPARE_BINS: usize = 6;
/// Messages of one worker that may wait at once: all its chunks and histograms, open and close.
const MESSAGES: usize = CHUNKS + FEW_CHUNKS + SPARE_BINS + 2;

/// Failures of the files of workers, by position in the plan.
type Failures = Vec<(usize, Failure)>;

/// The writer thread, if any worker logs.
#[derive(Default)]
pub struct Scribe {
    out: Option<SyncSender<Message>>,
    thread: Option<JoinHandle<Failures>>,
    /// Why there is no thread although somebody logs.
    broken: Option<Failure>,
}

/// A worker's part in the logs.
#[derive(Default)]
pub struct Part {
    /// What the worker itself writes down.
    pub book: Option<Box<Book>>,
    /// What the crew writes down for it.
    pub pen: Option<Pen>,
}

impl Scribe {
    /// Starts the thread if one of `workers` logs.
    pub fn start(workers: &[Worker]) -> Scribe {
        let logging = workers
            .iter()
            .filter(|worker| worker.logs.paths().next().is_some())
            .count();
        let mut scribe = Scribe::default();
        if logging == 0 {
            return scribe;
        }
        let (out, inbox) = sync_channel(logging * MESSAGES);
        let desks = workers.len();
        let cpus = workers.iter().flat_map(|worker| &worker.logs.cpus);
        let cpus: Vec<usize> = cpus.map(|cpu| *cpu as usize).collect();
        match std::thread::Builder::new()
            .name("logs".into())
            .spawn(move || {
                if !cpus.is_empty() {
                    // Where logs are compressed changes no result; the CPUs are online.
                    let _ = sys::process::set_affinity(&cpus);
                }
                work(&inbox, desks)
            }) {
            Ok(thread) => (scribe.out, scribe.thread) = (Some(out), Some(thread)),
            Err(error) => scribe.broken = Some(failure::step("start the log writer", &error)),
        }
        scribe
    }

    /// Opens the log files of the worker at `index` of the plan. Fails if one cannot be opened.
    pub fn open(&self, index: usize, worker: &Worker) -> Result<Part, Failure> {
        if worker.logs.paths().next().is_none() {
            return Ok(Part::default());
        }
        let Some(out) = &self.out else {
            return self.broken.clone().map_or_else(|| Ok(Part::default()), Err);
        };
        let wanted = Wanted::of(worker);
        let (chunks, records) = if wanted.every_request() {
            (
                CHUNKS,
                (worker.logs.entries as usize).clamp(FEW_RECORDS, MOST_RECORDS),
            )
        } else {
            (FEW_CHUNKS, FEW_RECORDS)
        };
        let (pen, home) = Pen::new((index, Seat::Worker), out.clone(), chunks, records);
        let crew = (index, Seat::Crew);
        let (crew_pen, crew_home) = Pen::new(crew, out.clone(), FEW_CHUNKS, FEW_RECORDS);
        let (bins_home, bins) = sync_channel(SPARE_BINS);
        if worker.logs.hist.is_some() {
            for _ in 0..SPARE_BINS {
                bins_home
                    .send(no_bins())
                    .expect("the channel has room for all bins");
            }
        }
        let epoch_ms = Arc::new(AtomicU64::new(0));
        let homes = [home, crew_home];
        let desk = Desk::open(worker, Arc::clone(&epoch_ms), homes, bins_home)?;
        // A writer that is gone is reported at the end of the run.
        drop(out.send(Message::Open(index, Box::new(desk))));
        let book = wanted.anything().then(|| {
            Box::new(Book::new(
                &wanted,
                (index, out.clone()),
                pen,
                bins,
                epoch_ms,
            ))
        });
        Ok(Part {
            book,
            pen: Some(crew_pen),
        })
    }

    /// The worker at `index` is over: its files are completed.
    pub fn close(&self, index: usize, pen: Option<Pen>) {
        if let (Some(out), Some(mut pen)) = (&self.out, pen) {
            pen.hand_over();
            drop(out.send(Message::Close(index)));
        }
    }

    /// Waits until everything is written; what failed.
    pub fn finish(self) -> Vec<(usize, Failure)> {
        drop(self.out);
        self.thread
            .map_or_else(Vec::new, |thread| thread.join().unwrap_or_default())
    }
}

/// The writer: until every pen is gone.
fn work(inbox: &Receiver<Message>, desks: usize) -> Failures {
    let mut failures = Failures::new();
    let mut open: Vec<Option<Box<Desk>>> = (0..desks).map(|_| None).collect();
    for message in inbox {
        match message {
            Message::Open(index, desk) => open[index] = Some(desk),
            Message::Chunk(index, seat, mut records) => {
                if let Some(desk) = &mut open[index] {
                    records.iter().for_each(|record| desk.write(record));
                    records.clear();
                    // A pen that is gone needs no chunk.
                    drop(desk.homes[seat as usize].try_send(records));
                }
            }
            Message::Bins(index, mut row) => {
                if let Some(desk) = &mut open[index] {
                    desk.write_bins(&row);
                    row.bins.fill(0);
                    drop(desk.bins_home.try_send(row.bins));
                }
            }
            Message::Close(index) => {
                let failure = open[index].take().and_then(|desk| desk.finish());
                failures.extend(failure.map(|failure| (index, failure)));
            }
        }
    }
    for (index, desk) in open.into_iter().enumerate() {
        let failure = desk.and_then(|desk| desk.finish());
        failures.extend(failure.map(|failure| (index, failure)));
    }
    failures
}
