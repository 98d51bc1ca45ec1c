//! The installed fio and this one, given the same words, must say the same.

mod buffers;
mod clock;
pub mod compare;
mod errors;
mod invocations;
mod logs;
mod offsets;
mod pace;
mod packed;
mod priorities;
mod random;
mod replay;
mod seeds;
mod selftest;
mod small;
mod targets;
mod verify;
mod zoned;
