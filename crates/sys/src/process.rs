//! The calling thread and process: affinity, priorities, identity, resource use.
//!
//! Invariant of the unsafe blocks: each passes the kernel either plain integers or a pointer to
//! a local value that outlives the call.

use rustix::io::Errno;
use rustix::process::{Resource, getrlimit, setrlimit};
use rustix::thread::{CpuSet, Gid, Uid, sched_getaffinity, sched_setaffinity};
use std::io;

/// CPUs the calling thread may run on, ascending.
pub fn affinity() -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU)
        .filter(|&cpu| set.is_set(cpu))
        .collect())
}

/// Binds the calling thread to `cpus`. `EINVAL` if none of them exists or is allowed.
pub fn set_affinity(cpus: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu >= CpuSet::MAX_CPU {
            return Err(Errno::INVAL.into());
        }
        set.set(cpu);
    }
    Ok(sched_setaffinity(None, &set)?)
}

/// The calling thread's id, as `ps -L` shows it.
pub fn thread_id() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get() as u32
}

/// The process id.
pub fn process_id() -> u32 {
    std::process::id()
}

/// Makes the allocator take blocks of at least `bytes` from the kernel, for the whole process.
/// Such blocks are zero as they come; glibc clears those of a thread's heap by hand, and so makes
/// every page of an array resident that hardly any value reaches. Other C libraries stay as they
/// are.
pub fn set_map_threshold(bytes: usize) {
    #[cfg(target_env = "gnu")]
    // SAFETY: mallopt takes two integers and refuses what it does not know.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, bytes as libc::c_int);
    }
    #[cfg(not(target_env = "gnu"))]
    let _ = bytes;
}

/// Sets the calling thread's nice value (-20 most urgent, 19 least). On Linux niceness belongs
/// to the thread.
pub fn set_nice(nice: i32) -> io::Result<()> {
    Ok(rustix::process::setpriority_process(None, nice)?)
}

/// An I/O priority as `ioprio_set` and `sqe.ioprio` encode it: class in bits 13-15, hint in
/// bits 3-12, level in bits 0-2.
pub fn io_priority(class: u8, level: u8, hint: u16) -> u16 {
    (u16::from(class) << 13) | ((hint & 0x3ff) << 3) | u16::from(level & 7)
}

/// Class, level and hint of a priority that [`io_priority`] has put together.
pub fn io_priority_parts(priority: u16) -> (u8, u8, u16) {
    (
        (priority >> 13) as u8,
        (priority & 7) as u8,
        priority >> 3 & 0x3ff,
    )
}

