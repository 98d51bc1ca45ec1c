//! `--bandwidth-log`: the bandwidth of all jobs together, one file per direction.

use super::row::{Columns, Row, push_row};
use super::sheet::Sheet;
use plan::model::Worker;
use result::{Failure, Unified};
use std::path::Path;
use units::{Ddir, PerDdir};

/// The aggregate logs of a run.
#[derive(Debug)]
pub struct Aggregate {
    sheets: PerDdir<Sheet>,
    every_ns: u64,
    last_ns: u64,
    seen: PerDdir<u64>,
    unified: bool,
}

impl Aggregate {
    /// Opens `<prefix>-read_bw.log` and its siblings. Rows come at the longest `bwavgtime` of
    /// the workers.
    pub fn open(prefix: &str, workers: &[Worker]) -> Result<Aggregate, Failure> {
        let open = |ddir: Ddir| {
            Sheet::open(
                Path::new(&format!("{prefix}-{}_bw.log", ddir.name())),
                false,
            )
        };
        let windows = workers.iter().map(|worker| worker.measured.bw_window_ns);
        Ok(Aggregate {
            sheets: PerDdir([open(Ddir::Read)?, open(Ddir::Write)?, open(Ddir::Trim)?]),
            every_ns: windows.max().unwrap_or(0).max(1_000_000),
            last_ns: 0,
            seen: PerDdir::default(),
            unified: workers
                .iter()
                .any(|w| w.reporting.unified != Unified::Separate),
        })
    }

    /// When the next row is due, nanoseconds since the start of the run.
    pub fn due_ns(&self) -> u64 {
        self.last_ns + self.every_ns
    }

    /// Takes a row if it is due. `bytes` were moved so far by all jobs; while a job warms up
    /// there are no rows, and what it moves is in none.
    pub fn tick(&mut self, elapsed_ns: u64, bytes: PerDdir<u64>, ramping: bool) {
        if ramping {
            (self.last_ns, self.seen) = (elapsed_ns, bytes);
        }
        if elapsed_ns < self.due_ns() {
            return;
        }
        let spent_ms = ((elapsed_ns - self.last_ns) / 1_000_000).max(1);
        let mut moved = PerDdir::from_fn(|ddir| bytes[ddir].saturating_sub(self.seen[ddir]));
        if self.unified {
            moved = PerDdir([moved.0.iter().sum(), 0, 0]);
        }
        (self.last_ns, self.seen) = (elapsed_ns, bytes);
        for ddir in Ddir::DATA {
            let row = Row {
                time_ms: elapsed_ns / 1_000_000,
                value: (u128::from(moved[ddir]) * 1000 / u128::from(spent_ms) / 1024) as u64,
                ddir: ddir as u8,
                ..Row::default()
            };
            push_row(self.sheets[ddir].text(), Columns::default(), &row);
        }
    }

    /// Writes what is left; the first failure.
    pub fn finish(self) -> Option<Failure> {
        let failures: Vec<Failure> = self
            .sheets
            .0
            .into_iter()
            .filter_map(Sheet::finish)
            .collect();
        failures.into_iter().next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_direction_gets_a_row_in_kib_per_second() {
        let dir = tempfile::tempdir().unwrap();
        let prefix = dir.path().join("agg");
        let mut log = Aggregate::open(prefix.to_str().unwrap(), &[]).unwrap();
        log.every_ns = 500_000_000;
        log.tick(499_000_000, PerDdir([1 << 20, 0, 0]), false);
        log.tick(500_000_000, PerDdir([1 << 20, 0, 0]), false);
        log.tick(1_100_000_000, PerDdir([9 << 20, 3 << 20, 0]), true);
        log.tick(1_600_000_000, PerDdir([11 << 20, 4 << 20, 0]), false);
        assert_eq!(log.due_ns(), 2_100_000_000);
        assert!(log.finish().is_none());
        let text = |ddir: &str| {
            std::fs::read_to_string(dir.path().join(format!("agg-{ddir}_bw.log"))).unwrap()
        };
        assert_eq!(text("read"), "500, 2048, 0, 0, 0\n1600, 4096, 0, 0, 0\n");
        assert_eq!(text("write"), "500, 0, 1, 0, 0\n1600, 2048, 1, 0, 0\n");
        assert_eq!(text("trim"), "500, 0, 2, 0, 0\n1600, 0, 2, 0, 0\n");
    }
}
