//! How long a load takes on an idle machine.
//!
//! Four things hide in that number: the memory, the way to it through the page tables, the
//! prefetchers, and the cache. The chains here take them apart: buffers are four times the cache;
//! the same random order on large and on small pages differs by the page tables; a chain that
//! ascends line by line shows what prefetchers hide; the stride sweep proves that the others are
//! not helped by them.

use crate::chase::{Chain, core_ghz};
use crate::error::Error;
use crate::layout::Layout;
use crate::machine::Machine;
use crate::place::{Home, Pages, Placement, Wish, on_cpu};
use crate::sample::{Better, Rule, collect, interleave};
use result::memory::{Figure, LatencyRow, LatencySplit};
use std::time::Duration;

/// Strides of the sweep, bytes.
pub const STRIDES: [usize; 7] = [64, 128, 256, 512, 1024, 2048, 4096];
/// From this stride on the sweep is taken to be past the prefetchers.
const PLATEAU_STRIDE: usize = 256;
/// A stride's latency this far below the plateau was prefetched.
const HELPED: f64 = 0.9;

/// How a latency is sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// How many.
    pub rule: Rule,
    /// How long one takes.
    pub sample: Duration,
}

impl Default for Sampling {
    fn default() -> Sampling {
        Sampling {
            rule: Rule::default(),
            sample: Duration::from_millis(20),
        }
    }
}

/// A chain to be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Its memory.
    pub wish: Wish,
    /// Its order.
    pub layout: Layout,
}

/// One chain's latency.
#[derive(Clone, Debug, PartialEq)]
pub struct Idle {
    /// The CPU that loaded.
    pub cpu: u32,
    /// Time of a load, ns.
    pub ns: Figure,
    /// The core's frequency meanwhile, GHz.
    pub core_ghz: f64,
    /// The order of the loads.
    pub layout: Layout,
    /// Where the memory is.
    pub placement: Placement,
}

impl Idle {
    /// The median in cycles of the core.
    pub fn core_clocks(&self) -> f64 {
        self.ns.median * self.core_ghz
    }

    /// The median in ticks of the time-stamp counter, which runs at the base frequency on most
    /// processors; `None` where there is no such counter.
    pub fn base_clocks(&self) -> Option<f64> {
        let tsc = sys::tsc::Tsc::get().ok()?;
        Some(self.ns.median * tsc.hz() as f64 / 1e9)
    }
}

impl Idle {
    /// As a row of a document.
    pub fn row(&self, name: &str) -> LatencyRow {
        let (stride, window) = match self.layout {
            Layout::Sequential { stride } => (stride, None),
            Layout::Window { stride, window } => (stride, Some(window as u64)),
            Layout::Random => (64, None),
        };
        LatencyRow {
            name: name.to_owned(),
            buffer_bytes: self.placement.bytes,
            stride_bytes: stride as u64,
            window_bytes: window,
            pages: (&self.placement).into(),
            ns: self.ns.clone(),
            cycles: Some(self.core_clocks()),
        }
    }
}

/// Latencies of several chains, measured in turn from one CPU; one after the other where there is
/// no room for all buffers at once.
///
/// # Errors
/// A buffer cannot be had, or the CPU may not be used.
pub fn idle(
    machine: &Machine,
    cpu: u32,
    subjects: &[Subject],
    how: &Sampling,
) -> Result<Vec<Idle>, Error> {
    machine.check_cpu(cpu)?;
    let together: u64 = subjects.iter().map(|subject| subject.wish.bytes).sum();
    if subjects.len() > 1 && together > machine.room(None).bytes {
        let each = subjects
            .iter()
            .map(|subject| idle(machine, cpu, std::slice::from_ref(subject), how));
        return Ok(each.collect::<Result<Vec<_>, Error>>()?.concat());
    }
    on_cpu(cpu, || {
        let chains: Vec<Chain> = subjects
            .iter()
            .map(|subject| Chain::new(machine, &subject.wish, subject.layout))
            .collect::<Result<_, Error>>()?;
        let all = interleave(chains.len(), &how.rule, Better::Lower, |chain| {
            // The other chains have taken the caches' place for the page tables of this one.
            if chains.len() > 1 {
                chains[chain].reading(how.sample / 2);
            }
            Ok::<_, Error>(chains[chain].reading(how.sample))
        })?;
        let core_ghz = core_ghz().median;
        let figures = chains.iter().enumerate().map(|(number, chain)| Idle {
            cpu,
            ns: all.figure(number),
            core_ghz,
            layout: chain.layout(),
            placement: chain.placement().clone(),
        });
        Ok(figures.collect())
    })?
}

