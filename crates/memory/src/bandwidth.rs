//! Bandwidth of several operations by one set of CPUs.
//!
//! Each worker has a buffer of its own, filled from its CPU. For each operation the fastest loop
//! is searched first; then the operations are measured in turn, one window each per round.

use crate::error::Error;
use crate::injector::{Injector, Setting};
use crate::kernel::{Isa, Op};
use crate::machine::Machine;
use crate::mixer::{Lead, Order, Outcome, Window, session};
use crate::place::{Buffer, Placement, Wish};
use crate::sample::{Better, Interleaved, Reading, Rule, interleave, median};
use crate::search::{Tried, fastest, forms};
use result::memory::Figure;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

/// What is to be measured.
#[derive(Clone, Debug)]
pub struct Subject {
    /// CPUs, each with one worker.
    pub cpus: Vec<u32>,
    /// Each worker's buffer.
    pub wish: Wish,
    /// All workers read one buffer, which the first makes.
    pub shared: bool,
    /// What is done.
    pub jobs: Vec<Job>,
    /// The only instruction set to use.
    pub isa: Option<Isa>,
    /// How long to sample.
    pub rule: Rule,
    /// One sample.
    pub window: Window,
}

/// One row of the result.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// What is done.
    pub op: Op,
    /// Whether lines are taken in random order.
    pub random: bool,
    /// By this loop; without one the fastest is searched.
    pub setting: Option<Setting>,
}

impl From<Op> for Job {
    fn from(op: Op) -> Job {
        Job {
            op,
            random: false,
            setting: None,
        }
    }
}

/// The bandwidth of one operation.
#[derive(Clone, Debug)]
pub struct Row {
    /// What was done.
    pub job: Job,
    /// By which loop.
    pub setting: Setting,
    /// Bytes loaded and stored per second, all workers together.
    pub rate: Figure,
    /// The middle of what each worker reached.
    pub each: Vec<f64>,
    /// The last round of the search by name, the loop in use first.
    pub search: Vec<(String, Figure)>,
    /// Loops and distances that the search began with.
    pub tried: usize,
}

/// Rows measured in turn.
#[derive(Clone, Debug)]
pub struct Bandwidth {
    /// One for each job.
    pub rows: Vec<Row>,
    /// The buffers, by worker.
    pub placements: Vec<Placement>,
    samples: Interleaved,
}

impl Bandwidth {
    /// Row `a` over row `b`, window by window.
    pub fn ratio(&self, a: usize, b: usize) -> Figure {
        self.samples.ratio(a, b)
    }
}

/// Searches and measures.
///
/// # Errors
/// No room for the buffers, CPUs that may not be used, operations that have no loop here, or one
/// buffer for all and an operation that writes.
pub fn measure(machine: &Machine, subject: &Subject) -> Result<Bandwidth, Error> {
    let forms = all_forms(subject)?;
    let all: Vec<Setting> = forms.concat();
    let placements = Mutex::new(vec![None; subject.cpus.len()]);
    let found = with_injectors(machine, subject, &all, &placements, |lead| {
        let mut first = 0;
        let mut searches: Vec<Vec<Tried>> = Vec::new();
        for forms in &forms {
            searches.push(fastest(lead, first, forms));
            first += forms.len();
        }
        let chosen: Vec<usize> = searches.iter().map(|tried| tried[0].variant).collect();
        let (samples, each) = sample(lead, &chosen, subject);
        (searches, samples, each)
    })?;
    let (searches, samples, each) = found;
    let rows = searches.into_iter().zip(&subject.jobs).enumerate();
    let rows = rows.map(|(row, (search, &job))| Row {
        job,
        setting: all[search[0].variant],
        rate: samples.figure(row),
        each: each[row].clone(),
        search: search
            .into_iter()
            .map(|tried| (all[tried.variant].name(), tried.rate))
            .collect(),
        tried: forms[row].len(),
    });
    let placements = placements.into_inner().unwrap_or_default();
    Ok(Bandwidth {
        rows: rows.collect(),
        placements: placements.into_iter().flatten().collect(),
        samples,
    })
}

/// The forms to search, by job.
fn all_forms(subject: &Subject) -> Result<Vec<Vec<Setting>>, Error> {
    if let Some(isa) = subject.isa.filter(|isa| !isa.supported()) {
        return Err(crate::kernel::Error::Unsupported(isa).into());
    }
    let jobs = subject.jobs.iter().map(|job| {
        let name = job.op.name();
        if subject.shared && job.op.traffic().stores > 0 {
            let why = format!("{name} writes, and all workers would share one buffer");
            return Err(Error::refused(why));
        }
        if let Some(setting) = job.setting {
            return Ok(vec![setting]);
        }
        let forms = forms(job.op, job.random, subject.isa);
        if forms.is_empty() {
            let order = if job.random { " in random order" } else { "" };
            return Err(Error::refused(format!(
                "there is no loop for {name}{order}"
            )));
        }
        Ok(forms)
    });
    jobs.collect()
}

