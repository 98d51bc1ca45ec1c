//! Files and buffers of a worker: opened before the barrier, flushed and removed after the run.

use crate::failure::step;
use crate::worker::open_failure;
use engine::ByName;
use plan::model::{Access, Memory, Target, TargetKind, Worker};
use result::Failure;
use sys::file::File;
use sys::pages::{Kind, Pool};
use units::Ddir;

/// errno of what a target cannot do.
const EOPNOTSUPP: i32 = 95;

/// Opens all targets and prepares the page cache as the job asks.
pub fn open(worker: &Worker) -> Result<Vec<File>, Failure> {
    open_with(worker, &worker.access)
}

/// Replaces the files by new ones of the same names (`unlink_each_loop`).
pub fn renew(worker: &Worker) -> Result<Vec<File>, Failure> {
    unlink(worker)?;
    let access = Access {
        create: true,
        ..worker.access
    };
    open_with(worker, &access)
}

fn open_with(worker: &Worker, access: &Access) -> Result<Vec<File>, Failure> {
    let nothing = |target: &Target| target.kind == TargetKind::None;
    if worker.engine.kind.caps().by_name.is_some() || worker.targets.iter().all(nothing) {
        return Ok(Vec::new());
    }
    sys::process::raise_open_files();
    worker
        .targets
        .iter()
        .map(|target| open_one(worker, access, target))
        .collect()
}

fn open_one(worker: &Worker, access: &Access, target: &Target) -> Result<File, Failure> {
    let file = File::open(&target.path, target.how(access)).map_err(|e| {
        let mut failure = open_failure(&target.path, &e);
        if access.direct && e.raw_os_error() == Some(22) {
            failure.message += " (the file system may not support direct=1)";
        }
        failure
    })?;
    if access.atomic && worker.uses(Ddir::Write) {
        atomic(worker, &file)?;
    }
    let cached = matches!(target.kind, TargetKind::File | TargetKind::Block);
    if !cached {
        return Ok(file);
    }
    let (offset, length) = (target.offset_bytes, target.length_bytes);
    let named = |what: &str| format!("{what} {}", target.path.display());
    if access.invalidate && !access.pre_read {
        match file.invalidate(offset, length) {
            // Flushing a device's cache takes privileges that reading it does not.
            Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied => {}
            done => done.map_err(|e| step(named("invalidate"), &e))?,
        }
    }
    if let Some(hint) = access.advice {
        file.advise(hint, offset, length)
            .map_err(|e| step(named("fadvise"), &e))?;
    }
    if let Some(hint) = access.write_hint {
        file.set_write_hint(hint, access.direct)
            .map_err(|e| step(named("write_hint"), &e))?;
    }
    if access.pre_read {
        pre_read(target).map_err(|e| step(named("pre_read"), &e))?;
    }
    Ok(file)
}

/// Refuses writes that the target cannot make atomic.
fn atomic(worker: &Worker, file: &File) -> Result<(), Failure> {
    let refuse = |why: String| {
        let path = file.path().display();
        Err(Failure::new(
            EOPNOTSUPP,
            "atomic",
            format!("atomic=1: {path} {why}"),
        ))
    };
    let Some((min, max)) = file.atomic_limits() else {
        return refuse("cannot be written atomically".into());
    };
    let block = &worker.requests.block[Ddir::Write];
    let sizes = block.split.iter().map(|share| share.bytes);
    for size in sizes.chain([block.min, block.max]) {
        if size < min.into() || size > max.into() || !size.is_power_of_two() {
            return refuse(format!(
                "takes atomic writes of {min} to {max} bytes, powers of two, not of {size}"
            ));
        }
    }
    Ok(())
}

