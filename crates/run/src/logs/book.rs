//! What a worker writes down while it runs: one record per request, or sums of windows.

use super::desk::rate_of;
use super::pen::{BinsRow, Kind, Message, Pen, Record};
use super::window::{Bins, BinsWindow, Summary, Window};
use crate::hot::Done;
use crate::live::{Live, Phase};
use crate::sampler::Sampled;
use engine::Io;
use plan::model::{Logs, Worker};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender};
use sys::clock::Clock;
use units::{Ddir, PerDdir};

/// Nanoseconds of a millisecond.
const MS: u64 = 1_000_000;

/// A latency log of windows.
#[derive(Debug)]
struct Sums {
    kind: Kind,
    windows: PerDdir<Window>,
}

/// The histogram log.
#[derive(Debug)]
struct Histograms {
    every_ms: u64,
    windows: PerDdir<BinsWindow>,
    desk: usize,
    out: SyncSender<Message>,
    empties: Receiver<Bins>,
}

/// What a worker is to write down itself; rates of windows are the crew's.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The log options.
    pub logs: &'a Logs,
    /// Requests are stamped (no `gtod_reduce`).
    pub stamped: bool,
    /// Bandwidth, IOPS: to be logged for each request.
    pub rated: (bool, bool),
    /// Files of the recorded pattern.
    pub files: usize,
    /// There is a warm-up.
    pub ramps: bool,
}

impl<'a> Wanted<'a> {
    /// What the options of `worker` ask for.
    pub fn of(worker: &'a Worker) -> Wanted<'a> {
        let (logs, measured) = (&worker.logs, &worker.measured);
        let stamped = !measured.reduced;
        let each = stamped && logs.window_ns == 0;
        Wanted {
            logs,
            stamped,
            rated: (
                each && logs.bw.is_some() && measured.samples,
                each && logs.iops.is_some(),
            ),
            files: worker.targets.len(),
            ramps: worker.limits.ramps(),
        }
    }

    /// Is there anything?
    pub fn anything(&self) -> bool {
        let logs = self.logs;
        let latencies = [&logs.lat, &logs.clat, &logs.slat, &logs.hist];
        logs.iolog.is_some()
            || self.rated != (false, false)
            || (self.stamped && latencies.into_iter().any(Option::is_some))
    }

    /// Is there a record for each request?
    pub fn every_request(&self) -> bool {
        self.logs.window_ns == 0 || self.logs.iolog.is_some()
    }
}

/// The worker's half of its logs.
#[derive(Debug)]
pub struct Book {
    pen: Pen,
    /// Log each completion.
    each_done: bool,
    /// Log each submission.
    each_issued: bool,
    /// Sample bandwidth and IOPS of each request, because they are logged so.
    rated: (bool, bool),
    every_ms: u64,
    log_max_only: bool,
    lat: Option<Sums>,
    clat: Option<Sums>,
    slat: Option<Sums>,
    histograms: Option<Histograms>,
    /// For the recorded pattern: files open in this pass.
    open: Option<Vec<bool>>,
    /// Times by the clock with this number are wanted.
    wall: Option<u32>,
    epoch_ms: Arc<AtomicU64>,
    ramping: bool,
    /// Tick of time zero of the rows, and of the recorded pattern.
    zero: u64,
    pattern_zero: u64,
    sampled: Sampled,
}

impl Book {
    /// An empty book. `empties` holds the spare bins of the histogram log.
    pub fn new(
        wanted: &Wanted<'_>,
        (desk, out): (usize, SyncSender<Message>),
        pen: Pen,
        empties: Receiver<Bins>,
        epoch_ms: Arc<AtomicU64>,
    ) -> Book {
        let Wanted {
            logs,
            stamped,
            rated,
            ..
        } = *wanted;
        let each = logs.window_ns == 0 && stamped;
        let sums = |wanted: bool, kind| {
            let windows = PerDdir::splat(Window::default());
            (wanted && logs.window_ns > 0 && stamped).then_some(Sums { kind, windows })
        };
        let hist = stamped && logs.hist.is_some() && logs.hist_window_ns > 0;
        Book {
            pen,
            each_done: each
                && (logs.lat.is_some() || logs.clat.is_some() || rated != (false, false)),
            each_issued: each && logs.slat.is_some(),
            rated,
            every_ms: (logs.window_ns / MS).max(1),
            log_max_only: logs.log_max && !logs.log_mean,
            lat: sums(logs.lat.is_some(), Kind::LatWindow),
            clat: sums(logs.clat.is_some(), Kind::ClatWindow),
            slat: sums(logs.slat.is_some(), Kind::SlatWindow),
            histograms: hist.then(|| Histograms {
                every_ms: (logs.hist_window_ns / MS).max(1),
                windows: PerDdir::from_fn(|_| BinsWindow::new()),
                desk,
                out,
                empties,
            }),
            open: logs.iolog.as_ref().map(|_| vec![false; wanted.files]),
            wall: logs.epoch,
            epoch_ms,
            ramping: wanted.ramps,
            zero: 0,
            pattern_zero: 0,
            sampled: Sampled::default(),
        }
    }

