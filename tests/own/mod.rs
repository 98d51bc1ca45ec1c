//! Assay's own verbs, on files and loop devices.

mod cleanup;
mod compare;
mod expect;
mod findings;
mod guard;
mod history;
mod inspect;
mod live;
mod outputs;
mod proofs;
mod report;
mod serve;
mod stacks;

use crate::harness::command::{Running, assay_path};
use crate::harness::{Fio, fio};
use std::process::Command;

/// Words for the binary under test without the personality.
fn assay(words: &str) -> Own {
    Own(fio(words))
}

struct Own(Fio);

impl Own {
    fn spawn(&self) -> Running {
        self.0.spawn_as(Command::new(assay_path()))
    }

    fn ok(&self) -> crate::harness::Outcome {
        self.spawn().wait().expect_ok()
    }

    /// Exit status 1 and one line that holds each of `words`.
    fn refuses(&self, words: &[&str]) {
        let outcome = self.spawn().wait();
        assert_eq!(outcome.code, Some(1), "{outcome}");
        outcome.explains(words);
    }
}

/// The same words as nobody, behind `setpriv`.
fn as_nobody(words: &Fio) -> Running {
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    command.arg(assay_path());
    words.spawn_as(command)
}
