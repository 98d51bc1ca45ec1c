//! The targets of each worker: what is there, what must be laid out, who may write, and whether
//! direct I/O can reach them. Each file is looked at once, however many clones share it, and its
//! size is followed through the layouts that earlier workers cause.

use crate::error::Fault;
use crate::guard::{self, WritePermit};
use crate::job::Job;
use crate::layout::{Make, NewFile};
use crate::model::{LockMode, Target, TargetKind};
use crate::regions::{Found, Regions};
use crate::replay::LogFile;
use engine::ByName;
use host::{DevId, Facts};
use spec::kinds::{Fallocate, FileLock, FileType};
use std::collections::HashMap;
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sys::file::{Allocation, File, Open};
use units::Ddir;

/// What is known about one file or device.
#[derive(Debug)]
struct Known {
    path: Arc<PathBuf>,
    found: Found,
    exists: bool,
    permit: Option<WritePermit>,
    direct_align: Option<Option<u32>>,
}

/// All files and devices of a plan.
#[derive(Debug)]
pub(crate) struct Book<'f> {
    facts: &'f Facts,
    known: HashMap<PathBuf, Known>,
}

impl Book<'_> {
    /// Remarks on the content of devices that will be written, in no particular order.
    pub fn remarks(&self) -> impl Iterator<Item = String> {
        let permits = self
            .known
            .values()
            .filter_map(|known| known.permit.as_ref());
        permits.filter_map(|permit| permit.remark().map(str::to_owned))
    }
}

impl<'f> Book<'f> {
    pub fn new(facts: &'f Facts) -> Self {
        Book {
            facts,
            known: HashMap::new(),
        }
    }

    /// What is at `name` when the worker's turn comes.
    pub fn found(&mut self, job: &Job<'_>, name: &str) -> Result<Found, Fault> {
        if let Some(expected @ (ByName::NewFiles | ByName::Directories)) = job.caps.by_name {
            check_name(job, name, expected)?;
            // As in fio: a block for each.
            return Ok(Found {
                path: name.to_owned(),
                kind: TargetKind::File,
                size_bytes: Some(job.min_bs),
            });
        }
        if job.caps.diskless {
            let path = name.to_owned();
            return Ok(Found {
                path,
                kind: TargetKind::None,
                // What is no I/O needs no size=.
                size_bytes: job.caps.no_io.then_some(job.min_bs),
            });
        }
        if let Some(expected) = job.caps.by_name {
            check_name(job, name, expected)?;
        }
        if job.caps.namespaces {
            check_namespace(job, name)?;
        }
        let facts = self.facts;
        let known = self.look(name)?;
        let expected = match job.options.target.filetype {
            FileType::Auto => known.found.kind,
            FileType::File => TargetKind::File,
            FileType::Block => TargetKind::Block,
            FileType::Char => TargetKind::Char,
        };
        if known.found.kind != expected {
            let reason = "is of another type than filetype= says";
            return Err(refuse(Path::new(name), reason));
        }
        if job.caps.namespaces {
            let open = File::open(Path::new(name), Open::default());
            let space = open.and_then(|file| sys::nvme::Namespace::of(&file));
            let space = space.map_err(|error| {
                let reason = format!("does not answer as an NVMe namespace: {error}");
                refuse(Path::new(name), reason)
            })?;
            known.found.size_bytes = Some(space.size_bytes());
            check_length(facts, job, name)?;
        }
        if !known.exists && !job.options.target.allow_file_create {
            let reason = "does not exist, and allow_file_create=0 forbids to create it";
            return Err(refuse(Path::new(name), reason));
        }
        if !known.exists {
            // A mistyped device should be told as such, whatever else is wrong with it.
            known.permit(facts, job)?;
        }
        Ok(known.found.clone())
    }

    /// Whether there is something at `name`, or an earlier worker's layout puts it there.
    /// Engines without a disk need nothing there.
    pub fn exists(&self, name: &str) -> bool {
        self.known
            .get(&identity(Path::new(name)))
            .is_none_or(|known| known.exists)
    }

    fn look(&mut self, name: &str) -> Result<&mut Known, Fault> {
        let key = identity(Path::new(name));
        if !self.known.contains_key(&key) {
            let (found, exists) = look(self.facts, name)?;
            let path = Arc::new(PathBuf::from(name));
            let known = Known {
                path,
                found,
                exists,
                permit: None,
                direct_align: None,
            };
            self.known.insert(key.clone(), known);
        }
        Ok(self.known.get_mut(&key).expect("has just been inserted"))
    }

