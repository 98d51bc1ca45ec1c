//! Bandwidth, alone and against latency, region by region, and beside the data sheet.

use super::table::Table;
use super::{GB, SPREAD, cells, ranges, size};
use result::memory::{Bandwidth, Loaded, Memory, Scan, core_ceiling};

/// The mixes with all three ways to count.
pub fn bandwidth(bandwidth: &Bandwidth) -> String {
    let mut text = format!(
        "Bandwidth, GB/s of 10^9 bytes (buffers of {} for each thread, {} pages)\n",
        size(bandwidth.buffer_bytes),
        size(bandwidth.pages.bytes)
    );
    let head = ["mix", "threads", "memory", "copied"].into_iter();
    let mut table = Table::new(head.chain(SPREAD).chain(["kernel"]));
    for row in &bandwidth.rows {
        let rate = row.rate.median;
        let show = |share: f64| match share {
            0.0 => "-".to_owned(),
            share => format!("{:.1}", rate * share / GB),
        };
        let mut line = vec![
            row.name.clone(),
            row.cpus.len().to_string(),
            show(row.mix.controller()),
            show(row.mix.copied()),
        ];
        line.extend(cells(&row.rate, GB, 2));
        line.push(row.kernel.clone());
        table.row(line);
    }
    text += &table.text();
    text += "\
  The median counts bytes loaded and stored, as STREAM does. `memory` adds the read that
  comes before a store through the cache, as MLC does; processors may leave it out, so
  it is an estimate. `copied` counts bytes stored, as memcpy tests do.
";
    if !bandwidth.search.is_empty() {
        text += &format!(
            "  Kernels are the best of {} that were tried in turn before.\n",
            bandwidth.search.len()
        );
    }
    text
}

/// The curve and its knee.
pub fn loaded(loaded: &Loaded) -> String {
    let load = ranges(&loaded.load_cpus);
    let mut text = match loaded.cpu {
        Some(cpu) => format!(
            "Latency of CPU {cpu} while CPUs {load} make load: {} ({})\n",
            loaded.name, loaded.kernel
        ),
        None => format!("Load of CPUs {load}: {} ({})\n", loaded.name, loaded.kernel),
    };
    let head = ["delay", "GB/s"].into_iter();
    let mut table = Table::new(head.chain(SPREAD));
    for point in &loaded.points {
        let rate = format!("{:.2}", point.rate.median / GB);
        let mut line = vec![point.delay.to_string(), rate];
        line.extend(match &point.ns {
            Some(ns) => cells(ns, 1.0, 1),
            None => cells(&point.rate, GB, 2),
        });
        table.row(line);
    }
    text += &table.text();
    if let Some(idle) = &loaded.idle_ns {
        text += &format!("  idle {:.1} ns\n", idle.median);
    }
    if !loaded.at.is_empty() {
        let at =
            |at: &result::memory::AtShare| format!("{:.0} %: {:.0} ns", at.share * 100.0, at.ns);
        let words: Vec<String> = loaded.at.iter().map(at).collect();
        text += &format!(
            "  at shares of the highest bandwidth: {}\n",
            words.join(", ")
        );
    }
    match loaded.knee {
        Some(knee) => {
            text += &format!("  knee at {:.2} GB/s, {:.0} ns\n", knee.rate / GB, knee.ns);
        }
        None => text += "  no knee: the load did not raise the latency enough to find one\n",
    }
    text
}

/// The regions, slowest first, and how far they lie apart.
pub fn scan(scan: &Scan) -> String {
    let mut text = format!(
        "Bandwidth of {} regions of {} on node {}, {} threads, GB/s\n",
        scan.regions.len(),
        size(scan.region_bytes),
        scan.node,
        scan.threads
    );
    let what = if scan.physical {
        "physical address"
    } else {
        "offset"
    };
    let mut table = Table::new([what].into_iter().chain(SPREAD));
    let mut regions: Vec<_> = scan.regions.iter().collect();
    regions.sort_by(|a, b| a.rate.median.total_cmp(&b.rate.median));
    for region in regions {
        let mut line = vec![format!("{:#x}", region.address)];
        line.extend(cells(&region.rate, GB, 2));
        table.row(line);
    }
    text += &table.text();
    let mut rates: Vec<f64> = scan.regions.iter().map(|r| r.rate.median).collect();
    rates.sort_by(f64::total_cmp);
    if let (Some(low), Some(high)) = (rates.first(), rates.last()) {
        let middle = rates[rates.len() / 2];
        text += &format!(
            "  slowest {:.2}, middle {:.2}, fastest {:.2} GB/s; a slow module or channel shows as\n\
             \x20 regions well below the middle\n",
            low / GB,
            middle / GB,
            high / GB
        );
    }
    text
}

/// Lines that a core of today can have outstanding towards the memory, for the ceiling of one
/// core: line fill buffers and the queue behind the second cache.
const OUTSTANDING: u32 = 48;

/// Measured bandwidth beside what the modules could do, and the ceiling of one core.
pub fn data_sheet(memory: &Memory) -> Option<String> {
    let best = |one: bool| {
        let rows = memory.bandwidth.iter().flat_map(|b| &b.rows);
        rows.filter(|row| row.name == "read" && (row.cpus.len() == 1) == one)
            .map(|row| row.rate.median * row.mix.controller())
            .reduce(f64::max)
    };
    let mut text = String::new();
    if let Some(sheet) = &memory.data_sheet {
        text += &format!(
            "Data sheet ({}): {}, {} channels x {} MT/s x {} B = {:.1} GB/s\n",
            sheet.source,
            sheet.modules,
            sheet.channels,
            sheet.mt_per_s,
            sheet.transfer_bytes,
            sheet.peak / GB
        );
        if let Some(rate) = best(false).or_else(|| best(true)) {
            text += &format!(
                "  reads reach {:.1} GB/s, {:.0} % of it\n",
                rate / GB,
                rate / sheet.peak * 100.0
            );
        }
        if sheet.empty_slots > 0 {
            text += &format!("  {} slots are empty\n", sheet.empty_slots);
        }
    }
    let row = memory
        .latency
        .as_ref()
        .and_then(|latency| latency.rows.first());
    if let (Some(row), Some(rate)) = (row, best(true)) {
        let ceiling = core_ceiling(OUTSTANDING, row.ns.median);
        let lines = rate * row.ns.median / 1e9 / 64.0;
        text += &format!(
            "One core: {:.1} GB/s at {:.0} ns keeps {lines:.0} lines under way; {OUTSTANDING} lines \
             would be {:.1} GB/s\n",
            rate / GB,
            row.ns.median,
            ceiling / GB
        );
    }
    (!text.is_empty()).then_some(text)
}
