//! From jobs to workers: clones, thread numbers, groups, stages, and one [`Worker`] each.

mod access;
mod policy;

use crate::content;
use crate::error::{Fault, PlanError, PlanErrors};
use crate::job::{Job, Recorded};
use crate::layout::{Layout, NewFile};
use crate::model::{Description, Engine, Plan, Target, Worker, ZonedWork};
use crate::names::{self, Naming};
use crate::regions::{self, Ask, Region, RegionError, Regions};
use crate::replay::{self, Replay, Scan};
use crate::targets::{self, Book};
use crate::zoned::{self, ZoneBook};
use crate::{group, place, record, requests, schedulers};
use access::{access, polled};
use engine::EngineKind;
use host::Facts;
use spec::Spec;
use spec::kinds::{self, LogValue};
use std::hash::{BuildHasher, Hasher, RandomState};
use units::{Amount, PerDdir};
use workload::{Seed, rng::Taus};

/// Settles everything about all jobs of `spec` on the machine that `facts` describe. Reads file
/// sizes and device limits; changes nothing.
///
/// # Errors
/// Every fault found, at most one batch per job.
pub fn plan(spec: &Spec, facts: &Facts) -> Result<Plan, PlanErrors> {
    let mut build = Build {
        spec,
        facts,
        book: Book::new(facts),
        plan: Plan {
            workers: Vec::new(),
            layouts: Vec::new(),
            merges: Vec::new(),
            group: None,
            clock_cpu: None,
            global_options: spec.global_given.clone(),
            notes: Vec::new(),
        },
        group: 0,
        in_group: 0,
        stage: 0,
        zones: ZoneBook::default(),
    };
    let mut errors = Vec::new();
    let at = |(index, fault): (usize, Fault)| PlanError {
        place: spec.jobs[index].place.clone(),
        job: spec.jobs[index].name.clone(),
        fault,
    };
    match place::clock_cpu(spec, facts) {
        Ok(cpu) => build.plan.clock_cpu = cpu,
        Err(wrong) => errors.push(at(wrong)),
    }
    for (index, job) in spec.jobs.iter().enumerate() {
        let faults = build.job(index as u32, job).err().unwrap_or_default();
        errors.extend(faults.into_iter().map(|fault| at((index, fault))));
    }
    let mut plan = build.plan;
    match group::settle(spec, facts) {
        Ok(group) => plan.group = group,
        Err(wrong) => errors.push(at(wrong)),
    }
    let mut remarks: Vec<String> = build.book.remarks().collect();
    remarks.sort();
    plan.notes.extend(remarks);
    share_working_sets(spec, &mut plan);
    // Clones say the same.
    let mut seen = std::collections::HashSet::new();
    plan.notes.retain(|note| seen.insert(note.clone()));
    if errors.is_empty() {
        Ok(plan)
    } else {
        Err(PlanErrors(errors))
    }
}

/// `dedupe_global`: all jobs that say so repeat blocks of the sets of all of them.
fn share_working_sets(spec: &Spec, plan: &mut Plan) {
    let shares = |worker: &Worker| {
        let job = &spec.jobs[worker.job as usize];
        job.options.buffer.dedupe_global
    };
    let all: Vec<_> = plan
        .workers
        .iter()
        .filter(|worker| shares(worker))
        .flat_map(|worker| worker.buffers.fill.working_sets.clone())
        .collect();
    for worker in plan.workers.iter_mut().filter(|worker| shares(worker)) {
        if !worker.buffers.fill.working_sets.is_empty() {
            worker.buffers.fill.working_sets.clone_from(&all);
        }
    }
}

struct Build<'a> {
    spec: &'a Spec,
    facts: &'a Facts,
    book: Book<'a>,
    plan: Plan,
    group: u32,
    /// Workers in the current group.
    in_group: u32,
    stage: u32,
    zones: ZoneBook,
}

/// What all clones of a job share.
struct Parent<'a> {
    index: u32,
    said: &'a spec::Job,
    job: Job<'a>,
    engine: Engine,
    seed: Seed,
}

