//! Memory for people: tables of figures with their spread, then the conditions.
//!
//! One row is one figure: median, 95 % interval, median deviation, best sample, number of samples
//! and how many were dropped. A figure that rests on disturbed samples, or whose interval is wider
//! than its worth, says so in the last column.

mod bandwidth;
mod conditions;
mod latency;
mod table;
#[cfg(test)]
mod tests;
mod transfer;

pub use bandwidth::{bandwidth, data_sheet, loaded, scan};
pub use conditions::conditions;
pub use latency::{cache, latency};
pub use transfer::{c2c, matrix};

use result::memory::{Figure, Memory};

/// Half an interval above this share of the median makes a figure unstable.
const UNSTABLE: f64 = 0.05;

/// All sections that the document holds, and the conditions.
pub fn text(memory: &Memory) -> String {
    let mut parts = Vec::new();
    parts.extend(memory.latency.as_ref().map(latency));
    parts.extend(memory.cache.as_ref().map(cache));
    parts.extend(memory.bandwidth.as_ref().map(bandwidth));
    parts.extend(memory.loaded.iter().map(loaded));
    parts.extend(memory.c2c.as_ref().map(c2c));
    parts.extend(memory.matrix.as_ref().map(matrix));
    parts.extend(memory.scan.as_ref().map(scan));
    parts.extend(data_sheet(memory));
    parts.push(conditions(&memory.conditions));
    parts.join("\n")
}

/// The columns of every figure.
const SPREAD: [&str; 7] = ["median", "95 % interval", "MAD", "best", "n", "dropped", ""];

/// The cells of a figure, its values divided by `unit` and shown with `digits` decimals.
fn cells(figure: &Figure, unit: f64, digits: usize) -> Vec<String> {
    let show = |value: f64| format!("{:.digits$}", value / unit);
    let mark = if figure.disturbed {
        "disturbed"
    } else if figure.uncertainty() > UNSTABLE {
        "unstable"
    } else {
        ""
    };
    vec![
        show(figure.median),
        format!("{} - {}", show(figure.low), show(figure.high)),
        show(figure.mad),
        show(figure.best),
        figure.n.to_string(),
        figure.dropped.to_string(),
        mark.to_owned(),
    ]
}

/// Bytes per second in GB of 10^9.
const GB: f64 = 1e9;

/// A size for people, in binary units.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = usize::from(value.fract() > 0.05 && value < 100.0);
    format!("{value:.digits$} {}", UNITS[unit])
}

/// Numbers as the kernel lists them, `0-3,8`.
fn ranges(numbers: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match parts.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
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
