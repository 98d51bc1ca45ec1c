//! The write guard: who may write to (or trim) which target.
//!
//! A block device is refused when it, a partition of it, or anything stacked on one of them is
//! mounted, is swap, or is claimed by another driver. Devices are compared by number, not by
//! name, and at the end the kernel itself is asked for exclusive access, which also finds mounts
//! of other namespaces. Unlike fio the check covers trims. Only this module makes a
//! [`WritePermit`], and targets are opened for writing with one only.

use host::{BlockDevice, DevId, Facts};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use sys::file::{File, Open};

/// Proof that the guard has looked at a target and found nothing against writing to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WritePermit {
    path: PathBuf,
}

impl WritePermit {
    /// The target it was given for.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Why a target must not be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GuardError {
    /// A block device in use.
    #[error(
        "refusing to write to {} ({about}): {}; allow_mounted_write=1 overrides",
        path.display(),
        found.join(", ")
    )]
    InUse {
        /// The target.
        path: PathBuf,
        /// Model and size.
        about: String,
        /// What uses it, each as a clause.
        found: Vec<String>,
    },
    /// A device that refuses writes.
    #[error("{} ({about}) is a read-only device", path.display())]
    ReadOnly {
        /// The target.
        path: PathBuf,
        /// Model and size.
        about: String,
    },
    /// A regular file in the directory of device nodes: a mistyped device name.
    #[error(
        "{} is no device, and no ordinary file is created in /dev; check the name",
        path.display()
    )]
    NoDevice {
        /// The target.
        path: PathBuf,
    },
    /// A file where nothing can be written.
    #[error("cannot write {}: its file system is read-only", path.display())]
    ReadOnlyFileSystem {
        /// The target.
        path: PathBuf,
    },
    /// A file that the kernel swaps to.
    #[error("refusing to write to {}: it is an active swap file", path.display())]
    SwapFile {
        /// The target.
        path: PathBuf,
    },
}

/// Looks at `path` and permits writing to it, or says what stands against it.
///
/// # Errors
/// [`GuardError`]; with `allow_mounted_write` a device in use is permitted.
pub fn permit(
    facts: &Facts,
    path: &Path,
    allow_mounted_write: bool,
) -> Result<WritePermit, GuardError> {
    let permit = WritePermit {
        path: path.to_owned(),
    };
    match std::fs::metadata(path) {
        Ok(meta) if meta.file_type().is_char_device() => {
            let Some(device) = behind(facts, DevId::from_raw(meta.rdev())) else {
                return Ok(permit);
            };
            let mut found = uses(facts, &device);
            if found.is_empty() {
                found.extend(claimed(&Path::new("/dev").join(&device.name)));
            }
            refuse_in_use(permit, &about(&device), found, allow_mounted_write)
        }
        Ok(meta) if meta.file_type().is_block_device() => {
            let dev = DevId::from_raw(meta.rdev());
            let Some(device) = BlockDevice::by_id(&facts.root, dev) else {
                // Without sysfs only the kernel's own answer is left.
                let found = claimed(path).into_iter().collect();
                return refuse_in_use(permit, "unknown device", found, allow_mounted_write);
            };
            if device.read_only {
                let about = about(&device);
                return Err(GuardError::ReadOnly {
                    path: permit.path,
                    about,
                });
            }
            let mut found = uses(facts, &device);
            if found.is_empty() {
                found.extend(claimed(path));
            }
            refuse_in_use(permit, &about(&device), found, allow_mounted_write)
        }
        Ok(meta) if !meta.is_file() => Ok(permit),
        _ => regular(facts, permit),
    }
}

/// The block device of the NVMe namespace that a character device stands for.
fn behind(facts: &Facts, dev: DevId) -> Option<BlockDevice> {
    let link = facts.root.path(format!("sys/dev/char/{dev}"));
    let target = std::fs::read_link(link).ok()?;
    let name = target.file_name()?.to_str()?;
    // A path of a namespace with several is `ngXcYnZ`; all of them lead to one disk.
    let (controller, rest) = name.strip_prefix("ng")?.split_once(['c', 'n'])?;
    let number = rest.rsplit('n').next()?;
    BlockDevice::by_name(&facts.root, &format!("nvme{controller}n{number}"))
}

fn refuse_in_use(
    permit: WritePermit,
    about: &str,
    found: Vec<String>,
    allowed: bool,
) -> Result<WritePermit, GuardError> {
    if allowed || found.is_empty() {
        return Ok(permit);
    }
    Err(GuardError::InUse {
        path: permit.path,
        about: about.to_owned(),
        found,
    })
}

