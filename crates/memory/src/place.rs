//! Buffers that are where they claim to be.
//!
//! A buffer is checked against free memory and the control group's limit before it is filled, so
//! that too large a wish ends in a message and not with the process killed. It is bound or
//! touched first from the right CPU, filled, read once, and then asked which nodes and what pages
//! it really got; the answer goes with the figures.

use crate::error::Error;
use crate::machine::{Machine, mib};
use host::Root;
use host::topology::{huge_pages, transparent_page_bytes};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use sys::area::{self, Area};

/// Which pages a buffer should have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pages {
    /// Large ones: reserved if enough are free, else transparent.
    #[default]
    Large,
    /// The base size, 4 KiB on most machines.
    Small,
    /// Transparent huge pages.
    Transparent,
    /// Reserved huge pages (hugetlb) of this many bytes, or nothing.
    Reserved(u64),
}

/// Where a buffer's memory should come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Home {
    /// The node of the thread that makes the buffer.
    #[default]
    Here,
    /// The node of this CPU, which touches it first.
    Cpu(u32),
    /// This node only.
    Node(u32),
    /// A file in this directory, such as a file system on persistent memory.
    Files(PathBuf),
}

/// A buffer as wished for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// Bytes; rounded up to whole pages.
    pub bytes: u64,
    /// Its pages.
    pub pages: Pages,
    /// Its memory.
    pub home: Home,
}

/// What a buffer really got.
#[derive(Clone, Debug, PartialEq)]
pub struct Placement {
    /// Bytes.
    pub bytes: u64,
    /// Bytes of most of its pages.
    pub page_bytes: u64,
    /// Those pages are reserved ones (hugetlb).
    pub reserved: bool,
    /// Share of the buffer on pages of `page_bytes`, 0 to 1.
    pub page_share: f64,
    /// Nodes and the share of the buffer on each, most first; empty where the kernel has no
    /// NUMA and for files.
    pub nodes: Vec<(u32, f64)>,
    /// The node that was asked for.
    pub asked: Option<u32>,
}

impl From<&Placement> for result::memory::Pages {
    fn from(got: &Placement) -> Self {
        let kind = match (got.reserved, got.page_bytes > small_page()) {
            (true, _) => "hugetlb",
            (false, true) => "transparent",
            (false, false) => "small",
        };
        result::memory::Pages {
            bytes: got.page_bytes,
            kind: kind.to_owned(),
            share: got.page_share,
            nodes: got.nodes.clone(),
            asked: got.asked,
        }
    }
}

impl Placement {
    /// The pages in words, such as `2 MiB transparent`.
    pub fn pages(&self) -> String {
        let size = mib(self.page_bytes).replace(".0", "");
        let kind = match (self.reserved, self.page_bytes > small_page()) {
            (true, _) => " reserved",
            (false, true) => " transparent",
            (false, false) => "",
        };
        match self.page_share < 0.995 {
            true => format!("{size}{kind} ({:.0} %)", self.page_share * 100.0),
            false => format!("{size}{kind}"),
        }
    }

    /// True if all of it is on `node`, or nothing is known of nodes.
    pub fn is_on(&self, node: u32) -> bool {
        self.nodes.iter().all(|&(other, _)| other == node)
    }
}

/// See the module.
#[derive(Debug)]
pub struct Buffer {
    area: Area,
    got: Placement,
}

/// Bytes that other threads have checked and not yet filled.
static PROMISED: AtomicU64 = AtomicU64::new(0);

/// Takes a promise back when the memory is filled or refused.
struct Promise(u64);

impl Drop for Promise {
    fn drop(&mut self) {
        PROMISED.fetch_sub(self.0, Ordering::Relaxed);
    }
}

impl Buffer {
    /// Makes and fills the buffer from the calling thread, which should be pinned already.
    ///
    /// # Errors
    /// There is no room, the pages wished for are not free, the node or CPU cannot be used.
    pub fn new(machine: &Machine, wish: &Wish) -> Result<Buffer, Error> {
        match wish.home {
            Home::Cpu(cpu) => {
                machine.check_cpu(cpu)?;
                on_cpu(cpu, || Buffer::fill(machine, wish))?
            }
            _ => Buffer::fill(machine, wish),
        }
    }

