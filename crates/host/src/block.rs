//! Block devices: identity, size, and how they are stacked on each other.

use crate::root::{attribute, names};
use crate::{Mount, Mounts, Root};
use std::fmt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The number of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DevId {
    /// Which driver.
    pub major: u32,
    /// Which device of the driver.
    pub minor: u32,
}

impl DevId {
    /// Splits the `st_dev` or `st_rdev` of a `stat`.
    pub fn from_raw(raw: u64) -> Self {
        DevId {
            major: rustix::fs::major(raw),
            minor: rustix::fs::minor(raw),
        }
    }
}

impl fmt::Display for DevId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// Reads the `major:minor` form of sysfs.
impl FromStr for DevId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (major, minor) = text.trim().split_once(':').unwrap_or((text, ""));
        Ok(DevId {
            major: major.parse()?,
            minor: minor.parse()?,
        })
    }
}

/// One disk or partition as sysfs shows it.
#[derive(Clone, Debug)]
pub struct BlockDevice {
    /// Kernel name, such as `vda` or `nvme0n1p2`.
    pub name: String,
    /// Device number.
    pub dev: DevId,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Smallest unit of transfer in bytes.
    pub logical_block_bytes: u64,
    /// Unit the medium writes without reading first, in bytes.
    pub physical_block_bytes: u64,
    /// Spinning medium.
    pub rotational: bool,
    /// Writes are refused by the device.
    pub read_only: bool,
    /// Vendor and model, empty where the device has none.
    pub model: String,
    /// The whole disk's name, when this is a partition.
    pub disk: Option<String>,
    /// Devices this one is made of (md, dm, bcache).
    pub slaves: Vec<String>,
    /// Devices made of this one.
    pub holders: Vec<String>,
    /// The file behind a loop device.
    pub backing_file: Option<PathBuf>,
    sys: PathBuf,
}

/// Limits of a zoned device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZonedFacts {
    /// Most zones that may be open; `None`: any number.
    pub max_open: Option<u32>,
}

impl BlockDevice {
    /// The device with number `dev`; `None` when sysfs knows no such block device.
    pub fn by_id(root: &Root, dev: DevId) -> Option<BlockDevice> {
        let direct = root.path(format!("sys/dev/block/{dev}"));
        if let Some(found) = BlockDevice::at(&direct) {
            return Some(found);
        }
        // Some sandboxed kernels leave sys/dev/block empty.
        all(root).find(|device| device.dev == dev)
    }

    /// The device called `name` (a kernel name, without `/dev/`).
    pub fn by_name(root: &Root, name: &str) -> Option<BlockDevice> {
        let name = sys_name(name);
        BlockDevice::at(&root.path("sys/class/block").join(&name))
            .or_else(|| BlockDevice::at(&root.path("sys/block").join(&name)))
            .or_else(|| all(root).find(|device| sys_name(&device.name) == name))
    }

    /// The block device that the special file `path` stands for; `None` for anything else.
    pub fn by_path(root: &Root, path: &Path) -> Option<BlockDevice> {
        let meta = std::fs::metadata(path).ok()?;
        meta.file_type()
            .is_block_device()
            .then(|| DevId::from_raw(meta.rdev()))
            .and_then(|dev| BlockDevice::by_id(root, dev))
    }

    fn at(dir: &Path) -> Option<BlockDevice> {
        let sys = dir.canonicalize().ok()?;
        let dev = attribute(&sys, "dev")?;
        let name = dev_name(sys.file_name()?.to_str()?);
        // Attributes of the medium stand with the whole disk.
        let parent = sys.parent().filter(|_| sys.join("partition").exists());
        let disk_dir = parent.unwrap_or(&sys);
        let blocks: u64 = attribute(&sys, "size")?;
        let logical = attribute(disk_dir, "queue/logical_block_size").unwrap_or(512);
        Some(BlockDevice {
            dev,
            size_bytes: blocks.saturating_mul(512),
            logical_block_bytes: logical,
            physical_block_bytes: attribute(disk_dir, "queue/physical_block_size")
                .unwrap_or(logical),
            rotational: attribute::<u8>(disk_dir, "queue/rotational") == Some(1),
            read_only: attribute::<u8>(&sys, "ro") == Some(1),
            model: model(disk_dir),
            disk: parent.and_then(|p| p.file_name()?.to_str()).map(dev_name),
            slaves: names(&sys.join("slaves"))
                .iter()
                .map(|n| dev_name(n))
                .collect(),
            holders: names(&sys.join("holders"))
                .iter()
                .map(|n| dev_name(n))
                .collect(),
            backing_file: attribute::<PathBuf>(&sys, "loop/backing_file"),
            name,
            sys,
        })
    }

    /// Its directory below `/sys`.
    pub fn sys_dir(&self) -> &Path {
        &self.sys
    }

