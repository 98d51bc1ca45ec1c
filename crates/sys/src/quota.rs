//! What a disk quota leaves to this process: `quotactl_fd` (Linux 5.14 and later).
//!
//! Invariant of the unsafe block: the buffer is larger than the kernel's `struct if_dqblk`
//! (72 bytes of plain numbers) and outlives the call.

use rustix::fs::{Mode, OFlags};
use std::os::fd::AsRawFd;
use std::path::Path;

/// `Q_GETQUOTA` in the upper bits, the kind of quota in the lower eight.
const GET: u32 = 0x80_0007 << 8;
const USER: u32 = 0;
const GROUP: u32 = 1;
/// Limits are counted in these.
const BLOCK: u64 = 1024;
/// The limits on space are set.
const HAS_LIMITS: u32 = 1;

/// Bytes that the quotas of the process's user and group still allow on the file system that the
/// directory `path` lies on; `None` where nothing limits it. Root is never limited.
pub fn left_bytes(path: &Path) -> Option<u64> {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    if user.is_root() {
        return None;
    }
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty()).ok()?;
    [(USER, user.as_raw()), (GROUP, group.as_raw())]
        .into_iter()
        .filter_map(|(kind, id)| {
            let mut answer = [0u64; 16];
            // SAFETY: see the module.
            let rc = unsafe {
                libc::syscall(
                    libc::SYS_quotactl_fd,
                    file.as_raw_fd(),
                    GET | kind,
                    id,
                    answer.as_mut_ptr(),
                )
            };
            (rc == 0).then(|| left(&answer)).flatten()
        })
        .min()
}

/// Hard limit in blocks, soft limit, bytes in use, three numbers of files, two times, what is set.
fn left(answer: &[u64; 16]) -> Option<u64> {
    let (limit, used, set) = (answer[0], answer[2], answer[8] as u32);
    (limit > 0 && set & HAS_LIMITS != 0).then(|| (limit * BLOCK).saturating_sub(used))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hard_limit_less_what_is_used() {
        let mut answer = [0; 16];
        (answer[0], answer[2]) = (10, 4096);
        assert_eq!(left(&answer), None, "the limits were not filled in");
        answer[8] = 0x3f;
        assert_eq!(left(&answer), Some(10 * 1024 - 4096));
        answer[2] = 1 << 20;
        assert_eq!(left(&answer), Some(0));
        answer[0] = 0;
        assert_eq!(left(&answer), None);
    }

    #[test]
    fn what_is_not_there_has_no_quota() {
        assert_eq!(left_bytes(Path::new("/no/such/directory")), None);
    }
}
