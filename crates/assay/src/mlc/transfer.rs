//! `--c2c_latency`: lines that go from the cache of one core to another's.

use super::paper::put;
use super::setup::Setup;
use anyhow::bail;
use memory::c2c::{self, HandOver, Pair, WINDOW_BYTES};
use memory::place::{Buffer, Wish};
use render::mlc::{self as text, Homed};
use result::memory::{LineState, Transfer};

/// Who hands over to whom on one socket.
#[derive(Clone, Copy, Debug)]
pub struct Local {
    writer: u32,
    reader: u32,
}

/// The two CPUs: as given, or the first one and the nearest that is not of its core.
///
/// # Errors
/// There is no second CPU, or the memory would belong to neither.
pub fn plan(setup: &Setup) -> anyhow::Result<Local> {
    let flags = &setup.flags;
    let cpus = &setup.machine.cpus;
    let reader = setup.latency_cpu();
    let of = |id: u32| cpus.iter().find(|cpu| cpu.id == id);
    let near = |other: &&host::topology::Cpu| match of(reader) {
        Some(own) => !own.siblings.contains(&other.id) && own.package == other.package,
        None => false,
    };
    let others = || cpus.iter().filter(|cpu| cpu.id != reader);
    let writer = flags
        .writer
        .or_else(|| others().find(near).map(|cpu| cpu.id))
        .or_else(|| others().next().map(|cpu| cpu.id));
    let Some(writer) = writer else {
        bail!("a transfer from core to core needs two CPUs, and this process may use one");
    };
    if writer == reader {
        bail!("`-w` and `-c` are both CPU {writer}; a transfer needs two");
    }
    if let Some(cpu) = flags
        .touch_cpu
        .filter(|cpu| ![writer, reader].contains(cpu))
    {
        bail!("`-i{cpu}`: the memory belongs to writer ({writer}) or reader ({reader})");
    }
    Ok(Local { writer, reader })
}

/// Prints the section.
pub fn run(setup: &Setup, local: Local) -> anyhow::Result<()> {
    let wish = Wish {
        bytes: window(setup),
        ..setup.latency_wish()
    };
    let pages = setup.pages_of(&wish);
    let probe = Buffer::new(&setup.machine, &Wish { pages, ..wish })?;
    let small = sys::area::small_page_bytes() as u64;
    put(&text::transfer_start(probe.placement().page_bytes > small))?;
    drop(probe);
    let pair = Pair {
        writer: local.writer,
        reader: local.reader,
        home_at_writer: setup.flags.touch_cpu != Some(local.reader),
    };
    let clean = one(setup, pair, LineState::Clean)?;
    put(&text::transfer_lines(Some(clean.ns.median), None))?;
    spread(setup, "clean", &clean)?;
    if setup.flags.clean {
        return Ok(());
    }
    let modified = one(setup, pair, LineState::Modified)?;
    put(&text::transfer_lines(None, Some(modified.ns.median)))?;
    spread(setup, "modified", &modified)?;
    let named = setup.flags.writer.is_some() || setup.flags.cpu.is_some();
    if !named {
        remote(setup)?;
    }
    Ok(())
}

fn spread(setup: &Setup, name: &str, transfer: &Transfer) -> anyhow::Result<()> {
    if setup.verbose() {
        let (writer, reader) = (transfer.writer, transfer.reader);
        let what = format!("{name} lines, CPU {writer} to CPU {reader}");
        put(&text::spread(&what, &transfer.ns, text::NS))?;
    }
    Ok(())
}

/// Bytes of the lines: as given, or what stays well inside the writer's second cache.
fn window(setup: &Setup) -> u64 {
    let half = setup.machine.cache_bytes(2).map(|bytes| bytes / 2);
    let default = half.map_or(WINDOW_BYTES, |half| half.min(WINDOW_BYTES));
    setup.flags.window.map_or(default, |size| size.0)
}

fn one(setup: &Setup, pair: Pair, state: LineState) -> anyhow::Result<Transfer> {
    let flags = &setup.flags;
    let wanted = HandOver {
        window_bytes: window(setup),
        writer_extra_bytes: flags.writer_extra.map_or(0, |size| size.0),
        reader_extra_bytes: flags.reader_extra.map_or(0, |size| size.0),
        third: flags.third,
        pages: setup.pages_of(&setup.latency_wish()),
        ..HandOver::new(pair, state)
    };
    Ok(c2c::hand_over(&setup.machine, &wanted, &setup.sampling())?)
}

/// From node to node, with the memory at home on either side.
fn remote(setup: &Setup) -> anyhow::Result<()> {
    let machine = &setup.machine;
    let first = |node: &host::cpu::Node| {
        let usable = machine.cpus.iter().map(|cpu| cpu.id);
        let found = usable.into_iter().find(|cpu| node.cpus.contains(cpu));
        found.map(|cpu| (node.id, cpu))
    };
    let ends: Vec<(u32, u32)> = machine.nodes.iter().filter_map(first).collect();
    if ends.len() < 2 {
        return Ok(());
    }
    let nodes: Vec<u32> = ends.iter().map(|(node, _)| *node).collect();
    for homed in [Homed::Writer, Homed::Reader] {
        let mut rows = Vec::new();
        for &(_, writer) in &ends {
            let mut row = Vec::new();
            for &(_, reader) in &ends {
                if writer == reader {
                    row.push(None);
                    continue;
                }
                let pair = Pair {
                    writer,
                    reader,
                    home_at_writer: homed == Homed::Writer,
                };
                row.push(Some(one(setup, pair, LineState::Modified)?.ns.median));
            }
            rows.push(row);
        }
        put(&text::transfer_matrix(homed, &nodes, &rows))?;
    }
    Ok(())
}
