//! `--idle_latency` and `--latency_matrix`.

use super::paper::put;
use super::setup::Setup;
use host::cpu::Node;
use memory::chase::Chain;
use memory::latency::{self, Idle, Subject};
use memory::place::{Home, Wish, on_cpu};
use render::mlc as text;

/// Loads of a histogram.
const HISTOGRAM_LOADS: u64 = 1_000_000;

/// One thread, one number; or with `-a` every CPU.
pub fn idle(setup: &Setup) -> anyhow::Result<()> {
    let subject = setup.subject();
    put(&text::latency_buffer(subject.wish.bytes))?;
    if setup.flags.all_cpus {
        return every_cpu(setup, &subject);
    }
    let cpu = setup.latency_cpu();
    let _off = setup.prefetchers(&[cpu])?;
    if let Some(millions) = setup.flags.steps {
        return counted(setup, cpu, &subject, millions);
    }
    let measured = latency::idle(
        &setup.machine,
        cpu,
        std::slice::from_ref(&subject),
        &setup.sampling(),
    )?;
    for idle in &measured {
        put(&text::idle_latency(clocks(idle), idle.ns.median))?;
        if setup.verbose() {
            put(&text::remark(&subject.layout.name()))?;
            put(&text::spread("latency", &idle.ns, text::NS))?;
            put(&Setup::placed("buffer", &idle.placement))?;
        }
    }
    if let Some(bits) = setup.flags.histogram {
        let counts =
            latency::histogram(&setup.machine, cpu, &subject, bits, HISTOGRAM_LOADS)?.counts;
        put(&text::histogram(bits, &counts, memory::rows::BUCKETS))?;
    }
    Ok(())
}

/// Ticks of the base frequency; of a clock of 1 GHz where there is no such counter.
fn clocks(idle: &Idle) -> f64 {
    idle.base_clocks().unwrap_or(idle.ns.median)
}

/// `-x`: so many loads instead of a time, as one sample.
fn counted(setup: &Setup, cpu: u32, subject: &Subject, millions: u32) -> anyhow::Result<()> {
    let ns = on_cpu(cpu, || {
        let chain = Chain::new(&setup.machine, &subject.wish, subject.layout)?;
        let loads = match millions {
            0 => chain.ring().cells(),
            millions => u64::from(millions) * 1_000_000,
        };
        chain.block(chain.ring().cells().min(loads));
        Ok::<_, memory::Error>(chain.block(loads))
    })??;
    let hz = sys::tsc::Tsc::get().map_or(1e9, |tsc| tsc.hz() as f64);
    Ok(put(&text::idle_latency(ns * hz / 1e9, ns))?)
}

fn on_node(setup: &Setup, subject: &Subject, node: u32) -> Subject {
    let home = match setup.machine.memory_nodes().len() {
        0 | 1 => subject.wish.home.clone(),
        _ => Home::Node(node),
    };
    Subject {
        wish: Wish {
            home,
            ..subject.wish.clone()
        },
        layout: subject.layout,
    }
}

fn every_cpu(setup: &Setup, subject: &Subject) -> anyhow::Result<()> {
    let nodes = setup.machine.memory_nodes();
    let cpus = setup.machine.workers(setup.threads());
    let _off = setup.prefetchers(&cpus)?;
    put(&text::every_cpu_start(&nodes))?;
    for cpu in cpus {
        let mut row = Vec::new();
        for &node in &nodes {
            let subject = on_node(setup, subject, node);
            let idle = latency::idle(&setup.machine, cpu, &[subject], &setup.sampling())?;
            row.extend(idle.iter().map(|idle| Some(idle.ns.median)));
        }
        put(&text::latency_row(cpu, &row))?;
    }
    Ok(())
}

/// From every node to every node.
pub fn matrix(setup: &Setup) -> anyhow::Result<()> {
    let subject = setup.subject();
    if setup.mode == spec::mlc::Mode::LatencyMatrix {
        put(&text::latency_buffer(subject.wish.bytes))?;
    }
    if setup.flags.all_cpus {
        return every_cpu(setup, &subject);
    }
    let nodes = setup.machine.memory_nodes();
    let first_of = |node: &Node| {
        let mut usable = setup.machine.cpus.iter().map(|cpu| cpu.id);
        usable.find(|cpu| node.cpus.contains(cpu))
    };
    let from = setup.machine.nodes.iter();
    let from: Vec<(u32, u32)> = from
        .filter_map(|node| Some((node.id, first_of(node)?)))
        .collect();
    let cpus: Vec<u32> = from.iter().map(|(_, cpu)| *cpu).collect();
    let _off = setup.prefetchers(&cpus)?;
    put(&text::latency_matrix_start(!setup.ascending(), &nodes))?;
    let mut spreads = String::new();
    for (from, cpu) in from {
        let mut row = Vec::new();
        for &to in &nodes {
            let subject = on_node(setup, &subject, to);
            let idle = latency::idle(&setup.machine, cpu, &[subject], &setup.sampling())?;
            for idle in &idle {
                row.push(Some(idle.ns.median));
                let what = format!("node {from} to node {to}");
                spreads += &text::spread(&what, &idle.ns, text::NS);
                spreads += &Setup::placed(&what, &idle.placement);
            }
        }
        put(&text::latency_row(from, &row))?;
    }
    if setup.verbose() {
        put(&spreads)?;
    }
    Ok(())
}
