//! `io_uring_cmd`: NVMe commands through a ring, past the block layer.
//!
//! Targets are the character devices of namespaces (`/dev/ngXnY`). Syncs are flush commands. Trims
//! are dataset management commands, for which the driver has no form in rings; as in fio they are
//! sent on the spot, when nothing is staged.

use crate::api::{Caps, Engine, EngineError, Io, Queued, Setup};
use crate::cmdprio::with_priorities;
use crate::inline;
use std::io;
use sys::file::File;
use sys::nvme::{DEALLOCATE_ZEROES, FORCE_UNIT_ACCESS, Verb};
use sys::ring::{CommandRing, Span};
use units::Ddir;

const EINVAL: i32 = 22;
const EIO: i32 = 5;

const THREAD: &str = "only the worker itself submits commands";
const CMDPRIO: &str = "the kernel takes no I/O priority with a command";
const PI: &str = "namespaces with metadata are not supported";
const BSG: &str = "commands are those of NVMe";
const OLD: &str = "has no meaning for commands";

option::choices! {
    /// Which commands
    pub enum CommandSet {
        /// NVMe
        Nvme = "nvme";
        /// SCSI, through the block layer's generic driver
        Bsg = "bsg", refused("commands are those of NVMe");
    }
}

option::choices! {
    /// What writing means
    pub enum WriteMode {
        /// Writing data
        Write = "write";
        /// Marking blocks as uncorrectable
        Uncor = "uncor";
        /// Making blocks zero
        Zeroes = "zeroes";
        /// Verifying blocks
        Verify = "verify";
        /// Appending to zones
        ZoneAppend = "zone_append";
    }
}

with_priorities! {
    refused(CMDPRIO);
    /// io_uring_cmd
    pub struct Options {
        /// Which commands are sent.
        cmd_type: CommandSet = "nvme";
        /// Poll for completions (IOPOLL). Needs a device with poll queues.
        hipri: bool = "0", bare();
        /// Register the buffers.
        fixedbufs: bool = "0", bare();
        /// Have each read come from the medium (FUA).
        readfua: bool = "0";
        /// Have each write reach the medium (FUA).
        writefua: bool = "0";
        /// What a write does.
        write_mode: WriteMode = "write";
        /// With write_mode=zeroes: let the blocks be deallocated.
        deac: bool = "0";
        /// What a read does.
        read_mode: String, refused("reads are reads");
        /// How written blocks are verified.
        verify_mode: String, refused("written blocks are verified by reading them");
        /// Length of a SCSI command.
        cdb_len: u32 = "0", refused(BSG);
        /// What a SCSI verify command compares.
        verify_bytchk: u32 = "0", refused(BSG);
        /// Register the files.
        registerfiles: bool = "0", bare();
        /// Let a kernel thread submit requests (SQPOLL).
        sqthread_poll: bool = "0", bare(), refused(THREAD);
        /// CPU of that kernel thread.
        sqthread_poll_cpu: Option<u32>, refused(THREAD);
        /// Vectored commands.
        nonvectored: i32 = "-1", refused("commands have one buffer");
        /// Drop pages from the cache after use.
        uncached: bool = "0", refused(OLD);
        /// Fail with EAGAIN instead of blocking.
        nowait: bool = "0", refused(OLD);
        /// Have every Nth request executed by a worker thread.
        force_async: u32 = "0";
        /// Bytes of separate metadata per request.
        md_per_io_size: u32 = "0", refused(PI);
        /// Let the device insert and strip protection information.
        pi_act: bool = "1", refused(PI);
        /// Which protection information to check.
        pi_chk: String, refused(PI);
        /// Application tag.
        apptag: u32 = "0x1234", refused(PI);
        /// Application tag mask.
        apptag_mask: u32 = "0xffff", refused(PI);
    }
}

impl Options {
    /// What reads and writes are, and what their words 12 hold besides the length.
    fn verbs(&self) -> [(Verb, u32); 2] {
        let flag = |on: bool, bit: u32| if on { bit } else { 0 };
        let write = match self.write_mode {
            WriteMode::Write => Verb::Write,
            WriteMode::Uncor => Verb::WriteUncorrectable,
            WriteMode::Zeroes => Verb::WriteZeroes,
            WriteMode::Verify => Verb::Verify,
            WriteMode::ZoneAppend => Verb::ZoneAppend,
        };
        // There is no such bit in "write uncorrectable".
        let fua = self.writefua && write != Verb::WriteUncorrectable;
        let mut write_bits = flag(fua, FORCE_UNIT_ACCESS);
        if write == Verb::WriteZeroes {
            write_bits |= flag(self.deac, DEALLOCATE_ZEROES);
        }
        [
            (Verb::Read, flag(self.readfua, FORCE_UNIT_ACCESS)),
            (write, write_bits),
        ]
    }
}

/// The engine.
pub struct UringCmd {
    ring: CommandRing,
    verbs: [(Verb, u32); 2],
    /// Bytes of the request in each slot: a device answers 0 for all of them.
    lens: Box<[i32]>,
    /// Every so many commands one is begun by a thread of the kernel's; 0: none.
    punt_every: u32,
    since_punt: u32,
}

