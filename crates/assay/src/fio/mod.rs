//! The fio personality: fio's command line in, fio's reports out.
//!
//! Streams follow what scripts rely on: a successful run keeps standard error empty; JSON and
//! terse output holds the document alone; hints appear only in the normal format.

mod help;
mod progress;
mod sentry;
mod sink;

use crate::expect;
use crate::history;
use crate::live::{Live, Mode, channel};
use crate::session::{self, Session};
use crate::signals::{EXIT_SIGNAL, Listener};
use anyhow::bail;
use plan::layout::LayoutError;
use plan::model::Worker;
use progress::Show;
use render::{BlockSizes, JobLine, TerseVersion};
use result::Run;
use run::idle::{IdleMode, IdleProfiler};
use run::{Crew, Intervals};
use sentry::Sentry;
use sink::Sink;
use spec::{Eta, Format, IdleProf, Severity, Spec, Switches};
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use units::Ddir;

/// Most failed jobs that the exit status can tell; above are statuses with a meaning of their own.
const MOST_FAILURES: usize = 125;

/// Runs the personality; `words` is the command line without the program's name.
pub fn main(words: &[String]) -> ExitCode {
    let spec = match session::read(words) {
        Ok(spec) => spec,
        Err(errors) => {
            for diagnostic in &errors.0 {
                eprintln!("fio: {diagnostic}");
            }
            if words.is_empty() {
                print!("{}", help::usage());
            }
            return ExitCode::from(1);
        }
    };
    if spec.switches.informs() {
        return help::show(&spec.switches);
    }
    if !spec.switches.debug.is_empty() {
        eprintln!("fio: --debug is not supported yet");
        return ExitCode::from(1);
    }
    if spec.switches.showcmd {
        spec.command_lines
            .iter()
            .for_each(|line| println!("{line}"));
        return ExitCode::SUCCESS;
    }
    if spec.switches.parse_only {
        return ExitCode::SUCCESS;
    }
    let path = spec.switches.output.as_deref().map(Path::new);
    let checked = path.map_or(Ok(()), |path| {
        crate::out::check(path)?;
        crate::out::check_apart(path, job_files(words))
    });
    let opened = checked.and_then(|()| Ok(Sink::open(path)?));
    let sink = match opened {
        Ok(sink) => sink,
        Err(error) => {
            let path = path.unwrap_or(Path::new("")).display();
            eprintln!("fio: --output={path}: {error:#}");
            return ExitCode::from(1);
        }
    };
    Personality {
        switches: &spec.switches,
        words,
        sink,
        begun: false,
    }
    .run(&spec)
}

/// Words that may be job files: the others are switches, or may be the value of one.
fn job_files(words: &[String]) -> impl Iterator<Item = &Path> {
    let before = [None].into_iter().chain(words.iter().map(Some));
    let value = |before: Option<&String>| {
        before.is_some_and(|word| word.starts_with('-') && !word.contains('='))
    };
    let files = words.iter().zip(before);
    let files = files.filter(move |(word, before)| !word.starts_with('-') && !value(*before));
    files.map(|(word, _)| Path::new(word))
}

struct Personality<'a> {
    switches: &'a Switches,
    /// The command line.
    words: &'a [String],
    sink: Sink,
    /// The sink holds nothing of before any more.
    begun: bool,
}

