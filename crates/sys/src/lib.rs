//! System calls, rings, mappings and clocks. This is the only storage crate that contains
//! `unsafe`; everything public here is safe to call, whatever the arguments.
//!
//! Each module's header states the invariant its unsafe blocks rest on. Errors are
//! `std::io::Error` with the kernel's errno, so that callers can print and compare them.
//!
//! ```
//! use sys::clock::{Clock, Monotonic};
//! use sys::file::{File, Open};
//! use sys::pages::{Kind, Pool};
//!
//! let mut pool = Pool::new(1, 4096, 4096, &Kind::Anonymous, false)?;
//! pool.slot_mut(0).fill(1);
//! let zeroes = File::open("/dev/zero".as_ref(), Open { read: true, ..Open::default() })?;
//! let start = Monotonic.now();
//! assert_eq!(sys::transfer::pread(&zeroes, pool.slot_mut(0), 0), 4096);
//! let latency_ns = Monotonic.ns(Monotonic.now() - start);
//! assert!(pool.slot(0).iter().all(|&byte| byte == 0));
//! # let _ = latency_ns;
//! # Ok::<(), std::io::Error>(())
//! ```
#![allow(unsafe_code)]

pub mod aio;
pub mod area;
pub mod clock;
pub mod file;
pub mod loops;
pub mod mapping;
pub mod names;
pub mod net;
pub mod numa;
pub mod nvme;
pub mod pages;
pub mod pipe;
pub mod posix_aio;
pub mod process;
pub mod quota;
pub mod ring;
pub mod transfer;
pub mod tsc;
pub mod zones;

/// Turns an errno as rustix reports it into a result for one request: bytes, or `-errno`.
#[inline]
fn outcome(result: rustix::io::Result<usize>) -> i32 {
    match result {
        // One request is at most 4 GiB - 1 but the kernel never moves more than 2 GiB - 4 KiB.
        Ok(bytes) => bytes as i32,
        Err(errno) => -errno.raw_os_error(),
    }
}
