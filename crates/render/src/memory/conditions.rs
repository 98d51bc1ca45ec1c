//! The block that says under what circumstances the figures were taken.

use super::{ranges, size};
use result::memory::{Conditions, Pages};

/// The block.
pub fn conditions(c: &Conditions) -> String {
    let mut text = String::from("Conditions\n");
    let mut line = |name: &str, value: String| text += &format!("  {name:13}{value}\n");
    let smt = match c.smt {
        Some(true) => ", SMT on",
        Some(false) => ", SMT off",
        None => "",
    };
    line(
        "processor",
        format!(
            "{}; CPUs {} ({} cores{smt}), {}",
            if c.processor.is_empty() {
                "unknown"
            } else {
                &c.processor
            },
            ranges(&c.cpus),
            c.cores,
            c.isa
        ),
    );
    let cache = |cache: &result::memory::Cache| match cache.shared_by {
        0 | 1 => format!("L{} {}", cache.level, size(cache.bytes)),
        n => format!("L{} {} for {n} CPUs", cache.level, size(cache.bytes)),
    };
    if !c.caches.is_empty() {
        let words: Vec<String> = c.caches.iter().map(cache).collect();
        line("caches", words.join(", "));
    }
    if c.pages.bytes > 0 {
        line("pages", pages(&c.pages));
    }
    if !c.prefetch.is_empty() {
        line("prefetchers", c.prefetch.clone());
    }
    line("clock", clock(c));
    let governor = match (&c.governor, c.boost) {
        (Some(governor), Some(true)) => format!("{governor}, boost allowed"),
        (Some(governor), Some(false)) => format!("{governor}, no boost"),
        (Some(governor), None) => governor.clone(),
        (None, _) => "not in the hands of this system".to_owned(),
    };
    line("frequency", governor);
    line("host", host(c));
    line("limits", limits(c));
    for remark in &c.remarks {
        line("remark", remark.clone());
    }
    text
}

fn pages(pages: &Pages) -> String {
    let mut text = format!("{} {}", size(pages.bytes), pages.kind);
    if pages.share < 0.995 {
        text += &format!(" for {:.0} % of the buffer", pages.share * 100.0);
    }
    let node = |(node, share): &(u32, f64)| match *share {
        share if share > 0.995 => format!("node {node}"),
        share => format!("node {node} {:.0} %", share * 100.0),
    };
    let nodes: Vec<String> = pages.nodes.iter().map(node).collect();
    match (nodes.is_empty(), pages.in_place()) {
        (true, _) => text += "; the kernel does not say on which node",
        (false, true) => text += &format!("; on {}, as the kernel confirms", nodes.join(", ")),
        (false, false) => {
            let asked = pages.asked.unwrap_or_default();
            text += &format!("; on {}, and node {asked} was asked for", nodes.join(", "));
        }
    }
    text
}

fn clock(c: &Conditions) -> String {
    let mut text = format!("{} {:.6} GHz", c.clock.source, c.clock.ticks_per_s / 1e9);
    if let (Some(before), Some(after)) = (c.clock.core_hz_before, c.clock.core_hz_after) {
        text += &format!(
            "; the core ran at {:.2} GHz before and {:.2} GHz after ({:+.1} %)",
            before / 1e9,
            after / 1e9,
            c.clock.drift().unwrap_or(0.0) * 100.0
        );
    }
    text
}

fn host(c: &Conditions) -> String {
    let mut text = match c.hypervisor.as_deref() {
        None => "bare metal, as far as it says".to_owned(),
        Some("unknown") => "a guest of a hypervisor without a name".to_owned(),
        Some(name) => format!("a guest of {name}"),
    };
    text += &format!(", {:.2} % of the CPU time stolen", c.steal * 100.0);
    if c.numa_balancing == Some(true) {
        text += ", the kernel balances NUMA pages";
    }
    text
}

fn limits(c: &Conditions) -> String {
    let mut words = Vec::new();
    words.extend(
        c.memory_limit_bytes
            .map(|bytes| format!("memory {}", size(bytes))),
    );
    words.extend(c.cpu_limit.map(|cpus| format!("{cpus:.2} CPUs")));
    if c.throttled > 0 {
        words.push(format!("held back {} times", c.throttled));
    }
    if words.is_empty() {
        return "none from control groups".to_owned();
    }
    words.join(", ")
}
