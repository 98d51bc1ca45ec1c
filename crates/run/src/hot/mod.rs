//! The only hot loops: requests from the generator, through an engine, into statistics.
//!
//! Everything is allocated before the start barrier. Per I/O a loop does the I/O, reads the
//! clock where the stamp policy says, updates one latency class per stamp and touches no lock.
//! The loops are generic over engine, clock and [`Hooks`]; a worker picks one instance when it
//! starts. Rare features (pace, think time, logs, verification, overlap) live in the hooks of
//! the [`Rich`](crate::rich::Rich) instance, so that the plain one does not pay for them.

pub mod queue;
mod reap;
mod slots;
pub mod sync;

use crate::live::{Live, order};
use crate::stats::{Snapshot, Stats};
use crate::worker::{Tale, Tell};
use engine::{Engine, Io};
use plan::model::ErrorPolicy;
use result::Failure;
use std::sync::Mutex;
use sys::clock::Clock;
use sys::process::Usage;
use units::Ddir;
use workload::{Batch, Fill, Filler};

/// Why a loop returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The generator has nothing left for this pass.
    PassDone,
    /// Told to stop, or a limit was reached.
    Stopped,
    /// An error ended the worker; it stands in `Stats::failure`.
    Failed,
}

/// errno of a full device, a normal end with `fill_device`.
const ENOSPC: i32 = 28;
/// errno of an exhausted quota, likewise.
const EDQUOT: i32 = 122;
/// errno of a request whose shape the device refuses.
const EINVAL: i32 = 22;
/// errno of a device that made no progress.
pub(crate) const EIO: i32 = 5;

/// What a loop works with; the engine and the clock decide its instance.
pub struct Work<'a, E, C> {
    /// The engine, with its files and buffers.
    pub engine: E,
    /// Source of stamps.
    pub clock: C,
    /// Shared counters and orders.
    pub live: &'a Live,
    /// Statistics.
    pub stats: Stats,
    /// Source of requests.
    pub fill: Box<dyn Fill>,
    /// Requests generated ahead.
    pub batch: Box<Batch>,
    /// Content of writes; `None` when nothing is written or the engine moves no data.
    pub filler: Option<Filler>,
    /// Which errors are survivable.
    pub errors: &'a ErrorPolicy,
    /// Shows errors that are passed over (`error_dump`).
    pub tell: Tell<'a>,
    /// Files are open for direct I/O.
    pub direct: bool,
    /// ENOSPC is the normal end.
    pub fill_device: bool,
    /// Where a copy of the statistics goes when one is asked for.
    pub snapshot: &'a Mutex<Option<Snapshot>>,
    /// CPU cost of the thread when the load began.
    pub usage: Usage,
    /// When the measured phase began.
    pub start_ticks: u64,
}

/// What rare features add to a loop. `Plain` and `Reduced` add nothing.
pub trait Hooks {
    /// False: none of the methods is called.
    const ACTIVE: bool;
    /// False: no stamp is taken at all (`gtod_reduce`).
    const STAMPED: bool;

