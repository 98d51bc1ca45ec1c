//! The control group that a run moves into (`cgroup`), in the unified tree of version 2.
//!
//! The kernel divides I/O among processes, not among the threads of one: `io` is no threaded
//! controller. Jobs are threads of one process, so all of a run is in one group, and jobs that
//! ask for several are refused. As in fio, a group is made if it is not there, and what was made
//! goes at the end unless `cgroup_nodelete` keeps it.

use crate::error::Fault;
use crate::layout::LayoutError;
use host::{Facts, Root};
use spec::Spec;
use std::fs;
use std::io::{Error, ErrorKind};
use std::path::{Component, Path, PathBuf};

/// Files that take the weight of a group: of iocost, and of the BFQ scheduler.
const WEIGHTS: [&str; 2] = ["io.weight", "io.bfq.weight"];

/// A control group, as jobs ask for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlGroup {
    /// Where the tree is mounted.
    mount: PathBuf,
    /// The group's directory in it.
    directory: PathBuf,
    /// `cgroup_weight`: its share of devices that are short, beside other groups (100 unless
    /// they say otherwise).
    weight: Option<u32>,
    /// `cgroup_nodelete`.
    keep: bool,
}

/// What the jobs of a run ask for together; the index of the job that cannot be served with its
/// fault otherwise.
pub(crate) fn settle(spec: &Spec, facts: &Facts) -> Result<Option<ControlGroup>, (usize, Fault)> {
    let asked = |job: &spec::Job| {
        let process = &job.options.process;
        let (weight, keep) = (process.cgroup_weight, process.cgroup_nodelete);
        (process.cgroup.clone(), weight, keep)
    };
    let Some(first) = spec.jobs.first() else {
        return Ok(None);
    };
    let (name, weight, keep) = asked(first);
    for (index, job) in spec.jobs.iter().enumerate() {
        let (own, weight, keep) = asked(job);
        if own.is_none() && (weight.is_some() || keep) {
            let option = if keep {
                "cgroup_nodelete"
            } else {
                "cgroup_weight"
            };
            return Err((
                index,
                Fault::option(option, format!("{option}= needs cgroup=")),
            ));
        }
        if asked(first) != asked(job) {
            let text = "cgroup=: jobs are threads of one process, and version 2 of control groups \
                        divides I/O among processes; all jobs of a run name the same group, \
                        cgroup_weight= and cgroup_nodelete=";
            return Err((index, Fault::option("cgroup", text)));
        }
    }
    let Some(name) = name else {
        return Ok(None);
    };
    let fault = |text: String| (0, Fault::option("cgroup", format!("cgroup={name}: {text}")));
    let ordinary = |part: Component<'_>| matches!(part, Component::Normal(_));
    if name.is_empty() || !Path::new(&name).components().all(ordinary) {
        return Err(fault(
            "expected the name of a group below the root of the tree".into(),
        ));
    }
    let mut unified = facts
        .mounts
        .iter()
        .filter(|mount| mount.fs_type == "cgroup2");
    let Some(mount) = unified.next() else {
        return Err(fault("no control groups of version 2 are mounted".into()));
    };
    let mount = facts.root.path(relative(&mount.mount_point));
    if !holds_io(&mount.join("cgroup.controllers")) {
        return Err(fault(format!(
            "{} has no io controller; where version 1 has it (`blkio`), no process of version 2 \
             can be given a share",
            mount.display()
        )));
    }
    Ok(Some(ControlGroup {
        directory: mount.join(&name),
        mount,
        weight,
        keep,
    }))
}

/// `Root::path` takes paths below it.
fn relative(path: &Path) -> &Path {
    path.strip_prefix("/").unwrap_or(path)
}

/// Is `io` among the words of a file?
fn holds_io(file: &Path) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.split_whitespace().any(|word| word == "io")
}

impl ControlGroup {
    /// The directory that the run will make and remove again, if so.
    pub fn makes(&self) -> Option<&Path> {
        (!self.keep && !self.directory.exists()).then_some(&self.directory)
    }

