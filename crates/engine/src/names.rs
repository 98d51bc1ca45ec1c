//! Engines that work on names: each file or directory of the job is operated on when its turn
//! comes, and only that is timed.
//!
//! As in fio, the requests themselves move nothing. A target is operated on with the first
//! request of each pass over it, which is when fio opens files; the others are counted and not
//! timed. [`Names`] is the engine; an [`Operation`] says what is done to a name.

use crate::api::{Aside, ByName, Caps, Engine, EngineError, Io, Queued, Setup, Target};
use crate::inline::errno;
use option::OptionSet;
use std::io;
use std::path::Path;
use sys::clock::monotonic_ns;
use sys::file::File;
use sys::names::Held;
use sys::pages::Pool;

/// What is done to a name.
pub trait Operation: Sized {
    /// The engine's options.
    type Options: OptionSet + std::fmt::Debug;
    /// See [`Engine::NAME`].
    const NAME: &'static str;
    /// See [`Engine::HELP`].
    const HELP: &'static str;
    /// What should be there before the run.
    const FINDS: ByName;
    /// Whether the operation changes what it names.
    const ALTERS: bool;
    /// Whether directories are made before the run where there are none.
    const MAKES_DIRECTORIES: bool = false;
    /// Prepares for the job.
    fn new(options: &Self::Options) -> Self;
    /// Does it. What is still open is closed when the clock has stopped.
    fn operate(&mut self, path: &Path) -> io::Result<Option<Held>>;
}

/// See the module.
#[derive(Debug)]
pub struct Names<T> {
    operation: T,
    pool: Pool,
    targets: Vec<Target>,
    /// Bytes of each target's pass that requests have not yet named.
    left: Vec<u64>,
    aside: Aside,
}

impl<T: Operation> Engine for Names<T> {
    type Options = T::Options;
    const NAME: &'static str = T::NAME;
    const HELP: &'static str = T::HELP;
    const CAPS: Caps = Caps {
        sync: true,
        fake: true,
        by_name: Some(T::FINDS),
        alters: T::ALTERS,
        // Files are looked up and deleted where a disk holds them; as in fio, the other
        // operations have no statistics of disks.
        diskless: !matches!(T::FINDS, ByName::Files),
        ..Caps::NONE
    };

    fn start(setup: Setup<'_, T::Options>) -> Result<Self, EngineError> {
        let targets = setup.job.targets;
        for target in &targets {
            prepare::<T>(&target.path)?;
        }
        Ok(Names {
            operation: T::new(setup.options),
            pool: setup.pool,
            left: vec![0; targets.len()],
            targets,
            aside: Aside::Untimed,
        })
    }

    #[inline]
    fn queue(&mut self, io: Io) -> Queued {
        if !io.ddir.is_data() {
            return Queued::Done(0);
        }
        let file = usize::from(io.file);
        let target = &self.targets[file];
        let left = &mut self.left[file];
        let first = *left == 0;
        if first {
            *left = target.length;
        }
        *left = left.saturating_sub(u64::from(io.len));
        self.aside = Aside::Untimed;
        if first {
            let start_ns = monotonic_ns();
            let done = self.operation.operate(&target.path);
            let ns = monotonic_ns() - start_ns;
            let result = errno(done.map(drop), io.len as i32);
            self.aside = Aside::Timed { result, ns };
        }
        Queued::Aside
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
        &[]
    }

    fn aside(&mut self) -> Aside {
        self.aside
    }

    fn path(&self, file: u16) -> Option<&Path> {
        let target = self.targets.get(usize::from(file))?;
        Some(target.path.as_path())
    }
}