    fn fill(machine: &Machine, wish: &Wish) -> Result<Buffer, Error> {
        if let Home::Files(dir) = &wish.home {
            return in_file(dir, wish);
        }
        let node = match wish.home {
            Home::Node(node) => {
                machine.check_node(node)?;
                Some(node)
            }
            _ => None,
        };
        let pages = choose(machine, wish, node)?;
        let _promise = match pages {
            // Reserved pages are out of everybody else's way.
            area::Pages::Huge(_) => Promise(0),
            _ => promise(machine, wish.bytes, node)?,
        };
        let area = Area::map(wish.bytes as usize, pages)
            .map_err(Error::system(format!("a buffer of {}", mib(wish.bytes))))?;
        // Without a choice of nodes there is nothing to bind, and some kernels cannot.
        if let Some(node) = node.filter(|_| machine.nodes.len() > 1) {
            area.bind(&[node])
                .map_err(Error::system(format!("binding memory to node {node}")))?;
        }
        area.populate().map_err(Error::system(format!(
            "filling a buffer of {} with {}",
            mib(wish.bytes),
            wanted(pages)
        )))?;
        read_once(&area);
        let mut got = look(&area, machine.root())?;
        got.asked = node;
        Ok(Buffer { area, got })
    }

    /// What it got.
    pub fn placement(&self) -> &Placement {
        &self.got
    }

    /// The memory.
    pub fn area(&self) -> &Area {
        &self.area
    }

    /// The memory and what it is.
    pub fn into_parts(self) -> (Area, Placement) {
        (self.area, self.got)
    }
}

/// Runs `work` in a thread of its own that may run on `cpu` only.
///
/// # Errors
/// The thread cannot be pinned there.
pub fn on_cpu<T: Send>(cpu: u32, work: impl FnOnce() -> T + Send) -> Result<T, Error> {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            pin(cpu)?;
            Ok(work())
        });
        match thread.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Binds the calling thread to `cpu`.
///
/// # Errors
/// The CPU is offline or not allowed.
pub fn pin(cpu: u32) -> Result<(), Error> {
    sys::process::set_affinity(&[cpu as usize])
        .map_err(Error::system(format!("pinning to CPU {cpu}")))
}

fn small_page() -> u64 {
    area::small_page_bytes() as u64
}

/// Turns the wish into what the kernel is asked for.
fn choose(machine: &Machine, wish: &Wish, node: Option<u32>) -> Result<area::Pages, Error> {
    let root = machine.root();
    let free = |bytes: u64| {
        // Kernels without NUMA have no counters for a node.
        let lists = [huge_pages(root, node), huge_pages(root, None)];
        let list = lists.into_iter().find(|list| !list.is_empty());
        let of = |list: &Vec<host::topology::HugePages>| {
            let size = list.iter().find(|size| size.bytes == bytes)?;
            Some(size.free)
        };
        list.as_ref().and_then(of)
    };
    let transparent = transparent_page_bytes(root).map(|bytes| bytes as usize);
    match wish.pages {
        Pages::Small => Ok(area::Pages::Base),
        Pages::Transparent => match transparent {
            Some(bytes) => Ok(area::Pages::Transparent(bytes)),
            None => Err(Error::refused(
                "transparent huge pages are switched off \
                 (/sys/kernel/mm/transparent_hugepage/enabled is never)",
            )),
        },
        Pages::Reserved(bytes) => match free(bytes) {
            None => Err(Error::refused(format!(
                "this kernel has no reserved pages of {}; it has {}",
                mib(bytes),
                sizes_there_are(root)
            ))),
            Some(count) if count < wish.bytes.div_ceil(bytes) => Err(Error::refused(format!(
                "{} need {} reserved pages of {} and {count} are free{}; root can reserve them: \
                 echo N > {}",
                mib(wish.bytes),
                wish.bytes.div_ceil(bytes),
                mib(bytes),
                node.map_or(String::new(), |node| format!(" on node {node}")),
                pool(bytes, node),
            ))),
            Some(_) => Ok(area::Pages::Huge(bytes as usize)),
        },
        Pages::Large => {
            let bytes = transparent.unwrap_or(2 << 20);
            match free(bytes as u64) {
                Some(count) if count >= wish.bytes.div_ceil(bytes as u64) => {
                    Ok(area::Pages::Huge(bytes))
                }
                _ => Ok(transparent.map_or(area::Pages::Base, area::Pages::Transparent)),
            }
        }
    }
}

