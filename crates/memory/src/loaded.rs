//! Latency under load: one thread loads dependently while others move bytes.
//!
//! How hard the others press is set by a pause, in cycles of the core, between the lines they
//! move. A pause means something else on every processor, so that points of two machines compare
//! at equal bandwidth and never at equal pause. Besides the customary table of pauses there is an
//! adaptive choice: a few that span the curve, then halvings on both sides of its knee.
//!
//! The idle end of the curve is measured in the same session with everybody else parked, by the
//! same chain. Bandwidth counts what memory sees, the latency thread's loads included.

use crate::chase::Chain;
use crate::error::Error;
use crate::injector::{Injector, Setting};
use crate::kernel::Isa;
use crate::latency;
use crate::machine::Machine;
use crate::mixer::{Lead, Order, Outcome, Window, Worker, session};
use crate::place::{Buffer, Placement, Wish};
use crate::sample::{Better, Reading, Rule, figure, interleave};
use crate::search::{fastest, forms};
use result::memory::{AtShare, Figure, Knee, Loaded, LoadedPoint, Mix};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

pub use crate::bandwidth::Job;

/// The customary pauses, cycles.
pub const TABLE: [u32; 19] = [
    0, 2, 8, 15, 50, 100, 200, 300, 400, 500, 700, 1000, 1300, 1700, 2500, 3500, 5000, 9000, 20000,
];
/// Where the adaptive choice begins, cycles.
const COARSE: [u32; 6] = [0, 60, 250, 1000, 4000, 20000];
/// Points that the adaptive choice may add.
const REFINED: usize = 8;
/// It ends when the points beside the knee are this share of the peak away from it.
const FINE: f64 = 0.03;
/// A pause that amounts to no load at all, cycles.
const PARKED: u32 = 4_000_000;
/// Loads between two looks at the clock: some 20 us.
const CHUNK_LOADS: u64 = 192;
/// Bytes of a load's line.
const LINE: u64 = crate::kernel::LINE as u64;
/// Shares of the peak at which the latency is told.
const SHARES: [f64; 4] = [0.25, 0.5, 0.75, 0.9];

/// A thread that presses.
#[derive(Clone, Debug)]
pub struct Load {
    /// Its CPU.
    pub cpu: u32,
    /// Its buffer.
    pub wish: Wish,
    /// What it does.
    pub job: Job,
}

/// Which pauses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delays {
    /// These, in cycles.
    List(Vec<u32>),
    /// A few, then more around the knee.
    Adaptive,
}

/// What is measured.
#[derive(Clone, Debug)]
pub struct Subject {
    /// CPU and chain of the latency thread; `None` to make load alone.
    pub latency: Option<(u32, latency::Subject)>,
    /// The others, each on a CPU of its own.
    pub loads: Vec<Load>,
    /// The loads all use the buffer of the first.
    pub shared: bool,
    /// The only instruction set to use.
    pub isa: Option<Isa>,
    /// Pauses.
    pub delays: Delays,
    /// How long to sample.
    pub rule: Rule,
    /// One sample.
    pub window: Window,
}

/// The curve, and where everybody's memory was.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The curve as it goes into a document.
    pub loaded: Loaded,
    /// By worker, the latency thread first.
    pub placements: Vec<Placement>,
    /// Middle of what each worker moved at each point, bytes per second as memory sees them, in
    /// the order of the points and then of the placements.
    pub each: Vec<Vec<f64>>,
}

/// Either side of the measurement; the unit is the byte.
#[derive(Debug)]
enum Part {
    Chase(Box<Chain>),
    Load(Injector),
}

impl Worker for Part {
    fn begin(&mut self, order: Order) {
        match self {
            Part::Chase(_) => {}
            Part::Load(injector) => injector.begin(order),
        }
    }

    fn step(&mut self) -> u64 {
        match self {
            Part::Chase(chain) => chain.ring().follow(CHUNK_LOADS) * LINE,
            Part::Load(injector) => injector.step(),
        }
    }
}