impl Personality<'_> {
    fn run(mut self, spec: &Spec) -> ExitCode {
        if self.switches.idle_prof == Some(IdleProf::Calibrate) {
            return self.calibrate();
        }
        let quiet = !self.normal();
        let listening = Listener::start(move |signal| {
            if !quiet {
                println!("\nfio: terminating on signal {signal}");
            }
        });
        let signals = match listening {
            Ok(signals) => signals,
            Err(error) => return self.refuse(&format!("cannot listen for signals: {error}")),
        };
        for _ in 1..self.switches.repeat {
            let code = self.once(spec, &signals);
            if code != ExitCode::SUCCESS {
                return code;
            }
        }
        self.once(spec, &signals)
    }

    /// One run of all jobs.
    fn once(&mut self, spec: &Spec, signals: &Arc<Listener>) -> ExitCode {
        let session = match Session::new(spec) {
            Ok(session) => session,
            Err(error) => return self.refuse(&format!("{error:#}")),
        };
        if let Some(output) = self.switches.output.as_deref().map(Path::new) {
            let workers = session.plan.workers.iter();
            let targets = workers.flat_map(|worker| &worker.targets);
            let mut paths = targets.map(|target| target.path.as_path());
            if paths.any(|path| plan::guard::is_same_file(output, path)) {
                let path = output.display();
                eprintln!(
                    "fio: --output={path}: is a target of the jobs; the report needs another file"
                );
                return ExitCode::from(1);
            }
        }
        self.begin();
        let declared = match expect::declared(self.switches.expect.as_deref()) {
            Ok(declared) => declared,
            Err(error) => return self.refuse(&format!("{error:#}")),
        };
        let save_bytes = match self.switches.time_to_save.as_deref().map(expect::amount) {
            Some(Err(error)) => return self.refuse(&format!("--time-to-save: {error:#}")),
            Some(Ok(bytes)) => Some(bytes),
            None => None,
        };
        self.announce(spec, &session);
        if let Err(code) = self.lay_out(&session, &signals.cancel) {
            return code;
        }
        self.remark(&session);
        if self.switches.merge_only {
            return ExitCode::SUCCESS;
        }
        let mut crew = Crew::new();
        if let Some(prefix) = &self.switches.bandwidth_log {
            crew = match crew.with_bandwidth_log(prefix, &session.plan) {
                Ok(crew) => crew,
                Err(failure) => return self.refuse(&failure.message),
            };
        }
        signals.attach(crew.remote());
        let disks = session.watch_disks();
        let intervals = self.intervals();
        let idle = match self
            .switches
            .idle_prof
            .map(idle_mode)
            .map(IdleProfiler::start)
        {
            Some(Err(error)) => return self.refuse(&error.to_string()),
            Some(Ok(idle)) => Some(idle),
            None => None,
        };
        let status = self.shows_status();
        let live = match self.live(signals) {
            Ok(live) => live,
            Err(error) => return self.refuse(&format!("{error:#}")),
        };
        let sentry = match Sentry::post(self.switches, crew.remote()) {
            Ok(sentry) => sentry,
            Err(error) => return self.refuse(&format!("cannot start a thread: {error}")),
        };
        let mut show = Show::new(self.switches, &mut self.sink, &disks, status, live);
        let mut ended = session.run(crew, intervals, &mut show, &disks, declared.as_ref());
        sentry.dismiss();
        show.finish(&ended.run);
        ended.run.cpu_idle = idle.map(IdleProfiler::stop);
        if let Some(bytes) = save_bytes {
            let time = judge::time_to_save(&ended.run, bytes);
            ended.run.judgement.get_or_insert_default().time_to_save = time;
        }
        let mut text = report(self.switches, &ended.run);
        text += &self.findings(&ended.run);
        self.sink.write(&text);
        if history::asked(self.switches.save) {
            ended.run.command = Some(history::command("fio", self.words));
            if let Err(error) = history::keep(&ended.run) {
                eprintln!("fio: the run is not kept: {error:#}");
            }
        }
        match ended.signal {
            Some(_) => ExitCode::from(EXIT_SIGNAL),
            None => ExitCode::from(session::failures(&ended.run).min(MOST_FAILURES) as u8),
        }
    }

    /// What the rules found, for people: on a terminal, or where `--findings` asks for it.
    fn findings(&self, run: &Run) -> String {
        let terminal = matches!(self.sink, Sink::Stdout) && std::io::stdout().is_terminal();
        if !self.normal() || !(self.switches.findings || terminal) {
            return String::new();
        }
        let text = render::findings(run);
        match text.is_empty() && self.switches.findings {
            true => "\nFindings: none\n".to_owned(),
            false => text,
        }
    }

    /// `--idle-prof=calibrate`: what a unit of work costs, and no jobs.
    fn calibrate(&mut self) -> ExitCode {
        self.begin();
        match IdleProfiler::start(IdleMode::Calibrate).map(IdleProfiler::stop) {
            Err(error) => self.refuse(&error.to_string()),
            Ok(idle) => {
                self.sink.write(&format!(
                    "CPU idleness:\n  unit work: mean={:3.2}us, stddev={:3.2}\n",
                    idle.unit_mean_us, idle.unit_stddev_us
                ));
                ExitCode::SUCCESS
            }
        }
    }

    /// Before the first line of any report.
    fn begin(&mut self) {
        if !self.begun {
            self.sink.begin();
            self.begun = true;
        }
    }

    /// One clear line on standard error, and in the `--output` file.
    fn refuse(&mut self, message: &str) -> ExitCode {
        self.begin();
        for line in message.lines() {
            eprintln!("fio: {line}");
            if let Sink::File(_) = self.sink {
                self.sink.write(&format!("fio: {line}\n"));
            }
        }
        ExitCode::from(1)
    }

    fn normal(&self) -> bool {
        self.switches.formats.contains(&Format::Normal)
    }

    /// The lines before the load starts.
    fn announce(&mut self, spec: &Spec, session: &Session) {
        if !self.normal() {
            return;
        }
        let plan = &session.plan;
        let mut text = String::new();
        let shown = |worker: &&Worker| worker.clone == 0 && !worker.engine.kind.caps().no_io;
        for worker in plan.workers.iter().filter(shown) {
            text += &job_line(
                worker,
                plan.workers.iter().filter(|w| w.job == worker.job).count(),
            );
        }
        let threads = plan.workers.iter().filter(|worker| worker.threaded).count() as u32;
        let all = plan.workers.len() as u32;
        text += &render::starting(threads, all - threads);
        for note in spec
            .notes
            .iter()
            .filter(|note| note.severity <= Severity::Warning)
        {
            text += &format!("note: {note}\n");
        }
        self.sink.write(&text);
    }

    /// Remarks about what the jobs will do, where fio has them: after the files are made.
    fn remark(&mut self, session: &Session) {
        if self.normal() {
            for note in &session.plan.notes {
                self.sink.write(&format!("note: {note}\n"));
            }
            for worker in &session.plan.workers {
                for line in &worker.display.opening {
                    self.sink.write(&format!("{line}\n"));
                }
            }
        }
    }

    fn lay_out(&mut self, session: &Session, cancel: &AtomicBool) -> Result<(), ExitCode> {
        let normal = self.normal();
        let sink = &mut self.sink;
        let made = session.lay_out(cancel, &mut |progress| {
            if normal
                && progress.begins
                && let Some(line) = progress.layout.headline()
            {
                sink.write(&format!("{line}\n"));
            }
        });
        match made {
            Ok(_) => Ok(()),
            Err(LayoutError::Cancelled) => Err(ExitCode::from(EXIT_SIGNAL)),
            Err(error) => Err(self.refuse(&error.to_string())),
        }
    }

    /// What of our own is shown while the jobs run, where it was asked for.
    fn live(&self, signals: &Arc<Listener>) -> anyhow::Result<Option<Live>> {
        let (lines, metrics) = (self.switches.live, self.switches.metrics.as_deref());
        if lines && !matches!(self.sink, Sink::File(_)) {
            bail!(
                "--live=json: needs --output=FILE; its lines have standard output for themselves"
            );
        }
        let page = self.switches.live_page;
        if page && !channel::heard() {
            bail!("--live=page: nobody would see it, as no `assay serve` of this user is running");
        }
        if !(lines || page || metrics.is_some()) {
            return Ok(None);
        }
        let mode = if lines { Mode::Json } else { Mode::Off };
        let live = Live::new(mode, metrics, signals)?;
        Ok(Some(match page {
            true => live.on_page(&history::command("fio", self.words)),
            false => live,
        }))
    }

    fn shows_status(&self) -> bool {
        // A document is alone on its stream, whatever was asked for; so it is in fio.
        let room = self.normal() || matches!(self.sink, Sink::File(_));
        room && !self.switches.live
            && match self.switches.eta {
                Eta::Always => true,
                Eta::Never => false,
                Eta::Auto => std::io::stdout().is_terminal(),
            }
    }

    fn intervals(&self) -> Intervals {
        let shown = self.switches.live || self.switches.live_page;
        let watched = shown || self.switches.metrics.is_some();
        let every = self.switches.status_interval;
        Intervals {
            status_ns: (watched || self.shows_status()).then(|| self.switches.eta_interval.ns()),
            report_ns: every.map(|every| every.ns()).or(watched.then_some(LIVE_NS)),
        }
    }
}

