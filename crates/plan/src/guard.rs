//! The write guard: who may write to (or trim) which target.
//!
//! A block device is refused when it, a partition of it, the disk it is a part of, or anything
//! stacked on one of them is mounted (in any namespace), is swap, or is claimed by another driver.
//! Devices are compared by number, not by name, and at the end the kernel itself is asked for
//! exclusive access. A file behind a loop device in use is refused too. Unlike fio the check
//! covers trims. What a device's content declares itself to be is only remarked on in jobs;
//! Assay's own commands ask for [`consent`] first. Only this module makes a [`WritePermit`], and
//! targets are opened for writing with one only.

use host::mount::Elsewhere;
use host::{BlockDevice, DevId, Facts, picture};
use result::host::{Device, DeviceKind};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use sys::file::{File, Open};

/// Proof that the guard has looked at a target and found nothing against writing to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WritePermit {
    path: PathBuf,
    remark: Option<String>,
}

impl WritePermit {
    /// The target it was given for.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the content of the target declares itself to be, as a remark for people.
    pub fn remark(&self) -> Option<&str> {
        self.remark.as_deref()
    }
}

/// Why a target must not be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GuardError {
    /// A block device in use.
    #[error(
        "refusing to write to {} ({about}): {}{}",
        path.display(),
        found.join(", "),
        if *final_word { "" } else { "; allow_mounted_write=1 overrides" }
    )]
    InUse {
        /// The target.
        path: PathBuf,
        /// Model, serial number and size.
        about: String,
        /// What uses it, each as a clause.
        found: Vec<String>,
        /// Nothing overrides the refusal.
        final_word: bool,
    },
    /// A device whose content one of Assay's own commands would destroy.
    #[error(
        "refusing to overwrite {} ({about}), which holds {holds}: --destroy-data={id} permits it",
        path.display()
    )]
    NoConsent {
        /// The target.
        path: PathBuf,
        /// Model, serial number and size.
        about: String,
        /// What was found on it.
        holds: String,
        /// The name that permits it.
        id: String,
    },
    /// Consent for another device.
    #[error("--destroy-data={given} is not {} ({about}), which is {id}", path.display())]
    OtherDevice {
        /// The target.
        path: PathBuf,
        /// Model, serial number and size.
        about: String,
        /// What was given.
        given: String,
        /// The name that permits it.
        id: String,
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
        remark: None,
    };
    match std::fs::metadata(path) {
        Ok(meta) if meta.file_type().is_char_device() => {
            match behind(facts, DevId::from_raw(meta.rdev())) {
                Some(device) => of_device(facts, permit, &device, allow_mounted_write),
                None => Ok(permit),
            }
        }
        Ok(meta) if meta.file_type().is_block_device() => {
            let dev = DevId::from_raw(meta.rdev());
            let Some(device) = BlockDevice::by_id(&facts.root, dev) else {
                // Without sysfs only the kernel's own answer is left.
                let found = claimed(path).into_iter().collect();
                return refuse_in_use(permit, "unknown device", found, allow_mounted_write);
            };
            if device.read_only {
                return Err(GuardError::ReadOnly {
                    about: about(&picture::device(facts, &device)),
                    path: permit.path,
                });
            }
            of_device(facts, permit, &device, allow_mounted_write)
        }
        Ok(meta) if !meta.is_file() => Ok(permit),
        _ => regular(facts, permit, allow_mounted_write),
    }
}

/// Consent to destroy what is on a block device, asked for by Assay's own commands before they
/// plan anything: `given` must name the device by a name that stays (see [`identity`]). A device
/// in use is refused whatever was given; targets that are no block devices need no consent.
///
/// # Errors
/// [`GuardError`].
pub fn consent(facts: &Facts, path: &Path, given: Option<&str>) -> Result<(), GuardError> {
    let Some(block) = BlockDevice::by_path(&facts.root, path) else {
        return Ok(());
    };
    let device = picture::device(facts, &block);
    let (path, about, id) = (path.to_owned(), about(&device), identity(&device));
    let found = all_uses(facts, &block);
    if !found.is_empty() {
        return Err(GuardError::InUse {
            path,
            about,
            found,
            final_word: true,
        });
    }
    match given {
        None => Err(GuardError::NoConsent {
            holds: holds(&block).unwrap_or_else(|| "no known signature".to_owned()),
            path,
            about,
            id,
        }),
        Some(given) if *given == id || device.identities().any(|known| known == given) => Ok(()),
        Some(given) => Err(GuardError::OtherDevice {
            given: given.to_owned(),
            path,
            about,
            id,
        }),
    }
}

