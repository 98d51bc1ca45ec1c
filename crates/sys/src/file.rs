//! Files and block devices: opening, facts, allocation, caching, flushing, trimming.
//!
//! Invariant of the unsafe blocks: each ioctl gets a pointer to a local value of the size its
//! number encodes; the descriptor is owned by the [`File`].

use rustix::fs::{Advice, FallocateFlags, FileType, Mode, OFlags, StatxFlags};
use rustix::io::{Errno, ReadWriteFlags};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

/// `BLKGETSIZE64`, `BLKDISCARD`, `BLKFLSBUF`, `F_SET_RW_HINT`, `F_SET_FILE_RW_HINT`: the kernel's
/// numbers, which libc does not name.
const BLKGETSIZE64: libc::c_ulong = 0x8008_1272;
const BLKDISCARD: libc::c_ulong = 0x1277;
const BLKFLSBUF: libc::c_ulong = 0x1261;
const F_SET_RW_HINT: libc::c_int = 1024 + 12;
const F_SET_FILE_RW_HINT: libc::c_int = 1024 + 14;

/// Which writes reach stable storage before they return.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// None; flush explicitly.
    #[default]
    Lazy,
    /// `O_DSYNC`: the data.
    Data,
    /// `O_SYNC`: data and metadata.
    Full,
}

/// How to open a [`File`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Open {
    /// Open for reading.
    pub read: bool,
    /// Open for writing.
    pub write: bool,
    /// Make the file (mode 0644) if it does not exist.
    pub create: bool,
    /// Cut an existing file to nothing.
    pub truncate: bool,
    /// Fail with `EEXIST` if the file exists.
    pub exclusive: bool,
    /// Bypass the page cache.
    pub direct: bool,
    /// Durability of each write.
    pub durability: Durability,
    /// Leave the access time alone where permitted.
    pub no_access_time: bool,
}

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An ordinary file.
    Regular,
    /// A block device.
    Block,
    /// A character device.
    Character,
    /// A pipe or socket: no offsets.
    Pipe,
    /// Anything else, such as a directory.
    Other,
}

/// What direct I/O asks of addresses, offsets and lengths, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectLimits {
    /// Buffer addresses are multiples of this.
    pub memory_align: u32,
    /// Offsets and lengths are multiples of this.
    pub offset_align: u32,
}

/// How space is reserved before a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// `fallocate`: reserve blocks and set the size. `EOPNOTSUPP` where the file system cannot.
    Native,
    /// As `Native`, but write zeroes where the file system cannot.
    Posix,
    /// Reserve blocks beyond the end without changing the size.
    KeepSize,
    /// Only set the size.
    Truncate,
}

/// Expected access, for `posix_fadvise`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// Random offsets.
    Random,
    /// Ascending offsets.
    Sequential,
    /// Each byte once.
    NoReuse,
    /// Drop cached pages of the range.
    DontNeed,
}

/// An open file or device. Closed on drop.
#[derive(Debug)]
pub struct File {
    fd: OwnedFd,
    path: PathBuf,
    kind: Kind,
}

