//! The mount table, and which mount a path lies on.
//!
//! Format of `/proc/self/mountinfo`: proc_pid_mountinfo(5).

use crate::{DevId, HostError, Root};
use std::path::{Path, PathBuf};

const MOUNTINFO: &str = "proc/self/mountinfo";

/// One line of `mountinfo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Device number that `stat` reports for files of the file system (btrfs: of its superblock).
    pub dev: DevId,
    /// Directory of the file system that is mounted here.
    pub fs_root: PathBuf,
    /// Where it is mounted.
    pub mount_point: PathBuf,
    /// File system type, such as `ext4`.
    pub fs_type: String,
    /// What is mounted: a device path, or a word of the file system.
    pub source: String,
    /// True when this mount or its file system refuses writes.
    pub read_only: bool,
    /// Options of the mount, then those of its file system; each once.
    pub options: Vec<String>,
}

/// All mounts, in mount order.
#[derive(Clone, Debug, Default)]
pub struct Mounts(Vec<Mount>);

impl Mounts {
    /// Reads the mount table of this process.
    ///
    /// # Errors
    /// When it cannot be read or a line is malformed.
    pub fn read(root: &Root) -> Result<Mounts, HostError> {
        Mounts::parse(&root.text(MOUNTINFO)?)
    }

    /// Parses the text of a `mountinfo` file.
    ///
    /// # Errors
    /// When a line is malformed.
    pub fn parse(text: &str) -> Result<Mounts, HostError> {
        text.lines()
            .map(|line| line_of(line).ok_or_else(|| HostError::malformed(MOUNTINFO, line)))
            .collect::<Result<_, _>>()
            .map(Mounts)
    }

    /// The mounts, in mount order.
    pub fn iter(&self) -> impl Iterator<Item = &Mount> {
        self.0.iter()
    }

    /// Mounts of the block device `dev`.
    pub fn of_device(&self, dev: DevId) -> impl Iterator<Item = &Mount> {
        self.0.iter().filter(move |mount| mount.dev == dev)
    }

    /// The mount that `path` lies on. `path` must be absolute and free of links and dots; of
    /// several mounts at one place the last covers the others.
    pub fn of_path(&self, path: &Path) -> Option<&Mount> {
        // Of two mount points above one path the deeper has the longer name.
        let depth = |mount: &Mount| mount.mount_point.as_os_str().len();
        let mut found: Option<&Mount> = None;
        for mount in self
            .0
            .iter()
            .filter(|mount| path.starts_with(&mount.mount_point))
        {
            if found.is_none_or(|best| depth(mount) >= depth(best)) {
                found = Some(mount);
            }
        }
        found
    }
}

/// A mount that only processes of another namespace see.
#[derive(Clone, Debug)]
pub struct Elsewhere {
    /// The mount.
    pub mount: Mount,
    /// A process that sees it.
    pub pid: u32,
    /// That process's name.
    pub command: String,
}

/// The deepest mount point of the table of mounts to make (`fstab`) that lies above `path`, when
/// something else is mounted there, or nothing. `path` as for [`Mounts::of_path`].
pub fn not_mounted(root: &Root, mounts: &Mounts, path: &Path) -> Option<PathBuf> {
    let table = root.text("etc/fstab").ok()?;
    let lines = table
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'));
    let places = lines.filter_map(|line| line.split_whitespace().nth(1));
    let meant = places
        .map(|place| PathBuf::from(unescape(place)))
        .filter(|place| place.is_absolute() && path.starts_with(place))
        .max_by_key(|place| place.as_os_str().len())?;
    let real = mounts.of_path(path)?;
    (!real.mount_point.starts_with(&meant)).then_some(meant)
}

/// Mounts of all other mount namespaces, as far as their processes may be looked at. Mounts that
/// this namespace has too (same device, same place) are left out.
pub fn elsewhere(root: &Root, own: &Mounts) -> Vec<Elsewhere> {
    let namespace = |pid: &str| std::fs::read_link(root.path(format!("proc/{pid}/ns/mnt"))).ok();
    let mut seen: Vec<PathBuf> = namespace("self").into_iter().collect();
    let mut found: Vec<Elsewhere> = Vec::new();
    for name in root.names("proc") {
        let Ok(pid) = name.parse::<u32>() else {
            continue;
        };
        let Some(its) = namespace(&name).filter(|its| !seen.contains(its)) else {
            continue;
        };
        seen.push(its);
        let text = root
            .text(format!("proc/{name}/mountinfo"))
            .unwrap_or_default();
        // A process may end, and its table with it, while we look.
        let mounts = Mounts::parse(&text).unwrap_or_default();
        let command = root.text(format!("proc/{name}/comm")).unwrap_or_default();
        for mount in mounts.0 {
            let same =
                |known: &Mount| known.dev == mount.dev && known.mount_point == mount.mount_point;
            if own.iter().all(|known| !same(known)) && found.iter().all(|known| !same(&known.mount))
            {
                found.push(Elsewhere {
                    mount,
                    pid,
                    command: command.trim().to_owned(),
                });
            }
        }
    }
    found
}

fn line_of(line: &str) -> Option<Mount> {
    let (before, after) = line.split_once(" - ")?;
    let mut words = before.split(' ').skip(2);
    let dev = words.next()?.parse().ok()?;
    let fs_root = unescape(words.next()?).into();
    let mount_point = unescape(words.next()?).into();
    let options = words.next()?;
    let mut words = after.split(' ');
    let fs_type = unescape(words.next()?);
    let source = unescape(words.next()?);
    let super_options = words.next().unwrap_or("");
    let mut all: Vec<String> = Vec::new();
    for option in options.split(',').chain(super_options.split(',')) {
        let option = unescape(option);
        if !option.is_empty() && !all.contains(&option) {
            all.push(option);
        }
    }
    let read_only = all.iter().any(|option| option == "ro");
    Some(Mount {
        dev,
        fs_root,
        mount_point,
        fs_type,
        source,
        read_only,
        options: all,
    })
}