/// A regular file, existing or to be created.
fn regular(facts: &Facts, permit: WritePermit) -> Result<WritePermit, GuardError> {
    let parent = match permit.path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let above = permit.path.ancestors().find_map(|at| {
        let at = if at.as_os_str().is_empty() {
            Path::new(".")
        } else {
            at
        };
        host::space::of(at).ok()
    });
    if above.is_some_and(|space| space.read_only) {
        return Err(GuardError::ReadOnlyFileSystem { path: permit.path });
    }
    let Ok(parent) = parent.canonicalize() else {
        return Ok(permit);
    };
    let on_dev = facts
        .mounts
        .of_path(&parent)
        .is_some_and(|m| m.fs_type == "devtmpfs" || m.mount_point == Path::new("/dev"));
    if on_dev || parent == Path::new("/dev") {
        return Err(GuardError::NoDevice { path: permit.path });
    }
    let identity = |path: &Path| std::fs::metadata(path).map(|m| (m.dev(), m.ino())).ok();
    if let Some(id) = identity(&permit.path)
        && facts
            .swaps
            .iter()
            .any(|swap| swap.is_file && identity(&swap.path) == Some(id))
    {
        return Err(GuardError::SwapFile { path: permit.path });
    }
    Ok(permit)
}

fn about(device: &BlockDevice) -> String {
    let size = units::Human::bytes(4, 1000).show(device.size_bytes);
    if device.model.is_empty() {
        size
    } else {
        format!("{}, {size}", device.model)
    }
}

/// Everything that uses `device` or a part of it, as clauses.
fn uses(facts: &Facts, device: &BlockDevice) -> Vec<String> {
    let mut found = Vec::new();
    let mut family = vec![device.clone()];
    family.extend(device.partitions());
    let mut at = 0;
    // Holders are appended while the list is walked; stacks are finite and have no cycles, and
    // a device met twice is not appended again.
    while let Some(member) = family.get(at).cloned() {
        let name = if member.dev == device.dev {
            "it"
        } else {
            member.name.as_str()
        };
        for mount in facts
            .mounts
            .iter()
            .filter(|mount| is_mount_of(facts, mount, &member))
        {
            found.push(format!(
                "{name} is mounted at {}",
                mount.mount_point.display()
            ));
        }
        let areas = facts.swaps.iter().filter(|swap| !swap.is_file);
        if areas
            .into_iter()
            .any(|swap| is_node_of(&swap.path, &member))
        {
            found.push(format!("{name} is in use as swap"));
        }
        for holder in &member.holders {
            found.push(format!("{name} is part of {holder}"));
            if family.iter().all(|known| known.name != *holder) {
                family.extend(BlockDevice::by_name(&facts.root, holder));
            }
        }
        at += 1;
    }
    found.sort();
    found.dedup();
    found
}

fn is_mount_of(facts: &Facts, mount: &host::Mount, device: &BlockDevice) -> bool {
    mount.dev == device.dev
        || (mount.source.starts_with("/dev/") && is_node_of(Path::new(&mount.source), device))
        || (mount.fs_type == "btrfs" && {
            let members = host::block::below_source(&facts.root, mount);
            members.iter().any(|member| member.dev == device.dev)
        })
}

/// True when the device node `path` stands for `device`.
fn is_node_of(path: &Path, device: &BlockDevice) -> bool {
    match std::fs::metadata(path) {
        Ok(meta) => {
            meta.file_type().is_block_device() && DevId::from_raw(meta.rdev()) == device.dev
        }
        Err(_) => path
            .strip_prefix("/dev")
            .is_ok_and(|name| name == Path::new(&device.name)),
    }
}

/// Asks the kernel: an exclusive open of a block device fails while anything else claims it or
/// one of its partitions.
fn claimed(path: &Path) -> Option<String> {
    let how = Open {
        read: true,
        exclusive: true,
        ..Open::default()
    };
    let error = File::open(path, how).err()?;
    (error.raw_os_error() == Some(EBUSY))
        .then(|| "the kernel says it is in use (perhaps mounted in another namespace)".to_owned())
}

