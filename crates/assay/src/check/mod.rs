//! The main job: what can the storage below a directory, or a device, do?
//!
//! Five short phases on one file of its own: sequential write and read, random read and write,
//! and random reads one at a time. Each phase is a fio command line, so that anybody can repeat
//! it. The file is removed at the end, also after a signal. A device is only read, unless its
//! owner consents to the loss of what is on it. Where no place is named, a few seconds of memory
//! go along.

mod file;
mod memory;
mod summary;
mod whole;

use crate::disks::DiskWatch;
use crate::history::Keeping;
use crate::live::{Live, Mode};
use crate::report;
use crate::selfcheck;
use crate::session::Session;
use crate::signals::{EXIT_SIGNAL, Listener};
use anyhow::{Context, bail};
use file::Ground;
use judge::expect::Declared;
use plan::model::Worker;
use render::report::Named;
use result::{Failure, Job, Run};
use run::{Crew, Intervals, Observer, View};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use units::Ddir;
use whole::Whole;

/// What to measure.
#[derive(Default, clap::Args)]
pub struct Arguments {
    /// A directory (a file of its own is made and removed there) or a block device, which is
    /// only read; the current directory when none is given
    place: Option<PathBuf>,
    /// Write to the device too: its content is lost. The value names it by serial number, or as
    /// the refusal without this option says
    #[arg(long, value_name = "SERIAL")]
    destroy_data: Option<String>,
    /// Measure so often; each time is a run of its own in the history
    #[arg(long, value_name = "N", default_value_t = 1)]
    repeat: u32,
    #[command(flatten)]
    keeping: Keeping,
    /// What was bought, to be judged against: type=io1,gib=300,iops=15000,instance=m5d.4xlarge
    #[arg(long, value_name = "WHAT")]
    expect: Option<String>,
    /// What is shown meanwhile
    #[arg(long, value_enum, default_value_t)]
    live: Mode,
    /// Serve metrics for Prometheus there, such as 127.0.0.1:9100, while it lasts
    #[arg(long, value_name = "ADDRESS")]
    metrics: Option<String>,
}

/// Interval of what is shown meanwhile.
const LIVE_NS: u64 = 500_000_000;

/// One phase of the check.
struct Phase {
    /// What people call it.
    title: &'static str,
    /// Direction that it measures.
    ddir: Ddir,
    /// Queue depth.
    iodepth: u32,
    /// fio options besides those that all phases share.
    options: &'static str,
    /// Seconds.
    seconds: u32,
}

const PHASES: [Phase; 5] = [
    Phase {
        title: "sequential write",
        ddir: Ddir::Write,
        iodepth: 8,
        options: "--rw=write --bs=1m --refill_buffers --time_based",
        seconds: 3,
    },
    Phase {
        title: "sequential read",
        ddir: Ddir::Read,
        iodepth: 8,
        options: "--rw=read --bs=1m --time_based",
        seconds: 3,
    },
    Phase {
        title: "random read, QD 32",
        ddir: Ddir::Read,
        iodepth: 32,
        options: "--rw=randread --bs=4k --norandommap --randrepeat=0 --time_based",
        seconds: 3,
    },
    Phase {
        title: "random write, QD 32",
        ddir: Ddir::Write,
        iodepth: 32,
        options: "--rw=randwrite --bs=4k --norandommap --randrepeat=0 \
                  --refill_buffers --time_based",
        seconds: 3,
    },
    Phase {
        title: "random read, QD 1",
        ddir: Ddir::Read,
        iodepth: 1,
        options: "--rw=randread --bs=4k --norandommap --randrepeat=0 --time_based",
        seconds: 2,
    },
];

/// What one phase gave.
struct Measured {
    title: &'static str,
    ddir: Ddir,
    iodepth: u32,
    job: Job,
}

/// Runs the check.
pub fn main(arguments: &Arguments) -> ExitCode {
    let repeated = || -> anyhow::Result<ExitCode> {
        let signals = Listener::start(|_| {})?;
        for _ in 1..arguments.repeat {
            check(arguments, &signals)?;
            if signals.cancelled() {
                return Ok(ExitCode::from(EXIT_SIGNAL));
            }
            println!();
        }
        check(arguments, &signals)
    };
    match repeated() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("assay: {error:#}");
            ExitCode::from(1)
        }
    }
}

