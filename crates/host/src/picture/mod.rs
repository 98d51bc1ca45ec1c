//! The picture of the host: facts as a document that every run keeps.
//!
//! What cannot be read (no such file, no right to read it) is absent; nothing here fails and
//! nothing guesses.

mod device;
mod geometry;
mod machine;
mod nvme;

#[cfg(test)]
mod tests;

use crate::{BlockDevice, Facts, Mount, block, mount};
use geometry::content_path;
use result::host::{Device, DeviceKind, FileSystem, Host, Target};
use rustix::fs::SeekFrom;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// How much of the host the picture shows.
#[derive(Clone, Copy, Debug)]
pub enum Scope<'a> {
    /// All disks and what is on them.
    Everything,
    /// These paths and what lies below them; of devices also what is stacked on them.
    Paths(&'a [PathBuf]),
}

/// How deep it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// What the kernel lists.
    Listed,
    /// The content of devices too: signatures and superblocks.
    Content,
}

/// Takes the picture.
pub fn take(facts: &Facts, scope: Scope<'_>, depth: Depth) -> Host {
    let mut host = machine::host(facts);
    let mut found = Found {
        facts,
        devices: Vec::new(),
    };
    match scope {
        Scope::Everything => found.everything(),
        Scope::Paths(paths) => {
            for path in paths {
                let (target, devices) = target(facts, path);
                for device in &devices {
                    found.with_stack(device, target.kind == BLOCK);
                }
                host.targets.push(target);
            }
        }
    }
    let elsewhere = mount::elsewhere(&facts.root, &facts.mounts);
    let mounts = mounts_with_devices(facts, &host.targets);
    for block in &found.devices {
        let mut device = device::describe(&facts.root, block);
        for (mount, devices) in &mounts {
            if devices.iter().any(|below| below.dev == block.dev) {
                device.mounts.push(mount.mount_point.display().to_string());
            }
        }
        for other in elsewhere
            .iter()
            .filter(|other| other.mount.dev == block.dev)
        {
            device.mounts.push(format!(
                "{} (seen by {}, process {})",
                other.mount.mount_point.display(),
                other.command,
                other.pid
            ));
        }
        device.mounts.dedup();
        device.swap = facts.swaps.iter().any(|swap| {
            let name = swap
                .path
                .canonicalize()
                .unwrap_or_else(|_| swap.path.clone());
            !swap.is_file && name == Path::new("/dev").join(&block.name)
        });
        look_closer(facts, block, &mut device, depth);
        host.devices.push(device);
    }
    host.file_systems = file_systems(facts, &mounts, &host, depth);
    host
}

/// One device as the kernel lists it: who it is and what it is made of.
pub fn device(facts: &Facts, block: &BlockDevice) -> Device {
    device::describe(&facts.root, block)
}

/// Reads again what changes during a run: the logs of the drives.
pub fn finish(host: &mut Host) {
    for device in &mut host.devices {
        if device.smart.is_some() || device.ebs.is_some() {
            nvme::ask_again(&Path::new("/dev").join(&device.name), device);
        }
    }
}

const BLOCK: &str = "block device";

