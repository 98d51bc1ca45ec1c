//! I/O buffers: one mapping, cut into slots.
//!
//! Invariant: a [`Pool`] owns its mapping from `map` to `map + map_bytes` exclusively. `base` is
//! inside it, `base + count * stride <= map + map_bytes`, and a slot is `slot_bytes <= stride`
//! long, so slots neither overlap nor leave the mapping. Fresh pages read as zero, hence every
//! byte is initialised. Engines that hand slot addresses to the kernel own the pool and refuse to
//! lend a slot while the kernel has it.

use rustix::fd::BorrowedFd;
use rustix::mm::{Advice, MapFlags, ProtFlags};
use std::ffi::c_void;
use std::io;
use std::ptr::NonNull;

/// What kind of pages a [`Pool`] is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Private anonymous pages.
    #[default]
    Anonymous,
    /// Shared anonymous pages, as System V shared memory has.
    Shared,
    /// Private huge pages of this many bytes (a power of two).
    Huge(usize),
    /// Shared huge pages of this many bytes.
    SharedHuge(usize),
    /// A file of at least the pool's size, made if missing. Nothing else may write to the file
    /// while the pool lives.
    File {
        /// The file to map.
        path: std::path::PathBuf,
        /// Whether stores reach the file.
        shared: bool,
        /// Page size if the file lives on hugetlbfs.
        huge: Option<usize>,
    },
}

/// A fixed number of equally large buffers.
#[derive(Debug)]
pub struct Pool {
    map: NonNull<u8>,
    map_bytes: usize,
    base: NonNull<u8>,
    stride: usize,
    slot_bytes: usize,
    count: u32,
}

// SAFETY: the pool is the only owner of its mapping; nothing in it is tied to a thread.
unsafe impl Send for Pool {}
// SAFETY: a shared pool only lends shared slices.
unsafe impl Sync for Pool {}

impl Pool {
    /// Maps `count` slots of `slot_bytes`, the first and all others at multiples of `align`
    /// (a power of two; values below 64 count as 64). `lock` keeps the pages in memory.
    ///
    /// Errors: `EINVAL` for an impossible layout, `ENOMEM` (huge pages: none reserved), and
    /// `EPERM`/`ENOMEM` if locking is not permitted.
    pub fn new(
        count: u32,
        slot_bytes: usize,
        align: usize,
        kind: &Kind,
        lock: bool,
    ) -> io::Result<Pool> {
        let invalid = || io::Error::from(rustix::io::Errno::INVAL);
        let align = align.max(64);
        if count == 0 || slot_bytes == 0 || !align.is_power_of_two() || slot_bytes > 1 << 40 {
            return Err(invalid());
        }
        let page = match kind {
            Kind::Huge(bytes) | Kind::SharedHuge(bytes) => *bytes,
            Kind::File {
                huge: Some(bytes), ..
            } => *bytes,
            _ => rustix::param::page_size(),
        };
        if !page.is_power_of_two() {
            return Err(invalid());
        }
        let stride = slot_bytes.next_multiple_of(align);
        // Beyond a page the mapping itself gives no alignment, so there must be room to skip.
        let slack = align.saturating_sub(page);
        let map_bytes = stride
            .checked_mul(count as usize)
            .and_then(|bytes| bytes.checked_add(slack))
            .and_then(|bytes| bytes.checked_next_multiple_of(page))
            .filter(|&bytes| isize::try_from(bytes).is_ok())
            .ok_or_else(invalid)?;
        let map = map_pages(map_bytes, kind)?;
        let skip = map.as_ptr().align_offset(align);
        // SAFETY: skip <= slack, so the result is inside the mapping.
        let base = unsafe { map.add(skip) };
        let pool = Pool {
            map,
            map_bytes,
            base,
            stride,
            slot_bytes,
            count,
        };
        if lock {
            // SAFETY: the range is the mapping that `pool` owns (and unmaps if this fails).
            unsafe { rustix::mm::mlock(map.as_ptr().cast(), map_bytes)? };
        }
        Ok(pool)
    }

    /// Number of slots.
    pub fn slots(&self) -> u32 {
        self.count
    }

    /// Bytes in each slot.
    pub fn slot_bytes(&self) -> usize {
        self.slot_bytes
    }

    /// The bytes of slot `slot`. Panics if there is no such slot.
    #[inline]
    pub fn slot(&self, slot: u32) -> &[u8] {
        let start = self.slot_address(slot);
        // SAFETY: `start` is the start of a slot, see the module's invariant; the borrow of
        // `self` keeps writers away.
        unsafe { std::slice::from_raw_parts(start.as_ptr(), self.slot_bytes) }
    }

    /// The bytes of slot `slot`, writable. Panics if there is no such slot.
    #[inline]
    pub fn slot_mut(&mut self, slot: u32) -> &mut [u8] {
        let start = self.slot_address(slot);
        // SAFETY: as in `slot`; the borrow of `self` is exclusive.
        unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), self.slot_bytes) }
    }

    /// The address of a slot's bytes `at..at + len`. Panics if there is no such slot or the range
    /// leaves it.
    #[inline]
    pub(crate) fn part_address(&self, slot: u32, at: u32, len: u32) -> NonNull<u8> {
        let (at, len) = (at as usize, len as usize);
        assert!(
            at <= self.slot_bytes && len <= self.slot_bytes - at,
            "request leaves its slot of {} bytes",
            self.slot_bytes
        );
        // SAFETY: at <= slot_bytes, so the result is inside the slot or one past its end.
        unsafe { self.slot_address(slot).add(at) }
    }

    #[inline]
    fn slot_address(&self, slot: u32) -> NonNull<u8> {
        assert!(slot < self.count, "slot {slot} of {}", self.count);
        // SAFETY: slot < count, so the offset stays inside the mapping.
        unsafe { self.base.add(slot as usize * self.stride) }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and borrows of it cannot outlive `self`. Engines wait
        // for the kernel before they drop their pool. Nothing useful can be done on failure.
        let _ = unsafe { rustix::mm::munmap(self.map.as_ptr().cast(), self.map_bytes) };
    }
}