/// The name by which a person consents to the loss of a device's content: its serial number or
/// another name that stays; for a device without one its kernel name and size in bytes.
pub fn identity(device: &Device) -> String {
    device.identity().map_or_else(
        || format!("{}:{}", device.name, device.size_bytes),
        str::to_owned,
    )
}

/// A block device that is not known to be read-only.
fn of_device(
    facts: &Facts,
    mut permit: WritePermit,
    block: &BlockDevice,
    allowed: bool,
) -> Result<WritePermit, GuardError> {
    let about = about(&picture::device(facts, block));
    if let Some(holds) = holds(block) {
        let path = permit.path.display();
        permit.remark = Some(format!(
            "{path} ({about}) holds {holds}; the job writes over it"
        ));
    }
    refuse_in_use(permit, &about, all_uses(facts, block), allowed)
}

/// What uses a device, by all that is listed and else by the kernel's word.
fn all_uses(facts: &Facts, device: &BlockDevice) -> Vec<String> {
    let mut found = uses(facts, device);
    if found.is_empty() {
        found.extend(claimed(&Path::new("/dev").join(&device.name)));
    }
    found
}

/// What the content of a device declares itself to be, in words; `None` for nothing known.
fn holds(device: &BlockDevice) -> Option<String> {
    let path = Path::new("/dev").join(&device.name);
    let found = host::signature::probe_path(&path, device.size_bytes)?;
    let words = found.iter().map(|found| {
        let label = found.label.as_ref().map(|label| format!(" \"{label}\""));
        let kind = found.kind.word();
        format!("{} {kind}{}", found.name, label.unwrap_or_default())
    });
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| words.join(" and "))
}

/// The block device of the NVMe namespace that a character device stands for.
pub(crate) fn behind(facts: &Facts, dev: DevId) -> Option<BlockDevice> {
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
        final_word: false,
    })
}

/// A regular file, existing or to be created.
fn regular(facts: &Facts, permit: WritePermit, allowed: bool) -> Result<WritePermit, GuardError> {
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
    if let Some(id) = identity(&permit.path) {
        let is_behind = |file: &Path| identity(file) == Some(id);
        for device in loops_over(facts, is_behind) {
            // An image that is attached and unused may be written; the device shows the same.
            let found: Vec<String> = uses(facts, &device)
                .into_iter()
                .map(|clause| match clause.strip_prefix("it ") {
                    Some(rest) => format!("{} is its loop device and {rest}", device.name),
                    None => format!("{} is its loop device, and {clause}", device.name),
                })
                .collect();
            if !found.is_empty() {
                let about = about(&picture::device(facts, &device));
                return refuse_in_use(permit, &about, found, allowed);
            }
        }
    }
    Ok(permit)
}

/// Loop devices over a file for which `is_behind` holds.
fn loops_over(facts: &Facts, is_behind: impl Fn(&Path) -> bool) -> Vec<BlockDevice> {
    let names = facts.root.names("sys/block");
    names
        .iter()
        .filter(|name| name.starts_with("loop"))
        .filter_map(|name| BlockDevice::by_name(&facts.root, name))
        .filter(|device| device.backing_file.as_deref().is_some_and(&is_behind))
        .collect()
}

/// Model, identity and size.
fn about(device: &Device) -> String {
    let size = units::Human::bytes(4, 1000).show(device.size_bytes);
    let identity = match (&device.serial, &device.backing, device.identity()) {
        (Some(serial), _, _) => Some(format!("serial {serial}")),
        (None, Some(file), _) => Some(format!("file {}", file.path)),
        (None, None, Some(id)) => Some(format!("id {id}")),
        (None, None, None) => None,
    };
    let kind = (device.kind != DeviceKind::Disk).then(|| device.kind.word().to_owned());
    let what = [device.model.clone().or(kind), identity, Some(size)];
    what.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Everything that uses `device`, a part of it or its disk, as clauses.
fn uses(facts: &Facts, device: &BlockDevice) -> Vec<String> {
    let elsewhere = host::mount::elsewhere(&facts.root, &facts.mounts);
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
        found.extend(direct_uses(facts, &elsewhere, &member, name));
        let is_node = |file: &Path| is_node_of(file, &member);
        let loops = loops_over(facts, is_node)
            .into_iter()
            .map(|device| device.name);
        for holder in member.holders.iter().cloned().chain(loops) {
            found.push(format!("{name} is part of {holder}"));
            if family.iter().all(|known| known.name != holder) {
                family.extend(BlockDevice::by_name(&facts.root, &holder));
            }
        }
        at += 1;
    }
    if device.disk.is_some() {
        let disk = device.whole_disk();
        let name = format!("its disk {}", disk.name);
        found.extend(direct_uses(facts, &elsewhere, &disk, &name));
        let claims = disk
            .holders
            .iter()
            .map(|holder| format!("{name} is part of {holder}"));
        found.extend(claims);
    }
    found.sort();
    found.dedup();
    found
}

