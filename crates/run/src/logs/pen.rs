//! Records and the chunks that carry them from a worker to the writer.

use super::desk::Desk;
use super::window::Bins;
use std::sync::mpsc::{Receiver, SendError, SyncSender, sync_channel};
use units::Ddir;

/// What a record tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A completed request: `a` completion latency, `b` total latency, both ns.
    Done,
    /// An issued request: `a` submission latency, ns.
    Issued,
    /// A window of total latency: `a` mean, `b` maximum.
    LatWindow,
    /// A window of submission latency: `a` mean, `b` maximum.
    SlatWindow,
    /// A window of completion latency: `a` mean, `b` maximum.
    ClatWindow,
    /// A window of bandwidth: `a` and `b` KiB/s.
    BwWindow,
    /// A window of IOPS: `a` and `b` per second.
    IopsWindow,
    /// A request for the recorded pattern.
    Taken,
    /// A file of the recorded pattern was opened.
    Opened,
    /// A file of the recorded pattern was closed.
    Closed,
}

/// One entry of a log before it is text: 40 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Nanoseconds since the time zero of its log.
    pub time_ns: u64,
    /// First value.
    pub a: u64,
    /// Second value.
    pub b: u64,
    /// Offset of the request, bytes.
    pub offset: u64,
    /// Length of the request, bytes; 0 for a window.
    pub len: u32,
    /// File number of the request.
    pub file: u16,
    /// Direction.
    pub ddir: Ddir,
    /// What this is.
    pub kind: Kind,
}

/// Which pen of a desk a chunk belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seat {
    /// The worker's.
    Worker = 0,
    /// That of the crew, which samples rates.
    Crew = 1,
}

/// What the writer receives.
pub enum Message {
    /// A worker is about to start: its files.
    Open(usize, Box<Desk>),
    /// Records of a desk.
    Chunk(usize, Seat, Vec<Record>),
    /// One row of a histogram log of a desk.
    Bins(usize, BinsRow),
    /// Nothing more comes from a desk.
    Close(usize),
}

/// One row of a histogram log.
pub struct BinsRow {
    /// Milliseconds since the time zero of the log.
    pub time_ms: u64,
    /// Direction.
    pub ddir: Ddir,
    /// Length of the request that ended the window, bytes.
    pub len: u32,
    /// Counts since the previous row.
    pub bins: Bins,
}

/// Puts records into chunks; one thread holds it.
#[derive(Debug)]
pub struct Pen {
    desk: usize,
    seat: Seat,
    current: Vec<Record>,
    out: SyncSender<Message>,
    empties: Receiver<Vec<Record>>,
}

impl Default for Record {
    fn default() -> Self {
        Record {
            time_ns: 0,
            a: 0,
            b: 0,
            offset: 0,
            len: 0,
            file: 0,
            ddir: Ddir::Read,
            kind: Kind::Done,
        }
    }
}

impl Pen {
    /// A pen with `chunks` chunks of `records` records, and where the writer returns emptied
    /// ones.
    pub fn new(
        (desk, seat): (usize, Seat),
        out: SyncSender<Message>,
        chunks: usize,
        records: usize,
    ) -> (Pen, SyncSender<Vec<Record>>) {
        let (home, empties) = sync_channel(chunks);
        for _ in 1..chunks {
            home.send(Vec::with_capacity(records))
                .expect("the channel has room for all chunks");
        }
        (
            Pen {
                desk,
                seat,
                current: Vec::with_capacity(records),
                out,
                empties,
            },
            home,
        )
    }

    /// Writes one record down.
    #[inline]
    pub fn put(&mut self, record: Record) {
        // A chunk is never full here, so that this does not allocate.
        self.current.push(record);
        if self.current.len() == self.current.capacity() {
            self.hand_over();
        }
    }

    /// Gives what was written so far to the writer; waits while the writer is behind.
    #[cold]
    #[inline(never)]
    pub fn hand_over(&mut self) {
        if self.current.is_empty() {
            return;
        }
        let records = std::mem::take(&mut self.current);
        self.current = match self.out.send(Message::Chunk(self.desk, self.seat, records)) {
            Ok(()) => self.empties.recv().unwrap_or_default(),
            // The writer is gone, which the end of the run reports: go on without a log.
            Err(SendError(Message::Chunk(_, _, mut records))) => {
                records.clear();
                records
            }
            Err(_) => Vec::new(),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_fit_their_size() {
        assert_eq!(size_of::<Record>(), 40);
    }

    #[test]
    fn chunks_circulate_without_growing() {
        let (out, inbox) = sync_channel(4);
        let (mut pen, home) = Pen::new((3, Seat::Worker), out, 2, 2);
        for turn in 0..10u64 {
            pen.put(Record {
                a: turn,
                ..Record::default()
            });
            let Ok(Message::Chunk(3, Seat::Worker, mut records)) = inbox.try_recv() else {
                assert_eq!(turn % 2, 0, "a chunk of two comes with every second record");
                continue;
            };
            assert_eq!(
                records.iter().map(|r| r.a).collect::<Vec<_>>(),
                [turn - 1, turn]
            );
            assert_eq!(records.capacity(), 2);
            records.clear();
            home.send(records).unwrap();
        }
    }

    #[test]
    fn a_dead_writer_stops_nobody() {
        let (out, inbox) = sync_channel(1);
        let (mut pen, home) = Pen::new((0, Seat::Crew), out, 2, 2);
        drop((inbox, home));
        for _ in 0..100 {
            pen.put(Record::default());
        }
        assert!(pen.current.capacity() < 8);
    }
}
