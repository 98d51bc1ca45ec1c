//! What there is to measure with: CPUs this process may use, nodes, caches, limits.

use crate::error::Error;
use host::Root;
use host::cgroup::Limits;
use host::cpu::Node;
use host::topology::{self, Cpu};

/// Facts read once, before anything is pinned.
#[derive(Clone, Debug)]
pub struct Machine {
    /// CPUs that are online and in the affinity mask, ascending.
    pub cpus: Vec<Cpu>,
    /// NUMA nodes with all their CPUs, ascending; a node may have no CPU or no memory.
    pub nodes: Vec<Node>,
    /// Last-level cache of the largest socket, bytes; 0 where the system does not say.
    pub llc_bytes: u64,
    /// The control groups' limits.
    pub limits: Limits,
    root: Root,
}

/// Which of a core's hardware threads take part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threads {
    /// One for each core.
    #[default]
    Cores,
    /// All.
    All,
}

impl Machine {
    /// Reads the facts; the affinity is that of the calling thread.
    ///
    /// # Errors
    /// When the list of CPUs or nodes cannot be read, or no CPU is left.
    pub fn read(root: &Root) -> Result<Machine, Error> {
        let allowed = sys::process::affinity().map_err(Error::system("the CPU affinity"))?;
        let all = topology::cpus(root)?;
        let llc_bytes = topology::last_cache_bytes(&all);
        let mut cpus = all;
        cpus.retain(|cpu| allowed.contains(&(cpu.id as usize)));
        if cpus.is_empty() {
            return Err(Error::refused("no CPU of the affinity mask is online"));
        }
        let memory_bytes = host::System::read(root)?.memory_bytes;
        Ok(Machine {
            cpus,
            nodes: host::cpu::nodes(root, memory_bytes)?,
            llc_bytes,
            limits: Limits::read(root),
            root: root.clone(),
        })
    }

    /// Where the facts come from.
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// CPUs for `threads`, ascending, no more than the control group lets run at once: a thread
    /// that is held back measures the scheduler.
    pub fn workers(&self, threads: Threads) -> Vec<u32> {
        let mut seen: Vec<&[u32]> = Vec::new();
        let mut list = Vec::new();
        for cpu in &self.cpus {
            if threads == Threads::Cores && seen.contains(&cpu.siblings.as_slice()) {
                continue;
            }
            seen.push(&cpu.siblings);
            list.push(cpu.id);
        }
        if let Some(cpus) = self.limits.cpus {
            list.truncate((cpus as usize).max(1));
        }
        list
    }

    /// Workers on one node, as [`Machine::workers`]; empty for a node without usable CPUs.
    pub fn workers_of(&self, node: u32, threads: Threads) -> Vec<u32> {
        let mut list = self.workers(threads);
        list.retain(|&cpu| self.node_of(cpu) == Some(node));
        list
    }

    /// The node of a CPU.
    pub fn node_of(&self, cpu: u32) -> Option<u32> {
        let node = self.nodes.iter().find(|node| node.cpus.contains(&cpu))?;
        Some(node.id)
    }

    /// Nodes that have memory, ascending.
    pub fn memory_nodes(&self) -> Vec<u32> {
        let with = self.nodes.iter().filter(|node| node.memory_bytes > 0);
        with.map(|node| node.id).collect()
    }

    /// Refuses a CPU that may not be used, naming those that may.
    ///
    /// # Errors
    /// The CPU is offline or outside the affinity mask.
    pub fn check_cpu(&self, cpu: u32) -> Result<(), Error> {
        if self.cpus.iter().any(|other| other.id == cpu) {
            return Ok(());
        }
        let list: Vec<u32> = self.cpus.iter().map(|cpu| cpu.id).collect();
        Err(Error::refused(format!(
            "CPU {cpu} is offline or outside this process's affinity; it may use {}",
            ranges(&list)
        )))
    }

