//! From words to a finished run: parse, plan, lay out, run. Shared by the fio personality and
//! by Assay's own verbs, which write their work as job options too.

use crate::disks::DiskWatch;
use host::cpu::Times;
use judge::expect::Declared;
use plan::group::Inside;
use plan::journal::{self, Item, Journal};
use plan::layout::{self, Made, Make};
use plan::model::Plan;
use result::{Interrupts, LaidOut, Run};
use run::{Crew, Ended, Intervals, Observer};
use spec::{Errors, Spec, ThisHost};
use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Reads a command line, without the program's name.
pub fn read(words: &[String]) -> Result<Spec, Errors> {
    let engines: Vec<option::EngineTable> = engine::registry::tables().copied().collect();
    spec::parse(words, &engines, &ThisHost)
}

/// A plan with the facts it was made from.
pub struct Session {
    /// What will be done.
    pub plan: Plan,
    facts: host::Facts,
    /// The control group that the run is in; left before the journal goes.
    inside: RefCell<Option<Inside>>,
    /// What this run makes; goes with the session.
    journal: RefCell<Option<Journal>>,
    /// What was laid out, and how long that took.
    layouts: RefCell<Vec<LaidOut>>,
}

/// Layouts one after the other, with the time of each.
#[derive(Default)]
struct Phases {
    done: Vec<LaidOut>,
    began: Option<Instant>,
}

impl Phases {
    fn see(&mut self, step: &layout::Progress<'_>) {
        if !step.begins {
            return;
        }
        self.close();
        let layout = step.layout;
        let files = layout
            .files
            .iter()
            .filter(|file| file.how != Make::Directory);
        self.began = Some(Instant::now());
        self.done.push(LaidOut {
            job: layout.job.clone(),
            files: files.clone().count() as u32,
            size_bytes: files.map(|file| file.to_bytes).sum(),
            written_bytes: Some(layout.data_bytes()),
            duration_ms: None,
        });
    }

    fn close(&mut self) {
        if let (Some(began), Some(last)) = (self.began.take(), self.done.last_mut()) {
            last.duration_ms = Some(began.elapsed().as_millis() as u64);
        }
    }

    fn end(mut self) -> Vec<LaidOut> {
        self.close();
        self.done.retain(|one| one.files > 0);
        self.done
    }
}

impl Session {
    /// Settles what the jobs mean on this host.
    pub fn new(spec: &Spec) -> anyhow::Result<Session> {
        let facts = host::Facts::read(&host::Root::default())?;
        let plan = plan::plan(spec, &facts)?;
        Ok(Session {
            plan,
            facts,
            inside: RefCell::default(),
            journal: RefCell::default(),
            layouts: RefCell::default(),
        })
    }

    /// Makes the files that must exist before the run, after noting them in the journal.
    pub fn lay_out(
        &self,
        cancel: &AtomicBool,
        progress: &mut dyn FnMut(layout::Progress<'_>),
    ) -> Result<Made, layout::LayoutError> {
        for merge in &self.plan.merges {
            merge.write().map_err(|error| {
                layout::LayoutError::at("merge traces into", merge.output(), error)
            })?;
        }
        let mut items = journal::items(&self.plan.layouts);
        let group = self.plan.group.as_ref();
        items.extend(group.and_then(|group| Some(Item::Directory(group.makes()?.to_owned()))));
        // Where no journal can be kept, the run is as one of fio's.
        let journal = Journal::write(&journal::directory(), &items).ok().flatten();
        let mut watch = Phases::default();
        let made = layout::make(&self.plan.layouts, cancel, &mut |step| {
            watch.see(&step);
            progress(step);
        });
        if let (Some(journal), Ok(made)) = (&journal, &made) {
            // Without it the files are known by their age.
            let _ = journal.made(made.created.iter().map(PathBuf::as_path));
        }
        *self.journal.borrow_mut() = journal;
        *self.layouts.borrow_mut() = watch.end();
        let made = made?;
        if let Some(group) = group {
            match group.enter(&self.facts.root) {
                Ok(inside) => *self.inside.borrow_mut() = Some(inside),
                Err(error) => {
                    made.undo();
                    return Err(error);
                }
            }
        }
        Ok(made)
    }

    /// Takes the picture of the host and begins to watch the disks below the targets.
    pub fn watch_disks(&self) -> DiskWatch {
        DiskWatch::start(&self.plan, &self.facts)
    }

    /// Runs the plan; the document gets the host's and the disks' part, and is judged by these
    /// and by what was declared.
    pub fn run(
        &self,
        crew: Crew,
        intervals: Intervals,
        observer: &mut dyn Observer,
        disks: &DiskWatch,
        declared: Option<&Declared>,
    ) -> Ended {
        let before = host::cpu::times(&self.facts.root).ok();
        let mut ended = crew.run(&self.plan, intervals, observer);
        *self.inside.borrow_mut() = None;
        ended.run.disks = disks.differences();
        let after = host::cpu::times(&self.facts.root).ok();
        ended.run.interrupts = before.zip(after).and_then(|(a, b)| interrupts(&a.1, &b.1));
        ended.run.host = Some(disks.host());
        ended.run.layouts = self.layouts.borrow().clone();
        ended.run.judgement = Some(judge::judge_against(&ended.run, declared));
        ended
    }
}

/// The CPU with the largest share of its time in interrupts.
fn interrupts(before: &[Times], after: &[Times]) -> Option<Interrupts> {
    let shares = before.iter().zip(after).enumerate().map(|(cpu, (a, b))| {
        let total = b.total.saturating_sub(a.total).max(1) as f64;
        let share = |now: u64, then: u64| 100.0 * now.saturating_sub(then) as f64 / total;
        Interrupts {
            cpu: cpu as u32,
            percent: share(b.interrupts, a.interrupts),
            busy_percent: 100.0 - share(b.idle, a.idle),
        }
    });
    shares.max_by(|a, b| a.percent.total_cmp(&b.percent))
}

/// Number of workers of a run that failed.
pub fn failures(run: &Run) -> usize {
    run.jobs.iter().filter(|job| job.failure.is_some()).count()
}
