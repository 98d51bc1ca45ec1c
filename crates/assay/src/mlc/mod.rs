//! `assay mlc`: the command lines and the text of the Memory Latency Checker.
//!
//! The text is MLC's, the methods are Assay's: every number is the median of many short samples,
//! and disturbed samples are dropped. Remarks begin with `***`. Exit status 0 is success, 1 an
//! error, 128 the end by a signal.

mod bandwidth;
mod latency;
mod loaded;
mod paper;
mod scan;
mod setup;
mod spin;
mod transfer;

use crate::history;
use crate::out::is_gone;
use memory::rows::Rows;
use paper::put;
use render::mlc as text;
use setup::Setup;
use spec::mlc::{Mode, Parsed, Request, help};
use std::process::ExitCode;
use transfer::Local;

/// Runs a command line, without the program's name.
pub fn main(words: &[String]) -> ExitCode {
    let (own, words): (Vec<&String>, Vec<&String>) =
        words.iter().partition(|word| *word == "--save");
    let words: Vec<String> = words.into_iter().cloned().collect();
    let request = match spec::mlc::parse(&words) {
        Ok(Parsed::Run(request)) => *request,
        Ok(Parsed::Help) => return shown(&help::text()),
        Ok(Parsed::Version) => {
            let own = env!("CARGO_PKG_VERSION");
            return shown(&format!("{}assay {own}\n", text::banner()));
        }
        Err(error) => {
            eprintln!("mlc: {error}");
            return ExitCode::from(1);
        }
    };
    match run(&request) {
        Ok(()) => {
            if history::asked(!own.is_empty())
                && let Err(error) = paper::keep(&words)
            {
                eprintln!("mlc: the run is not kept: {error:#}");
            }
            ExitCode::SUCCESS
        }
        Err(error) if is_gone(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mlc: {error:#}");
            ExitCode::from(1)
        }
    }
}

fn shown(text: &str) -> ExitCode {
    // A reader that has gone has seen enough.
    let _ = put(text);
    ExitCode::SUCCESS
}

fn run(request: &Request) -> anyhow::Result<()> {
    // Whatever can be refused is refused before the first line.
    let setup = Setup::new(request)?;
    let rows = match request.mode {
        Mode::LoadedLatency => Some(loaded::rows(&setup)?),
        // Sections that need a second CPU are left out of a whole run.
        Mode::Everything => loaded::rows(&setup).ok(),
        _ => None,
    };
    let local = match request.mode {
        Mode::CacheToCache => Some(transfer::plan(&setup)?),
        Mode::Everything => transfer::plan(&setup).ok(),
        _ => None,
    };
    // Rows that are there stay.
    crate::signals::end_at_signal(|| eprintln!("mlc: ended by a signal"))?;
    let left = setup.settle_prefetchers()?;
    let _awake = spin::Spinners::start(&setup)?;
    put(&text::banner())?;
    if request.mode != Mode::Everything {
        put(&text::command_line(&request.line))?;
    }
    if let Some(left) = left {
        put(&text::remark(&left))?;
    }
    match request.mode {
        Mode::Everything => everything(&setup, rows.as_ref().zip(local)),
        Mode::IdleLatency => latency::idle(&setup),
        Mode::LatencyMatrix => latency::matrix(&setup),
        Mode::BandwidthMatrix => bandwidth::matrix(&setup),
        Mode::PeakInjection => bandwidth::peak(&setup),
        Mode::MaxBandwidth => bandwidth::max(&setup),
        Mode::LoadedLatency => rows.iter().try_for_each(|rows| loaded::run(&setup, rows)),
        Mode::CacheToCache => local.map_or(Ok(()), |local| transfer::run(&setup, local)),
        Mode::Scan => scan::run(&setup),
    }?;
    put("\n")?;
    Ok(())
}

/// The sections of a run without a mode.
fn everything(setup: &Setup, two: Option<(&Rows, Local)>) -> anyhow::Result<()> {
    latency::matrix(setup)?;
    put("\n")?;
    bandwidth::peak(setup)?;
    put("\n")?;
    bandwidth::matrix(setup)?;
    put("\n")?;
    let Some((rows, local)) = two else {
        let why = "Loaded and cache-to-cache latency need two CPUs, and this process may use one";
        return Ok(put(&text::remark(why))?);
    };
    loaded::run(setup, rows)?;
    put("\n")?;
    transfer::run(setup, local)
}
