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

use crate::history::Keeping;
use crate::progress::Meter;
use crate::report;
use crate::selfcheck;
use crate::session::Session;
use crate::signals::{EXIT_SIGNAL, Listener};
use anyhow::{Context, bail};
use file::Ground;
use plan::model::Worker;
use render::report::Named;
use result::{Failure, Job, Run};
use run::{Crew, Intervals, Observer, View};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
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
    #[command(flatten)]
    keeping: Keeping,
}

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
    match check(arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("assay: {error:#}");
            ExitCode::from(1)
        }
    }
}

fn check(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let at = match &arguments.place {
        Some(place) => place.clone(),
        None => std::env::current_dir().context("the current directory cannot be found")?,
    };
    let signals = Listener::start(|_| {})?;
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
    println!("{}", place.headline());
    let mut measured = Vec::new();
    let mut whole = Whole::default();
    let mut size_bytes = own.budget_bytes;
    let phases = PHASES
        .iter()
        .filter(|phase| own.writable || phase.ddir != Ddir::Write);
    for phase in phases {
        let run = run_phase(phase, &own, size_bytes, &signals)?;
        if signals.cancelled() {
            println!(
                "\nended by a signal{}",
                if own.own {
                    "; the test file is removed"
                } else {
                    ""
                }
            );
            return Ok(ExitCode::from(EXIT_SIGNAL));
        }
        let job = run.jobs.first().cloned().context("a phase has one job")?;
        whole.add(run);
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
    let tool = selfcheck::measure(None, selfcheck::SHORT)?;
    print!(
        "{}",
        summary::text(&place, &own, size_bytes, &measured, &tool)
    );
    if arguments.place.is_none() {
        match memory::measure() {
            Ok(memory) => print!("{}", memory.text()),
            // The storage has been measured all the same.
            Err(error) => println!("memory               not measured: {error}"),
        }
    }
    let named = Named {
        name: format!("What {} can do", place.storage()),
        run: Run {
            command: Some(crate::history::command_line()),
            ..whole.finish(tool)
        },
    };
    match report::page(std::slice::from_ref(&named)) {
        Ok(path) => println!("report               {}", path.display()),
        // The figures are above; a directory that takes no page is no reason to fail.
        Err(error) => eprintln!("assay: no report page: {error:#}"),
    }
    print!("{}", arguments.keeping.keep_and_tell(&named.run, "check"));
    Ok(ExitCode::SUCCESS)
}

fn run_phase(
    phase: &Phase,
    own: &Ground,
    size_bytes: u64,
    signals: &Listener,
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
        format!("--name={}", phase.title.replace([' ', ','], "-")),
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
    let mut live = Live {
        title: phase.title,
        meter: Meter::default(),
        terminal: std::io::stdout().is_terminal(),
    };
    let disks = session.watch_disks();
    let intervals = Intervals {
        status_ns: Some(250_000_000),
        report_ns: None,
    };
    let ended = session.run(crew, intervals, &mut live, &disks, None);
    live.clear();
    Ok(ended.run)
}

/// One line that follows the phase.
struct Live {
    title: &'static str,
    meter: Meter,
    terminal: bool,
}

impl Live {
    fn clear(&self) {
        if self.terminal {
            print!("\r{:78}\r", "");
        }
    }
}

impl Observer for Live {
    fn status(&mut self, view: &View<'_>) {
        if !self.terminal {
            return;
        }
        let now = self.meter.progress(view);
        let bytes: u64 = now.bytes_per_s.0.iter().sum();
        let ios: u64 = now.iops.0.iter().sum();
        let line = format!(
            "{:20} {:4.1} s  {:>12}  {:>9} IOPS",
            self.title,
            view.elapsed_ns as f64 / 1e9,
            render::human::rate(bytes as f64),
            render::human::count(ios as f64)
        );
        print!("\r{line:78}");
        // A terminal that is gone takes no progress; the run goes on.
        let _ = std::io::stdout().flush();
    }

    fn report(&mut self, _: Run) {}

    fn failed(&mut self, _: &Worker, _: u32, _: &Failure) {}
}
