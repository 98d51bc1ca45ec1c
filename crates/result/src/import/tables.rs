//! Markdown tables of results: a workload a row, with IOPS and bandwidth.

use super::{Found, Out, scan};
use crate::{Direction, Job, Run, Stated, Unified};
use measure::{Latency, Moments};
use units::Ddir;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Column {
    Name,
    Iops,
    Bandwidth,
    Latency,
    Other,
}

/// Reads one table after the other.
#[derive(Default)]
pub(super) struct Reader {
    columns: Option<Vec<Column>>,
    /// Rows as printed, with their lines.
    rows: Vec<(usize, Vec<String>)>,
    /// First lines and rows of the tables before.
    known: Vec<(usize, Vec<Vec<String>>)>,
}

impl Reader {
    /// True when the line is part of a table of results.
    pub fn line(&mut self, at: usize, line: &str, out: &mut Out) -> bool {
        let text = line.trim();
        let cells = text
            .strip_prefix('|')
            .and_then(|text| text.strip_suffix('|'))
            .map(|text| text.split('|').map(|cell| cell.trim().to_owned()));
        let Some(cells) = cells else {
            self.end(out);
            return false;
        };
        let cells: Vec<String> = cells.collect();
        if self.columns.is_none() {
            self.columns = columns(&cells);
            return self.columns.is_some();
        }
        let rule = cells
            .iter()
            .all(|cell| cell.chars().all(|c| c == '-' || c == ':') && !cell.is_empty());
        if !rule {
            self.rows.push((at, cells));
        }
        true
    }

    /// Ends the table at hand.
    pub fn end(&mut self, out: &mut Out) {
        let rows = std::mem::take(&mut self.rows);
        let (Some(columns), Some((first, _))) = (self.columns.take(), rows.first()) else {
            return;
        };
        let cells: Vec<Vec<String>> = rows.iter().map(|(_, cells)| cells.clone()).collect();
        if let Some((line, _)) = self.known.iter().find(|(_, known)| *known == cells) {
            let what = format!("the same table as the one at line {}, taken once", line + 1);
            out.problem(*first, what);
            return;
        }
        for (at, cells) in &rows {
            match row(&columns, cells) {
                Some(run) => out.found.push(Found {
                    run,
                    first: *at,
                    last: *at,
                    format: "table",
                }),
                None => out.unreadable(*at, &cells.join(" | ")),
            }
        }
        self.known.push((*first, cells));
    }
}

/// A table of results has a first column of names, IOPS and bandwidth.
fn columns(cells: &[String]) -> Option<Vec<Column>> {
    let columns: Vec<Column> = cells
        .iter()
        .enumerate()
        .map(|(at, cell)| {
            let cell = cell.to_ascii_lowercase();
            match cell.as_str() {
                _ if at == 0 => Column::Name,
                "iops" => Column::Iops,
                "bandwidth" | "bw" | "throughput" => Column::Bandwidth,
                // Any other latency than a mean is not what is kept here.
                "avg(clat)" | "clat" | "mean clat" | "avg(lat)" => Column::Latency,
                _ => Column::Other,
            }
        })
        .collect();
    let has = |column| columns.contains(&column);
    (has(Column::Iops) && has(Column::Bandwidth)).then_some(columns)
}

fn row(columns: &[Column], cells: &[String]) -> Option<Run> {
    let cell = |column: Column| {
        let at = columns.iter().position(|known| *known == column)?;
        cells.get(at)
    };
    let iops = scan::printed_grouped(cell(Column::Iops)?)?;
    let iops = iops.value * scan::count_unit(iops.unit)?;
    let rate = scan::printed_grouped(cell(Column::Bandwidth)?)?;
    let rate = rate.value * scan::byte_unit(rate.unit, 1000.0)?;
    let name = cells.first()?;
    let (bs, rw) = match name.split_once(' ') {
        Some((bs, rw)) if scan::printed(bs).is_some() => (Some(bs), rw),
        _ => (None, name.as_str()),
    };
    let mut job = Job {
        name: name.clone(),
        number: 1,
        members: 1,
        ..Job::default()
    };
    let ddir = match rw {
        "read" | "randread" => Ddir::Read,
        "write" | "randwrite" => Ddir::Write,
        // Both directions in one figure stand in the place of reads.
        "rw" | "readwrite" | "randrw" => {
            job.reporting.unified = Unified::Mixed;
            Ddir::Read
        }
        _ => return None,
    };
    job.options.push(("rw".to_owned(), rw.to_owned()));
    job.options
        .extend(bs.map(|bs| ("bs".to_owned(), bs.to_owned())));
    let mut direction = Direction {
        stated: Some(Box::new(Stated {
            iops: Some(iops),
            bytes_per_s: Some(rate),
            ..Stated::default()
        })),
        ..Direction::default()
    };
    let mut run = Run::default();
    if let Some(text) = cell(Column::Latency) {
        let means: Vec<f64> = text
            .split('/')
            .filter_map(|text| {
                let time = scan::printed(text)?;
                let unit = match time.unit {
                    "" => time.rest.trim(),
                    unit => unit,
                };
                Some(time.value * scan::time_unit(unit)?)
            })
            .collect();
        match means[..] {
            [mean] => direction.clat = one(mean),
            // A value per direction does not fit a figure of both.
            _ => run.notes.push(format!("mean completion latency: {text}")),
        }
    }
    job.dirs[ddir] = direction;
    run.jobs.push(job);
    run.notes
        .push("copied from a table: no counts, no run time".to_owned());
    Some(run)
}

/// A mean of which nothing else is known.
fn one(mean_ns: f64) -> Latency {
    let mut moments = Moments::default();
    moments.add(mean_ns.clamp(0.0, 1e15) as u64, 1);
    Latency {
        moments,
        histogram: None,
    }
}