    /// Refuses a node that has no memory, naming those that have.
    ///
    /// # Errors
    /// The node does not exist or has no memory.
    pub fn check_node(&self, node: u32) -> Result<(), Error> {
        let nodes = self.memory_nodes();
        if nodes.contains(&node) {
            return Ok(());
        }
        Err(Error::refused(format!(
            "there is no memory on node {node}; nodes with memory: {}",
            ranges(&nodes)
        )))
    }

    /// The cache of `level` as the first CPU sees it, bytes.
    pub fn cache_bytes(&self, level: u32) -> Option<u64> {
        let caches = &self.cpus.first()?.caches;
        let cache = caches.iter().find(|cache| cache.level == level)?;
        Some(cache.bytes)
    }

    /// How large a buffer has to be for its figures to be those of memory: four times the
    /// last-level cache of a socket, and 64 MiB where that is unknown or small.
    pub fn dram_bytes(&self) -> u64 {
        (4 * self.llc_bytes).max(64 << 20)
    }

    /// Memory that may be taken now without being killed for it, bytes, and what limits it. An
    /// eighth of what is free, at least 16 MiB, is left to others.
    pub fn room(&self, node: Option<u32>) -> Room {
        // A limit may have come or been used up since the facts were read.
        let limits = Limits::read(&self.root);
        let less = |bytes: u64| bytes.saturating_sub((bytes / 8).max(16 << 20));
        let mut room = Room {
            bytes: u64::MAX,
            limit: "free memory".to_owned(),
        };
        if let Some(bytes) = host::system::available_bytes(&self.root, None) {
            room.bytes = less(bytes);
        }
        if let Some(node) = node
            && let Some(bytes) = host::system::available_bytes(&self.root, Some(node))
            && less(bytes) < room.bytes
        {
            room.bytes = less(bytes);
            room.limit = format!("free memory of node {node}");
        }
        if let (Some(left), Some(most)) = (limits.memory_left_bytes, limits.memory_bytes)
            && less(left) < room.bytes
        {
            room.bytes = less(left);
            room.limit = format!("memory.max of the control group, {}", mib(most));
        }
        room
    }

    /// What a run with `threads` loading threads should use on one node: see [`Sizes`].
    pub fn sizes(&self, threads: usize, node: Option<u32>) -> Sizes {
        let threads = threads.max(1) as u64;
        let room = self.room(node);
        let dram = self.dram_bytes();
        let each = (2 * self.llc_bytes).max(dram / threads).max(32 << 20);
        let fits = |bytes: u64, most: u64| bytes.min(most & !((2 << 20) - 1));
        let latency_bytes = fits(dram, room.bytes / 2);
        let thread_bytes = fits(each, (room.bytes - latency_bytes) / threads);
        let short = latency_bytes < dram || thread_bytes * threads < dram;
        Sizes {
            latency_bytes,
            thread_bytes,
            warning: short.then(|| {
                format!(
                    "buffers are smaller than 4 x the last-level cache of {}, so that caches may \
                     show in the figures: {} limits them",
                    mib(self.llc_bytes),
                    room.limit
                )
            }),
        }
    }
}

/// See [`Machine::room`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    /// May be taken.
    pub bytes: u64,
    /// What sets the limit, in words.
    pub limit: String,
}

/// Buffer sizes: 4 x LLC for latency; 2 x LLC for each loading thread, at least 4 x LLC
/// together; less where there is no room for that, with a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The latency thread's buffer.
    pub latency_bytes: u64,
    /// Each loading thread's buffer.
    pub thread_bytes: u64,
    /// What is wrong with them, if anything.
    pub warning: Option<String>,
}

/// Bytes as MiB or GiB for people, such as `260 MiB`.
pub(crate) fn mib(bytes: u64) -> String {
    match bytes {
        0..0x10_0000 => format!("{} KiB", bytes >> 10),
        0x10_0000..0x4000_0000 => format!("{} MiB", bytes >> 20),
        _ => format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)),
    }
}

