//! `filecreate`, `filestat`, `filedelete`: names of files.

use crate::api::{ByName, NoOptions};
use crate::names::Operation;
use std::io;
use std::path::Path;
use sys::names::{self, Held};

option::choices! {
    /// Which system call looks a name up
    pub enum StatType {
        /// stat
        Stat = "stat";
        /// lstat, which does not follow links
        Lstat = "lstat";
        /// statx
        Statx = "statx";
    }
}

option::options! {
    /// Looking names up
    pub struct StatOptions {
        /// Which system call looks a name up.
        stat_type: StatType = "stat";
    }
}

impl StatType {
    /// Looks `path` up.
    pub(crate) fn look(self, path: &Path) -> io::Result<()> {
        match self {
            StatType::Stat => names::stat(path),
            StatType::Lstat => names::lstat(path),
            StatType::Statx => names::statx(path),
        }
    }
}

/// `filecreate`.
#[derive(Debug)]
pub struct Filecreate;

impl Operation for Filecreate {
    type Options = NoOptions;
    const NAME: &'static str = "filecreate";
    const HELP: &'static str = "Creates files";
    const FINDS: ByName = ByName::NewFiles;
    const ALTERS: bool = true;

    fn new(_options: &NoOptions) -> Self {
        Filecreate
    }

    fn operate(&mut self, path: &Path) -> io::Result<Option<Held>> {
        names::create(path).map(Some)
    }
}

/// `filestat`.
#[derive(Debug)]
pub struct Filestat(StatType);

impl Operation for Filestat {
    type Options = StatOptions;
    const NAME: &'static str = "filestat";
    const HELP: &'static str = "Looks files up";
    const FINDS: ByName = ByName::Files;
    const ALTERS: bool = false;

    fn new(options: &StatOptions) -> Self {
        Filestat(options.stat_type)
    }

    fn operate(&mut self, path: &Path) -> io::Result<Option<Held>> {
        self.0.look(path).map(|()| None)
    }
}

/// `filedelete`.
#[derive(Debug)]
pub struct Filedelete;

impl Operation for Filedelete {
    type Options = NoOptions;
    const NAME: &'static str = "filedelete";
    const HELP: &'static str = "Deletes files";
    const FINDS: ByName = ByName::Files;
    const ALTERS: bool = true;

    fn new(_options: &NoOptions) -> Self {
        Filedelete
    }

    fn operate(&mut self, path: &Path) -> io::Result<Option<Held>> {
        names::unlink(path).map(|()| None)
    }
}