/// Latency taken apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// Random over the buffer, large pages: the latency of memory.
    pub random: Idle,
    /// The same on small pages.
    pub small_pages: Idle,
    /// Random within 256 KiB, 256 bytes apart: few pages and open DRAM rows.
    pub local: Idle,
    /// Random lines within 256 KiB: what adjacent-line and stream prefetchers still help.
    pub lines: Idle,
    /// Line after line.
    pub sequential: Idle,
}

impl Split {
    /// What the walk through the page tables adds on small pages, ns.
    pub fn tlb_ns(&self) -> f64 {
        self.small_pages.ns.median - self.random.ns.median
    }

    /// What prefetchers hide of an ascending chain, ns.
    pub fn prefetch_ns(&self) -> f64 {
        self.random.ns.median - self.sequential.ns.median
    }

    /// What rows that are open and pages that are near save, ns.
    pub fn locality_ns(&self) -> f64 {
        self.random.ns.median - self.local.ns.median
    }
}

impl Split {
    /// As a section of a document.
    pub fn document(&self) -> result::memory::Latency {
        result::memory::Latency {
            cpu: self.random.cpu,
            rows: vec![
                self.random.row("full random"),
                self.small_pages.row("full random, small pages"),
                self.local.row("random in a window"),
                self.lines.row("random lines in a window"),
                self.sequential.row("sequential"),
            ],
            split: Some(LatencySplit {
                dram_ns: self.local.ns.median,
                row_ns: self.locality_ns(),
                tlb_ns: Some(self.tlb_ns()),
                prefetch_ns: self.prefetch_ns(),
            }),
        }
    }
}

/// Measures the five chains of a [`Split`] in turn; `wish` says how large and where, its pages
/// are those of all but one.
///
/// # Errors
/// Those of [`idle`].
pub fn split(machine: &Machine, cpu: u32, wish: &Wish, how: &Sampling) -> Result<Split, Error> {
    let lines = Layout::Window {
        stride: 64,
        window: 256 << 10,
    };
    let with = |pages, layout| Subject {
        wish: Wish {
            pages,
            ..wish.clone()
        },
        layout,
    };
    let subjects = [
        with(wish.pages, Layout::Random),
        with(Pages::Small, Layout::Random),
        with(wish.pages, Layout::LOCAL),
        with(wish.pages, lines),
        with(wish.pages, Layout::Sequential { stride: 64 }),
    ];
    let [random, small_pages, local, lines, sequential] =
        <[Idle; 5]>::try_from(idle(machine, cpu, &subjects, how)?)
            .expect("as many latencies as chains");
    Ok(Split {
        random,
        small_pages,
        local,
        lines,
        sequential,
    })
}

/// Latency by stride, random within 256 KiB.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// Stride in bytes and latency, ascending.
    pub steps: Vec<(usize, Idle)>,
}

impl Sweep {
    /// Median latency from a stride of 256 bytes on, ns: what no prefetcher has shortened.
    pub fn plateau_ns(&self) -> f64 {
        let past = self.steps.iter().filter(|step| step.0 >= PLATEAU_STRIDE);
        crate::sample::median(&mut past.map(|step| step.1.ns.median).collect::<Vec<_>>())
    }

    /// Strides whose latency is more than a tenth below the plateau: prefetchers followed them.
    pub fn helped(&self) -> Vec<usize> {
        let bound = self.plateau_ns() * HELPED;
        let helped = self.steps.iter().filter(|step| step.1.ns.median < bound);
        helped.map(|step| step.0).collect()
    }
}

