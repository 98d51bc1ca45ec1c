//! Laying out: files are made as large as the plan needs them, before anything is measured.
//!
//! As in fio, jobs that read (or write with `overwrite=1`) need files full of data; other writes
//! need them only allocated, in the way `fallocate` says. Files that are large enough are left
//! alone. Unlike fio, a file that is too short is extended and keeps what it holds, and whatever
//! a failed or cancelled layout made is taken back.

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use sys::file::{Allocation, File, Hint, Open};
use sys::transfer;
use workload::{FillPolicy, Filler};

/// Bytes of one write; also how often progress is told and cancellation seen.
const CHUNK: usize = 1 << 20;
const ENOSPC: i32 = 28;
const EROFS: i32 = 30;

/// The files that must be laid out for one worker.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Thread number of the worker.
    pub worker: u32,
    /// Its job's name.
    pub job: String,
    /// The files, in the order of the worker's targets.
    pub files: Vec<NewFile>,
    /// `create_fsync`: flush each file when it is complete.
    pub fsync: bool,
    /// Contents of files that are filled.
    pub contents: FillPolicy,
}

/// One file that does not exist or is too short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFile {
    /// Where.
    pub path: Arc<PathBuf>,
    /// Its size before the layout; 0 when it does not exist.
    pub from_bytes: u64,
    /// Its size afterwards.
    pub to_bytes: u64,
    /// How it gets there.
    pub how: Make,
}

/// How a file is made as large as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Make {
    /// Filled with data, after blocks have been reserved where an allocation is given.
    Full(Option<Allocation>),
    /// Blocks are reserved. `enough` is false when the run may end before they are all needed:
    /// then no space to reserve them is no error.
    Allocate {
        /// How.
        how: Allocation,
        /// Whether all of them must be had.
        enough: bool,
    },
    /// Created empty; grows as it is written.
    Empty,
    /// Not created: the run does that. Only its directory must exist.
    Directory,
}

impl Make {
    /// Bytes that a growth by `grown` takes from the file system.
    fn needs(self, grown: u64) -> u64 {
        match self {
            Make::Full(_) => grown,
            Make::Allocate { how, enough: true } if how != Allocation::Truncate => grown,
            _ => 0,
        }
    }
}

impl Layout {
    /// fio's line about this layout, or `None` when only directories are wanted.
    pub fn headline(&self) -> Option<String> {
        let files: Vec<_> = self
            .files
            .iter()
            .filter(|f| f.how != Make::Directory)
            .collect();
        let mib = files.iter().map(|file| file.to_bytes).sum::<u64>() >> 20;
        match files.len() {
            0 => None,
            1 => Some(format!(
                "{}: Laying out IO file (1 file / {mib}MiB)",
                self.job
            )),
            n => Some(format!(
                "{}: Laying out IO files ({n} files / total {mib}MiB)",
                self.job
            )),
        }
    }

    /// Bytes that will be written.
    pub fn data_bytes(&self) -> u64 {
        let full = self
            .files
            .iter()
            .filter(|file| matches!(file.how, Make::Full(_)));
        full.map(|file| file.to_bytes - file.from_bytes).sum()
    }
}

/// How far a layout has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// The layout that is being made.
    pub layout: &'a Layout,
    /// True at its first report.
    pub begins: bool,
    /// Bytes written so far, over all layouts.
    pub done_bytes: u64,
    /// Bytes to be written, over all layouts.
    pub total_bytes: u64,
}

/// Why a layout failed. What it had made has been taken back.
#[derive(Debug, thiserror::Error)]
pub enum LayoutError {
    /// Not enough room, found before anything was touched.
    #[error(
        "no space for {}: the layout needs {needed} bytes and {available} are {}",
        path.display(),
        if *quota { "left of the quota" } else { "available" }
    )]
    NoSpace {
        /// The (first) file that needs the room.
        path: PathBuf,
        /// Bytes needed on its file system, over all files.
        needed: u64,
        /// Bytes available there.
        available: u64,
        /// A quota limits them, not the file system's size.
        quota: bool,
    },
    /// The file system cannot be written.
    #[error("cannot create {}: its file system is read-only", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The system refused something.
    #[error("cannot {action} {}: {source}", path.display())]
    System {
        /// What was attempted.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The caller's flag was raised.
    #[error("cancelled while laying out files")]
    Cancelled,
}

impl LayoutError {
    /// A step with `path` that the system refused.
    pub fn at(action: &'static str, path: &Path, source: io::Error) -> Self {
        if source.raw_os_error() == Some(EROFS) {
            return LayoutError::ReadOnly {
                path: path.to_owned(),
            };
        }
        LayoutError::System {
            action,
            path: path.to_owned(),
            source,
        }
    }