/// Measures the curve.
///
/// # Errors
/// No room for the buffers, CPUs that may not be used or are named twice, jobs that have no loop.
pub fn measure(machine: &Machine, subject: &Subject) -> Result<Curve, Error> {
    let cpus = cpus(machine, subject)?;
    let (settings, places) = settings(subject)?;
    let chasers = usize::from(subject.latency.is_some());
    let placements = Mutex::new(vec![None; cpus.len()]);
    let note = |index: usize, got: &Placement| {
        if let Ok(mut all) = placements.lock() {
            all[index] = Some(got.clone());
        }
    };
    let shared = match subject.loads.first() {
        Some(first) if subject.shared => {
            let (area, got) = Buffer::new(machine, &first.wish)?.into_parts();
            Some((Arc::new(area), got))
        }
        _ => None,
    };
    let make = |index: usize| {
        if let (0, Some((_, subject))) = (index, &subject.latency) {
            let chain = Chain::new(machine, &subject.wish, subject.layout)?;
            note(0, chain.placement());
            return Ok::<_, Error>(Part::Chase(Box::new(chain)));
        }
        let load = &subject.loads[index - chasers];
        let (area, got) = match &shared {
            Some(all) => all.clone(),
            None => {
                let (area, got) = Buffer::new(machine, &load.wish)?.into_parts();
                (Arc::new(area), got)
            }
        };
        note(index, &got);
        // Every worker has all variants of its job's place, so that one number fits all.
        let own: Vec<Setting> = settings
            .iter()
            .map(|by_job| by_job[places[index - chasers]])
            .collect();
        Ok(Part::Load(Injector::new(area, &own)?))
    };
    let points = session(&cpus, make, |lead| {
        let variant = best_variant(lead, subject, &settings);
        let bench = Bench {
            subject,
            variant,
            chasers,
        };
        let points = bench.curve(lead);
        (points, variant)
    })?;
    let (points, variant) = points;
    let kernels: Vec<String> = distinct(
        places
            .iter()
            .filter_map(|&place| Some(settings.get(variant)?[place].name())),
    );
    let placements = placements.into_inner().unwrap_or_default();
    Ok(Curve {
        each: points.iter().map(|point| point.each.clone()).collect(),
        loaded: document(subject, kernels.join(", "), points),
        placements: placements.into_iter().flatten().collect(),
    })
}

/// All CPUs, the latency thread's first.
fn cpus(machine: &Machine, subject: &Subject) -> Result<Vec<usize>, Error> {
    let mut cpus: Vec<u32> = subject.latency.iter().map(|(cpu, _)| *cpu).collect();
    cpus.extend(subject.loads.iter().map(|load| load.cpu));
    for (index, &cpu) in cpus.iter().enumerate() {
        machine.check_cpu(cpu)?;
        if cpus[..index].contains(&cpu) {
            return Err(Error::refused(format!(
                "CPU {cpu} is to do two things; each thread needs a CPU of its own"
            )));
        }
    }
    if let (Some(load), true) = (
        subject
            .loads
            .iter()
            .find(|load| load.job.op.traffic().stores > 0),
        subject.shared,
    ) {
        return Err(Error::refused(format!(
            "{} writes, and all threads would share one buffer",
            load.job.op.name()
        )));
    }
    Ok(cpus.into_iter().map(|cpu| cpu as usize).collect())
}

/// Variants, each with one setting per distinct job, and which job each load has. Only a single
/// job is searched for its best loop; several side by side get the middle of the road each.
fn settings(subject: &Subject) -> Result<(Vec<Vec<Setting>>, Vec<usize>), Error> {
    let mut jobs: Vec<Job> = Vec::new();
    let mut places = Vec::new();
    for load in &subject.loads {
        let alike = |job: &Job| (job.op, job.random) == (load.job.op, load.job.random);
        let place = jobs.iter().position(alike);
        places.push(place.unwrap_or(jobs.len()));
        if place.is_none() {
            jobs.push(load.job);
        }
    }
    let mut all = Vec::new();
    for job in &jobs {
        let forms = match job.setting {
            Some(setting) => vec![setting],
            None => forms(job.op, job.random, subject.isa),
        };
        if forms.is_empty() {
            let order = if job.random { " in random order" } else { "" };
            return Err(Error::refused(format!(
                "there is no loop for {}{order}",
                job.op.name()
            )));
        }
        all.push(forms);
    }
    let variants = match all.as_slice() {
        [] => Vec::new(),
        [forms] => forms.iter().map(|&form| vec![form]).collect(),
        // The last form has the widest instructions, the most streams and the longest prefetch.
        several => vec![several.iter().map(|forms| forms[forms.len() - 1]).collect()],
    };
    Ok((variants, places))
}

