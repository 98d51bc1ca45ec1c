//! Memory whose pages and nodes matter: mapped without a touch, bound, filled, looked at.
//!
//! Invariant: an [`Area`] keeps its mapping alive, and `base .. base + len` lies inside it,
//! readable and writable, apart from that of any other area. No reference to its bytes is ever
//! made: they are reached through atomic words within checked bounds, or by loops in assembly that
//! get the address. So any number of threads may share an area.

use rustix::mm::{Advice, MapFlags, MprotectFlags, ProtFlags};
use std::ffi::c_void;
use std::io;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::numa;

/// The pages an [`Area`] asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// The base size only, even where the system prefers large ones.
    Base,
    /// Transparent huge pages of this many bytes, as far as the kernel has them.
    Transparent(usize),
    /// Reserved huge pages of this many bytes (hugetlb).
    Huge(usize),
}

/// See the module. Pieces of one mapping share it; it ends with the last of them.
#[derive(Debug)]
pub struct Area {
    map: Arc<Map>,
    base: NonNull<u8>,
    len: usize,
}

/// A mapping.
#[derive(Debug)]
struct Map {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping is owned, and nothing in it is tied to a thread.
unsafe impl Send for Map {}
// SAFETY: a shared map gives nothing away.
unsafe impl Sync for Map {}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and no area in it is left.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

// SAFETY: the area is owned, and nothing in it is tied to a thread.
unsafe impl Send for Area {}
// SAFETY: access is through atomic words or assembly, never through references.
unsafe impl Sync for Area {}

impl Area {
    /// Maps at least `bytes`, rounded up to whole pages of the kind asked for, and touches none.
    ///
    /// Errors: `EINVAL` for no bytes or a page that is no power of two, `ENOMEM` when so many huge
    /// pages are not free.
    pub fn map(bytes: usize, pages: Pages) -> io::Result<Area> {
        let invalid = || io::Error::from(rustix::io::Errno::INVAL);
        let small = rustix::param::page_size();
        let page = match pages {
            Pages::Base => small,
            Pages::Transparent(page) | Pages::Huge(page) => page,
        };
        if bytes == 0 || !page.is_power_of_two() || page < small {
            return Err(invalid());
        }
        let len = bytes.checked_next_multiple_of(page).ok_or_else(invalid)?;
        if isize::try_from(len).is_err() {
            return Err(invalid());
        }
        if let Pages::Huge(_) = pages {
            let size = MapFlags::from_bits_retain(page.trailing_zeros() << 26);
            let flags = MapFlags::PRIVATE | MapFlags::HUGETLB | size;
            let map = reserve(len, ProtFlags::READ | ProtFlags::WRITE, flags)?;
            return Ok(Area::whole(map, len));
        }
        // Room on both sides that cannot be touched: it aligns the area and keeps the kernel from
        // merging it with neighbours, so that what is told about it is about it alone.
        let map_bytes = len.checked_add(2 * page).ok_or_else(invalid)?;
        let map = reserve(map_bytes, ProtFlags::empty(), MapFlags::PRIVATE)?;
        let skip = match map.as_ptr().align_offset(page) {
            0 => page,
            skip => skip,
        };
        // SAFETY: skip <= page, and the mapping has two pages more than `len`.
        let base = unsafe { map.add(skip) };
        let start = map;
        let map = Arc::new(Map {
            start,
            bytes: map_bytes,
        });
        let area = Area { map, base, len };
        let protection = MprotectFlags::READ | MprotectFlags::WRITE;
        // SAFETY: the range is inside the new mapping, which nothing else knows of.
        unsafe { rustix::mm::mprotect(base.as_ptr().cast(), len, protection)? };
        let advice = match pages {
            Pages::Base => Advice::LinuxNoHugepage,
            _ => Advice::LinuxHugepage,
        };
        // A kernel without transparent huge pages refuses both; then all pages are small.
        let _ = area.advise(advice);
        let _ = area.advise(Advice::LinuxDontFork);
        Ok(area)
    }

