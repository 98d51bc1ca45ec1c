//! What the control groups of this process allow it: memory and CPU time, versions 1 and 2.
//!
//! A limit is the tightest of the process's own group and those above it. Where a container has
//! its group mounted as the root of the tree, the path in `/proc/self/cgroup` may not exist; then
//! the root of the tree is looked at alone.

use crate::Root;

/// The tightest limits; `None` where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// `memory.max` in bytes.
    pub memory_bytes: Option<u64>,
    /// How much of `memory_bytes` the group with the least room may still take.
    pub memory_left_bytes: Option<u64>,
    /// `cpu.max` as a number of CPUs, such as 1.5.
    pub cpus: Option<f64>,
    /// Periods in which the group has been held back so far (`nr_throttled`).
    pub throttled: Option<u64>,
}

impl Limits {
    /// Reads the limits; what cannot be read limits nothing.
    pub fn read(root: &Root) -> Limits {
        let text = root.text("proc/self/cgroup").unwrap_or_default();
        let mut limits = Limits::default();
        for line in text.lines() {
            let mut parts = line.splitn(3, ':');
            let (Some(_), Some(controllers), Some(path)) =
                (parts.next(), parts.next(), parts.next())
            else {
                continue;
            };
            if controllers.is_empty() {
                for base in ["sys/fs/cgroup", "sys/fs/cgroup/unified"] {
                    if root.path(base).join("cgroup.controllers").exists() {
                        walk(root, base, path, |dir| limits.unified(root, dir));
                    }
                }
            }
            for controller in controllers.split(',') {
                let base = format!("sys/fs/cgroup/{controllers}");
                let base = match root.path(&base).exists() {
                    true => base,
                    false => format!("sys/fs/cgroup/{controller}"),
                };
                match controller {
                    "memory" => walk(root, &base, path, |dir| limits.old_memory(root, dir)),
                    "cpu" => walk(root, &base, path, |dir| limits.old_cpu(root, dir)),
                    _ => {}
                }
            }
        }
        limits
    }

    fn unified(&mut self, root: &Root, dir: &str) {
        let number = |name: &str| number(root, dir, name);
        if let (Some(most), Some(used)) = (number("memory.max"), number("memory.current")) {
            self.memory(
                most,
                used.saturating_sub(reclaimable(root, dir, "inactive_file")),
            );
        }
        let text = root.text(format!("{dir}/cpu.max")).unwrap_or_default();
        let mut words = text.split_whitespace().map(str::parse::<f64>);
        if let (Some(Ok(quota)), Some(Ok(period))) = (words.next(), words.next()) {
            self.time(root, dir, quota / period);
        }
    }

    fn old_memory(&mut self, root: &Root, dir: &str) {
        let number = |name: &str| number(root, dir, name);
        let most = number("memory.limit_in_bytes");
        // Without a limit the file holds the largest multiple of a page.
        if let (Some(most), Some(used)) = (
            most.filter(|&most| most < 1 << 62),
            number("memory.usage_in_bytes"),
        ) {
            let files = reclaimable(root, dir, "total_inactive_file");
            self.memory(most, used.saturating_sub(files));
        }
    }

    fn old_cpu(&mut self, root: &Root, dir: &str) {
        let quota = number(root, dir, "cpu.cfs_quota_us");
        let period = number(root, dir, "cpu.cfs_period_us");
        if let (Some(quota), Some(period)) = (quota, period) {
            self.time(root, dir, quota as f64 / period as f64);
        }
    }

    fn memory(&mut self, most: u64, used: u64) {
        let left = most.saturating_sub(used);
        self.memory_bytes = Some(self.memory_bytes.map_or(most, |other| other.min(most)));
        self.memory_left_bytes = Some(self.memory_left_bytes.map_or(left, |other| other.min(left)));
    }

    fn time(&mut self, root: &Root, dir: &str, cpus: f64) {
        if self.cpus.is_none_or(|other| cpus < other) {
            self.cpus = Some(cpus);
            self.throttled = value(root, dir, "cpu.stat", "nr_throttled");
        }
    }
}

