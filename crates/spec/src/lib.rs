//! What the user may say: option tables, job files and command lines.
//!
//! [`parse`] turns the words of a command line, and the job files they name, into a
//! [`Spec`]: typed options for every job, with the place of every mistake. It looks at no
//! file but job files and at no device; what the options mean here is decided by `plan`.
//!
//! The rules are those of fio's HOWTO ("Job file format", "Command line options"); where
//! fio guesses in silence this crate says so in a note, and where it drops text this crate
//! refuses it.
#![forbid(unsafe_code)]

mod argv;
mod build;
mod check;
mod expand;
pub mod help;
mod jobfile;
pub mod kinds;
pub mod mlc;
mod model;
pub mod options;
mod place;
mod showcmd;
mod switches;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod world;

pub use build::parse;
pub use check::check;
pub use model::{Given, Job, Spec};
pub use options::Options;
pub use place::{Diagnostic, Errors, Place, Severity};
pub use switches::{Eta, Format, IdleProf, SWITCHES, SwitchDef, Switches, Takes};
pub use world::{ThisHost, World};
