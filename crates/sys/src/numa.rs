//! Where the calling thread runs and its memory comes from: `getcpu`, `set_mempolicy`.
//!
//! Invariant of the unsafe blocks: what a pointer names is local and outlives the call, and a node
//! mask is as long as stated.

use std::io;

/// NUMA memory policy of a thread; it governs pages touched from now on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The system's default.
    Default,
    /// From this node if it has room; without a node, from the local one.
    Prefer(Option<u32>),
    /// From these nodes only.
    Bind(Vec<u32>),
    /// From these nodes in turn, page by page.
    Interleave(Vec<u32>),
    /// From the node the thread runs on.
    Local,
}

/// Highest node number the mask holds, plus one.
const NODES: u32 = 1024;

/// What the kernel is told of a mask's length: it reads one bit less.
pub(crate) const MASK_BITS: u64 = NODES as u64 + 1;

/// One bit per node. `EINVAL` for a number that fits no mask.
pub(crate) fn mask(nodes: &[u32]) -> io::Result<[u64; NODES as usize / 64]> {
    let mut mask = [0u64; NODES as usize / 64];
    for &node in nodes {
        let word = mask
            .get_mut(node as usize / 64)
            .ok_or(rustix::io::Errno::INVAL)?;
        *word |= 1 << (node % 64);
    }
    Ok(mask)
}

/// The CPU and the NUMA node the calling thread runs on at this moment.
pub fn here() -> io::Result<(u32, u32)> {
    let (mut cpu, mut node) = (0u32, 0u32);
    let unused = std::ptr::null_mut::<u8>();
    // SAFETY: both pointers are to locals that outlive the call.
    let rc = unsafe { libc::syscall(libc::SYS_getcpu, &raw mut cpu, &raw mut node, unused) };
    if rc < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok((cpu, node))
    }
}

/// Applies `policy` to the calling thread. `EINVAL` if a node does not exist.
pub fn set_policy(policy: &Policy) -> io::Result<()> {
    let none: &[u32] = &[];
    let (mode, nodes) = match policy {
        Policy::Default => (libc::MPOL_DEFAULT, none),
        Policy::Prefer(None) => (libc::MPOL_PREFERRED, none),
        Policy::Prefer(Some(node)) => (libc::MPOL_PREFERRED, std::slice::from_ref(node)),
        Policy::Bind(nodes) => (libc::MPOL_BIND, nodes.as_slice()),
        Policy::Interleave(nodes) => (libc::MPOL_INTERLEAVE, nodes.as_slice()),
        Policy::Local => (libc::MPOL_LOCAL, none),
    };
    let mask = mask(nodes)?;
    let (pointer, bits) = match nodes {
        [] => (std::ptr::null(), 0),
        _ => (mask.as_ptr(), MASK_BITS),
    };
    // SAFETY: the kernel reads at most NODES bits from `mask`, which has exactly that many.
    let rc = unsafe { libc::syscall(libc::SYS_set_mempolicy, mode, pointer, bits) };
    if rc < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_is_where_it_was_put() {
        let last = *crate::process::affinity().unwrap().last().unwrap();
        let place = std::thread::spawn(move || {
            crate::process::set_affinity(&[last]).unwrap();
            here().unwrap()
        });
        assert_eq!(place.join().unwrap().0 as usize, last);
    }

    #[test]
    fn node_zero_always_exists_and_node_1023_does_not() {
        std::thread::spawn(|| {
            if let Err(error) = set_policy(&Policy::Bind(vec![0])) {
                // A kernel without NUMA has no such call; that is the only excuse.
                assert_eq!(error.raw_os_error(), Some(libc::ENOSYS));
                return;
            }
            set_policy(&Policy::Interleave(vec![0])).unwrap();
            set_policy(&Policy::Prefer(Some(0))).unwrap();
            set_policy(&Policy::Prefer(None)).unwrap();
            set_policy(&Policy::Local).unwrap();
            set_policy(&Policy::Default).unwrap();
            assert!(set_policy(&Policy::Bind(vec![1023])).is_err());
            assert!(set_policy(&Policy::Bind(vec![5000])).is_err());
        })
        .join()
        .unwrap();
    }
}