/// What one worker works on.
struct Ground<'a> {
    job: Job<'a>,
    names: Vec<String>,
    regions: Regions,
    targets: Vec<Target>,
    /// Files to lay out.
    files: Vec<NewFile>,
    replay: Option<Replay>,
    zoned: Option<ZonedWork>,
}

impl Build<'_> {
    /// Adds all clones of a job.
    fn job(&mut self, index: u32, said: &spec::Job) -> Result<(), Vec<Fault>> {
        let parent = self.parent(index, said)?;
        if self.spec.switches.merge_only {
            if said.options.replay.merge_blktrace_file.is_some() {
                let merge = replay::merge(&parent.job, self.facts).map_err(|fault| vec![fault])?;
                self.plan.merges.push(merge);
            }
            return Ok(());
        }
        let process = &said.options.process;
        if (process.stonewall || process.new_group) && self.in_group > 0 {
            self.in_group = 0;
            self.group += 1;
        }
        if process.stonewall && !self.plan.workers.is_empty() {
            self.stage += 1;
        }
        let earlier = self
            .plan
            .workers
            .iter()
            .filter(|worker| worker.group == self.group);
        let lat = said.options.measure.lat_percentiles && !said.options.measure.disable_lat;
        if process.group_reporting
            && earlier
                .into_iter()
                .any(|worker| worker.reporting.lat_percentiles != lat)
        {
            let text = "lat_percentiles differs from the other jobs of its reporting group";
            return Err(vec![Fault::option("lat_percentiles", text)]);
        }
        let steady = policy::steady(&parent.job);
        let mut members = self.plan.workers.iter();
        let here = |worker: &&Worker| worker.group == self.group;
        if members.any(|worker| here(&worker) && worker.steady != steady) {
            let text = "steadystate options must be consistent within reporting groups";
            return Err(vec![Fault::option("steadystate", text)]);
        }
        // fio numbers clones downwards: thread 2 is the last clone.
        let clones = std::iter::once(0).chain((1..process.numjobs).rev());
        for clone in clones {
            let worker = self.worker(&parent, clone)?;
            self.in_group += 1;
            self.plan.workers.push(worker);
        }
        Ok(())
    }

    /// What is the same for all clones, checked.
    fn parent<'b>(&mut self, index: u32, said: &'b spec::Job) -> Result<Parent<'b>, Vec<Fault>> {
        let mut faults = Vec::new();
        let options = &said.options;
        let kind = EngineKind::parse(&options.queue.ioengine)
            .map_err(|error| vec![Fault::option("ioengine", error.to_string())])?;
        let pairs: Vec<(&str, Option<&str>)> = said
            .engine_options
            .iter()
            .map(|given| (given.name.as_str(), given.value.as_deref()))
            .collect();
        let mut job = Job::settle(&said.name, options, kind, &mut self.plan.notes, &mut faults);
        // A kernel thread submits: there is no submission whose latency could be told.
        job.slat &= !polled(&pairs);
        match engine::registry::check_options(kind, &pairs, options.identity.kb_base) {
            Ok(notes) => self.plan.notes.extend(notes),
            Err(error) => faults.push(Fault::option("ioengine", error.to_string())),
        }
        let appends = pairs.contains(&("write_mode", Some("zone_append")));
        if appends && options.zone.zonemode != kinds::ZoneMode::Zbd {
            let text = "write_mode=zone_append needs zonemode=zbd";
            faults.push(Fault::option("ioengine", text));
        }
        if self.spec.switches.readonly && job.caps.alters {
            let text = format!("ioengine={}: forbidden by --readonly", kind.name());
            faults.push(Fault::option("ioengine", text));
        }
        if let Some(name) = &options.process.wait_for {
            let of = self.spec.jobs.iter().take(index as usize);
            if of.filter(|job| job.name == *name).count() > 1 {
                let text = format!("wait_for={name}: several earlier jobs have this name");
                faults.push(Fault::option("wait_for", text));
            }
        }
        let measure = &options.measure;
        if measure.log_issue_time && !(measure.write_lat_log.is_some() && measure.log_offset) {
            let text = "log_issue_time=1 needs write_lat_log= and log_offset=1";
            faults.push(Fault::option("log_issue_time", text));
        }
        let (store, both) = (measure.log_store_compressed, LogValue::Both);
        for (option, wanted) in [
            ("write_hist_log", measure.write_hist_log.is_some()),
            ("log_issue_time", measure.log_issue_time),
            ("log_window_value", measure.log_window_value == both),
        ] {
            if store && wanted {
                let text = format!("{option}= has no place in the logs of log_store_compressed=1");
                faults.push(Fault::option(option, text));
            }
        }
        if let Some(cpus) = &measure.log_compression_cpus
            && let Some(cpu) = cpus.0.iter().find(|cpu| !self.facts.cpus.contains(cpu))
        {
            let text = format!("log_compression_cpus: CPU {cpu} is not online");
            faults.push(Fault::option("log_compression_cpus", text));
        }
        for (option, id) in [
            ("job_start_clock_id", measure.job_start_clock_id),
            (
                "log_alternate_epoch_clock_id",
                measure.log_alternate_epoch_clock_id,
            ),
        ] {
            if sys::clock::clock_ms(id).is_none() {
                let text = format!("{option}={id}: there is no such clock; see clock_gettime(2)");
                faults.push(Fault::option(option, text));
            }
        }
        if measure.write_hist_log.is_some() && measure.log_hist_msec.is_zero() {
            let text = "write_hist_log= stays empty without log_hist_msec=";
            self.plan.notes.push(format!("{}: {text}", said.name));
        }
        if let Err(fault) = targets::check_directories(directories(options)) {
            faults.push(fault);
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let pair = |given: &spec::Given| (given.name.clone(), given.value.clone());
        let engine = Engine {
            kind,
            options: said.engine_options.iter().map(pair).collect(),
        };
        let repeats = options.io.randrepeat || options.was_set("randseed");
        let seed = if repeats {
            Seed::Fixed(options.io.randseed)
        } else {
            // The standard library seeds its hashers from the system's entropy.
            Seed::Entropy(RandomState::new().build_hasher().finish())
        };
        Ok(Parent {
            index,
            said,
            job,
            engine,
            seed,
        })
    }

    fn worker(&mut self, parent: &Parent<'_>, clone: u32) -> Result<Worker, Vec<Fault>> {
        let number = self.plan.workers.len() as u32 + 1;
        let said = parent.said;
        let one = |fault| vec![fault];
        let readonly = self.spec.switches.readonly;
        let recording = replay::scan(&parent.job, clone, readonly, self.facts).map_err(one)?;
        let ground = match recording {
            Some(scan) => self.recorded(parent, scan),
            None => self.ground(parent, clone, number),
        };
        let Ground {
            job,
            names,
            regions,
            targets,
            files,
            replay,
            zoned,
        } = ground.map_err(one)?;
        let job = &job;
        let schedulers = schedulers::wanted(job, &targets, self.facts).map_err(one)?;
        let own_seed = own_seed(parent.seed, number);
        let covered = regions.size_bytes;
        let buffers = content::buffers(job, self.facts, covered, own_seed).map_err(one)?;
        let directory = self.spec.switches.aux_path.as_deref();
        let verify = content::verify(job, self.facts, directory, number).map_err(one)?;
        if let Some(file) = files.first() {
            if self.spec.switches.readonly {
                let path = file.path.to_path_buf();
                let reason = "must be laid out first, which --readonly forbids".into();
                return Err(vec![Fault::Path { path, reason }]);
            }
            self.plan.layouts.push(Layout {
                worker: number,
                job: said.name.clone(),
                files,
                fsync: said.options.target.create_fsync,
                contents: buffers.fill.clone(),
            });
        }
        let logs = record::logs(job, number);
        record::check_logs(self.facts, &logs, &targets).map_err(one)?;
        let mut faults = Vec::new();
        let placement = place::placement(job, self.facts, number, self.plan.clock_cpu, &mut faults);
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Worker {
            name: said.name.clone(),
            description: said.options.identity.description.clone(),
            number,
            clone,
            job: parent.index,
            group: self.group,
            stage: self.stage,
            wait_for: said.options.process.wait_for.clone(),
            threaded: said.options.process.thread,
            display: display(parent, clone),
            options: said.given.clone(),
            reporting: record::reporting(job),
            engine: parent.engine.clone(),
            depth: job.depth,
            access: access(job, &targets, verify.is_some()),
            targets,
            requests: requests::requests(job, number, parent.seed, &regions, &names),
            limits: requests::limits(job, &regions, own_seed),
            pace: requests::pace(job),
            buffers,
            measured: record::measured(job, self.plan.clock_cpu.is_some()),
            logs,
            errors: policy::error_policy(job),
            placement,
            lifecycle: policy::lifecycle(job),
            target: policy::latency_target(job),
            verify,
            replay,
            steady: policy::steady(job),
            zoned,
            schedulers,
        })
    }

    /// Names, regions and targets as the options say them.
    fn ground<'p>(
        &mut self,
        parent: &Parent<'p>,
        clone: u32,
        number: u32,
    ) -> Result<Ground<'p>, Fault> {
        let collected = collect(parent.said)?;
        let names = naming(parent.said, &collected).paths(clone);
        let (regions, zoned) = self.regions(parent, &names, clone, number)?;
        let (targets, files) = self.book.settle(&parent.job, &names, &regions)?;
        Ok(Ground {
            job: parent.job.clone(),
            names,
            regions,
            targets,
            files,
            replay: None,
            zoned,
        })
    }

    /// Names, regions and targets as a recording says them.
    fn recorded<'p>(&mut self, parent: &Parent<'p>, scan: Scan) -> Result<Ground<'p>, Fault> {
        let recorded = Recorded {
            uses: scan.replay.uses,
            longest: scan.replay.longest,
        };
        let job = parent.job.replaying(recorded, scan.depth);
        if scan.left_out > 0 {
            let (name, n) = (job.name, scan.left_out);
            let note = format!("{name}: --readonly leaves out {n} recorded writes and trims");
            self.plan.notes.push(note);
        }
        if let Some(merge) = scan.replay.merge()
            && !self.plan.merges.contains(merge)
        {
            self.plan.merges.push(merge.clone());
        }
        let targets = self.book.recorded(&job, &scan.files)?;
        let region = |target: &Target| Region {
            offset_bytes: 0,
            length_bytes: target.length_bytes,
            file_bytes: target.size_bytes.max(target.length_bytes),
        };
        Ok(Ground {
            job,
            names: scan.files.into_iter().map(|file| file.name).collect(),
            regions: Regions {
                regions: targets.iter().map(region).collect(),
                size_bytes: scan.replay.bytes,
                io_size_bytes: 0,
            },
            targets,
            files: Vec::new(),
            replay: Some(scan.replay),
            zoned: None,
        })
    }

    fn regions(
        &mut self,
        parent: &Parent<'_>,
        names: &[String],
        clone: u32,
        number: u32,
    ) -> Result<(Regions, Option<ZonedWork>), Fault> {
        let (job, extent) = (&parent.job, &parent.said.options.extent);
        let found: Result<Vec<_>, Fault> = names
            .iter()
            .map(|name| self.book.found(job, name))
            .collect();
        let found = found?;
        let zone = &job.options.zone;
        let zones = (zone.zonemode == kinds::ZoneMode::Zbd)
            .then(|| self.zones.targets(job, self.facts, &found))
            .transpose()?;
        let first = zones.as_ref().and_then(|targets| targets.first());
        let zone_bytes = first.map_or(zone.zonesize, |target| target.table.zone_bytes);
        let amount = |amount| zoned::in_bytes(amount, zone_bytes);
        let fill = parent.said.options.target.fill_device;
        let align = parent
            .said
            .options
            .was_set("offset_align")
            .then_some(extent.offset_align);
        let ask = Ask {
            size: amount(extent.size),
            filesize: extent.filesize,
            io_size: amount(extent.io_size),
            offset: amount(extent.offset),
            offset_increment: amount(extent.offset_increment),
            offset_align: align,
            append: parent.said.options.target.file_append,
            fill: fill && matches!(extent.size, Amount::Bytes(0)),
            min_bs: job.min_bs,
            grain: job.block.0.iter().map(|size| size.min).min().unwrap_or(1),
            clone,
        };
        let sizes = requests::file_sizes(job, parent.seed, number);
        let mut settled = regions::settle(&ask, &found, sizes)?;
        for (region, name) in settled.regions.iter().zip(names) {
            if region.length_bytes > 0 {
                continue;
            }
            // A job that only reads does not create files, and cannot open one that is missing.
            if !job.modifies() && !self.book.exists(name) {
                let path = name.clone();
                return Err(match extent.filesize {
                    None => RegionError::NoSize { path },
                    Some(_) => {
                        let what = format!("the size that filesize= gives {path}");
                        RegionError::Block {
                            bs: ask.grain,
                            what,
                        }
                    }
                }
                .into());
            }
            self.plan
                .notes
                .push(format!("{}: file {name} is empty and ignored", job.name));
        }
        let notes = &mut self.plan.notes;
        let zoned = zones
            .map(|zones| zoned::settle(job, &found, zones, &mut settled.regions, notes))
            .transpose()?;
        Ok((settled, zoned))
    }
}