/// Sets the calling thread's I/O priority to a value of [`io_priority`].
pub fn set_io_priority(priority: u16) -> io::Result<()> {
    const WHO_PROCESS: libc::c_int = 1;
    // SAFETY: ioprio_set takes three integers and touches no memory of ours.
    let rc = unsafe {
        libc::syscall(
            libc::SYS_ioprio_set,
            WHO_PROCESS,
            0,
            libc::c_int::from(priority),
        )
    };
    if rc < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// Puts the calling thread into `SCHED_IDLE`: it runs only while its CPU has nothing else to do.
pub fn set_idle_class() -> io::Result<()> {
    let param = libc::sched_param { sched_priority: 0 };
    // SAFETY: the pointer is to a local sched_param, which the kernel only reads; 0 names the
    // calling thread.
    let rc = unsafe {
        libc::syscall(
            libc::SYS_sched_setscheduler,
            0,
            libc::SCHED_IDLE,
            &raw const param,
        )
    };
    if rc < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// What the calling thread has used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Time in user mode, microseconds.
    pub user_us: u64,
    /// Time in the kernel, microseconds.
    pub system_us: u64,
    /// Context switches, voluntary and not.
    pub context_switches: u64,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// Page faults that did not.
    pub minor_faults: u64,
}

impl Usage {
    /// The sum of both.
    pub fn and(self, other: Usage) -> Usage {
        Usage {
            user_us: self.user_us + other.user_us,
            system_us: self.system_us + other.system_us,
            context_switches: self.context_switches + other.context_switches,
            major_faults: self.major_faults + other.major_faults,
            minor_faults: self.minor_faults + other.minor_faults,
        }
    }

    /// What was used between `earlier` and `self`.
    pub fn since(&self, earlier: &Usage) -> Usage {
        Usage {
            user_us: self.user_us.saturating_sub(earlier.user_us),
            system_us: self.system_us.saturating_sub(earlier.system_us),
            context_switches: self
                .context_switches
                .saturating_sub(earlier.context_switches),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
        }
    }
}

/// Resource use of the calling thread.
pub fn thread_usage() -> Usage {
    // The kernel charges a running thread at its ticks, so that `getrusage` alone may lag by
    // milliseconds; reading the thread's CPU clock charges what has run since.
    let _ = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let mut raw = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a local rusage, which the kernel fills.
    let rc = unsafe { libc::getrusage(libc::RUSAGE_THREAD, raw.as_mut_ptr()) };
    if rc != 0 {
        return Usage::default();
    }
    // SAFETY: zeroed is a valid rusage, and the call has filled it besides.
    let raw = unsafe { raw.assume_init() };
    let us = |t: libc::timeval| t.tv_sec as u64 * 1_000_000 + t.tv_usec as u64;
    Usage {
        user_us: us(raw.ru_utime),
        system_us: us(raw.ru_stime),
        context_switches: raw.ru_nvcsw as u64 + raw.ru_nivcsw as u64,
        major_faults: raw.ru_majflt as u64,
        minor_faults: raw.ru_minflt as u64,
    }
}

/// Gives the calling thread (only) another user. Needs the privilege to do so.
pub fn set_thread_uid(uid: u32) -> io::Result<()> {
    // `-1` means "leave as it is" to the kernel, so it cannot be a user.
    if uid == u32::MAX {
        return Err(Errno::INVAL.into());
    }
    Ok(rustix::thread::set_thread_uid(Uid::from_raw(uid))?)
}

/// Gives the calling thread (only) another group. Do this before [`set_thread_uid`].
pub fn set_thread_gid(gid: u32) -> io::Result<()> {
    if gid == u32::MAX {
        return Err(Errno::INVAL.into());
    }
    Ok(rustix::thread::set_thread_gid(Gid::from_raw(gid))?)
}

/// Names the calling thread; the kernel keeps the first 15 bytes.
pub fn set_thread_name(name: &str) -> io::Result<()> {
    let name = std::ffi::CString::new(name).map_err(|_| io::Error::from(Errno::INVAL))?;
    Ok(rustix::thread::set_name(&name)?)
}

/// Asks a child process to end (`SIGTERM`). Call it only before the child has been waited for.
pub fn terminate(child: &std::process::Child) -> io::Result<()> {
    let pid = rustix::process::Pid::from_child(child);
    Ok(rustix::process::kill_process(
        pid,
        rustix::process::Signal::TERM,
    )?)
}

/// Raises the limit of open files to the hard limit and returns what it is now.
pub fn raise_open_files() -> u64 {
    let mut limit = getrlimit(Resource::Nofile);
    let before = limit.current;
    limit.current = limit.maximum;
    let now = if setrlimit(Resource::Nofile, limit).is_ok() {
        limit.maximum
    } else {
        before
    };
    now.unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn affinity_can_be_narrowed_and_read_back() {
        std::thread::spawn(|| {
            let all = affinity().unwrap();
            let last = *all.last().unwrap();
            set_affinity(&[last]).unwrap();
            assert_eq!(affinity().unwrap(), [last]);
            assert!(set_affinity(&[usize::MAX]).is_err());
            assert!(set_affinity(&[]).is_err());
        })
        .join()
        .unwrap();
    }

    #[test]
    fn io_priority_packs_class_hint_and_level() {
        assert_eq!(io_priority(1, 4, 0), 0x2004);
        assert_eq!(io_priority(2, 7, 3), 0x4000 | (3 << 3) | 7);
        assert_eq!(io_priority_parts(io_priority(2, 7, 900)), (2, 7, 900));
    }

    #[test]
    fn usage_includes_what_ran_since_the_last_tick() {
        // A turn is far shorter than a tick of the scheduler, so that few of them see one.
        let counted = (0..200).filter(|_| {
            let before = thread_usage();
            let start = std::time::Instant::now();
            while start.elapsed().as_micros() < 20 {
                std::hint::spin_loop();
            }
            let cost = thread_usage().since(&before);
            cost.user_us + cost.system_us > 0
        });
        assert!(counted.count() > 100);
    }

    #[test]
    fn usage_grows_with_faults() {
        let before = thread_usage();
        let touched = vec![1u8; 8 << 20];
        assert_eq!(std::hint::black_box(&touched)[4096], 1);
        assert!(thread_usage().since(&before).minor_faults > 0);
    }

    #[test]
    fn names_and_limits() {
        std::thread::spawn(|| {
            set_thread_name("assay-test").unwrap();
            assert_eq!(rustix::thread::name().unwrap().to_str(), Ok("assay-test"));
            assert!(set_thread_name("nul\0inside").is_err());
        })
        .join()
        .unwrap();
        assert!(raise_open_files() >= 256);
        assert!(set_thread_uid(u32::MAX).is_err());
        assert!(thread_id() > 0);
    }
}