/// Reads the region into the page cache.
fn pre_read(target: &Target) -> std::io::Result<()> {
    use std::os::unix::fs::FileExt;
    let file = std::fs::File::open(&*target.path)?;
    let mut buffer = vec![0u8; 1 << 20];
    let mut at = target.offset_bytes;
    let end = at + target.length_bytes;
    while at < end {
        let want = (end - at).min(buffer.len() as u64) as usize;
        match file.read_at(&mut buffer[..want], at)? {
            0 => break,
            n => at += n as u64,
        }
    }
    Ok(())
}

/// Buffers for `depth` requests.
pub fn pool(worker: &Worker, depth: u32) -> Result<Pool, Failure> {
    let buffers = &worker.buffers;
    let kind = match &buffers.memory {
        Memory::Anonymous => Kind::Anonymous,
        Memory::Shared => Kind::Shared,
        Memory::Huge(bytes) => Kind::Huge(*bytes as usize),
        Memory::SharedHuge(bytes) => Kind::SharedHuge(*bytes as usize),
        Memory::File {
            permit,
            shared,
            huge,
        } => Kind::File {
            path: permit.path().to_owned(),
            shared: *shared,
            huge: huge.map(|bytes| bytes as usize),
        },
    };
    let slot_bytes = buffers.slot_bytes.max(1) as usize;
    Pool::new(
        depth,
        slot_bytes,
        buffers.align_bytes as usize,
        &kind,
        false,
    )
    .map_err(|e| {
        let mut failure = step(
            format!("allocate {depth} buffers of {slot_bytes} bytes"),
            &e,
        );
        if matches!(kind, Kind::Huge(_) | Kind::SharedHuge(_)) {
            failure.message += " (are enough huge pages reserved? see /proc/sys/vm/nr_hugepages)";
        }
        failure
    })
}

/// Memory that is locked down while the worker runs (`lockmem`), so that less is left for the
/// page cache.
pub fn ballast(worker: &Worker) -> Result<Option<Pool>, Failure> {
    let bytes = worker.buffers.lock_bytes as usize;
    if bytes == 0 {
        return Ok(None);
    }
    Pool::new(1, bytes, 1, &Kind::Anonymous, true)
        .map(Some)
        .map_err(|e| step(format!("lock {bytes} bytes of memory"), &e))
}

/// Smallest block of any direction in use, bytes.
pub fn smallest_block(worker: &Worker) -> u32 {
    if let Some(replay) = &worker.replay {
        return replay.shortest as u32;
    }
    let blocks = &worker.requests.block;
    let used = |ddir: &Ddir| worker.uses(*ddir);
    let smallest = Ddir::DATA
        .iter()
        .filter(|d| used(d))
        .map(|d| blocks[*d].min)
        .min();
    smallest.unwrap_or(4096) as u32
}

/// `end_fsync`, `end_syncfs`, `fsync_on_close`.
pub fn sync_all(worker: &Worker, files: &[File]) -> Result<(), Failure> {
    if !worker.uses(Ddir::Write) {
        return Ok(());
    }
    for file in files {
        let done = if worker.lifecycle.end_syncfs {
            file.sync_file_system()
        } else {
            file.sync()
        };
        done.map_err(|e| step(format!("fsync {}", file.path().display()), &e))?;
        if worker.lifecycle.end_syncfs {
            break;
        }
    }
    Ok(())
}

/// What remains to be done when the worker is over.
pub fn close(worker: &Worker) -> Result<(), Failure> {
    if worker.lifecycle.unlink {
        unlink(worker)
    } else {
        Ok(())
    }
}

/// Deletes the files of a worker; another clone may have been first.
pub fn unlink(worker: &Worker) -> Result<(), Failure> {
    let directories = worker.engine.kind.caps().by_name == Some(ByName::Directories);
    for target in worker.targets.iter().filter(|t| t.kind == TargetKind::File) {
        let removed = if directories {
            std::fs::remove_dir(&*target.path)
        } else {
            std::fs::remove_file(&*target.path)
        };
        match removed {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(step(format!("unlink {}", target.path.display()), &e));
            }
            _ => {}
        }
    }
    Ok(())
}
