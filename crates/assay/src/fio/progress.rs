//! What the personality shows while the load runs: status line, running reports, failures.

use super::report;
use super::sink::Sink;
use crate::disks::DiskWatch;
use crate::live::Live;
use crate::progress::Meter;
use plan::model::Worker;
use render::StatusLine;
use result::{Failure, Run};
use run::{Observer, Phase, View};
use spec::{Format, Switches};
use std::io::Write;

/// Shows a run on the report stream.
pub struct Show<'a> {
    switches: &'a Switches,
    sink: &'a mut Sink,
    disks: &'a DiskWatch,
    meter: Meter,
    line: StatusLine,
    shown: bool,
    status: bool,
    live: Option<Live>,
}

impl<'a> Show<'a> {
    /// Shows on `sink`; the status line goes to standard output, wherever the report goes.
    pub fn new(
        switches: &'a Switches,
        sink: &'a mut Sink,
        disks: &'a DiskWatch,
        status: bool,
        live: Option<Live>,
    ) -> Self {
        let mut line = StatusLine::default();
        line.newline_every_ms = switches.eta_newline.map(|every| every.ms());
        Show {
            switches,
            sink,
            disks,
            meter: Meter::default(),
            line,
            shown: false,
            status,
            live,
        }
    }

    /// Ends the status line, unless the report does that with its empty line, and what else is
    /// shown; `run` is the whole document.
    pub fn finish(&mut self, run: &Run) {
        if let Some(live) = &mut self.live {
            live.finish(run);
        }
        let report_follows =
            matches!(self.sink, Sink::Stdout) && self.switches.formats == [Format::Normal];
        if self.shown && !report_follows {
            self.put("\n");
        }
    }

    fn put(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        // A terminal that is gone takes no status line; the run goes on.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

impl Observer for Show<'_> {
    fn status(&mut self, view: &View<'_>) {
        if let Some(live) = &mut self.live {
            live.status(view);
        }
        // The last line that fio shows is one of a run that goes on.
        let over = view.workers.iter().all(|w| w.phase == Phase::Done);
        if !self.status || over {
            return;
        }
        let line = render::status(&self.meter.progress(view));
        let text = self.line.update(&line, view.elapsed_ns / 1_000_000);
        self.put(&text);
        self.shown = true;
    }

    fn report(&mut self, mut run: Run) {
        run.disks = self.disks.differences();
        if let Some(live) = &mut self.live {
            live.take(&run);
        }
        // Without it, the document was made for the live view alone.
        if self.live.is_none() || self.switches.status_interval.is_some() {
            let text = report(self.switches, &run);
            self.sink.write(&text);
        }
    }

    fn note(&mut self, line: &str) {
        if self.switches.formats.contains(&Format::Normal) {
            self.sink.write(&format!("{line}\n"));
        }
    }

    fn complaint(&mut self, line: &str) {
        eprintln!("fio: {line}");
        if let Sink::File(_) = self.sink {
            self.sink.write(&format!("fio: {line}\n"));
        }
    }

    fn failed(&mut self, _worker: &Worker, pid: u32, failure: &Failure) {
        let summary = format!(
            "fio: pid={pid}, err={}/file:{}, func={}, error={}\n",
            failure.errno,
            failure.source,
            failure.place,
            run::failure::errno_text(failure.errno)
        );
        // Each bad block was told when it was found.
        if failure.place != run::failure::VERIFY {
            self.complaint(&failure.message);
        } else if let Sink::File(_) = self.sink {
            self.sink.write(&format!("fio: {}\n", failure.message));
        }
        if self.switches.formats.contains(&Format::Normal) {
            self.sink.write(&summary);
        }
    }
}