fn best_variant(lead: &mut Lead<'_, Part>, subject: &Subject, settings: &[Vec<Setting>]) -> usize {
    if settings.len() < 2 || subject.loads.is_empty() {
        return 0;
    }
    let forms: Vec<Setting> = settings.iter().map(|by_job| by_job[0]).collect();
    fastest(lead, 0, &forms)
        .first()
        .map_or(0, |tried| tried.variant)
}

fn distinct(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    for name in names {
        if !list.contains(&name) {
            list.push(name);
        }
    }
    list
}

/// A point with what each worker moved.
#[derive(Clone, Debug, Default)]
struct Point {
    delay: u32,
    ns: Option<Figure>,
    rate: Figure,
    each: Vec<f64>,
}

struct Bench<'s> {
    subject: &'s Subject,
    variant: usize,
    chasers: usize,
}

impl Bench<'_> {
    /// Points by falling load; the last is the parked one, if there is a latency to measure.
    fn curve(&self, lead: &mut Lead<'_, Part>) -> Vec<Point> {
        let idle = (self.chasers > 0).then_some(PARKED);
        let with_idle = |list: &[u32]| list.iter().copied().chain(idle).collect::<Vec<u32>>();
        let list = match &self.subject.delays {
            Delays::List(list) => return self.points(lead, &with_idle(list)),
            Delays::Adaptive => with_idle(&COARSE),
        };
        let mut points = self.points(lead, &list);
        for _ in 0..REFINED {
            let Some(delay) = refine(&points) else { break };
            points.extend(self.points(lead, &[delay]));
            points.sort_by_key(|point| point.delay);
        }
        points
    }

    /// Measures delays in turn.
    fn points(&self, lead: &mut Lead<'_, Part>, delays: &[u32]) -> Vec<Point> {
        let mut outcomes: Vec<Vec<Outcome>> = vec![Vec::new(); delays.len()];
        let taken = interleave(delays.len(), &self.subject.rule, Better::Lower, |number| {
            let order = Order {
                variant: self.variant,
                delay: u64::from(delays[number]),
            };
            let outcome = lead.window(order, &self.subject.window);
            // The time that the loading thread itself ran: waiting for a CPU is no latency.
            let value = outcome.done.first().map_or(0.0, |done| {
                LINE as f64 * 1e9 / done.rate_while_running().max(1.0)
            });
            let disturbed = outcome.disturbed;
            outcomes[number].push(outcome);
            Ok::<_, Infallible>(Reading { value, disturbed })
        });
        let Ok(taken) = taken;
        let points = delays.iter().zip(&outcomes).enumerate();
        points
            .map(|(number, (&delay, outcomes))| {
                let (rate, each) = self.rates(outcomes);
                Point {
                    delay,
                    ns: (self.chasers > 0).then(|| taken.figure(number)),
                    rate,
                    each,
                }
            })
            .collect()
    }

    /// What memory saw, together and by worker: of the clean windows, or of all if none is clean.
    fn rates(&self, outcomes: &[Outcome]) -> (Figure, Vec<f64>) {
        let clean = |outcome: &&Outcome| outcome.disturbed.is_none();
        let mut used: Vec<&Outcome> = outcomes.iter().filter(clean).collect();
        let dropped = outcomes.len() - used.len();
        let disturbed = used.is_empty();
        if disturbed {
            used = outcomes.iter().collect();
        }
        let of = |outcome: &Outcome, worker: usize| {
            let bytes = outcome.done[worker].rate();
            match worker.checked_sub(self.chasers) {
                None => bytes,
                Some(load) => {
                    let job = self.subject.loads[load].job;
                    job.op.traffic().controller_bytes(bytes)
                }
            }
        };
        let workers = self.chasers + self.subject.loads.len();
        let sum = |outcome: &&Outcome| (0..workers).map(|worker| of(outcome, worker)).sum();
        let rate = Figure {
            disturbed,
            ..figure(
                used.iter().map(sum).collect(),
                Better::Higher,
                if disturbed { 0 } else { dropped },
            )
        };
        let middle = |worker: usize| {
            let each = used.iter().map(|outcome| of(outcome, worker));
            crate::sample::median(&mut each.collect::<Vec<f64>>())
        };
        (rate, (0..workers).map(middle).collect())
    }
}

/// Latency and rate of the points that have a latency, idle first.
fn curve_of(points: &[Point]) -> Vec<(u32, f64, f64)> {
    let mut curve: Vec<(u32, f64, f64)> = points
        .iter()
        .filter_map(|point| Some((point.delay, point.rate.median, point.ns.as_ref()?.median)))
        .collect();
    curve.sort_by_key(|point| std::cmp::Reverse(point.0));
    curve
}