    /// Generates the next requests; 0 at the end of the pass.
    fn refill<C: Clock>(&mut self, fill: &mut dyn Fill, batch: &mut Batch, _clock: C) -> usize {
        fill.fill(batch, Batch::CAPACITY)
    }
    /// Most requests that may be in flight now.
    fn most(&self) -> usize {
        usize::MAX
    }
    /// May the request be issued now, or not before a moment? It may be moved to another place,
    /// and be shortened.
    fn gate<C: Clock>(&mut self, io: &mut Io, clock: C) -> Gate;
    /// The buffer is filled; the request is about to be issued.
    fn prepare<C: Clock>(&mut self, io: &Io, buffer: &mut [u8], clock: C);
    /// The I/O priority that an asynchronous request gets, where requests have their own.
    fn priority(&mut self, _io: &Io) -> Option<u16> {
        None
    }
    /// Serves the request in the engine's place: bytes, or `-errno`.
    fn serve(&mut self, _io: &Io) -> Option<i32> {
        None
    }
    /// The request came back short or failed.
    fn failed(&mut self, _io: &Io) {}
    /// The engine takes the request, or is about to, at tick `at`.
    fn taken<C: Clock>(&mut self, _io: &Io, _at: u64, _clock: C) {}
    /// A request taken up at tick `start` was submitted to an asynchronous engine at `issue`.
    fn issued<C: Clock>(&mut self, _io: &Io, _start: u64, _issue: u64, _clock: C) {}
    /// Goes through a pass of the workload without issuing it, where the job asks for that;
    /// the writes and bytes that count as done.
    fn pretend(&mut self, _fill: &mut dyn Fill, _batch: &mut Batch) -> Option<(u64, u64)> {
        None
    }
    /// The requests that read back what a pass wrote, when it is over.
    fn read_back(&mut self) -> Option<Box<dyn Fill>> {
        None
    }
    /// Those requests are done.
    fn read_back_over(&mut self) {}
    /// The last request of a pass is done, and nothing has ended the job.
    fn linger<C: Clock>(&mut self, _clock: C) {}
    /// Something wrong with an earlier request that was found apart; waits until all is known.
    fn late_failure(&mut self) -> Option<Failure> {
        None
    }
    /// A pass over the workload has ended.
    fn pass_over<C: Clock>(&mut self, _clock: C) {}
    /// What was counted is forgotten: measuring begins now.
    fn measure<C: Clock>(&mut self, _clock: C) {}
    /// Leaves the state of verification for a later run to load.
    fn save(&mut self) {}
    /// Moves what the hooks have measured into the statistics, at the end.
    fn hand_over(&mut self, _stats: &mut Stats) {}
    /// A request came back complete.
    fn done<C: Clock>(&mut self, done: &Done, buffer: &[u8], clock: C) -> Result<(), Failure>;
}

/// Answer of [`Hooks::gate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// Issue it.
    Go,
    /// Let what is in flight come back and wait until this tick.
    Until(u64),
    /// Wait until this tick; what is in flight comes back in its own time.
    At(u64),
    /// Let one I/O in flight come back and ask again.
    Hold,
    /// Leave it out, and go on with the next.
    Drop,
    /// End the job.
    Stop,
}

/// A completed request as hooks see it.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    /// The request.
    pub io: Io,
    /// Tick when it was taken up.
    pub start: u64,
    /// Tick when it was issued.
    pub issue: u64,
    /// Tick when it was seen to be complete.
    pub end: u64,
}

/// Full statistics, nothing else: the fast path.
#[derive(Debug)]
pub struct Plain;
/// No stamps (`gtod_reduce`).
#[derive(Debug)]
pub struct Reduced;

impl Hooks for Plain {
    const ACTIVE: bool = false;
    const STAMPED: bool = true;
    fn gate<C: Clock>(&mut self, _: &mut Io, _: C) -> Gate {
        Gate::Go
    }
    fn prepare<C: Clock>(&mut self, _: &Io, _: &mut [u8], _: C) {}
    fn done<C: Clock>(&mut self, _: &Done, _: &[u8], _: C) -> Result<(), Failure> {
        Ok(())
    }
}

impl Hooks for Reduced {
    const ACTIVE: bool = false;
    const STAMPED: bool = false;
    fn gate<C: Clock>(&mut self, _: &mut Io, _: C) -> Gate {
        Gate::Go
    }
    fn prepare<C: Clock>(&mut self, _: &Io, _: &mut [u8], _: C) {}
    fn done<C: Clock>(&mut self, _: &Done, _: &[u8], _: C) -> Result<(), Failure> {
        Ok(())
    }
}

