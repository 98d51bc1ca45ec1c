//! End-to-end tests: the binary is run as a user runs it, on real files and devices.
//!
//! One binary, linked once. `seeds` runs real command lines and checks them against the
//! device's own counters, `peer` compares with the installed fio, `fio` covers the command
//! line, scripts that parse the output, and bad input, `own` covers Assay's own verbs, `mlc` those
//! that measure memory. A test that needs root or a tool that is missing says so on stderr and
//! passes, so a skip is always visible.
#![forbid(unsafe_code)]

mod fio;
mod harness;
mod import;
mod mlc;
mod own;
mod peer;
mod seeds;
