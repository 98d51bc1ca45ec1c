//! One block device of the picture, out of its directory in sysfs.

use crate::root::{attribute, names, word};
use crate::{BlockDevice, Root};
use result::host::{
    Device, DeviceKind, Direct, Discard, Layer, LoopFile, Pci, Queue, Raid, RaidMember, Zones,
};
use std::path::{Path, PathBuf};

/// What sysfs and udev's data base say about `block`.
pub(super) fn describe(root: &Root, block: &BlockDevice) -> Device {
    let sys = block.sys_dir();
    let whole = block.whole_disk();
    let disk = whole.sys_dir();
    let kind = kind_of(block);
    let udev = Udev::read(root, block);
    let pci = pci_dir(disk);
    let zoned = word(disk, "queue/zoned").filter(|model| model != "none");
    Device {
        name: block.name.clone(),
        number: block.dev.to_string(),
        kind,
        size_bytes: block.size_bytes,
        serial: serial(disk).or_else(|| udev.value("ID_SERIAL_SHORT")),
        wwid: wwid(disk).or_else(|| udev.value("ID_WWN")),
        uuid: uuid(sys, &udev),
        by_id: by_id(root, &block.name),
        model: Some(whole.model.clone())
            .filter(|model| !model.is_empty() && kind != DeviceKind::Lvm)
            .filter(|_| !disk.join("dm").is_dir())
            .or_else(|| udev.value("ID_MODEL")),
        firmware: word(disk, "device/firmware_rev").or_else(|| word(disk, "device/rev")),
        transport: transport(disk),
        read_only: block.read_only,
        removable: attribute::<u8>(disk, "removable") == Some(1),
        logical_block_bytes: block.logical_block_bytes,
        physical_block_bytes: block.physical_block_bytes,
        minimum_io_bytes: attribute(disk, "queue/minimum_io_size").filter(|n| *n > 0),
        optimal_io_bytes: attribute(disk, "queue/optimal_io_size").filter(|n| *n > 0),
        queue: Queue {
            discard: discard(disk),
            zones: zoned.map(|model| zones(disk, model)),
            ..queue(disk)
        },
        numa_node: attribute::<i64>(disk, "device/numa_node")
            .or_else(|| attribute(pci.as_deref()?, "numa_node"))
            .and_then(|node| u32::try_from(node).ok()),
        pci: pci.as_deref().map(bus),
        raid: raid(sys),
        layer: layer(sys, kind),
        backing: block.backing_file.as_deref().map(|path| LoopFile {
            path: path.display().to_string(),
            offset_bytes: attribute(sys, "loop/offset").unwrap_or(0),
            direct: attribute::<u8>(sys, "loop/dio") == Some(1),
            ..LoopFile::default()
        }),
        disk: block.disk.clone(),
        members: block.slaves.clone(),
        holders: block.holders.clone(),
        ..Device::default()
    }
}

/// Alignment that direct I/O wants, asked of an existing file or device.
pub(super) fn direct(path: &Path) -> Option<Direct> {
    let how = sys::file::Open {
        read: true,
        ..sys::file::Open::default()
    };
    let limits = sys::file::File::open(path, how).ok()?.direct_limits()?;
    Some(Direct {
        memory_bytes: limits.memory_align,
        offset_bytes: limits.offset_align,
    })
}

fn kind_of(block: &BlockDevice) -> DeviceKind {
    let sys = block.sys_dir();
    if block.disk.is_some() {
        return DeviceKind::Partition;
    }
    if sys.join("md").is_dir() {
        return DeviceKind::Md;
    }
    if sys.join("bcache").is_dir() && block.name.starts_with("bcache") {
        return DeviceKind::Bcache;
    }
    if sys.join("dm").is_dir() {
        let uuid = word(sys, "dm/uuid").unwrap_or_default();
        return match uuid.split('-').next().unwrap_or_default() {
            "LVM" => DeviceKind::Lvm,
            "CRYPT" => DeviceKind::Crypt,
            "mpath" => DeviceKind::Multipath,
            _ => DeviceKind::Mapping,
        };
    }
    let by_name = [
        ("loop", DeviceKind::Loop),
        ("zram", DeviceKind::Zram),
        ("ram", DeviceKind::Ram),
        ("nbd", DeviceKind::Network),
        ("rbd", DeviceKind::Network),
        ("drbd", DeviceKind::Network),
    ];
    by_name
        .into_iter()
        .find(|(start, _)| block.name.starts_with(start))
        .map_or(DeviceKind::Disk, |(_, kind)| kind)
}

/// What udev has noted about a device; readable by everybody.
struct Udev(String);

impl Udev {
    fn read(root: &Root, block: &BlockDevice) -> Udev {
        Udev(
            root.text(format!("run/udev/data/b{}", block.dev))
                .unwrap_or_default(),
        )
    }