fn directories(options: &spec::Options) -> &[String] {
    options
        .target
        .directory
        .as_ref()
        .map_or(&[], |names| &names.0)
}

/// The files that `filename` names, and those below `opendir`.
fn collect(said: &spec::Job) -> Result<Vec<String>, Fault> {
    let target = &said.options.target;
    let named = target.filename.as_ref().map(|names| names.0.clone());
    let mut names = named.unwrap_or_default();
    if let Some(directory) = &target.opendir {
        let before = names.len();
        let found = names::below_directory(directory.as_ref(), &mut names);
        let told = |what: String| Fault::option("opendir", format!("opendir={directory}: {what}"));
        found.map_err(|error| told(error.to_string()))?;
        if names.len() == before {
            return Err(told("holds no files".into()));
        }
    }
    Ok(names)
}

fn naming<'a>(said: &'a spec::Job, names: &'a [String]) -> Naming<'a> {
    let target = &said.options.target;
    Naming {
        job: &said.section,
        names,
        directories: directories(&said.options),
        format: &target.filename_format,
        nrfiles: target.nrfiles,
    }
}

/// A seed of the worker's own, for what need not be as in fio.
fn own_seed(seed: Seed, number: u32) -> u64 {
    let (Seed::Fixed(seed) | Seed::Entropy(seed)) = seed;
    Taus::new(seed ^ (u64::from(number) << 32), true).draw()
}

fn display(parent: &Parent<'_>, clone: u32) -> Description {
    let job = &parent.job;
    let facts = engine::Job {
        name: job.name,
        clone,
        runtime_ns: job.options.extent.runtime.ns(),
        ..engine::Job::default()
    };
    let pairs = parent.engine.options.iter();
    let pairs: Vec<_> = pairs
        .map(|(name, value)| (name.as_str(), value.as_deref()))
        .collect();
    let kb_base = job.options.identity.kb_base;
    Description {
        rw: job.rw(),
        block: PerDdir::from_fn(|ddir| (job.block[ddir].min, job.block[ddir].max)),
        seq_rand: job.options.block.bs_is_seq_rand,
        engine: job.kind.name(),
        iodepth: job.options.queue.iodepth,
        opening: engine::registry::opening(job.kind, &pairs, kb_base, &facts),
    }
}