/// Looks at what is there, and makes the directories that should be there.
fn prepare<T: Operation>(path: &Path) -> Result<(), EngineError> {
    let refuse = |what: &str| {
        let what = format!("{} is {what}", path.display());
        Err(EngineError::Unsupported {
            engine: T::NAME,
            what,
        })
    };
    let directories = T::FINDS == ByName::Directories;
    match std::fs::metadata(path) {
        Ok(meta) if directories && !meta.is_dir() => refuse("not a directory"),
        Ok(meta) if !directories && !meta.is_file() => refuse("not an ordinary file"),
        Ok(_) => Ok(()),
        Err(_) if T::MAKES_DIRECTORIES => {
            sys::names::make_directory(path).map_err(|source| EngineError::Kernel {
                engine: T::NAME,
                what: format!("making the directory {}", path.display()),
                source,
            })
        }
        // The operation will tell.
        Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directories::{Dircreate, Dirdelete, Dirstat};
    use crate::files::{Filecreate, Filedelete, Filestat, StatOptions, StatType};
    use crate::{Job, NoOptions};
    use std::path::PathBuf;
    use std::sync::Arc;
    use sys::pages::Kind;
    use units::Ddir;

    fn start<E: Engine>(options: &E::Options, paths: &[PathBuf]) -> Result<E, EngineError> {
        let pool = Pool::new(1, 4096, 4096, &Kind::Anonymous, false).unwrap();
        let target = |path: &PathBuf| Target {
            path: Arc::new(path.clone()),
            length: 8192,
        };
        let job = Job {
            targets: paths.iter().map(target).collect(),
            ..Job::default()
        };
        E::start(Setup {
            job,
            ..Setup::plain(options, 1, vec![], pool)
        })
    }

    /// One request to a file: bytes or `-errno`, and whether it was timed.
    fn ask<E: Engine>(engine: &mut E, file: u16) -> (i32, bool) {
        let io = Io::new(0, file, Ddir::Read, 0, 4096);
        assert_eq!(engine.queue(io), Queued::Aside);
        match engine.aside() {
            Aside::Timed { result, .. } => (result, true),
            Aside::Untimed => (4096, false),
            Aside::Begin | Aside::End => panic!("neither begins nor ends"),
        }
    }

    #[test]
    fn each_pass_over_a_file_is_one_operation() {
        let dir = tempfile::tempdir().unwrap();
        let paths = ["a", "b"].map(|name| dir.path().join(name));
        let mut create: Names<Filecreate> = start(&NoOptions {}, &paths).unwrap();
        assert_eq!(create.path(1), Some(paths[1].as_path()));
        assert_eq!(ask(&mut create, 0), (4096, true));
        assert_eq!(ask(&mut create, 0), (4096, false));
        assert_eq!(ask(&mut create, 1), (4096, true));
        assert!(paths.iter().all(|path| path.is_file()));
        assert_eq!(ask(&mut create, 0), (4096, true));

        let sync = Io::new(0, 0, Ddir::Sync, 0, 0);
        assert_eq!(create.queue(sync), Queued::Done(0));

        let mut delete: Names<Filedelete> = start(&NoOptions {}, &paths).unwrap();
        assert_eq!(ask(&mut delete, 0), (4096, true));
        assert_eq!(ask(&mut delete, 0), (4096, false));
        assert!(!paths[0].exists() && paths[1].exists());
        assert_eq!(ask(&mut delete, 0), (-2, true));
    }

    #[test]
    fn the_kind_of_look_up_is_a_choice() {
        let dir = tempfile::tempdir().unwrap();
        let link = [dir.path().join("l")];
        std::os::unix::fs::symlink("nowhere", &link[0]).unwrap();
        for (stat_type, result) in [
            (StatType::Stat, -2),
            (StatType::Lstat, 4096),
            (StatType::Statx, -2),
        ] {
            let options = StatOptions { stat_type };
            let mut stat: Names<Filestat> = start(&options, &link).unwrap();
            assert_eq!(ask(&mut stat, 0), (result, true));
        }
    }

    #[test]
    fn directories_are_made_where_they_are_needed() {
        let dir = tempfile::tempdir().unwrap();
        let path = [dir.path().join("d")];
        let mut create: Names<Dircreate> = start(&NoOptions {}, &path).unwrap();
        assert!(!path[0].exists());
        assert_eq!(ask(&mut create, 0), (4096, true));
        assert!(path[0].is_dir());
        let mut delete: Names<Dirdelete> = start(&NoOptions {}, &path).unwrap();
        assert_eq!(ask(&mut delete, 0), (4096, true));
        assert!(!path[0].exists());
        let mut stat: Names<Dirstat> = start(&StatOptions::default(), &path).unwrap();
        assert!(path[0].is_dir());
        assert_eq!(ask(&mut stat, 0), (4096, true));
    }

    #[test]
    fn what_is_neither_file_nor_directory_is_left_alone() {
        let device = [PathBuf::from("/dev/null")];
        let error = start::<Names<Filedelete>>(&NoOptions {}, &device).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("/dev/null is not an ordinary file"),
            "{error}"
        );
        let error = start::<Names<Dirdelete>>(&NoOptions {}, &device).unwrap_err();
        assert!(error.to_string().contains("not a directory"), "{error}");
    }
}
