//! A ring for NVMe commands, which the driver takes as they are (`IORING_OP_URING_CMD`).
//!
//! Invariants: as for [`Ring`](super::Ring): a slot's bytes are the kernel's while `busy[slot]`,
//! which is set before a command enters the queue and cleared when its completion leaves it, and
//! dropping the ring waits for what is in flight, or leaks the buffers. A command moves as many
//! bytes as its data have, because the ring asks each device itself for its block size.

use super::Span;
use crate::file::File;
use crate::nvme::{Command, Namespace, URING_IO, Verb};
use crate::pages::Pool;
use io_uring::{IoUring, cqueue, opcode, squeue, types};
use std::io;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd};

type Device = IoUring<squeue::Entry128, cqueue::Entry32>;

/// See the module.
pub struct CommandRing {
    ring: ManuallyDrop<Device>,
    pool: ManuallyDrop<Pool>,
    files: Vec<File>,
    namespaces: Box<[Namespace]>,
    /// Blocks of a zone of each, for appending; 1 where there are none.
    zone_blocks: Box<[u64]>,
    busy: Box<[bool]>,
    staged: u32,
    in_flight: u32,
    polls: bool,
    fixed: bool,
    /// Files are registered, and named by their number.
    registered: bool,
    _thread: PhantomData<*const ()>,
}

impl CommandRing {
    /// Makes a ring with room for one command per slot of `pool`, for open devices of namespaces.
    /// `EINVAL`: the kernel has no large entries (they came with Linux 5.19). `ENOTTY`: a file is
    /// no namespace.
    pub fn new(pool: Pool, files: Vec<File>, poll: bool, fixed: bool) -> io::Result<CommandRing> {
        let namespaces = files.iter().map(Namespace::of);
        let namespaces = namespaces.collect::<io::Result<Vec<_>>>()?;
        if namespaces.iter().any(|space| space.metadata_bytes() > 0) {
            return Err(io::Error::other(
                "metadata behind each block is not supported",
            ));
        }
        CommandRing::with(pool, files, namespaces, poll, fixed)
    }

    fn with(
        pool: Pool,
        files: Vec<File>,
        namespaces: Vec<Namespace>,
        poll: bool,
        fixed: bool,
    ) -> io::Result<CommandRing> {
        let mut builder: io_uring::Builder<squeue::Entry128, cqueue::Entry32> = IoUring::builder();
        builder.setup_single_issuer();
        if poll {
            builder.setup_iopoll();
        }
        let ring = builder.build(pool.slots())?;
        let ring = CommandRing {
            ring: ManuallyDrop::new(ring),
            busy: vec![false; pool.slots() as usize].into(),
            pool: ManuallyDrop::new(pool),
            files,
            zone_blocks: vec![1; namespaces.len()].into(),
            namespaces: namespaces.into(),
            staged: 0,
            in_flight: 0,
            polls: poll,
            fixed,
            registered: false,
            _thread: PhantomData,
        };
        if fixed {
            let slots = 0..ring.pool.slots();
            let iovecs: Vec<_> = slots
                .map(|slot| super::slot_iovec(&ring.pool, slot))
                .collect();
            // SAFETY: the iovecs are the pool's slots, which outlive the ring (see Drop).
            unsafe { ring.ring.submitter().register_buffers(&iovecs)? };
        }
        Ok(ring)
    }

    /// Registers the files, so that each command saves the look-up of its own.
    pub fn register_files(&mut self) -> io::Result<()> {
        let fds: Vec<_> = self.files.iter().map(|f| f.as_fd().as_raw_fd()).collect();
        self.ring.submitter().register_files(&fds)?;
        self.registered = true;
        Ok(())
    }

    /// Asks each device for the size of its zones, which appends name. `ENOTSUP`: it has none.
    pub fn prepare_appends(&mut self) -> io::Result<()> {
        let all = self.namespaces.iter().zip(&self.files);
        let zones = all.map(|(space, file)| match space.zoned(file) {
            Some((blocks, _)) => Ok(blocks),
            None => Err(io::Error::from_raw_os_error(libc::ENOTSUP)),
        });
        self.zone_blocks = zones.collect::<io::Result<_>>()?;
        Ok(())
    }

    /// Puts a command for part of a device and of the slot into the queue. `word12` is added to
    /// that word; `punt` has a thread of the kernel's begin it. False, and nothing is done, if the
    /// part is not of whole blocks or larger than a command can be.
    ///
    /// Panics if the slot or file does not exist, the slot has a command already, or the range
    /// leaves the slot.
    #[inline]
    pub fn push(&mut self, slot: u32, verb: Verb, span: Span, word12: u32, punt: bool) -> bool {
        assert!(
            !self.busy[slot as usize],
            "slot {slot} has a command already"
        );
        let file = usize::from(span.file);
        let namespace = &self.namespaces[file];
        let range = match verb {
            Verb::Flush => namespace.range(0, namespace.block_bytes()),
            _ => namespace.range(span.offset, span.len),
        };
        let Some(mut range) = range else { return false };
        if verb == Verb::ZoneAppend {
            range.start -= range.start % self.zone_blocks[file];
        }
        let mut command = Command::new(namespace, verb, range, word12);
        if verb.carries_data() {
            let address = self.pool.part_address(slot, span.at, span.len);
            command.address = address.as_ptr().expose_provenance() as u64;
            command.bytes = span.len;
        }
        let fixed = (self.fixed && verb.carries_data()).then_some(slot as u16);
        let entry = match self.registered {
            true => opcode::UringCmd80::new(types::Fixed(file as u32), URING_IO),
            false => {
                let fd = self.files[file].as_fd().as_raw_fd();
                opcode::UringCmd80::new(types::Fd(fd), URING_IO)
            }
        };
        let mut entry = entry
            .cmd(command.in_entry())
            .buf_index(fixed)
            .build()
            .user_data(u64::from(slot));
        if punt {
            entry = entry.flags(squeue::Flags::ASYNC);
        }
        self.busy[slot as usize] = true;
        // SAFETY: the only address in the command is that of a checked part of the slot, which
        // stays put and untouched while `busy[slot]`, and as long as the blocks it names.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        pushed.expect("the queue has an entry for each slot");
        self.staged += 1;
        true
    }