/// Calls `look` for the group at `path` and each one above it.
fn walk(root: &Root, base: &str, path: &str, mut look: impl FnMut(&str)) {
    let mut path = path.trim_matches('/');
    if !root.path(base).join(path).is_dir() || path.starts_with("..") {
        path = "";
    }
    while !path.is_empty() {
        look(&format!("{base}/{path}"));
        path = path.rsplit_once('/').map_or("", |(above, _)| above);
    }
    look(base);
}

/// A file with one number; `None` for `max`, `-1` or no file.
fn number(root: &Root, dir: &str, name: &str) -> Option<u64> {
    let text = root.text(format!("{dir}/{name}")).ok()?;
    text.trim().parse().ok()
}

/// One line of a file of `name value` lines.
fn value(root: &Root, dir: &str, file: &str, name: &str) -> Option<u64> {
    let text = root.text(format!("{dir}/{file}")).ok()?;
    text.lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
}

/// File pages that the kernel drops before it refuses memory.
fn reclaimable(root: &Root, dir: &str, name: &str) -> u64 {
    value(root, dir, "memory.stat", name).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::at(dir.path());
        for (path, text) in files {
            let at = root.path(path);
            std::fs::create_dir_all(at.parent().unwrap()).unwrap();
            std::fs::write(at, text).unwrap();
        }
        (dir, root)
    }

    #[test]
    fn the_tightest_group_above_counts() {
        let (_dir, root) = tree(&[
            ("proc/self/cgroup", "0::/a/b\n"),
            ("sys/fs/cgroup/cgroup.controllers", "cpu memory\n"),
            ("sys/fs/cgroup/a/memory.max", "1000\n"),
            ("sys/fs/cgroup/a/memory.current", "900\n"),
            ("sys/fs/cgroup/a/memory.stat", "anon 5\ninactive_file 300\n"),
            ("sys/fs/cgroup/a/b/memory.max", "800\n"),
            ("sys/fs/cgroup/a/b/memory.current", "100\n"),
            ("sys/fs/cgroup/a/b/cpu.max", "150000 100000\n"),
            (
                "sys/fs/cgroup/a/b/cpu.stat",
                "nr_periods 9\nnr_throttled 4\n",
            ),
            ("sys/fs/cgroup/a/cpu.max", "max 100000\n"),
        ]);
        let limits = Limits::read(&root);
        let want = Limits {
            memory_bytes: Some(800),
            memory_left_bytes: Some(400),
            cpus: Some(1.5),
            throttled: Some(4),
        };
        assert_eq!(limits, want);
    }

    #[test]
    fn version_one_has_its_own_names() {
        let (_dir, root) = tree(&[
            ("proc/self/cgroup", "4:memory:/x\n1:cpu,cpuacct:/x\n0::/\n"),
            ("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "4096\n"),
            ("sys/fs/cgroup/memory/x/memory.usage_in_bytes", "96\n"),
            (
                "sys/fs/cgroup/memory/memory.limit_in_bytes",
                "9223372036854771712\n",
            ),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "1\n"),
            ("sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "50000\n"),
            ("sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n"),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
        ]);
        let limits = Limits::read(&root);
        assert_eq!(limits.memory_bytes, Some(4096));
        assert_eq!(limits.memory_left_bytes, Some(4000));
        assert_eq!((limits.cpus, limits.throttled), (Some(0.5), None));
    }

    #[test]
    fn a_container_sees_its_group_as_the_root() {
        let (_dir, root) = tree(&[
            ("proc/self/cgroup", "0::/system.slice/docker-77.scope\n"),
            ("sys/fs/cgroup/cgroup.controllers", "memory\n"),
            ("sys/fs/cgroup/memory.max", "5000\n"),
            ("sys/fs/cgroup/memory.current", "0\n"),
        ]);
        assert_eq!(Limits::read(&root).memory_left_bytes, Some(5000));
        let (_dir, root) = tree(&[]);
        assert_eq!(Limits::read(&root), Limits::default());
    }
}