impl AsFd for File {
    #[inline]
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl File {
    /// Opens `path`. The error is the kernel's: `EINVAL` with [`Open::direct`] means that the
    /// file system has no direct I/O.
    pub fn open(path: &Path, how: Open) -> io::Result<File> {
        let mut flags = OFlags::CLOEXEC
            | match (how.read, how.write) {
                (_, false) => OFlags::RDONLY,
                (false, true) => OFlags::WRONLY,
                (true, true) => OFlags::RDWR,
            };
        flags.set(OFlags::CREATE, how.create);
        flags.set(OFlags::TRUNC, how.truncate);
        flags.set(OFlags::EXCL, how.exclusive);
        flags.set(OFlags::DIRECT, how.direct);
        match how.durability {
            Durability::Lazy => {}
            Durability::Data => flags |= OFlags::DSYNC,
            Durability::Full => flags |= OFlags::SYNC,
        }
        let mode = Mode::from_raw_mode(0o644);
        let wanted = if how.no_access_time {
            flags | OFlags::NOATIME
        } else {
            flags
        };
        let fd = match rustix::fs::open(path, wanted, mode) {
            // Only the owner may suppress access times; the rest does without.
            Err(Errno::PERM) if how.no_access_time => rustix::fs::open(path, flags, mode)?,
            other => other?,
        };
        let kind = kind_of(rustix::fs::fstat(&fd)?.st_mode);
        Ok(File {
            fd,
            path: path.to_owned(),
            kind,
        })
    }

    /// The same file, opened as this one was, with a position of its own where it has one.
    pub fn again(&self) -> io::Result<File> {
        let fd = match self.kind {
            Kind::Regular | Kind::Block => {
                let flags = rustix::fs::fcntl_getfl(&self.fd)? | OFlags::CLOEXEC;
                let link = format!("/proc/self/fd/{}", self.fd.as_raw_fd());
                rustix::fs::open(link, flags, Mode::empty())?
            }
            _ => self.fd.try_clone()?,
        };
        Ok(File {
            fd,
            path: self.path.clone(),
            kind: self.kind,
        })
    }

    /// Where the file was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Size in bytes: of the file, or of the block device.
    pub fn size(&self) -> io::Result<u64> {
        if self.kind == Kind::Block {
            let mut bytes = 0u64;
            // SAFETY: BLKGETSIZE64 writes one u64.
            let rc = unsafe { libc::ioctl(self.fd.as_raw_fd(), BLKGETSIZE64 as _, &mut bytes) };
            return if rc < 0 {
                Err(io::Error::last_os_error())
            } else {
                Ok(bytes)
            };
        }
        // st_size is never negative.
        Ok(rustix::fs::fstat(&self.fd)?.st_size as u64)
    }

    /// What direct I/O wants here: from `statx` (Linux 6.1 and later), else the logical block
    /// size of a device. `None` if the kernel does not say.
    pub fn direct_limits(&self) -> Option<DirectLimits> {
        let flags = rustix::fs::AtFlags::EMPTY_PATH;
        if let Ok(stat) = rustix::fs::statx(&self.fd, c"", flags, StatxFlags::DIOALIGN)
            && stat.stx_mask & StatxFlags::DIOALIGN.bits() != 0
            && stat.stx_dio_offset_align != 0
        {
            return Some(DirectLimits {
                memory_align: stat.stx_dio_mem_align,
                offset_align: stat.stx_dio_offset_align,
            });
        }
        let block = self.logical_block_bytes()?;
        Some(DirectLimits {
            memory_align: block,
            offset_align: block,
        })
    }

    /// Smallest and largest write that the device can make atomic, bytes; `None` where it or the
    /// kernel cannot.
    pub fn atomic_limits(&self) -> Option<(u32, u32)> {
        // Linux's `struct statx` is 256 bytes long; libraries do not know these fields yet.
        const STATX_WRITE_ATOMIC: u32 = 0x1_0000;
        const UNIT_MIN_AT: usize = 0xa8;
        let mut stat = [0u32; 64];
        // SAFETY: the path is an empty C string and the buffer is as large as the kernel's
        // struct, which holds plain numbers only.
        let rc = unsafe {
            libc::syscall(
                libc::SYS_statx,
                self.fd.as_raw_fd(),
                c"".as_ptr(),
                libc::AT_EMPTY_PATH,
                STATX_WRITE_ATOMIC,
                stat.as_mut_ptr(),
            )
        };
        let (min, max) = (stat[UNIT_MIN_AT / 4], stat[UNIT_MIN_AT / 4 + 1]);
        (rc == 0 && stat[0] & STATX_WRITE_ATOMIC != 0 && max > 0).then_some((min, max))
    }

    /// Logical block size of a block device; `None` for anything else.
    pub fn logical_block_bytes(&self) -> Option<u32> {
        if self.kind != Kind::Block {
            return None;
        }
        rustix::fs::ioctl_blksszget(&self.fd).ok()
    }

    /// Sets the size of a regular file.
    pub fn set_size(&self, bytes: u64) -> io::Result<()> {
        Ok(rustix::fs::ftruncate(&self.fd, bytes)?)
    }

    /// Reserves `len` bytes from `offset`.
    pub fn allocate(&self, how: Allocation, offset: u64, len: u64) -> io::Result<()> {
        match how {
            Allocation::Native => Ok(rustix::fs::fallocate(
                &self.fd,
                FallocateFlags::empty(),
                offset,
                len,
            )?),
            Allocation::KeepSize => Ok(rustix::fs::fallocate(
                &self.fd,
                FallocateFlags::KEEP_SIZE,
                offset,
                len,
            )?),
            Allocation::Truncate => self.set_size(offset + len),
            Allocation::Posix => {
                let signed = |value: u64| i64::try_from(value).map_err(|_| Errno::INVAL);
                let (offset, len) = (signed(offset)?, signed(len)?);
                // SAFETY: integers only, on a descriptor that `self` owns.
                let errno = unsafe { libc::posix_fallocate(self.fd.as_raw_fd(), offset, len) };
                if errno == 0 {
                    Ok(())
                } else {
                    Err(io::Error::from_raw_os_error(errno))
                }
            }
        }
    }

    /// Discards a range: `BLKDISCARD` on a device, a punched hole in a file.
    pub fn trim(&self, offset: u64, len: u64) -> io::Result<()> {
        if self.kind != Kind::Block {
            return self.punch_hole(offset, len);
        }
        let range = [offset, len];
        // SAFETY: BLKDISCARD reads two u64.
        let rc = unsafe { libc::ioctl(self.fd.as_raw_fd(), BLKDISCARD as _, &range) };
        if rc < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(())
        }
    }

