//! What a loop device stands over, by inode and device number: names change, these do not.
//!
//! Layout and number are those of `linux/loop.h`. Invariant of the unsafe block: the ioctl gets a
//! pointer to one [`Raw`], which is as large as the kernel's structure and outlives the call.

use crate::file::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// `LOOP_GET_STATUS64`.
const GET_STATUS: libc::c_ulong = 0x4c05;

/// What is behind a loop device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backing {
    /// Device number of the file system that the file lies on, as in `st_dev`.
    pub file_system: u64,
    /// The file's inode.
    pub inode: u64,
    /// Number of the block device where the file is one, as in `st_rdev`.
    pub device: Option<u64>,
    /// Where in the file the device begins, bytes.
    pub offset_bytes: u64,
}

#[repr(C)]
struct Raw {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    /// Number, kind and size of a key, flags.
    words: [u32; 4],
    /// Names of the file and of a cipher, its key.
    names: [u8; 64 + 64 + 32],
    init: [u64; 2],
}

/// Asks the loop device that was opened as `file`.
///
/// # Errors
/// It has nothing behind it (`ENXIO`), or is no loop device.
pub fn backing(file: &File) -> io::Result<Backing> {
    let mut raw = Raw {
        device: 0,
        inode: 0,
        rdevice: 0,
        offset: 0,
        size_limit: 0,
        words: [0; 4],
        names: [0; 160],
        init: [0; 2],
    };
    let fd = file.as_fd().as_raw_fd();
    // SAFETY: the pointer leads to a `Raw` of our own, which outlives the call.
    let result = unsafe { libc::ioctl(fd, GET_STATUS, &raw mut raw) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Backing {
        file_system: raw.device,
        inode: raw.inode,
        device: (raw.rdevice != 0).then_some(raw.rdevice),
        offset_bytes: raw.offset,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::Open;

    #[test]
    fn the_layout_is_the_kernels() {
        assert_eq!(size_of::<Raw>(), 232);
    }

    #[test]
    fn other_files_do_not_answer() {
        let how = Open {
            read: true,
            ..Open::default()
        };
        let null = File::open("/dev/null".as_ref(), how).unwrap();
        assert!(backing(&null).is_err());
    }
}
