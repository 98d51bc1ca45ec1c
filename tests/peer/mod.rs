//! The installed fio and this one, given the same words, must say the same.

pub mod compare;
mod errors;
mod invocations;
mod logs;
mod offsets;
mod pace;
mod seeds;
mod selftest;
mod small;