    fn value(&self, key: &str) -> Option<String> {
        let line = self.0.lines().find_map(|line| {
            line.strip_prefix("E:")?
                .strip_prefix(key)?
                .strip_prefix('=')
        })?;
        Some(line.trim().to_owned()).filter(|value| !value.is_empty())
    }
}

fn serial(disk: &Path) -> Option<String> {
    word(disk, "serial")
        .or_else(|| word(disk, "device/serial"))
        .or_else(|| page_text(disk, "device/vpd_pg80"))
        .map(|serial| serial.trim_matches('\0').trim().to_owned())
        .filter(|serial| !serial.is_empty())
}

/// The text of a SCSI page of vital product data: four bytes of header, the last one its length.
fn page_text(disk: &Path, name: &str) -> Option<String> {
    let page = std::fs::read(disk.join(name)).ok()?;
    let length = usize::from(*page.get(3)?);
    let text = page.get(4..4 + length)?;
    Some(String::from_utf8_lossy(text).trim().to_owned())
}

fn wwid(disk: &Path) -> Option<String> {
    word(disk, "wwid")
        .or_else(|| word(disk, "device/wwid"))
        .or_else(|| word(disk, "nguid"))
        .filter(|id| !id.trim_matches(['0', '-']).is_empty())
}

fn uuid(sys: &Path, udev: &Udev) -> Option<String> {
    word(sys, "dm/uuid")
        .or_else(|| word(sys, "md/uuid"))
        .or_else(|| udev.value("MD_UUID"))
        .or_else(|| udev.value("ID_PART_ENTRY_UUID"))
        .or_else(|| {
            let event = word(sys, "uevent")?;
            let id = event
                .lines()
                .find_map(|line| line.strip_prefix("PARTUUID="))?;
            Some(id.to_owned())
        })
}

/// Links below `/dev/disk/by-id` that lead to the device.
fn by_id(root: &Root, name: &str) -> Vec<String> {
    let dir = "dev/disk/by-id";
    let leads = |link: &String| {
        let target: Option<PathBuf> = std::fs::read_link(root.path(dir).join(link)).ok();
        target.is_some_and(|target| target.ends_with(name))
    };
    root.names(dir).into_iter().filter(leads).collect()
}

/// The bus, told by the directories that the device lies in.
fn transport(disk: &Path) -> Option<String> {
    let path = disk.to_string_lossy();
    if let Some(controller) = nvme_controller(disk) {
        let bus = word(&controller, "transport");
        return Some(bus.map_or_else(|| "nvme".to_owned(), |bus| format!("nvme/{bus}")));
    }
    let parts = [
        ("/virtio", "virtio"),
        ("/usb", "usb"),
        ("/session", "iscsi"),
        ("/rport-", "fibre channel"),
        ("/end_device-", "sas"),
        ("/ata", "sata"),
        ("/mmc_host", "mmc"),
        ("/vbd-", "xen"),
        ("/vmbus", "hyper-v"),
        ("/VMBUS", "hyper-v"),
    ];
    let found = parts.iter().find(|(part, _)| path.contains(part));
    found.map(|(_, name)| (*name).to_owned())
}

/// The controller of an NVMe namespace: the device above it, or the first of its subsystem.
fn nvme_controller(disk: &Path) -> Option<PathBuf> {
    if !disk.file_name()?.to_str()?.starts_with("nvme") {
        return None;
    }
    let above = disk
        .join("device")
        .canonicalize()
        .ok()
        .or_else(|| Some(disk.parent()?.to_owned()))?;
    if above.join("transport").exists() {
        return Some(above);
    }
    let is_controller = |name: &&String| {
        let number = name.strip_prefix("nvme");
        number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    let list = names(&above);
    let first = list.iter().find(is_controller)?;
    above.join(first).canonicalize().ok()
}

/// The nearest PCI function above a device.
fn pci_dir(disk: &Path) -> Option<PathBuf> {
    let start = nvme_controller(disk)
        .or_else(|| disk.join("device").canonicalize().ok())
        .unwrap_or_else(|| disk.to_owned());
    let is_address = |name: &str| {
        // Domain, bus, device, function: 0000:3b:00.0
        let parts: Vec<&str> = name.split([':', '.']).collect();
        parts.len() == 4
            && name.len() >= 12
            && parts
                .iter()
                .all(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_hexdigit()))
    };
    start
        .ancestors()
        .find(|dir| {
            dir.file_name()
                .and_then(|n| n.to_str())
                .is_some_and(is_address)
        })
        .map(Path::to_owned)
}

fn bus(dir: &Path) -> Pci {
    let name = dir.file_name().unwrap_or_default();
    let known = |text: &String| !text.starts_with("Unknown");
    // Emulated devices tell a width of 0 or 255.
    let lanes = |name: &str| attribute::<u32>(dir, name).filter(|n| (1..=32).contains(n));
    Pci {
        address: name.to_string_lossy().into_owned(),
        link_speed: word(dir, "current_link_speed").filter(known),
        link_width: lanes("current_link_width"),
        max_link_speed: word(dir, "max_link_speed").filter(known),
        max_link_width: lanes("max_link_width"),
    }
}

