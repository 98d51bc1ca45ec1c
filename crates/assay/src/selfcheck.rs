//! `assay selfcheck`: what does the tool itself cost per I/O here?
//!
//! The figures come from ordinary jobs through the ordinary loops; bare loops of the same
//! requests stand beside them. CPU time of the worker is what counts, so that a busy machine
//! does not look like an expensive tool.

use crate::session::Session;
use anyhow::{Context, bail};
use engine::io_uring::{Options, Uring};
use engine::nop::Nop;
use engine::{Engine, Setup};
use result::{Beside, Run, SelfCheck};
use run::{Crew, Intervals, Observer, View, bare};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use sys::clock::{Clock, Monotonic};
use sys::file::{File, Open};
use sys::pages::{Kind, Pool};
use sys::tsc::Tsc;

/// Bytes of a request.
const LEN: u32 = 4096;
/// Length of a job, milliseconds, and requests of the bare loop, in the long form.
const LONG: Effort = Effort {
    job_ms: 200,
    requests: 1 << 19,
    rounds: 5,
};
/// The same where the check goes along with another measurement.
pub const SHORT: Effort = Effort {
    job_ms: 10,
    requests: 1 << 14,
    rounds: 1,
};

/// How thoroughly to measure.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    job_ms: u32,
    requests: u64,
    /// The median of this many rounds counts.
    rounds: usize,
}

/// Words after `selfcheck`.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// Also read this file through an io_uring, with and without statistics; it should be small
    /// enough to stay in the page cache
    #[arg(long)]
    file: Option<PathBuf>,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

/// Measures and prints.
pub fn main(arguments: &Arguments) -> ExitCode {
    let check = match measure(arguments.file.as_deref(), LONG) {
        Ok(check) => check,
        Err(error) => {
            eprintln!("assay: selfcheck: {error:#}");
            return ExitCode::from(1);
        }
    };
    if arguments.json {
        let json = serde_json::to_string_pretty(&check).expect("numbers and names");
        println!("{json}");
    } else {
        print!("{}", text(&check));
    }
    ExitCode::SUCCESS
}

/// Measures; a ring and a file only where there are such.
///
/// # Errors
/// The null engine failed, or the file cannot be read.
pub fn measure(file: Option<&Path>, effort: Effort) -> anyhow::Result<SelfCheck> {
    let queue = "--iodepth=32 --iodepth_batch_submit=32 --iodepth_batch_complete_min=32";
    let size = 1u64 << 30;
    let (clock, stamp_ns) = stamp();
    let sync_ns = median(effort, || {
        full(&words("null", "", size, None, effort), effort)
    })?;
    let queued_ns = median(effort, || {
        full(&words("null", queue, size, None, effort), effort)
    })?;
    let ring = match Nop::start(Setup::plain(&plain(), bare::DEPTH, Vec::new(), pool()?)) {
        Err(_) => None,
        Ok(nop) => Some(beside(
            effort,
            nop,
            &words("nop", queue, size, None, effort),
        )?),
    };
    let file = match file {
        None => None,
        Some(path) => {
            let how = Open {
                read: true,
                ..Open::default()
            };
            let name = || path.display().to_string();
            let open = File::open(path, how).with_context(name)?;
            let size = open.size().with_context(name)? / u64::from(LEN) * u64::from(LEN);
            if size == 0 {
                bail!("{}: not one block of {LEN} bytes", path.display());
            }
            // What is not in the page cache yet would be read from the device.
            std::io::copy(&mut std::fs::File::open(path)?, &mut std::io::sink())
                .with_context(name)?;
            let uring = Uring::start(Setup::plain(&plain(), bare::DEPTH, vec![open], pool()?))?;
            let words = words("io_uring", queue, size, Some(path), effort);
            Some(beside(effort, uring, &words)?)
        }
    };
    Ok(SelfCheck {
        clock,
        stamp_ns,
        sync_ns,
        queued_ns,
        ring,
        file,
    })
}

fn plain() -> Options {
    Options::default()
}

fn pool() -> anyhow::Result<Pool> {
    let len = LEN as usize;
    Ok(Pool::new(bare::DEPTH, len, len, &Kind::Anonymous, false)?)
}

/// A fio command line of random reads.
fn words(engine: &str, depth: &str, size: u64, file: Option<&Path>, effort: Effort) -> Vec<String> {
    let mut words: Vec<String> = format!(
        "--name=selfcheck --ioengine={engine} --rw=randread --norandommap --bs={LEN} --size={size} \
         --thread --invalidate=0 --allow_file_create=0 --time_based --runtime={}ms {depth}",
        effort.job_ms
    )
    .split_whitespace()
    .map(str::to_owned)
    .collect();
    // A colon in the path would separate two file names.
    words.extend(file.map(|path| {
        let path = path.to_string_lossy().replace(':', "\\:");
        format!("--filename={path}")
    }));
    words
}

