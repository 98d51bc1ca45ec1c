//! The memory personality and the native memory verbs, from outside: layout, refusals, documents,
//! limits. Never values: what a machine reaches is the benchmark's business.
//!
//! Buffers are small and times short, so that all of it takes seconds.

mod native;
mod refusals;
mod text;

use crate::harness::command::{Outcome, assay_path};
use crate::harness::fio;
use std::process::Command;

/// Runs `assay mlc WORDS`.
fn mlc(words: &str) -> Outcome {
    tool("mlc", words)
}

/// Runs `assay mem WORDS`.
fn mem(words: &str) -> Outcome {
    tool("mem", words)
}

fn tool(verb: &str, words: &str) -> Outcome {
    let mut command = Command::new(assay_path());
    command.arg(verb);
    fio(words).spawn_as(command).wait()
}

/// CPUs that this process may use, as the binary sees them.
fn cpus() -> Vec<u32> {
    let status = std::fs::read_to_string("/proc/self/status").expect("every Linux has it");
    let list = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
        .expect("every Linux has it");
    let bounds = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        first.parse().unwrap()..=last.parse::<u32>().unwrap()
    };
    list.trim().split(',').flat_map(bounds).collect()
}
