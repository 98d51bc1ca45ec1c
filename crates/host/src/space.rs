//! Room on file systems.

use std::io;
use std::path::Path;

/// Room on one file system, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// Size of the file system.
    pub total_bytes: u64,
    /// What this user may still write; less than what is free where blocks are reserved.
    pub available_bytes: u64,
    /// Mounted read-only.
    pub read_only: bool,
    /// Block.
    pub block_bytes: u64,
}

/// Room on the file system that `path` (which must exist) lies on.
///
/// # Errors
/// What `statvfs` said.
pub fn of(path: &Path) -> io::Result<Space> {
    let vfs = rustix::fs::statvfs(path)?;
    Ok(Space {
        total_bytes: vfs.f_blocks.saturating_mul(vfs.f_frsize),
        available_bytes: vfs.f_bavail.saturating_mul(vfs.f_frsize),
        read_only: vfs.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY),
        block_bytes: vfs.f_frsize,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_live_file_system_has_a_size() {
        let dir = tempfile::tempdir().unwrap();
        let space = of(dir.path()).unwrap();
        assert!(space.total_bytes >= space.available_bytes);
        assert!(space.total_bytes > 0 && !space.read_only);
        assert!(of(&dir.path().join("missing")).is_err());
    }
}
