//! Threads that each do their own: a mix, an order, a buffer, even two of them, and beside them
//! one that waits for its loads.
//!
//! This is the load that a person describes row by row. All threads work in common windows; the
//! latency and the rate of a point come from the same windows, so that they belong together.

use crate::chase::Chain;
use crate::error::Error;
use crate::injector::{Injector, Setting};
use crate::kernel::{Isa, Op, candidates, find, random};
use crate::latency::Subject;
use crate::machine::Machine;
use crate::mixer::{Lead, Order, Outcome, Window, Worker, session};
use crate::place::{Buffer, Placement, Wish};
use crate::sample::{Better, Reading, Rule, collect, figure};
use result::memory::Figure;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use sys::area::Area;

/// Loads between two looks at the clock: some 20 us.
const LOADS: u64 = 192;
/// Streams of a plain loop; more than this gains little, and fewer leave a core waiting.
const STREAMS: usize = 12;
/// Streams of loads alone, and the distance of their prefetches.
const READ_STREAMS: usize = 4;
const READ_AHEAD: usize = 1024;
/// Variant of a window in which the chasing thread times every load.
const TIMED: usize = 1;

/// What one thread does.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its CPU.
    pub cpu: u32,
    /// Its mix.
    pub op: Op,
    /// Lines in random order.
    pub random: bool,
    /// Its buffer.
    pub wish: Wish,
    /// A second buffer and the percentage of the accesses that go there.
    pub second: Option<(Wish, u32)>,
    /// Lines are flushed soon after they are stored.
    pub flush: bool,
}

/// All threads of a measurement.
#[derive(Clone, Debug)]
pub struct Rows {
    /// The thread that waits for its loads, and what it follows.
    pub chase: Option<(u32, Subject)>,
    /// The others.
    pub rows: Vec<Row>,
    /// Instructions of their loops.
    pub isa: Isa,
    /// All rows read one buffer, which the first of them makes.
    pub shared: bool,
    /// What the buffers are filled with, line after line, instead of numbers.
    pub pattern: Vec<[u8; 64]>,
    /// Lines among which random rows draw at a time; `None` for the whole buffer.
    pub window: Option<usize>,
}

/// What came out of one delay.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Latency of the chasing thread.
    pub ns: Option<Figure>,
    /// Bytes per second as the memory sees them, the chasing thread's included.
    pub rate: Figure,
    /// The middle of what each row reached, bytes per second as the memory sees them.
    pub each: Vec<f64>,
}

/// The loop for an operation when nothing is searched: many streams, no prefetches; for loads alone
/// fewer streams and prefetches, which was the fastest where it was tried.
///
/// # Errors
/// There is no such loop.
pub fn plain(op: Op, in_random_order: bool, isa: Isa) -> Result<Setting, Error> {
    if !isa.supported() {
        return Err(crate::kernel::Error::Unsupported(isa).into());
    }
    if op == Op::Read
        && !in_random_order
        && let Some(kernel) = find(op, isa, READ_STREAMS, true)
    {
        let ahead = READ_AHEAD;
        return Ok(Setting { kernel, ahead });
    }
    let kernel = match in_random_order {
        true => random(op, isa),
        false => candidates(op, Some(isa))
            .filter(|kernel| !kernel.prefetch && kernel.streams <= STREAMS)
            .max_by_key(|kernel| kernel.streams),
    };
    let kernel = kernel.ok_or_else(|| {
        let order = if in_random_order {
            " in random order"
        } else {
            ""
        };
        let (op, isa) = (op.name(), isa.name());
        Error::refused(format!("there is no loop for {op}{order} with {isa}"))
    })?;
    Ok(Setting { kernel, ahead: 0 })
}

/// One thread at work.
enum Member {
    Chase {
        chain: Chain,
        timed: bool,
        shift: u32,
        counts: Arc<Mutex<Vec<u64>>>,
    },
    Load(Load),
}