fn sizes_there_are(root: &Root) -> String {
    let sizes: Vec<String> = huge_pages(root, None)
        .iter()
        .map(|size| mib(size.bytes))
        .collect();
    match sizes.is_empty() {
        true => "none".to_owned(),
        false => sizes.join(", "),
    }
}

fn pool(bytes: u64, node: Option<u32>) -> String {
    let dir = match node {
        Some(node) => format!("/sys/devices/system/node/node{node}/hugepages"),
        None => "/sys/kernel/mm/hugepages".to_owned(),
    };
    format!("{dir}/hugepages-{}kB/nr_hugepages", bytes >> 10)
}

fn wanted(pages: area::Pages) -> String {
    match pages {
        area::Pages::Base => "small pages".to_owned(),
        area::Pages::Transparent(_) => "transparent huge pages".to_owned(),
        area::Pages::Huge(bytes) => format!("reserved pages of {}", mib(bytes as u64)),
    }
}

/// Sets memory aside before it is touched, also against other threads that are about to. What is
/// refused is set aside at no moment, or it would be in the way of others.
fn promise(machine: &Machine, bytes: u64, node: Option<u32>) -> Result<Promise, Error> {
    let room = machine.room(node);
    let fits = |before: u64| {
        let after = before.checked_add(bytes)?;
        (bytes > 0 && after <= room.bytes).then_some(after)
    };
    match PROMISED.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits) {
        Ok(_) => Ok(Promise(bytes)),
        Err(before) => Err(Error::refused(format!(
            "a buffer of {} does not fit: {} leaves {} to use",
            mib(bytes),
            room.limit,
            mib(room.bytes.saturating_sub(before))
        ))),
    }
}

fn in_file(dir: &std::path::Path, wish: &Wish) -> Result<Buffer, Error> {
    let place = dir.display();
    if wish.pages != Pages::Large && wish.pages != Pages::Small {
        return Err(Error::refused(format!(
            "the pages of a file in {place} are its file system's; page sizes cannot be chosen"
        )));
    }
    let file = area::nameless_file(dir).map_err(Error::system(format!("a file in {place}")))?;
    let what = format!("a file of {} in {place}", mib(wish.bytes));
    let area = Area::file(&file, wish.bytes as usize).map_err(Error::system(what))?;
    area.populate()
        .map_err(Error::system(format!("filling a file in {place}")))?;
    read_once(&area);
    let mut got = look(&area, &Root::default())?;
    got.nodes.clear();
    Ok(Buffer { area, got })
}

/// Loads a word of every small page: a host may hand out pages of its own only now.
fn read_once(area: &Area) {
    let mut sum = 0u64;
    for offset in (0..area.bytes()).step_by(area::small_page_bytes()) {
        sum = sum.wrapping_add(area.load(offset));
    }
    std::hint::black_box(sum);
}

