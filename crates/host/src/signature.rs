//! What the content of a device declares itself to be: file systems, partition tables, members
//! of arrays, volume managers and pools, swap, encryption.
//!
//! One entry of [`KINDS`] is one signature: where its magic number stands and where its id and
//! label are. Places and numbers are those of each format's on-disk documentation. A place below
//! zero counts from the end of the device. Nothing but magic numbers is judged: a damaged file
//! system is still somebody's file system.

use result::host::{Signature, SignatureKind};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Content that can be read at a place.
pub trait Content {
    /// Bytes there are.
    fn size(&self) -> u64;
    /// Fills `buffer` from `offset`; false when that cannot be read whole.
    fn read(&self, offset: u64, buffer: &mut [u8]) -> bool;

    /// `len` bytes from `offset`.
    fn bytes(&self, offset: u64, len: usize) -> Option<Vec<u8>> {
        let end = offset.checked_add(len as u64)?;
        let mut buffer = vec![0; len];
        (end <= self.size() && self.read(offset, &mut buffer)).then_some(buffer)
    }
}

/// Content in memory.
impl Content for [u8] {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read(&self, offset: u64, buffer: &mut [u8]) -> bool {
        let from = usize::try_from(offset).ok();
        let part = from.and_then(|from| self.get(from..from.checked_add(buffer.len())?));
        part.map(|part| buffer.copy_from_slice(part)).is_some()
    }
}

/// An open device or image, with its size.
struct Opened(File, u64);

impl Content for Opened {
    fn size(&self) -> u64 {
        self.1
    }

    fn read(&self, offset: u64, buffer: &mut [u8]) -> bool {
        self.0.read_exact_at(buffer, offset).is_ok()
    }
}

/// The signatures on the device (or image) at `path`, which is `size_bytes` long. `None` when it
/// cannot be read.
pub fn probe_path(path: &Path, size_bytes: u64) -> Option<Vec<Signature>> {
    let content = Opened(File::open(path).ok()?, size_bytes);
    // A device that cannot give its first bytes tells nothing.
    content.bytes(0, 512)?;
    Some(probe(&content))
}

/// The signatures in `content`, each once.
pub fn probe(content: &(impl Content + ?Sized)) -> Vec<Signature> {
    let mut found: Vec<Signature> = Vec::new();
    for kind in KINDS {
        let Some(at) = kind
            .places
            .iter()
            .find_map(|place| kind.find(content, *place))
        else {
            continue;
        };
        let signature = kind.describe(content, at);
        if !found.iter().any(|known| known.name == signature.name) {
            found.push(signature);
        }
    }
    found.extend(ext(content));
    if found.iter().all(|known| known.name != "md") {
        found.extend(old_md(content));
    }
    found.extend(zfs(content));
    found.extend(partition_table(content, &found));
    found.sort_by_key(|signature| signature.offset_bytes);
    found
}

/// One format.
struct Kind {
    kind: SignatureKind,
    name: &'static str,
    magic: &'static [u8],
    /// Where the format's structure may start; the other places are relative to this one.
    places: &'static [i64],
    /// Where the magic number stands in it.
    at: u64,
    uuid: Uuid,
    /// Where a label stands, and its longest length.
    label: Option<(u64, usize)>,
}

/// How an id is kept.
#[derive(Clone, Copy)]
enum Uuid {
    None,
    /// 16 bytes.
    Raw(u64),
    /// So many characters.
    Text(u64, usize),
    /// 32 characters of LVM, shown in its groups.
    Lvm(u64),
    /// Four bytes, little-endian, as FAT shows them.
    Fat(u64),
}

impl Kind {
    /// The start of the structure, when the magic number is there.
    fn find(&self, content: &(impl Content + ?Sized), place: i64) -> Option<u64> {
        let start = match u64::try_from(place) {
            Ok(start) => start,
            Err(_) => content.size().checked_sub(place.unsigned_abs())?,
        };
        let magic = content.bytes(start.checked_add(self.at)?, self.magic.len())?;
        (magic == self.magic).then_some(start)
    }