/// Interval of `--live` and `--metrics` unless `--status-interval` gives another.
const LIVE_NS: u64 = 1_000_000_000;

/// The report in all formats asked for; blocks come in the order terse, JSON, normal.
fn report(switches: &Switches, run: &Run) -> String {
    let mut text = String::new();
    let formats = &switches.formats;
    if formats.contains(&Format::Terse) {
        let version = TerseVersion::from_number(switches.terse_version);
        text += &render::terse(run, version.expect("the switch admits versions that exist"));
    }
    if formats.contains(&Format::JsonPlus) {
        text += &render::json(run, true);
    } else if formats.contains(&Format::Json) {
        text += &render::json(run, false);
    }
    if formats.contains(&Format::Normal) {
        text += &render::normal(run);
    }
    text
}

fn idle_mode(how: IdleProf) -> IdleMode {
    match how {
        IdleProf::System => IdleMode::System,
        IdleProf::PerCpu => IdleMode::PerCpu,
        IdleProf::Calibrate => IdleMode::Calibrate,
    }
}

fn job_line(worker: &Worker, clones: usize) -> String {
    let shown = &worker.display;
    let sizes = if shown.seq_rand {
        BlockSizes::SequentialRandom(shown.block[Ddir::Read], shown.block[Ddir::Write])
    } else {
        BlockSizes::PerDirection(shown.block)
    };
    JobLine {
        name: &worker.name,
        group: worker.group,
        rw: shown.rw,
        sizes,
        engine: shown.engine,
        depth: shown.iodepth,
        clones: clones as u32,
        kb_base: worker.reporting.kb_base,
        significant_figures: worker.reporting.significant_figures,
    }
    .text()
}