/// A row at work.
struct Load {
    first: Injector,
    second: Option<(Injector, u32)>,
    /// Hundredths of a step that the second target is owed.
    owed: u32,
}

impl Worker for Member {
    fn begin(&mut self, order: Order) {
        match self {
            Member::Chase { timed, .. } => *timed = order.variant == TIMED,
            Member::Load(load) => {
                let order = Order {
                    variant: 0,
                    ..order
                };
                load.first.begin(order);
                if let Some((second, _)) = &mut load.second {
                    second.begin(order);
                }
            }
        }
    }

    fn step(&mut self) -> u64 {
        match self {
            Member::Chase {
                chain,
                timed: false,
                ..
            } => chain.ring().follow(LOADS),
            Member::Chase {
                chain,
                shift,
                counts,
                ..
            } => {
                let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
                for _ in 0..LOADS {
                    let bucket = (chain.ring().timed() >> *shift) as usize;
                    let last = counts.len() - 1;
                    counts[bucket.min(last)] += 1;
                }
                LOADS
            }
            Member::Load(load) => load.step(),
        }
    }
}

impl Load {
    fn step(&mut self) -> u64 {
        let Some((second, percent)) = &mut self.second else {
            return self.first.step();
        };
        self.owed += *percent;
        if self.owed >= 100 {
            self.owed -= 100;
            return second.step();
        }
        self.first.step()
    }
}

/// The threads, ready for points.
pub struct Field<'l, 's> {
    lead: &'l mut Lead<'s, Member>,
    /// Bytes of the memory for one unit of each member.
    bytes_per_unit: Vec<f64>,
    chases: bool,
    counts: Arc<Mutex<Vec<u64>>>,
    areas: Arc<Mutex<Vec<Arc<Area>>>>,
    pattern: Vec<[u8; 64]>,
    /// Where the buffers are, in the order of the threads, the chasing one first.
    pub placements: Vec<Placement>,
}

/// Buckets of a histogram; slower loads count in the last.
pub const BUCKETS: usize = 4096;