/// The target and the devices directly below it.
fn target(facts: &Facts, path: &Path) -> (Target, Vec<BlockDevice>) {
    let root = &facts.root;
    let mut target = Target {
        path: path.display().to_string(),
        ..Target::default()
    };
    if !root.is_live()
        && let Some(device) = path
            .strip_prefix("/dev")
            .ok()
            .and_then(|name| BlockDevice::by_name(root, name.to_str()?))
    {
        target.kind = BLOCK.to_owned();
        target.devices = vec![device.name.clone()];
        return (target, vec![device]);
    }
    if let Some(device) = BlockDevice::by_path(root, path).filter(|_| root.is_live()) {
        target.kind = BLOCK.to_owned();
        target.devices = vec![device.name.clone()];
        target.direct = device::direct(path);
        return (target, vec![device]);
    }
    let meta = std::fs::metadata(path).ok().filter(|_| root.is_live());
    let kind = meta.map(|meta| meta.file_type());
    target.kind = match kind {
        Some(kind) if kind.is_file() => "file",
        Some(kind) if kind.is_dir() => "directory",
        Some(kind) if kind.is_char_device() => "character device",
        Some(_) => "other",
        None => "missing",
    }
    .to_owned();
    if target.kind == "file" {
        target.direct = device::direct(path);
        (target.size_bytes, target.data_bytes) = content_of(path).unzip();
    }
    if kind.is_some_and(|kind| !kind.is_file() && !kind.is_dir()) {
        return (target, Vec::new());
    }
    // A file that the run will create lies where its nearest directory does.
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let above = absolute
        .ancestors()
        .find(|at| !root.is_live() || at.exists());
    let above = above.unwrap_or(Path::new("/"));
    let real = above.canonicalize().ok().filter(|_| root.is_live());
    let Some(mount) = facts.mounts.of_path(real.as_deref().unwrap_or(above)) else {
        return (target, Vec::new());
    };
    let place = real.as_deref().unwrap_or(above);
    target.not_mounted =
        mount::not_mounted(root, &facts.mounts, place).map(|meant| meant.display().to_string());
    target.mount_point = Some(mount.mount_point.display().to_string());
    target.fs_type = Some(mount.fs_type.clone());
    let devices = devices_of(facts, mount);
    target.devices = devices.iter().map(|device| device.name.clone()).collect();
    (target, devices)
}

/// Size of a file and how much of it has been written. `None` where the file system does not
/// tell, or where the file is in more pieces than are worth counting before every run.
fn content_of(path: &Path) -> Option<(u64, u64)> {
    const MOST_PIECES: usize = 4096;
    let file = std::fs::File::open(path).ok()?;
    let size = file.metadata().ok()?.len();
    let (mut at, mut data) = (0, 0);
    for _ in 0..MOST_PIECES {
        if at >= size {
            return Some((size, data));
        }
        match rustix::fs::seek(&file, SeekFrom::Data(at)) {
            Ok(start) => {
                let end = rustix::fs::seek(&file, SeekFrom::Hole(start)).ok()?;
                data += end.min(size).saturating_sub(start);
                at = end.max(start + 1);
            }
            // Nothing but a hole up to the end.
            Err(rustix::io::Errno::NXIO) => return Some((size, data)),
            Err(_) => return None,
        }
    }
    None
}

/// File systems of memory and of the network have no device, and looking for one is slow.
fn devices_of(facts: &Facts, mount: &Mount) -> Vec<BlockDevice> {
    if mount.dev.major == 0 && !mount.source.starts_with("/dev/") {
        return Vec::new();
    }
    if mount.fs_type == "btrfs" {
        return block::below_source(&facts.root, mount);
    }
    block::of_mount(&facts.root, mount)
}

/// The mounts that matter: with devices, or with a target on them.
fn mounts_with_devices<'a>(
    facts: &'a Facts,
    targets: &[Target],
) -> Vec<(&'a Mount, Vec<BlockDevice>)> {
    let wanted = |mount: &Mount| {
        let place = mount.mount_point.display().to_string();
        targets
            .iter()
            .any(|target| target.mount_point.as_ref() == Some(&place))
    };
    let with_devices = facts
        .mounts
        .iter()
        .map(|mount| (mount, devices_of(facts, mount)));
    with_devices
        .filter(|(mount, devices)| !devices.is_empty() || wanted(mount))
        .collect()
}