fn queue(disk: &Path) -> Queue {
    let number = |name: &str| attribute::<u64>(disk, &format!("queue/{name}"));
    let kib = |name: &str| number(name).map(|kib| kib.saturating_mul(1024));
    let flag = |name: &str| number(name).map(|value| value == 1);
    let list = word(disk, "queue/scheduler").unwrap_or_default();
    let chosen = |text: &&str| text.starts_with('[');
    let bare = |text: &str| text.trim_matches(['[', ']']).to_owned();
    let schedulers: Vec<String> = list.split_whitespace().map(bare).collect();
    let scheduler = list.split_whitespace().find(chosen).map(bare);
    Queue {
        scheduler: scheduler.or_else(|| schedulers.first().cloned()),
        schedulers,
        requests: number("nr_requests"),
        hardware_queues: Some(names(&disk.join("mq")).len() as u32).filter(|n| *n > 0),
        max_request_bytes: kib("max_sectors_kb"),
        max_hardware_bytes: kib("max_hw_sectors_kb"),
        max_segments: number("max_segments"),
        nomerges: number("nomerges").map(|n| n as u32),
        rq_affinity: number("rq_affinity").map(|n| n as u32),
        read_ahead_bytes: kib("read_ahead_kb"),
        write_cache: word(disk, "queue/write_cache"),
        fua: flag("fua"),
        rotational: flag("rotational"),
        write_throttle_us: attribute::<i64>(disk, "queue/wbt_lat_usec")
            .and_then(|us| u64::try_from(us).ok()),
        polls: flag("io_poll"),
        atomic_write_bytes: number("atomic_write_unit_max_bytes").filter(|n| *n > 0),
        discard: None,
        zones: None,
    }
}

fn discard(disk: &Path) -> Option<Discard> {
    let max_bytes = attribute(disk, "queue/discard_max_bytes").filter(|n: &u64| *n > 0)?;
    Some(Discard {
        granularity_bytes: attribute(disk, "queue/discard_granularity").unwrap_or(0),
        max_bytes,
    })
}

fn zones(disk: &Path, model: String) -> Zones {
    let number = |name: &str| attribute::<u64>(disk, &format!("queue/{name}"));
    Zones {
        model,
        count: number("nr_zones"),
        bytes: number("chunk_sectors").map(|sectors| sectors.saturating_mul(512)),
        max_open: number("max_open_zones"),
        max_active: number("max_active_zones"),
    }
}

fn raid(sys: &Path) -> Option<Raid> {
    let dir = sys.join("md");
    let level = word(&dir, "level")?;
    let done = word(&dir, "sync_completed").and_then(|text| {
        let (done, all) = text.split_once('/')?;
        let done: f64 = done.trim().parse().ok()?;
        let all: f64 = all.trim().parse().ok()?;
        (all > 0.0).then(|| 100.0 * done / all)
    });
    let mut members: Vec<RaidMember> = names(&dir)
        .iter()
        .filter_map(|name| {
            let at = dir.join(name);
            Some(RaidMember {
                name: name.strip_prefix("dev-")?.replace('!', "/"),
                slot: attribute(&at, "slot"),
                state: word(&at, "state"),
                errors: attribute(&at, "errors"),
            })
        })
        .collect();
    members.sort_by_key(|member| (member.slot.unwrap_or(u32::MAX), member.name.clone()));
    Some(Raid {
        level,
        metadata: word(&dir, "metadata_version"),
        chunk_bytes: attribute(&dir, "chunk_size").filter(|n| *n > 0),
        disks: attribute(&dir, "raid_disks"),
        state: word(&dir, "array_state"),
        degraded: attribute(&dir, "degraded"),
        sync_action: word(&dir, "sync_action"),
        sync_percent: done,
        members,
    })
}

fn layer(sys: &Path, kind: DeviceKind) -> Option<Layer> {
    let chosen = |name: &str| {
        let list = word(sys, name)?;
        let pick = list.split_whitespace().find(|text| text.starts_with('['));
        Some(pick.unwrap_or(&list).trim_matches(['[', ']']).to_owned())
    };
    match kind {
        DeviceKind::Lvm | DeviceKind::Crypt | DeviceKind::Multipath | DeviceKind::Mapping => {
            Some(Layer {
                name: word(sys, "dm/name"),
                mode: None,
                state: (attribute::<u8>(sys, "dm/suspended") == Some(1))
                    .then(|| "suspended".to_owned()),
            })
        }
        DeviceKind::Bcache => Some(Layer {
            name: None,
            mode: chosen("bcache/cache_mode"),
            state: word(sys, "bcache/state"),
        }),
        DeviceKind::Zram => Some(Layer {
            name: None,
            mode: chosen("comp_algorithm"),
            state: None,
        }),
        _ => None,
    }
}