/// Makes the threads and their buffers, and lets `lead` measure with them. `shift` is the width
/// of a histogram's buckets, 2^`shift` ticks.
///
/// # Errors
/// No room for a buffer, a CPU that may not be used or is named twice, an operation without a
/// loop, writes to one buffer for all.
pub fn with_rows<T>(
    machine: &Machine,
    rows: &Rows,
    shift: u32,
    lead: impl FnOnce(&mut Field<'_, '_>) -> T,
) -> Result<T, Error> {
    let mut cpus: Vec<u32> = rows.chase.iter().map(|(cpu, _)| *cpu).collect();
    cpus.extend(rows.rows.iter().map(|row| row.cpu));
    for (at, &cpu) in cpus.iter().enumerate() {
        machine.check_cpu(cpu)?;
        if cpus[..at].contains(&cpu) {
            return Err(Error::refused(format!("CPU {cpu} would do two things")));
        }
    }
    if let Some(row) = rows.rows.iter().find(|row| row.op.traffic().stores > 0)
        && rows.shared
    {
        let name = row.op.name();
        let why = format!("{name} writes, and all threads would share one buffer");
        return Err(Error::refused(why));
    }
    let settings: Vec<Setting> = rows
        .rows
        .iter()
        .map(|row| plain(row.op, row.random, rows.isa))
        .collect::<Result<_, Error>>()?;
    let one = match (rows.shared, rows.rows.first()) {
        (true, Some(row)) => {
            let (area, placement) = Buffer::new(machine, &row.wish)?.into_parts();
            Some((Arc::new(area), placement))
        }
        _ => None,
    };
    let chases = usize::from(rows.chase.is_some());
    let counts = Arc::new(Mutex::new(vec![0; BUCKETS]));
    let areas = Arc::new(Mutex::new(Vec::new()));
    let placements = Mutex::new(vec![None; cpus.len()]);
    let make = |index: usize| {
        let placed = |placement: Placement| {
            let mut all = placements.lock().unwrap_or_else(PoisonError::into_inner);
            all[index] = Some(placement);
        };
        if index < chases {
            let (_, subject) = rows.chase.as_ref().expect("there is one");
            let chain = Chain::new(machine, &subject.wish, subject.layout)?;
            placed(chain.placement().clone());
            return Ok(Member::Chase {
                chain,
                timed: false,
                shift,
                counts: Arc::clone(&counts),
            });
        }
        let row = &rows.rows[index - chases];
        let setting = &settings[index - chases..=index - chases];
        let injector = |wish: &Wish| {
            let (area, placement) = match &one {
                Some((area, placement)) => (Arc::clone(area), placement.clone()),
                None => {
                    let (area, placement) = Buffer::new(machine, wish)?.into_parts();
                    (Arc::new(area), placement)
                }
            };
            let mut injector = Injector::new(Arc::clone(&area), setting)?;
            if row.flush {
                injector = injector.flushing()?;
            }
            if let Some(lines) = rows.window {
                injector = injector.within(lines);
            }
            if !rows.pattern.is_empty() {
                paint(&area, &rows.pattern);
            }
            let mut all = areas.lock().unwrap_or_else(PoisonError::into_inner);
            all.push(area);
            Ok::<_, Error>((injector, placement))
        };
        let (first, placement) = injector(&row.wish)?;
        placed(placement);
        let second = match &row.second {
            Some((wish, percent)) => Some((injector(wish)?.0, *percent)),
            None => None,
        };
        Ok::<_, Error>(Member::Load(Load {
            first,
            second,
            owed: 0,
        }))
    };
    let share = |row: &Row| row.op.traffic().controller_bytes(1.0);
    let mut bytes_per_unit = vec![crate::kernel::LINE as f64; chases];
    bytes_per_unit.extend(rows.rows.iter().map(share));
    let cpus: Vec<usize> = cpus.into_iter().map(|cpu| cpu as usize).collect();
    session(&cpus, make, |all| {
        let placed = placements.lock().unwrap_or_else(PoisonError::into_inner);
        let placed = placed.iter().flatten().cloned().collect();
        lead(&mut Field {
            lead: all,
            bytes_per_unit,
            chases: chases == 1,
            counts: Arc::clone(&counts),
            areas: Arc::clone(&areas),
            pattern: rows.pattern.clone(),
            placements: placed,
        })
    })
}

impl Field<'_, '_> {
    /// Measures one delay in cycles.
    pub fn point(&mut self, delay: u64, rule: &Rule, window: &Window) -> Point {
        let order = Order { variant: 0, delay };
        let mut outcomes: Vec<Outcome> = Vec::new();
        let better = if self.chases {
            Better::Lower
        } else {
            Better::Higher
        };
        let bytes_per_unit = &self.bytes_per_unit;
        let total = |outcome: &Outcome| rates(outcome, bytes_per_unit).iter().sum::<f64>();
        let (lead, chases) = (&mut *self.lead, self.chases);
        let taken = collect(rule, better, || {
            let outcome = lead.window(order, window);
            let value = match chases {
                // The time that the thread itself ran: waiting for a CPU is no latency.
                true => 1e9 / outcome.done[0].rate_while_running().max(1.0),
                false => total(&outcome),
            };
            let disturbed = outcome.disturbed;
            outcomes.push(outcome);
            Ok::<_, Infallible>(Reading { value, disturbed })
        });
        let Ok(taken) = taken;
        outcomes.drain(..rule.warm_up.min(outcomes.len() - 1));
        if outcomes.iter().any(|outcome| outcome.disturbed.is_none()) && !taken.disturbed {
            outcomes.retain(|outcome| outcome.disturbed.is_none());
        }
        let mut rate = figure(
            outcomes.iter().map(total).collect(),
            Better::Higher,
            taken.dropped,
        );
        rate.disturbed = taken.disturbed;
        let first = usize::from(self.chases);
        let middle = |member: usize| {
            let mut all: Vec<f64> = outcomes
                .iter()
                .map(|outcome| rates(outcome, bytes_per_unit)[member])
                .collect();
            crate::sample::median(&mut all)
        };
        Point {
            each: (first..self.bytes_per_unit.len()).map(middle).collect(),
            ns: self.chases.then_some(taken),
            rate,
        }
    }