    /// Makes the group where it is not there, gives it its weight, and moves this process into
    /// it, all threads and what they start included.
    ///
    /// # Errors
    /// What the system refused; the process is where it was then.
    pub fn enter(&self, root: &Root) -> Result<Inside, LayoutError> {
        let directory = &self.directory;
        let above: Vec<&Path> = directory.ancestors().skip(1).collect();
        let above = above
            .iter()
            .rev()
            .filter(|dir| dir.starts_with(&self.mount));
        for group in above {
            let file = group.join("cgroup.subtree_control");
            if !holds_io(&file) {
                fs::write(&file, "+io").map_err(|error| {
                    LayoutError::at("enable the io controller in", &file, error)
                })?;
            }
        }
        let made = !directory.exists();
        if made {
            fs::create_dir(directory)
                .map_err(|error| LayoutError::at("make the control group", directory, error))?;
        }
        let inside = Inside {
            home: self.home(root),
            directory: directory.clone(),
            remove: made && !self.keep,
        };
        if let Some(weight) = self.weight {
            self.weigh(weight)?;
        }
        // 0 is whoever writes it.
        fs::write(directory.join("cgroup.procs"), "0")
            .map_err(|error| LayoutError::at("move into the control group", directory, error))?;
        Ok(inside)
    }

    fn weigh(&self, weight: u32) -> Result<(), LayoutError> {
        let mut taken = false;
        for file in WEIGHTS.map(|name| self.directory.join(name)) {
            if file.exists() {
                fs::write(&file, format!("default {weight}"))
                    .map_err(|error| LayoutError::at("write cgroup_weight= to", &file, error))?;
                taken = true;
            }
        }
        if taken {
            return Ok(());
        }
        let text = "this kernel has neither iocost nor BFQ, which divide by weight";
        let error = Error::new(ErrorKind::Unsupported, text);
        Err(LayoutError::at(
            "give cgroup_weight= to",
            &self.directory,
            error,
        ))
    }

    /// Where this process is now; the root of the tree where that cannot be seen, as in some
    /// containers.
    fn home(&self, root: &Root) -> PathBuf {
        let text = root.text("proc/self/cgroup").unwrap_or_default();
        let own = text.lines().find_map(|line| line.strip_prefix("0::/"));
        let own = own
            .map(|own| self.mount.join(own))
            .filter(|own| own.is_dir());
        own.unwrap_or_else(|| self.mount.clone())
    }
}

/// This process is in a control group; it leaves with this value.
#[derive(Debug)]
pub struct Inside {
    home: PathBuf,
    directory: PathBuf,
    remove: bool,
}

