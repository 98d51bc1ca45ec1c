//! The host as evidence: what a run stood on, named by identity and not by kernel name.
//!
//! Every fact is what the system said; one that could not be read is absent (`None`, or an empty
//! list), never a guess. Sizes are bytes. The picture is made by the `host` crate and read by
//! judgements and renderings.

mod device;

pub use device::{
    Device, DeviceKind, Direct, Discard, Ebs, Layer, LoopFile, Nvme, Pci, Queue, Raid, RaidMember,
    Signature, SignatureKind, Smart, Zones,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The machine, and the storage that was looked at.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Host {
    /// Node name.
    pub hostname: String,
    /// Distribution, such as `Debian GNU/Linux 12 (bookworm)`.
    pub system: Option<String>,
    /// Kernel release, such as `6.12.0`.
    pub kernel: String,
    /// Instruction set, such as `x86_64`.
    pub architecture: String,
    /// The machine as its firmware names it.
    pub machine: Machine,
    /// Kind of virtual machine, or `virtual machine` where only that is known.
    pub virtualisation: Option<String>,
    /// Kind of container that the process runs in.
    pub container: Option<String>,
    /// The cloud it runs in.
    pub cloud: Option<Cloud>,
    /// Processors.
    pub cpu: Cpu,
    /// Memory.
    pub memory: Memory,
    /// NUMA nodes, ascending.
    pub nodes: Vec<NumaNode>,
    /// What the process may use, where a control group limits it.
    pub limits: Option<Limits>,
    /// Paths that were asked about, or that a run used.
    pub targets: Vec<Target>,
    /// File systems on the devices, and those of the targets.
    pub file_systems: Vec<FileSystem>,
    /// Block devices: disks before their partitions, members before what is made of them.
    pub devices: Vec<Device>,
}

impl Host {
    /// The device with this kernel name.
    pub fn device(&self, name: &str) -> Option<&Device> {
        self.devices.iter().find(|device| device.name == name)
    }

    /// The file system mounted at this place.
    pub fn file_system(&self, mount_point: &str) -> Option<&FileSystem> {
        let at = |fs: &&FileSystem| fs.mount_points.iter().any(|point| point == mount_point);
        self.file_systems.iter().rfind(at)
    }
}

/// Names out of the firmware's tables (DMI, device tree).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Machine {
    /// Maker of the system.
    pub vendor: Option<String>,
    /// Product name.
    pub product: Option<String>,
    /// Maker and name of the board.
    pub board: Option<String>,
    /// Maker and version of the firmware.
    pub firmware: Option<String>,
}

/// A cloud, told by firmware tables alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Cloud {
    /// `aws`, `gcp`, `azure`, `alibaba`, `oracle`, `digitalocean`, `hetzner`, `openstack`.
    pub provider: String,
    /// Instance type, where the firmware tells it.
    pub instance_type: Option<String>,
    /// Instance id, where the firmware tells it.
    pub instance_id: Option<String>,
}

/// Processors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Cpu {
    /// Model name.
    pub model: Option<String>,
    /// Packages.
    pub sockets: Option<u32>,
    /// Cores over all packages.
    pub cores: Option<u32>,
    /// Logical CPUs that are online.
    pub threads: u32,
    /// Highest frequency in kHz.
    pub max_khz: Option<u64>,
    /// Caches of the first CPU, by level.
    pub caches: Vec<Cache>,
    /// Frequency driver.
    pub frequency_driver: Option<String>,
    /// Frequency governors in use; more than one where CPUs differ.
    pub governors: Vec<String>,
    /// Frequencies above the nominal one are allowed.
    pub boost: Option<bool>,
    /// Driver of the idle states.
    pub idle_driver: Option<String>,
    /// Governor of the idle states.
    pub idle_governor: Option<String>,
    /// Idle states of the first CPU, by depth.
    pub idle_states: Vec<IdleState>,
}

/// One cache.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Cache {
    /// 1 is the nearest.
    pub level: u32,
    /// `Data`, `Instruction` or `Unified`.
    pub kind: String,
    /// Bytes.
    pub bytes: u64,
    /// CPUs that share it, as a list such as `0-3`.
    pub shared_by: String,
}

