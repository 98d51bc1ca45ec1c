//! `--peak_injection_bandwidth`, `--max_bandwidth` and `--bandwidth_matrix`.

use super::paper::put;
use super::setup::{Setup, op};
use memory::Figure;
use memory::bandwidth::{self, Bandwidth, Job, Subject};
use memory::machine::Threads;
use render::mlc as text;
use spec::mlc::{Mode, Traffic};

/// A figure of bytes loaded and stored as what the memory sees.
fn at_memory(figure: &Figure, share: f64) -> Figure {
    Figure {
        median: figure.median * share,
        mad: figure.mad * share,
        low: figure.low * share,
        high: figure.high * share,
        best: figure.best * share,
        ..figure.clone()
    }
}

fn measured(setup: &Setup, cpus: Vec<u32>, node: Option<u32>) -> anyhow::Result<Vec<Figure>> {
    let jobs: Vec<Job> = match setup.mode {
        Mode::BandwidthMatrix => vec![op(setup.traffic()).into()],
        Mode::Everything if node.is_some() => vec![op(setup.traffic()).into()],
        _ => {
            let mixes = text::FIVE_MIXES.iter();
            mixes
                .map(|(_, number)| op(Traffic(*number)).into())
                .collect()
        }
    };
    let subject = Subject {
        wish: setup.load_wish(cpus.len(), node.filter(|_| setup.machine.nodes.len() > 1)),
        cpus,
        shared: false,
        rule: setup.rule(jobs.len() as u32),
        jobs,
        isa: Some(setup.isa()),
        window: setup.window(),
    };
    let all = bandwidth::measure(&setup.machine, &subject)?;
    let figures = all.rows.iter().map(|row| {
        let share = row.job.op.traffic().controller_bytes(1.0);
        at_memory(&row.rate, share)
    });
    let figures: Vec<Figure> = figures.collect();
    if setup.verbose() {
        put(&details(&all, &figures))?;
    }
    Ok(figures)
}

fn details(all: &Bandwidth, figures: &[Figure]) -> String {
    let mut out = String::new();
    for (row, figure) in all.rows.iter().zip(figures) {
        let name = format!("{} by {}", row.job.op.name(), row.setting.name());
        out += &text::spread(&name, figure, text::MB_PER_S);
    }
    for placement in all.placements.iter().take(1) {
        out += &Setup::placed("first buffer", placement);
    }
    out
}

fn cpus(setup: &Setup, threads: Threads) -> Vec<u32> {
    setup
        .named_cpus()
        .unwrap_or_else(|| setup.machine.workers(threads))
}

fn buffers(setup: &Setup, cpus: usize) -> anyhow::Result<()> {
    if setup.mode != Mode::Everything {
        put(&text::load_buffers(setup.load_wish(cpus, None).bytes))?;
        put("\n")?;
    }
    Ok(())
}

/// The five mixes at full speed.
pub fn peak(setup: &Setup) -> anyhow::Result<()> {
    let cpus = cpus(setup, setup.threads());
    buffers(setup, cpus.len())?;
    put(&text::peak_start(setup.flags.one_per_core))?;
    let figures = measured(setup, cpus, None)?;
    for ((label, _), figure) in text::FIVE_MIXES.iter().zip(&figures) {
        put(&text::peak_row(label, figure.median))?;
    }
    Ok(())
}

/// The five mixes, the best of all threads and of one for each core.
pub fn max(setup: &Setup) -> anyhow::Result<()> {
    let all = cpus(setup, setup.threads());
    let few = cpus(setup, Threads::Cores);
    buffers(setup, all.len())?;
    put(&text::max_start(setup.flags.one_per_core))?;
    let mut sets = vec![all];
    if sets[0] != few {
        sets.push(few);
    }
    let mut best = vec![0.0f64; text::FIVE_MIXES.len()];
    for cpus in sets {
        let figures = measured(setup, cpus, None)?;
        for (best, figure) in best.iter_mut().zip(&figures) {
            *best = best.max(figure.median);
        }
    }
    for ((label, _), rate) in text::FIVE_MIXES.iter().zip(best) {
        put(&text::max_row(label, rate))?;
    }
    Ok(())
}

/// From every node to every node.
pub fn matrix(setup: &Setup) -> anyhow::Result<()> {
    let threads = setup.machine.workers(setup.threads()).len();
    buffers(setup, threads)?;
    let nodes = setup.machine.memory_nodes();
    let mix = setup.traffic().0;
    put(&text::bandwidth_matrix_start(
        setup.flags.one_per_core,
        mix,
        &nodes,
    ))?;
    for from in &setup.machine.nodes {
        let cpus = setup.machine.workers_of(from.id, setup.threads());
        if cpus.is_empty() {
            continue;
        }
        let mut row = Vec::new();
        for &to in &nodes {
            let figures = measured(setup, cpus.clone(), Some(to))?;
            row.extend(figures.iter().map(|figure| Some(figure.median)));
        }
        put(&text::bandwidth_row(from.id, &row))?;
    }
    Ok(())
}
