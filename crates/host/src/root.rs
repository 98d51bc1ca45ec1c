//! Where `/proc` and `/sys` are looked for, and how a failed look is told.

use std::io;
use std::path::{Path, PathBuf};

/// A directory with `proc` and `sys` below it: `/` in use, a captured tree in tests.
#[derive(Clone, Debug)]
pub struct Root(PathBuf);

impl Default for Root {
    fn default() -> Self {
        Root(PathBuf::from("/"))
    }
}

impl Root {
    /// A root at `path`.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Root(path.into())
    }

    /// True for the running system, false for a captured tree. What only the kernel can answer
    /// (free space, a device's content) is asked of a running system alone.
    pub fn is_live(&self) -> bool {
        self.0 == Path::new("/")
    }

    /// The path of `relative` (without a leading slash) below this root.
    pub fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.0.join(relative)
    }

    /// The whole of a file.
    ///
    /// # Errors
    /// [`HostError::Read`] with the path.
    pub fn text(&self, relative: impl AsRef<Path>) -> Result<String, HostError> {
        text(&self.path(relative))
    }

    /// Names in a directory, sorted; empty when there is no such directory.
    pub fn names(&self, relative: impl AsRef<Path>) -> Vec<String> {
        names(&self.path(relative))
    }
}

/// Why a fact is not known.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// A file could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file did not have the form the kernel documents.
    #[error("cannot understand {}: `{line}`", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, or the whole text of a one-line file.
        line: String,
    },
}

impl HostError {
    /// Names the file and the offending line.
    pub(crate) fn malformed(path: impl Into<PathBuf>, line: &str) -> Self {
        HostError::Malformed {
            path: path.into(),
            line: line.trim_end().to_owned(),
        }
    }
}

/// Paths in `/proc` may hold any byte; what is not UTF-8 is replaced, never refused.
pub(crate) fn text(path: &Path) -> Result<String, HostError> {
    std::fs::read(path)
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .map_err(|source| HostError::Read {
            path: path.to_owned(),
            source,
        })
}

/// One attribute below a sysfs directory, trimmed; `None` when it is absent or not a value.
pub(crate) fn attribute<T: std::str::FromStr>(dir: &Path, name: &str) -> Option<T> {
    std::fs::read_to_string(dir.join(name))
        .ok()?
        .trim()
        .parse()
        .ok()
}

/// A text attribute; `None` when it is absent or empty.
pub(crate) fn word(dir: &Path, name: &str) -> Option<String> {
    attribute::<String>(dir, name).filter(|text| !text.is_empty())
}

pub(crate) fn names(dir: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|e| e.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}