/// Undoes the kernel's `\040` escapes (blank, tab, newline, backslash). Escapes are of single
/// ASCII bytes, so the rest of the text may be taken as it is.
pub(crate) fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let code = rest
            .get(1..4)
            .and_then(|octal| u8::from_str_radix(octal, 8).ok());
        match code.filter(u8::is_ascii) {
            Some(byte) => {
                out.push(char::from(byte));
                rest = &rest[4..];
            }
            None => {
                out.push('\\');
                rest = &rest[1..];
            }
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_fstab_where_nothing_is_mounted() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::at(dir.path());
        let path = root.path("etc/fstab");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let table = "# comment /data2 x\nUUID=1 / ext4 defaults 0 1\n/dev/sdb1 /data xfs noauto 0 0\n\
                     /dev/sdc1 /my\\040disk ext4 defaults\nnone none swap sw\n";
        std::fs::write(path, table).unwrap();
        let mounts = |more: &str| {
            let text = format!("1 0 8:1 / / rw - ext4 /dev/sda1 rw\n{more}");
            Mounts::parse(&text).unwrap()
        };
        let at = |mounts: &Mounts, path: &str| not_mounted(&root, mounts, Path::new(path));
        let bare = mounts("");
        assert_eq!(at(&bare, "/data/f"), Some("/data".into()));
        assert_eq!(at(&bare, "/my disk/f"), Some("/my disk".into()));
        assert_eq!(at(&bare, "/data2/f"), None);
        assert_eq!(at(&bare, "/srv/f"), None);
        let mounted = mounts("2 1 8:17 / /data rw - xfs /dev/sdb1 rw\n");
        assert_eq!(at(&mounted, "/data/f"), None);
    }
    use proptest::prelude::*;

    const TABLE: &str = "\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
30 27 7:1 / /mnt/with\\040blank ro,nosuid shared:7 master:2 - ext4 /dev/loop1 rw
31 27 0:30 /sub /mnt rw - btrfs /dev/sdb1 ro,space_cache
32 27 8:1 / /mnt rw - xfs /dev/sda1 rw
";

    #[test]
    fn reads_every_field() {
        let mounts = Mounts::parse(TABLE).unwrap();
        let loop1 = mounts
            .of_device(DevId { major: 7, minor: 1 })
            .next()
            .unwrap();
        assert_eq!(loop1.mount_point, Path::new("/mnt/with blank"));
        assert_eq!(
            (loop1.fs_type.as_str(), loop1.source.as_str()),
            ("ext4", "/dev/loop1")
        );
        let read_only: Vec<bool> = mounts.iter().map(|m| m.read_only).collect();
        assert_eq!(read_only, [false, true, true, false]);
        let btrfs = mounts.iter().nth(2).unwrap();
        assert_eq!(btrfs.fs_root, Path::new("/sub"));
        assert_eq!(btrfs.options, ["rw", "ro", "space_cache"]);
    }

    #[test]
    fn deepest_and_last_mount_wins() {
        let mounts = Mounts::parse(TABLE).unwrap();
        let of = |path: &str| mounts.of_path(Path::new(path)).unwrap().fs_type.clone();
        assert_eq!(of("/mnt/file"), "xfs");
        assert_eq!(of("/mntx/file"), "ext4");
        assert_eq!(of("/mnt/with blank/f"), "ext4");
    }

    #[test]
    fn other_namespaces_are_read_once_each() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::at(dir.path());
        let process = |pid: &str, namespace: &str, table: &str| {
            std::fs::create_dir_all(root.path(format!("proc/{pid}/ns"))).unwrap();
            let link = root.path(format!("proc/{pid}/ns/mnt"));
            std::os::unix::fs::symlink(namespace, link).unwrap();
            std::fs::write(root.path(format!("proc/{pid}/mountinfo")), table).unwrap();
            std::fs::write(root.path(format!("proc/{pid}/comm")), "postgres\n").unwrap();
        };
        process("self", "mnt:[1]", TABLE);
        process("7", "mnt:[1]", TABLE);
        let theirs = "40 1 8:1 / /mnt rw - xfs /dev/sda1 rw\n41 1 8:2 / /data rw - xfs x rw\n";
        process("12", "mnt:[2]", theirs);
        process("13", "mnt:[2]", theirs);
        let own = Mounts::read(&root).unwrap();
        let found = elsewhere(&root, &own);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].mount.mount_point, Path::new("/data"));
        assert_eq!((found[0].pid, found[0].command.as_str()), (12, "postgres"));
    }

    #[test]
    fn a_short_line_is_named() {
        let error = Mounts::parse("27 1 254:0 / / rw\n")
            .unwrap_err()
            .to_string();
        assert!(error.contains("254:0 / / rw"), "{error}");
    }

    proptest! {
        #[test]
        fn unescape_undoes_the_kernels_escape(text in "[ -~\t\n]{0,40}") {
            let escaped: String = text.chars().map(|c| match c {
                ' ' | '\t' | '\n' | '\\' => format!("\\{:03o}", c as u32),
                c => c.to_string(),
            }).collect();
            prop_assert_eq!(unescape(&escaped), text);
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,80}") {
            let _ = Mounts::parse(&text);
            unescape(&text);
        }
    }
}
