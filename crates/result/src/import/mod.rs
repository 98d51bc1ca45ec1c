//! Reading what people already have into `Run` documents.
//!
//! A file may hold many reports of several tools, with prose, shell prompts and Markdown around
//! them. What is found is kept with its source; what looks like a result and cannot be read is
//! reported with its line, and nothing is invented in its place. fio's formats all become the
//! tree of fio 3's JSON first, so that one conversion decides what a figure means.

mod commands;
mod dd;
mod fio_json;
mod fio_log;
mod fio_old;
mod fio_terse;
mod fio_text;
mod mlc;
mod scan;
mod tables;

pub use fio_json::fio_json;

use crate::{Run, Source};
use std::path::Path;
use thiserror::Error;

/// Why a report could not be read.
#[derive(Debug, Error)]
pub enum ImportError {
    /// No line starts a JSON document.
    #[error("no JSON document found: no line of the text starts with an opening brace")]
    NoDocument,
    /// A document breaks off, is no JSON, or is not what fio 3 writes.
    #[error("document {document}: {source}")]
    Malformed {
        /// Number of the document in the text, from 1.
        document: usize,
        /// What is wrong, with line and column counted from the start of the first document.
        source: serde_json::Error,
    },
}

/// What a file held.
#[derive(Clone, Debug, Default)]
pub struct Imported {
    /// Runs in the order of the file.
    pub runs: Vec<Run>,
    /// What could not be read, in the order of the file.
    pub problems: Vec<Problem>,
}

/// Something that looks like a result and could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub what: String,
}

/// A run and the lines it was read from, both counted from 0.
struct Found {
    run: Run,
    first: usize,
    last: usize,
    format: &'static str,
}

/// What all readers add to.
#[derive(Default)]
struct Out {
    found: Vec<Found>,
    problems: Vec<Problem>,
}

impl Out {
    fn problem(&mut self, line: usize, what: impl Into<String>) {
        let what = what.into();
        self.problems.push(Problem {
            line: line + 1,
            what,
        });
    }

    fn unreadable(&mut self, line: usize, text: &str) {
        self.problem(line, format!("cannot be read: `{}`", shortened(text)));
    }
}

fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    let text = text.trim();
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Everything that can be read in `text`, the content of the file `name`.
pub fn read(name: &str, text: &str) -> Imported {
    let lines: Vec<&str> = text.lines().map(last_frame).collect();
    let mut out = Out::default();
    if let Some(kind) = fio_log::Kind::of(Path::new(name)) {
        fio_log::read(kind, &lines, &mut out);
    } else {
        mixed(&lines, &mut out);
    }
    out.found.sort_by_key(|found| found.first);
    out.problems.sort_by_key(|problem| problem.line);
    let sourced = |found: Found| {
        let mut run = found.run;
        run.schema = crate::SCHEMA_VERSION;
        let lines = lines.get(found.first..=found.last).unwrap_or_default();
        run.source = Some(Box::new(Source {
            file: name.to_owned(),
            first_line: found.first + 1,
            last_line: found.last + 1,
            format: found.format.to_owned(),
            text: match found.format {
                "fio-log" => fio_log::kept(lines),
                _ => lines.join("\n"),
            },
        }));
        run
    };
    Imported {
        runs: out.found.into_iter().map(sourced).collect(),
        problems: out.problems,
    }
}

/// What a terminal shows of a line that was written over.
fn last_frame(line: &str) -> &str {
    let line = line.trim_end_matches('\r');
    line.rsplit('\r').next().unwrap_or(line)
}

/// Offers each line to each reader.
fn mixed(lines: &[&str], out: &mut Out) {
    let mut commands = commands::Commands::default();
    let mut fio = fio_text::Reader::default();
    let mut dd = dd::Reader::default();
    let mut mlc = mlc::Reader::default();
    let mut tables = tables::Reader::default();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        if let Some(end) = fio_json::documents(lines, at, out) {
            fio.end(out);
            at = end + 1;
            continue;
        }
        if fio_terse::line(lines, at, out) {
            at += 1;
            continue;
        }
        if line.trim_start().starts_with("```") {
            fio.end(out);
            dd.end(out);
            mlc.end(out);
        } else if let Some(command) = commands.take(at, line) {
            fio.command(&command, out);
            dd.command(&command, out);
            mlc.command(&command, out);
        }
        // A reader that knows the line keeps it from the next ones.
        let _ = fio.line(at, line, out)
            || dd.line(at, line, out)
            || mlc.line(at, line, out)
            || tables.line(at, line, out);
        at += 1;
    }
    fio.end(out);
    dd.end(out);
    mlc.end(out);
    tables.end(out);
}