    /// The targets of one worker and what must be laid out for it.
    pub fn settle(
        &mut self,
        job: &Job<'_>,
        names: &[String],
        regions: &Regions,
    ) -> Result<(Vec<Target>, Vec<NewFile>), Fault> {
        let mut targets = Vec::with_capacity(names.len());
        let mut files = Vec::new();
        for (name, region) in names.iter().zip(&regions.regions) {
            let mut target = Target {
                path: Arc::new(PathBuf::from(name)),
                kind: TargetKind::None,
                offset_bytes: region.offset_bytes,
                length_bytes: region.length_bytes,
                size_bytes: region.file_bytes,
                created: false,
                lock: lock(job),
                permit: None,
            };
            if job.caps.by_name.is_some() && job.caps.diskless {
                target.kind = TargetKind::File;
                let allowed = job.options.target.allow_mounted_write;
                guard::permit(self.facts, &target.path, allowed)?;
                files.extend(directory_above(&target.path));
            } else if !job.caps.diskless {
                let facts = self.facts;
                let known = self.look(name)?;
                target.path = Arc::clone(&known.path);
                target.kind = known.found.kind;
                let file = known.layout(job, region.file_bytes);
                target.created = file.is_some();
                if job.modifies() || file.is_some() {
                    let permit = known.permit(facts, job)?;
                    target.permit = job.modifies().then_some(permit);
                }
                let direct = job.options.io.direct || job.options.io.atomic;
                if direct && job.caps.by_name.is_none() {
                    known.check_direct(facts, job, region.offset_bytes)?;
                }
                if let Some(file) = file {
                    known.becomes(&file);
                    files.push(file);
                }
            }
            targets.push(target);
        }
        Ok((targets, files))
    }
}

impl<'f> Book<'f> {
    /// The targets of one worker that replays a recording. Nothing is laid out for it, as in
    /// fio; what is written is created where it is missing.
    pub fn recorded(&mut self, job: &Job<'_>, files: &[LogFile]) -> Result<Vec<Target>, Fault> {
        let mut targets = Vec::with_capacity(files.len());
        for file in files {
            let mut target = Target {
                path: Arc::new(PathBuf::from(&file.name)),
                kind: TargetKind::None,
                offset_bytes: 0,
                length_bytes: file.end,
                size_bytes: file.end,
                created: false,
                lock: lock(job),
                permit: None,
            };
            if !job.caps.diskless {
                let found = self.found(job, &file.name)?;
                let facts = self.facts;
                let known = self.look(&file.name)?;
                if file.modified {
                    target.permit = Some(known.permit(facts, job)?);
                    known.exists = true;
                } else if !known.exists {
                    return Err(refuse(&target.path, "does not exist, but is replayed"));
                }
                let size = found.size_bytes.unwrap_or(file.end);
                if job.caps.fixed_size && size < file.end {
                    let end = file.end;
                    let reason = format!("has {size} bytes, and the recording reaches to {end}");
                    return Err(refuse(&target.path, reason));
                }
                target.path = Arc::clone(&known.path);
                target.kind = found.kind;
                target.size_bytes = size;
                if found.kind == TargetKind::Block {
                    target.length_bytes = file.end.min(size);
                }
            }
            targets.push(target);
        }
        Ok(targets)
    }
}

impl Known {
    /// How the file gets to `file_bytes` before the run; `None` where nothing is to be done.
    fn layout(&self, job: &Job<'_>, file_bytes: u64) -> Option<NewFile> {
        let options = &job.options.target;
        let from_bytes = self.found.size_bytes.unwrap_or(0);
        if self.found.kind != TargetKind::File || from_bytes >= file_bytes {
            return None;
        }
        let allocation = match options.fallocate {
            Fallocate::Native => Some(Allocation::Native),
            Fallocate::Posix => Some(Allocation::Posix),
            Fallocate::Keep => Some(Allocation::KeepSize),
            Fallocate::Truncate => Some(Allocation::Truncate),
            Fallocate::None => None,
        };
        let writes = job.options.io.rw.mode.writes();
        // An endless run or one by amount needs all of its blocks, one by time may not.
        let enough = job.options.extent.runtime.is_zero();
        let how = match allocation {
            _ if options.create_on_open && self.exists => return None,
            _ if options.create_on_open => Make::Directory,
            _ if options.fill_device => Make::Empty,
            _ if job.options.io.rw.mode.reads() => Make::Full(allocation),
            _ if writes && (job.overwrite || job.caps.fixed_size) => Make::Full(allocation),
            Some(how) => Make::Allocate { how, enough },
            None => Make::Empty,
        };
        Some(NewFile {
            path: Arc::clone(&self.path),
            from_bytes,
            to_bytes: file_bytes,
            how,
        })
    }

