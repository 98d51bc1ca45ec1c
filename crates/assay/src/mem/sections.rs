//! The sections: each measures, puts its part into the document and prints it.

use super::Section;
use super::session::Session;
use anyhow::Context;
use memory::Figure;
use memory::bandwidth::{self, Job, Subject};
use memory::c2c;
use memory::kernel::Op;
use memory::latency::{self, Sampling, split};
use memory::layout::Layout;
use memory::loaded::{self, Delays, Load};
use memory::mixer::Window;
use memory::place::{Home, Pages, Wish};
use memory::prefetch::Off;
use memory::scan;
use memory::staircase::{LAST_BYTES, Stairs, curve};
use result::memory::{Bandwidth, BandwidthRow, CacheCurve, Matrix, Mix, Tried};
use std::time::Duration;

/// What a run without a verb measures, in this order; from node to node only where there are
/// several.
pub fn all(session: &Session) -> Vec<Section> {
    let bandwidth = Section::Bandwidth { mixes: Vec::new() };
    let mut all = vec![Section::Latency, Section::Cache, bandwidth];
    if session.cpus().len() > 1 {
        let (mixes, delays) = (Vec::new(), Vec::new());
        all.push(Section::Loaded { mixes, delays });
        all.push(Section::C2c);
    }
    if session.machine.memory_nodes().len() > 1 {
        all.push(Section::Matrix);
    }
    all
}

/// What was done about the prefetchers while latency was measured.
fn method(off: Option<&Off>, on: &str) -> String {
    match off {
        Some(off) => format!("{} while latency was measured", off.describe()),
        None => on.to_owned(),
    }
}

/// Measures one section.
pub fn run(session: &Session, section: &Section) -> anyhow::Result<()> {
    match section {
        Section::Latency => idle(session),
        Section::Cache => cache(session),
        Section::Bandwidth { mixes } => rates(session, mixes),
        Section::Loaded { mixes, delays } => under_load(session, mixes, delays),
        Section::C2c => transfers(session),
        Section::Matrix => matrix(session),
        Section::Scan => regions(session),
        Section::Check { .. } => Ok(()),
    }
}

fn idle(session: &Session) -> anyhow::Result<()> {
    session.progress("latency: random, small pages, local, line by line");
    let how = Sampling {
        rule: session.rule(15, Duration::from_secs(6)),
        sample: Duration::from_millis(20),
    };
    let cpu = session.first_cpu();
    let off = session.prefetchers(&[cpu])?;
    let latency = split(&session.machine, cpu, &session.latency_wish(), &how)?.document();
    session.print(&render::memory::latency(&latency))?;
    session.memory(|memory| {
        memory.conditions.pages = latency.rows[0].pages.clone();
        memory.conditions.prefetch = method(
            off.as_ref(),
            "left on; random order over many rows and pages defeats them",
        );
        memory.latency = Some(latency);
    });
    Ok(())
}

fn cache(session: &Session) -> anyhow::Result<()> {
    let cpu = session.first_cpu();
    let off = session.prefetchers(&[cpu])?;
    let mut section = CacheCurve {
        cpu,
        curves: Vec::new(),
    };
    // Large pages tell the caches apart; small ones show what the page tables add.
    for (what, pages, layout, per_octave) in [
        ("large", Pages::Large, Layout::LOCAL, 3),
        ("small", Pages::Small, Layout::Random, 1),
    ] {
        session.progress(&format!("cache: working sets on {what} pages"));
        let stairs = Stairs {
            pages,
            layout,
            last_bytes: session.largest(LAST_BYTES),
            per_octave,
            how: Sampling {
                rule: session.rule(5, Duration::from_millis(120)),
                sample: Duration::from_millis(5),
            },
        };
        section.curves.push(curve(&session.machine, cpu, &stairs)?);
    }
    session.print(&render::memory::cache(&section))?;
    session.memory(|memory| {
        if memory.latency.is_none() {
            memory.conditions.pages = section.curves[0].pages.clone();
            memory.conditions.prefetch =
                method(off.as_ref(), "left on; the order of the loads defeats them");
        }
        memory.cache = Some(section);
    });
    Ok(())
}

/// A mix with its names.
#[derive(Debug, PartialEq, Eq)]
pub struct Named {
    /// On the command line.
    word: &'static str,
    /// In tables and documents.
    title: &'static str,
    op: Op,
}

