//! What a run shows of itself while it lasts: a view on a terminal, a line of JSON for each
//! interval, metrics for Prometheus, the live page of `assay serve`.
//!
//! Everything is made of running documents and of the counters that the status line reads; the
//! loops do not know that they are watched.

pub mod channel;
mod json;
mod metrics;
mod screen;
mod windows;

use crate::progress::Meter;
use crate::signals::Listener;
use channel::Channel;
use metrics::Metrics;
use render::Eta;
use result::Run;
use run::{Phase, View};
use screen::Screen;
use serde_json::Value;
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::time::Instant;
use windows::Windows;

/// What is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Mode {
    /// A view on a terminal, nothing elsewhere
    #[default]
    Auto,
    /// One line of JSON for each interval, alone on standard output
    Json,
    /// Nothing
    Off,
}

/// The state of a run at a moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moment {
    /// What runs.
    pub title: String,
    /// Nanoseconds since its start.
    pub elapsed_ns: u64,
    /// Jobs that are not over.
    pub running: u32,
    /// Seconds that are left, where that can be said.
    pub eta_s: Option<u64>,
    phases: Vec<&'static str>,
}

impl Moment {
    /// What the job at a place is doing.
    pub fn phase_of(&self, at: usize) -> &'static str {
        self.phases.get(at).copied().unwrap_or("over")
    }

    /// What the run as a whole is doing: what its earliest job does.
    pub fn phase(&self) -> &'static str {
        let order = ["prepare", "ramp", "run", "verify", "finish", "over"];
        let found = order.iter().find(|phase| self.phases.contains(phase));
        found.copied().unwrap_or("prepare")
    }
}

fn word(phase: Phase) -> &'static str {
    match phase {
        Phase::Pending | Phase::Created | Phase::Ready => "prepare",
        Phase::Ramp => "ramp",
        Phase::Running => "run",
        Phase::Verifying => "verify",
        Phase::Syncing | Phase::Finishing => "finish",
        Phase::Done => "over",
    }
}

enum Output {
    Nothing,
    /// One line that is written over.
    Line,
    Json,
    Screen(Box<Screen>),
}

/// Shows runs, one after the other.
pub struct Live {
    output: Output,
    metrics: Option<Metrics>,
    channel: Option<Channel>,
    meter: Meter,
    windows: Windows,
    moment: Moment,
    begun: Instant,
}

impl Live {
    /// Shows what `mode` says; keys stop the run through `signals`. `metrics` is an address.
    ///
    /// # Errors
    /// The address cannot be had.
    pub fn new(mode: Mode, metrics: Option<&str>, signals: &Arc<Listener>) -> anyhow::Result<Live> {
        let terminal = std::io::stdout().is_terminal();
        let output = match mode {
            Mode::Json => Output::Json,
            Mode::Auto if terminal => match Screen::open(Arc::clone(signals)) {
                Some(screen) => Output::Screen(Box::new(screen)),
                None => Output::Line,
            },
            Mode::Auto | Mode::Off => Output::Nothing,
        };
        Ok(Live {
            output,
            metrics: metrics.map(Metrics::serve).transpose()?,
            channel: None,
            meter: Meter::default(),
            windows: Windows::default(),
            moment: Moment::default(),
            begun: Instant::now(),
        })
    }

    /// Shows the run on the live page of every `assay serve` of the same user too, whether it is
    /// there already or comes later.
    pub fn on_page(mut self, command: &str) -> Live {
        self.channel = Channel::open(command);
        self
    }

    /// Something else begins.
    pub fn begin(&mut self, title: &str) {
        self.moment = Moment {
            title: title.to_owned(),
            ..Moment::default()
        };
        self.meter = Meter::default();
        self.windows = Windows::default();
        self.begun = Instant::now();
    }

    /// Takes in the counters of a running crew.
    pub fn status(&mut self, view: &View<'_>) {
        let progress = self.meter.progress(view);
        self.moment.elapsed_ns = view.elapsed_ns;
        self.moment.phases = view
            .workers
            .iter()
            .map(|worker| word(worker.phase))
            .collect();
        self.moment.running = self.moment.phases.iter().filter(|p| **p != "over").count() as u32;
        self.moment.eta_s = match progress.eta {
            Eta::Seconds(left) => Some(left),
            _ => None,
        };
        match &mut self.output {
            Output::Screen(screen) => screen.show(&self.moment),
            Output::Line => {
                let bytes: u64 = progress.bytes_per_s.0.iter().sum();
                let ios: u64 = progress.iops.0.iter().sum();
                let line = format!(
                    "{:20} {:4.1} s  {:>12}  {:>9} IOPS",
                    self.moment.title,
                    view.elapsed_ns as f64 / 1e9,
                    render::human::rate(bytes as f64),
                    render::human::count(ios as f64)
                );
                put(&format!("\r{line:78}"));
            }
            Output::Json | Output::Nothing => {}
        }
    }

    /// Takes in a running document, or the last one.
    pub fn take(&mut self, run: &Run) {
        let now_ns = u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let window = self.windows.next(run, now_ns);
        self.moment.elapsed_ns = now_ns;
        if let Some(metrics) = &self.metrics {
            metrics.take(&self.moment, &window);
        }
        if let Some(channel) = &self.channel {
            channel.tell(json::line(&self.moment, &window), run);
        }
        match &mut self.output {
            Output::Json => {
                let line = json::line(&self.moment, &window);
                put(&format!("{}\n", Value::Object(line)));
            }
            Output::Screen(screen) => screen.take(&self.moment, window, run),
            Output::Line | Output::Nothing => {}
        }
    }

    /// The run is over; `run` is its whole document.
    pub fn finish(&mut self, run: &Run) {
        self.moment
            .phases
            .iter_mut()
            .for_each(|phase| *phase = "over");
        self.moment.running = 0;
        self.moment.eta_s = Some(0);
        self.take(run);
        if matches!(self.output, Output::Line) {
            put(&format!("\r{:78}\r", ""));
        }
    }

    /// Gives the terminal back.
    pub fn close(&mut self) {
        if matches!(self.output, Output::Screen(_)) {
            self.output = Output::Nothing;
        }
    }
}

/// A terminal that is gone takes no progress; the run goes on.
fn put(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