    fn describe(&self, content: &(impl Content + ?Sized), start: u64) -> Signature {
        let bytes = |at: u64, len: usize| content.bytes(start + at, len);
        let uuid = match self.uuid {
            Uuid::None => None,
            Uuid::Raw(at) => bytes(at, 16).and_then(|raw| uuid_text(&raw)),
            Uuid::Text(at, len) => bytes(at, len).and_then(|raw| text(&raw)),
            Uuid::Lvm(at) => bytes(at, 32)
                .and_then(|raw| text(&raw))
                .map(|id| lvm_groups(&id)),
            Uuid::Fat(at) => {
                bytes(at, 4).map(|b| format!("{:02X}{:02X}-{:02X}{:02X}", b[3], b[2], b[1], b[0]))
            }
        };
        Signature {
            kind: self.kind,
            name: self.name.to_owned(),
            offset_bytes: start + self.at,
            uuid,
            label: self
                .label
                .and_then(|(at, len)| bytes(at, len))
                .and_then(|raw| text(&raw)),
        }
    }
}

use SignatureKind::{Encryption, FileSystem, Raid, Store, Swap, Volume};

/// A format with its magic number at one place and no id.
const fn plain(
    kind: SignatureKind,
    name: &'static str,
    magic: &'static [u8],
    places: &'static [i64],
) -> Kind {
    Kind {
        kind,
        name,
        magic,
        places,
        at: 0,
        uuid: Uuid::None,
        label: None,
    }
}

impl Kind {
    /// Where the magic number stands in the structure.
    const fn magic_at(mut self, at: u64) -> Kind {
        self.at = at;
        self
    }

    const fn uuid(mut self, uuid: Uuid) -> Kind {
        self.uuid = uuid;
        self
    }

    const fn label(mut self, at: u64, len: usize) -> Kind {
        self.label = Some((at, len));
        self
    }
}

const START: &[i64] = &[0];
const MD: &[u8] = &0xa92b_4efc_u32.to_le_bytes();
const BCACHE: &[u8] = b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81";
const BCACHEFS: &[u8] = b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef";

const KINDS: &[Kind] = &[
    plain(FileSystem, "xfs", b"XFSB", START)
        .uuid(Uuid::Raw(32))
        .label(108, 12),
    plain(FileSystem, "btrfs", b"_BHRfS_M", &[0x1_0000])
        .magic_at(64)
        .uuid(Uuid::Raw(32))
        .label(299, 256),
    plain(FileSystem, "bcachefs", BCACHEFS, &[4096])
        .magic_at(24)
        .uuid(Uuid::Raw(56))
        .label(72, 32),
    plain(FileSystem, "f2fs", &0xf2f5_2010_u32.to_le_bytes(), &[1024]).uuid(Uuid::Raw(108)),
    plain(FileSystem, "erofs", &0xe0f5_e1e2_u32.to_le_bytes(), &[1024]).uuid(Uuid::Raw(48)),
    plain(FileSystem, "squashfs", b"hsqs", START),
    plain(FileSystem, "reiserfs", b"ReIsEr", &[0x1_0000, 0x2000])
        .magic_at(52)
        .uuid(Uuid::Raw(84))
        .label(100, 16),
    plain(FileSystem, "jfs", b"JFS1", &[0x8000])
        .uuid(Uuid::Raw(136))
        .label(152, 16),
    plain(FileSystem, "nilfs2", &0x3434_u16.to_le_bytes(), &[1024])
        .magic_at(6)
        .uuid(Uuid::Raw(152))
        .label(168, 80),
    plain(
        FileSystem,
        "gfs2",
        &0x0116_1970_u32.to_be_bytes(),
        &[0x1_0000],
    ),
    plain(FileSystem, "ocfs2", b"OCFSV2", &[1024, 2048, 4096, 8192]),
    plain(FileSystem, "vfat", b"FAT32   ", START)
        .magic_at(82)
        .uuid(Uuid::Fat(67))
        .label(71, 11),
    plain(FileSystem, "vfat", b"FAT16   ", START)
        .magic_at(54)
        .uuid(Uuid::Fat(39))
        .label(43, 11),
    plain(FileSystem, "vfat", b"FAT12   ", START)
        .magic_at(54)
        .uuid(Uuid::Fat(39))
        .label(43, 11),
    plain(FileSystem, "exfat", b"EXFAT   ", START)
        .magic_at(3)
        .uuid(Uuid::Fat(100)),
    plain(FileSystem, "ntfs", b"NTFS    ", START).magic_at(3),
    plain(FileSystem, "refs", b"ReFS\0\0\0\0", START).magic_at(3),
    plain(FileSystem, "iso9660", b"CD001", &[0x8000])
        .magic_at(1)
        .label(40, 32),
    plain(FileSystem, "udf", b"BEA01", &[0x8000, 0x8800, 0x9000]).magic_at(1),
    plain(FileSystem, "apfs", b"NXSB", START).magic_at(32),
    plain(FileSystem, "hfsplus", b"H+", &[1024]),
    plain(
        FileSystem,
        "vmfs",
        &0xc001_d00d_u32.to_le_bytes(),
        &[0x10_0000],
    ),
    plain(Swap, "swap", b"SWAPSPACE2", START)
        .magic_at(4086)
        .uuid(Uuid::Raw(1036))
        .label(1052, 16),
    plain(Swap, "swap", b"SWAPSPACE2", START)
        .magic_at(65_526)
        .uuid(Uuid::Raw(1036))
        .label(1052, 16),
    plain(Swap, "suspended memory", b"S1SUSPEND", START).magic_at(4086),
    plain(Volume, "LVM2", b"LVM2 001", &[0, 512, 1024, 1536])
        .magic_at(24)
        .uuid(Uuid::Lvm(32)),
    plain(Volume, "bcache", BCACHE, &[4096])
        .magic_at(24)
        .uuid(Uuid::Raw(40))
        .label(72, 32),
    plain(
        Volume,
        "stratis",
        b"!Stra0tis\x86\xff\x02^\x41rh",
        &[512, 4608],
    )
    .magic_at(4),
    plain(Volume, "vdo", b"dmvdo001", START),
    plain(Volume, "drbd", &0x8374_026d_u32.to_be_bytes(), &[-4096]).magic_at(60),
    plain(Volume, "drbd", &0x8374_026b_u32.to_be_bytes(), &[-4096]).magic_at(60),
    plain(Encryption, "LUKS", b"LUKS\xba\xbe", START).uuid(Uuid::Text(168, 40)),
    plain(Encryption, "BitLocker", b"-FVE-FS-", START).magic_at(3),
    // Version 1.1 lies at the start, 1.2 behind 4 KiB, 1.0 before the end (see `old_md`).
    plain(Raid, "md", MD, &[4096, 0])
        .uuid(Uuid::Raw(16))
        .label(32, 32),
    plain(Raid, "isw raid", b"Intel Raid ISM Cfg Sig. ", &[-1024]),
    plain(Raid, "ddf raid", &0xde11_de11_u32.to_be_bytes(), &[-512]),
    plain(Store, "ceph bluestore", b"bluestore block device", START),
    plain(Store, "Oracle ASM", b"ORCLDISK", START).magic_at(32),
];

