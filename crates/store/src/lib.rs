//! History: every run kept, and found again by device, host, tag and date.
//!
//! Callers see [`Store`]; behind it is one SQLite file, because a history on one machine needs no
//! server, and everybody's tools read it. The tables are a catalogue to search and to compare by;
//! the whole document of a run, with its histograms and series, lies beside them compressed.
//!
//! A run is saved in one transaction: a process that is killed loses at most the run in progress.
//! A file that is not a history is never written to.
#![forbid(unsafe_code)]

mod catalogue;
mod document;
pub mod export;
mod place;
mod sqlite;

pub use catalogue::{Metric, metrics, work};
pub use place::default_path;
pub use sqlite::{Sqlite, VERSION};

use result::Run;
use serde::Serialize;
use std::path::PathBuf;
use thiserror::Error;

/// Why a history cannot be used.
#[derive(Debug, Error)]
pub enum StoreError {
    /// Some other file.
    #[error("{}: not a history of Assay, left as it is ({what})", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        what: String,
    },
    /// Damaged.
    #[error("{}: the history is damaged ({what}); it was not changed", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        what: String,
    },
    /// Written by a later version.
    #[error("{}: a history of version {found}, and this program knows up to {known}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The last one known here.
        known: u32,
    },
    /// There is no such run.
    #[error("no run {0} in the history")]
    NoRun(i64),
    /// No place for a history.
    #[error("neither XDG_DATA_HOME nor HOME is set; name a file with --db or ASSAY_DB")]
    NoPlace,
    /// A stored document cannot be read back.
    #[error("run {id}: its document cannot be read: {what}")]
    Document {
        /// The run.
        id: i64,
        /// Why.
        what: String,
    },
    /// The directory of the file.
    #[error("{}: {source}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why it cannot be made.
        source: std::io::Error,
    },
    /// Any other failure of the database.
    #[error("{}: {source}", path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
}

/// What is known of a run beside its document.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// Name of the host it ran on, where that is known.
    pub host: Option<String>,
    /// The suite it belongs to.
    pub suite: Option<String>,
    /// Tags that it gets.
    pub tags: Vec<String>,
    /// A remark.
    pub note: Option<String>,
}

/// What became of a run that was to be saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saved {
    /// It has this number now.
    New(i64),
    /// It was there already, under this number; tags and remarks are added to it.
    Known(i64),
}

impl Saved {
    /// The number.
    pub fn id(self) -> i64 {
        match self {
            Saved::New(id) | Saved::Known(id) => id,
        }
    }
}

/// A run in a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Entry {
    /// Its number.
    pub id: i64,
    /// When it ended, milliseconds since the epoch; 0 where that is not known.
    pub finished_ms: i64,
    /// When it was saved.
    pub saved_ms: i64,
    /// What measured.
    pub tool: String,
    /// What it was read from; `assay` for our own.
    pub format: String,
    /// Its command line.
    pub command: Option<String>,
    /// Name of the host.
    pub host: Option<String>,
    /// Name of the suite.
    pub suite: Option<String>,
    /// It ended early.
    pub partial: bool,
    /// What was measured, in a few words.
    pub title: String,
    /// Digest of what was asked for: equal where two runs can be compared.
    pub configuration: String,
    /// Names of its devices, arrays before their members.
    pub devices: Vec<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// A remark.
    pub note: Option<String>,
    /// I/Os per second of its first block that has any.
    pub iops: Option<f64>,
    /// Bytes per second of the same.
    pub bandwidth: Option<f64>,
    /// Mean latency of the same, nanoseconds.
    pub latency: Option<f64>,
    /// All figures, where [`Filter::figures`] asked for them.
    pub metrics: Vec<Metric>,
}

/// Which runs to list. Everything given must hold.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// This number.
    pub id: Option<i64>,
    /// A device with this name, with or without `/dev/`, or this identity or model.
    pub device: Option<String>,
    /// Name of the host.
    pub host: Option<String>,
    /// Name of the suite.
    pub suite: Option<String>,
    /// A tag.
    pub tag: Option<String>,
    /// Ended at this time or later, milliseconds since the epoch.
    pub since_ms: Option<i64>,
    /// Ended before this time.
    pub until_ms: Option<i64>,
    /// Digest of the configuration.
    pub configuration: Option<String>,
    /// The last so many.
    pub last: Option<u32>,
    /// Read all figures of each run too.
    pub figures: bool,
    /// Read only what a line of a list shows: number, time, tool, title, first figures, tags.
    pub brief: bool,
}

/// A history.
///
/// Everything above this crate uses a history through this trait alone; where it lies is the
/// business of whoever opens it.
pub trait Store {
    /// Keeps a run.
    ///
    /// # Errors
    /// When the history cannot be written; then nothing of the run is in it.
    fn save(&mut self, run: &Run, about: &About) -> Result<Saved, StoreError>;

    /// Shows runs one by one, in the order in which they ended.
    ///
    /// # Errors
    /// When the history cannot be read.
    fn each(&self, filter: &Filter, see: &mut dyn FnMut(&Entry)) -> Result<(), StoreError>;

    /// All of them at once.
    ///
    /// # Errors
    /// As for [`Store::each`].
    fn list(&self, filter: &Filter) -> Result<Vec<Entry>, StoreError> {
        let mut entries = Vec::new();
        self.each(filter, &mut |entry| entries.push(entry.clone()))?;
        Ok(entries)
    }

    /// The whole document of a run.
    ///
    /// # Errors
    /// When there is no such run or it cannot be read.
    fn document(&self, id: i64) -> Result<Run, StoreError>;

    /// Adds a tag, or takes it away.
    ///
    /// # Errors
    /// When there is no such run or the history cannot be written.
    fn tag(&mut self, id: i64, tag: &str, there: bool) -> Result<(), StoreError>;

    /// Sets the remark; an empty one goes.
    ///
    /// # Errors
    /// As for [`Store::tag`].
    fn note(&mut self, id: i64, note: &str) -> Result<(), StoreError>;

    /// Removes a run.
    ///
    /// # Errors
    /// As for [`Store::tag`].
    fn remove(&mut self, id: i64) -> Result<(), StoreError>;

    /// Removes runs that ended before a time and have no tag, and gives the space back. Returns
    /// how many went.
    ///
    /// # Errors
    /// When the history cannot be written.
    fn collect(&mut self, before_ms: i64) -> Result<usize, StoreError>;
}
