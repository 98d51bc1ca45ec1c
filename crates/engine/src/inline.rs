//! Engines that serve each request with one system call inside `queue`.
//!
//! [`Inline`] is the engine; a [`Transfer`] says how it reads and writes. What is the same for
//! all, syncs and trims, stands here once.

use crate::api::{Caps, Engine, EngineError, Io, Queued, Setup};
use crate::direct;
use crate::offload::Serve;
use option::OptionSet;
use std::io;
use sys::file::File;
use sys::pages::Pool;
use units::Ddir;

/// How data moves.
pub trait Transfer: Sized + Send + 'static {
    /// The engine's options.
    type Options: OptionSet + std::fmt::Debug;
    /// See [`Engine::NAME`].
    const NAME: &'static str;
    /// See [`Engine::HELP`].
    const HELP: &'static str;
    /// Whether `RWF_ATOMIC` can be asked for.
    const ATOMIC: bool = false;
    /// Prepares for the job.
    fn new(setup: &Setup<'_, Self::Options>) -> Self;
    /// File to buffer; bytes or `-errno`.
    fn read(&mut self, file: u16, fd: &File, buffer: &mut [u8], offset: u64) -> i32;
    /// Buffer to file; bytes or `-errno`.
    fn write(&mut self, file: u16, fd: &File, buffer: &[u8], offset: u64) -> i32;
}

/// An engine whose requests complete inside `queue`.
#[derive(Debug)]
pub struct Inline<T> {
    transfer: T,
    pool: Pool,
    files: Vec<File>,
    sync_range_flags: u32,
}

impl<T: Transfer> Engine for Inline<T> {
    type Options = T::Options;
    const NAME: &'static str = T::NAME;
    const HELP: &'static str = T::HELP;
    const CAPS: Caps = Caps {
        sync: true,
        trims: true,
        atomic: T::ATOMIC,
        offloads: true,
        ..Caps::NONE
    };

    fn start(setup: Setup<'_, T::Options>) -> Result<Self, EngineError> {
        direct::check(T::NAME, &setup)?;
        Ok(Inline {
            transfer: T::new(&setup),
            pool: setup.pool,
            files: setup.files,
            sync_range_flags: setup.sync_range_flags,
        })
    }

    #[inline]
    fn queue(&mut self, io: Io) -> Queued {
        let file = &self.files[usize::from(io.file)];
        let range = io.at as usize..io.at as usize + io.len as usize;
        Queued::Done(match io.ddir {
            Ddir::Read => {
                let buffer = &mut self.pool.slot_mut(io.slot)[range];
                self.transfer.read(io.file, file, buffer, io.offset)
            }
            Ddir::Write => {
                let buffer = &self.pool.slot(io.slot)[range];
                self.transfer.write(io.file, file, buffer, io.offset)
            }
            _ => serve(file, &io, self.sync_range_flags),
        })
    }

    #[inline]
    fn slot(&self, slot: u32) -> &[u8] {
        self.pool.slot(slot)
    }

    #[inline]
    fn slot_mut(&mut self, slot: u32) -> &mut [u8] {
        self.pool.slot_mut(slot)
    }

    fn files(&self) -> &[File] {
        &self.files
    }

    fn into_server(self) -> Option<Box<dyn Serve>> {
        Some(Box::new(self))
    }
}

/// Trims or syncs: the trimmed length, 0 for a sync, or `-errno`. Panics on a data request.
#[cold]
pub(crate) fn serve(file: &File, io: &Io, sync_range_flags: u32) -> i32 {
    let len = u64::from(io.len);
    match io.ddir {
        Ddir::Trim => errno(file.trim(io.offset, len), io.len as i32),
        Ddir::Sync => errno(file.sync(), 0),
        Ddir::DataSync => errno(file.sync_data(), 0),
        Ddir::SyncFileRange => errno(file.sync_range(io.offset, len, sync_range_flags), 0),
        Ddir::Read | Ddir::Write => unreachable!("data requests are the engine's own matter"),
    }
}

/// `value`, or the error as `-errno`.
pub(crate) fn errno(result: io::Result<()>, value: i32) -> i32 {
    /// `EIO`, for an error that carries no number of its own.
    const EIO: i32 = 5;
    match result {
        Ok(()) => value,
        Err(error) => -error.raw_os_error().unwrap_or(EIO),
    }
}