    /// Maps the first `bytes` of `file`, rounded up to whole pages, and makes it that long: how
    /// memory with a file system on it (DAX) is reached. Stores go to the file, which nothing else
    /// may write to while the area lives.
    ///
    /// Errors: `EINVAL` for no bytes, `ENOSPC`, `EACCES`, `ENODEV` as the file system says.
    pub fn file(file: &std::fs::File, bytes: usize) -> io::Result<Area> {
        let invalid = || io::Error::from(rustix::io::Errno::INVAL);
        let len = bytes.checked_next_multiple_of(rustix::param::page_size());
        let len = len.filter(|&len| len > 0).ok_or_else(invalid)?;
        // Space is taken now: a full file system would otherwise raise a signal at first touch.
        rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, len as u64)?;
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: a new mapping at an address of the kernel's choice; the file is long enough.
        let at = unsafe { rustix::mm::mmap(std::ptr::null_mut(), len, access, flags, file, 0)? };
        let map = NonNull::new(at.cast()).expect("the kernel never maps page zero unasked");
        Ok(Area::whole(map, len))
    }

    fn whole(start: NonNull<u8>, len: usize) -> Area {
        let map = Map { start, bytes: len };
        Area {
            map: Arc::new(map),
            base: start,
            len,
        }
    }

    /// Cuts the area into `count` pieces that begin at multiples of the base page size; the last
    /// may be shorter, and there are fewer where there are fewer pages. Panics for no pieces.
    pub fn split(self, count: usize) -> Vec<Area> {
        let small = rustix::param::page_size();
        let piece = self.len.div_ceil(count).next_multiple_of(small);
        let at = |start: usize| Area {
            map: self.map.clone(),
            // SAFETY: start < len, so the piece begins inside the area.
            base: unsafe { self.base.add(start) },
            len: piece.min(self.len - start),
        };
        (0..self.len).step_by(piece).map(at).collect()
    }

    /// Bytes; a whole number of the pages asked for.
    pub fn bytes(&self) -> usize {
        self.len
    }

    /// Where the area begins: an address for assembly and for `/proc`.
    pub fn address(&self) -> usize {
        self.base.as_ptr() as usize
    }

    /// Pages touched from now on come from `nodes` only. `EINVAL` if a node does not exist.
    pub fn bind(&self, nodes: &[u32]) -> io::Result<()> {
        let mask = numa::mask(nodes)?;
        // SAFETY: the range is ours and the mask has as many bits as the kernel reads; a policy
        // changes no contents.
        let rc = unsafe {
            libc::syscall(
                libc::SYS_mbind,
                self.base.as_ptr(),
                self.len,
                libc::MPOL_BIND,
                mask.as_ptr(),
                numa::MASK_BITS,
                0,
            )
        };
        if rc < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(())
        }
    }

    /// Gives every page its memory, from the calling thread; contents stay.
    ///
    /// Errors: `EFAULT` or `ENOMEM` when the node or the pool of huge pages has no more; no
    /// signal is raised. `EINVAL` on kernels before 5.14.
    pub fn populate(&self) -> io::Result<()> {
        loop {
            match self.advise(Advice::LinuxPopulateWrite) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => return other,
            }
        }
    }

    /// The node of the page at each of `offsets`; a negative errno where there is none.
    pub fn nodes(&self, offsets: &[usize]) -> io::Result<Vec<i32>> {
        let pages: Vec<*mut c_void> = offsets
            .iter()
            .map(|&offset| self.word(offset & !7).as_ptr().cast())
            .collect();
        let mut status = vec![0i32; pages.len()];
        // SAFETY: both arrays have as many entries as stated; without target nodes the call only
        // fills `status`.
        let rc = unsafe {
            libc::syscall(
                libc::SYS_move_pages,
                0,
                pages.len(),
                pages.as_ptr(),
                std::ptr::null::<i32>(),
                status.as_mut_ptr(),
                0,
            )
        };
        if rc < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(status)
        }
    }

    /// Reads the word at `offset`, a multiple of eight inside the area; panics otherwise.
    #[inline]
    pub fn load(&self, offset: usize) -> u64 {
        self.word(offset).load(Ordering::Relaxed)
    }

    /// Writes the word at `offset`, a multiple of eight inside the area; panics otherwise.
    #[inline]
    pub fn store(&self, offset: usize, value: u64) {
        self.word(offset).store(value, Ordering::Relaxed);
    }

    /// The word at `offset` for stronger orderings; panics as [`Area::load`] does.
    #[inline]
    pub fn word(&self, offset: usize) -> &AtomicU64 {
        assert!(
            offset.is_multiple_of(8) && offset < self.len,
            "no word at {offset} of {} bytes",
            self.len
        );
        // SAFETY: the word is inside the area and aligned (the base is aligned to a page), lives
        // as long as the borrow of `self`, and nothing reaches it but atomics and assembly.
        unsafe { AtomicU64::from_ptr(self.base.as_ptr().add(offset).cast()) }
    }

    fn advise(&self, advice: Advice) -> io::Result<()> {
        // SAFETY: the range is ours, and no advice given here changes contents.
        unsafe { rustix::mm::madvise(self.base.as_ptr().cast(), self.len, advice)? };
        Ok(())
    }
}

