//! Block devices of the picture.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a block device is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DeviceKind {
    /// A whole disk, real or emulated.
    #[default]
    Disk,
    /// A part of a disk.
    Partition,
    /// A software RAID array.
    Md,
    /// A logical volume.
    Lvm,
    /// An encrypted mapping.
    Crypt,
    /// Several paths to one disk.
    Multipath,
    /// Another mapping of the device mapper.
    Mapping,
    /// A file as a device.
    Loop,
    /// A cache before a disk.
    Bcache,
    /// Compressed memory.
    Zram,
    /// Memory.
    Ram,
    /// A device of another machine (nbd, rbd, drbd).
    Network,
}

impl DeviceKind {
    /// The word for people.
    pub fn word(self) -> &'static str {
        match self {
            DeviceKind::Disk => "disk",
            DeviceKind::Partition => "partition",
            DeviceKind::Md => "md array",
            DeviceKind::Lvm => "logical volume",
            DeviceKind::Crypt => "encrypted mapping",
            DeviceKind::Multipath => "multipath",
            DeviceKind::Mapping => "mapping",
            DeviceKind::Loop => "loop device",
            DeviceKind::Bcache => "bcache",
            DeviceKind::Zram => "zram",
            DeviceKind::Ram => "RAM disk",
            DeviceKind::Network => "network device",
        }
    }
}

/// One block device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Device {
    /// Kernel name, such as `nvme0n1`; may be another one after a restart.
    pub name: String,
    /// Device number, `major:minor`.
    pub number: String,
    /// What it is made of.
    pub kind: DeviceKind,
    /// Bytes.
    pub size_bytes: u64,
    /// Serial number.
    pub serial: Option<String>,
    /// World-wide name.
    pub wwid: Option<String>,
    /// Id of an array, a mapping or a partition.
    pub uuid: Option<String>,
    /// Names below `/dev/disk/by-id`.
    pub by_id: Vec<String>,
    /// Vendor and model.
    pub model: Option<String>,
    /// Firmware revision.
    pub firmware: Option<String>,
    /// How it is attached: `nvme/pcie`, `sata`, `sas`, `usb`, `virtio` ...
    pub transport: Option<String>,
    /// Writes are refused by the device.
    pub read_only: bool,
    /// Can be taken out.
    pub removable: bool,
    /// Smallest unit of transfer.
    pub logical_block_bytes: u64,
    /// Unit that is written without reading first.
    pub physical_block_bytes: u64,
    /// Smallest request without penalty; the chunk of a striped device.
    pub minimum_io_bytes: Option<u64>,
    /// Preferred request; the full stripe of a striped device.
    pub optimal_io_bytes: Option<u64>,
    /// What direct I/O wants.
    pub direct: Option<Direct>,
    /// Limits and settings of its queue.
    pub queue: Queue,
    /// Where it sits on the PCI bus.
    pub pci: Option<Pci>,
    /// NUMA node it is nearest to.
    pub numa_node: Option<u32>,
    /// What an NVMe controller says.
    pub nvme: Option<Nvme>,
    /// Health log of an NVMe controller.
    pub smart: Option<Smart>,
    /// The same at the end of a run.
    pub smart_after: Option<Smart>,
    /// Counters of an EBS volume.
    pub ebs: Option<Ebs>,
    /// The same at the end of a run.
    pub ebs_after: Option<Ebs>,
    /// The array, for md.
    pub raid: Option<Raid>,
    /// The layer that makes it, for the device mapper, bcache and zram.
    pub layer: Option<Layer>,
    /// The file behind it, for a loop device.
    pub backing: Option<LoopFile>,
    /// The whole disk, for a partition.
    pub disk: Option<String>,
    /// Devices it is made of.
    pub members: Vec<String>,
    /// Devices made of it.
    pub holders: Vec<String>,
    /// Where it is mounted; mounts of other namespaces say whose.
    pub mounts: Vec<String>,
    /// Active swap.
    pub swap: bool,
    /// What its content declares itself to be; empty where nothing was found or nothing could
    /// be read, see `probed`.
    pub signatures: Vec<Signature>,
    /// The content could be looked at.
    pub probed: bool,
}

impl Device {
    /// The name that stays: serial number, world-wide name, id of the array, mapping or
    /// partition, file behind a loop device. `None` where the device has none.
    pub fn identity(&self) -> Option<&str> {
        let file = self.backing.as_ref().map(|file| file.path.as_str());
        self.serial
            .as_deref()
            .or(self.wwid.as_deref())
            .or(self.uuid.as_deref())
            .or(file)
    }

