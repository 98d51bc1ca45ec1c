//! The check's own file: new, inside the current directory, and gone at the end.

use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use sys::file::{File, Open};
use sys::pages::{Kind, Pool};
use sys::ring::{Config, Ring};

/// Largest file the check makes, bytes.
const MOST_BYTES: u64 = 1 << 30;
/// Smallest file that says anything about a device, bytes.
const LEAST_BYTES: u64 = 16 << 20;
/// Share of the free space that the check may take: one part in this many.
const FREE_PARTS: u64 = 10;

/// A file that exists as long as this value.
pub struct OwnFile {
    /// Its path.
    pub path: PathBuf,
    /// Bytes the check may write to it.
    pub budget_bytes: u64,
    /// The file system supports direct I/O.
    pub direct: bool,
}

impl OwnFile {
    /// Makes the file in `dir` after a look at the free space.
    pub fn create(dir: &Path) -> anyhow::Result<OwnFile> {
        let space =
            host::space::of(dir).with_context(|| format!("{}: free space", dir.display()))?;
        if space.read_only {
            bail!("{}: the file system is mounted read-only", dir.display());
        }
        let budget_bytes = (space.available_bytes / FREE_PARTS).min(MOST_BYTES) >> 20 << 20;
        if budget_bytes < LEAST_BYTES {
            bail!(
                "{}: {} MiB are free; the check takes a tenth of the free space and needs {} MiB",
                dir.display(),
                space.available_bytes >> 20,
                (LEAST_BYTES * FREE_PARTS) >> 20
            );
        }
        let path = dir.join(format!(".assay-check-{}.tmp", sys::process::process_id()));
        let new = Open {
            read: true,
            write: true,
            create: true,
            exclusive: true,
            ..Open::default()
        };
        drop(File::open(&path, new).with_context(|| format!("cannot create {}", path.display()))?);
        let how = Open {
            read: true,
            direct: true,
            ..Open::default()
        };
        let direct = File::open(&path, how).is_ok();
        Ok(OwnFile {
            path,
            budget_bytes,
            direct,
        })
    }

    /// The engine that keeps a queue on this file: buffered I/O is asynchronous only in io_uring.
    pub fn engine(&self) -> &'static str {
        let ring = Pool::new(1, 4096, 4096, &Kind::Anonymous, false)
            .map_err(|error| error.kind())
            .and_then(|pool| {
                Ring::new(pool, Vec::new(), &Config::default()).map_err(|(_, e)| e.kind())
            });
        if ring.is_ok() { "io_uring" } else { "libaio" }
    }
}

impl Drop for OwnFile {
    fn drop(&mut self) {
        // It may have been removed by somebody else; there is nobody left to tell.
        let _ = std::fs::remove_file(&self.path);
    }
}
