//! `io_uring`: submission and completion through rings shared with the kernel.
//!
//! Unlike fio, buffers and files are registered whenever the kernel allows and no option asks for
//! another form of request; `fixedbufs` and `registerfiles` make a refusal an error. Trims have no
//! form that older kernels know, so, as in fio, they are served on the spot when nothing is staged.

use crate::api::{Caps, Engine, EngineError, Io, Queued, Setup};
use crate::cmdprio::{CmdPrio, with_priorities};
use crate::{direct, inline};
use std::io;
use sys::file::{File, Kind};
use sys::ring::{Config, Op, Ring, Span, Stage, Want};
use sys::transfer::{RWF_ATOMIC, RWF_DONTCACHE, RWF_NOWAIT};
use units::Ddir;

const PI: &str = "protection information is not built yet";
const CMD: &str = "only ioengine=io_uring_cmd sends commands";

/// Most entries the kernel allows in a ring.
const MOST_ENTRIES: u32 = 32_768;

with_priorities! {
    /// io_uring
    pub struct Options {
        /// Poll for completions (IOPOLL). Needs direct I/O on a device with poll queues.
        hipri: bool = "0", bare();
        /// Register the buffers, and fail if that is impossible.
        fixedbufs: bool = "0", bare();
        /// Register the files, and fail if that is impossible.
        registerfiles: bool = "0", bare();
        /// Let a kernel thread submit requests (SQPOLL); the files are registered then.
        sqthread_poll: bool = "0", bare();
        /// CPU of that kernel thread.
        sqthread_poll_cpu: Option<u32>, parent("sqthread_poll");
        /// 1: plain read and write requests, 0: vectored ones, -1: whatever suits.
        nonvectored: i32 = "-1", range(-1, 1);
        /// Drop pages from the cache after use (RWF_DONTCACHE). Needs Linux 6.14.
        uncached: bool = "0";
        /// Fail with EAGAIN instead of blocking (RWF_NOWAIT); see ignore_error.
        nowait: bool = "0";
        /// Have every Nth request executed by a worker thread (IOSQE_ASYNC); 0: none.
        force_async: u32 = "0";
        /// Bytes of separate metadata per request.
        md_per_io_size: u32 = "0", later(PI);
        /// Let the device insert and strip protection information.
        pi_act: bool = "1", later(PI);
        /// Which protection information to check: GUARD, REFTAG, APPTAG.
        pi_chk: String, later(PI);
        /// Application tag.
        apptag: u32 = "0x1234", later(PI);
        /// Application tag mask.
        apptag_mask: u32 = "0xffff", later(PI);
        /// Command set of passthrough requests.
        cmd_type: String = "nvme", refused(CMD);
    }
}

/// The engine.
pub struct Uring {
    ring: Ring,
    /// A polling ring takes reads and writes only.
    polls: bool,
    force_async: u32,
    since_async: u32,
    sync_range_flags: u32,
}

impl Uring {
    fn refuse(depth: u32, stage: &Stage, source: io::Error) -> EngineError {
        const ENOSYS: i32 = 38;
        const EPERM: i32 = 1;
        const ENOMEM: i32 = 12;
        let what = match (stage, source.raw_os_error()) {
            (Stage::Setup, Some(ENOSYS)) => "the kernel has no io_uring; use libaio".to_owned(),
            (Stage::Setup, Some(EPERM)) => "io_uring is switched off here (see \
                 /proc/sys/kernel/io_uring_disabled, or a container's seccomp rules); use libaio"
                .to_owned(),
            (Stage::Setup, _) => format!("setting up a ring for {depth} requests"),
            (Stage::Buffers, Some(ENOMEM)) => {
                "fixedbufs: more locked memory than `ulimit -l` allows".to_owned()
            }
            (Stage::Buffers, _) => "fixedbufs: registering the buffers".to_owned(),
            (Stage::Files, _) => "registerfiles: registering the files".to_owned(),
        };
        EngineError::Kernel {
            engine: Self::NAME,
            what,
            source,
        }
    }

    /// Every `force_async`th request is punted.
    #[inline]
    fn punt(&mut self) -> bool {
        if self.force_async == 0 {
            return false;
        }
        self.since_async += 1;
        if self.since_async == self.force_async {
            self.since_async = 0;
        }
        self.since_async == 0
    }

    /// Sends a request that does nothing but go through the ring, for measuring the ring itself.
    /// Its result is 0.
    #[inline]
    pub fn queue_nop(&mut self, slot: u32) -> Queued {
        self.ring.push(slot, Op::Nop, false);
        Queued::Staged
    }

    /// Whether buffers and files are registered.
    pub fn registered(&self) -> (bool, bool) {
        self.ring.registered()
    }

    #[cold]
    fn serve(&mut self, io: &Io) -> Queued {
        if self.ring.staged() > 0 {
            return Queued::Full;
        }
        let file = &self.ring.files()[usize::from(io.file)];
        Queued::Done(inline::serve(file, io, self.sync_range_flags))
    }
}