    /// Commands that wait for [`submit`](CommandRing::submit).
    pub fn staged(&self) -> u32 {
        self.staged
    }

    /// Submits everything staged and waits as [`wait`](CommandRing::wait) does. Returns how many
    /// commands were submitted.
    pub fn submit(&mut self, min: u32) -> io::Result<u32> {
        let total = self.staged;
        while self.staged > 0 {
            let want = min.min(self.in_flight + self.staged);
            match self.ring.submit_and_wait(want as usize) {
                Ok(taken) => {
                    self.staged -= taken as u32;
                    self.in_flight += taken as u32;
                }
                Err(error) => super::pause_or_fail(error)?,
            }
        }
        if min > 0 {
            self.wait(min)?;
        }
        Ok(total)
    }

    /// Waits until at least `min` completions can be reaped, or as many as are in flight.
    pub fn wait(&mut self, min: u32) -> io::Result<()> {
        let min = min.min(self.in_flight);
        loop {
            let ready = self.ring.completion().len() as u32;
            if ready >= min.max(1) || self.in_flight == 0 || (min == 0 && !self.polls) {
                return Ok(());
            }
            if let Err(error) = self.ring.submit_and_wait(min as usize) {
                super::pause_or_fail(error)?;
            }
            if min == 0 {
                return Ok(());
            }
        }
    }

    /// Hands out at most `max` completions: slot, and what the driver says (0, its own status, or
    /// `-errno`).
    pub fn reap(&mut self, max: u32, mut done: impl FnMut(u32, i32)) -> u32 {
        let mut handed = 0;
        for completion in self.ring.completion().take(max as usize) {
            let slot = completion.user_data() as u32;
            self.busy[slot as usize] = false;
            self.in_flight -= 1;
            handed += 1;
            done(slot, completion.result());
        }
        handed
    }

    /// The bytes of a slot. Panics while it has a command.
    pub fn slot(&self, slot: u32) -> &[u8] {
        assert!(
            !self.busy[slot as usize],
            "slot {slot} belongs to the kernel"
        );
        self.pool.slot(slot)
    }

    /// The bytes of a slot, writable. Panics while it has a command.
    pub fn slot_mut(&mut self, slot: u32) -> &mut [u8] {
        assert!(
            !self.busy[slot as usize],
            "slot {slot} belongs to the kernel"
        );
        self.pool.slot_mut(slot)
    }

    /// The device behind each file.
    pub fn namespaces(&self) -> &[Namespace] {
        &self.namespaces
    }

    /// The files commands go to.
    pub fn files(&self) -> &[File] {
        &self.files
    }
}

impl Drop for CommandRing {
    fn drop(&mut self) {
        let mut idle = true;
        while self.in_flight > 0 && idle {
            idle = self.wait(self.in_flight).is_ok();
            self.reap(u32::MAX, |_, _| {});
        }
        // SAFETY: dropped once, here, and not used afterwards.
        unsafe { ManuallyDrop::drop(&mut self.ring) };
        if idle {
            // SAFETY: as above; nothing is in flight, so the kernel is done with the slots.
            unsafe { ManuallyDrop::drop(&mut self.pool) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::Open;
    use crate::pages::Kind;

    #[test]
    fn commands_go_to_the_driver_and_come_back() {
        let how = Open {
            read: true,
            ..Open::default()
        };
        let zero = File::open("/etc/passwd".as_ref(), how).unwrap();
        let null = File::open("/dev/null".as_ref(), how).unwrap();
        let pool = Pool::new(4, 4096, 4096, &Kind::Anonymous, false).unwrap();
        let namespace = Namespace {
            id: 1,
            block_bytes: 512,
            metadata_bytes: 0,
            blocks: 1000,
            format: 0,
        };
        let made = CommandRing::with(pool, vec![zero, null], vec![namespace; 2], false, true);
        let mut ring = match made {
            Ok(ring) => ring,
            Err(error) => return eprintln!("SKIP commands: {error}"),
        };
        let span = |file, offset| Span {
            file,
            offset,
            at: 0,
            len: 4096,
        };
        for (slot, verb, file) in [(2, Verb::Read, 0), (0, Verb::Write, 1), (1, Verb::Flush, 0)] {
            assert!(ring.push(slot, verb, span(file, 512), 0, false));
        }
        assert!(!ring.push(3, Verb::Read, span(0, 100), 0, false));
        assert_eq!(ring.staged(), 3);
        assert_eq!(ring.submit(3).unwrap(), 3);
        let mut results = vec![];
        assert_eq!(ring.reap(9, |slot, result| results.push((slot, result))), 3);
        results.sort();
        // A file has no commands; what the null device says depends on the kernel.
        results.remove(0);
        assert_eq!(results, [(1, -libc::EOPNOTSUPP), (2, -libc::EOPNOTSUPP)]);
        ring.slot_mut(2).fill(1);
    }
}
