//! The writer's half of one worker's logs: turns records into rows of the right files.

use super::iolog;
use super::pen::{BinsRow, Kind, Record};
use super::row::{Columns, Row, push_bins};
use super::sheet::Sheet;
use super::window::Bins;
use plan::model::{Logs, Worker};
use result::Failure;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::SyncSender;

/// Files of one worker and how their rows look.
pub struct Desk {
    lat: Option<Sheet>,
    slat: Option<Sheet>,
    clat: Option<Sheet>,
    bw: Option<Sheet>,
    iops: Option<Sheet>,
    hist: Option<Sheet>,
    iolog: Option<Sheet>,
    columns: Columns,
    coarseness: u32,
    priority: u16,
    /// Added to the times of rows, milliseconds; the worker sets it when it starts to measure.
    epoch_ms: Arc<AtomicU64>,
    files: Vec<Arc<PathBuf>>,
    /// Where emptied chunks go, by seat.
    pub homes: [SyncSender<Vec<Record>>; 2],
    /// Where cleared bins go.
    pub bins_home: SyncSender<Bins>,
}

/// The bandwidth of one request in fio's unit: bytes per millisecond.
pub fn rate_of(len: u32, clat_ns: u64) -> u64 {
    (u64::from(len) * 1_000_000)
        .checked_div(clat_ns)
        .unwrap_or(0)
}

impl Desk {
    /// Opens the files.
    pub fn open(
        worker: &Worker,
        epoch_ms: Arc<AtomicU64>,
        homes: [SyncSender<Vec<Record>>; 2],
        bins_home: SyncSender<Bins>,
    ) -> Result<Desk, Failure> {
        let logs = &worker.logs;
        let open = |path: &Option<PathBuf>| {
            let sheet = path.as_ref().map(|path| Sheet::open(path, logs.append));
            let sheet = sheet.transpose()?;
            Ok(match logs.packed {
                Some(bytes) => sheet.map(|sheet| sheet.packed(bytes as usize)),
                None => sheet,
            })
        };
        let mut iolog = logs
            .iolog
            .as_ref()
            .map(|path| Sheet::open(path, true))
            .transpose()?;
        let files: Vec<Arc<PathBuf>> = worker
            .targets
            .iter()
            .map(|target| Arc::clone(&target.path))
            .collect();
        if let Some(sheet) = &mut iolog {
            iolog::push_header(sheet.text(), files.iter().map(|file| file.as_path()));
        }
        Ok(Desk {
            lat: open(&logs.lat)?,
            slat: open(&logs.slat)?,
            clat: open(&logs.clat)?,
            bw: open(&logs.bw)?,
            iops: open(&logs.iops)?,
            hist: open(&logs.hist)?,
            iolog,
            columns: columns(logs),
            coarseness: logs.hist_coarseness,
            priority: worker.placement.io_priority.unwrap_or(0),
            epoch_ms,
            files,
            homes,
            bins_home,
        })
    }

    /// Writes one record into the files that want it.
    pub fn write(&mut self, record: &Record) {
        let Record {
            time_ns, a, b, len, ..
        } = *record;
        let mut row = Row {
            time_ms: time_ns / 1_000_000 + self.epoch_ms.load(Relaxed),
            ddir: record.ddir as u8,
            ..Row::default()
        };
        let columns = self.columns;
        let put = |sheet: &mut Option<Sheet>, row: &Row| {
            if let Some(sheet) = sheet {
                sheet.put(columns, row);
            }
        };
        match record.kind {
            Kind::Done | Kind::Issued => {
                row = Row {
                    len,
                    offset: record.offset,
                    priority: self.priority,
                    ..row
                };
                if record.kind == Kind::Issued {
                    put(
                        &mut self.slat,
                        &Row {
                            value: a,
                            issue_ns: time_ns,
                            ..row
                        },
                    );
                    return;
                }
                let issue_ns = time_ns.saturating_sub(a);
                put(
                    &mut self.lat,
                    &Row {
                        value: b,
                        issue_ns,
                        ..row
                    },
                );
                put(
                    &mut self.clat,
                    &Row {
                        value: a,
                        issue_ns,
                        ..row
                    },
                );
                put(
                    &mut self.bw,
                    &Row {
                        value: rate_of(len, a),
                        ..row
                    },
                );
                put(&mut self.iops, &Row { value: 1, ..row });
            }
            Kind::LatWindow => put(
                &mut self.lat,
                &Row {
                    value: a,
                    max: b,
                    ..row
                },
            ),
            Kind::SlatWindow => put(
                &mut self.slat,
                &Row {
                    value: a,
                    max: b,
                    ..row
                },
            ),
            Kind::ClatWindow => put(
                &mut self.clat,
                &Row {
                    value: a,
                    max: b,
                    ..row
                },
            ),
            Kind::BwWindow => put(
                &mut self.bw,
                &Row {
                    value: a,
                    max: b,
                    ..row
                },
            ),
            Kind::IopsWindow => put(
                &mut self.iops,
                &Row {
                    value: a,
                    max: b,
                    ..row
                },
            ),
            Kind::Taken | Kind::Opened | Kind::Closed => self.write_pattern(record),
        }
    }

    /// Writes a line of the recorded pattern.
    fn write_pattern(&mut self, record: &Record) {
        let (Some(sheet), Some(file)) = (&mut self.iolog, self.files.get(record.file as usize))
        else {
            return;
        };
        let (text, us) = (sheet.text(), record.time_ns / 1000);
        match record.kind {
            Kind::Opened => iolog::push_action(text, us, file, "open"),
            Kind::Closed => iolog::push_action(text, us, file, "close"),
            _ => iolog::push_request(text, us, file, (record.ddir, record.offset, record.len)),
        }
    }

    /// Writes one row of the histogram log.
    pub fn write_bins(&mut self, row: &BinsRow) {
        if let Some(sheet) = &mut self.hist {
            let time_ms = row.time_ms + self.epoch_ms.load(Relaxed);
            let start = (time_ms, row.ddir, row.len);
            push_bins(sheet.text(), start, &row.bins[..], self.coarseness);
        }
    }

    /// Writes what is left; the first failure of any file.
    pub fn finish(self) -> Option<Failure> {
        let Desk {
            lat,
            slat,
            clat,
            bw,
            iops,
            hist,
            iolog,
            ..
        } = self;
        let sheets = [lat, slat, clat, bw, iops, hist, iolog];
        // All of them are finished, whatever happens to one.
        let failures: Vec<Failure> = sheets
            .into_iter()
            .flatten()
            .filter_map(Sheet::finish)
            .collect();
        failures.into_iter().next()
    }
}

/// The columns that the options ask for.
fn columns(logs: &Logs) -> Columns {
    Columns {
        both: logs.log_max && logs.log_mean,
        offset: logs.offsets,
        priority: logs.priority,
        issue: logs.issue_time,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_of_a_request_is_bytes_per_millisecond() {
        assert_eq!(rate_of(4096, 7221), 567_234);
        assert_eq!(rate_of(4096, 10), 409_600_000);
        assert_eq!(rate_of(4096, 0), 0);
    }
}
