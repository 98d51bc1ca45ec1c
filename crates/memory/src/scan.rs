//! Bandwidth of physical memory, region by region: a slow module or a missing channel shows as
//! regions that are slower than the others.
//!
//! With pages of 1 GiB reserved, each is a region. Without, memory in huge pages is sorted by the
//! physical addresses that the kernel tells to root. Without either there is nothing to go by.

use crate::error::Error;
use crate::kernel::{Isa, Op, Pass, find};
use crate::machine::{Machine, mib};
use crate::mixer::{Lead, Order, Window, Worker, session};
use crate::place::{Buffer, Home, Pages, Wish};
use crate::sample::{Better, Reading, Rule, collect};
use host::topology::{huge_pages, transparent_page_bytes};
use result::memory::{Region, Scan};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use sys::area::{Area, small_page_bytes};

/// Bytes of a region.
pub const REGION_BYTES: u64 = 1 << 30;
/// A region of scattered pages with fewer bytes than this, or than twice the last-level cache, is
/// left out.
const LEAST_BYTES: u64 = 64 << 20;

/// What is scanned.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    /// The node of the memory.
    pub node: u32,
    /// CPUs that read.
    pub cpus: Vec<u32>,
    /// At most so much memory, bytes; `u64::MAX` for all that can be had.
    pub most_bytes: u64,
    /// Samples of each region.
    pub rule: Rule,
    /// One sample.
    pub window: Window,
}

/// Reads every region.
///
/// # Errors
/// Neither 1 GiB pages are free nor are physical addresses told; CPUs or node cannot be used.
pub fn scan(machine: &Machine, subject: &Subject) -> Result<Scan, Error> {
    machine.check_node(subject.node)?;
    for &cpu in &subject.cpus {
        machine.check_cpu(cpu)?;
    }
    let (regions, physical) = regions(machine, subject)?;
    let cpus: Vec<usize> = subject.cpus.iter().map(|&cpu| cpu as usize).collect();
    let addresses: Vec<u64> = regions.keys().copied().collect();
    // Every reader has its share of each region's pieces.
    let pieces: Vec<Vec<Arc<Area>>> = regions
        .into_values()
        .map(|areas| share(areas, cpus.len()))
        .collect();
    let make = |reader: usize| {
        let own = pieces.iter().map(|pieces| {
            let own = pieces.iter().skip(reader).step_by(cpus.len());
            own.map(|area| Ok((area.clone(), pass(area)?))).collect()
        });
        Ok::<_, Error>(Reader {
            regions: own.collect::<Result<_, Error>>()?,
            next: vec![0; pieces.len()],
            region: 0,
        })
    };
    let measured = session(&cpus, make, |lead| {
        let regions = addresses.iter().enumerate();
        regions
            .map(|(variant, &address)| Region {
                address,
                rate: rate(lead, variant, subject),
            })
            .collect()
    })?;
    Ok(Scan {
        region_bytes: REGION_BYTES,
        node: subject.node,
        threads: cpus.len(),
        physical,
        regions: measured,
    })
}

fn rate(lead: &mut Lead<'_, Reader>, variant: usize, subject: &Subject) -> result::memory::Figure {
    let taken = collect(&subject.rule, Better::Higher, || {
        let outcome = lead.window(Order::variant(variant), &subject.window);
        Ok::<_, Infallible>(Reading {
            value: outcome.rate(),
            disturbed: outcome.disturbed,
        })
    });
    let Ok(figure) = taken;
    figure
}

/// Reads the pieces of one region, round and round; the unit is the byte.
#[derive(Debug)]
struct Reader {
    regions: Vec<Vec<(Arc<Area>, Pass)>>,
    /// By region, the piece where the last window ended: what it read is in the cache.
    next: Vec<usize>,
    region: usize,
}

impl Worker for Reader {
    fn begin(&mut self, order: Order) {
        self.region = order.variant;
    }

    fn step(&mut self) -> u64 {
        let pieces = &mut self.regions[self.region];
        let next = &mut self.next[self.region];
        let Some((area, pass)) = pieces.get_mut(*next) else {
            // Fewer pieces than readers: this one has nothing here.
            std::hint::spin_loop();
            return 0;
        };
        let done = pass.advance(area, 2 << 20, 0);
        // A huge page is read in one step; the only piece of a large one goes on where it was.
        *next = (*next + 1) % pieces.len();
        done
    }
}

fn pass(area: &Area) -> Result<Pass, Error> {
    let isa = Isa::widest().unwrap_or(Isa::Sse2);
    let read = [8, 4, 2, 1]
        .iter()
        .find_map(|&streams| find(Op::Read, isa, streams, false));
    let read = read.ok_or_else(|| Error::refused("there is no loop that reads"))?;
    Ok(Pass::new(read, area.bytes(), 0)?)
}

/// Cuts a single large page so that each reader gets a piece.
fn share(areas: Vec<Area>, readers: usize) -> Vec<Arc<Area>> {
    let cut = |area: Area| match area.bytes() as u64 >= REGION_BYTES {
        true => area.split(readers),
        false => vec![area],
    };
    areas.into_iter().flat_map(cut).map(Arc::new).collect()
}

