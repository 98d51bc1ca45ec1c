//! What dd says at its end: GNU, BSD and busybox.

use super::commands::Command;
use super::{Found, Out, scan};
use crate::{Direction, Job, Run, Stated};
use units::Ddir;

/// Reads the report of one dd after the other.
#[derive(Default)]
pub(super) struct Reader {
    command: Option<Command>,
    /// Line and number of `N+M records out`: whole and partial.
    records: Option<(usize, u64, u64)>,
    failure: Option<String>,
    /// A figure of `status=progress`, which counts only when no final one follows.
    progress: Option<(usize, f64, f64)>,
}

impl Reader {
    /// A command: what follows is its output.
    pub fn command(&mut self, command: &Command, out: &mut Out) {
        self.end(out);
        self.command = (command.program == "dd").then(|| command.clone());
    }

    /// True when the line is dd's.
    pub fn line(&mut self, at: usize, line: &str, out: &mut Out) -> bool {
        let text = line.trim();
        if let Some((records, _)) = text.split_once(" records in")
            && records.bytes().all(|b| b.is_ascii_digit() || b == b'+')
        {
            self.progress = None;
            return true;
        }
        if let Some((records, _)) = text.split_once(" records out") {
            let counts = scan::list(records, '+');
            self.progress = None;
            self.records = match counts[..] {
                [whole, part] => Some((at, whole, part)),
                _ => None,
            };
            return self.records.is_some();
        }
        if let Some((_, message)) = text.split_once("dd: error ") {
            self.failure = Some(message.to_owned());
            return true;
        }
        let Some((bytes, seconds)) = copied(text) else {
            return false;
        };
        match seconds {
            Some(seconds) if self.records.is_some() => self.finish(at, bytes, seconds, out),
            Some(seconds) => self.progress = Some((at, bytes, seconds)),
            None => out.unreadable(at, line),
        }
        true
    }

    /// Ends the output at hand.
    pub fn end(&mut self, out: &mut Out) {
        if let Some((at, bytes, seconds)) = self.progress.take() {
            self.finish(at, bytes, seconds, out);
        }
        *self = Reader::default();
    }

    fn finish(&mut self, at: usize, bytes: f64, seconds: f64, out: &mut Out) {
        let Reader {
            command,
            records,
            failure,
            ..
        } = std::mem::take(self);
        let value = |name: &str| command.as_ref().and_then(|command| command.value(name));
        let null = |path: Option<String>| path.is_some_and(|path| path == "/dev/null");
        let mut run = Run {
            tool_version: "dd".to_owned(),
            command: command.as_ref().map(|command| command.text.clone()),
            partial: failure.is_some(),
            ..Run::default()
        };
        run.notes.extend(failure);
        let ddir = match (null(value("of")), command.is_some()) {
            (true, _) => Ddir::Read,
            (false, true) => Ddir::Write,
            (false, false) => {
                let what = "the command is not there, so this may be a read or a write; \
                            kept as a write";
                out.problem(at, what);
                run.notes.push(what.to_owned());
                Ddir::Write
            }
        };
        let mut job = Job {
            name: "dd".to_owned(),
            number: 1,
            members: 1,
            runtime_ms: (seconds * 1e3).round() as u64,
            ..Job::default()
        };
        job.options.push(("rw".to_owned(), ddir.name().to_owned()));
        for key in ["if", "of", "bs", "count", "iflag", "oflag", "conv"] {
            if let Some(value) = value(key) {
                job.options.push((key.to_owned(), value));
            }
        }
        let ios = records.map_or(0, |(_, whole, part)| whole.saturating_add(part));
        job.dirs[ddir] = Direction {
            bytes: bytes as u64,
            issued: ios,
            ios,
            runtime_ms: job.runtime_ms,
            stated: Some(Box::new(Stated {
                iops: Some(ios as f64 / seconds),
                bytes_per_s: Some(bytes / seconds),
                ..Stated::default()
            })),
            ..Direction::default()
        };
        run.jobs.push(job);
        let start = records.map_or(at, |(line, ..)| line);
        out.found.push(Found {
            run,
            first: command.map_or(start, |command| command.line),
            last: at,
            format: "dd",
        });
    }
}

/// Bytes, and seconds where they can be read, of a line that says what was copied.
fn copied(text: &str) -> Option<(f64, Option<f64>)> {
    const MOST: f64 = 1e18;
    let (head, tail) = text
        .split_once(" copied, ")
        .or_else(|| text.split_once(" transferred in "))?;
    let (bytes, _) = head.split_once(" bytes")?;
    let bytes = bytes.trim();
    if bytes.is_empty() || !bytes.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let bytes: f64 = bytes.parse().ok().filter(|bytes| *bytes < MOST)?;
    // Exponents come from clocks that hardly moved: `1.2e-05 s`.
    let end = tail.find([' ', ',']).unwrap_or(tail.len());
    let seconds = tail[..end].parse::<f64>().ok();
    let unit = tail[end..].trim_start();
    let seconds = seconds.filter(|s| unit.starts_with('s') && *s > 0.0 && *s < 1e9);
    Some((bytes, seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_lines_of_several_dds() {
        for (text, bytes, seconds) in [
            (
                "2147483648 bytes (2.1 GB, 2.0 GiB) copied, 3.21338 s, 668 MB/s",
                2_147_483_648.0,
                3.21338,
            ),
            (
                "1048576 bytes (1.0 MB) copied, 0.25 s, 4.2 MB/s",
                1_048_576.0,
                0.25,
            ),
            (
                "1073741824 bytes (1.0GB) copied, 0.336 seconds, 3.0GB/s",
                1_073_741_824.0,
                0.336,
            ),
            (
                "104857600 bytes transferred in 0.05 secs (2097152000 bytes/sec)",
                104_857_600.0,
                0.05,
            ),
        ] {
            assert_eq!(copied(text), Some((bytes, Some(seconds))), "{text}");
        }
        assert_eq!(copied("2 bytes copied, soon"), Some((2.0, None)));
        assert_eq!(copied("file copied, see below"), None);
    }

    fn read(text: &str) -> Out {
        let mut out = Out::default();
        let mut reader = Reader::default();
        for (at, line) in text.lines().enumerate() {
            reader.line(at, line, &mut out);
        }
        reader.end(&mut out);
        out
    }

    #[test]
    fn progress_is_no_result_of_its_own() {
        let out = read(
            "1000 bytes copied, 1 s, 1 kB/s\n2+0 records in\n2+0 records out\n\
             2000 bytes copied, 2 s, 1 kB/s\n",
        );
        assert_eq!(out.found.len(), 1);
        assert_eq!(out.found[0].run.jobs[0].dirs[Ddir::Write].bytes, 2000);
        assert_eq!(out.problems.len(), 1);
        assert_eq!(read("1000 bytes copied, 1 s, 1 kB/s\n").found.len(), 1);
    }
}
