//! Whole command lines and job files.

mod bad_values;
mod identity;
mod invocations;
mod jobs;
mod like_fio;
mod mistakes;
mod never_panics;

use crate::testing::FakeWorld;
use crate::{Errors, Spec, parse};
use option::{EngineTable, OptionSet, State};

option::options! {
    /// Options of a made-up engine
    pub(super) struct RingOptions {
        /// Poll for completions.
        hipri: bool, bare();
        /// Every Nth request is forced.
        force_async: u32 = "0";
    }
}

const fn table(name: &'static str, defs: &'static [option::Def]) -> EngineTable {
    EngineTable {
        name,
        aliases: &[],
        help: "",
        defs,
        state: State::Works,
    }
}

const ENGINES: &[EngineTable] = &[
    table("psync", &[]),
    table("null", &[]),
    table("io_uring", RingOptions::DEFS),
    EngineTable {
        aliases: &["aio"],
        ..table("libaio", &[])
    },
    EngineTable {
        state: State::Refused("needs librbd"),
        ..table("rbd", &[])
    },
];

/// Parses words separated by blanks.
fn read(line: &str, world: &FakeWorld) -> Result<Spec, Errors> {
    let words: Vec<String> = line.split_whitespace().map(str::to_string).collect();
    parse(&words, ENGINES, world)
}

/// Parses a command line that must be right.
fn good(line: &str) -> Spec {
    read(line, &FakeWorld::default()).unwrap_or_else(|errors| panic!("{line}: {errors}"))
}

/// Parses a job file that must be right.
fn file(text: &str) -> Spec {
    let world = FakeWorld::default().with_file("j.fio", text);
    read("j.fio", &world).unwrap_or_else(|errors| panic!("{errors}"))
}
