//! Assay: the instrument that says what storage and memory can really do.
//!
//! The binary chooses a personality and sets exit codes; everything else lives in the libraries.
#![forbid(unsafe_code)]

mod ab;
mod check;
mod cleanup;
mod compare;
mod disks;
mod expect;
mod fio;
mod history;
mod import;
mod inspect;
mod live;
mod mem;
mod mlc;
mod out;
mod progress;
mod report;
mod selfcheck;
mod serve;
mod session;
mod signals;

use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// What storage and memory can really do, and whether you got what you paid for.
///
/// Without a verb: measures the storage below the current directory, and the memory, in about 25
/// seconds.
#[derive(Parser)]
#[command(name = "assay", version)]
struct Assay {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Subcommand)]
enum Verb {
    /// Takes fio's command lines and job files and prints fio's reports
    #[command(disable_help_flag = true)]
    Fio {
        /// As for fio; `assay fio --help` lists the switches
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Measures the storage below a directory, or a device, for about 15 seconds
    #[command(visible_alias = "quick")]
    Check(check::Arguments),
    /// Removes the files of runs that were killed; runs that end clean up themselves
    Cleanup(cleanup::Arguments),
    /// Says what limits allow before anything is run, and which of them binds
    Expect(expect::Arguments),
    /// Shows the machine and its storage: what stands on what, by which names that stay
    Inspect(inspect::Arguments),
    /// Takes the Memory Latency Checker's command lines and prints its tables
    #[command(disable_help_flag = true)]
    Mlc {
        /// As for mlc; `assay mlc --help` lists modes and flags
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Measures memory: latency, caches, bandwidth, load, transfers, with spread and conditions
    Mem(mem::Arguments),
    /// Measures what Assay itself costs per I/O on this machine
    Selfcheck(selfcheck::Arguments),
    /// Reads what other tools reported: fio of any version, dd, Intel MLC
    Import(import::Arguments),
    /// Makes a page, Markdown, CSV, JSON or text of results
    Report(report::Arguments),
    /// Lists, shows, tags, exports and removes the runs that were kept
    History(history::Arguments),
    /// Runs two jobs in turn, again and again, and says whether they differ
    Ab(ab::Arguments),
    /// Says whether two runs, or two sets of runs, differ, and by how much
    Compare(compare::Arguments),
    /// Serves the history, comparisons and what runs now as pages for a browser on this machine
    Serve(serve::Arguments),
}

/// A tool whose command lines are taken as they are, without the program's name.
type Personality = fn(&[String]) -> ExitCode;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    let called = words
        .first()
        .map(|word| Path::new(word).file_name().unwrap_or_default().to_owned());
    let text = |words: &[OsString]| {
        words
            .iter()
            .map(|w| w.to_string_lossy().into_owned())
            .collect::<Vec<_>>()
    };
    // A link named fio is fio, one named mlc is mlc; and their words never pass through another
    // parser.
    let personalities: [(&str, Personality); 2] = [("fio", fio::main), ("mlc", mlc::main)];
    for (name, main) in personalities {
        if called.as_ref().is_some_and(|called| called == name) {
            return main(&text(&words[1..]));
        }
        if words.get(1).is_some_and(|word| word == name) {
            return main(&text(&words[2..]));
        }
    }
    match Assay::parse().verb {
        None => check::main(&check::Arguments::default()),
        Some(Verb::Check(arguments)) => check::main(&arguments),
        Some(Verb::Cleanup(arguments)) => cleanup::main(&arguments),
        Some(Verb::Fio { arguments }) => fio::main(&arguments),
        Some(Verb::Expect(arguments)) => expect::main(&arguments),
        Some(Verb::Inspect(arguments)) => inspect::main(&arguments),
        Some(Verb::Mlc { arguments }) => mlc::main(&arguments),
        Some(Verb::Mem(arguments)) => mem::main(&arguments),
        Some(Verb::Selfcheck(arguments)) => selfcheck::main(&arguments),
        Some(Verb::Import(arguments)) => import::main(&arguments),
        Some(Verb::Report(arguments)) => report::main(&arguments),
        Some(Verb::History(arguments)) => history::main(&arguments),
        Some(Verb::Ab(arguments)) => ab::main(&arguments),
        Some(Verb::Compare(arguments)) => compare::main(&arguments),
        Some(Verb::Serve(arguments)) => serve::main(&arguments),
    }
}
