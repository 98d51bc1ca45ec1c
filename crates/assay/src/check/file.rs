//! What the check measures: its own file, which is new and gone at the end, or a device.

use anyhow::{Context, bail};
use plan::guard;
use plan::journal::{self, Item, Journal};
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

/// A file that exists as long as this value, or a device.
pub struct Ground {
    /// Its path.
    pub path: PathBuf,
    /// Bytes the check may use of it.
    pub budget_bytes: u64,
    /// Direct I/O works on it.
    pub direct: bool,
    /// It may be written.
    pub writable: bool,
    /// The file is the check's own.
    pub own: bool,
    _journal: Option<Journal>,
}

impl Ground {
    /// The device at `path`: to be read only, or with the consent to destroy its content to be
    /// written too. `None` when there is no block device.
    pub fn device(path: &Path, consent: Option<&str>) -> anyhow::Result<Option<Ground>> {
        let facts = host::Facts::read(&host::Root::default())?;
        let Some(device) = host::BlockDevice::by_path(&facts.root, path) else {
            return Ok(None);
        };
        if consent.is_some() {
            guard::consent(&facts, path, consent)?;
        }
        let budget_bytes = device.size_bytes >> 20 << 20;
        if budget_bytes < LEAST_BYTES {
            bail!("{}: smaller than {} MiB", path.display(), LEAST_BYTES >> 20);
        }
        let read = |direct| Open {
            read: true,
            direct,
            ..Open::default()
        };
        File::open(path, read(false)).with_context(|| format!("cannot open {}", path.display()))?;
        Ok(Some(Ground {
            path: path.to_owned(),
            budget_bytes,
            direct: File::open(path, read(true)).is_ok(),
            writable: consent.is_some(),
            own: false,
            _journal: None,
        }))
    }

    /// Makes a file in `dir` after a look at the free space.
    pub fn create(dir: &Path) -> anyhow::Result<Ground> {
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
        // A journal that cannot be kept only means that a killed check is not cleaned up.
        let items = [Item::File(std::path::absolute(&path)?)];
        let journal = Journal::write(&journal::directory(), &items).ok().flatten();
        let new = Open {
            read: true,
            write: true,
            create: true,
            exclusive: true,
            ..Open::default()
        };
        drop(File::open(&path, new).with_context(|| format!("cannot create {}", path.display()))?);
        if let Some(journal) = &journal {
            // Without it the file is known by its age.
            let _ = journal.made([path.as_path()]);
        }
        let how = Open {
            read: true,
            direct: true,
            ..Open::default()
        };
        let direct = File::open(&path, how).is_ok();
        Ok(Ground {
            path,
            budget_bytes,
            direct,
            writable: true,
            own: true,
            _journal: journal,
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

impl Drop for Ground {
    fn drop(&mut self) {
        if !self.own {
            return;
        }
        // It may have been removed by somebody else; there is nobody left to tell.
        let _ = std::fs::remove_file(&self.path);
    }
}
