//! How CPUs share cores, sockets and caches, and which huge pages are reserved.

use crate::cpu::{online, parse_list};
use crate::root::attribute;
use crate::{HostError, Root};

/// Where a CPU sits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// The kernel's number.
    pub id: u32,
    /// The socket.
    pub package: u32,
    /// CPUs of the same core, itself included, ascending.
    pub siblings: Vec<u32>,
    /// Data and unified caches, nearest first.
    pub caches: Vec<Cache>,
}

/// A data or unified cache as one CPU sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    /// 1 is nearest.
    pub level: u32,
    /// Size in bytes.
    pub bytes: u64,
    /// Bytes of a line.
    pub line_bytes: u64,
    /// CPUs that share it, ascending.
    pub cpus: Vec<u32>,
}

impl Cpu {
    /// True for the first CPU of its core.
    pub fn leads_core(&self) -> bool {
        self.siblings.first() == Some(&self.id)
    }

    /// The farthest cache.
    pub fn last_cache(&self) -> Option<&Cache> {
        self.caches.last()
    }
}

/// CPUs that are online, ascending. A machine that tells nothing of its topology has one thread
/// a core, one socket and no known cache.
///
/// # Errors
/// When the list of CPUs cannot be read.
pub fn cpus(root: &Root) -> Result<Vec<Cpu>, HostError> {
    let cpus = online(root)?.into_iter().map(|id| {
        let dir = root.path(format!("sys/devices/system/cpu/cpu{id}"));
        let list = |name: &str| attribute::<String>(&dir, name).and_then(|text| parse_list(&text));
        let siblings = list("topology/thread_siblings_list").filter(|list| list.contains(&id));
        let mut caches: Vec<Cache> = (0..16)
            .filter_map(|index| cache(&dir.join(format!("cache/index{index}"))))
            .collect();
        caches.sort_by_key(|cache| cache.level);
        Cpu {
            id,
            package: attribute(&dir, "topology/physical_package_id").unwrap_or(0),
            siblings: siblings.unwrap_or_else(|| vec![id]),
            caches,
        }
    });
    Ok(cpus.collect())
}

/// Bytes of last-level cache on the socket that has most: the sum over its separate caches.
pub fn last_cache_bytes(cpus: &[Cpu]) -> u64 {
    let mut seen: Vec<(u32, &Cache)> = Vec::new();
    for cpu in cpus {
        if let Some(cache) = cpu.last_cache()
            && !seen.contains(&(cpu.package, cache))
        {
            seen.push((cpu.package, cache));
        }
    }
    let of = |package| {
        let caches = seen.iter().filter(|(other, _)| *other == package);
        caches.map(|(_, cache)| cache.bytes).sum()
    };
    seen.iter()
        .map(|(package, _)| of(*package))
        .max()
        .unwrap_or(0)
}

fn cache(dir: &std::path::Path) -> Option<Cache> {
    let kind: String = attribute(dir, "type")?;
    if kind == "Instruction" {
        return None;
    }
    let size: String = attribute(dir, "size")?;
    let kib: u64 = size.strip_suffix('K')?.parse().ok()?;
    let cpus: String = attribute(dir, "shared_cpu_list")?;
    Some(Cache {
        level: attribute(dir, "level")?,
        bytes: kib << 10,
        line_bytes: attribute(dir, "coherency_line_size").unwrap_or(64),
        cpus: parse_list(&cpus)?,
    })
}

/// The reserved huge pages of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HugePages {
    /// Bytes of one page.
    pub bytes: u64,
    /// Reserved and in no use.
    pub free: u64,
}

/// Reserved huge pages by size, ascending; of one node, or of the machine.
pub fn huge_pages(root: &Root, node: Option<u32>) -> Vec<HugePages> {
    let base = match node {
        Some(node) => format!("sys/devices/system/node/node{node}/hugepages"),
        None => "sys/kernel/mm/hugepages".to_owned(),
    };
    let mut sizes: Vec<HugePages> = root
        .names(&base)
        .iter()
        .filter_map(|name| {
            let kib = name.strip_prefix("hugepages-")?.strip_suffix("kB")?;
            let dir = root.path(&base).join(name);
            let free: u64 = attribute(&dir, "free_hugepages")?;
            // Pages another mapping has been promised are free only in name.
            let promised: u64 = attribute(&dir, "resv_hugepages").unwrap_or(0);
            Some(HugePages {
                bytes: kib.parse::<u64>().ok()? << 10,
                free: free.saturating_sub(promised),
            })
        })
        .collect();
    sizes.sort_by_key(|pages| pages.bytes);
    sizes
}

