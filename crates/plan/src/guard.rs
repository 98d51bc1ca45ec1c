//! The write guard: who may write to (or trim) which target.
//!
//! A block device is refused when it, a partition of it, the disk it is a part of, or anything
//! stacked on one of them is mounted (in any namespace), is swap, or is claimed by another driver.
//! Devices are compared by number, not by name, and at the end the kernel itself is asked for
//! exclusive access. A file behind a loop device in use is refused too, and so is a loop device
//! whose bytes another device in use holds as well. Unlike fio the check covers trims. What a
//! device's content declares itself to be is only remarked on in jobs; Assay's own commands ask for
//! [`consent`] first. Only this module makes a [`WritePermit`], and
//! targets are opened for writing with one only.

mod loops;

use host::mount::Elsewhere;
use host::{BlockDevice, DevId, Facts, picture};
use loops::{Behind, Loops};
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
    /// A block device where a report, a log or the like was to go.
    #[error(
        "refusing to write to {} ({about}): reports, logs and recordings go into files, not onto \
         block devices",
        path.display()
    )]
    NoOutput {
        /// The device.
        path: PathBuf,
        /// Model, serial number and size.
        about: String,
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
                Some(device) => {
                    let node = Path::new("/dev").join(&device.name);
                    of_device(facts, permit, (&device, &node), allow_mounted_write)
                }
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
            of_device(facts, permit, (&device, path), allow_mounted_write)
        }
        Ok(meta) if !meta.is_file() => Ok(permit),
        _ => regular(facts, permit, allow_mounted_write),
    }
}

/// Whether two names lead to one ordinary file.
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| {
        let meta = std::fs::metadata(path).ok().filter(|meta| meta.is_file())?;
        Some((meta.dev(), meta.ino()))
    };
    place(a).is_some_and(|at| place(b) == Some(at))
}