/// Nodes by `move_pages` of up to 1024 places, page size by `/proc/self/smaps`.
fn look(area: &Area, root: &Root) -> Result<Placement, Error> {
    let bytes = area.bytes();
    let step = (bytes / 1024).max(area::small_page_bytes()) & !7;
    let offsets: Vec<usize> = (0..bytes).step_by(step).collect();
    // A kernel without NUMA has no such call, and then there is one node.
    let found = area.nodes(&offsets).unwrap_or_default();
    let mut nodes: Vec<(u32, f64)> = Vec::new();
    for node in found.iter().filter_map(|&node| u32::try_from(node).ok()) {
        match nodes.iter_mut().find(|(other, _)| *other == node) {
            Some((_, share)) => *share += 1.0 / found.len() as f64,
            None => nodes.push((node, 1.0 / found.len() as f64)),
        }
    }
    nodes.sort_by(|a, b| b.1.total_cmp(&a.1));
    let smaps = root.text("proc/self/smaps")?;
    let (page_bytes, reserved, page_share) =
        pages_of(&smaps, area.address(), bytes as u64).unwrap_or((small_page(), false, 1.0));
    Ok(Placement {
        bytes: bytes as u64,
        page_bytes,
        reserved,
        page_share,
        nodes,
        asked: None,
    })
}