    /// Times every load of the chasing thread for one window; counts by ticks of the time-stamp
    /// counter, in buckets of 2^`shift`.
    pub fn histogram(&mut self, delay: u64, window: &Window) -> Vec<u64> {
        let fresh = || vec![0; BUCKETS];
        let swap = |with: Vec<u64>, counts: &Mutex<Vec<u64>>| {
            let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *counts, with)
        };
        swap(fresh(), &self.counts);
        let order = Order {
            variant: TIMED,
            delay,
        };
        self.lead.window(order, window);
        let mut counts = swap(fresh(), &self.counts);
        let last = counts.iter().rposition(|&count| count > 0).unwrap_or(0);
        counts.truncate(last + 1);
        counts
    }

    /// Lines of the load's buffers that no longer hold the pattern; for loads that only read.
    pub fn changed_lines(&self) -> u64 {
        let areas = self.areas.lock().unwrap_or_else(PoisonError::into_inner);
        areas
            .iter()
            .map(|area| differing(area, &self.pattern))
            .sum()
    }
}

/// Bytes per second of the memory by member.
fn rates(outcome: &Outcome, bytes_per_unit: &[f64]) -> Vec<f64> {
    let each = outcome.done.iter().zip(bytes_per_unit);
    each.map(|(done, bytes)| done.rate() * bytes).collect()
}

fn words(line: &[u8; 64]) -> impl Iterator<Item = u64> + '_ {
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    line.chunks_exact(8).map(word)
}

/// Fills an area with the lines of a pattern, over and over.
fn paint(area: &Area, pattern: &[[u8; 64]]) {
    for (at, line) in (0..area.bytes() / 64).zip(pattern.iter().cycle()) {
        for (word, value) in words(line).enumerate() {
            area.store(at * 64 + word * 8, value);
        }
    }
}