const EBUSY: i32 = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use host::{Mounts, Root, Swap, System, cpu::Node};
    use std::fs;
    use std::os::unix::fs::symlink;

    /// `sda` with `sda1` and `sda2`, `md0` on `sda2`, an idle `sdb`; `/` on `sda1` or `md0`.
    fn facts(mounts: &str, swaps: Vec<Swap>) -> (tempfile::TempDir, Facts) {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::at(dir.path());
        fs::create_dir_all(root.path("sys/block")).unwrap();
        let device = |relative: &str, dev: &str| {
            let at = root.path("sys/devices").join(relative);
            fs::create_dir_all(at.join("holders")).unwrap();
            fs::write(at.join("dev"), dev).unwrap();
            fs::write(at.join("size"), "2000000").unwrap();
            if relative.contains('/') {
                fs::write(at.join("partition"), "1").unwrap();
            } else {
                symlink(&at, root.path("sys/block").join(relative)).unwrap();
            }
            at
        };
        device("sda", "8:0");
        device("sda/sda1", "8:1");
        let sda2 = device("sda/sda2", "8:2");
        device("sdb", "8:16");
        let md0 = device("md0", "9:0");
        symlink(md0, sda2.join("holders/md0")).unwrap();
        let facts = Facts {
            mounts: Mounts::parse(mounts).unwrap(),
            swaps,
            cpus: vec![0],
            nodes: vec![Node {
                id: 0,
                cpus: vec![0],
                memory_bytes: 1 << 30,
            }],
            system: System {
                hostname: "h".into(),
                kernel: "6".into(),
                memory_bytes: 1 << 30,
                page_bytes: 4096,
                huge_page_bytes: 0,
            },
            root,
        };
        (dir, facts)
    }

    fn found(facts: &Facts, name: &str) -> Vec<String> {
        uses(facts, &BlockDevice::by_name(&facts.root, name).unwrap())
    }

    #[test]
    fn commands_to_a_namespace_are_guarded_by_its_disk() {
        let (_dir, facts) = facts("", vec![]);
        let disk = facts.root.path("sys/devices/nvme0n1");
        fs::create_dir_all(disk.join("holders")).unwrap();
        fs::write(disk.join("dev"), "259:0").unwrap();
        fs::write(disk.join("size"), "2000000").unwrap();
        symlink(&disk, facts.root.path("sys/block/nvme0n1")).unwrap();
        let chars = facts.root.path("sys/dev/char");
        fs::create_dir_all(&chars).unwrap();
        for (dev, name) in [("240:0", "ng0n1"), ("240:1", "ng0c3n1"), ("1:3", "null")] {
            symlink(format!("../../devices/{name}"), chars.join(dev)).unwrap();
        }
        let name = |major: u32, minor: u32| {
            let dev = format!("{major}:{minor}").parse().unwrap();
            behind(&facts, dev).map(|device| device.name)
        };
        assert_eq!(name(240, 0).as_deref(), Some("nvme0n1"));
        assert_eq!(name(240, 1).as_deref(), Some("nvme0n1"));
        assert_eq!(name(1, 3), None);
        assert_eq!(name(1, 9), None);
    }

    #[test]
    fn mounts_of_the_device_its_partitions_and_what_is_stacked_on_it() {
        let (_dir, facts) = facts("27 1 8:1 / /boot rw - ext4 x rw\n", vec![]);
        assert_eq!(found(&facts, "sda1"), ["it is mounted at /boot"]);
        assert_eq!(
            found(&facts, "sda"),
            ["sda1 is mounted at /boot", "sda2 is part of md0"]
        );
        assert_eq!(found(&facts, "sdb"), [""; 0]);
        assert_eq!(found(&facts, "md0"), [""; 0]);
        assert_eq!(found(&facts, "sda2"), ["it is part of md0"]);
    }

    #[test]
    fn a_mounted_array_protects_its_members() {
        let (_dir, facts) = facts("27 1 9:0 / / rw - xfs /dev/root rw\n", vec![]);
        assert_eq!(found(&facts, "md0"), ["it is mounted at /"]);
        assert_eq!(
            found(&facts, "sda2"),
            ["it is part of md0", "md0 is mounted at /"]
        );
    }

    #[test]
    fn swap_is_found_by_name() {
        let area = Swap {
            path: "/dev/sdb".into(),
            is_file: false,
        };
        let (_dir, facts) = facts("", vec![area]);
        assert_eq!(found(&facts, "sdb"), ["it is in use as swap"]);
    }

    #[test]
    fn a_mistyped_device_is_not_created() {
        let facts = Facts::read(&Root::default()).unwrap();
        let error = permit(&facts, Path::new("/dev/no_such_disk"), true).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("/dev/no_such_disk is no device"),
            "{error}"
        );
        assert!(permit(&facts, Path::new("/dev/null"), false).is_ok());
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sub/new");
        assert_eq!(permit(&facts, &path, false).unwrap().path(), path);
    }

    #[test]
    fn swap_files_are_recognised_through_links() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("swap"), dir.path().join("link"));
        fs::write(&file, "x").unwrap();
        symlink(&file, &link).unwrap();
        let (_tree, facts) = facts(
            "",
            vec![Swap {
                path: file,
                is_file: true,
            }],
        );
        let error = permit(&facts, &link, true).unwrap_err();
        assert_eq!(error, GuardError::SwapFile { path: link });
    }

    #[test]
    fn the_line_names_device_model_size_and_finding() {
        let permit = WritePermit {
            path: "/dev/sda".into(),
        };
        let found = vec![
            "sda1 is mounted at /".to_owned(),
            "sda2 is part of md0".to_owned(),
        ];
        let error = refuse_in_use(permit.clone(), "Model, 1024GB", found.clone(), false);
        assert_eq!(
            error.unwrap_err().to_string(),
            "refusing to write to /dev/sda (Model, 1024GB): sda1 is mounted at /, \
             sda2 is part of md0; allow_mounted_write=1 overrides"
        );
        assert!(refuse_in_use(permit, "", found, true).is_ok());
    }
}