/// Requests on this file end up with the kernel's threads whatever is asked for: said at once, each
/// one is spared the attempt before (zram, and drivers like it).
fn waits(file: &File) -> bool {
    matches!(file.kind(), Kind::Regular | Kind::Block) && !file.tries_without_waiting()
}

impl Engine for Uring {
    type Options = Options;
    const NAME: &'static str = "io_uring";
    const HELP: &'static str = "Rings shared with the kernel";
    const CAPS: Caps = Caps {
        trims: true,
        queued_syncs: true,
        atomic: true,
        ..Caps::NONE
    };

    fn start(setup: Setup<'_, Options>) -> Result<Self, EngineError> {
        direct::check(Self::NAME, &setup)?;
        let (options, depth) = (setup.options, setup.depth);
        let unsupported = |what: String| EngineError::Unsupported {
            engine: Self::NAME,
            what,
        };
        if setup.pool.slots() > MOST_ENTRIES {
            return Err(unsupported(format!(
                "iodepth {depth} is more than the {MOST_ENTRIES} requests a ring can hold"
            )));
        }
        if options.hipri && !setup.direct {
            return Err(unsupported(
                "hipri polls the device, which needs direct=1".to_owned(),
            ));
        }
        let flag = |on: bool, flag: u32| if on { flag } else { 0 };
        let must = |on: bool| if on { Want::Must } else { Want::IfPossible };
        let both = flag(options.uncached, RWF_DONTCACHE) | flag(options.nowait, RWF_NOWAIT);
        let config = Config {
            poll: options.hipri,
            submit_thread: options.sqthread_poll,
            submit_thread_cpu: options.sqthread_poll_cpu,
            fixed_buffers: must(options.fixedbufs),
            fixed_files: must(options.registerfiles || options.sqthread_poll),
            vectored: match options.nonvectored {
                0 => Some(true),
                1 => Some(false),
                _ => None,
            },
            read_flags: both,
            write_flags: both | flag(setup.atomic, RWF_ATOMIC),
            priority: setup.priority,
            ..Config::default()
        };
        let ring = Ring::new(setup.pool, setup.files, &config)
            .map_err(|(stage, source)| Self::refuse(depth, &stage, source))?;
        let force_async = match options.force_async {
            0 if !options.nowait && !options.hipri => {
                let files = ring.files();
                u32::from(!files.is_empty() && files.iter().all(waits))
            }
            asked => asked,
        };
        Ok(Uring {
            ring,
            polls: options.hipri,
            force_async,
            since_async: 0,
            sync_range_flags: setup.sync_range_flags,
        })
    }

    fn priorities(options: &Options) -> Result<Option<CmdPrio>, EngineError> {
        CmdPrio::new(&options.prioritised(Self::NAME))
    }

    #[inline]
    fn set_priority(&mut self, priority: u16) {
        self.ring.set_priority(priority);
    }

    #[inline]
    fn queue(&mut self, io: Io) -> Queued {
        let Io {
            slot,
            file,
            offset,
            at,
            len,
            ..
        } = io;
        let span = Span {
            file,
            offset,
            at,
            len,
        };
        let op = match io.ddir {
            Ddir::Read => Op::Read(span),
            Ddir::Write => Op::Write(span),
            Ddir::Trim => return self.serve(&io),
            _ if self.polls => return self.serve(&io),
            Ddir::Sync => Op::Sync(file),
            Ddir::DataSync => Op::DataSync(file),
            Ddir::SyncFileRange => Op::SyncRange(span, self.sync_range_flags),
        };
        let punt = self.punt();
        self.ring.push(slot, op, punt);
        Queued::Staged
    }

    #[inline]
    fn commit(&mut self, min: u32) -> io::Result<u32> {
        self.ring.submit(min)
    }

    #[inline]
    fn wait(&mut self, min: u32) -> io::Result<()> {
        self.ring.wait(min)
    }

    #[inline]
    fn reap(&mut self, max: u32, done: impl FnMut(u32, i32)) -> u32 {
        self.ring.reap(max, done)
    }

    #[inline]
    fn slot(&self, slot: u32) -> &[u8] {
        self.ring.slot(slot)
    }

    #[inline]
    fn slot_mut(&mut self, slot: u32) -> &mut [u8] {
        self.ring.slot_mut(slot)
    }

    fn files(&self) -> &[File] {
        self.ring.files()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_say_what_to_do() {
        let text = |stage: Stage, errno| {
            Uring::refuse(8, &stage, io::Error::from_raw_os_error(errno)).to_string()
        };
        assert!(text(Stage::Setup, 1).starts_with("io_uring: io_uring is switched off here"));
        assert!(text(Stage::Setup, 38).contains("has no io_uring; use libaio"));
        assert!(text(Stage::Setup, 12).contains("a ring for 8 requests"));
        assert!(text(Stage::Buffers, 12).contains("ulimit -l"));
        assert!(text(Stage::Files, 24).contains("registerfiles"));
        for errno in [1, 12, 38] {
            assert!(!text(Stage::Setup, errno).contains('\n'));
        }
    }
}
