//! `--loaded_latency`: one thread waits for its loads while the others make load.

use super::paper::put;
use super::setup::{Setup, op};
use anyhow::bail;
use memory::mixer::Window;
use memory::rows::{BUCKETS, Field, Row, Rows, with_rows};
use render::mlc as text;
use spec::mlc::{Mode, Target, ThreadRow};
use std::time::Duration;

/// A window of a histogram, in which every load of the latency thread is timed.
const HISTOGRAM: Window = Window {
    warm: Duration::from_millis(3),
    length: Duration::from_millis(200),
};

/// Measures all delays.
pub fn run(setup: &Setup, rows: &Rows) -> anyhow::Result<()> {
    let whole = setup.mode == Mode::Everything;
    if !whole && setup.rows.is_empty() {
        let bytes = rows.rows.first().map_or(0, |row| row.wish.bytes);
        put(&text::load_buffers(bytes))?;
    }
    let _off = match &rows.chase {
        None => None,
        // A whole run has said it in its first section.
        Some(_) if whole && !setup.prefetch_off => None,
        Some((cpu, _)) => setup.prefetchers(&[*cpu])?,
    };
    if !whole {
        put("\n")?;
    }
    let load = match setup.rows.is_empty() {
        true => text::Load::Mix(setup.traffic().0),
        false => text::Load::File,
    };
    put(&text::loaded_start(setup.flags.one_per_core, load))?;
    let shift = setup.flags.histogram.unwrap_or(0);
    with_rows(&setup.machine, rows, shift, |field| {
        for &delay in &setup.delays {
            point(setup, rows, field, delay)?;
        }
        verify(setup, field)
    })?
}

fn point(setup: &Setup, rows: &Rows, field: &mut Field<'_, '_>, delay: u32) -> anyhow::Result<()> {
    let point = field.point(delay.into(), &setup.rule(1), &setup.window());
    let ns = point.ns.as_ref().map(|ns| ns.median);
    put(&text::loaded_row(delay, ns, point.rate.median))?;
    if setup.flags.per_thread {
        let cpus: Vec<u32> = rows.rows.iter().map(|row| row.cpu).collect();
        put(&text::thread_rows(&cpus, &point.each))?;
    }
    if setup.verbose() {
        if let Some(ns) = &point.ns {
            put(&text::spread("latency", ns, text::NS))?;
        }
        put(&text::spread("bandwidth", &point.rate, text::MB_PER_S))?;
    }
    if let Some(shift) = setup.flags.histogram {
        let counts = field.histogram(delay.into(), &HISTOGRAM);
        put(&text::histogram(shift, &counts, BUCKETS))?;
    }
    Ok(())
}

/// `-I`: the buffers that were read must hold what was put there.
fn verify(setup: &Setup, field: &Field<'_, '_>) -> anyhow::Result<()> {
    if setup.verbose() {
        for placement in field.placements.iter().take(2) {
            put(&Setup::placed("buffer", placement))?;
        }
    }
    if !setup.flags.check_data {
        return Ok(());
    }
    match field.changed_lines() {
        0 => Ok(put(&text::remark("All data read back as it was written"))?),
        lines => bail!("{lines} lines of memory do not hold what was written to them"),
    }
}

/// The threads: those of the file, or all CPUs but that of the latency thread.
///
/// # Errors
/// A CPU that would do two things, or none that is left.
pub fn rows(setup: &Setup) -> anyhow::Result<Rows> {
    let chase = (!setup.flags.only_load).then(|| (setup.latency_cpu(), setup.subject()));
    let rows = match setup.rows.as_slice() {
        [] => like(setup)?,
        rows => rows.iter().flat_map(|row| of_file(setup, row)).collect(),
    };
    if let Some((cpu, _)) = &chase {
        apart(setup, *cpu, &rows)?;
    }
    Ok(Rows {
        chase,
        rows,
        isa: setup.isa(),
        shared: setup.flags.shared,
        pattern: setup.pattern.clone(),
        window: setup.flags.range.map(|lines| lines as usize),
    })
}

/// The latency thread's core is its own.
fn apart(setup: &Setup, cpu: u32, rows: &[Row]) -> anyhow::Result<()> {
    let siblings = siblings(setup, cpu);
    if let Some(row) = rows.iter().find(|row| siblings.contains(&row.cpu)) {
        bail!(
            "CPU {} cannot make load: the latency thread runs on CPU {cpu} of the same core; leave \
             it out, move the latency thread (`-c`), or measure load alone (`-T`)",
            row.cpu
        );
    }
    Ok(())
}

fn siblings(setup: &Setup, cpu: u32) -> Vec<u32> {
    let found = setup.machine.cpus.iter().find(|other| other.id == cpu);
    found.map_or_else(|| vec![cpu], |cpu| cpu.siblings.clone())
}

fn like(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    let own = match setup.flags.only_load {
        true => Vec::new(),
        false => siblings(setup, setup.latency_cpu()),
    };
    let cpus = match setup.named_cpus() {
        Some(cpus) => cpus,
        None => {
            let mut cpus = setup.machine.workers(setup.threads());
            cpus.retain(|cpu| !own.contains(cpu));
            cpus
        }
    };
    if cpus.is_empty() {
        bail!("no CPU is left to make load; `-T` measures load without a latency thread");
    }
    let wish = setup.load_wish(cpus.len(), setup.flags.node);
    let row = |cpu| Row {
        cpu,
        op: op(setup.traffic()),
        random: setup.flags.random_load,
        wish: wish.clone(),
        second: None,
        flush: setup.flushes(op(setup.traffic()), false),
    };
    Ok(cpus.into_iter().map(row).collect())
}

fn of_file<'a>(setup: &'a Setup, row: &'a ThreadRow) -> impl Iterator<Item = Row> + 'a {
    let on_files = matches!(row.target, Target::Directory(_));
    row.cpus.iter().map(move |&cpu| Row {
        flush: setup.flushes(op(row.traffic), on_files),
        cpu,
        op: op(row.traffic),
        random: row.random,
        wish: setup.row_wish(row.buffer_bytes, &row.target),
        second: row
            .second
            .as_ref()
            .map(|(target, percent)| (setup.row_wish(row.buffer_bytes, target), *percent)),
    })
}
