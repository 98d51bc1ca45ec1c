//! `dircreate`, `dirstat`, `dirdelete`: names of directories.

use crate::api::{ByName, NoOptions};
use crate::files::{StatOptions, StatType};
use crate::names::Operation;
use std::io;
use std::path::Path;
use sys::names::{self, Held};

/// `dircreate`.
#[derive(Debug)]
pub struct Dircreate;

impl Operation for Dircreate {
    type Options = NoOptions;
    const NAME: &'static str = "dircreate";
    const HELP: &'static str = "Creates directories";
    const FINDS: ByName = ByName::Directories;
    const ALTERS: bool = true;

    fn new(_options: &NoOptions) -> Self {
        Dircreate
    }

    fn operate(&mut self, path: &Path) -> io::Result<Option<Held>> {
        names::make_directory(path).map(|()| None)
    }
}

/// `dirstat`.
#[derive(Debug)]
pub struct Dirstat(StatType);

impl Operation for Dirstat {
    type Options = StatOptions;
    const NAME: &'static str = "dirstat";
    const HELP: &'static str = "Looks directories up";
    const FINDS: ByName = ByName::Directories;
    // It makes those that are missing.
    const ALTERS: bool = true;
    const MAKES_DIRECTORIES: bool = true;

    fn new(options: &StatOptions) -> Self {
        Dirstat(options.stat_type)
    }

    fn operate(&mut self, path: &Path) -> io::Result<Option<Held>> {
        self.0.look(path).map(|()| None)
    }
}

/// `dirdelete`.
#[derive(Debug)]
pub struct Dirdelete;

impl Operation for Dirdelete {
    type Options = NoOptions;
    const NAME: &'static str = "dirdelete";
    const HELP: &'static str = "Deletes directories";
    const FINDS: ByName = ByName::Directories;
    const ALTERS: bool = true;
    const MAKES_DIRECTORIES: bool = true;

    fn new(_options: &NoOptions) -> Self {
        Dirdelete
    }

    fn operate(&mut self, path: &Path) -> io::Result<Option<Held>> {
        names::remove_directory(path).map(|()| None)
    }
}