/// Page size, whether reserved, and share of the mapping that begins at `address`.
fn pages_of(smaps: &str, address: usize, bytes: u64) -> Option<(u64, bool, f64)> {
    let begins = |line: &&str| {
        let first = line.split_once('-').map(|(first, _)| first);
        first.and_then(|first| usize::from_str_radix(first, 16).ok()) == Some(address)
    };
    let mut lines = smaps.lines().skip_while(|line| !begins(line));
    lines.next()?;
    let mut kernel_page = small_page();
    let mut huge = 0;
    for line in lines {
        let mut words = line.split_whitespace();
        let (Some(key), Some(value)) = (words.next(), words.next()) else {
            continue;
        };
        // The next mapping's first line has no colon at the end of its first word.
        let Some(key) = key.strip_suffix(':') else {
            break;
        };
        let value = value.parse::<u64>().map_or(0, |kib| kib << 10);
        match key {
            "KernelPageSize" => kernel_page = value,
            "AnonHugePages" | "ShmemPmdMapped" | "FilePmdMapped" => huge += value,
            _ => {}
        }
    }
    if kernel_page > small_page() {
        return Some((kernel_page, true, 1.0));
    }
    let share = huge as f64 / bytes as f64;
    match share >= 0.5 {
        true => {
            let page = transparent_page_bytes(&Root::default()).unwrap_or(2 << 20);
            Some((page, false, share.min(1.0)))
        }
        false => Some((small_page(), false, 1.0 - share)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Machine {
        Machine::read(&Root::default()).unwrap()
    }

    fn wish(mib: u64, pages: Pages, home: Home) -> Wish {
        Wish {
            bytes: mib << 20,
            pages,
            home,
        }
    }

    #[test]
    fn small_pages_are_small_and_on_the_node_asked_for() {
        let machine = machine();
        let node = machine.memory_nodes()[0];
        let cpu = machine.cpus.last().unwrap().id;
        for home in [Home::Here, Home::Cpu(cpu), Home::Node(node)] {
            let buffer = Buffer::new(&machine, &wish(8, Pages::Small, home.clone())).unwrap();
            let got = buffer.placement();
            assert_eq!((got.bytes, got.page_bytes), (8 << 20, small_page()));
            assert!(!got.reserved && got.page_share > 0.99, "{got:?}");
            let shares: f64 = got.nodes.iter().map(|(_, share)| share).sum();
            assert!(got.nodes.is_empty() || (shares - 1.0).abs() < 1e-9);
            match home {
                Home::Node(node) => assert!(got.is_on(node)),
                Home::Cpu(cpu) => assert!(got.is_on(machine.node_of(cpu).unwrap())),
                _ => {}
            }
        }
    }

    #[test]
    fn transparent_pages_are_told_apart_from_small_ones() {
        let machine = machine();
        let buffer = Buffer::new(&machine, &wish(16, Pages::Transparent, Home::Here));
        match transparent_page_bytes(machine.root()) {
            None => assert!(buffer.unwrap_err().to_string().contains("switched off")),
            Some(bytes) => {
                let got = buffer.unwrap().placement().clone();
                // Fragmented memory may leave small pages; then that is what is told.
                assert!(got.page_bytes == bytes || got.page_bytes == small_page());
                assert!(!got.reserved);
            }
        }
    }

    /// What does not fit anywhere is no reason to refuse what does.
    #[test]
    fn a_refusal_is_in_nobodys_way() {
        let machine = machine();
        let huge = wish(1 << 30, Pages::Small, Home::Here);
        std::thread::scope(|scope| {
            let refused = scope.spawn(|| (0..2000).all(|_| Buffer::new(&machine, &huge).is_err()));
            for _ in 0..200 {
                let small = Buffer::new(&machine, &wish(1, Pages::Small, Home::Here));
                assert!(small.is_ok(), "{small:?}");
            }
            assert!(refused.join().unwrap());
        });
    }

    #[test]
    fn what_does_not_fit_is_refused_before_it_is_touched() {
        let machine = machine();
        let text = |wish: &Wish| Buffer::new(&machine, wish).unwrap_err().to_string();
        let far = text(&wish(1 << 30, Pages::Small, Home::Here));
        assert!(
            far.contains("does not fit") && far.contains("leaves"),
            "{far}"
        );
        let none = text(&wish(1 << 30, Pages::Reserved(2 << 20), Home::Here));
        assert!(
            none.contains("nr_hugepages") || none.contains("no reserved"),
            "{none}"
        );
        let odd = text(&wish(1, Pages::Reserved(3 << 20), Home::Here));
        assert!(
            odd.starts_with("this kernel has no reserved pages of 3 MiB"),
            "{odd}"
        );
        let node = text(&wish(1, Pages::Small, Home::Node(900)));
        assert!(node.starts_with("there is no memory on node 900"), "{node}");
        let cpu = text(&wish(1, Pages::Small, Home::Cpu(100_000)));
        assert!(cpu.starts_with("CPU 100000 is offline"), "{cpu}");
    }

    #[test]
    fn files_hold_buffers_and_leave_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let machine = machine();
        let home = Home::Files(dir.path().to_owned());
        let buffer = Buffer::new(&machine, &wish(2, Pages::Large, home)).unwrap();
        buffer.area().store(4096, 5);
        assert_eq!(buffer.area().load(4096), 5);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        let home = Home::Files(dir.path().join("missing"));
        let text = Buffer::new(&machine, &wish(2, Pages::Large, home)).unwrap_err();
        assert!(text.to_string().starts_with("a file in "), "{text}");
    }

    #[test]
    fn smaps_tell_page_sizes() {
        let smaps = "7f0000000000-7f0000400000 rw-p 00000000 00:00 0\nSize: 4096 kB\n\
                     KernelPageSize: 4 kB\nAnonHugePages: 2048 kB\nVmFlags: rd wr\n\
                     7f0000600000-7f0000a00000 rw-p 00000000 00:0f 1 /anon_hugepage (deleted)\n\
                     KernelPageSize: 2048 kB\nAnonHugePages: 0 kB\n";
        let large = transparent_page_bytes(&Root::default()).unwrap_or(2 << 20);
        let half = pages_of(smaps, 0x7f00_0000_0000, 4 << 20);
        assert_eq!(half, Some((large, false, 0.5)));
        let reserved = pages_of(smaps, 0x7f00_0060_0000, 4 << 20);
        assert_eq!(reserved, Some((2 << 20, true, 1.0)));
        assert_eq!(pages_of(smaps, 0x1000, 1), None);
    }

    #[test]
    fn placements_in_words() {
        let mut got = Placement {
            bytes: 1 << 30,
            page_bytes: 2 << 20,
            reserved: false,
            page_share: 1.0,
            nodes: vec![(0, 1.0)],
            asked: None,
        };
        assert_eq!(got.pages(), "2 MiB transparent");
        got.page_share = 0.75;
        assert_eq!(got.pages(), "2 MiB transparent (75 %)");
        got.page_share = 1.0;
        got.page_bytes = 1 << 30;
        got.reserved = true;
        assert_eq!(got.pages(), "1 GiB reserved");
        assert!(got.is_on(0) && !got.is_on(1));
    }
}
