//! One sentence: which limit bound the run, or what stood before it.

use super::{Allowed, Limit, binding};
use crate::say::grouped;

/// What was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    /// Bytes of one I/O, on average.
    pub block_bytes: u64,
    /// I/Os per second.
    pub iops: f64,
    /// I/Os that could be in flight, over all workers.
    pub depth: u64,
    /// Mean latency in nanoseconds.
    pub latency_ns: f64,
}

/// The verdict; `None` without a limit.
pub fn verdict(limits: &[Limit], measured: &Measured) -> Option<String> {
    let (limit, allowed) = binding(limits, measured.block_bytes)?;
    let percent = 100.0 * measured.iops / allowed.iops;
    let name = &limit.name;
    let size = size(limit, allowed);
    let told = |p: f64| format!("measured {p:.1} %");
    if let Some(rated) = limit
        .rated_depth
        .filter(|rated| percent < 90.0 && measured.depth < *rated)
    {
        let depth = match measured.depth {
            0 => "a depth that is not known".to_owned(),
            depth => format!("a depth of {depth}"),
        };
        return Some(format!(
            "not comparable with {name}: its {size} are at a queue depth of {rated}, this run had \
             {depth} and {percent:.1} %"
        ));
    }
    let mut text = match percent {
        p if p > 110.0 => format!(
            "faster than what was declared ({name}, {size}: {}): a cache, holes, a burst, or a \
             wrong declaration",
            told(p)
        ),
        p if p > 105.0 => format!("slightly above {name}, {size}: {}", told(p)),
        p if p >= 97.0 => format!("bound by {name}, {size}: {}", told(p)),
        p if p >= 90.0 => format!("near {name}, {size}: {}", told(p)),
        // Never rounded up to a share that would be near.
        p => format!(
            "below every known limit ({:.0} % of {name}, {size})",
            p.floor()
        ),
    };
    if percent < 90.0 && measured.latency_ns > 0.0 && measured.depth > 0 {
        // Little's law: what is in flight, over how long each stays.
        let possible = measured.depth as f64 * 1e9 / measured.latency_ns;
        let (depth, ms) = (measured.depth, measured.latency_ns / 1e6);
        text += &format!(
            ": queue depth {depth} x {ms:.2} ms allows {} IOPS",
            grouped(possible.round() as u64)
        );
        if possible < allowed.iops * 1.1 {
            let needed = (allowed.iops * measured.latency_ns / 1e9).ceil() as u64;
            text += &format!("; a depth of {needed} would be needed");
        }
    }
    if let Some(lasting) = &limit.while_it_lasts {
        text += &format!(" ({lasting})");
    }
    Some(text)
}

/// The figure of the leg that binds, in the unit in which it is sold.
fn size(limit: &Limit, allowed: Allowed) -> String {
    match (allowed.by_bytes, limit.bytes_per_s, limit.iops) {
        (true, Some(bytes), _) => format!("{:.2} MB/s", bytes / 1e6),
        (_, _, Some(iops)) => format!("{} IOPS", grouped(iops.round() as u64)),
        _ => String::new(),
    }
}