    /// Remembers what a layout makes of the file, for the workers that come later.
    fn becomes(&mut self, file: &NewFile) {
        self.exists = true;
        match file.how {
            Make::Full(_) => self.found.size_bytes = Some(file.to_bytes),
            Make::Allocate { how, .. } if how != Allocation::KeepSize => {
                self.found.size_bytes = Some(file.to_bytes);
            }
            Make::Allocate { .. } | Make::Empty | Make::Directory => {}
        }
    }

    /// The guard's word on this target; it is asked once.
    fn permit(&mut self, facts: &Facts, job: &Job<'_>) -> Result<WritePermit, Fault> {
        if let Some(permit) = &self.permit {
            return Ok(permit.clone());
        }
        let permit = guard::permit(facts, &self.path, job.options.target.allow_mounted_write)?;
        self.permit = Some(permit.clone());
        Ok(permit)
    }

    /// Checks that sizes and offsets are what the device takes with `O_DIRECT`.
    fn check_direct(&mut self, facts: &Facts, job: &Job<'_>, offset: u64) -> Result<(), Fault> {
        if !matches!(self.found.kind, TargetKind::File | TargetKind::Block) {
            return Ok(());
        }
        let path = &self.path;
        let align = *self
            .direct_align
            .get_or_insert_with(|| direct_align(facts, path));
        let Some(align) = align.filter(|align| *align > 1) else {
            return Ok(());
        };
        let refuse = |option, value| Fault::Direct {
            option,
            value,
            path: path.to_path_buf(),
            align,
        };
        let odd = |value: &u64| !value.is_multiple_of(align.into());
        for ddir in [Ddir::Read, Ddir::Write]
            .into_iter()
            .filter(|d| job.uses(*d))
        {
            let size = &job.block[ddir];
            let sizes = size
                .split
                .iter()
                .map(|share| share.bytes)
                .chain([size.min, size.max]);
            if let Some(value) = sizes.into_iter().find(odd) {
                let option = match (size.split.is_empty(), size.min == size.max) {
                    (false, _) => "bssplit",
                    (true, true) => "bs",
                    (true, false) => "bsrange",
                };
                return Err(refuse(option, value));
            }
            let ba = job.options.block.ba[ddir].filter(|_| job.options.io.rw.mode.is_random());
            if let Some(value) = ba.filter(odd) {
                return Err(refuse("blockalign", value));
            }
        }
        if odd(&offset) {
            Err(refuse("offset", offset))
        } else {
            Ok(())
        }
    }
}

fn lock(job: &Job<'_>) -> Option<LockMode> {
    match job.options.target.lockfile {
        FileLock::None => None,
        FileLock::Exclusive => Some(LockMode::Exclusive),
        FileLock::ReadWrite => Some(LockMode::ReadWrite),
    }
}

/// What direct I/O to an existing target, or to a new file at `path`, has to be aligned to.
fn direct_align(facts: &Facts, path: &Path) -> Option<u32> {
    let open = File::open(
        path,
        Open {
            read: true,
            ..Open::default()
        },
    );
    if let Some(limits) = open.ok().and_then(|file| file.direct_limits()) {
        return Some(limits.offset_align);
    }
    let parent = path
        .ancestors()
        .skip(1)
        .map(or_here)
        .find(|dir| dir.is_dir())?;
    let below = host::block::below_path(&facts.root, &facts.mounts, parent);
    below
        .iter()
        .map(|device| device.logical_block_bytes as u32)
        .max()
}

/// The working directory has no name of its own in a relative path.
fn or_here(path: &Path) -> &Path {
    if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    }
}

/// One name for all spellings of a path.
fn identity(path: &Path) -> PathBuf {
    if let Ok(found) = path.canonicalize() {
        return found;
    }
    let parent = path
        .parent()
        .map(or_here)
        .and_then(|dir| dir.canonicalize().ok());
    match (parent, path.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => path.to_owned(),
    }
}

fn refuse(path: &Path, reason: impl Into<String>) -> Fault {
    Fault::Path {
        path: path.to_owned(),
        reason: reason.into(),
    }
}

/// Engines that work on names take files, or directories, and nothing else.
fn check_name(job: &Job<'_>, name: &str, expected: ByName) -> Result<(), Fault> {
    let path = Path::new(name);
    let directories = expected == ByName::Directories;
    let other = |meta: std::fs::Metadata| {
        if directories {
            !meta.is_dir()
        } else {
            !meta.is_file()
        }
    };
    if name == "-" || std::fs::metadata(path).is_ok_and(other) {
        let what = if directories { "directories" } else { "files" };
        let reason = format!("ioengine={} takes {what} only", job.kind.name());
        return Err(refuse(path, reason));
    }
    Ok(())
}