    /// The job starts at tick `now`.
    pub fn begin(&mut self, now: u64) {
        self.pattern_zero = now;
        self.start_rows(now);
    }

    fn start_rows(&mut self, now: u64) {
        self.zero = now;
        if let Some(ms) = self.wall.and_then(sys::clock::clock_ms) {
            self.epoch_ms.store(ms, Relaxed);
        }
    }

    /// False during the warm-up. `now` becomes time zero when it turns out to be over.
    #[inline]
    fn measures(&mut self, live: &Live, now: u64) -> bool {
        if self.ramping && live.phase() != Phase::Ramp {
            self.ramping = false;
            self.start_rows(now);
        }
        !self.ramping
    }

    /// A request was taken by the engine, or is about to be, at tick `at`.
    #[inline]
    pub fn taken<C: Clock>(&mut self, io: &Io, at: u64, clock: C) {
        let Some(open) = &mut self.open else { return };
        let time_ns = clock.ns(at.wrapping_sub(self.pattern_zero));
        let line = record(Kind::Taken, io.ddir, time_ns);
        let line = Record {
            file: io.file,
            offset: io.offset,
            len: io.len,
            ..line
        };
        if let Some(open) = open.get_mut(usize::from(io.file))
            && !std::mem::replace(open, true)
        {
            self.pen.put(Record {
                kind: Kind::Opened,
                ..line
            });
        }
        self.pen.put(line);
    }

    /// A pass over the workload ended at tick `at`.
    pub fn pass_over<C: Clock>(&mut self, at: u64, clock: C) {
        let time_ns = clock.ns(at.wrapping_sub(self.pattern_zero));
        for (file, open) in self.open.iter_mut().flatten().enumerate() {
            if std::mem::take(open) {
                let line = record(Kind::Closed, Ddir::Read, time_ns);
                self.pen.put(Record {
                    file: file as u16,
                    ..line
                });
            }
        }
    }

    /// A request taken up at tick `start` was submitted at tick `issue`.
    #[inline]
    pub fn issued<C: Clock>(&mut self, io: &Io, start: u64, issue: u64, live: &Live, clock: C) {
        let logs = self.each_issued || self.slat.is_some();
        if !logs || !io.ddir.is_data() || !self.measures(live, issue) {
            return;
        }
        let time_ns = clock.ns(issue.saturating_sub(self.zero));
        let slat_ns = clock.ns(issue.wrapping_sub(start));
        if self.each_issued {
            let row = record(Kind::Issued, io.ddir, time_ns);
            self.pen.put(Record {
                a: slat_ns,
                offset: io.offset,
                len: io.len,
                ..row
            });
        }
        if let Some(slat) = &mut self.slat {
            let row = slat.windows[io.ddir].add(slat_ns, time_ns / MS, self.every_ms);
            if let Some(summary) = row {
                self.pen.put(window(
                    Kind::SlatWindow,
                    io.ddir,
                    time_ns,
                    summary,
                    self.log_max_only,
                ));
            }
        }
    }

