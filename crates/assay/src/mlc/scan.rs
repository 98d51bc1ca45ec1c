//! `--memory_bandwidth_scan`.

use super::paper::put;
use super::setup::Setup;
use anyhow::{Context, bail};
use memory::sample::Rule;
use memory::scan::{self, Subject};
use render::mlc as text;
use std::time::Duration;

/// Width of the histogram's buckets, MB/s.
const BUCKET: u32 = 5000;
/// Longest time for a region.
const REGION_CAP: Duration = Duration::from_secs(10);

/// Bandwidth of each GiB of a node's memory.
pub fn run(setup: &Setup) -> anyhow::Result<()> {
    let flags = &setup.flags;
    let nodes = setup.machine.memory_nodes();
    let node = flags.node.or(nodes.first().copied());
    let node = node.context("no node of this machine has memory")?;
    let cpu_node = match flags.range {
        Some(number) => u32::try_from(number).context("-n: no such node")?,
        None => node,
    };
    setup.machine.check_node(cpu_node)?;
    let cpus = cpus(setup, cpu_node)?;
    put(&text::scan_start(cpus.len(), cpu_node, node))?;
    let scan = scan::scan(
        &setup.machine,
        &Subject {
            node,
            cpus,
            most_bytes: u64::MAX,
            rule: Rule {
                samples: flags.passes as usize,
                cap: REGION_CAP,
                ..Rule::default()
            },
            window: setup.window(),
        },
    )?;
    put(&text::scan_pages(scan.regions.len(), scan.region_bytes))?;
    if !scan.physical {
        put(&text::remark(
            "The kernel does not tell physical addresses: regions are counted from the first",
        ))?;
    }
    let rates: Vec<(u64, f64)> = scan
        .regions
        .iter()
        .map(|region| (region.address, region.rate.median))
        .collect();
    put(&text::scan_rows(&rates, flags.third.unwrap_or(BUCKET)))?;
    if setup.verbose() {
        for region in &scan.regions {
            let what = format!("{:#x}", region.address);
            put(&text::spread(&what, &region.rate, text::MB_PER_S))?;
        }
    }
    Ok(())
}

/// The CPUs that read: those of the node, or as many as `-t` says.
fn cpus(setup: &Setup, node: u32) -> anyhow::Result<Vec<u32>> {
    let here = setup.machine.nodes.iter().find(|known| known.id == node);
    let usable = setup.machine.workers(setup.threads());
    let mut cpus: Vec<u32> = usable
        .into_iter()
        .filter(|cpu| here.is_none_or(|node| node.cpus.contains(cpu)))
        .collect();
    if cpus.is_empty() {
        bail!("node {node} has no CPU that this process may use; name another with `-n`");
    }
    if let Some(threads) = setup.flags.seconds {
        let threads = threads as usize;
        if threads == 0 || threads > cpus.len() {
            bail!("-t{threads}: 1 to {} threads can read here", cpus.len());
        }
        cpus.truncate(threads);
    }
    Ok(cpus)
}
