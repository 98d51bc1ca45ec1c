//! What a worker needs before it starts: engine, buffers, generator. All allocation happens here.

use crate::{failure, targets, verify};
use engine::cmdprio::CmdPrio;
use engine::offload::Offloaded;
use engine::{Engine, Setup};
use plan::model;
use result::Failure;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use units::{Ddir, KbBase};
use workload::{Fill, Filler, Replay, Timetable};

fn target_facts(target: &model::Target) -> engine::Target {
    engine::Target {
        path: Arc::clone(&target.path),
        length: target.length_bytes,
    }
}

pub(crate) type Prepared<E> = (E, Option<Filler>, Source, Option<CmdPrio>);

/// Requests, and the times they were recorded at where those count.
pub(crate) type Source = (Box<dyn Fill>, Option<Timetable>);

/// Makes the engine of a worker, with buffers of its own, filled where the job fills buffers.
pub(crate) type StartEngine<E> = fn(
    &model::Worker,
    Vec<sys::file::File>,
    &Arc<AtomicU32>,
    Option<&mut Filler>,
) -> Result<(E, Option<CmdPrio>), Failure>;

/// Buffers, engine and generator: all allocation happens here.
#[inline(never)]
pub(crate) fn prepare<E: Engine>(
    worker: &model::Worker,
    files: Vec<sys::file::File>,
    io_workers: &Arc<AtomicU32>,
    start: StartEngine<E>,
) -> Result<Prepared<E>, Failure> {
    let fills = worker.uses(Ddir::Write) && !verify::stamps(worker);
    let mut filler = fills.then(|| Filler::new(&worker.buffers.fill));
    let (engine, chosen) = start(worker, files, io_workers, filler.as_mut())?;
    Ok((engine, filler, requests(worker)?, chosen))
}

/// A server for each request in flight.
pub(crate) fn start_servers<E: Engine>(
    worker: &model::Worker,
    files: Vec<sys::file::File>,
    io_workers: &Arc<AtomicU32>,
    mut filler: Option<&mut Filler>,
) -> Result<(Offloaded, Option<CmdPrio>), Failure> {
    let mut servers = Vec::new();
    let mut chosen = None;
    for _ in 0..worker.depth.iodepth {
        let own: Result<Vec<_>, _> = files.iter().map(sys::file::File::again).collect();
        let own = own.map_err(|error| failure::step("open again", &error))?;
        let (engine, priorities) =
            start_one::<E>(worker, 1, own, io_workers, filler.as_deref_mut())?;
        servers.extend(engine.into_server());
        chosen = priorities;
    }
    let engine = Offloaded::new(servers, files)
        .map_err(|error| failure::step("start submitting threads", &error))?;
    Ok((engine, chosen))
}

/// An engine for all requests.
pub(crate) fn start_engine<E: Engine>(
    worker: &model::Worker,
    files: Vec<sys::file::File>,
    io_workers: &Arc<AtomicU32>,
    filler: Option<&mut Filler>,
) -> Result<(E, Option<CmdPrio>), Failure> {
    start_one(worker, slots::<E>(worker), files, io_workers, filler)
}

/// How many requests the worker has in flight at most.
pub(crate) fn slots<E: Engine>(worker: &model::Worker) -> u32 {
    if E::CAPS.inline_at(worker.depth.iodepth) {
        1
    } else {
        worker.depth.iodepth
    }
}

/// The worker's own thread serves the requests: they are issued when they are taken up.
pub(crate) fn inline(worker: &model::Worker) -> bool {
    let caps = worker.engine.kind.caps();
    caps.sync_at(worker.depth.iodepth) && !worker.depth.offload
}

fn start_one<E: Engine>(
    worker: &model::Worker,
    depth: u32,
    files: Vec<sys::file::File>,
    io_workers: &Arc<AtomicU32>,
    filler: Option<&mut Filler>,
) -> Result<(E, Option<CmdPrio>), Failure> {
    let given: Vec<(&str, Option<&str>)> = worker
        .engine
        .options
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_deref()))
        .collect();
    let kb_base = if worker.reporting.kb_base == 1000 {
        KbBase::Decimal
    } else {
        KbBase::Binary
    };
    let (options, _notes) = engine::registry::options_from::<E>(&given, kb_base)
        .map_err(|error| Failure::new(22, "engine options", error.to_string()))?;
    let mut pool = targets::pool(worker, depth)?;
    if let Some(filler) = filler {
        for slot in 0..depth {
            filler.init(pool.slot_mut(slot));
        }
    }
    let setup = Setup {
        options: &options,
        depth,
        files,
        pool,
        direct: worker.access.direct,
        atomic: worker.access.atomic,
        reads: worker.uses(Ddir::Read) || worker.verify.is_some(),
        writes: worker.uses(Ddir::Write) && worker.access.write,
        random: worker.requests.direction.is_random(),
        min_len: targets::smallest_block(worker),
        priority: worker.placement.io_priority.unwrap_or(0),
        sync_range_flags: worker.access.sync_range_flags,
        job: engine::Job {
            name: &worker.name,
            clone: worker.clone,
            runtime_ns: worker.limits.runtime_ns,
            end: worker
                .targets
                .iter()
                .map(model::Target::end)
                .max()
                .unwrap_or(0),
            targets: worker.targets.iter().map(target_facts).collect(),
            verifies: worker.verify.is_some(),
            io_workers: Arc::clone(io_workers),
        },
    };
    let chosen = E::priorities(&options)
        .map_err(|error| Failure::new(22, "engine options", error.to_string()))?;
    let engine = E::start(setup).map_err(|error| {
        Failure::new(
            error.errno().unwrap_or(22),
            "engine init",
            error.to_string(),
        )
    })?;
    Ok((engine, chosen))
}

fn requests(worker: &model::Worker) -> Result<Source, Failure> {
    let Some(replay) = &worker.replay else {
        let fill = workload::generator(&worker.requests)
            .map_err(|error| Failure::new(22, "init_random_map", error.to_string()))?;
        return Ok((fill, None));
    };
    let recorded = replay
        .requests()
        .map_err(|error| failure::step("open read_iolog", &error))?;
    let times = replay.timed.then(Timetable::default);
    Ok((Box::new(Replay::new(recorded, times.clone())), times))
}