/// One idle state of a CPU.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct IdleState {
    /// Name, such as `C6`.
    pub name: String,
    /// Microseconds to leave it.
    pub exit_latency_us: u64,
    /// Switched off.
    pub disabled: bool,
}

/// Memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Memory {
    /// Usable memory.
    pub total_bytes: u64,
    /// A page.
    pub page_bytes: u64,
    /// A default huge page; 0 where there are none.
    pub huge_page_bytes: u64,
    /// Active swap areas.
    pub swap: Vec<String>,
}

/// One NUMA node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct NumaNode {
    /// The kernel's number.
    pub id: u32,
    /// Its CPUs.
    pub cpus: Vec<u32>,
    /// Its memory.
    pub memory_bytes: u64,
}

/// The strictest limits of the control group and those above it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Limits {
    /// The process's group.
    pub group: String,
    /// CPU time per time.
    pub cpus: Option<f64>,
    /// CPUs it may run on, as a list.
    pub cpu_set: Option<String>,
    /// Memory, the page cache of its files included.
    pub memory_bytes: Option<u64>,
    /// Throttled devices.
    pub devices: Vec<DeviceLimit>,
}

/// Limits on one device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DeviceLimit {
    /// Device number, `major:minor`.
    pub number: String,
    /// Bytes read per second.
    pub read_bytes_per_s: Option<u64>,
    /// Bytes written per second.
    pub write_bytes_per_s: Option<u64>,
    /// Reads per second.
    pub read_iops: Option<u64>,
    /// Writes per second.
    pub write_iops: Option<u64>,
}

/// A path and what it stands on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Target {
    /// The path as given.
    pub path: String,
    /// `file`, `directory`, `block device`, `character device`, `other` or `missing`.
    pub kind: String,
    /// Mount point of its file system.
    pub mount_point: Option<String>,
    /// Type of its file system.
    pub fs_type: Option<String>,
    /// A mount point above it that the table of mounts to make (fstab) has, and where nothing is
    /// mounted.
    pub not_mounted: Option<String>,
    /// Kernel names of the devices directly below it.
    pub devices: Vec<String>,
    /// What direct I/O wants on it.
    pub direct: Option<Direct>,
    /// Size of a file.
    pub size_bytes: Option<u64>,
    /// Bytes of a file that have been written; what is missing are holes and reserved blocks,
    /// which read as zeroes without the device.
    pub data_bytes: Option<u64>,
}

/// A mounted file system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FileSystem {
    /// Type, such as `xfs`.
    pub fs_type: String,
    /// What is mounted, as the mount table has it.
    pub source: String,
    /// Where; bind mounts of the same file system are further entries.
    pub mount_points: Vec<String>,
    /// Options of the mount and of the file system, as the kernel lists them.
    pub options: Vec<String>,
    /// Kernel names of the devices it lies on.
    pub devices: Vec<String>,
    /// Writes are refused.
    pub read_only: bool,
    /// Its size.
    pub total_bytes: Option<u64>,
    /// What this user may still write.
    pub available_bytes: Option<u64>,
    /// How it lays data out.
    pub geometry: Option<Geometry>,
}

/// How a file system lays data out on its device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Geometry {
    /// Block.
    pub block_bytes: Option<u64>,
    /// The stripe unit it was made for: the chunk of one member.
    pub stripe_unit_bytes: Option<u64>,
    /// The stripe width it was made for: one chunk of every data member.
    pub stripe_width_bytes: Option<u64>,
    /// Profiles of data by name, such as `raid0` (btrfs).
    pub data_profiles: Vec<String>,
    /// Chunk of the striped device below, where there is one.
    pub device_chunk_bytes: Option<u64>,
    /// Full stripe of the striped device below.
    pub device_stripe_bytes: Option<u64>,
}

impl Geometry {
    /// Whether the file system was made for the stripes below it; `None` where either side does
    /// not say.
    pub fn matches(&self) -> Option<bool> {
        let chunk = self.device_chunk_bytes?;
        let (unit, width) = (self.stripe_unit_bytes?, self.stripe_width_bytes?);
        let full = self.device_stripe_bytes.unwrap_or(width);
        Some(unit == chunk && width == full)
    }
}