/// The mixes. A store through the cache is a read and a write to the memory, so that `write` is
/// what MLC calls 1:1.
static MIXES: [Named; 12] = {
    const fn mix(word: &'static str, title: &'static str, op: Op) -> Named {
        Named { word, title, op }
    }
    [
        mix("read", "read", Op::Read),
        mix("write", "write (1:1)", Op::Write),
        mix("write-nt", "write NT", Op::WriteNt),
        mix(
            "3:1",
            "3:1",
            Op::Mix {
                loads: 2,
                stores: 1,
            },
        ),
        mix(
            "2:1",
            "2:1",
            Op::Mix {
                loads: 1,
                stores: 1,
            },
        ),
        mix(
            "2:1-nt",
            "2:1 NT",
            Op::MixNt {
                loads: 2,
                stores: 1,
            },
        ),
        mix("copy-nt", "copy NT", Op::CopyNt),
        mix("copy", "STREAM copy", Op::Copy),
        mix("scale", "STREAM scale", Op::Scale),
        mix("add", "STREAM add", Op::Add),
        mix("triad", "STREAM triad", Op::Triad),
        mix("triad-nt", "triad NT", Op::TriadNt),
    ]
};

/// The mix of a word.
pub fn mix(word: &str) -> Result<&'static Named, String> {
    let found = MIXES
        .iter()
        .find(|mix| mix.word == word || mix.title == word);
    found.ok_or_else(|| {
        let words = MIXES.iter().map(|mix| mix.word);
        match option::closest(word, words) {
            Some(near) => format!("no such mix; did you mean `{near}`?"),
            None => "no such mix".to_owned(),
        }
    })
}

/// What a round of an operation touches.
pub fn touched(op: Op) -> Mix {
    let traffic = op.traffic();
    let (stores, nt_stores) = match traffic.nt {
        true => (0, traffic.stores as u32),
        false => (traffic.stores as u32, 0),
    };
    Mix {
        loads: traffic.loads as u32,
        stores,
        nt_stores,
    }
}

