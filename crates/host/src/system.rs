//! Names of the machine, its page size and its memory.

use crate::{HostError, Root};

/// What a report says about the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct System {
    /// Node name.
    pub hostname: String,
    /// Kernel release, such as `6.12.0`.
    pub kernel: String,
    /// `MemTotal` in bytes.
    pub memory_bytes: u64,
    /// Bytes of a page of this process.
    pub page_bytes: u64,
    /// Bytes of a default huge page; 0 where there are none.
    pub huge_page_bytes: u64,
}

impl System {
    /// Reads the names and sizes.
    ///
    /// # Errors
    /// When `/proc/meminfo` or the kernel's names cannot be read.
    pub fn read(root: &Root) -> Result<System, HostError> {
        let meminfo = root.text("proc/meminfo")?;
        let memory_bytes = meminfo_bytes(&meminfo, "MemTotal")
            .ok_or_else(|| HostError::malformed("proc/meminfo", &meminfo))?;
        Ok(System {
            hostname: root.text("proc/sys/kernel/hostname")?.trim().to_owned(),
            kernel: root.text("proc/sys/kernel/osrelease")?.trim().to_owned(),
            memory_bytes,
            page_bytes: rustix::param::page_size() as u64,
            huge_page_bytes: meminfo_bytes(&meminfo, "Hugepagesize").unwrap_or(0),
        })
    }
}

/// Memory that can be had without swapping, bytes: of the machine, or of one node, whose own
/// file says less and so counts only what is free or the idlest part of the file cache.
pub fn available_bytes(root: &Root, node: Option<u32>) -> Option<u64> {
    match node {
        None => meminfo_bytes(&root.text("proc/meminfo").ok()?, "MemAvailable"),
        Some(node) => {
            let path = format!("sys/devices/system/node/node{node}/meminfo");
            let text = root.text(path).ok()?;
            let files = meminfo_bytes(&text, "Inactive(file)").unwrap_or(0);
            Some(meminfo_bytes(&text, "MemFree")? + files)
        }
    }
}

/// The value of `key` in a text of `Key:   123 kB` lines; node files put words before the key.
pub(crate) fn meminfo_bytes(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let (before, after) = line.split_once(':')?;
        if before.split_whitespace().last()? != key {
            return None;
        }
        after
            .split_whitespace()
            .next()?
            .parse::<u64>()
            .ok()?
            .checked_mul(1024)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_live_system() {
        let system = System::read(&Root::default()).unwrap();
        assert!(system.memory_bytes > 0 && system.page_bytes.is_power_of_two());
        assert!(!system.kernel.is_empty());
    }

    #[test]
    fn what_is_available_is_less_than_what_is_there() {
        let root = Root::default();
        let all = System::read(&root).unwrap().memory_bytes;
        assert!((1..all).contains(&available_bytes(&root, None).unwrap()));
        if let Some(node) = available_bytes(&root, Some(0)) {
            assert!((1..all).contains(&node));
        }
        assert_eq!(available_bytes(&root, Some(9999)), None);
    }

    #[test]
    fn keys_are_whole_words() {
        let text = "Node 0 MemTotalX:  1 kB\nNode 0 MemTotal:    12 kB\nHugepagesize:  2048 kB\n";
        assert_eq!(meminfo_bytes(text, "MemTotal"), Some(12 << 10));
        assert_eq!(meminfo_bytes(text, "Hugepagesize"), Some(2 << 20));
        assert_eq!(meminfo_bytes(text, "SwapTotal"), None);
    }
}
