//! System calls, rings, mappings and clocks. This is the only storage crate that contains
//! `unsafe`; everything public here is safe to call, whatever the arguments.
//!
//! Each module's header states the invariant its unsafe blocks rest on. Errors are
//! `std::io::Error` with the kernel's errno, so that callers can print and compare them.
#![allow(unsafe_code)]

pub mod aio;
pub mod clock;
pub mod file;
pub mod mapping;
pub mod numa;
pub mod pages;
pub mod process;
pub mod ring;
pub mod transfer;
pub mod tsc;

/// Turns an errno as rustix reports it into a result for one request: bytes, or `-errno`.
#[inline]
fn outcome(result: rustix::io::Result<usize>) -> i32 {
    match result {
        // One request is at most 4 GiB - 1 but the kernel never moves more than 2 GiB - 4 KiB.
        Ok(bytes) => bytes as i32,
        Err(errno) => -errno.raw_os_error(),
    }
}