fn rates(session: &Session, only: &[&'static Named]) -> anyhow::Result<()> {
    let mixes: Vec<&Named> = match only {
        [] => MIXES.iter().collect(),
        only => only.to_vec(),
    };
    let all = session.cpus();
    let mut sets = vec![vec![session.first_cpu()]];
    if all.len() > 1 {
        sets.push(all);
    }
    let mut section = Bandwidth::default();
    for cpus in sets {
        let threads = cpus.len();
        session.progress(&format!(
            "bandwidth: {threads} threads, the best loops first"
        ));
        let subject = Subject {
            wish: session.load_wish(threads),
            cpus: cpus.clone(),
            shared: false,
            jobs: mixes.iter().map(|mix| Job::from(mix.op)).collect(),
            isa: session.isa,
            rule: session.rule(9, Duration::from_secs(6)),
            window: Window::default(),
        };
        let got = bandwidth::measure(&session.machine, &subject)?;
        if let Some(placement) = got.placements.first() {
            section.buffer_bytes = placement.bytes;
            section.pages = placement.into();
        }
        for (mix, row) in mixes.iter().zip(got.rows) {
            section
                .search
                .extend(row.search.into_iter().map(|(kernel, rate)| Tried {
                    mix: mix.title.to_owned(),
                    threads,
                    kernel,
                    rate,
                }));
            section.rows.push(BandwidthRow {
                name: mix.title.to_owned(),
                cpus: cpus.clone(),
                kernel: row.setting.name(),
                mix: touched(mix.op),
                rate: row.rate,
                each: row.each,
            });
        }
    }
    session.print(&render::memory::bandwidth(&section))?;
    session.memory(|memory| {
        if memory.latency.is_none() {
            memory.conditions.pages = section.pages.clone();
            memory.conditions.prefetch = "left on, as for any program".to_owned();
        }
        memory.bandwidth = Some(section);
    });
    Ok(())
}

/// Pairs of cores that a run looks at without being asked for more: all of eight cores.
const MOST_CORES: usize = 8;

fn transfers(session: &Session) -> anyhow::Result<()> {
    session.progress("c2c: lines from core to core");
    let mut cpus = session.cpus();
    if !session.cpus_named() && cpus.len() > MOST_CORES {
        // Spread over the machine, so that near and far pairs are among them.
        let step = cpus.len() / MOST_CORES;
        cpus = cpus.into_iter().step_by(step).take(MOST_CORES).collect();
        let some = "transfers: eight cores spread over the machine; --cpus names others";
        session.remark(some.to_owned());
    }
    let how = Sampling {
        rule: session.rule(9, Duration::from_millis(700)),
        sample: Duration::from_millis(10),
    };
    let section = c2c::matrix(&session.machine, &cpus, &how)?;
    session.print(&render::memory::c2c(&section))?;
    session.memory(|memory| memory.c2c = Some(section));
    Ok(())
}

/// One curve for each mix of the load, reads if none is named.
fn under_load(session: &Session, only: &[&Named], delays: &[u32]) -> anyhow::Result<()> {
    let cpus = session.cpus();
    let [first, load @ ..] = cpus.as_slice() else {
        anyhow::bail!("no CPU may be used");
    };
    if load.is_empty() {
        anyhow::bail!("latency under load needs a second CPU, and this process may use one");
    }
    let mixes = if only.is_empty() {
        vec![&MIXES[0]]
    } else {
        only.to_vec()
    };
    let off = session.prefetchers(&[*first])?;
    for mix in mixes {
        session.progress(&format!("loaded: {}, pauses around the knee", mix.title));
        let loads = load.iter().map(|&cpu| Load {
            cpu,
            wish: session.load_wish(load.len()),
            job: mix.op.into(),
        });
        let subject = loaded::Subject {
            latency: Some((
                *first,
                latency::Subject {
                    wish: session.latency_wish(),
                    layout: Layout::Random,
                },
            )),
            loads: loads.collect(),
            shared: false,
            isa: session.isa,
            delays: match delays {
                [] => Delays::Adaptive,
                list => Delays::List(list.to_vec()),
            },
            rule: session.rule(9, Duration::from_secs(3)),
            window: Window::default(),
        };
        let curve = loaded::measure(&session.machine, &subject)?.loaded;
        session.print(&render::memory::loaded(&curve))?;
        session.memory(|memory| {
            if memory.latency.is_none() && memory.bandwidth.is_none() {
                memory.conditions.prefetch = method(
                    off.as_ref(),
                    "left on; random order over the buffer defeats them",
                );
            }
            memory.loaded.push(curve);
        });
    }
    Ok(())
}

/// Region by region of the physical memory.
fn regions(session: &Session) -> anyhow::Result<()> {
    session.progress("regions of physical memory");
    let nodes = session.machine.memory_nodes();
    let node = session.node.or(nodes.first().copied());
    let scan = scan::scan(
        &session.machine,
        &scan::Subject {
            node: node.context("no node of this machine has memory")?,
            cpus: session.cpus(),
            most_bytes: session.buffer.unwrap_or(u64::MAX),
            rule: session.rule(9, Duration::from_secs(2)),
            window: Window::default(),
        },
    )?;
    session.print(&render::memory::scan(&scan))?;
    session.memory(|memory| memory.scan = Some(scan));
    Ok(())
}

fn matrix(session: &Session) -> anyhow::Result<()> {
    let machine = &session.machine;
    let to = machine.memory_nodes();
    let mut matrix = Matrix {
        to: to.clone(),
        ..Matrix::default()
    };
    let how = Sampling {
        rule: session.rule(9, Duration::from_secs(2)),
        sample: Duration::from_millis(20),
    };
    for from in &machine.nodes {
        let cpus = session.cpus_of(from.id);
        let Some(&cpu) = cpus.first() else { continue };
        matrix.from.push(from.id);
        let (mut latencies, mut reads, mut writes) = (Vec::new(), Vec::new(), Vec::new());
        for &node in &to {
            session.progress(&format!("matrix: node {} to node {node}", from.id));
            let on_node = |wish: Wish| Wish {
                home: Home::Node(node),
                ..wish
            };
            let subject = latency::Subject {
                wish: on_node(session.latency_wish()),
                layout: Layout::LOCAL,
            };
            let off = session.prefetchers(&[cpu])?;
            let measured = latency::idle(machine, cpu, &[subject], &how)?;
            session.memory(|memory| {
                if memory.conditions.prefetch.is_empty() {
                    memory.conditions.prefetch =
                        method(off.as_ref(), "left on; the order of the loads defeats them");
                }
            });
            drop(off);
            for idle in measured {
                if !idle.placement.is_on(node) {
                    let found = &idle.placement.nodes;
                    let what = format!("node {node} was asked for, the kernel says {found:?}");
                    matrix.misplaced.push(what);
                }
                latencies.push(idle.ns);
            }
            let subject = Subject {
                wish: on_node(session.load_wish(cpus.len())),
                cpus: cpus.clone(),
                shared: false,
                jobs: vec![Op::Read.into(), Op::WriteNt.into()],
                isa: session.isa,
                rule: session.rule(9, Duration::from_secs(2)),
                window: Window::default(),
            };
            let got = bandwidth::measure(machine, &subject)?;
            let mut rates: Vec<Figure> = got.rows.into_iter().map(|row| row.rate).collect();
            writes.extend(rates.pop());
            reads.extend(rates.pop());
        }
        matrix.latency_ns.push(latencies);
        matrix.read.push(reads);
        matrix.write.push(writes);
    }
    session.print(&render::memory::matrix(&matrix))?;
    session.memory(|memory| memory.matrix = Some(matrix));
    Ok(())
}