    /// Punches a hole with `fallocate`; a device's range reads as zeroes afterwards.
    pub fn punch_hole(&self, offset: u64, len: u64) -> io::Result<()> {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        Ok(rustix::fs::fallocate(&self.fd, flags, offset, len)?)
    }

    /// Tells the kernel what to expect of a range (`len` 0: to the end).
    pub fn advise(&self, hint: Hint, offset: u64, len: u64) -> io::Result<()> {
        let advice = match hint {
            Hint::Random => Advice::Random,
            Hint::Sequential => Advice::Sequential,
            Hint::NoReuse => Advice::NoReuse,
            Hint::DontNeed => Advice::DontNeed,
        };
        Ok(rustix::fs::fadvise(
            &self.fd,
            offset,
            std::num::NonZeroU64::new(len),
            advice,
        )?)
    }

    /// Drops clean cached pages: of the range for a file, of the whole device for a device
    /// (`BLKFLSBUF`, which writes dirty pages back first and needs `CAP_SYS_ADMIN`).
    pub fn invalidate(&self, offset: u64, len: u64) -> io::Result<()> {
        if self.kind != Kind::Block {
            return self.advise(Hint::DontNeed, offset, len);
        }
        // SAFETY: BLKFLSBUF ignores its argument.
        let rc = unsafe { libc::ioctl(self.fd.as_raw_fd(), BLKFLSBUF as _, 0) };
        if rc < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(())
        }
    }

    /// Whether the kernel can try a request on this file without waiting for it. Where it cannot, a
    /// ring hands each one to a kernel thread, after an attempt that has to fail; an answer that is
    /// not clear counts as yes. Reads far behind the end, and so moves nothing.
    pub fn tries_without_waiting(&self) -> bool {
        const FAR: u64 = 1 << 62;
        let mut byte = [0];
        let mut buffers = [io::IoSliceMut::new(&mut byte)];
        let told = rustix::io::preadv2(self, &mut buffers, FAR, ReadWriteFlags::NOWAIT);
        told != Err(Errno::OPNOTSUPP)
    }

    /// `fsync`.
    pub fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.fd)?)
    }

    /// `fdatasync`.
    pub fn sync_data(&self) -> io::Result<()> {
        Ok(rustix::fs::fdatasync(&self.fd)?)
    }

    /// `syncfs`: the whole file system the file is on.
    pub fn sync_file_system(&self) -> io::Result<()> {
        Ok(rustix::fs::syncfs(&self.fd)?)
    }

    /// `sync_file_range` with its three flag bits; `len` 0 reaches to the end.
    pub fn sync_range(&self, offset: u64, len: u64, flags: u32) -> io::Result<()> {
        let signed = |value: u64| i64::try_from(value).map_err(|_| Errno::INVAL);
        let (offset, len) = (signed(offset)?, signed(len)?);
        // SAFETY: integers only, on a descriptor that `self` owns.
        let rc = unsafe { libc::sync_file_range(self.fd.as_raw_fd(), offset, len, flags) };
        if rc < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(())
        }
    }

    /// Sets the expected lifetime of written data (1 none, 2 short, 3 medium, 4 long,
    /// 5 extreme): for direct I/O on the descriptor where the kernel still knows that (before
    /// 5.17), else on the inode. `EINVAL`: the file system takes no hints.
    pub fn set_write_hint(&self, lifetime: u64, direct: bool) -> io::Result<()> {
        let set = |command| {
            // SAFETY: both commands read one u64.
            let rc = unsafe { libc::fcntl(self.fd.as_raw_fd(), command, &lifetime) };
            if rc < 0 {
                Err(io::Error::last_os_error())
            } else {
                Ok(())
            }
        };
        if direct && set(F_SET_FILE_RW_HINT).is_ok() {
            return Ok(());
        }
        set(F_SET_RW_HINT)
    }
}