/// Mounts and swap of exactly this device, which the clauses call `name`.
fn direct_uses(
    facts: &Facts,
    elsewhere: &[Elsewhere],
    device: &BlockDevice,
    name: &str,
) -> Vec<String> {
    let mut found = Vec::new();
    for mount in facts
        .mounts
        .iter()
        .filter(|mount| is_mount_of(facts, mount, device))
    {
        let place = mount.mount_point.display();
        found.push(format!("{name} is mounted at {place}"));
    }
    for other in elsewhere
        .iter()
        .filter(|other| other.mount.dev == device.dev)
    {
        let place = other.mount.mount_point.display();
        let (command, pid) = (&other.command, other.pid);
        found.push(format!(
            "{name} is mounted at {place} in the namespace of {command} (process {pid})"
        ));
    }
    let mut areas = facts.swaps.iter().filter(|swap| !swap.is_file);
    if areas.any(|swap| is_node_of(&swap.path, device)) {
        found.push(format!("{name} is in use as swap"));
    }
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
            remark: None,
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
        let device = Device {
            model: Some("Model".into()),
            serial: Some("S1".into()),
            size_bytes: 1_024_000_000_000,
            ..Device::default()
        };
        assert_eq!(about(&device), "Model, serial S1, 1024GB");
        let bare = Device {
            name: "zram0".into(),
            kind: DeviceKind::Zram,
            size_bytes: 4096,
            ..Device::default()
        };
        assert_eq!(about(&bare), "zram, 4096B");
        assert_eq!(
            (identity(&device).as_str(), identity(&bare).as_str()),
            ("S1", "zram0:4096")
        );
    }

    #[test]
    fn a_disk_in_use_protects_its_partitions() {
        let (_dir, facts) = facts("27 1 8:0 / /whole rw - ext4 x rw\n", vec![]);
        assert_eq!(found(&facts, "sda1"), ["its disk sda is mounted at /whole"]);
    }

    #[test]
    fn mounts_of_other_namespaces_count() {
        let (_dir, facts) = facts("", vec![]);
        for (pid, namespace, table) in [
            ("self", "mnt:[1]", ""),
            ("7", "mnt:[2]", "40 1 8:1 / /data rw - xfs /dev/sda1 rw\n"),
        ] {
            let process = facts.root.path(format!("proc/{pid}"));
            fs::create_dir_all(process.join("ns")).unwrap();
            symlink(namespace, process.join("ns/mnt")).unwrap();
            fs::write(process.join("mountinfo"), table).unwrap();
            fs::write(process.join("comm"), "postgres\n").unwrap();
        }
        let clause = "is mounted at /data in the namespace of postgres (process 7)";
        assert_eq!(found(&facts, "sda1"), [format!("it {clause}")]);
        assert_eq!(found(&facts, "sda")[0], format!("sda1 {clause}"));
    }

    #[test]
    fn a_loop_device_over_a_disk_or_a_file_protects_it() {
        let (dir, facts) = facts("27 1 7:0 / /image rw - ext4 /dev/loop0 rw\n", vec![]);
        let file = dir.path().join("image");
        fs::write(&file, "x").unwrap();
        let add = |name: &str, dev: &str, backing: &Path| {
            let at = facts.root.path("sys/devices").join(name);
            fs::create_dir_all(at.join("loop")).unwrap();
            fs::write(at.join("dev"), dev).unwrap();
            fs::write(at.join("size"), "2000").unwrap();
            fs::write(at.join("loop/backing_file"), backing.to_str().unwrap()).unwrap();
            symlink(&at, facts.root.path("sys/block").join(name)).unwrap();
        };
        add("loop0", "7:0", &file);
        add("loop1", "7:1", Path::new("/dev/sdb"));
        assert_eq!(found(&facts, "sdb"), ["it is part of loop1"]);
        let error = permit(&facts, &file, false).unwrap_err().to_string();
        let clause = "loop0 is its loop device and is mounted at /image";
        assert!(error.contains(clause), "{error}");
        assert!(permit(&facts, &file, true).is_ok());
        fs::write(facts.root.path("sys/devices/loop0/dev"), "7:9").unwrap();
        fs::remove_file(facts.root.path("sys/devices/loop0/loop/backing_file")).unwrap();
        assert!(permit(&facts, &file, false).is_ok());
    }
}