/// Numbers in the kernel's list format.
pub(crate) fn ranges(list: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for &number in list {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => parts.push((number, number)),
        }
    }
    let words: Vec<String> = parts
        .into_iter()
        .map(|(first, last)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        })
        .collect();
    words.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Machine {
        let cpu = |id: u32| Cpu {
            id,
            package: id / 4,
            siblings: vec![id & !1, id | 1],
            caches: Vec::new(),
        };
        let node = |id, cpus: Vec<u32>| Node {
            id,
            cpus,
            memory_bytes: 1 << 30,
        };
        Machine {
            // CPU 2 is outside the affinity, so that 3 stands for its core.
            cpus: [0, 1, 3, 4, 5, 6, 7].map(cpu).to_vec(),
            nodes: vec![node(0, vec![0, 1, 2, 3]), node(1, vec![4, 5, 6, 7])],
            llc_bytes: 32 << 20,
            limits: Limits::default(),
            root: Root::default(),
        }
    }

    #[test]
    fn one_thread_for_each_core_and_no_more_than_the_quota() {
        let mut machine = machine();
        assert_eq!(machine.workers(Threads::Cores), [0, 3, 4, 6]);
        assert_eq!(machine.workers(Threads::All).len(), 7);
        assert_eq!(machine.workers_of(1, Threads::Cores), [4, 6]);
        machine.limits.cpus = Some(2.9);
        assert_eq!(machine.workers(Threads::All), [0, 1]);
        machine.limits.cpus = Some(0.2);
        assert_eq!(machine.workers(Threads::All), [0]);
    }

    #[test]
    fn refusals_name_what_there_is() {
        let machine = machine();
        assert!(machine.check_cpu(3).is_ok() && machine.check_node(1).is_ok());
        let text = machine.check_cpu(2).unwrap_err().to_string();
        assert!(text.ends_with("it may use 0-1,3-7"), "{text}");
        let text = machine.check_node(5).unwrap_err().to_string();
        assert!(text.ends_with("nodes with memory: 0-1"), "{text}");
    }

    fn small(limit: u64, used: u64) -> (tempfile::TempDir, Machine) {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::at(dir.path());
        for (path, text) in [
            ("proc/meminfo", "MemAvailable:  8388608 kB\n".to_owned()),
            ("proc/self/cgroup", "0::/\n".to_owned()),
            ("sys/fs/cgroup/cgroup.controllers", String::new()),
            ("sys/fs/cgroup/memory.max", limit.to_string()),
            ("sys/fs/cgroup/memory.current", used.to_string()),
        ] {
            let at = root.path(path);
            std::fs::create_dir_all(at.parent().unwrap()).unwrap();
            std::fs::write(at, text).unwrap();
        }
        let machine = Machine { root, ..machine() };
        (dir, machine)
    }

    #[test]
    fn sizes_follow_the_cache_and_stay_below_memory_max() {
        let (_dir, roomy) = small(6 << 30, 0);
        let sizes = roomy.sizes(4, None);
        assert_eq!(sizes.latency_bytes, 128 << 20);
        assert_eq!((sizes.thread_bytes, sizes.warning), (64 << 20, None));

        let (_dir, tight) = small(160 << 20, 32 << 20);
        assert_eq!(tight.room(None).bytes, 112 << 20);
        let sizes = tight.sizes(4, None);
        assert_eq!(
            (sizes.latency_bytes, sizes.thread_bytes),
            (56 << 20, 14 << 20)
        );
        let warning = sizes.warning.unwrap();
        assert!(warning.ends_with("memory.max of the control group, 160 MiB limits them"));

        let (_dir, full) = small(160 << 20, (160 << 20) - 4096);
        assert_eq!(full.room(None).bytes, 0);
    }

    #[test]
    fn lists_and_sizes_for_people() {
        assert_eq!(ranges(&[0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
        assert_eq!(ranges(&[]), "");
        assert_eq!(
            (mib(260 << 20), mib(3 << 29)),
            ("260 MiB".into(), "1.5 GiB".into())
        );
    }
}