/// ext2, ext3 and ext4 share a superblock and differ in their features.
fn ext(content: &(impl Content + ?Sized)) -> Option<Signature> {
    const START: u64 = 1024;
    let block = content.bytes(START, 256)?;
    if block[56..58] != 0xef53_u16.to_le_bytes() {
        return None;
    }
    let word =
        |at: usize| u32::from_le_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]]);
    let (compatible, incompatible, read_only) = (word(92), word(96), word(100));
    const JOURNAL: u32 = 1 << 2;
    const JOURNAL_DEVICE: u32 = 1 << 3;
    // Extents, 64-bit, flexible groups; huge files, checksums, big directories, large inodes.
    const EXT4: u32 = (1 << 6) | (1 << 7) | (1 << 9);
    const EXT4_WRITES: u32 = (1 << 3) | (1 << 4) | (1 << 5) | (1 << 6) | (1 << 10);
    let name = if incompatible & JOURNAL_DEVICE != 0 {
        "ext journal"
    } else if incompatible & EXT4 != 0 || read_only & EXT4_WRITES != 0 {
        "ext4"
    } else if compatible & JOURNAL != 0 {
        "ext3"
    } else {
        "ext2"
    };
    Some(Signature {
        kind: FileSystem,
        name: name.to_owned(),
        offset_bytes: START + 56,
        uuid: uuid_text(&block[104..120]),
        label: text(&block[120..136]),
    })
}

/// Superblocks of md near the end: version 1.0 and 0.90.
fn old_md(content: &(impl Content + ?Sized)) -> Option<Signature> {
    let size = content.size();
    // 8 KiB before the end, on a multiple of 4 KiB; and the last whole 64 KiB.
    let version_1_0 = (size.checked_sub(8192)?) & !4095;
    let version_0_90 = (size & !0xffff).checked_sub(0x1_0000);
    let magic = |at: u64| content.bytes(at, 4).is_some_and(|bytes| bytes == MD);
    let (at, uuid) = if magic(version_1_0) {
        (version_1_0, content.bytes(version_1_0 + 16, 16))
    } else {
        (version_0_90.filter(|at| magic(*at))?, None)
    };
    Some(Signature {
        kind: Raid,
        name: "md".to_owned(),
        offset_bytes: at,
        uuid: uuid.and_then(|raw| uuid_text(&raw)),
        label: None,
    })
}

