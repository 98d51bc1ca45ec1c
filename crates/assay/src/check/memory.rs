//! The memory part of the check: a few seconds for one latency, reads of one core and of all, and
//! copies of all. `assay mem` has the rest.

use memory::bandwidth::{self, Job, Subject};
use memory::kernel::Op;
use memory::latency::{self, Idle, Sampling};
use memory::layout::Layout;
use memory::machine::{Machine, Threads};
use memory::mixer::Window;
use memory::place::Wish;
use memory::sample::Rule;
use memory::{Error, Figure};
use std::time::Duration;

/// What was found.
pub struct Memory {
    idle: Idle,
    /// Title, and bytes loaded and stored per second.
    rates: Vec<(String, Figure)>,
}

/// A second or so for each figure.
fn rule(cap_ms: u64) -> Rule {
    Rule {
        samples: 9,
        until: None,
        warm_up: 1,
        cap: Duration::from_millis(cap_ms),
    }
}

/// Measures.
///
/// # Errors
/// No CPU may be used, or there is no room for a buffer.
pub fn measure() -> Result<Memory, Error> {
    let machine = Machine::read(&host::Root::default())?;
    let cpus = machine.workers(Threads::Cores);
    let sizes = machine.sizes(cpus.len(), None);
    let first = cpus.first().copied().unwrap_or(0);
    let wish = |bytes| Wish {
        bytes,
        ..Wish::default()
    };
    let chain = latency::Subject {
        wish: wish(sizes.latency_bytes),
        layout: Layout::Random,
    };
    let how = Sampling {
        rule: rule(1000),
        sample: Duration::from_millis(20),
    };
    let idle = latency::idle(&machine, first, &[chain], &how)?;
    let idle = idle
        .into_iter()
        .next()
        .ok_or_else(|| Error::Refused("one chain of loads gives one latency".to_owned()))?;
    let mut rates = Vec::new();
    let mut add = |cpus: &[u32], jobs: &[(&str, Op)]| {
        let subject = Subject {
            cpus: cpus.to_vec(),
            wish: wish(sizes.thread_bytes),
            shared: false,
            jobs: jobs.iter().map(|(_, op)| Job::from(*op)).collect(),
            isa: None,
            rule: rule(700 * jobs.len() as u64),
            window: Window::default(),
        };
        let cores = match cpus.len() {
            1 => "1 core".to_owned(),
            cores => format!("{cores} cores"),
        };
        let rows = bandwidth::measure(&machine, &subject)?.rows;
        for ((name, _), row) in jobs.iter().zip(rows) {
            rates.push((format!("{name}, {cores}"), row.rate));
        }
        Ok::<_, Error>(())
    };
    let (read, copy) = (("memory read", Op::Read), ("memory copy", Op::CopyNt));
    if cpus.len() > 1 {
        add(&cpus[..1], &[read])?;
    }
    add(&cpus, &[read, copy])?;
    Ok(Memory { idle, rates })
}

impl Memory {
    /// One line a figure: median, 95 % interval, how many samples were dropped.
    pub fn text(&self) -> String {
        let line = |title: &str, figure: &Figure, unit: f64, name: &str, digits: usize| {
            let show = |value: f64| format!("{:.digits$}", value / unit);
            let disturbed = if figure.disturbed { ", disturbed" } else { "" };
            format!(
                "{title:20} {:>12} {:>22} {:>11}{disturbed}\n",
                format!("{} {name}", show(figure.median)),
                format!("{} - {}", show(figure.low), show(figure.high)),
                figure.dropped,
            )
        };
        let mut text = format!(
            "\n{:20} {:>12} {:>22} {:>11}\n",
            "", "median", "95 % interval", "dropped"
        );
        text += &line("memory latency", &self.idle.ns, 1.0, "ns", 1);
        for (title, rate) in &self.rates {
            text += &line(title, rate, 1e9, "GB/s", 2);
        }
        let placement = &self.idle.placement;
        text += &format!(
            "{:20} random loads over {} MiB, {} pages; copies count what is read and written\n",
            "memory method",
            placement.bytes >> 20,
            placement.pages()
        );
        text
    }
}
