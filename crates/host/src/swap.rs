//! Active swap areas (`/proc/swaps`).

use crate::mount::unescape;
use crate::{HostError, Root};
use std::path::PathBuf;

/// One swap area.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swap {
    /// Partition or file.
    pub path: PathBuf,
    /// True for a file on some file system, false for a block device.
    pub is_file: bool,
}

/// The active swap areas; none where the kernel has no swap support.
///
/// # Errors
/// When a line is malformed.
pub fn read(root: &Root) -> Result<Vec<Swap>, HostError> {
    let Ok(text) = root.text("proc/swaps") else {
        return Ok(Vec::new());
    };
    text.lines()
        .skip(1)
        .map(|line| {
            let mut words = line.split_whitespace();
            match (words.next(), words.next()) {
                (Some(path), Some(kind)) => Ok(Swap {
                    path: unescape(path).into(),
                    is_file: kind == "file",
                }),
                _ => Err(HostError::malformed("proc/swaps", line)),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_and_files() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::at(dir.path());
        assert_eq!(read(&root).unwrap(), []);
        std::fs::create_dir(root.path("proc")).unwrap();
        let table = "Filename\t\tType\t\tSize\tUsed\tPriority\n\
                     /dev/sda2                               partition\t524284\t\t0\t\t-2\n\
                     /swap\\040file                          file\t\t1024\t\t0\t\t-3\n";
        std::fs::write(root.path("proc/swaps"), table).unwrap();
        let swaps = read(&root).unwrap();
        assert_eq!(
            swaps[0],
            Swap {
                path: "/dev/sda2".into(),
                is_file: false
            }
        );
        assert_eq!(
            swaps[1],
            Swap {
                path: "/swap file".into(),
                is_file: true
            }
        );
    }
}
