//! `zonemode=zbd`: requests of all workers kept in the zones of their devices.
//!
//! [`workload::zones`] says where a request goes; here its word is carried out: zones are reset
//! with nothing of the worker's in flight, a trim resets its zone instead of reaching the engine,
//! and a worker that finds a zone in use asks again a little later. The state of a device is
//! behind a lock that is held for the arithmetic of one request.

use crate::failure;
use crate::hot::Gate;
use crate::live::Live;
use engine::Io;
use plan::model::{Access, Target, TargetKind, Worker, ZonedWork};
use result::Failure;
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use sys::clock::Clock;
use sys::file::File;
use sys::nvme::Namespace;
use sys::zones::Action;
use units::{Ddir, PerDdir};
use workload::zones::{Ask, Begin, Misfit, Verdict, View, Walk, Zones};
use workload::{Amended, Batch, Fill, Steer};

/// How long to wait before a zone in use is asked for again.
const AGAIN_NS: u64 = 5_000;
/// errno of requests that no zone can take.
const EINVAL: i32 = 22;

/// The zones of all devices of a run.
#[derive(Debug, Default)]
pub struct Fleet(HashMap<PathBuf, Arc<Device>>);

/// One device.
#[derive(Debug)]
struct Device {
    zones: Mutex<Zones>,
}

impl Device {
    fn zones(&self) -> MutexGuard<'_, Zones> {
        self.zones.lock().expect("nothing panics under this lock")
    }
}

impl Fleet {
    /// The zones that `workers` work on.
    pub fn new<'a>(workers: impl Iterator<Item = &'a Worker>) -> Fleet {
        let mut devices = HashMap::new();
        for worker in workers {
            let Some(zoned) = &worker.zoned else { continue };
            for (target, known) in worker.targets.iter().zip(&zoned.targets) {
                let path = target.path.to_path_buf();
                devices.entry(path).or_insert_with(|| {
                    let zones = Mutex::new(Zones::new(&known.table, known.most_open));
                    Arc::new(Device { zones })
                });
            }
        }
        Fleet(devices)
    }

    /// What a worker with `depth` slots needs of them, if anything.
    ///
    /// # Errors
    /// A device cannot be opened, or one of its zones not be reset.
    pub fn of(&self, worker: &Worker, depth: u32) -> Result<Option<Box<Lanes>>, Failure> {
        let Some(zoned) = &worker.zoned else {
            return Ok(None);
        };
        let files: Result<Vec<_>, Failure> = (0..worker.targets.len())
            .map(|at| self.lane(worker, zoned, at))
            .collect();
        let mut lanes = Box::new(Lanes {
            files: files?,
            slots: vec![Slot::Free; depth.max(1) as usize].into(),
            flying: 0,
            pending: None,
            became: Became::AsGiven,
            most: u64::MAX,
            begun: false,
            resets: 0,
            recovers: zoned.recovers && worker.errors.survives(Ddir::Write, crate::hot::EIO),
            broken: None,
            failure: None,
        });
        lanes.adopt()?;
        Ok(Some(lanes))
    }

    fn lane(&self, worker: &Worker, zoned: &ZonedWork, at: usize) -> Result<Lane, Failure> {
        let target = &worker.targets[at];
        let requests = &worker.requests;
        let device = Arc::clone(&self.0[&*target.path]);
        let view = View {
            worker: worker.number,
            offset: target.offset_bytes,
            length: target.length_bytes,
            size: target.size_bytes,
            block: PerDdir::from_fn(|ddir| requests.block[ddir].min),
            random: requests.direction.is_random(),
            writes: worker.uses(Ddir::Write),
            verifies: worker.verify.is_some(),
            read_beyond: zoned.read_beyond,
            most_open: zoned.most_open,
            threshold: zoned.threshold,
            frequency: zoned.frequency,
            skip: zoned.skip_bytes,
        };
        let table = &zoned.targets[at].table;
        let open = table.zones.iter().enumerate();
        let open = open.filter(|(_, zone)| zone.open).map(|(at, _)| at);
        let keeper = match table.managed {
            true => Keeper::open(target, table.zone_bytes)?,
            false => Keeper::Nobody,
        };
        let walk = Walk::new(view, &device.zones());
        Ok(Lane {
            walk,
            keeper,
            path: Arc::clone(&target.path),
            open: open.collect(),
            device,
        })
    }
}

/// Who moves the write pointers.
#[derive(Debug)]
enum Keeper {
    /// They are our own idea.
    Nobody,
    /// A block device with zones of so many bytes.
    Block(File, u64),
    /// A namespace, with zones of so many blocks.
    Namespace(File, Namespace, u64),
}

