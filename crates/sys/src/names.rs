//! Operations on names rather than on open files. Without `unsafe` throughout.

use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

/// An open file that is only held until it is dropped.
#[derive(Debug)]
pub struct Held {
    _fd: OwnedFd,
}

/// Opens `path` for reading and writing and creates it, with mode 0600, if it does not exist.
pub fn create(path: &Path) -> io::Result<Held> {
    let flags = OFlags::CREATE | OFlags::RDWR | OFlags::CLOEXEC;
    let fd = rustix::fs::open(path, flags, Mode::from_raw_mode(0o600))?;
    Ok(Held { _fd: fd })
}

/// `stat`.
pub fn stat(path: &Path) -> io::Result<()> {
    rustix::fs::stat(path)?;
    Ok(())
}

/// `lstat`: does not follow a link in the last place.
pub fn lstat(path: &Path) -> io::Result<()> {
    rustix::fs::lstat(path)?;
    Ok(())
}

/// `statx`, asking for everything.
pub fn statx(path: &Path) -> io::Result<()> {
    rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::ALL)?;
    Ok(())
}

/// `unlink`.
pub fn unlink(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::unlink(path)?)
}

/// `mkdir` with mode 0700.
pub fn make_directory(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::mkdir(path, Mode::from_raw_mode(0o700))?)
}

/// `rmdir`.
pub fn remove_directory(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::rmdir(path)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_and_go() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link, sub) = (
            dir.path().join("f"),
            dir.path().join("l"),
            dir.path().join("d"),
        );
        std::os::unix::fs::symlink(dir.path().join("nowhere"), &link).unwrap();
        drop(create(&file).unwrap());
        std::fs::write(&file, "kept").unwrap();
        drop(create(&file).unwrap());
        assert_eq!(std::fs::read(&file).unwrap(), b"kept");
        for look in [stat, lstat, statx] {
            look(&file).unwrap();
        }
        assert!(lstat(&link).is_ok() && stat(&link).is_err() && statx(&link).is_err());
        unlink(&file).unwrap();
        assert_eq!(stat(&file).unwrap_err().raw_os_error(), Some(libc::ENOENT));
        make_directory(&sub).unwrap();
        let again = make_directory(&sub).unwrap_err();
        assert_eq!(again.raw_os_error(), Some(libc::EEXIST));
        remove_directory(&sub).unwrap();
        assert!(!sub.exists());
    }
}