impl UringCmd {
    /// Serves a trim at once.
    #[cold]
    fn trim(&mut self, io: &Io) -> Queued {
        if self.ring.staged() > 0 {
            return Queued::Full;
        }
        let file = usize::from(io.file);
        let namespace = self.ring.namespaces()[file];
        let Some(range) = namespace.range(io.offset, io.len) else {
            return Queued::Done(-EINVAL);
        };
        let done = namespace.deallocate(&self.ring.files()[file], range);
        Queued::Done(inline::errno(done, io.len as i32))
    }
}

/// What a completion says: bytes or `-errno`. Above 0 is a status of the device.
fn outcome(result: i32, len: i32) -> i32 {
    match result {
        0 => len,
        1.. => -EIO,
        errno => errno,
    }
}

impl Engine for UringCmd {
    type Options = Options;
    const NAME: &'static str = "io_uring_cmd";
    const HELP: &'static str = "NVMe commands through io_uring";
    const CAPS: Caps = Caps {
        trims: true,
        queued_syncs: true,
        namespaces: true,
        ..Caps::NONE
    };

    fn start(setup: Setup<'_, Options>) -> Result<Self, EngineError> {
        let options = setup.options;
        let (slots, min_len) = (setup.pool.slots(), setup.min_len);
        let names: Vec<String> = setup
            .files
            .iter()
            .map(|file| file.path().display().to_string())
            .collect();
        let mut ring = CommandRing::new(setup.pool, setup.files, options.hipri, options.fixedbufs)
            .map_err(|source| EngineError::Kernel {
                engine: Self::NAME,
                what: format!("preparing a ring for {}", names.join(", ")),
                source,
            })?;
        let failed = |what: &str| {
            let what = format!("{what} {}", names.join(", "));
            move |source| EngineError::Kernel {
                engine: Self::NAME,
                what,
                source,
            }
        };
        if options.registerfiles {
            ring.register_files().map_err(failed("registering"))?;
        }
        if options.write_mode == WriteMode::ZoneAppend {
            ring.prepare_appends()
                .map_err(failed("asking for the zones of"))?;
        }
        for (namespace, name) in ring.namespaces().iter().zip(&names) {
            let block = namespace.block_bytes();
            if !min_len.is_multiple_of(block) {
                return Err(EngineError::Unsupported {
                    engine: Self::NAME,
                    what: format!(
                        "{name} has blocks of {block} bytes; bs={min_len} is no multiple"
                    ),
                });
            }
        }
        Ok(UringCmd {
            ring,
            verbs: options.verbs(),
            lens: vec![0; slots as usize].into(),
            punt_every: options.force_async,
            since_punt: 0,
        })
    }

    #[inline]
    fn queue(&mut self, io: Io) -> Queued {
        let (verb, word12) = match io.ddir {
            Ddir::Read => self.verbs[0],
            Ddir::Write => self.verbs[1],
            Ddir::Trim => return self.trim(&io),
            _ => (Verb::Flush, 0),
        };
        let span = Span {
            file: io.file,
            offset: io.offset,
            at: io.at,
            len: io.len,
        };
        self.since_punt += u32::from(self.punt_every > 0);
        let punt = self.punt_every > 0 && self.since_punt >= self.punt_every;
        if punt {
            self.since_punt = 0;
        }
        if !self.ring.push(io.slot, verb, span, word12, punt) {
            return Queued::Done(-EINVAL);
        }
        self.lens[io.slot as usize] = if io.ddir.is_data() { io.len as i32 } else { 0 };
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
    fn reap(&mut self, max: u32, mut done: impl FnMut(u32, i32)) -> u32 {
        let lens = &self.lens;
        self.ring.reap(max, |slot, result| {
            done(slot, outcome(result, lens[slot as usize]))
        })
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
    use sys::file::Open;
    use sys::pages::{Kind, Pool};

    #[test]
    fn options_choose_the_commands() {
        let verbs = |write_mode| {
            let options = Options {
                write_mode,
                readfua: true,
                writefua: true,
                deac: true,
                ..Options::default()
            };
            options.verbs()
        };
        let fua = FORCE_UNIT_ACCESS;
        assert_eq!(
            verbs(WriteMode::Write),
            [(Verb::Read, fua), (Verb::Write, fua)]
        );
        assert_eq!(verbs(WriteMode::Uncor)[1], (Verb::WriteUncorrectable, 0));
        let zeroes = (Verb::WriteZeroes, fua | DEALLOCATE_ZEROES);
        assert_eq!(verbs(WriteMode::Zeroes)[1], zeroes);
        assert_eq!(verbs(WriteMode::Verify)[1], (Verb::Verify, fua));
        assert_eq!(verbs(WriteMode::ZoneAppend)[1], (Verb::ZoneAppend, fua));
        assert_eq!(
            Options::default().verbs(),
            [(Verb::Read, 0), (Verb::Write, 0)]
        );
    }

    #[test]
    fn answers_of_the_device_become_results() {
        assert_eq!(
            [0, 0x80, -11].map(|said| outcome(said, 4096)),
            [4096, -EIO, -11]
        );
    }

    #[test]
    fn what_is_no_namespace_is_refused() {
        let how = Open {
            read: true,
            ..Open::default()
        };
        let null = File::open("/dev/null".as_ref(), how).unwrap();
        let pool = Pool::new(1, 4096, 4096, &Kind::Anonymous, false).unwrap();
        let options = Options::default();
        let setup = Setup::plain(&options, 1, vec![null], pool);
        let error = UringCmd::start(setup).err().expect("no namespace");
        assert_eq!(error.errno(), Some(25));
        assert!(error.to_string().contains("/dev/null"), "{error}");
    }
}
