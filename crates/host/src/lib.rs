//! Read-only facts about the machine: block devices and how they are stacked, what they did,
//! what is mounted, swap, free space, CPUs and NUMA nodes, memory modules.
//!
//! Every reader of `/proc` and `/sys` takes a [`Root`], so that a captured tree answers in tests
//! exactly as the live one does in use. Nothing here writes, and nothing here decides: what a
//! fact means for a job is the plan's business.
#![forbid(unsafe_code)]

pub mod block;
pub mod cgroup;
pub mod cpu;
pub mod diskstat;
pub mod mount;
pub mod opened;
pub mod picture;
pub mod processor;
mod root;
pub mod signature;
pub mod smbios;
pub mod space;
pub mod swap;
pub mod system;
pub mod topology;

pub use block::{BlockDevice, DevId};
pub use mount::{Mount, Mounts};
pub use processor::Processor;
pub use root::{HostError, Root};
pub use swap::Swap;
pub use system::System;

/// Everything a plan looks at, read once.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Where `/proc` and `/sys` were read from; block devices are looked up on demand.
    pub root: Root,
    /// All mounts of this process's namespace.
    pub mounts: Mounts,
    /// Active swap areas.
    pub swaps: Vec<Swap>,
    /// CPUs that are online, ascending.
    pub cpus: Vec<u32>,
    /// NUMA nodes, ascending; one node with all CPUs where the kernel has none.
    pub nodes: Vec<cpu::Node>,
    /// Names, page size, memory.
    pub system: System,
}

impl Facts {
    /// Reads all facts below `root`.
    ///
    /// # Errors
    /// When a file that every Linux has cannot be read or understood.
    pub fn read(root: &Root) -> Result<Facts, HostError> {
        let system = System::read(root)?;
        Ok(Facts {
            root: root.clone(),
            mounts: Mounts::read(root)?,
            swaps: swap::read(root)?,
            cpus: cpu::online(root)?,
            nodes: cpu::nodes(root, system.memory_bytes)?,
            system,
        })
    }
}