/// Memory by physical region, and whether the addresses are physical.
fn regions(
    machine: &Machine,
    subject: &Subject,
) -> Result<(BTreeMap<u64, Vec<Area>>, bool), Error> {
    let root = machine.root();
    let most = subject.most_bytes;
    let sizes = [huge_pages(root, Some(subject.node)), huge_pages(root, None)];
    let of_gib = sizes.iter().find_map(|list| {
        let size = list.iter().find(|size| size.bytes == REGION_BYTES)?;
        (size.free > 0).then_some(size.free as usize)
    });
    let wish = |bytes, pages| Wish {
        bytes,
        pages,
        home: Home::Node(subject.node),
    };
    if let Some(free) = of_gib {
        let mut regions = BTreeMap::new();
        let mut physical = true;
        let count = (most / REGION_BYTES).clamp(1, free as u64) as usize;
        for number in 0..count {
            let wish = wish(REGION_BYTES, Pages::Reserved(REGION_BYTES));
            let (area, _) = Buffer::new(machine, &wish)?.into_parts();
            let address = physical_address(area.address())?;
            physical &= address.is_some();
            let key = address.unwrap_or(number as u64 * REGION_BYTES);
            regions.insert(key, vec![area]);
        }
        return Ok((regions, physical));
    }
    let Some(page) = transparent_page_bytes(root) else {
        return Err(refused("transparent huge pages are switched off"));
    };
    let room = machine.room(Some(subject.node)).bytes;
    let bytes = room.min(most) / page * page;
    let least = LEAST_BYTES.max(2 * machine.llc_bytes);
    if bytes < least {
        return Err(refused(&format!("{} can be had", mib(bytes))));
    }
    let (area, _) = Buffer::new(machine, &wish(bytes, Pages::Transparent))?.into_parts();
    let mut regions: BTreeMap<u64, Vec<Area>> = BTreeMap::new();
    for piece in area.split((bytes / page) as usize) {
        let Some(address) = physical_address(piece.address())? else {
            return Err(refused("the kernel tells physical addresses to root only"));
        };
        // A piece that is no huge page may lie anywhere.
        let last = piece.address() + page as usize - small_page_bytes();
        let end = physical_address(last)?.unwrap_or(0);
        if end == address + page - small_page_bytes() as u64 {
            regions
                .entry(address / REGION_BYTES * REGION_BYTES)
                .or_default()
                .push(piece);
        }
    }
    regions.retain(|_, pieces| pieces.len() as u64 * page >= least);
    if regions.is_empty() {
        return Err(refused("free memory is too scattered for whole regions"));
    }
    Ok((regions, true))
}

fn refused(why: &str) -> Error {
    Error::refused(format!(
        "a scan needs free pages of 1 GiB (echo N > \
         /sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages), or huge pages whose physical \
         addresses are known: {why}"
    ))
}

/// The physical address behind `address`; `None` where the kernel keeps it to itself.
fn physical_address(address: usize) -> Result<Option<u64>, Error> {
    const PRESENT: u64 = 1 << 63;
    const FRAME: u64 = (1 << 55) - 1;
    let what = "/proc/self/pagemap";
    let page = small_page_bytes() as u64;
    let pagemap = std::fs::File::open(what).map_err(Error::system(what))?;
    let mut entry = [0; 8];
    pagemap
        .read_exact_at(&mut entry, address as u64 / page * 8)
        .map_err(Error::system(what))?;
    let entry = u64::from_ne_bytes(entry);
    let frame = entry & FRAME;
    Ok((entry & PRESENT != 0 && frame != 0).then_some(frame * page))
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::Root;
    use std::time::Duration;

    #[test]
    fn a_scan_reads_its_regions_or_says_what_it_needs() {
        let mut machine = Machine::read(&Root::default()).unwrap();
        // Whether caches show does not matter here.
        machine.llc_bytes = 0;
        let subject = Subject {
            node: machine.memory_nodes()[0],
            cpus: machine.cpus.iter().take(2).map(|cpu| cpu.id).collect(),
            most_bytes: 128 << 20,
            rule: Rule {
                samples: 2,
                warm_up: 0,
                cap: Duration::from_millis(100),
                ..Rule::default()
            },
            window: Window {
                warm: Duration::from_micros(300),
                length: Duration::from_millis(3),
            },
        };
        match scan(&machine, &subject) {
            Ok(scan) => {
                assert_eq!(scan.threads, subject.cpus.len());
                assert!(scan.regions[0].rate.median > 0.0);
                assert_eq!(scan.regions[0].address % REGION_BYTES, 0);
            }
            Err(error) => {
                let text = error.to_string();
                assert!(
                    text.starts_with("a scan needs free pages of 1 GiB"),
                    "{text}"
                );
            }
        }
        let elsewhere = Subject {
            node: 900,
            ..subject
        };
        let text = scan(&machine, &elsewhere).unwrap_err().to_string();
        assert!(text.contains("no memory on node 900"), "{text}");
    }

    #[test]
    fn physical_addresses_are_told_to_root_or_not_at_all() {
        let area = Area::map(4096, sys::area::Pages::Base).unwrap();
        assert_eq!(physical_address(area.address()).unwrap(), None);
        area.populate().unwrap();
        if let Some(address) = physical_address(area.address()).unwrap() {
            assert_eq!(address % small_page_bytes() as u64, 0);
        }
    }
}