impl Keeper {
    /// Opens the device, for writing where the job has a permit for that.
    fn open(target: &Target, zone_bytes: u64) -> Result<Keeper, Failure> {
        let access = Access {
            read: true,
            write: true,
            direct: target.kind == TargetKind::Block,
            ..Access::default()
        };
        let opened = File::open(&target.path, target.how(&access)).and_then(|file| {
            Ok(match target.kind {
                TargetKind::Block => Keeper::Block(file, zone_bytes),
                _ => {
                    let space = Namespace::of(&file)?;
                    let blocks = zone_bytes / u64::from(space.block_bytes());
                    Keeper::Namespace(file, space, blocks)
                }
            })
        });
        opened.map_err(|error| crate::worker::open_failure(&target.path, &error))
    }

    fn act(&self, action: Action, start: u64) -> io::Result<()> {
        match self {
            Keeper::Nobody => Ok(()),
            Keeper::Block(file, length) => sys::zones::act(file, action, start, *length),
            Keeper::Namespace(file, space, _) => space.act(file, action, start),
        }
    }

    /// Where the write pointer of a zone stands.
    fn pointer(&self, start: u64) -> io::Result<Option<u64>> {
        let zones = match self {
            Keeper::Nobody => return Ok(None),
            Keeper::Block(file, _) => sys::zones::report(file, start)?,
            Keeper::Namespace(file, space, blocks) => {
                space.zones(file, *blocks, start / u64::from(space.block_bytes()))?
            }
        };
        Ok(zones.first().map(|zone| zone.pointer))
    }

    /// Fills a gap with zeroes, so that the pointer stands at a multiple of a block again.
    fn pad(&self, from: u64, to: u64) -> io::Result<()> {
        let Keeper::Block(file, _) = self else {
            return Ok(());
        };
        let kind = sys::pages::Kind::Anonymous;
        let mut pool = sys::pages::Pool::new(1, (to - from) as usize, 4096, &kind, false)?;
        let zeroes = pool.slot_mut(0);
        match sys::transfer::pwrite(file, zeroes, from) {
            done if done as u64 == to - from => Ok(()),
            errno @ ..0 => Err(io::Error::from_raw_os_error(-errno)),
            _ => Err(io::Error::from_raw_os_error(crate::hot::EIO)),
        }
    }
}

/// One target of a worker.
#[derive(Debug)]
struct Lane {
    device: Arc<Device>,
    walk: Walk,
    keeper: Keeper,
    path: Arc<PathBuf>,
    /// Zones that the device called open when the plan was made.
    open: Vec<usize>,
}

impl Lane {
    fn reset(&mut self, zone: usize) -> Result<(), Failure> {
        let start = self.device.zones().zone(zone).start;
        self.keeper.act(Action::Reset, start).map_err(|error| {
            let path = self.path.display();
            failure::step(
                format!("resetting wp of the zone at {start} of {path}"),
                &error,
            )
        })?;
        self.device.zones().was_reset(zone);
        Ok(())
    }
}

/// What a slot is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    Free,
    /// A request is in flight, in a zone of a file that it holds.
    Flying(Option<(u16, usize)>),
}

/// What became of the request that the generator gave last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Became {
    AsGiven,
    Moved(Amended),
    Nothing,
}

/// A request that may be issued and is not yet.
#[derive(Clone, Copy, Debug)]
struct Pending {
    offset: u64,
    len: u32,
    zone: Option<(u16, usize)>,
}

/// The zones of one worker.
#[derive(Debug)]
pub struct Lanes {
    files: Vec<Lane>,
    slots: Box<[Slot]>,
    /// Slots that are not free.
    flying: usize,
    pending: Option<Pending>,
    became: Became,
    /// The longest that the request may be.
    most: u64,
    /// The pass has begun.
    begun: bool,
    resets: u64,
    /// Pointers are asked for again after failed writes.
    recovers: bool,
    /// The zone of a failed write.
    broken: Option<(u16, usize)>,
    failure: Option<Failure>,
}

/// Two at a generator's side.
struct Side<'a> {
    files: &'a mut [Lane],
    most: &'a mut u64,
    rates: &'a mut dyn FnMut(Ddir) -> Ddir,
}

impl Steer for Side<'_> {
    fn choose(&mut self, drawn: Ddir) -> Ddir {
        (self.rates)(drawn)
    }

    fn divert(&mut self, file: usize, chosen: Ddir) -> Ddir {
        let lane = &self.files[file];
        lane.walk.direction(&lane.device.zones(), chosen)
    }

    fn cuts(&self) -> bool {
        true
    }

    fn cut(&mut self, most: u64) {
        *self.most = most;
    }

    fn go_on(&mut self, file: usize, ddir: Ddir, position: &mut u64, base: &mut u64) {
        let lane = &mut self.files[file];
        lane.walk.go_on(&lane.device.zones(), ddir, position, base);
    }
}