/// Place of the knee on a curve that begins idle: where bandwidth has gained most over latency,
/// both as shares of their spans (Satopaa et al., 2011). `None` for fewer than three points or a
/// curve that does not bend.
fn knee_of(curve: &[(u32, f64, f64)]) -> Option<usize> {
    let of = |pick: fn(&(u32, f64, f64)) -> f64| {
        let values = curve.iter().map(pick);
        let low = values.clone().fold(f64::INFINITY, f64::min);
        (low, values.fold(f64::NEG_INFINITY, f64::max) - low)
    };
    let (low_rate, rates) = of(|point| point.1);
    let (low_ns, times) = of(|point| point.2);
    if curve.len() < 3 || rates <= 0.0 || times <= 0.0 {
        return None;
    }
    let gain = |point: &(u32, f64, f64)| (point.1 - low_rate) / rates - (point.2 - low_ns) / times;
    let best = (0..curve.len()).max_by(|&a, &b| gain(&curve[a]).total_cmp(&gain(&curve[b])))?;
    (gain(&curve[best]) > 0.05 && best > 0 && best + 1 < curve.len()).then_some(best)
}

/// The next pause: between the knee and whichever neighbour is farther in bandwidth.
fn refine(points: &[Point]) -> Option<u32> {
    let curve = curve_of(points);
    let knee = knee_of(&curve)?;
    let peak = curve.iter().map(|point| point.1).fold(0.0, f64::max);
    let gap = |other: usize| (curve[knee].1 - curve[other].1).abs() / peak;
    let mut sides = [knee - 1, knee + 1];
    sides.sort_by(|&a, &b| gap(b).total_cmp(&gap(a)));
    sides
        .into_iter()
        .filter(|&side| gap(side) > FINE)
        .find_map(|side| {
            let (a, b) = (curve[knee].0, curve[side].0);
            // Halfway between ratios; one more than either, so that 0 has a middle too.
            let middle = (f64::from(a) + 1.0) * (f64::from(b) + 1.0);
            let delay = (middle.sqrt() - 1.0).round() as u32;
            points
                .iter()
                .all(|point| point.delay != delay)
                .then_some(delay)
        })
}

/// Latency where the curve first reaches `rate`, on a straight line between two points.
fn at_rate(curve: &[(u32, f64, f64)], rate: f64) -> Option<f64> {
    curve.windows(2).find_map(|pair| {
        let (before, after) = (pair[0], pair[1]);
        if before.1 > rate || after.1 < rate || after.1 <= before.1 {
            return None;
        }
        let share = (rate - before.1) / (after.1 - before.1);
        Some(before.2 + share * (after.2 - before.2))
    })
}

fn document(subject: &Subject, kernel: String, points: Vec<Point>) -> Loaded {
    let names = distinct(subject.loads.iter().map(|load| {
        let order = if load.job.random { "random " } else { "" };
        format!("{order}{}", load.job.op.name())
    }));
    let mix = subject.loads.first().map_or(Mix::default(), |load| {
        let traffic = load.job.op.traffic();
        let (stores, nt_stores) = match traffic.nt {
            true => (0, traffic.stores),
            false => (traffic.stores, 0),
        };
        Mix {
            loads: traffic.loads as u32,
            stores: stores as u32,
            nt_stores: nt_stores as u32,
        }
    });
    let curve = curve_of(&points);
    let peak = curve.iter().map(|point| point.1).fold(0.0, f64::max);
    let knee = knee_of(&curve).map(|place| Knee {
        rate: curve[place].1,
        ns: curve[place].2,
    });
    let at = SHARES.into_iter().filter_map(|share| {
        let ns = at_rate(&curve, share * peak)?;
        Some(AtShare { share, ns })
    });
    let parked = |point: &&Point| point.delay == PARKED;
    Loaded {
        name: names.join(", "),
        mix,
        cpu: subject.latency.as_ref().map(|(cpu, _)| *cpu),
        load_cpus: subject.loads.iter().map(|load| load.cpu).collect(),
        kernel,
        idle_ns: points
            .iter()
            .find(parked)
            .and_then(|point| point.ns.clone()),
        at: at.collect(),
        knee,
        points: points
            .into_iter()
            .filter(|point| point.delay != PARKED)
            .map(|point| LoadedPoint {
                delay: point.delay,
                ns: point.ns,
                rate: point.rate,
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests;