impl<E: Engine, C: Clock> Work<'_, E, C> {
    /// Generates the next block of requests; false at the end of the pass.
    #[cold]
    #[inline(never)]
    fn refill<H: Hooks>(&mut self, hooks: &mut H) -> bool {
        hooks.refill(self.fill.as_mut(), &mut self.batch, self.clock) > 0
    }

    /// The next request of the batch, for `slot`. The batch is not empty.
    #[inline(always)]
    fn peek(&self, slot: u32) -> Io {
        let at = self.batch.pos & (Batch::CAPACITY - 1);
        let batch = &self.batch;
        Io::new(
            slot,
            batch.file[at],
            batch.ddir[at],
            batch.offset[at],
            batch.len[at],
        )
    }

    /// Writes the content of a write into its slot's buffer.
    #[inline(always)]
    fn fill_buffer(&mut self, io: &Io) {
        if io.ddir == Ddir::Write
            && let Some(filler) = &mut self.filler
        {
            let buffer = &mut self.engine.slot_mut(io.slot)[..io.len as usize];
            filler.prepare(io.slot as usize, buffer, io.offset);
        }
    }

    /// Measures from here on, because the engine had to wait until it could begin.
    #[cold]
    fn begin(&mut self) {
        self.stats.restart(self.live.ios(), self.live.bytes());
        self.start_ticks = self.clock.now();
        self.live.begin(sys::clock::monotonic_ns());
    }

    /// Carries out the orders that wait; true when the loop must stop.
    #[cold]
    #[inline(never)]
    fn obey<H: Hooks>(&mut self, hooks: &mut H) -> bool {
        let orders = self.live.orders();
        if orders & order::MEASURE != 0 {
            self.live.obeyed(order::MEASURE);
            self.live.enter(crate::live::Phase::Running);
            self.measure(hooks);
        }
        if orders & order::AFRESH != 0 {
            self.live.obeyed(order::AFRESH);
            self.measure(hooks);
            self.live.begin(sys::clock::monotonic_ns());
        }
        if orders & order::SAVE != 0 {
            hooks.save();
            self.live.obeyed(order::SAVE);
        }
        if orders & order::SNAPSHOT != 0 {
            self.live.obeyed(order::SNAPSHOT);
            let mut stats = self.stats.clone();
            hooks.hand_over(&mut stats);
            let snapshot = Snapshot {
                stats,
                usage: sys::process::thread_usage().since(&self.usage),
                pid: sys::process::thread_id(),
            };
            *self
                .snapshot
                .lock()
                .expect("no thread panics while it copies") = Some(snapshot);
        }
        orders & order::STOP != 0
    }

    fn count_error(&mut self, errno: i32) {
        if self.stats.errors == 0 {
            self.stats.first_error = errno;
        }
        self.stats.errors += 1;
    }

    /// Forgets what was counted.
    fn measure<H: Hooks>(&mut self, hooks: &mut H) {
        self.stats.restart(self.live.ios(), self.live.bytes());
        self.start_ticks = self.clock.now();
        hooks.measure(self.clock);
    }

    /// Records a failed request; `Some` when the worker must end.
    #[cold]
    #[inline(never)]
    fn failed(&mut self, io: &Io, errno: i32) -> Option<Exit> {
        if io.ddir.is_data() {
            self.stats.odd[io.ddir].failed += 1;
        }
        if self.fill_device && (errno == ENOSPC || errno == EDQUOT) {
            return Some(Exit::Stopped);
        }
        let survives = self.errors.survives(io.ddir, errno);
        if self.errors.counts(io.ddir) {
            self.count_error(errno);
        }
        if survives && !self.errors.dump {
            return None;
        }
        let mut failure = crate::failure::io_error(self.engine.path(io.file), io, errno);
        if errno == EINVAL
            && self.direct
            && let Some(file) = self.engine.files().get(usize::from(io.file))
        {
            let address = self.engine.slot(io.slot).as_ptr().addr() + io.at as usize;
            let why = engine::direct::explain(file, io, address);
            failure.message += &why.map_or_else(String::new, |why| format!(" ({why})"));
        }
        if let Some(why) = self.engine.reason(io.slot) {
            failure.message += &format!(" ({why})");
        }
        if survives {
            (self.tell)(Tale::Complaint(failure.message));
            return None;
        }
        self.stats.failure.get_or_insert(failure);
        Some(Exit::Failed)
    }

    /// Records a failure that a hook found; `Some` when the worker must end.
    #[cold]
    pub(crate) fn hook_failed(&mut self, failure: Failure) -> Option<Exit> {
        if failure.place == crate::failure::VERIFY && self.errors.survives_verify(failure.errno) {
            self.count_error(failure.errno);
            return self.errors.verify_fatal.then_some(Exit::Stopped);
        }
        self.stats.failure.get_or_insert(failure);
        Some(Exit::Failed)
    }
}