/// Bytes of a transparent huge page; `None` where the kernel has none or they are switched off.
pub fn transparent_page_bytes(root: &Root) -> Option<u64> {
    let dir = root.path("sys/kernel/mm/transparent_hugepage");
    let enabled: String = attribute(&dir, "enabled")?;
    if enabled.contains("[never]") {
        return None;
    }
    Some(attribute(&dir, "hpage_pmd_size").unwrap_or(2 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Root, path: &str, text: &str) {
        let at = root.path(path);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(at, text).unwrap();
    }

    #[test]
    fn two_sockets_with_split_last_level_caches() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::at(dir.path());
        write(&root, "sys/devices/system/cpu/online", "0-7\n");
        for cpu in 0..8u32 {
            let at = format!("sys/devices/system/cpu/cpu{cpu}");
            write(
                &root,
                &format!("{at}/topology/physical_package_id"),
                &(cpu / 4).to_string(),
            );
            write(
                &root,
                &format!("{at}/topology/thread_siblings_list"),
                &format!("{}", cpu & !1),
            );
            let pair = format!("{}-{}\n", cpu & !1, cpu | 1);
            if cpu < 4 {
                write(&root, &format!("{at}/topology/thread_siblings_list"), &pair);
            }
            for (index, (level, kind, size, shared)) in [
                (1, "Data", "32K", pair.clone()),
                (1, "Instruction", "32K", pair.clone()),
                (3, "Unified", "16384K", pair.clone()),
            ]
            .into_iter()
            .enumerate()
            {
                let at = format!("{at}/cache/index{index}");
                write(&root, &format!("{at}/level"), &level.to_string());
                write(&root, &format!("{at}/type"), kind);
                write(&root, &format!("{at}/size"), size);
                write(&root, &format!("{at}/shared_cpu_list"), &shared);
            }
        }
        let cpus = cpus(&root).unwrap();
        assert_eq!((cpus[3].package, cpus[4].package), (0, 1));
        assert_eq!(cpus[3].siblings, [2, 3]);
        assert!(cpus[2].leads_core() && !cpus[3].leads_core());
        // A list without the CPU itself is not believed.
        assert_eq!(cpus[5].siblings, [5]);
        assert_eq!(cpus[0].caches.len(), 2);
        assert_eq!(cpus[0].last_cache().unwrap().bytes, 16 << 20);
        assert_eq!(last_cache_bytes(&cpus), 32 << 20);
        assert_eq!(last_cache_bytes(&[]), 0);
    }

    #[test]
    fn huge_pages_that_are_promised_are_not_free() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::at(dir.path());
        for (size, free, promised) in [("1048576", "3", "1"), ("2048", "7", "9")] {
            let at = format!("sys/kernel/mm/hugepages/hugepages-{size}kB");
            write(&root, &format!("{at}/free_hugepages"), free);
            write(&root, &format!("{at}/resv_hugepages"), promised);
        }
        let (two, one) = (2 << 20, 1 << 30);
        let page = |bytes, free| HugePages { bytes, free };
        assert_eq!(huge_pages(&root, None), [page(two, 0), page(one, 2)]);
        assert_eq!(huge_pages(&root, Some(0)), []);
        assert_eq!(transparent_page_bytes(&root), None);
        let thp = "sys/kernel/mm/transparent_hugepage/enabled";
        write(&root, thp, "always [madvise] never\n");
        assert_eq!(transparent_page_bytes(&root), Some(2 << 20));
        write(&root, thp, "always madvise [never]\n");
        assert_eq!(transparent_page_bytes(&root), None);
    }

    #[test]
    fn the_live_machine_has_cores() {
        let cpus = cpus(&Root::default()).unwrap();
        assert!(cpus.iter().any(Cpu::leads_core));
        assert!(cpus.iter().all(|cpu| cpu.siblings.contains(&cpu.id)));
    }
}