fn differing(area: &Area, pattern: &[[u8; 64]]) -> u64 {
    let lines = (0..area.bytes() / 64).zip(pattern.iter().cycle());
    let differs = |at: usize, line: &[u8; 64]| {
        let mut words = words(line).enumerate();
        words.any(|(word, value)| area.load(at * 64 + word * 8) != value)
    };
    lines.filter(|(at, line)| differs(*at, line)).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Layout;
    use crate::machine::Threads;
    use std::time::Duration;

    const SHORT: Window = Window {
        warm: Duration::from_micros(500),
        length: Duration::from_millis(2),
    };

    fn wish(bytes: u64) -> Wish {
        Wish {
            bytes,
            ..Wish::default()
        }
    }

    fn row(cpu: u32, op: Op) -> Row {
        Row {
            cpu,
            op,
            random: false,
            wish: wish(1 << 20),
            second: None,
            flush: false,
        }
    }

    fn rows(chase: Option<u32>, rows: Vec<Row>) -> Rows {
        let subject = Subject {
            wish: wish(1 << 20),
            layout: Layout::LOCAL,
        };
        Rows {
            chase: chase.map(|cpu| (cpu, subject)),
            rows,
            isa: Isa::ALL.into_iter().find(|isa| isa.supported()).unwrap(),
            shared: false,
            pattern: Vec::new(),
            window: None,
        }
    }

    fn rule() -> Rule {
        Rule {
            samples: 2,
            warm_up: 1,
            cap: Duration::from_millis(20),
            ..Rule::default()
        }
    }

    #[test]
    fn a_point_has_the_latency_of_one_and_the_rates_of_all() {
        let machine = Machine::read(&host::Root::default()).unwrap();
        let cpus = machine.workers(Threads::All);
        let load = cpus[1..].iter().map(|&cpu| row(cpu, Op::Read)).collect();
        let all = rows(Some(cpus[0]), load);
        let (point, counts) = with_rows(&machine, &all, 4, |field| {
            assert_eq!(field.placements.len(), cpus.len());
            (field.point(0, &rule(), &SHORT), field.histogram(0, &SHORT))
        })
        .unwrap();
        assert!(point.ns.unwrap().median > 0.0 && point.rate.median > 0.0);
        assert_eq!(point.each.len(), cpus.len() - 1);
        assert!(point.each.iter().all(|&rate| rate > 0.0));
        assert!(counts.iter().sum::<u64>() >= LOADS);
    }

    #[test]
    fn the_memory_sees_a_store_twice() {
        let machine = Machine::read(&host::Root::default()).unwrap();
        let cpu = machine.workers(Threads::All)[0];
        let all = rows(None, vec![row(cpu, Op::Write)]);
        let point = with_rows(&machine, &all, 0, |field| {
            assert_eq!(field.bytes_per_unit, [2.0]);
            field.point(0, &rule(), &SHORT)
        })
        .unwrap();
        assert!(point.ns.is_none() && point.rate.median > 0.0);
    }

    #[test]
    fn two_targets_share_the_steps() {
        let area = || {
            let area = Area::map(1 << 16, sys::area::Pages::Base).unwrap();
            area.populate().unwrap();
            Arc::new(area)
        };
        let isa = Isa::ALL.into_iter().find(|isa| isa.supported()).unwrap();
        let setting = [plain(Op::Write, false, isa).unwrap()];
        let (near, far) = (area(), area());
        let mut load = Load {
            first: Injector::new(Arc::clone(&near), &setting).unwrap(),
            second: Some((Injector::new(Arc::clone(&far), &setting).unwrap(), 25)),
            owed: 0,
        };
        // Three steps stay, the fourth goes over.
        far.store(0, 7);
        for _ in 0..3 {
            load.step();
            assert_eq!(far.load(0), 7);
        }
        load.step();
        assert_ne!(far.load(0), 7);
    }

    #[test]
    fn patterns_stay_while_they_are_read() {
        let machine = Machine::read(&host::Root::default()).unwrap();
        let cpu = machine.workers(Threads::All)[0];
        let pattern = vec![[0xa5; 64], [0x3c; 64], [1; 64]];
        for (op, changes) in [(Op::Read, false), (Op::Write, true)] {
            let mut all = rows(None, vec![row(cpu, op)]);
            all.pattern.clone_from(&pattern);
            let changed = with_rows(&machine, &all, 0, |field| {
                assert_eq!(field.changed_lines(), 0);
                field.point(0, &rule(), &SHORT);
                field.changed_lines()
            });
            assert_eq!(changed.unwrap() > 0, changes, "{}", op.name());
        }
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        let machine = Machine::read(&host::Root::default()).unwrap();
        let cpu = machine.workers(Threads::All)[0];
        let refused = |all: &Rows| with_rows(&machine, all, 0, |_| ()).unwrap_err().to_string();
        let twice = rows(Some(cpu), vec![row(cpu, Op::Read)]);
        assert!(refused(&twice).contains("two things"));
        assert!(refused(&rows(None, vec![row(99_999, Op::Read)])).contains("99999"));
        let mut shared = rows(None, vec![row(cpu, Op::Write)]);
        shared.shared = true;
        assert!(refused(&shared).contains("write writes"));
        let mut random = rows(None, vec![row(cpu, Op::Triad)]);
        random.rows[0].random = true;
        assert!(refused(&random).contains("random order"));
    }
}
