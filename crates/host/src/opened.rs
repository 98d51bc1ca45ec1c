//! Who has a block device open for writing: machines and data bases work on disks that nothing is
//! mounted from.

use crate::{DevId, Root};
use std::os::unix::fs::{FileTypeExt, MetadataExt};

/// A process that has a device open for writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Writer {
    /// Its number.
    pub pid: u32,
    /// Its name.
    pub command: String,
}

/// Other processes that have one of `devices` open for writing, as far as they may be looked at.
pub fn writers(root: &Root, devices: &[DevId]) -> Vec<Writer> {
    let own = std::process::id();
    let mut found = Vec::new();
    for name in root.names("proc") {
        let Some(pid) = name.parse().ok().filter(|pid| *pid != own) else {
            continue;
        };
        let writes = |fd: &String| {
            let path = root.path(format!("proc/{name}/fd/{fd}"));
            // Most descriptors lead elsewhere, and a link is cheaper to read than to follow.
            let to_device = std::fs::read_link(&path).is_ok_and(|to| to.is_absolute());
            to_device && is_one_of(&path, devices) && is_writable(root, &name, fd)
        };
        if root.names(format!("proc/{name}/fd")).iter().any(writes) {
            let command = root.text(format!("proc/{name}/comm")).unwrap_or_default();
            let command = command.trim().to_owned();
            found.push(Writer { pid, command });
        }
    }
    found
}

fn is_one_of(path: &std::path::Path, devices: &[DevId]) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| {
        let number = DevId::from_raw(meta.rdev());
        meta.file_type().is_block_device() && devices.contains(&number)
    })
}

/// The flags of a descriptor stand there in octal digits, the way of access in the last two bits.
fn is_writable(root: &Root, pid: &str, fd: &str) -> bool {
    let text = root.text(format!("proc/{pid}/fdinfo/{fd}"));
    let text = text.unwrap_or_default();
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|octal| u32::from_str_radix(octal.trim(), 8).ok());
    flags.is_some_and(|flags| flags & 3 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn descriptors_that_lead_to_other_places_do_not_count() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::at(dir.path());
        for (part, text) in [("fdinfo", "pos:\t0\nflags:\t0100002\n"), ("fd", "")] {
            std::fs::create_dir_all(root.path("proc/7").join(part)).unwrap();
            if !text.is_empty() {
                std::fs::write(root.path("proc/7/fdinfo/3"), text).unwrap();
            }
        }
        symlink("/dev/null", root.path("proc/7/fd/3")).unwrap();
        let number = |major, minor| DevId { major, minor };
        // A character device of the same number is another device.
        assert_eq!(writers(&root, &[number(1, 3)]), []);
        assert!(is_writable(&root, "7", "3"));
        std::fs::write(root.path("proc/7/fdinfo/3"), "flags:\t0100000\n").unwrap();
        assert!(!is_writable(&root, "7", "3"));
        assert!(!is_writable(&root, "7", "4"));
    }
}