fn check(arguments: &Arguments, signals: &Arc<Listener>) -> anyhow::Result<ExitCode> {
    let at = match &arguments.place {
        Some(place) => place.clone(),
        None => std::env::current_dir().context("the current directory cannot be found")?,
    };
    let declared = crate::expect::declared(arguments.expect.as_deref())?;
    let consent = arguments.destroy_data.as_deref();
    let own = match Ground::device(&at, consent)? {
        Some(device) => device,
        None if consent.is_some() => {
            bail!("--destroy-data: {} is no block device", at.display())
        }
        None if !at.is_dir() => bail!("{}: no directory and no block device", at.display()),
        None => Ground::create(&at.canonicalize()?)?,
    };
    let place = summary::Place::of(&at)?;
    // Lines of JSON have standard output for themselves; the page has everything else.
    let talks = arguments.live != Mode::Json;
    let say = |text: &str| match talks {
        true => crate::out::put(text),
        false => Ok(()),
    };
    say(&format!("{}\n", place.headline(arguments.place.is_none())))?;
    let mut live = Live::new(arguments.live, arguments.metrics.as_deref(), signals)?;
    if arguments.live != Mode::Off {
        live = live.on_page(&crate::history::command_line());
    }
    let mut measured = Vec::new();
    let mut whole = Whole::default();
    let mut size_bytes = own.budget_bytes;
    let phases = PHASES
        .iter()
        .filter(|phase| own.writable || phase.ddir != Ddir::Write);
    for phase in phases {
        let run = run_phase(
            phase,
            &own,
            size_bytes,
            signals,
            declared.as_ref(),
            &mut live,
        )?;
        if signals.cancelled() {
            live.close();
            let removed = match own.own {
                true => "; the test file is removed",
                false => "",
            };
            say(&format!("\nended by a signal{removed}\n"))?;
            return Ok(ExitCode::from(EXIT_SIGNAL));
        }
        let job = run.jobs.first().cloned().context("a phase has one job")?;
        whole.add(phase.title, run);
        if let Some(failure) = &job.failure {
            bail!("{}: {}", phase.title, failure.message);
        }
        if own.own && phase.title == PHASES[0].title {
            // Later phases stay inside what was really written: holes read too fast.
            size_bytes = job.dirs[Ddir::Write].bytes.min(size_bytes) >> 20 << 20;
            if size_bytes == 0 {
                bail!("not one MiB could be written in {} s", phase.seconds);
            }
        }
        measured.push(Measured {
            title: phase.title,
            ddir: phase.ddir,
            iodepth: phase.iodepth,
            job,
        });
    }
    drop(live);
    // On a machine that has no time for it, the storage has been measured all the same.
    let tool = selfcheck::measure(None, selfcheck::SHORT);
    say(&summary::text(&place, &own, size_bytes, &measured, &tool))?;
    let mut run = whole.finish(tool.ok());
    if arguments.place.is_none() {
        match memory::measure() {
            Ok(memory) => {
                say(&memory.text())?;
                run.memory = Some(Box::new(memory.document()));
            }
            // The storage has been measured all the same.
            Err(error) => say(&format!("memory               not measured: {error}\n"))?,
        }
    }
    say(&summary::judgement(&run))?;
    let named = Named {
        name: format!("What {} can do", place.storage()),
        run: Run {
            command: Some(crate::history::command_line()),
            ..run
        },
    };
    match report::page(std::slice::from_ref(&named)) {
        Ok(path) => say(&format!("report               {}\n", path.display()))?,
        // The figures are above; a directory that takes no page is no reason to fail.
        Err(error) => eprintln!("assay: no report page: {error:#}"),
    }
    say(&arguments.keeping.keep_and_tell(&named.run, "check"))?;
    Ok(ExitCode::SUCCESS)
}

fn run_phase(
    phase: &Phase,
    own: &Ground,
    size_bytes: u64,
    signals: &Listener,
    declared: Option<&Declared>,
    live: &mut Live,
) -> anyhow::Result<Run> {
    let mut words: Vec<String> = phase
        .options
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    // A colon in the path would separate two file names.
    let path = own.path.to_string_lossy().replace(':', "\\:");
    words.insert(
        0,
        format!(
            "--name={}",
            phase.title.replace(", ", "-").replace(' ', "-")
        ),
    );
    words.push(format!("--iodepth={}", phase.iodepth));
    words.push(format!("--ioengine={}", own.engine()));
    words.push(format!("--direct={}", u8::from(own.direct)));
    words.push(format!("--filename={path}"));
    words.push(format!("--size={size_bytes}"));
    words.push(format!("--runtime={}", phase.seconds));
    if !own.writable {
        words.push("--readonly".to_owned());
    }
    words.extend(["--fallocate=none", "--thread", "--allow_file_create=0"].map(str::to_owned));
    let spec = crate::session::read(&words)?;
    let session = Session::new(&spec)?;
    session.lay_out(&signals.cancel, &mut |_| {})?;
    let crew = Crew::new();
    signals.attach(crew.remote());
    let disks = session.watch_disks();
    let intervals = Intervals {
        status_ns: Some(LIVE_NS / 2),
        report_ns: Some(LIVE_NS),
    };
    live.begin(phase.title);
    let mut watched = Watched {
        live,
        disks: &disks,
    };
    let ended = session.run(crew, intervals, &mut watched, &disks, declared);
    live.finish(&ended.run);
    let mut run = ended.run;
    for one in run
        .judgement
        .iter_mut()
        .flat_map(|all| &mut all.expectations)
    {
        one.subject = phase.title.to_owned();
    }
    Ok(run)
}

/// A phase with the devices below it.
struct Watched<'a> {
    live: &'a mut Live,
    disks: &'a DiskWatch,
}

impl Observer for Watched<'_> {
    fn status(&mut self, view: &View<'_>) {
        self.live.status(view);
    }

    fn report(&mut self, mut run: Run) {
        run.disks = self.disks.differences();
        self.live.take(&run);
    }

    fn failed(&mut self, _: &Worker, _: u32, _: &Failure) {}
}
