//! fio's logs: `time, value, direction, block size[, offset[, priority]]` per line, and what the
//! value is in the name of the file.

use super::{Found, Out};
use crate::series::{Quantity, Series};
use crate::{Job, Run};
use std::path::Path;
use units::Ddir;

/// Longer logs are not kept as text: their seconds hold what can be shown of them.
const MOST_LINES: usize = 20_000;
/// Lines that are kept of either end of such a log.
const END_LINES: usize = 1_000;

/// The text that is kept of a log.
pub(super) fn kept(lines: &[&str]) -> String {
    if lines.len() <= MOST_LINES {
        return lines.join("\n");
    }
    let (first, last) = (&lines[..END_LINES], &lines[lines.len() - END_LINES..]);
    let left_out = lines.len() - 2 * END_LINES;
    let (first, last) = (first.join("\n"), last.join("\n"));
    format!("{first}\n... {left_out} lines are left out ...\n{last}")
}

/// What a log holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind(Quantity);

impl Kind {
    /// By the end of the name, such as `_bw.1.log` or `_clat.log`.
    pub fn of(path: &Path) -> Option<Kind> {
        let name = path.file_name()?.to_str()?.strip_suffix(".log")?;
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let stem = stem.strip_suffix('.').unwrap_or(name);
        let quantity = match stem.rsplit('_').next()? {
            _ if !stem.contains('_') => return None,
            "bw" => Quantity::Bandwidth,
            "iops" => Quantity::Iops,
            "slat" => Quantity::Slat,
            "clat" => Quantity::Clat,
            "lat" => Quantity::Lat,
            _ => return None,
        };
        Some(Kind(quantity))
    }
}

/// The whole file as one run with a series for each direction.
pub(super) fn read(kind: Kind, lines: &[&str], out: &mut Out) {
    let mut job = Job {
        name: format!("{} log", kind.0.name()),
        number: 1,
        members: 1,
        ..Job::default()
    };
    let mut last_ms = 0;
    for (at, line) in lines.iter().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let Some((time_ms, value, ddir)) = row(line) else {
            out.unreadable(at, line);
            continue;
        };
        last_ms = last_ms.max(time_ms);
        // KiB/s in the file, bytes per second in a series.
        let value = match kind.0 {
            Quantity::Bandwidth => value.saturating_mul(1024),
            _ => value,
        };
        let series = Series::of(&mut job.series, kind.0, ddir);
        if !series.add(time_ms, value) {
            out.problem(at, "later than a series can hold");
        }
    }
    if job.series.is_empty() {
        return;
    }
    job.runtime_ms = last_ms;
    let mut run = Run {
        jobs: vec![job],
        ..Run::default()
    };
    if lines.len() > MOST_LINES {
        run.notes.push(format!(
            "a log of {} lines, told second by second with the smallest and the largest value of \
             each; of its text the first and the last lines are kept",
            lines.len()
        ));
    }
    out.found.push(Found {
        run,
        first: 0,
        last: lines.len() - 1,
        format: "fio-log",
    });
}

/// Millions of lines pass here, so that nothing is allocated.
fn row(line: &str) -> Option<(u64, u64, Ddir)> {
    let number = |field: Option<&str>| {
        let text = field?.trim();
        let digits = text.bytes().all(|b| b.is_ascii_digit());
        text.parse::<u64>().ok().filter(|_| digits)
    };
    let mut fields = line.split(',');
    // A log of averages may have `value` and `max` both; then the mean comes first.
    let (time_ms, value) = (number(fields.next())?, number(fields.next())?);
    let ddir = *Ddir::DATA.get(usize::try_from(number(fields.next())?).ok()?)?;
    fields.next()?;
    Some((time_ms, value, ddir))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_inside() {
        let kind = |name: &str| Kind::of(Path::new(name)).map(|kind| kind.0);
        assert_eq!(kind("a/x_bw.1.log"), Some(Quantity::Bandwidth));
        assert_eq!(kind("x_clat.12.log"), Some(Quantity::Clat));
        assert_eq!(kind("x_iops.log"), Some(Quantity::Iops));
        assert_eq!(kind("bw.log"), None);
        assert_eq!(kind("x_notes.log"), None);
        assert_eq!(kind("x_bw.txt"), None);
    }

    #[test]
    fn of_a_long_log_the_ends_are_kept_as_text_and_all_of_it_as_seconds() {
        let mut lines = vec!["10, 5000, 0, 4096"; MOST_LINES + 1];
        lines[7_000] = "10, 900000, 0, 4096";
        let mut out = Out::default();
        read(Kind(Quantity::Clat), &lines, &mut out);
        let run = &out.found[0].run;
        let second = run.jobs[0].series[0]
            .points()
            .next()
            .copied()
            .expect("a second");
        assert_eq!((second.n, second.min, second.max), (20_001, 5_000, 900_000));
        assert!(run.notes[0].contains("20001 lines"), "{:?}", run.notes);
        let text = kept(&lines);
        assert!(
            text.contains("\n... 18001 lines are left out ...\n"),
            "{text}"
        );
        assert_eq!(text.lines().count(), 2 * END_LINES + 1);
        assert_eq!(kept(&lines[..3]).lines().count(), 3);
    }

    #[test]
    fn rows_become_seconds() {
        let mut out = Out::default();
        let lines = [
            "500, 1000, 0, 4096, 0",
            "1000, 3000, 0, 4096",
            "rubbish",
            "1500, 7, 1, 4096",
        ];
        read(Kind(Quantity::Iops), &lines, &mut out);
        assert_eq!(out.problems.len(), 1);
        let series = &out.found[0].run.jobs[0].series;
        assert_eq!(series.len(), 2);
        assert_eq!(
            series[0].points().map(|p| p.mean()).collect::<Vec<_>>(),
            [2000.0]
        );
    }
}