    /// A request was completed.
    #[inline]
    pub fn done<C: Clock>(&mut self, done: &Done, live: &Live, clock: C) {
        let ddir = done.io.ddir;
        if !ddir.is_data() || !self.measures(live, done.end) {
            return;
        }
        let time_ns = clock.ns(done.end.saturating_sub(self.zero));
        let clat_ns = clock.ns(done.end.wrapping_sub(done.issue));
        let lat_ns = clock.ns(done.end.wrapping_sub(done.start));
        let len = done.io.len;
        if self.each_done {
            let row = record(Kind::Done, ddir, time_ns);
            self.pen.put(Record {
                a: clat_ns,
                b: lat_ns,
                offset: done.io.offset,
                len,
                ..row
            });
            if self.rated.0 {
                self.sampled.bw[ddir].add(rate_of(len, clat_ns));
            }
            if self.rated.1 {
                self.sampled.iops[ddir].add(1);
            }
        }
        let time_ms = time_ns / MS;
        for (sums, value) in [(&mut self.lat, lat_ns), (&mut self.clat, clat_ns)] {
            if let Some(sums) = sums
                && let Some(row) = sums.windows[ddir].add(value, time_ms, self.every_ms)
            {
                self.pen
                    .put(window(sums.kind, ddir, time_ns, row, self.log_max_only));
            }
        }
        if let Some(histograms) = &mut self.histograms
            && histograms.windows[ddir].add(clat_ns, time_ms, histograms.every_ms)
        {
            histograms.hand_over(ddir, time_ms, len);
        }
    }

    /// The job is over: unfinished windows become rows (not those of the histogram log, as in
    /// fio), and everything goes to the writer. Gives what was sampled per request.
    pub fn finish<C: Clock>(mut self, live: &Live, clock: C) -> Sampled {
        let now = clock.now();
        if self.measures(live, now) {
            let time_ns = clock.ns(now.saturating_sub(self.zero));
            for sums in [&mut self.clat, &mut self.slat, &mut self.lat]
                .into_iter()
                .flatten()
            {
                for ddir in Ddir::DATA {
                    if let Some(row) = sums.windows[ddir].take() {
                        self.pen
                            .put(window(sums.kind, ddir, time_ns, row, self.log_max_only));
                    }
                }
            }
        }
        self.pen.hand_over();
        self.sampled
    }
}

impl Histograms {
    /// Gives the bins of a direction to the writer and goes on with cleared ones; waits for
    /// those while the writer is behind.
    #[cold]
    fn hand_over(&mut self, ddir: Ddir, time_ms: u64, len: u32) {
        let Ok(empty) = self.empties.recv() else {
            return;
        };
        let bins = std::mem::replace(&mut self.windows[ddir].bins, empty);
        let row = BinsRow {
            time_ms,
            ddir,
            len,
            bins,
        };
        // A writer that is gone is reported at the end of the run.
        drop(self.out.send(Message::Bins(self.desk, row)));
    }
}

fn record(kind: Kind, ddir: Ddir, time_ns: u64) -> Record {
    Record {
        time_ns,
        ddir,
        kind,
        ..Record::default()
    }
}

/// The record of a window: `a` is what its row shows first.
fn window(kind: Kind, ddir: Ddir, time_ns: u64, row: Summary, max_only: bool) -> Record {
    let a = if max_only { row.max } else { row.mean };
    Record {
        a,
        b: row.max,
        ..record(kind, ddir, time_ns)
    }
}

#[cfg(test)]
mod tests;