fn file_systems(
    facts: &Facts,
    mounts: &[(&Mount, Vec<BlockDevice>)],
    host: &Host,
    depth: Depth,
) -> Vec<FileSystem> {
    let mut list: Vec<(crate::DevId, FileSystem)> = Vec::new();
    for (mount, devices) in mounts {
        let shown = |device: &BlockDevice| host.device(&device.name).is_some();
        if !devices.is_empty() && !devices.iter().any(shown) {
            continue;
        }
        let place = mount.mount_point.display().to_string();
        if let Some((_, known)) = list.iter_mut().find(|(dev, _)| *dev == mount.dev) {
            known.mount_points.push(place);
            continue;
        }
        let space = crate::space::of(&mount.mount_point)
            .ok()
            .filter(|_| facts.root.is_live());
        let below = devices.first().and_then(|device| host.device(&device.name));
        let content = depth == Depth::Content;
        let block_bytes = space.map(|space| space.block_bytes);
        list.push((
            mount.dev,
            FileSystem {
                fs_type: mount.fs_type.clone(),
                source: mount.source.clone(),
                mount_points: vec![place],
                options: mount.options.clone(),
                devices: devices.iter().map(|device| device.name.clone()).collect(),
                read_only: mount.read_only,
                total_bytes: space.map(|space| space.total_bytes),
                available_bytes: space.map(|space| space.available_bytes),
                geometry: geometry::of(&facts.root, mount, block_bytes, below, content),
            },
        ));
    }
    list.into_iter().map(|(_, system)| system).collect()
}

/// What only the device itself can tell.
fn look_closer(facts: &Facts, block: &BlockDevice, device: &mut Device, depth: Depth) {
    let root = &facts.root;
    let path = content_path(root, &block.name);
    if let Some(backing) = &mut device.backing {
        let file = Path::new(&backing.path);
        let below = target(facts, file).0;
        backing.mount_point = below.mount_point;
        backing.devices = below.devices;
    }
    if root.is_live() {
        device.direct = device::direct(&path);
        let is_disk = device.kind == DeviceKind::Disk;
        if is_disk && block.name.starts_with("nvme") {
            nvme::ask(&path, device);
        }
    }
    if depth == Depth::Content
        && let Some(signatures) = crate::signature::probe_path(&path, block.size_bytes)
    {
        device.signatures = signatures;
        device.probed = true;
    }
}

/// Devices in the order of the picture.
struct Found<'a> {
    facts: &'a Facts,
    devices: Vec<BlockDevice>,
}

impl Found<'_> {
    fn everything(&mut self) {
        let all: Vec<BlockDevice> = block::all(&self.facts.root).collect();
        for device in all {
            // Loop devices without a file and RAM disks that nobody uses are only noise.
            let unused_ram = device.name.starts_with("ram")
                && !self
                    .facts
                    .mounts
                    .iter()
                    .any(|mount| mount.dev == device.dev);
            if device.size_bytes > 0 && !unused_ram {
                self.add(&device);
            }
        }
    }

    /// A device, what lies below it, and for a device that was named itself what is stacked on
    /// it and its partitions.
    fn with_stack(&mut self, device: &BlockDevice, upwards: bool) {
        self.add(device);
        if !upwards {
            return;
        }
        let mut above = device.partitions();
        for holder in &device.holders {
            above.extend(BlockDevice::by_name(&self.facts.root, holder));
        }
        for next in above {
            self.with_stack(&next, true);
        }
    }

    /// Adds a device after what lies below it. Stacks are finite; a device met twice is added
    /// once.
    fn add(&mut self, device: &BlockDevice) {
        if self.devices.iter().any(|known| known.dev == device.dev) {
            return;
        }
        let root = &self.facts.root;
        let mut below: Vec<BlockDevice> = Vec::new();
        if device.disk.is_some() {
            below.push(device.whole_disk());
        }
        below.extend(
            device
                .slaves
                .iter()
                .filter_map(|name| BlockDevice::by_name(root, name)),
        );
        if let Some(file) = &device.backing_file {
            below.extend(target(self.facts, file).1);
        }
        for next in below.iter().filter(|next| next.dev != device.dev) {
            self.add(next);
        }
        if self.devices.iter().all(|known| known.dev != device.dev) {
            self.devices.push(device.clone());
        }
    }
}