/// Measures [`STRIDES`] one after the other in one buffer.
///
/// # Errors
/// Those of [`idle`].
pub fn sweep(machine: &Machine, cpu: u32, wish: &Wish, how: &Sampling) -> Result<Sweep, Error> {
    machine.check_cpu(cpu)?;
    on_cpu(cpu, || {
        let window = 256 << 10;
        let layout = |stride| Layout::Window { stride, window };
        let mut chain = Chain::new(machine, wish, layout(STRIDES[0]))?;
        let bytes = chain.ring().bytes();
        let mut steps = Vec::new();
        for stride in STRIDES {
            chain.relink(layout(stride), bytes)?;
            let ns = collect(&how.rule, Better::Lower, || {
                Ok::<_, Error>(chain.reading(how.sample))
            })?;
            let idle = Idle {
                cpu,
                ns,
                core_ghz: core_ghz().median,
                layout: chain.layout(),
                placement: chain.placement().clone(),
            };
            steps.push((stride, idle));
        }
        Ok(Sweep { steps })
    })?
}

/// Latency from each of `cpus` in turn to memory of `home`, one buffer for each.
///
/// # Errors
/// Those of [`idle`].
pub fn each_cpu(
    machine: &Machine,
    cpus: &[u32],
    subject: &Subject,
    how: &Sampling,
) -> Result<Vec<Idle>, Error> {
    let mut all = Vec::new();
    for &cpu in cpus {
        all.extend(idle(machine, cpu, std::slice::from_ref(subject), how)?);
    }
    Ok(all)
}

/// Latency between nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// Nodes with a CPU that loads, one row each.
    pub from: Vec<u32>,
    /// Nodes with memory, one column each.
    pub to: Vec<u32>,
    /// By row, then by column.
    pub cells: Vec<Vec<Idle>>,
}

/// Latency from the first usable CPU of each node to the memory of each node.
///
/// # Errors
/// Those of [`idle`].
pub fn matrix(machine: &Machine, subject: &Subject, how: &Sampling) -> Result<Matrix, Error> {
    let to = machine.memory_nodes();
    let (mut from, mut cells) = (Vec::new(), Vec::new());
    for node in &machine.nodes {
        let Some(cpu) = machine.cpus.iter().find(|cpu| node.cpus.contains(&cpu.id)) else {
            continue;
        };
        let subjects = to.iter().map(|&to| Subject {
            wish: Wish {
                home: Home::Node(to),
                ..subject.wish.clone()
            },
            layout: subject.layout,
        });
        // Column by column: buffers for all nodes at once may not fit the one they start from.
        let row: Result<Vec<Vec<Idle>>, Error> = subjects
            .map(|subject| idle(machine, cpu.id, &[subject], how))
            .collect();
        from.push(node.id);
        cells.push(row?.into_iter().flatten().collect());
    }
    Ok(Matrix { from, to, cells })
}

/// How single loads are distributed.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// Loads by ticks of the time-stamp counter, in steps of `2^bits` ticks.
    pub counts: Vec<u64>,
    /// Width of a step is `2^bits` ticks.
    pub bits: u32,
    /// Ticks that the measurement itself takes; already taken off.
    pub overhead: u64,
    /// Nanoseconds of a tick; `None` without a counter that can be trusted.
    pub tick_ns: Option<f64>,
}

/// Steps of a histogram; slower loads count in the last.
const STEPS: usize = 4096;