impl Drop for Inside {
    fn drop(&mut self) {
        // Nobody is left to tell: a group that stays is empty once the process is gone, and the
        // journal knows it.
        let _ = fs::write(self.home.join("cgroup.procs"), "0");
        if self.remove {
            let _ = fs::remove_dir(&self.directory);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree as the kernel shows it, with a group that exists.
    fn tree(controllers: &str) -> (tempfile::TempDir, Root) {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::at(dir.path());
        let put = |path: &str, text: &str| {
            let at = root.path(path);
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            fs::write(at, text).unwrap();
        };
        put("proc/self/cgroup", "1:name=systemd:/x\n0::/user/me\n");
        put("sys/fs/cgroup/cgroup.controllers", controllers);
        put("sys/fs/cgroup/cgroup.subtree_control", "cpu\n");
        put("sys/fs/cgroup/user/me/cgroup.procs", "");
        put("sys/fs/cgroup/there/cgroup.procs", "");
        put("sys/fs/cgroup/there/io.weight", "default 100\n");
        (dir, root)
    }

    fn facts(root: &Root, mountinfo: &str) -> Facts {
        Facts {
            mounts: host::Mounts::parse(mountinfo).unwrap(),
            root: root.clone(),
            ..Facts::read(&Root::default()).unwrap()
        }
    }

    const UNIFIED: &str = "30 23 0:26 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw\n";

    fn settled(words: &str, facts: &Facts) -> Result<Option<ControlGroup>, (usize, String)> {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        let tables: Vec<option::EngineTable> = engine::registry::tables().copied().collect();
        let spec = spec::parse(&words, &tables, &spec::ThisHost).unwrap();
        settle(&spec, facts).map_err(|(job, fault)| (job, fault.to_string()))
    }

    #[test]
    fn a_run_moves_and_comes_back() {
        let (_dir, root) = tree("cpu io memory\n");
        let facts = facts(&root, UNIFIED);
        let group = settled("--name=a --cgroup=there --cgroup_weight=300", &facts);
        let group = group.unwrap().unwrap();
        assert_eq!(group.makes(), None);
        let text = |path: &str| root.text(format!("sys/fs/cgroup/{path}")).unwrap();
        let inside = group.enter(&root).unwrap();
        assert_eq!(text("cgroup.subtree_control"), "+io");
        assert_eq!(text("there/io.weight"), "default 300");
        assert_eq!(
            (text("there/cgroup.procs"), text("user/me/cgroup.procs")),
            ("0".into(), String::new())
        );
        drop(inside);
        assert_eq!(text("user/me/cgroup.procs"), "0");
        assert!(
            root.path("sys/fs/cgroup/there").exists(),
            "it was there before"
        );
    }

    #[test]
    fn a_group_of_its_own_goes_unless_it_is_kept() {
        let (_dir, root) = tree("io\n");
        let facts = facts(&root, UNIFIED);
        let directory = root.path("sys/fs/cgroup/new");
        let group = settled("--name=a --cgroup=new", &facts).unwrap().unwrap();
        assert_eq!(group.makes(), Some(directory.as_path()));
        let inside = group.enter(&root).unwrap();
        // The kernel's files go with a group's directory; this one is ours.
        fs::remove_file(directory.join("cgroup.procs")).unwrap();
        drop(inside);
        assert!(!directory.exists());
        let kept = settled("--name=a --cgroup=new --cgroup_nodelete=1", &facts);
        let kept = kept.unwrap().unwrap();
        assert_eq!(kept.makes(), None);
        let inside = kept.enter(&root).unwrap();
        fs::remove_file(directory.join("cgroup.procs")).unwrap();
        drop(inside);
        assert!(directory.exists());
        let weighed = settled("--name=a --cgroup=new --cgroup_weight=100", &facts);
        let error = weighed.unwrap().unwrap().enter(&root).unwrap_err();
        assert!(
            error.to_string().contains("neither iocost nor BFQ"),
            "{error}"
        );
    }

    #[test]
    fn what_cannot_be_served_is_refused_with_the_reason() {
        let (_dir, root) = tree("io\n");
        let facts_here = facts(&root, UNIFIED);
        let refused = |words: &str, job: usize, reason: &str| {
            let (at, text) = settled(words, &facts_here).unwrap_err();
            assert!(at == job && text.contains(reason), "{words}: {at}: {text}");
        };
        refused(
            "--name=a --cgroup=x --name=b --cgroup=y",
            1,
            "threads of one process",
        );
        refused("--name=a --cgroup=x --name=b", 1, "threads of one process");
        refused(
            "--name=a --cgroup=x --name=b --cgroup=x --cgroup_weight=200",
            1,
            "threads of one process",
        );
        refused(
            "--name=a --cgroup_weight=200",
            0,
            "cgroup_weight= needs cgroup=",
        );
        refused(
            "--name=a --cgroup_nodelete=1",
            0,
            "cgroup_nodelete= needs cgroup=",
        );
        for name in ["..", "/x", "a/../b"] {
            refused(&format!("--name=a --cgroup={name}"), 0, "expected the name");
        }
        let same = "--name=a --cgroup=x --name=b --cgroup=x";
        assert!(settled(same, &facts_here).unwrap().is_some());
        assert_eq!(settled("--name=a", &facts_here), Ok(None));
        let none = facts(&root, "");
        let (_, text) = settled(same, &none).unwrap_err();
        assert!(text.contains("version 2 are mounted"), "{text}");
        let (_dir, root) = tree("cpu\n");
        let (_, text) = settled(same, &facts(&root, UNIFIED)).unwrap_err();
        assert!(text.contains("no io controller"), "{text}");
    }
}