    /// The whole disk: this device unless it is a partition.
    pub fn whole_disk(&self) -> BlockDevice {
        let parent = self
            .disk
            .as_ref()
            .and_then(|_| BlockDevice::at(self.sys.parent()?));
        parent.unwrap_or_else(|| self.clone())
    }

    /// Longest request that the device takes in one piece, in bytes.
    pub fn most_bytes(&self) -> Option<u64> {
        let kib: u64 = attribute(&self.whole_disk().sys, "queue/max_hw_sectors_kb")?;
        Some(kib.saturating_mul(1024))
    }

    /// What sysfs says of zones; `None` for a device without, or for one whose zones need no
    /// order.
    pub fn zoned(&self) -> Option<ZonedFacts> {
        let disk = self.whole_disk();
        let model: String = attribute(&disk.sys, "queue/zoned")?;
        (model == "host-managed").then(|| ZonedFacts {
            max_open: attribute(&disk.sys, "queue/max_open_zones").filter(|most| *most > 0),
        })
    }

    /// Partitions of this disk, by name.
    pub fn partitions(&self) -> Vec<BlockDevice> {
        names(&self.sys)
            .iter()
            .map(|name| self.sys.join(name))
            .filter(|dir| dir.join("partition").exists())
            .filter_map(|dir| BlockDevice::at(&dir))
            .collect()
    }
}

/// Every disk and partition, from `/sys/block`.
pub fn all(root: &Root) -> impl Iterator<Item = BlockDevice> {
    let base = root.path("sys/block");
    names(&base)
        .into_iter()
        .filter_map(move |name| BlockDevice::at(&base.join(name)))
        .flat_map(|disk| {
            let partitions = disk.partitions();
            std::iter::once(disk).chain(partitions)
        })
}

/// sysfs writes `!` where a device name has a slash (`cciss!c0d0`).
fn dev_name(sys: &str) -> String {
    sys.replace('!', "/")
}

fn sys_name(dev: &str) -> String {
    dev.replace('/', "!")
}

fn model(disk_dir: &Path) -> String {
    let word = |name: &str| attribute::<String>(disk_dir, name).unwrap_or_default();
    let vendor = word("device/vendor");
    // virtio and other buses put a number there; only SCSI puts a name.
    let vendor = if vendor.starts_with("0x") {
        String::new()
    } else {
        vendor
    };
    let model = word("device/model");
    let model = if model.is_empty() {
        word("dm/name")
    } else {
        model
    };
    format!("{vendor} {model}").trim().to_owned()
}

/// The block devices below the file system that the existing file or directory `path` lies on.
/// One for most; all members of a btrfs; none for memory and network file systems.
pub fn below_path(root: &Root, mounts: &Mounts, path: &Path) -> Vec<BlockDevice> {
    let Ok(meta) = std::fs::metadata(path) else {
        return Vec::new();
    };
    let dev = DevId::from_raw(meta.dev());
    if let Some(device) = BlockDevice::by_id(root, dev) {
        return vec![device];
    }
    // btrfs gives every subvolume an anonymous number: go through the mount's source.
    let mount = path
        .canonicalize()
        .ok()
        .and_then(|path| mounts.of_path(&path).cloned());
    let Some(mount) = mount.filter(|mount| mount.source.starts_with("/dev/")) else {
        return Vec::new();
    };
    below_source(root, &mount)
}

/// The block devices below a mount: by its number, else by its source.
pub fn of_mount(root: &Root, mount: &Mount) -> Vec<BlockDevice> {
    match BlockDevice::by_id(root, mount.dev) {
        Some(device) => vec![device],
        None => below_source(root, mount),
    }
}

/// The block devices that `mount` was made from: its source, or all members of its btrfs.
pub fn below_source(root: &Root, mount: &Mount) -> Vec<BlockDevice> {
    let source = Path::new(&mount.source);
    let name = source.strip_prefix("/dev").ok().and_then(Path::to_str);
    let Some(device) = BlockDevice::by_path(root, source)
        .filter(|_| root.is_live())
        .or_else(|| BlockDevice::by_name(root, name?))
    else {
        return Vec::new();
    };
    let members = if mount.fs_type == "btrfs" {
        btrfs_members(root, &device.name)
    } else {
        vec![]
    };
    if members.is_empty() {
        vec![device]
    } else {
        members
    }
}