/// The ring of uberblocks in the first of the four labels of a ZFS device.
fn zfs(content: &(impl Content + ?Sized)) -> Option<Signature> {
    const RING: u64 = 128 << 10;
    const MAGIC: u64 = 0x00ba_b10c;
    let ring = content.bytes(RING, 128 << 10)?;
    let place = ring
        .chunks_exact(1024)
        .position(|block| block[..8] == MAGIC.to_le_bytes() || block[..8] == MAGIC.to_be_bytes())?;
    Some(Signature {
        kind: Volume,
        name: "ZFS".to_owned(),
        offset_bytes: RING + 1024 * place as u64,
        ..Signature::default()
    })
}

/// GPT at the second block or in the last one, else an MBR with a partition. A FAT or NTFS boot
/// sector ends like an MBR and is none.
fn partition_table(content: &(impl Content + ?Sized), found: &[Signature]) -> Option<Signature> {
    let gpt = |at: u64| {
        content
            .bytes(at, 8)
            .is_some_and(|bytes| bytes == b"EFI PART")
    };
    let table = |name: &str, offset_bytes: u64, uuid: Option<String>| Signature {
        kind: SignatureKind::PartitionTable,
        name: name.to_owned(),
        offset_bytes,
        uuid,
        label: None,
    };
    let size = content.size();
    let ends = [512, 4096].map(|block| size.checked_sub(block));
    let places = [Some(512), Some(4096), ends[0], ends[1]];
    if let Some(at) = places.into_iter().flatten().find(|at| gpt(*at)) {
        let id = content.bytes(at + 56, 16).and_then(|raw| guid_text(&raw));
        return Some(table("gpt", at, id));
    }
    let sector = content.bytes(0, 512)?;
    let boot_sector = ["vfat", "ntfs", "exfat", "refs", "BitLocker"];
    if sector[510..] != [0x55, 0xaa]
        || found
            .iter()
            .any(|known| boot_sector.contains(&known.name.as_str()))
    {
        return None;
    }
    let entries = || sector[446..510].chunks_exact(16);
    let plausible = entries().all(|entry| matches!(entry[0], 0 | 0x80));
    let used = entries().any(|entry| entry[4] != 0);
    (plausible && used).then(|| table("mbr", 510, None))
}

/// Text up to the first zero byte, trimmed; `None` when nothing is left.
fn text(raw: &[u8]) -> Option<String> {
    let end = raw.iter().position(|byte| *byte == 0).unwrap_or(raw.len());
    let text = String::from_utf8_lossy(&raw[..end]).trim().to_owned();
    (!text.is_empty() && !text.chars().any(char::is_control)).then_some(text)
}

/// The usual text of 16 bytes; `None` when all are zero.
fn uuid_text(raw: &[u8]) -> Option<String> {
    if raw.iter().all(|byte| *byte == 0) {
        return None;
    }
    let hex = |part: &[u8]| part.iter().map(|b| format!("{b:02x}")).collect::<String>();
    Some(format!(
        "{}-{}-{}-{}-{}",
        hex(&raw[..4]),
        hex(&raw[4..6]),
        hex(&raw[6..8]),
        hex(&raw[8..10]),
        hex(&raw[10..])
    ))
}

/// GPT keeps the first three groups little-endian.
fn guid_text(raw: &[u8]) -> Option<String> {
    let mut turned = raw.to_vec();
    turned[..4].reverse();
    turned[4..6].reverse();
    turned[6..8].reverse();
    uuid_text(&turned)
}

