//! Time from starting a tool to its first I/O, seen from outside through inotify.

use std::mem::MaybeUninit;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::fs::inotify;

use super::rows::{Row, Target};
use super::table::Round;
use super::{Bench, Tool};

/// Starts per tool and round; their median counts.
const STARTS: usize = 9;

/// Both tools; the values are microseconds, so that less is better.
pub fn round(row: &Row, bench: &Bench, round: usize) -> Result<Round> {
    let (assay, fio) = bench.pair(round, |tool| {
        let starts = if bench.is_quick() { 1 } else { STARTS };
        let mut times = (0..starts)
            .map(|_| start_us(row, bench, tool))
            .collect::<Result<Vec<_>>>()?;
        times.sort_by(f64::total_cmp);
        Ok(times[times.len() / 2])
    })?;
    Ok(Round {
        assay,
        fio,
        user_cpu_ratio: None,
    })
}

fn start_us(row: &Row, bench: &Bench, tool: Tool) -> Result<f64> {
    let target = bench
        .places()
        .path(Target::Cached)
        .map_err(anyhow::Error::msg)?;
    let watch = inotify::init(inotify::CreateFlags::NONBLOCK)?;
    inotify::add_watch(&watch, Path::new(&target), inotify::WatchFlags::ACCESS)?;
    let mut buffer = [MaybeUninit::uninit(); 512];
    let mut events = inotify::Reader::new(&watch, &mut buffer);

    let mut words = bench.program(tool);
    words.extend(row.arguments(bench, tool));
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).stdout(Stdio::null());
    let start = Instant::now();
    let mut child = command.spawn().with_context(|| words[0].clone())?;
    let first = loop {
        match events.next() {
            Ok(_) => break start.elapsed(),
            Err(rustix::io::Errno::AGAIN) => std::thread::sleep(Duration::from_micros(20)),
            Err(error) => bail!("inotify: {error}"),
        }
        if start.elapsed() > Duration::from_secs(20) {
            child.kill()?;
            child.wait()?;
            bail!("{tool:?} did not read its file");
        }
    };
    ensure!(child.wait()?.success(), "{tool:?} failed");
    Ok(first.as_secs_f64() * 1e6)
}