/// Engines that send commands take the character devices of namespaces.
fn check_namespace(job: &Job<'_>, name: &str) -> Result<(), Fault> {
    let path = Path::new(name);
    match std::fs::metadata(path) {
        Ok(meta) if meta.file_type().is_char_device() => Ok(()),
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(refuse(path, format!("cannot be looked at: {error}")))
        }
        found => {
            let what = if found.is_ok() {
                "is no such device"
            } else {
                "does not exist"
            };
            let reason = format!(
                "{what}; ioengine={} works on character devices of NVMe namespaces (/dev/ngXnY)",
                job.kind.name()
            );
            Err(refuse(path, reason))
        }
    }
}

/// The block layer splits what is too long for a device; commands are passed on as they are.
fn check_length(facts: &Facts, job: &Job<'_>, name: &str) -> Result<(), Fault> {
    let number = std::fs::metadata(name).map(|meta| DevId::from_raw(meta.rdev()));
    let disk = number.ok().and_then(|dev| guard::behind(facts, dev));
    let moved = [Ddir::Read, Ddir::Write]
        .into_iter()
        .filter(|d| job.uses(*d));
    let longest = moved.map(|d| job.block[d].max).max().unwrap_or(0);
    match disk.and_then(|disk| disk.most_bytes()) {
        Some(most) if longest > most => {
            let text = format!("bs={longest}: {name} takes commands of at most {most} bytes");
            Err(Fault::option("bs", text))
        }
        _ => Ok(()),
    }
}

/// What must be laid out so that `path` can be created: nothing but its directory.
fn directory_above(path: &Arc<PathBuf>) -> Option<NewFile> {
    let missing = path.parent().map(or_here).is_some_and(|dir| !dir.exists());
    missing.then(|| NewFile {
        path: Arc::clone(path),
        from_bytes: 0,
        to_bytes: 0,
        how: Make::Directory,
    })
}

fn look(facts: &Facts, name: &str) -> Result<(Found, bool), Fault> {
    let path = Path::new(name);
    let found = |kind, size_bytes| {
        (
            Found {
                path: name.to_owned(),
                kind,
                size_bytes,
            },
            true,
        )
    };
    if name == "-" {
        return Err(refuse(
            path,
            "standard input and output are not supported yet",
        ));
    }
    let meta = match std::fs::metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let (new, _) = found(TargetKind::File, Some(0));
            return Ok((new, false));
        }
        Err(error) => return Err(refuse(path, format!("cannot be looked at: {error}"))),
    };
    let kind = meta.file_type();
    if kind.is_file() {
        Ok(found(TargetKind::File, Some(meta.len())))
    } else if kind.is_block_device() {
        device_size(facts, path).map(|size| found(TargetKind::Block, Some(size)))
    } else if kind.is_char_device() {
        Ok(found(TargetKind::Char, None))
    } else if kind.is_dir() {
        Err(refuse(
            path,
            "is a directory; filename= takes files and devices",
        ))
    } else {
        Err(refuse(path, "pipes and sockets are not supported yet"))
    }
}

fn device_size(facts: &Facts, path: &Path) -> Result<u64, Fault> {
    let open = File::open(
        path,
        Open {
            read: true,
            ..Open::default()
        },
    );
    let size = match open.and_then(|file| file.size()) {
        Ok(size) => size,
        // Without permission to open it, sysfs still knows the size.
        Err(error) => match host::BlockDevice::by_path(&facts.root, path) {
            Some(device) => device.size_bytes,
            None => return Err(refuse(path, format!("cannot be opened: {error}"))),
        },
    };
    if size == 0 {
        Err(refuse(path, "is a block device of size zero"))
    } else {
        Ok(size)
    }
}

/// Checks `directory=`: each must exist and be one.
pub(crate) fn check_directories(directories: &[String]) -> Result<(), Fault> {
    for name in directories {
        let path = Path::new(name);
        let refuse = |what| {
            Err(Fault::option(
                "directory",
                format!("directory={name}: {what}"),
            ))
        };
        match std::fs::read_dir(path) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => refuse("does not exist".into())?,
            Err(error) if error.kind() == ErrorKind::NotADirectory => {
                refuse("is not a directory".into())?;
            }
            Err(error) => refuse(format!("cannot be read: {error}"))?,
        }
    }
    Ok(())
}
