//! Which loop devices stand over which bytes: two over one file hold the same data under two
//! numbers, and one over a disk writes to it while the disk is mounted.

use host::{BlockDevice, DevId, Facts};
use std::ops::Range;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use sys::file::{File, Open};

/// A loop device with something behind it.
pub(super) struct Loop {
    pub device: BlockDevice,
    behind: Behind,
    /// Its bytes in what is behind it.
    bytes: Range<u64>,
}

/// What is behind a loop device. Numbers, since a file has many names and may have lost the one
/// it was attached by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behind {
    /// A file: device number of its file system, and inode.
    File(u64, u64),
    /// A block device.
    Device(DevId),
}

impl Behind {
    /// What a path leads to.
    pub fn of(path: &Path) -> Option<Behind> {
        let meta = std::fs::metadata(path).ok()?;
        Some(match meta.file_type().is_block_device() {
            true => Behind::Device(DevId::from_raw(meta.rdev())),
            false => Behind::File(meta.dev(), meta.ino()),
        })
    }
}

impl Loop {
    /// `None` for other devices, and for loop devices with nothing behind them.
    fn of(facts: &Facts, device: BlockDevice) -> Option<Loop> {
        let named = device.backing_file.as_deref()?;
        let node = Path::new("/dev").join(&device.name);
        let asked = facts.root.is_live().then(|| ask(&node)).flatten();
        let (behind, offset) = asked.or_else(|| {
            let offset = std::fs::read_to_string(device.sys_dir().join("loop/offset"));
            let offset = offset.ok().and_then(|text| text.trim().parse().ok());
            // A captured tree has names of devices without the devices.
            let device = || {
                let name = named.strip_prefix("/dev").ok()?.to_str()?;
                BlockDevice::by_name(&facts.root, name).map(|device| Behind::Device(device.dev))
            };
            Some((Behind::of(named).or_else(device)?, offset.unwrap_or(0)))
        })?;
        Some(Loop {
            bytes: offset..offset.saturating_add(device.size_bytes),
            behind,
            device,
        })
    }

    /// Holds bytes of the other one.
    fn shares(&self, other: &Loop) -> bool {
        let (a, b) = (&self.bytes, &other.bytes);
        self.behind == other.behind && a.start < b.end && b.start < a.end
    }
}

fn ask(node: &Path) -> Option<(Behind, u64)> {
    let how = Open {
        read: true,
        ..Open::default()
    };
    let backing = sys::loops::backing(&File::open(node, how).ok()?).ok()?;
    let behind = match backing.device {
        Some(device) => Behind::Device(DevId::from_raw(device)),
        None => Behind::File(backing.file_system, backing.inode),
    };
    Some((behind, backing.offset_bytes))
}

/// All loop devices that have something behind them.
pub(super) struct Loops(Vec<Loop>);

impl Loops {
    pub fn read(facts: &Facts) -> Loops {
        let names = facts.root.names("sys/block");
        let devices = names
            .iter()
            .filter(|name| name.starts_with("loop"))
            .filter_map(|name| BlockDevice::by_name(&facts.root, name));
        Loops(devices.filter_map(|one| Loop::of(facts, one)).collect())
    }

    /// Those over `behind`.
    pub fn over(&self, behind: Behind) -> impl Iterator<Item = &BlockDevice> {
        let of = move |one: &&Loop| one.behind == behind;
        self.0.iter().filter(of).map(|one| &one.device)
    }

    /// What a loop device's bytes are in, and the other loop devices that hold some of them.
    pub fn beside(&self, disk: &BlockDevice) -> Option<(Behind, Vec<&BlockDevice>)> {
        let own = self.0.iter().find(|one| one.device.dev == disk.dev)?;
        let others = self
            .0
            .iter()
            .filter(|one| one.device.dev != disk.dev && one.shares(own));
        Some((own.behind, others.map(|one| &one.device).collect()))
    }
}