/// Times `loads` single loads of one chain. The sum is not a latency to compare: each is fenced.
///
/// # Errors
/// Those of [`idle`].
pub fn histogram(
    machine: &Machine,
    cpu: u32,
    subject: &Subject,
    bits: u32,
    loads: u64,
) -> Result<Histogram, Error> {
    machine.check_cpu(cpu)?;
    if bits > 20 {
        return Err(Error::refused(format!(
            "histogram steps of 2^{bits} ticks are too wide; 2^20 is the widest"
        )));
    }
    on_cpu(cpu, || {
        // Loads that hit the first cache: all they take is the measurement.
        let near = Wish {
            bytes: 4096,
            pages: Pages::Small,
            home: Home::Here,
        };
        let near = Chain::new(machine, &near, Layout::Sequential { stride: 64 })?;
        let mut hits: Vec<f64> = (0..2000).map(|_| near.ring().timed() as f64).collect();
        let overhead = crate::sample::median(&mut hits) as u64;
        let chain = Chain::new(machine, &subject.wish, subject.layout)?;
        let mut counts = vec![0u64; STEPS];
        for _ in 0..loads {
            let step = chain.ring().timed().saturating_sub(overhead) >> bits;
            counts[(step as usize).min(STEPS - 1)] += 1;
        }
        let last = counts.iter().rposition(|&count| count > 0).unwrap_or(0);
        counts.truncate(last + 1);
        let tsc = sys::tsc::Tsc::get().ok();
        Ok(Histogram {
            counts,
            bits,
            overhead,
            tick_ns: tsc.map(|tsc| 1e9 / tsc.hz() as f64),
        })
    })?
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::Root;

    fn quick() -> Sampling {
        Sampling {
            rule: Rule {
                samples: 3,
                cap: Duration::from_millis(200),
                ..Rule::default()
            },
            sample: Duration::from_millis(1),
        }
    }

    fn wish(bytes: u64) -> Wish {
        Wish {
            bytes,
            ..Wish::default()
        }
    }

    #[test]
    fn a_cache_is_faster_than_memory_and_figures_say_where_they_are_from() {
        let machine = Machine::read(&Root::default()).unwrap();
        let cpu = machine.cpus.last().unwrap().id;
        let subject = |bytes| Subject {
            wish: wish(bytes),
            layout: Layout::Random,
        };
        let both = idle(
            &machine,
            cpu,
            &[subject(16 << 10), subject(64 << 20)],
            &quick(),
        )
        .unwrap();
        assert!(both[0].ns.best < both[1].ns.best, "{both:?}");
        assert!(both.iter().all(|idle| idle.cpu == cpu && idle.ns.n > 0));
        assert!(both[0].core_clocks() > both[0].ns.median * 0.3);
        assert!(both[1].placement.bytes >= 64 << 20);
        let missing = idle(&machine, 100_000, &[subject(4096)], &quick());
        assert!(missing.unwrap_err().to_string().starts_with("CPU 100000"));
    }

    #[test]
    fn every_node_pair_has_a_cell() {
        let machine = Machine::read(&Root::default()).unwrap();
        let subject = Subject {
            wish: wish(4 << 20),
            layout: Layout::LOCAL,
        };
        let matrix = matrix(&machine, &subject, &quick()).unwrap();
        assert_eq!(matrix.cells.len(), matrix.from.len());
        for (row, &from) in matrix.cells.iter().zip(&matrix.from) {
            assert_eq!(row.len(), matrix.to.len());
            for (cell, &to) in row.iter().zip(&matrix.to) {
                assert!(cell.placement.is_on(to) && machine.node_of(cell.cpu) == Some(from));
            }
        }
    }

    #[test]
    fn a_histogram_counts_every_load() {
        let machine = Machine::read(&Root::default()).unwrap();
        let cpu = machine.cpus[0].id;
        let subject = Subject {
            wish: wish(8 << 20),
            layout: Layout::Random,
        };
        let histogram = histogram(&machine, cpu, &subject, 4, 5000).unwrap();
        assert_eq!(histogram.counts.iter().sum::<u64>(), 5000);
        assert!(super::histogram(&machine, cpu, &subject, 21, 1).is_err());
    }

    #[test]
    fn a_sweep_names_the_strides_that_were_prefetched() {
        let step = |stride, ns| {
            let idle = Idle {
                cpu: 0,
                ns: crate::sample::figure(vec![ns], Better::Lower, 0),
                core_ghz: 3.0,
                layout: Layout::Random,
                placement: Placement {
                    bytes: 0,
                    page_bytes: 4096,
                    reserved: false,
                    page_share: 1.0,
                    nodes: Vec::new(),
                    asked: None,
                },
            };
            (stride, idle)
        };
        let sweep = Sweep {
            steps: vec![
                step(64, 50.0),
                step(128, 95.0),
                step(256, 100.0),
                step(512, 102.0),
            ],
        };
        assert_eq!(sweep.plateau_ns(), 101.0);
        assert_eq!(sweep.helped(), [64]);
    }
}