    /// Every name by which a person may mean this device for good.
    pub fn identities(&self) -> impl Iterator<Item = &str> {
        let file = self.backing.as_ref().map(|file| file.path.as_str());
        let single = [
            self.serial.as_deref(),
            self.wwid.as_deref(),
            self.uuid.as_deref(),
            file,
        ];
        single
            .into_iter()
            .flatten()
            .chain(self.by_id.iter().map(String::as_str))
    }
}

/// What direct I/O wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Direct {
    /// Alignment of buffers.
    pub memory_bytes: u32,
    /// Alignment of offsets and lengths.
    pub offset_bytes: u32,
}

/// Limits and settings of a queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Queue {
    /// The scheduler in use.
    pub scheduler: Option<String>,
    /// Those that could be.
    pub schedulers: Vec<String>,
    /// Requests the queue holds.
    pub requests: Option<u64>,
    /// Hardware queues.
    pub hardware_queues: Option<u32>,
    /// Largest request now.
    pub max_request_bytes: Option<u64>,
    /// Largest request of the hardware.
    pub max_hardware_bytes: Option<u64>,
    /// Segments of a request.
    pub max_segments: Option<u64>,
    /// 0 all merges, 1 simple ones, 2 none.
    pub nomerges: Option<u32>,
    /// 0 none, 1 completion on the submitting group of CPUs, 2 on the submitting CPU.
    pub rq_affinity: Option<u32>,
    /// Read-ahead.
    pub read_ahead_bytes: Option<u64>,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
    /// Writes can be forced to stable storage one by one.
    pub fua: Option<bool>,
    /// Spinning medium.
    pub rotational: Option<bool>,
    /// Latency target of write-back throttling; 0 is off.
    pub write_throttle_us: Option<u64>,
    /// Completions can be polled.
    pub polls: Option<bool>,
    /// Largest atomic write.
    pub atomic_write_bytes: Option<u64>,
    /// Discard, where the device has it.
    pub discard: Option<Discard>,
    /// Zones, where the device has them.
    pub zones: Option<Zones>,
}

/// Discard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Discard {
    /// Smallest unit.
    pub granularity_bytes: u64,
    /// Largest request.
    pub max_bytes: u64,
}

/// Zones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Zones {
    /// `host-managed` or `host-aware`.
    pub model: String,
    /// How many.
    pub count: Option<u64>,
    /// Size of one.
    pub bytes: Option<u64>,
    /// Most that may be open; 0 is no limit.
    pub max_open: Option<u64>,
    /// Most that may be active; 0 is no limit.
    pub max_active: Option<u64>,
}

/// Where a device sits on the PCI bus.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Pci {
    /// Address, such as `0000:3b:00.0`.
    pub address: String,
    /// Speed of a lane now, such as `8.0 GT/s PCIe`.
    pub link_speed: Option<String>,
    /// Lanes now.
    pub link_width: Option<u32>,
    /// Speed of a lane that the device could have.
    pub max_link_speed: Option<String>,
    /// Lanes that the device could have.
    pub max_link_width: Option<u32>,
}

impl Pci {
    /// The link runs below what the device could do.
    pub fn is_slowed(&self) -> bool {
        let speed = |text: &Option<String>| -> Option<f64> {
            text.as_ref()?.split_whitespace().next()?.parse().ok()
        };
        let less =
            |now: Option<f64>, max: Option<f64>| matches!((now, max), (Some(a), Some(b)) if a < b);
        less(speed(&self.link_speed), speed(&self.max_link_speed))
            || less(
                self.link_width.map(f64::from),
                self.max_link_width.map(f64::from),
            )
    }
}

/// What an NVMe controller says of itself (Identify Controller).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Nvme {
    /// PCI vendor number.
    pub vendor: u16,
    /// Version of the specification, such as `1.4`.
    pub version: Option<String>,
    /// Largest data transfer of one command; `None` is no limit.
    pub max_transfer_bytes: Option<u64>,
    /// Has a volatile write cache.
    pub volatile_write_cache: bool,
    /// Capacity over all namespaces.
    pub total_bytes: Option<u64>,
    /// Temperature from which it warns, in degrees Celsius.
    pub warning_celsius: Option<i32>,
    /// The name that the cloud mapped the volume to (EBS).
    pub mapped_name: Option<String>,
}

