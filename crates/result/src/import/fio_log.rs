//! fio's logs: `time, value, direction, block size[, offset[, priority]]` per line, and what the
//! value is in the name of the file.

use super::{Found, Out, scan};
use crate::series::{Quantity, Series};
use crate::{Job, Run};
use std::path::Path;
use units::Ddir;

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
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let Some((time_ms, value, ddir)) = row(&fields) else {
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
    let run = Run {
        jobs: vec![job],
        ..Run::default()
    };
    out.found.push(Found {
        run,
        first: 0,
        last: lines.len() - 1,
        format: "fio-log",
    });
}

fn row(fields: &[&str]) -> Option<(u64, u64, Ddir)> {
    let number = |at: usize| {
        let text = fields.get(at)?;
        let list = scan::list(text, ',');
        (list.len() == 1 && text.bytes().all(|b| b.is_ascii_digit())).then(|| list[0])
    };
    if fields.len() < 4 {
        return None;
    }
    // A log of averages may have `value` and `max` both; then the mean comes first.
    let ddir = *Ddir::DATA.get(usize::try_from(number(2)?).ok()?)?;
    Some((number(0)?, number(1)?, ddir))
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
