//! CPUs, NUMA nodes and CPU time.

use crate::system::meminfo_bytes;
use crate::{HostError, Root};

/// One NUMA node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The kernel's number.
    pub id: u32,
    /// Its CPUs, ascending; a node may have memory only.
    pub cpus: Vec<u32>,
    /// Its memory in bytes.
    pub memory_bytes: u64,
}

/// CPU time since boot in clock ticks (1/100 s), of one CPU or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Idle, including waiting for I/O.
    pub idle: u64,
    /// Wanted by this machine, a guest, and given to another by the host.
    pub steal: u64,
    /// Hard and soft interrupts.
    pub interrupts: u64,
    /// Everything.
    pub total: u64,
}

/// CPUs that are online, ascending.
///
/// # Errors
/// When the list cannot be read or parsed.
pub fn online(root: &Root) -> Result<Vec<u32>, HostError> {
    list_file(root, "sys/devices/system/cpu/online")
}

/// NUMA nodes, ascending. A kernel without NUMA has one node with all CPUs and all memory.
///
/// # Errors
/// When a node's CPU list cannot be read or parsed.
pub fn nodes(root: &Root, memory_bytes: u64) -> Result<Vec<Node>, HostError> {
    let base = "sys/devices/system/node";
    let mut nodes = Vec::new();
    for name in root.names(base) {
        let Some(id) = name.strip_prefix("node").and_then(|id| id.parse().ok()) else {
            continue;
        };
        let meminfo = root
            .text(format!("{base}/{name}/meminfo"))
            .unwrap_or_default();
        nodes.push(Node {
            id,
            cpus: list_file(root, &format!("{base}/{name}/cpulist"))?,
            memory_bytes: meminfo_bytes(&meminfo, "MemTotal").unwrap_or(0),
        });
    }
    nodes.sort_by_key(|node| node.id);
    if nodes.is_empty() {
        nodes.push(Node {
            id: 0,
            cpus: online(root)?,
            memory_bytes,
        });
    }
    Ok(nodes)
}

/// CPU times from `/proc/stat`: the sum over all CPUs, then each CPU that is online.
///
/// # Errors
/// When the file cannot be read or has no CPU lines.
pub fn times(root: &Root) -> Result<(Times, Vec<Times>), HostError> {
    let text = root.text("proc/stat")?;
    let mut lines = text.lines().take_while(|line| line.starts_with("cpu"));
    let sum = lines.next().and_then(times_of);
    let each: Option<Vec<Times>> = lines.map(times_of).collect();
    sum.zip(each)
        .ok_or_else(|| HostError::malformed("proc/stat", &text))
}

/// user, nice, system, idle, iowait, irq, softirq, steal; guest times are within user and nice.
fn times_of(line: &str) -> Option<Times> {
    let fields: Vec<u64> = line
        .split_whitespace()
        .skip(1)
        .take(8)
        .map(|word| word.parse().ok())
        .collect::<Option<_>>()?;
    let idle = *fields.get(3)? + fields.get(4).copied().unwrap_or(0);
    Some(Times {
        idle,
        steal: fields.get(7).copied().unwrap_or(0),
        interrupts: fields.iter().skip(5).take(2).sum(),
        total: fields.iter().sum(),
    })
}

fn list_file(root: &Root, relative: &str) -> Result<Vec<u32>, HostError> {
    let text = root.text(relative)?;
    parse_list(text.trim()).ok_or_else(|| HostError::malformed(relative, &text))
}

/// The kernel's list format: `0,5,8-15`; an empty text is an empty list.
pub(crate) fn parse_list(text: &str) -> Option<Vec<u32>> {
    let mut list = Vec::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        // A kernel has at most 8192 CPUs; a longer range is not a CPU list.
        if last < first || last - first > 1 << 16 {
            return None;
        }
        list.extend(first..=last);
    }
    list.sort_unstable();
    list.dedup();
    Some(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        assert_eq!(parse_list("0,5,8-10"), Some(vec![0, 5, 8, 9, 10]));
        assert_eq!(parse_list(""), Some(vec![]));
        assert_eq!(parse_list("4-2"), None);
        assert_eq!(parse_list("0-4294967295"), None);
    }

    #[test]
    fn two_nodes_one_without_cpus() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::at(dir.path());
        for (node, cpus) in [("node0", "0-1\n"), ("node10", "\n")] {
            let at = root.path("sys/devices/system/node").join(node);
            std::fs::create_dir_all(&at).unwrap();
            std::fs::write(at.join("cpulist"), cpus).unwrap();
            std::fs::write(at.join("meminfo"), "Node 0 MemTotal:  4 kB\n").unwrap();
        }
        let nodes = nodes(&root, 0).unwrap();
        assert_eq!(
            nodes[0],
            Node {
                id: 0,
                cpus: vec![0, 1],
                memory_bytes: 4096
            }
        );
        assert_eq!(
            nodes[1],
            Node {
                id: 10,
                cpus: vec![],
                memory_bytes: 4096
            }
        );
    }

    #[test]
    fn a_kernel_without_numa_has_one_node() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::at(dir.path());
        std::fs::create_dir_all(root.path("sys/devices/system/cpu")).unwrap();
        std::fs::write(root.path("sys/devices/system/cpu/online"), "0-3\n").unwrap();
        let nodes = nodes(&root, 77).unwrap();
        assert_eq!(
            nodes,
            [Node {
                id: 0,
                cpus: vec![0, 1, 2, 3],
                memory_bytes: 77
            }]
        );
    }

    #[test]
    fn live_times_add_up() {
        let (sum, each) = times(&Root::default()).unwrap();
        assert!(sum.idle + sum.steal <= sum.total);
        assert_eq!(each.len(), online(&Root::default()).unwrap().len());
    }
}