/// LVM's ids are shown in groups of 6, 4, 4, 4, 4, 4 and 6 characters.
fn lvm_groups(id: &str) -> String {
    let mut rest: Vec<char> = id.chars().collect();
    let mut groups = Vec::new();
    for len in [6, 4, 4, 4, 4, 4, 6] {
        let tail = rest.split_off(len.min(rest.len()));
        groups.push(rest.into_iter().collect::<String>());
        rest = tail;
    }
    groups.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MIB: usize = 1 << 20;

    fn names(image: &[u8]) -> Vec<String> {
        probe(image).into_iter().map(|found| found.name).collect()
    }

    fn put(image: &mut [u8], at: usize, bytes: &[u8]) {
        image[at..at + bytes.len()].copy_from_slice(bytes);
    }

    #[test]
    fn every_kind_is_found_where_it_stands_and_alone() {
        for kind in KINDS {
            for place in kind.places {
                let mut image = vec![0; 2 * MIB];
                let start = match *place {
                    at @ 0.. => at as usize,
                    at => image.len() - at.unsigned_abs() as usize,
                };
                put(&mut image, start + kind.at as usize, kind.magic);
                assert_eq!(names(&image), [kind.name], "{} at {place}", kind.name);
                assert_eq!(
                    probe(image.as_slice())[0].offset_bytes,
                    start as u64 + kind.at
                );
            }
        }
    }

    #[test]
    fn ids_and_labels() {
        let mut image = vec![0; MIB];
        put(&mut image, 0, b"XFSB");
        put(&mut image, 32, &[0x11; 16]);
        put(&mut image, 108, b"MY_RAID");
        let found = &probe(image.as_slice())[0];
        assert_eq!(
            found.uuid.as_deref(),
            Some("11111111-1111-1111-1111-111111111111")
        );
        assert_eq!(found.label.as_deref(), Some("MY_RAID"));
        let mut image = vec![0; MIB];
        put(&mut image, 512, b"LABELONE");
        put(&mut image, 512 + 24, b"LVM2 001");
        put(&mut image, 512 + 32, b"abcdefGHIJklmnOPQRstuvWXYZ012345");
        let found = &probe(image.as_slice())[0];
        assert_eq!(
            found.uuid.as_deref(),
            Some("abcdef-GHIJ-klmn-OPQR-stuv-WXYZ-012345")
        );
    }

    #[test]
    fn ext_versions_by_their_features() {
        let image = |compatible: u32, incompatible: u32| {
            let mut image = vec![0; MIB];
            put(&mut image, 1024 + 56, &[0x53, 0xef]);
            put(&mut image, 1024 + 92, &compatible.to_le_bytes());
            put(&mut image, 1024 + 96, &incompatible.to_le_bytes());
            put(&mut image, 1024 + 120, b"data");
            image
        };
        assert_eq!(names(&image(0, 2)), ["ext2"]);
        assert_eq!(names(&image(4, 2)), ["ext3"]);
        assert_eq!(names(&image(4, 0x42)), ["ext4"]);
        assert_eq!(names(&image(0, 8)), ["ext journal"]);
        assert_eq!(
            probe(image(4, 0x42).as_slice())[0].label.as_deref(),
            Some("data")
        );
    }

    #[test]
    fn old_arrays_lie_at_the_end() {
        for (size, at) in [
            (MIB, MIB - 8192),
            (MIB + 512, MIB - 8192),
            (MIB + 5000, MIB - 0x1_0000),
        ] {
            let mut image = vec![0; size];
            put(&mut image, at, MD);
            assert_eq!(names(&image), ["md"], "{size} {at}");
        }
    }

    #[test]
    fn pools_by_any_uberblock_of_either_byte_order() {
        for (at, magic) in [
            (128 << 10, 0x00ba_b10c_u64.to_le_bytes()),
            ((128 + 77) << 10, 0x00ba_b10c_u64.to_be_bytes()),
        ] {
            let mut image = vec![0; MIB];
            put(&mut image, at, &magic);
            assert_eq!(names(&image), ["ZFS"]);
        }
    }

    #[test]
    fn partition_tables() {
        let mut image = vec![0; MIB];
        put(&mut image, 510, &[0x55, 0xaa]);
        assert_eq!(names(&image), [""; 0], "an MBR without partitions");
        put(&mut image, 450, &[0x83]);
        assert_eq!(names(&image), ["mbr"]);
        put(&mut image, 446, &[0x33]);
        assert_eq!(names(&image), [""; 0], "boot code is no table");
        for at in [512, 4096, MIB - 512, MIB - 4096] {
            let mut image = vec![0; MIB];
            put(&mut image, at, b"EFI PART");
            put(
                &mut image,
                at + 56,
                &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
            );
            let found = &probe(image.as_slice())[0];
            assert_eq!(
                (found.name.as_str(), found.offset_bytes),
                ("gpt", at as u64)
            );
            let id = "04030201-0605-0807-090a-0b0c0d0e0f10";
            assert_eq!(found.uuid.as_deref(), Some(id));
        }
    }

    #[test]
    fn nothing_in_zeroes_and_in_small_devices() {
        assert_eq!(probe(vec![0; MIB].as_slice()), []);
        assert_eq!(probe([].as_slice()), []);
        assert_eq!(probe(vec![0xff; 700].as_slice()), []);
        assert_eq!(probe_path(Path::new("/dev/null"), 0), None);
    }

    proptest! {
        #[test]
        fn no_content_panics(image in proptest::collection::vec(any::<u8>(), 0..9000)) {
            probe(image.as_slice());
        }
    }
}