/// Health log of an NVMe controller.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Smart {
    /// Bits of trouble; 0 is none.
    pub critical_warning: u8,
    /// Composite temperature in degrees Celsius.
    pub celsius: i32,
    /// Spare blocks left, in percent.
    pub spare_percent: u8,
    /// Endurance used, in percent; may exceed 100.
    pub used_percent: u8,
    /// Bytes the host has read.
    pub read_bytes: u64,
    /// Bytes the host has written.
    pub written_bytes: u64,
    /// Read commands.
    pub reads: u64,
    /// Write commands.
    pub writes: u64,
    /// Hours switched on.
    pub power_on_hours: u64,
    /// Losses of power without notice.
    pub unsafe_shutdowns: u64,
    /// Unrecovered errors of data.
    pub media_errors: u64,
    /// Minutes above the warning temperature.
    pub warning_minutes: u32,
    /// Minutes above the critical temperature.
    pub critical_minutes: u32,
    /// Times it throttled itself, lightly and heavily.
    pub throttle_transitions: [u32; 2],
    /// Seconds it was throttled, lightly and heavily.
    pub throttle_seconds: [u32; 2],
}

/// Counters of an EBS volume since it was attached (its vendor log page 0xD0).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Ebs {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Microseconds in which more IOPS were wanted than the volume has.
    pub volume_iops_exceeded_us: u64,
    /// Microseconds in which more bytes per second were wanted than the volume has.
    pub volume_throughput_exceeded_us: u64,
    /// Microseconds in which more IOPS were wanted than the instance may do.
    pub instance_iops_exceeded_us: u64,
    /// Microseconds in which more bytes per second were wanted than the instance may do.
    pub instance_throughput_exceeded_us: u64,
    /// Requests in the volume's queue at the moment.
    pub queue_length: u64,
}

/// A software RAID array.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Raid {
    /// Level, such as `raid0`.
    pub level: String,
    /// Version of the metadata, such as `1.2`.
    pub metadata: Option<String>,
    /// Chunk.
    pub chunk_bytes: Option<u64>,
    /// Members it should have.
    pub disks: Option<u32>,
    /// State of the array, such as `clean`.
    pub state: Option<String>,
    /// Members missing.
    pub degraded: Option<u32>,
    /// What it is doing: `idle`, `resync`, `recover`, `check` ...
    pub sync_action: Option<String>,
    /// How far that has come, in percent.
    pub sync_percent: Option<f64>,
    /// Its members.
    pub members: Vec<RaidMember>,
}

/// A member of an array.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RaidMember {
    /// Kernel name.
    pub name: String,
    /// Place in the array; `None` for a spare.
    pub slot: Option<u32>,
    /// State, such as `in_sync`.
    pub state: Option<String>,
    /// Corrected read errors.
    pub errors: Option<u64>,
}

/// A layer with a name of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Layer {
    /// Name, such as `vg0-data`.
    pub name: Option<String>,
    /// Mode: of a cache, or the compression.
    pub mode: Option<String>,
    /// State, where it is worth a word.
    pub state: Option<String>,
}

/// The file behind a loop device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LoopFile {
    /// The file.
    pub path: String,
    /// Where the device starts in it.
    pub offset_bytes: u64,
    /// The file is read and written past the page cache.
    pub direct: bool,
    /// Mount point of the file's file system.
    pub mount_point: Option<String>,
    /// Kernel names of the devices below the file.
    pub devices: Vec<String>,
}

/// What a signature stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SignatureKind {
    /// A file system.
    #[default]
    FileSystem,
    /// A partition table.
    PartitionTable,
    /// A member of an array.
    Raid,
    /// A member of a volume manager or a pool.
    Volume,
    /// An encrypted container.
    Encryption,
    /// A swap area, or a memory image in one.
    Swap,
    /// The store of a data base or an object store.
    Store,
}

impl SignatureKind {
    /// The word for people.
    pub fn word(self) -> &'static str {
        match self {
            SignatureKind::FileSystem => "file system",
            SignatureKind::PartitionTable => "partition table",
            SignatureKind::Raid => "RAID member",
            SignatureKind::Volume => "volume member",
            SignatureKind::Encryption => "encrypted container",
            SignatureKind::Swap => "swap area",
            SignatureKind::Store => "data store",
        }
    }
}

/// What the content of a device declares itself to be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Signature {
    /// What it stands for.
    pub kind: SignatureKind,
    /// Name, such as `ext4`, `LVM2`, `gpt`.
    pub name: String,
    /// Where it was found.
    pub offset_bytes: u64,
    /// Its id.
    pub uuid: Option<String>,
    /// Its label or name.
    pub label: Option<String>,
}
