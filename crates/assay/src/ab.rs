//! `assay ab 'JOB A' 'JOB B'`: two jobs in turn, again and again, and how they compare.
//!
//! In turn, because a machine drifts: its second hour is not its first, and what runs second finds
//! other caches. Every second round begins with B.

use crate::compare::{self, Judging, Side};
use crate::history::{self, Keeping};
use crate::session::Session;
use crate::signals::{EXIT_SIGNAL, Listener};
use anyhow::{Context, bail};
use judge::compare::runs_needed;
use result::{Failure, Run};
use run::{Crew, Intervals, Observer, View};
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

/// Words after `ab`.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// A job as fio's command line has it, in one word: '--rw=randread --bs=4k --filename=f
    /// --size=1g'; or a job file
    #[arg(allow_hyphen_values = true)]
    a: String,
    /// The other one
    #[arg(allow_hyphen_values = true)]
    b: String,
    #[arg(long, value_name = "N", default_value_t = 8, help = repeats(), value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    #[command(flatten)]
    judging: Judging,
    #[command(flatten)]
    keeping: Keeping,
}

/// What `--repeat` says: how many runs tell one figure apart, and how many the usual ones.
fn repeats() -> String {
    let (one, more) = (runs_needed(1), runs_needed(2));
    let last = (2..)
        .take_while(|figures| runs_needed(*figures) == more)
        .last();
    format!(
        "How often each runs. {one} is the least that can tell a difference of one figure; where \
         2 to {} figures are compared at once, Holm's correction needs {more}, and {} for up to {}",
        last.unwrap_or(2),
        more + 1,
        (2..)
            .take_while(|figures| runs_needed(*figures) <= more + 1)
            .last()
            .unwrap_or(2),
    )
}

/// Runs both and tells; the status is that of `assay compare`, or that of a signal.
pub fn main(arguments: &Arguments) -> ExitCode {
    match measured(arguments) {
        Ok(code) => code,
        Err(error) if crate::out::is_gone(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("assay: ab: {error:#}");
            ExitCode::from(1)
        }
    }
}

fn measured(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let jobs = [&arguments.a, &arguments.b];
    let words = [words(jobs[0])?, words(jobs[1])?];
    // What can be refused is refused before anything runs.
    for words in &words {
        Session::new(&crate::session::read(words)?)?;
    }
    let signals = Listener::start(|_| {})?;
    let mut sides = jobs.map(|job| Side {
        name: job.clone(),
        runs: Vec::new(),
    });
    let began = jiff::Timestamp::now().as_second();
    let tags = ["a", "b"].map(|side| format!("ab-{began}-{side}"));
    let mut kept = true;
    for round in 0..arguments.repeat {
        let order = if round % 2 == 0 { [0, 1] } else { [1, 0] };
        for side in order {
            progress(&format!(
                "round {} of {}: {}",
                round + 1,
                arguments.repeat,
                ["A", "B"][side]
            ));
            let run = one(&words[side], &signals);
            progress("");
            if signals.cancelled() {
                eprintln!("assay: ab: ended by a signal");
                return Ok(ExitCode::from(EXIT_SIGNAL));
            }
            let run = run.with_context(|| jobs[side].clone())?;
            let run = Run {
                command: Some(history::command("fio", &words[side])),
                ..run
            };
            // One complaint is enough.
            kept = kept && keep(&arguments.keeping, &run, &tags[side]);
            sides[side].runs.push(compare::known(run));
        }
    }
    let code = compare::tell("ab", &sides, &arguments.judging, arguments.keeping.place())?;
    if kept && !arguments.keeping.nothing() && arguments.judging.is_text() {
        let [a, b] = &tags;
        crate::out::put(&format!("kept: `assay compare {a} {b}`\n"))?;
    }
    Ok(code)
}

fn keep(keeping: &Keeping, run: &Run, tag: &str) -> bool {
    let kept = keeping.tagged(tag).keep(run, "ab");
    if let Err(error) = &kept {
        eprintln!("assay: ab: the runs are not kept: {error:#}");
    }
    kept.is_ok()
}

/// The words of a job; a job file is one.
fn words(job: &str) -> anyhow::Result<Vec<String>> {
    if Path::new(job).is_file() {
        return Ok(vec![job.to_owned()]);
    }
    let mut words = shell_words::split(job).with_context(|| job.to_owned())?;
    if words.is_empty() {
        bail!("an empty job: say what to do, such as '--rw=randread --filename=f --size=1g'");
    }
    // Both get the same name, so that their figures belong together.
    let first = &words[0];
    if first.starts_with("--") && !words.iter().any(|word| word.starts_with("--name")) {
        words.insert(0, "--name=job".to_owned());
    }
    Ok(words)
}

/// Runs a command line of fio without a word.
fn one(words: &[String], signals: &Listener) -> anyhow::Result<Run> {
    let session = Session::new(&crate::session::read(words)?)?;
    session.lay_out(&signals.cancel, &mut |_| {})?;
    let crew = Crew::new();
    signals.attach(crew.remote());
    let disks = session.watch_disks();
    let ended = session.run(crew, Intervals::default(), &mut Silent, &disks, None);
    let mut failures = ended.run.jobs.iter().filter_map(|job| job.failure.as_ref());
    if let Some(failure) = failures.next() {
        bail!("{}", failure.message);
    }
    Ok(ended.run)
}

struct Silent;

impl Observer for Silent {
    fn status(&mut self, _: &View<'_>) {}

    fn report(&mut self, _: Run) {}

    fn failed(&mut self, _: &plan::model::Worker, _: u32, _: &Failure) {}
}

/// What is being done, on a terminal only; nothing clears the line.
fn progress(what: &str) {
    let mut terminal = std::io::stderr();
    if terminal.is_terminal() {
        // A terminal that is gone takes no progress; the run goes on.
        let _ = write!(terminal, "\r{what:78}\r").and_then(|()| terminal.flush());
    }
}
