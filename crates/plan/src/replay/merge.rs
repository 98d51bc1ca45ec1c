//! Several block traces as one (`merge_blktrace_file`): their queued requests in the order of
//! their times, each trace stretched by its scalar and repeated as often as asked.

use super::trace::{RECORD, Record, swapped};
use super::{pass_over, read_whole, rewind};
use crate::error::Fault;
use crate::guard;
use crate::job::Job;
use host::Facts;
use option::Floats;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// Which traces to merge, and where to.
#[derive(Clone, Debug, PartialEq)]
pub struct Merge {
    output: PathBuf,
    traces: Vec<Trace>,
}

#[derive(Clone, Debug, PartialEq)]
struct Trace {
    path: PathBuf,
    /// Length of a second of the trace, in percent of a second.
    percent: u64,
    repeats: u64,
}

/// What the options of a job ask to be merged.
pub(crate) fn merge(job: &Job<'_>, facts: &Facts) -> Result<Merge, Fault> {
    let options = &job.options.replay;
    let output = PathBuf::from(options.merge_blktrace_file.as_deref().unwrap_or_default());
    if std::fs::metadata(&output).is_ok_and(|meta| !meta.is_file()) {
        let reason = "is no file that traces could be merged into".to_owned();
        return Err(Fault::Path {
            path: output,
            reason,
        });
    }
    guard::output(facts, &output)?;
    let names = options
        .read_iolog
        .as_ref()
        .map_or(&[][..], |names| &names.0);
    let place = |path: &Path| path.canonicalize().ok();
    let same = |name: &String| place(name.as_ref()).is_some_and(|at| Some(at) == place(&output));
    if let Some(name) = names.iter().find(|name| same(name)) {
        let text = format!("merge_blktrace_file={name}: is one of the traces to merge");
        return Err(Fault::option("merge_blktrace_file", text));
    }
    let list = |option: &'static str, given: &Floats, default: u64| {
        let given = &given.values;
        if !given.is_empty() && given.len() != names.len() {
            let (n, all) = (given.len(), names.len());
            let text = format!("{option}: {n} values for {all} traces");
            return Err(Fault::option(option, text));
        }
        // Like fio, whole numbers.
        Ok(match given.is_empty() {
            true => vec![default; names.len()],
            false => given.iter().map(|value| (*value as u64).max(1)).collect(),
        })
    };
    let scalars = list(
        "merge_blktrace_scalars",
        &options.merge_blktrace_scalars,
        100,
    )?;
    let repeats = list("merge_blktrace_iters", &options.merge_blktrace_iters, 1)?;
    let traces = names.iter().zip(scalars).zip(repeats);
    Ok(Merge {
        output,
        traces: traces
            .map(|((name, percent), repeats)| Trace {
                path: PathBuf::from(name),
                percent,
                repeats,
            })
            .collect(),
    })
}

impl Merge {
    /// The file to make.
    pub fn output(&self) -> &Path {
        &self.output
    }

    /// The merged trace as bytes.
    pub(super) fn read(&self) -> io::Result<impl Read + Send + 'static> {
        let open = |trace: &Trace| Cursor::open(trace);
        let cursors: io::Result<Vec<Cursor>> = self.traces.iter().map(open).collect();
        Ok(Merged {
            cursors: cursors?,
            raw: [0; RECORD],
            left: 0,
        })
    }

    /// Writes the merged trace.
    ///
    /// # Errors
    /// A trace cannot be read or the file cannot be written.
    pub fn write(&self) -> io::Result<()> {
        let mut merged = self.read()?;
        let mut out = BufWriter::new(File::create(&self.output)?);
        io::copy(&mut merged, &mut out)?;
        out.flush()
    }
}

/// A trace while it is merged.
struct Cursor {
    input: BufReader<File>,
    swapped: bool,
    percent: u64,
    /// Rounds to come.
    repeats: u64,
    /// What the rounds before have taken, nanoseconds.
    base_ns: u64,
    last_ns: u64,
    next: Option<Record>,
}

impl Cursor {
    fn open(trace: &Trace) -> io::Result<Cursor> {
        let told = |error: io::Error| {
            io::Error::new(error.kind(), format!("{}: {error}", trace.path.display()))
        };
        let mut input = BufReader::new(File::open(&trace.path).map_err(told)?);
        let head = input.fill_buf().map_err(told)?;
        let swapped = swapped(head).ok_or_else(|| {
            told(io::Error::new(
                io::ErrorKind::InvalidData,
                "is no block trace",
            ))
        })?;
        let mut cursor = Cursor {
            input,
            swapped,
            percent: trace.percent,
            repeats: trace.repeats.saturating_sub(1),
            base_ns: 0,
            last_ns: 0,
            next: None,
        };
        cursor.advance().map_err(told)?;
        Ok(cursor)
    }

    fn advance(&mut self) -> io::Result<()> {
        self.next = loop {
            let mut raw = [0; RECORD];
            if !read_whole(&mut self.input, &mut raw)? {
                if self.repeats == 0 {
                    break None;
                }
                self.repeats -= 1;
                self.base_ns += self.last_ns;
                rewind(&mut self.input)?;
                continue;
            }
            let bad = |text| io::Error::new(io::ErrorKind::InvalidData, text);
            let mut record = Record::decode(&raw, self.swapped).map_err(bad)?;
            pass_over(&mut self.input, record.extra_bytes.into())?;
            if record.queues_data() {
                self.last_ns = record.time_ns;
                let at = u128::from(record.time_ns) + u128::from(self.base_ns);
                record.time_ns = (at * u128::from(self.percent) / 100) as u64;
                break Some(record);
            }
        };
        Ok(())
    }
}

struct Merged {
    cursors: Vec<Cursor>,
    raw: [u8; RECORD],
    /// Bytes of `raw` that are yet to be given out.
    left: usize,
}

impl Merged {
    /// Takes up the earliest record; `false` when there is none.
    fn turn(&mut self) -> io::Result<bool> {
        let first = self
            .cursors
            .iter_mut()
            .filter(|cursor| cursor.next.is_some())
            .min_by_key(|cursor| cursor.next.map(|record| record.time_ns));
        let Some(cursor) = first else {
            return Ok(false);
        };
        if let Some(record) = cursor.next {
            self.raw = record.encode();
            self.left = RECORD;
        }
        cursor.advance()?;
        Ok(true)
    }
}

impl Read for Merged {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 && !self.turn()? {
            return Ok(0);
        }
        let from = RECORD - self.left;
        let n = self.left.min(into.len());
        into[..n].copy_from_slice(&self.raw[from..from + n]);
        self.left -= n;
        Ok(n)
    }
}