fn kind_of(mode: u32) -> Kind {
    match FileType::from_raw_mode(mode) {
        FileType::RegularFile => Kind::Regular,
        FileType::BlockDevice => Kind::Block,
        FileType::CharacterDevice => Kind::Character,
        FileType::Fifo | FileType::Socket => Kind::Pipe,
        _ => Kind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RW_NEW: Open = Open {
        read: true,
        write: true,
        create: true,
        truncate: false,
        exclusive: false,
        direct: false,
        durability: Durability::Lazy,
        no_access_time: true,
    };

    #[test]
    fn files_that_cannot_be_tried_are_told_apart() {
        let how = Open {
            read: true,
            ..Open::default()
        };
        let tries = |path: &str| {
            let file = File::open(Path::new(path), how).unwrap();
            file.tries_without_waiting()
        };
        assert!(tries("/dev/null"));
        assert!(!tries("/proc/sys/kernel/ostype"));
    }

    #[test]
    fn sizes_allocation_and_holes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let file = File::open(&path, RW_NEW).unwrap();
        assert_eq!((file.kind(), file.size().unwrap()), (Kind::Regular, 0));
        for (how, size) in [
            (Allocation::KeepSize, 0),
            (Allocation::Truncate, 8192),
            (Allocation::Posix, 8192),
            (Allocation::Native, 8192),
        ] {
            file.allocate(how, 0, 8192).unwrap();
            assert_eq!(file.size().unwrap(), size, "{how:?}");
        }
        std::fs::write(&path, vec![7u8; 8192]).unwrap();
        file.trim(4096, 4096).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert!(bytes[..4096].iter().all(|&b| b == 7) && bytes[4096..].iter().all(|&b| b == 0));
        file.set_size(10).unwrap();
        assert_eq!(file.size().unwrap(), 10);
        file.sync().unwrap();
        file.sync_data().unwrap();
        file.sync_file_system().unwrap();
        file.sync_range(0, 0, 7).unwrap();
        file.advise(Hint::Random, 0, 0).unwrap();
        file.invalidate(0, 10).unwrap();
        for direct in [false, true] {
            let hint = file.set_write_hint(2, direct);
            assert!(hint.is_ok() || hint.unwrap_err().raw_os_error() == Some(libc::EINVAL));
            assert!(file.set_write_hint(99, direct).is_err());
        }
        assert!(file.sync_range(0, u64::MAX, 0).is_err());
    }

    #[test]
    fn open_modes_bind() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let none = File::open(
            &path,
            Open {
                read: true,
                ..Open::default()
            },
        );
        assert_eq!(none.unwrap_err().raw_os_error(), Some(libc::ENOENT));
        File::open(&path, RW_NEW).unwrap();
        let twice = File::open(
            &path,
            Open {
                exclusive: true,
                ..RW_NEW
            },
        );
        assert_eq!(twice.unwrap_err().raw_os_error(), Some(libc::EEXIST));
        let reader = File::open(
            &path,
            Open {
                read: true,
                ..Open::default()
            },
        )
        .unwrap();
        assert_eq!(crate::transfer::pwrite(&reader, b"x", 0), -libc::EBADF);
        let dev_null = File::open(
            Path::new("/dev/null"),
            Open {
                read: true,
                ..Open::default()
            },
        );
        assert_eq!(dev_null.unwrap().kind(), Kind::Character);
    }
}