    /// The errno behind the error, for reports that carry one.
    pub fn errno(&self) -> i32 {
        match self {
            LayoutError::NoSpace { .. } => ENOSPC,
            LayoutError::ReadOnly { .. } => EROFS,
            LayoutError::System { source, .. } => source.raw_os_error().unwrap_or(5),
            LayoutError::Cancelled => 4,
        }
    }
}

/// What a successful layout has made, in order.
#[derive(Debug, Default)]
pub struct Made {
    /// Files that did not exist before.
    pub created: Vec<PathBuf>,
    /// Files that were made longer, with their size before.
    pub extended: Vec<(PathBuf, u64)>,
    /// Directories that did not exist before.
    pub directories: Vec<PathBuf>,
}

impl Made {
    /// Takes everything back: created files and directories go, extended files are cut to their
    /// old size. Directories that others have filled since then stay.
    pub fn undo(self) {
        for (path, size) in self.extended {
            let open = File::open(
                &path,
                Open {
                    write: true,
                    ..Open::default()
                },
            );
            // A file that is gone needs no cutting, and there is nobody to tell of more.
            let _ = open.and_then(|file| file.set_size(size));
        }
        for path in self.created {
            let _ = std::fs::remove_file(path);
        }
        for path in self.directories.into_iter().rev() {
            let _ = std::fs::remove_dir(path);
        }
    }
}

/// Checks that the file systems have room for all layouts.
///
/// # Errors
/// [`LayoutError::NoSpace`] with the first file that needs the room, or
/// [`LayoutError::ReadOnly`].
pub fn check_space(layouts: &[Layout]) -> Result<(), LayoutError> {
    // Layouts of one file follow each other: each starts where the one before ended.
    let mut needs: BTreeMap<u64, (&Path, PathBuf, u64)> = BTreeMap::new();
    for file in layouts.iter().flat_map(|layout| &layout.files) {
        let needed = file
            .how
            .needs(file.to_bytes.saturating_sub(file.from_bytes));
        let Some((dir, dev)) = existing_parent(&file.path) else {
            continue;
        };
        let entry = needs.entry(dev).or_insert_with(|| (&file.path, dir, 0));
        entry.2 = entry.2.saturating_add(needed);
    }
    for (path, dir, needed) in needs.into_values() {
        let Ok(space) = host::space::of(&dir) else {
            continue;
        };
        if space.read_only {
            return Err(LayoutError::ReadOnly {
                path: path.to_owned(),
            });
        }
        // A file system without a size, such as /proc, tells nothing about room.
        if needed > space.available_bytes && space.total_bytes > 0 {
            let available = space.available_bytes;
            return Err(LayoutError::NoSpace {
                path: path.to_owned(),
                needed,
                available,
                quota: false,
            });
        }
        if let Some(left) = sys::quota::left_bytes(&dir).filter(|left| needed > *left) {
            return Err(LayoutError::NoSpace {
                path: path.to_owned(),
                needed,
                available: left,
                quota: true,
            });
        }
    }
    Ok(())
}

/// The nearest existing directory at or above `path`, and its device.
fn existing_parent(path: &Path) -> Option<(PathBuf, u64)> {
    path.ancestors().find_map(|at| {
        let at = if at.as_os_str().is_empty() {
            Path::new(".")
        } else {
            at
        };
        std::fs::metadata(at)
            .ok()
            .map(|meta| (at.to_owned(), meta.dev()))
    })
}

/// Makes the files of all `layouts`, in order, after a look at the free space. `progress` is
/// called at the start of each layout and about once per MiB.
///
/// # Errors
/// [`LayoutError`]; everything made until then has been taken back.
pub fn make(
    layouts: &[Layout],
    cancel: &AtomicBool,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Made, LayoutError> {
    check_space(layouts)?;
    let mut work = Work {
        cancel,
        progress,
        made: Made::default(),
        done_bytes: 0,
        total_bytes: layouts.iter().map(Layout::data_bytes).sum(),
    };
    match layouts.iter().try_for_each(|layout| work.lay_out(layout)) {
        Ok(()) => Ok(work.made),
        Err(error) => {
            work.made.undo();
            Err(error)
        }
    }
}

struct Work<'a> {
    cancel: &'a AtomicBool,
    progress: &'a mut dyn FnMut(Progress<'_>),
    made: Made,
    done_bytes: u64,
    total_bytes: u64,
}