/// The bare loop and the full one in turn; medians of both.
fn beside<E: Engine>(effort: Effort, mut engine: E, words: &[String]) -> anyhow::Result<Beside> {
    let plan = Session::new(&crate::session::read(words)?)?.plan;
    let worker = plan.workers.first().context("one job")?;
    let (mut bare_ns, mut full_ns) = (Vec::new(), Vec::new());
    for _ in 0..effort.rounds {
        let requests = &worker.requests;
        bare_ns.push(bare::cpu_ns_per_io(&mut engine, requests, effort.requests)?);
        full_ns.push(full(words, effort)?);
    }
    Ok(Beside {
        bare_ns: middle(bare_ns),
        full_ns: middle(full_ns),
    })
}

/// CPU time per I/O of a job, nanoseconds.
fn full(words: &[String], effort: Effort) -> anyhow::Result<f64> {
    let spec = crate::session::read(words)?;
    let session = Session::new(&spec)?;
    let disks = session.watch_disks();
    let intervals = Intervals {
        status_ns: None,
        report_ns: None,
    };
    let ended = session.run(Crew::new(), intervals, &mut Nobody, &disks, None);
    let job = ended.run.jobs.first().context("one job")?;
    if let Some(failure) = &job.failure {
        bail!("{}", failure.message);
    }
    let ios: u64 = job.dirs.0.iter().map(|dir| dir.ios).sum();
    if ios == 0 {
        bail!("no I/O within {} ms", effort.job_ms);
    }
    Ok((job.usage.user_us + job.usage.system_us) as f64 * 1e3 / ios as f64)
}

fn median(effort: Effort, one: impl FnMut() -> anyhow::Result<f64>) -> anyhow::Result<f64> {
    let values: Result<Vec<f64>, _> = std::iter::repeat_with(one).take(effort.rounds).collect();
    Ok(middle(values?))
}

/// The median; the upper one of an even count. `values` is not empty.
fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Name of the clock that workers use, and what one reading costs in nanoseconds.
fn stamp() -> (String, f64) {
    fn cost<C: Clock>(clock: C) -> (String, f64) {
        const READS: u32 = 100_000;
        let start = Monotonic.now();
        for _ in 0..READS {
            std::hint::black_box(clock.now());
        }
        let ns = Monotonic.ns(Monotonic.now() - start) as f64;
        (C::NAME.to_owned(), ns / f64::from(READS))
    }
    match Tsc::get() {
        Ok(tsc) => cost(tsc),
        Err(_) => cost(Monotonic),
    }
}

fn text(check: &SelfCheck) -> String {
    let mut text = format!(
        "clock                    {}, {:.1} ns a stamp\n\
         null, depth 1            {:.1} ns of CPU time per I/O, with full statistics\n\
         null, depth 32           {:.1} ns\n",
        check.clock, check.stamp_ns, check.sync_ns, check.queued_ns
    );
    let line = |what: &str, beside: &Beside| {
        format!(
            "{what:24} {:.1} ns; a bare loop {:.1} ns, so {:.2} of its speed\n",
            beside.full_ns,
            beside.bare_ns,
            beside.share()
        )
    };
    match &check.ring {
        Some(ring) => text += &line("io_uring NOP, depth 32", ring),
        None => text += "io_uring                 not available here\n",
    }
    if let Some(file) = &check.file {
        text += &line("cached file, depth 32", file);
    }
    text
}

struct Nobody;

impl Observer for Nobody {
    fn status(&mut self, _: &View<'_>) {}
    fn report(&mut self, _: Run) {}
    fn failed(&mut self, _: &plan::model::Worker, _: u32, _: &result::Failure) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_measured() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), vec![1; 1 << 20]).unwrap();
        let check = measure(Some(file.path()), SHORT).unwrap();
        assert!(check.stamp_ns > 0.0 && check.sync_ns > 0.0 && check.queued_ns > 0.0);
        let both = [check.ring, check.file];
        for beside in both.into_iter().flatten() {
            assert!(beside.bare_ns > 0.0 && beside.full_ns > 0.0);
        }
        assert!(check.file.is_some());
        assert_eq!(text(&check).lines().count(), 5);
    }

    #[test]
    fn a_file_too_small_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = measure(Some(file.path()), SHORT).unwrap_err().to_string();
        assert!(error.contains("not one block of 4096 bytes"), "{error}");
    }
}