impl Lanes {
    /// Takes over the zones that the device calls open; those beyond the limits are reset by
    /// jobs that may write.
    fn adopt(&mut self) -> Result<(), Failure> {
        for lane in &mut self.files {
            for zone in std::mem::take(&mut lane.open) {
                let adopted = {
                    let zones = &mut lane.device.zones();
                    lane.walk.adopt(zones, zone)
                };
                if !adopted && lane.walk.writes() {
                    lane.reset(zone)?;
                    self.resets += 1;
                }
            }
        }
        Ok(())
    }

    /// Generates one request; 0 at the end of the pass.
    pub fn refill(
        &mut self,
        fill: &mut dyn Fill,
        batch: &mut Batch,
        live: &Live,
        rates: &mut dyn FnMut(Ddir) -> Ddir,
    ) -> usize {
        if !std::mem::replace(&mut self.begun, true) && !self.begin(live) {
            return 0;
        }
        match std::mem::replace(&mut self.became, Became::AsGiven) {
            Became::AsGiven => {}
            Became::Moved(amended) => fill.amend(Some(amended)),
            Became::Nothing => fill.amend(None),
        }
        self.most = u64::MAX;
        let mut side = Side {
            files: &mut self.files,
            most: &mut self.most,
            rates,
        };
        fill.fill_steered(batch, &mut side)
    }

    /// Prepares the zones for a pass, with nothing in flight; false if it cannot begin.
    fn begin(&mut self, live: &Live) -> bool {
        for lane in &mut self.files {
            loop {
                let begin = lane.walk.begin(&mut lane.device.zones());
                match begin {
                    Begin::Ready => break,
                    Begin::Busy if live.ordered() => return false,
                    Begin::Busy => std::thread::sleep(std::time::Duration::from_nanos(AGAIN_NS)),
                    Begin::Reset(zone) => {
                        if let Err(failure) = lane.reset(zone) {
                            self.failure = Some(failure);
                            return false;
                        }
                        self.resets += 1;
                    }
                }
            }
        }
        true
    }

    /// Another pass begins with the next request.
    pub fn pass_over(&mut self) {
        self.begun = false;
        self.became = Became::AsGiven;
    }

    /// Puts a request where it goes, or says when to ask again.
    pub fn gate<C: Clock>(&mut self, io: &mut Io, clock: C) -> Gate {
        if !io.ddir.is_data() {
            return Gate::Go;
        }
        if let Some(pending) = self.pending {
            (io.offset, io.len) = (pending.offset, pending.len);
            return Gate::Go;
        }
        if let Some(broken) = self.broken {
            if self.flying > 0 {
                return Gate::Hold;
            }
            self.broken = None;
            if let Err(failure) = self.recover(broken) {
                return self.fail(failure);
            }
        }
        let file = io.file;
        loop {
            let lane = &mut self.files[usize::from(file)];
            let ask = Ask {
                ddir: io.ddir,
                offset: io.offset,
                len: io.len.into(),
                most: self.most,
                flying: self.flying > 0,
            };
            let verdict = lane.walk.step(&mut lane.device.zones(), ask);
            match verdict {
                Verdict::Go { offset, len, zone } => {
                    // No longer than what was asked for.
                    let len = len as u32;
                    (io.offset, io.len) = (offset, len);
                    let zone = zone.map(|zone| (file, zone));
                    self.pending = Some(Pending { offset, len, zone });
                    self.became = Became::Moved(Amended { offset, len });
                    return Gate::Go;
                }
                Verdict::Busy | Verdict::Drain if self.flying > 0 => return Gate::Hold,
                Verdict::Busy | Verdict::Drain => {
                    return Gate::At(clock.now() + clock.ticks(AGAIN_NS));
                }
                Verdict::Reset(zone) => {
                    if let Err(failure) = lane.reset(zone) {
                        return self.fail(failure);
                    }
                    self.resets += 1;
                }
                Verdict::End => {
                    self.became = Became::Nothing;
                    return Gate::Drop;
                }
                Verdict::Fail(misfit) => {
                    let failure = misfits(&lane.path.display().to_string(), misfit);
                    return self.fail(failure);
                }
            }
        }
    }

    #[cold]
    fn fail(&mut self, failure: Failure) -> Gate {
        self.failure = Some(failure);
        Gate::Stop
    }