impl Work<'_> {
    fn lay_out(&mut self, layout: &Layout) -> Result<(), LayoutError> {
        self.tell(layout, true);
        let mut chunk = Vec::new();
        let mut filler = Filler::new(&FillPolicy {
            refill: true,
            ..layout.contents.clone()
        });
        if layout.data_bytes() > 0 {
            chunk.resize(CHUNK, 0);
            filler.init(&mut chunk);
        }
        for file in &layout.files {
            self.directories(&file.path)?;
            if file.how == Make::Directory {
                continue;
            }
            let open = self.open(file)?;
            match file.how {
                Make::Full(allocation) => {
                    if let Some(how) = allocation {
                        allocate(&open, how, file, true)?;
                    }
                    self.fill(layout, file, &open, &mut filler, &mut chunk)?;
                    if layout.fsync {
                        open.sync()
                            .map_err(|e| LayoutError::at("flush", &file.path, e))?;
                        // What the run reads should come from the device.
                        let _ = open.advise(Hint::DontNeed, 0, 0);
                    }
                }
                Make::Allocate { how, enough } => allocate(&open, how, file, enough)?,
                Make::Empty | Make::Directory => {}
            }
        }
        Ok(())
    }

    fn tell(&mut self, layout: &Layout, begins: bool) {
        let (done_bytes, total_bytes) = (self.done_bytes, self.total_bytes);
        (self.progress)(Progress {
            layout,
            begins,
            done_bytes,
            total_bytes,
        });
    }

    /// Opens or creates a file, and notes how to take that back.
    fn open(&mut self, file: &NewFile) -> Result<File, LayoutError> {
        let path = file.path.as_path();
        let how = Open {
            read: true,
            write: true,
            ..Open::default()
        };
        match File::open(path, how) {
            Ok(open) => {
                let size = open
                    .size()
                    .map_err(|e| LayoutError::at("look at", path, e))?;
                let mine = self.made.created.iter().any(|created| created == path);
                if !mine {
                    self.made.extended.push((path.to_owned(), size));
                }
                Ok(open)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let open = File::open(
                    path,
                    Open {
                        create: true,
                        exclusive: true,
                        ..how
                    },
                )
                .map_err(|e| LayoutError::at("create", path, e))?;
                self.made.created.push(path.to_owned());
                Ok(open)
            }
            Err(error) => Err(LayoutError::at("open", path, error)),
        }
    }

    /// Makes the directories above `path` that do not exist (mode 0700, as fio does).
    fn directories(&mut self, path: &Path) -> Result<(), LayoutError> {
        let missing: Vec<&Path> = path
            .ancestors()
            .skip(1)
            .take_while(|dir| !dir.as_os_str().is_empty() && !dir.exists())
            .collect();
        for dir in missing.into_iter().rev() {
            match DirBuilder::new().mode(0o700).create(dir) {
                Ok(()) => self.made.directories.push(dir.to_owned()),
                // `a/../b` names a directory twice.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(LayoutError::at("create the directory", dir, error)),
            }
        }
        Ok(())
    }

    fn fill(
        &mut self,
        layout: &Layout,
        file: &NewFile,
        open: &File,
        filler: &mut Filler,
        chunk: &mut [u8],
    ) -> Result<(), LayoutError> {
        let mut at = file.from_bytes;
        while at < file.to_bytes {
            if self.cancel.load(Ordering::Relaxed) {
                return Err(LayoutError::Cancelled);
            }
            let want = usize::try_from(file.to_bytes - at)
                .unwrap_or(CHUNK)
                .min(CHUNK);
            let buffer = &mut chunk[..want];
            filler.prepare(0, buffer, at);
            let wrote = transfer::pwrite(open, buffer, at);
            if wrote <= 0 {
                // A write that moves nothing without an error has met the end of the space.
                let errno = if wrote < 0 { -wrote } else { ENOSPC };
                let error = io::Error::from_raw_os_error(errno);
                return Err(LayoutError::at("write", &file.path, error));
            }
            at += u64::from(wrote.unsigned_abs());
            self.done_bytes += u64::from(wrote.unsigned_abs());
            self.tell(layout, false);
        }
        Ok(())
    }
}

/// Reserves blocks. File systems that cannot do it are no error, as in fio.
fn allocate(open: &File, how: Allocation, file: &NewFile, enough: bool) -> Result<(), LayoutError> {
    let grown = file.to_bytes.saturating_sub(file.from_bytes);
    if grown == 0 {
        return Ok(());
    }
    match open.allocate(how, file.from_bytes, grown) {
        Err(error) if error.raw_os_error() == Some(ENOSPC) && enough => {
            Err(LayoutError::at("allocate", &file.path, error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