/// A session of workers, each with a buffer and ready for `settings`.
fn with_injectors<T>(
    machine: &Machine,
    subject: &Subject,
    settings: &[Setting],
    placements: &Mutex<Vec<Option<Placement>>>,
    lead: impl FnOnce(&mut Lead<'_, Injector>) -> T,
) -> Result<T, Error> {
    for &cpu in &subject.cpus {
        machine.check_cpu(cpu)?;
    }
    let cpus: Vec<usize> = subject.cpus.iter().map(|&cpu| cpu as usize).collect();
    let buffer = || {
        let (area, placement) = Buffer::new(machine, &subject.wish)?.into_parts();
        Ok::<_, Error>((Arc::new(area), placement))
    };
    let one = subject.shared.then(buffer).transpose()?;
    let make = |index: usize| {
        let (area, placement) = one.clone().map_or_else(buffer, Ok)?;
        if let Ok(mut all) = placements.lock() {
            all[index] = Some(placement);
        }
        Ok::<_, Error>(Injector::new(area, settings)?)
    };
    session(&cpus, make, lead)
}

/// Windows of the chosen variants in turn: all samples, and each worker's median by row.
fn sample(
    lead: &mut Lead<'_, Injector>,
    chosen: &[usize],
    subject: &Subject,
) -> (Interleaved, Vec<Vec<f64>>) {
    let mut outcomes: Vec<Vec<Outcome>> = vec![Vec::new(); chosen.len()];
    let taken = interleave(chosen.len(), &subject.rule, Better::Higher, |row| {
        let outcome = lead.window(Order::variant(chosen[row]), &subject.window);
        let reading = Reading {
            value: outcome.rate(),
            disturbed: outcome.disturbed,
        };
        outcomes[row].push(outcome);
        Ok::<_, Infallible>(reading)
    });
    let Ok(samples) = taken;
    let each = outcomes.iter().map(|row| middle(row)).collect();
    (samples, each)
}

/// Each worker's median, over the clean windows if there are any.
fn middle(outcomes: &[Outcome]) -> Vec<f64> {
    let clean = outcomes
        .iter()
        .filter(|outcome| outcome.disturbed.is_none());
    let mut used: Vec<&Outcome> = clean.collect();
    if used.is_empty() {
        used = outcomes.iter().collect();
    }
    let workers = used.first().map_or(0, |outcome| outcome.done.len());
    let of = |worker: usize| used.iter().map(move |outcome| outcome.done[worker].rate());
    (0..workers)
        .map(|worker| median(&mut of(worker).collect::<Vec<f64>>()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Threads;
    use std::time::Duration;

    fn subject(machine: &Machine, jobs: &[Job]) -> Subject {
        Subject {
            cpus: machine.workers(Threads::All),
            wish: Wish {
                bytes: 8 << 20,
                ..Wish::default()
            },
            shared: false,
            jobs: jobs.to_vec(),
            isa: Isa::ALL.into_iter().find(|isa| isa.supported()),
            rule: Rule {
                samples: 2,
                warm_up: 0,
                cap: Duration::from_millis(100),
                ..Rule::default()
            },
            window: Window {
                warm: Duration::from_micros(500),
                length: Duration::from_millis(2),
            },
        }
    }

    #[test]
    fn every_job_gets_a_row_with_its_loop_and_its_workers() {
        let machine = Machine::read(&host::Root::default()).unwrap();
        let jobs = [
            Op::Read.into(),
            Op::WriteNt.into(),
            Job {
                op: Op::Write,
                random: true,
                setting: None,
            },
        ];
        let subject = subject(&machine, &jobs);
        let all = measure(&machine, &subject).unwrap();
        assert_eq!(
            (all.rows.len(), all.placements.len()),
            (3, subject.cpus.len())
        );
        for (row, job) in all.rows.iter().zip(jobs) {
            assert_eq!((row.job.op, row.setting.kernel.op), (job.op, job.op));
            assert_eq!(Some(row.setting.kernel.isa), subject.isa);
            assert_eq!(row.search[0].0, row.setting.name());
            assert_eq!(row.each.len(), subject.cpus.len());
            assert!(row.rate.median > 0.0 && row.each.iter().all(|&rate| rate > 0.0));
        }
        assert!(all.ratio(0, 1).median > 0.0);
    }

    #[test]
    fn a_loop_may_be_given() {
        let machine = Machine::read(&host::Root::default()).unwrap();
        let setting = forms(Op::Copy, false, None)[1];
        let job = Job {
            setting: Some(setting),
            ..Op::Copy.into()
        };
        let all = measure(&machine, &subject(&machine, &[job])).unwrap();
        assert_eq!(all.rows[0].setting.name(), setting.name());
        assert_eq!((all.rows[0].tried, all.rows[0].search.len()), (1, 1));
    }

    #[test]
    fn what_cannot_be_measured_is_refused_by_name() {
        let machine = Machine::read(&host::Root::default()).unwrap();
        let refused = |change: &dyn Fn(&mut Subject)| {
            let mut subject = subject(&machine, &[Op::Triad.into()]);
            change(&mut subject);
            measure(&machine, &subject).unwrap_err().to_string()
        };
        assert!(refused(&|s| s.shared = true).contains("triad writes"));
        assert!(refused(&|s| s.jobs[0].random = true).contains("no loop for triad in random"));
        assert!(refused(&|s| s.cpus = vec![99_999]).contains("99999"));
        assert!(refused(&|s| s.wish.bytes = 1 << 60).contains("GiB"));
        let missing = Isa::ALL.into_iter().find(|isa| !isa.supported()).unwrap();
        assert!(refused(&|s| s.isa = Some(missing)).contains(missing.name()));
    }

    #[test]
    fn one_buffer_may_be_read_by_all() {
        let machine = Machine::read(&host::Root::default()).unwrap();
        let mut subject = subject(&machine, &[Op::Read.into()]);
        subject.shared = true;
        let all = measure(&machine, &subject).unwrap();
        assert_eq!(all.placements.len(), subject.cpus.len());
        assert!(all.rows[0].rate.median > 0.0);
    }
}
