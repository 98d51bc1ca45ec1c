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
use result::memory::{Bandwidth, BandwidthRow};
use std::time::Duration;

/// What was found.
pub struct Memory {
    idle: Idle,
    /// Bytes loaded and stored per second, with a title for each row.
    rates: Bandwidth,
    titles: Vec<String>,
    conditions: result::memory::Conditions,
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
    let before = crate::mem::Before::look(machine.root());
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
    let mut rates = Bandwidth::default();
    let mut titles = Vec::new();
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
        let got = bandwidth::measure(&machine, &subject)?;
        if let Some(placement) = got.placements.first() {
            rates.buffer_bytes = placement.bytes;
            rates.pages = placement.into();
        }
        for ((name, op), row) in jobs.iter().zip(got.rows) {
            titles.push(format!("memory {name}, {cores}"));
            rates.rows.push(BandwidthRow {
                name: (*name).to_owned(),
                cpus: cpus.to_vec(),
                kernel: row.setting.name(),
                mix: crate::mem::touched(*op),
                rate: row.rate,
                each: row.each,
            });
        }
        Ok::<_, Error>(())
    };
    let (read, copy) = (("read", Op::Read), ("copy NT", Op::CopyNt));
    if cpus.len() > 1 {
        add(&cpus[..1], &[read])?;
    }
    add(&cpus, &[read, copy])?;
    Ok(Memory {
        idle,
        rates,
        titles,
        conditions: before.conditions(
            &machine,
            memory::kernel::Isa::widest().map_or("none", |isa| isa.name()),
        ),
    })
}

impl Memory {
    /// One line a figure: median, 95 % interval, how many samples were dropped.
    pub fn text(&self) -> String {
        let line = |title: &str, figure: &Figure, unit: f64, name: &str, digits: usize| {
            let show = |value: f64| format!("{:.digits$}", value / unit);
            let disturbed = if figure.disturbed { ", disturbed" } else { "" };
            format!(
                "{title:24} {:>12} {:>22} {:>11}{disturbed}\n",
                format!("{} {name}", show(figure.median)),
                format!("{} - {}", show(figure.low), show(figure.high)),
                figure.dropped,
            )
        };
        let mut text = format!(
            "\n{:24} {:>12} {:>22} {:>11}\n",
            "", "median", "95 % interval", "dropped"
        );
        text += &line("memory latency", &self.idle.ns, 1.0, "ns", 1);
        for (title, row) in self.titles.iter().zip(&self.rates.rows) {
            text += &line(title, &row.rate, 1e9, "GB/s", 2);
        }
        let placement = &self.idle.placement;
        text += &format!(
            "{:24} random loads over {} MiB, {} pages; copies count what is read and written\n",
            "memory method",
            placement.bytes >> 20,
            placement.pages()
        );
        text
    }

    /// The same as parts of a document.
    pub fn document(&self) -> result::memory::Memory {
        let idle = &self.idle;
        let mut memory = result::memory::Memory {
            latency: Some(result::memory::Latency {
                cpu: idle.cpu,
                rows: vec![idle.row("full random")],
                split: None,
            }),
            bandwidth: Some(self.rates.clone()),
            conditions: self.conditions.clone(),
            ..Default::default()
        };
        memory.conditions.pages = (&idle.placement).into();
        memory.conditions.prefetch =
            "left on; random order over many rows and pages defeats them".to_owned();
        memory
    }
}
