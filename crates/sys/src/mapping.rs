//! A file mapped into memory, or new memory, copied to and from.
//!
//! Invariant: a [`Mapping`] owns `base .. base + len`, private new memory or a shared mapping of
//! a file that was at least `len` bytes long when it was mapped. No reference to the mapped bytes
//! is ever made, since other processes may change them; data is copied through raw pointers within
//! checked bounds. If somebody shortens the file meanwhile, touching the lost part raises `SIGBUS`,
//! which ends the process but is not undefined behaviour.

use crate::file::File;
use rustix::mm::{Advice, MapFlags, MsyncFlags, ProtFlags};
use std::io;
use std::ptr::NonNull;

/// How a file is mapped.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// Copying to the file is wanted; the file must be open for reading and writing.
    pub write: bool,
    /// Tell the kernel to expect random rather than ascending offsets.
    pub random: bool,
    /// Ask for transparent huge pages.
    pub huge: bool,
}

/// See the module.
#[derive(Debug)]
pub struct Mapping {
    base: NonNull<u8>,
    len: usize,
    writable: bool,
}

// SAFETY: the mapping is owned, and nothing in it is tied to a thread.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps all of `file`. `EINVAL` for an empty file, `EACCES` for one that is not open as
    /// `access` needs, `ENODEV` if it cannot be mapped.
    pub fn new(file: &File, access: Access) -> io::Result<Mapping> {
        let invalid = || io::Error::from(rustix::io::Errno::INVAL);
        let len = usize::try_from(file.size()?).map_err(|_| invalid())?;
        if len == 0 || isize::try_from(len).is_err() {
            return Err(invalid());
        }
        let mut protection = ProtFlags::READ;
        protection.set(ProtFlags::WRITE, access.write);
        let flags = MapFlags::SHARED;
        // SAFETY: a new mapping at an address of the kernel's choice; the file has `len` bytes.
        let at =
            unsafe { rustix::mm::mmap(std::ptr::null_mut(), len, protection, flags, file, 0)? };
        let base = NonNull::new(at.cast()).expect("the kernel never maps page zero unasked");
        let mapping = Mapping {
            base,
            len,
            writable: access.write,
        };
        let order = if access.random {
            Advice::Random
        } else {
            Advice::Sequential
        };
        mapping.advise(0, len, order)?;
        if access.huge {
            mapping.advise(0, len, Advice::LinuxHugepage)?;
        }
        Ok(mapping)
    }

    /// Maps `bytes` of new memory that reads as zeroes; its pages come with the first touch.
    /// `EINVAL` for no bytes.
    pub fn anonymous(bytes: u64) -> io::Result<Mapping> {
        let invalid = || io::Error::from(rustix::io::Errno::INVAL);
        let len = usize::try_from(bytes).map_err(|_| invalid())?;
        if len == 0 || isize::try_from(len).is_err() {
            return Err(invalid());
        }
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::PRIVATE;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let at =
            unsafe { rustix::mm::mmap_anonymous(std::ptr::null_mut(), len, protection, flags)? };
        Ok(Mapping {
            base: NonNull::new(at.cast()).expect("the kernel never maps page zero unasked"),
            len,
            writable: true,
        })
    }

    /// Bytes mapped.
    pub fn bytes(&self) -> usize {
        self.len
    }

    /// Copies from the file at `offset`; returns how many bytes there were, 0 at the end.
    #[inline]
    pub fn read(&self, offset: u64, into: &mut [u8]) -> usize {
        let (at, len) = self.clip(offset, into.len());
        // SAFETY: at + len <= self.len; `into` is ours and cannot overlap a mapping that no
        // reference was ever made to.
        unsafe {
            std::ptr::copy_nonoverlapping(self.base.as_ptr().add(at), into.as_mut_ptr(), len)
        };
        len
    }

    /// Copies to the file at `offset`; returns how many bytes fitted, 0 beyond the end. Panics if
    /// the mapping was not made for writing.
    #[inline]
    pub fn write(&self, offset: u64, from: &[u8]) -> usize {
        assert!(self.writable, "the mapping is read-only");
        let (at, len) = self.clip(offset, from.len());
        // SAFETY: as in `read`, and the pages are writable.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), self.base.as_ptr().add(at), len) };
        len
    }

    /// Writes the range's dirty pages back and waits (`msync`); clipped to the mapping.
    pub fn flush(&self, offset: u64, len: u64) -> io::Result<()> {
        let (at, len) = self.pages(offset, len);
        // SAFETY: the range is inside the mapping; msync changes no memory.
        unsafe { rustix::mm::msync(self.base.as_ptr().add(at).cast(), len, MsyncFlags::SYNC)? };
        Ok(())
    }

    /// Drops the range's pages from this mapping; clipped to it.
    pub fn forget(&self, offset: u64, len: u64) -> io::Result<()> {
        let (at, len) = self.pages(offset, len);
        // For a shared file mapping this drops page table entries; the data stays in the file.
        self.advise(at, len, Advice::LinuxDontNeed)
    }

    fn advise(&self, at: usize, len: usize, advice: Advice) -> io::Result<()> {
        // SAFETY: the range is inside the mapping, and none of the advice given here changes what
        // a shared file mapping reads as.
        unsafe { rustix::mm::madvise(self.base.as_ptr().add(at).cast(), len, advice)? };
        Ok(())
    }

    /// The part of `offset .. offset + len` that is inside the mapping.
    #[inline]
    fn clip(&self, offset: u64, len: usize) -> (usize, usize) {
        let at = usize::try_from(offset).unwrap_or(usize::MAX).min(self.len);
        (at, len.min(self.len - at))
    }

    /// As `clip`, with the start moved down to a page.
    fn pages(&self, offset: u64, len: u64) -> (usize, usize) {
        let (at, len) = self.clip(offset, usize::try_from(len).unwrap_or(usize::MAX));
        let start = at & !(rustix::param::page_size() - 1);
        (start, at + len - start)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and no reference to it exists.
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::Open;

    #[test]
    fn copies_are_clipped_to_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, vec![1u8; 6000]).unwrap();
        let how = Open {
            read: true,
            write: true,
            ..Open::default()
        };
        let file = File::open(&path, how).unwrap();
        let access = Access {
            write: true,
            random: true,
            huge: false,
        };
        let mapping = Mapping::new(&file, access).unwrap();
        assert_eq!(mapping.bytes(), 6000);
        let mut buffer = [0u8; 4096];
        assert_eq!(mapping.write(4096, &[9; 4096]), 1904);
        assert_eq!(mapping.read(4000, &mut buffer), 2000);
        assert_eq!((buffer[95], buffer[96], buffer[2000]), (1, 9, 0));
        assert_eq!(mapping.read(6000, &mut buffer), 0);
        assert_eq!(mapping.read(u64::MAX, &mut buffer), 0);
        mapping.flush(100, 10).unwrap();
        mapping.flush(0, u64::MAX).unwrap();
        mapping.forget(0, u64::MAX).unwrap();
        assert_eq!(mapping.read(5999, &mut buffer), 1);
        assert_eq!(buffer[0], 9);
        drop(mapping);
        assert_eq!(std::fs::read(&path).unwrap()[4096..], [9; 1904]);
    }

    #[test]
    fn empty_and_unsuitable_files_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, b"").unwrap();
        let file = File::open(
            &path,
            Open {
                read: true,
                ..Open::default()
            },
        )
        .unwrap();
        let mut access = Access {
            write: false,
            random: false,
            huge: false,
        };
        let errno = |access| Mapping::new(&file, access).unwrap_err().raw_os_error();
        assert_eq!(errno(access), Some(libc::EINVAL));
        std::fs::write(&path, b"x").unwrap();
        access.write = true;
        assert_eq!(errno(access), Some(libc::EACCES));
    }
}