    /// What went wrong with the zones themselves.
    pub fn late_failure(&mut self) -> Option<Failure> {
        self.failure.take()
    }

    /// A trim of a zone that has a write pointer resets it; the engine does not hear of it.
    /// Bytes, or `-errno`.
    pub fn serve(&mut self, io: &Io) -> Option<i32> {
        if io.ddir != Ddir::Trim {
            return None;
        }
        // A synchronous loop has told already that the request is taken.
        let zone = match (self.pending, self.slots[io.slot as usize]) {
            (Some(pending), _) => pending.zone,
            (None, Slot::Flying(zone)) => zone,
            (None, Slot::Free) => None,
        };
        let (file, zone) = zone?;
        let lane = &mut self.files[usize::from(file)];
        let known = *lane.device.zones().zone(zone);
        if io.offset != known.start {
            return Some(-EINVAL);
        }
        if known.pointer > known.start {
            if let Err(failure) = lane.reset(zone) {
                return Some(-failure.errno);
            }
            self.resets += 1;
        }
        Some(io.len as i32)
    }

    /// The engine takes the request.
    pub fn taken(&mut self, io: &Io) {
        let Some(pending) = self.pending.filter(|_| io.ddir.is_data()) else {
            return;
        };
        self.pending = None;
        self.slots[io.slot as usize] = Slot::Flying(pending.zone);
        self.flying += 1;
    }

    /// A request has come back, complete or not.
    pub fn over(&mut self, io: &Io, complete: bool) {
        let slot = std::mem::replace(&mut self.slots[io.slot as usize], Slot::Free);
        let Slot::Flying(zone) = slot else { return };
        self.flying -= 1;
        let Some((file, zone)) = zone else { return };
        let lane = &mut self.files[usize::from(file)];
        let wrote = io.ddir == Ddir::Write;
        let end = (wrote && complete).then_some(io.offset + u64::from(io.len));
        let finishes = lane.walk.done(&mut lane.device.zones(), zone, end);
        if wrote && !complete && self.recovers {
            self.broken = Some((file, zone));
        }
        if finishes {
            let start = lane.device.zones().zone(zone).start;
            // A zone that stays open is no error; a write that needs it closed will tell.
            let _ = lane.keeper.act(Action::Finish, start);
        }
    }

    /// Looks where a failed write has left the write pointer.
    #[cold]
    fn recover(&mut self, (file, zone): (u16, usize)) -> Result<(), Failure> {
        let lane = &mut self.files[usize::from(file)];
        let (known, block) = (*lane.device.zones().zone(zone), lane.walk.write_block());
        let told = |error: io::Error| {
            let (start, path) = (known.start, lane.path.display());
            failure::step(format!("recovering the zone at {start} of {path}"), &error)
        };
        let Some(pointer) = lane.keeper.pointer(known.start).map_err(told)? else {
            return Ok(());
        };
        let end = known.start + known.capacity;
        let even = known.start + (pointer - known.start).next_multiple_of(block);
        if pointer < even && even <= end {
            lane.keeper.pad(pointer, even).map_err(told)?;
        }
        lane.device.zones().moved(zone, even.min(end));
        Ok(())
    }

    /// Zones reset since measuring began.
    pub fn resets(&self) -> u64 {
        self.resets
    }

    /// Measuring begins.
    pub fn restart(&mut self) {
        self.resets = 0;
    }
}

fn misfits(path: &str, misfit: Misfit) -> Failure {
    let (place, text) = match misfit {
        Misfit::Long { len, zone_bytes } => (
            "I/O buflen exceeds zone size",
            format!("{path}: a write of {len} bytes exceeds the zone size {zone_bytes}"),
        ),
        Misfit::Capacity { capacity, block } => (
            "ZCAP is less min_bs",
            format!("{path}: zone capacity {capacity} smaller than minimum block size {block}"),
        ),
        Misfit::Pointer(at) => (
            "invalid WP value",
            format!("{path}: the write pointer {at} lies outside of the job's region"),
        ),
    };
    Failure::new(EINVAL, place, text)
}

impl Drop for Lanes {
    fn drop(&mut self) {
        for slot in &self.slots {
            if let Slot::Flying(Some((file, zone))) = slot {
                let lane = &mut self.files[usize::from(*file)];
                lane.walk.done(&mut lane.device.zones(), *zone, None);
            }
        }
        for lane in &mut self.files {
            lane.walk.abandon(&mut lane.device.zones());
        }
        if let Some((file, zone)) = self.pending.and_then(|pending| pending.zone) {
            let lane = &mut self.files[usize::from(file)];
            lane.walk.done(&mut lane.device.zones(), zone, None);
        }
    }
}
