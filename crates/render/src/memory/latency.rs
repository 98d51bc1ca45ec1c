//! Latency of dependent loads: variants, and over the size of the working set.

use super::table::Table;
use super::{SPREAD, cells, size};
use result::memory::{CacheCurve, Curve, Latency, LatencyRow};

fn title(row: &LatencyRow) -> String {
    let window = match row.window_bytes {
        Some(window) => format!(" of {}", size(window)),
        None => String::new(),
    };
    format!(
        "{}{window}: stride {}, {} pages",
        row.name,
        size(row.stride_bytes),
        size(row.pages.bytes)
    )
}

/// The variants and what they tell together.
pub fn latency(latency: &Latency) -> String {
    let buffer = latency.rows.iter().map(|row| row.buffer_bytes).max();
    let mut text = format!(
        "Latency of one dependent load, ns (CPU {}, buffer {})\n",
        latency.cpu,
        size(buffer.unwrap_or(0))
    );
    let mut table = Table::new(["order"].into_iter().chain(["cycles"]).chain(SPREAD));
    for row in &latency.rows {
        let cycles = row
            .cycles
            .map_or(String::new(), |cycles| format!("{cycles:.0}"));
        let mut line = vec![title(row), cycles];
        line.extend(cells(&row.ns, 1.0, 1));
        table.row(line);
    }
    text += &table.text();
    if let Some(split) = latency.split {
        text += &format!("  DRAM {:.0} + row {:.0}", split.dram_ns, split.row_ns);
        if let Some(tlb) = split.tlb_ns {
            text += &format!(" + TLB of small pages {tlb:.0}");
        }
        text += &format!(
            " ns; at a stride of one line the prefetchers hide {:.0} ns\n",
            split.prefetch_ns
        );
    }
    text
}

/// The staircase and the steps found in it.
pub fn cache(cache: &CacheCurve) -> String {
    let mut text = format!("Latency over the working set, ns (CPU {})\n", cache.cpu);
    for curve in &cache.curves {
        text += &one_curve(curve);
    }
    text
}

fn one_curve(curve: &Curve) -> String {
    let mut text = format!(" {} pages\n", size(curve.pages.bytes));
    let mut table = Table::new(["working set"].into_iter().chain(SPREAD));
    for point in &curve.points {
        let mut line = vec![size(point.bytes)];
        line.extend(cells(&point.ns, 1.0, 2));
        table.row(line);
    }
    text += &table.text();
    if curve.plateaus.is_empty() {
        return text;
    }
    let mut table = Table::new(["level", "ns", "found up to", "the system says"]);
    for plateau in &curve.plateaus {
        let told = plateau.told_bytes.map_or_else(|| "-".to_owned(), size);
        let found = match plateau.bytes {
            0 => "-".to_owned(),
            bytes => size(bytes),
        };
        let ns = format!("{:.1}", plateau.ns);
        table.row(vec![plateau.name.clone(), ns, found, told]);
    }
    text + &table.text()
}