/// Looks at a place where a report, a log, a recording or the like is to be written: never a block
/// device, nor a file that stands for one in use.
///
/// # Errors
/// [`GuardError`]; nothing overrides it.
pub fn output(facts: &Facts, path: &Path) -> Result<(), GuardError> {
    // `/dev/stdout` may lead to an ordinary file, even to one without a name.
    let real = path.canonicalize();
    match std::fs::metadata(path) {
        Ok(meta) if meta.file_type().is_block_device() => {
            let device = BlockDevice::by_id(&facts.root, DevId::from_raw(meta.rdev()));
            Err(GuardError::NoOutput {
                path: path.to_owned(),
                about: device.map_or_else(
                    || "unknown device".to_owned(),
                    |device| about(&picture::device(facts, &device)),
                ),
            })
        }
        Ok(meta) if !meta.is_file() || real.is_err() => Ok(()),
        _ => {
            let permit = WritePermit {
                path: real.unwrap_or_else(|_| path.to_owned()),
                remark: None,
            };
            let mut looked = regular(facts, permit, false);
            if let Err(GuardError::InUse { final_word, .. }) = &mut looked {
                *final_word = true;
            }
            looked.map(|_| ())
        }
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
    let mut found = all_uses(facts, &block, path);
    let written = writers(facts, &block);
    found.extend(written.map(|clause| format!("it {clause}")));
    let held = holds(&block, path);
    let (path, about, id) = (path.to_owned(), about(&device), identity(&device));
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
            holds: held.unwrap_or_else(|| "no known signature".to_owned()),
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

/// A block device that is not known to be read-only, and its node.
fn of_device(
    facts: &Facts,
    mut permit: WritePermit,
    (block, node): (&BlockDevice, &Path),
    allowed: bool,
) -> Result<WritePermit, GuardError> {
    let about = about(&picture::device(facts, block));
    let holds = holds(block, node).map(|holds| format!("holds {holds}; the job writes over it"));
    let remarks: Vec<String> = holds.into_iter().chain(writers(facts, block)).collect();
    if !remarks.is_empty() {
        let path = permit.path.display();
        permit.remark = Some(format!("{path} ({about}) {}", remarks.join("; it ")));
    }
    refuse_in_use(permit, &about, all_uses(facts, block, node), allowed)
}

/// What uses a device, by all that is listed and else by the kernel's word. A node may have any
/// name and place.
fn all_uses(facts: &Facts, device: &BlockDevice, node: &Path) -> Vec<String> {
    let mut found = uses(facts, device);
    if found.is_empty() {
        found.extend(claimed(node));
    }
    found
}

/// Other processes that have a device, its disk or a part of it open for writing: two jobs on one
/// device, or a machine whose disk it is.
fn writers(facts: &Facts, device: &BlockDevice) -> Option<String> {
    let mut family = vec![device.dev, device.whole_disk().dev];
    family.extend(device.partitions().iter().map(|part| part.dev));
    let writers = host::opened::writers(&facts.root, &family);
    let words = writers
        .iter()
        .map(|one| format!("{} (process {})", one.command, one.pid));
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| format!("is open for writing in {}", words.join(", ")))
}

/// What the content of a device declares itself to be, in words; `None` for nothing known.
fn holds(device: &BlockDevice, node: &Path) -> Option<String> {
    let found = host::signature::probe_path(node, device.size_bytes)?;
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
    let mut swaps = facts.swaps.iter().filter(|swap| swap.is_file);
    if swaps.any(|swap| is_same_file(&swap.path, &permit.path)) {
        return Err(GuardError::SwapFile { path: permit.path });
    }
    if let Some(behind) = Behind::of(&permit.path) {
        for device in Loops::read(facts).over(behind) {
            // An image that is attached and unused may be written; the device shows the same.
            let found: Vec<String> = uses(facts, device)
                .into_iter()
                .map(|clause| match clause.strip_prefix("it ") {
                    Some(rest) => format!("{} is its loop device and {rest}", device.name),
                    None => format!("{} is its loop device, and {clause}", device.name),
                })
                .collect();
            if !found.is_empty() {
                let about = about(&picture::device(facts, device));
                return refuse_in_use(permit, &about, found, allowed);
            }
        }
    }
    Ok(permit)
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

/// Devices that have bytes in common with the one to be written, each with the words that clauses
/// begin with.
struct Family(Vec<(BlockDevice, String)>);

impl Family {
    /// Adds a device that is not known yet, and its partitions.
    fn add(&mut self, device: BlockDevice, words: &str) {
        if self.0.iter().all(|(known, _)| known.dev != device.dev) {
            let partitions = device.partitions();
            self.0.push((device, words.to_owned()));
            for partition in partitions {
                let name = partition.name.clone();
                self.add(partition, &name);
            }
        }
    }
}

/// Everything that uses `device`, a part of it or its disk, as clauses.
fn uses(facts: &Facts, device: &BlockDevice) -> Vec<String> {
    let elsewhere = host::mount::elsewhere(&facts.root, &facts.mounts);
    let loops = Loops::read(facts);
    let disk = device.whole_disk();
    let mut family = Family(Vec::new());
    family.add(device.clone(), "it");
    for twin in twins(facts, device) {
        let words = format!("{} (the same disk on another path)", twin.name);
        family.add(twin, &words);
    }
    if let Some((behind, others)) = loops.beside(&disk) {
        for other in others {
            let words = format!("{} (over the same file)", other.name);
            family.add(other.clone(), &words);
        }
        if let Behind::Device(dev) = behind
            && let Some(below) = BlockDevice::by_id(&facts.root, dev)
        {
            let words = format!("{} (below it)", below.name);
            family.add(below, &words);
        }
    }
    let mut found = Vec::new();
    let mut at = 0;
    // Holders are appended while the list is walked; stacks are finite and have no cycles, and
    // a device met twice is not appended again.
    while let Some((member, words)) = family.0.get(at).cloned() {
        found.extend(direct_uses(facts, &elsewhere, &member, &words));
        let over = loops.over(Behind::Device(member.dev));
        let over = over.filter(|one| one.dev != disk.dev).map(|one| &one.name);
        for holder in member.holders.iter().chain(over) {
            found.push(format!("{words} is part of {holder}"));
            if let Some(holder) = BlockDevice::by_name(&facts.root, holder) {
                let name = holder.name.clone();
                family.add(holder, &name);
            }
        }
        at += 1;
    }
    if device.disk.is_some() {
        let name = format!("its disk {}", disk.name);
        found.extend(direct_uses(facts, &elsewhere, &disk, &name));
        let over = loops.over(Behind::Device(disk.dev)).map(|one| &one.name);
        let claims = disk.holders.iter().chain(over);
        found.extend(claims.map(|holder| format!("{name} is part of {holder}")));
    }
    found.sort();
    found.dedup();
    found
}

/// The same disk, or the same partition of it, on its other paths where no driver joins these:
/// disks of one world-wide name and one size.
fn twins(facts: &Facts, device: &BlockDevice) -> Vec<BlockDevice> {
    let name = |disk: &BlockDevice| {
        let read = |name: &&str| std::fs::read_to_string(disk.sys_dir().join(name)).ok();
        let text = ["wwid", "device/wwid"].iter().find_map(read)?;
        let text = text.trim().to_owned();
        // Some drives have zeroes for a name.
        let number = text.split_once('.').map_or(text.as_str(), |(_, rest)| rest);
        let names = number.chars().any(|c| c.is_alphanumeric() && c != '0');
        names.then_some(text)
    };
    let start = |part: &BlockDevice| std::fs::read_to_string(part.sys_dir().join("start")).ok();
    let disk = device.whole_disk();
    let Some(own) = name(&disk) else {
        return Vec::new();
    };
    let other = |one: &BlockDevice| {
        one.disk.is_none() && one.dev != disk.dev && one.size_bytes == disk.size_bytes
    };
    host::block::all(&facts.root)
        .filter(|one| other(one) && name(one).as_ref() == Some(&own))
        .filter_map(|twin| match device.disk {
            None => Some(twin),
            Some(_) => {
                let mut parts = twin.partitions().into_iter();
                parts.find(|part| start(part) == start(device))
            }
        })
        .collect()
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
mod tests;