/// Bytes of a page of the base size.
pub fn small_page_bytes() -> usize {
    rustix::param::page_size()
}

/// A file in `dir` that has no name and is gone with its last user. `EOPNOTSUPP` where the file
/// system has no such files.
pub fn nameless_file(dir: &std::path::Path) -> io::Result<std::fs::File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = rustix::fs::open(dir, flags, Mode::RUSR | Mode::WUSR)?;
    Ok(file.into())
}

fn reserve(bytes: usize, protection: ProtFlags, flags: MapFlags) -> io::Result<NonNull<u8>> {
    // SAFETY: a new mapping at an address of the kernel's choice touches no existing memory.
    let at = unsafe {
        rustix::mm::mmap_anonymous(std::ptr::null_mut::<c_void>(), bytes, protection, flags)?
    };
    Ok(NonNull::new(at.cast()).expect("the kernel never maps page zero unasked"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_come_when_populated_and_on_the_bound_node() {
        let area = Area::map(3 << 20, Pages::Base).unwrap();
        assert_eq!(area.bytes(), 3 << 20);
        let offsets = [0, 1 << 20, (3 << 20) - 8];
        // ENOENT: no page there yet.
        assert_eq!(area.nodes(&offsets).unwrap(), [-libc::ENOENT; 3]);
        area.bind(&[0]).unwrap();
        area.populate().unwrap();
        assert_eq!(area.nodes(&offsets).unwrap(), [0; 3]);
        assert!(area.bind(&[1023]).is_err());
        assert!(area.bind(&[]).is_err());
    }

    #[test]
    fn words_are_kept_and_bounds_are_checked() {
        let area = Area::map(1, Pages::Transparent(2 << 20)).unwrap();
        assert_eq!((area.bytes(), area.address() % (2 << 20)), (2 << 20, 0));
        assert_eq!(area.load((2 << 20) - 8), 0);
        area.store((2 << 20) - 8, 77);
        area.populate().unwrap();
        assert_eq!(area.load((2 << 20) - 8), 77);
        for offset in [4, 2 << 20, usize::MAX & !7] {
            let beyond = std::panic::catch_unwind(|| area.load(offset));
            assert!(beyond.is_err(), "{offset}");
        }
    }

    #[test]
    fn pieces_are_apart_and_outlive_each_other() {
        let page = small_page_bytes();
        let mut pieces = Area::map(10 * page, Pages::Base).unwrap().split(4);
        let bytes: Vec<usize> = pieces.iter().map(Area::bytes).collect();
        assert_eq!(bytes, [3 * page, 3 * page, 3 * page, page]);
        for (number, piece) in pieces.iter().enumerate() {
            piece.store(piece.bytes() - 8, number as u64 + 1);
        }
        let last = pieces.pop().unwrap();
        drop(pieces);
        assert_eq!((last.load(0), last.load(page - 8)), (0, 4));
        last.populate().unwrap();
        assert!(std::panic::catch_unwind(|| last.load(page)).is_err());
    }

    #[test]
    fn a_file_gets_what_is_stored() {
        let file = tempfile::tempfile().unwrap();
        let area = Area::file(&file, 5000).unwrap();
        area.populate().unwrap();
        area.store(4096, u64::MAX);
        let mut bytes = [0u8; 8];
        std::os::unix::fs::FileExt::read_at(&file, &mut bytes, 4096).unwrap();
        assert_eq!((area.bytes(), bytes), (8192, [0xff; 8]));
        assert!(Area::file(&file, 0).is_err());
    }

    #[test]
    fn more_huge_pages_than_there_are_is_an_error() {
        // 64 TiB: no machine has them reserved.
        let error = Area::map(1 << 46, Pages::Huge(2 << 20)).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOMEM));
        for (bytes, pages) in [(0, Pages::Base), (1, Pages::Huge(3)), (1, Pages::Huge(64))] {
            let error = Area::map(bytes, pages).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::EINVAL));
        }
    }
}
