//! Log files of a run: latency, bandwidth, IOPS and histogram logs, recorded requests, and the
//! aggregate bandwidth logs. Rows, file names and window rules are fio's.
//!
//! A worker puts fixed-size records into chunks that exist before it starts; a full chunk goes to
//! the one writer thread of the run, which turns records into rows and hands the chunk back. So
//! a worker neither allocates nor formats nor locks, and memory does not grow with the run: when
//! the disk below the logs is slower than the job, the worker waits for an empty chunk between
//! two requests, never inside a measured one. Windows (`log_avg_msec`, `log_hist_msec`) are summed
//! up in the worker. Unlike fio's, the files grow while the job runs.

mod aggregate;
mod book;
mod desk;
mod iolog;
mod packed;
mod pen;
mod row;
mod scribe;
mod sheet;
mod window;

pub use aggregate::Aggregate;
pub use book::Book;
pub use packed::inflate;
pub use pen::{Kind, Pen, Record};
pub use scribe::Scribe;