fn map_pages(bytes: usize, kind: &Kind) -> io::Result<NonNull<u8>> {
    // Populating here, not at first use, keeps page faults out of the measurement.
    let private = MapFlags::PRIVATE | MapFlags::POPULATE;
    let shared = MapFlags::SHARED | MapFlags::POPULATE;
    match kind {
        Kind::Anonymous => map_anonymous(bytes, private),
        Kind::Shared => map_anonymous(bytes, shared),
        Kind::Huge(page) => map_anonymous(bytes, private | huge_flags(*page)),
        Kind::SharedHuge(page) => map_anonymous(bytes, shared | huge_flags(*page)),
        Kind::File {
            path,
            shared: stores,
            huge: _,
        } => {
            let file = std::fs::OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(path)?;
            if file.metadata()?.len() < bytes as u64 {
                file.set_len(bytes as u64)?;
            }
            map_file(
                bytes,
                if *stores { shared } else { private },
                rustix::fd::AsFd::as_fd(&file),
            )
        }
    }
}

/// `MAP_HUGETLB` with the page size's logarithm in bits 26 and up.
fn huge_flags(page: usize) -> MapFlags {
    MapFlags::HUGETLB | MapFlags::from_bits_retain(page.trailing_zeros() << 26)
}

fn map_anonymous(bytes: usize, flags: MapFlags) -> io::Result<NonNull<u8>> {
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping at an address of the kernel's choice touches no existing memory.
    let at = unsafe {
        rustix::mm::mmap_anonymous(std::ptr::null_mut::<c_void>(), bytes, access, flags)?
    };
    if !flags.contains(MapFlags::HUGETLB) {
        // SAFETY: the range is the new mapping. Only a hint, so failure does not matter:
        // fork would otherwise make in-flight buffers copy-on-write.
        let _ = unsafe { rustix::mm::madvise(at, bytes, Advice::LinuxDontFork) };
    }
    Ok(NonNull::new(at.cast()).expect("the kernel never maps page zero unasked"))
}

fn map_file(bytes: usize, flags: MapFlags, file: BorrowedFd<'_>) -> io::Result<NonNull<u8>> {
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: as in `map_anonymous`. The file is at least `bytes` long.
    let at = unsafe { rustix::mm::mmap(std::ptr::null_mut(), bytes, access, flags, file, 0)? };
    Ok(NonNull::new(at.cast()).expect("the kernel never maps page zero unasked"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill_and_check(mut pool: Pool, align: usize) {
        for slot in 0..pool.slots() {
            assert_eq!(pool.slot(slot).as_ptr() as usize % align, 0);
            assert!(
                pool.slot(slot).iter().all(|&byte| byte == 0),
                "fresh pages are zero"
            );
        }
        for slot in 0..pool.slots() {
            pool.slot_mut(slot).fill(slot as u8 + 1);
        }
        for slot in 0..pool.slots() {
            assert!(pool.slot(slot).iter().all(|&byte| byte == slot as u8 + 1));
        }
    }

    #[test]
    fn slots_are_aligned_and_apart() {
        for (count, bytes, align) in [
            (1, 1, 1),
            (3, 512, 512),
            (7, 2300, 4096),
            (5, 4096, 1 << 16),
            (2, 1 << 20, 4096),
        ] {
            let pool = Pool::new(count, bytes, align, &Kind::Anonymous, false).unwrap();
            assert_eq!((pool.slots(), pool.slot_bytes()), (count, bytes));
            fill_and_check(pool, align);
            fill_and_check(
                Pool::new(count, bytes, align, &Kind::Shared, false).unwrap(),
                align,
            );
        }
    }

    #[test]
    fn file_pools_grow_their_file_and_share_only_when_asked() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("buffers");
        for shared in [false, true] {
            let kind = Kind::File {
                path: path.clone(),
                shared,
                huge: None,
            };
            fill_and_check(Pool::new(4, 4096, 4096, &kind, false).unwrap(), 4096);
            let bytes = std::fs::read(&path).unwrap();
            assert_eq!(bytes.len(), 4 * 4096);
            assert_eq!(bytes[0], u8::from(shared));
        }
    }

    #[test]
    fn impossible_layouts_are_refused() {
        for (count, bytes, align) in [
            (0, 1, 1),
            (1, 0, 1),
            (1, 1, 96),
            (u32::MAX, 1 << 40, 64),
            (1, usize::MAX, 64),
        ] {
            assert!(Pool::new(count, bytes, align, &Kind::Anonymous, false).is_err());
        }
        assert!(Pool::new(1, 1, 1, &Kind::Huge(3), false).is_err());
    }

    #[test]
    #[should_panic(expected = "slot 2 of 2")]
    fn a_slot_beyond_the_pool_panics() {
        Pool::new(2, 8, 8, &Kind::Anonymous, false)
            .unwrap()
            .slot_mut(2);
    }
}