fn btrfs_members(root: &Root, name: &str) -> Vec<BlockDevice> {
    let base = "sys/fs/btrfs";
    root.names(base)
        .iter()
        .map(|uuid| root.names(format!("{base}/{uuid}/devices")))
        .find(|devices| devices.iter().any(|device| dev_name(device) == name))
        .unwrap_or_default()
        .iter()
        .filter_map(|device| BlockDevice::by_name(root, &dev_name(device)))
        .collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// A captured tree: `sda` with partition `sda1`, `sdb`, and `md0` on `sda1` and `sdb`.
    pub(crate) fn tree() -> (tempfile::TempDir, Root) {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::at(dir.path());
        let device = |relative: &str, dev: &str, sectors: u64| {
            let at = root.path("sys/devices").join(relative);
            fs::create_dir_all(at.join("slaves")).unwrap();
            fs::create_dir_all(at.join("holders")).unwrap();
            fs::write(at.join("dev"), format!("{dev}\n")).unwrap();
            fs::write(at.join("size"), format!("{sectors}\n")).unwrap();
            fs::write(at.join("stat"), "1 2 3 4 5 6 7 8 0 10 11\n").unwrap();
            at
        };
        let sda = device("sda", "8:0", 2048);
        fs::create_dir_all(sda.join("queue")).unwrap();
        fs::write(sda.join("queue/logical_block_size"), "4096\n").unwrap();
        fs::write(sda.join("queue/rotational"), "1\n").unwrap();
        fs::create_dir_all(sda.join("device")).unwrap();
        fs::write(sda.join("device/vendor"), "ATA     \n").unwrap();
        fs::write(sda.join("device/model"), "Example Disk\n").unwrap();
        let sda1 = device("sda/sda1", "8:1", 1024);
        fs::write(sda1.join("partition"), "1\n").unwrap();
        let sdb = device("sdb", "8:16", 1024);
        let md0 = device("virtual/md0", "9:0", 2000);
        for (member, name) in [(&sda1, "sda1"), (&sdb, "sdb")] {
            symlink(member, md0.join("slaves").join(name)).unwrap();
            symlink(&md0, member.join("holders").join("md0")).unwrap();
        }
        for relative in ["sys/block", "sys/class/block", "sys/dev/block"] {
            fs::create_dir_all(root.path(relative)).unwrap();
        }
        for at in [&sda, &sdb, &md0] {
            symlink(at, root.path("sys/block").join(at.file_name().unwrap())).unwrap();
        }
        (dir, root)
    }

    fn id(text: &str) -> DevId {
        text.parse().unwrap()
    }

    #[test]
    fn a_partition_knows_its_disk() {
        let (_dir, root) = tree();
        let sda1 = BlockDevice::by_id(&root, id("8:1")).unwrap();
        assert_eq!(
            (sda1.name.as_str(), sda1.disk.as_deref()),
            ("sda1", Some("sda"))
        );
        assert_eq!(
            (sda1.size_bytes, sda1.logical_block_bytes),
            (1024 * 512, 4096)
        );
        assert_eq!(sda1.physical_block_bytes, 4096);
        assert!(sda1.rotational);
        assert_eq!(sda1.model, "ATA Example Disk");
        assert_eq!(sda1.holders, ["md0"]);
        let sda = sda1.whole_disk();
        assert_eq!((sda.name.as_str(), sda.dev), ("sda", id("8:0")));
        assert_eq!(sda.partitions().len(), 1);
        assert_eq!(sda.whole_disk().name, "sda");
    }

    #[test]
    fn stacked_devices_name_their_members() {
        let (_dir, root) = tree();
        let md0 = BlockDevice::by_name(&root, "md0").unwrap();
        assert_eq!(md0.slaves, ["sda1", "sdb"]);
        assert_eq!(BlockDevice::by_name(&root, "sda1").unwrap().dev, id("8:1"));
        assert!(BlockDevice::by_name(&root, "sdz").is_none());
        assert!(BlockDevice::by_id(&root, id("8:99")).is_none());
    }

    #[test]
    fn the_direct_link_is_used_where_it_exists() {
        let (_dir, root) = tree();
        let target = root.path("sys/devices/sdb");
        symlink(target, root.path("sys/dev/block/8:16")).unwrap();
        fs::remove_file(root.path("sys/block/sdb")).unwrap();
        assert_eq!(BlockDevice::by_id(&root, id("8:16")).unwrap().name, "sdb");
    }

    #[test]
    fn btrfs_lists_all_members() {
        let (_dir, root) = tree();
        let devices = root.path("sys/fs/btrfs/0d-1e/devices");
        fs::create_dir_all(&devices).unwrap();
        for name in ["sda", "sdb"] {
            symlink(root.path("sys/devices").join(name), devices.join(name)).unwrap();
        }
        let names: Vec<String> = btrfs_members(&root, "sdb")
            .into_iter()
            .map(|device| device.name)
            .collect();
        assert_eq!(names, ["sda", "sdb"]);
        assert!(btrfs_members(&root, "sdc").is_empty());
    }

    #[test]
    fn device_numbers_read_and_print() {
        assert_eq!(id("259:12\n").to_string(), "259:12");
        assert!("259".parse::<DevId>().is_err());
        assert!("a:b".parse::<DevId>().is_err());
    }

    #[test]
    fn memory_file_systems_have_no_device() {
        let root = Root::default();
        let mounts = Mounts::read(&root).unwrap();
        assert!(below_path(&root, &mounts, Path::new("/proc/self")).is_empty());
    }
}
