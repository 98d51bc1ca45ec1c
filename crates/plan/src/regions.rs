//! From the size options and the sizes that are there to one region per file: fio's arithmetic,
//! observed with `fio --debug=file` and by the files and totals of finished runs.
//!
//! Invariants: every region lies inside its file as it will be when the run starts, and the pass
//! is at least one smallest block.

use crate::TargetKind;
use units::{Amount, Range};

/// The size options of one worker.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    /// `size`; zero when not given.
    pub size: Amount,
    /// `filesize`.
    pub filesize: Option<Range<u64>>,
    /// `io_size`; zero when not given.
    pub io_size: Amount,
    /// `offset`.
    pub offset: Amount,
    /// `offset_increment`.
    pub offset_increment: Amount,
    /// `offset_align`, when given.
    pub offset_align: Option<u64>,
    /// `file_append`: start at the end of existing files.
    pub append: bool,
    /// `fill_device`: no end but that of the device.
    pub fill: bool,
    /// Smallest block of the directions in use, bytes.
    pub min_bs: u64,
    /// Smallest block of all directions, bytes; random file sizes are multiples of it.
    pub grain: u64,
    /// Which clone of its job this is, from 0.
    pub clone: u32,
}

/// A file or device as it is before the layout.
#[derive(Clone, Debug)]
pub struct Found {
    /// Where, for messages.
    pub path: String,
    /// What it is. [`TargetKind::None`] for engines without a disk.
    pub kind: TargetKind,
    /// Its size in bytes, 0 if it does not exist; `None` where there is no such thing.
    pub size_bytes: Option<u64>,
}

/// The part of one file that a worker covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// First byte.
    pub offset_bytes: u64,
    /// Length.
    pub length_bytes: u64,
    /// Size of the file when the run starts. For a regular file, larger than what was found
    /// means that it must be laid out.
    pub file_bytes: u64,
}

/// The regions and amounts of one worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regions {
    /// One for each file.
    pub regions: Vec<Region>,
    /// Bytes of one pass over the region.
    pub size_bytes: u64,
    /// `io_size` in bytes; 0 when it does not differ from the pass.
    pub io_size_bytes: u64,
}

/// Why there are no regions. The texts name the option.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegionError {
    /// Nothing says how large the files should be.
    #[error("size= is needed: {path} does not exist or is empty")]
    NoSize {
        /// The first file.
        path: String,
    },
    /// A share of a file that is not there.
    #[error("size={percent}% is a share of {path}, which does not exist or is empty")]
    ShareOfNothing {
        /// The percentage.
        percent: u32,
        /// The first file.
        path: String,
    },
    /// Region begins behind the end.
    #[error("offset={offset} lies beyond the end of {path} ({size} bytes)")]
    Offset {
        /// The offset with its increments, in bytes.
        offset: u64,
        /// The file.
        path: String,
        /// Its size in bytes.
        size: u64,
    },
    /// No block fits.
    #[error("bs={bs} is larger than {what}")]
    Block {
        /// Smallest block in bytes.
        bs: u64,
        /// What it does not fit into, with its size.
        what: String,
    },
    /// A number beyond 2^63.
    #[error("{option}= leads beyond the largest file offset")]
    TooLarge {
        /// The option.
        option: &'static str,
    },
    /// Amounts in zones.
    #[error("{option}= in zones needs a zoned device, which is not supported yet")]
    Zones {
        /// The option.
        option: &'static str,
    },
}

/// The kernel's largest file offset.
const MAX_OFFSET: u64 = i64::MAX as u64;

/// Bytes of an amount that is not relative, or `None` for a percentage.
fn bytes(amount: Amount, option: &'static str) -> Result<Option<u64>, RegionError> {
    match amount {
        Amount::Bytes(bytes) if bytes > MAX_OFFSET => Err(RegionError::TooLarge { option }),
        Amount::Bytes(bytes) => Ok(Some(bytes)),
        Amount::Percent(_) => Ok(None),
        Amount::Zones(0) => Ok(Some(0)),
        Amount::Zones(_) => Err(RegionError::Zones { option }),
    }
}

/// `percent` of `bytes`, rounded down.
fn share(bytes: u64, percent: u32) -> u64 {
    (u128::from(bytes) * u128::from(percent) / 100) as u64
}

/// Settles the regions of one worker. `random` draws a number below its argument, for each file
/// whose size comes from a range.
///
/// # Errors
/// [`RegionError`].
pub fn settle(
    ask: &Ask,
    found: &[Found],
    mut random: impl FnMut(u64) -> u64,
) -> Result<Regions, RegionError> {
    let files = found.len().max(1) as u64;
    let given = bytes(ask.size, "size")?.unwrap_or(0);
    let io_size_bytes = bytes(ask.io_size, "io_size")?.unwrap_or(0);
    if given > 0 && given < ask.min_bs {
        return Err(too_small(ask, format!("size={given}")));
    }
    check_given(ask, given, found)?;
    // What does not divide goes to the first files, a block each.
    let each = given / files;
    let mut extra = (given - each * files) / ask.min_bs;
    let mut regions = Vec::with_capacity(found.len());
    let mut total = 0u64;
    for file in found {
        let wanted = each + if extra > 0 { ask.min_bs } else { 0 };
        extra = extra.saturating_sub(1);
        let mut region = region(ask, file, each, wanted, &mut random)?;
        total = total.saturating_add(match ask.io_size {
            Amount::Percent(percent) if percent > 0 => share(region.length_bytes, percent),
            _ => region.length_bytes,
        });
        region.length_bytes = region
            .length_bytes
            .min(region.file_bytes - region.offset_bytes);
        regions.push(region);
    }
    let size_bytes = if given == 0 || (total > 0 && given > total) {
        total
    } else {
        given
    };
    if size_bytes < ask.min_bs {
        return Err(too_small(
            ask,
            format!("the {size_bytes} bytes there are to cover"),
        ));
    }
    let largest = regions
        .iter()
        .map(|region| region.length_bytes)
        .max()
        .unwrap_or(0);
    if largest < ask.min_bs {
        return Err(too_small(
            ask,
            format!("the {largest} bytes of each of {files} files"),
        ));
    }
    Ok(Regions {
        regions,
        size_bytes,
        io_size_bytes,
    })
}

fn too_small(ask: &Ask, what: String) -> RegionError {
    RegionError::Block {
        bs: ask.min_bs,
        what,
    }
}

/// Refuses jobs whose files have no size from anywhere.
fn check_given(ask: &Ask, given: u64, found: &[Found]) -> Result<(), RegionError> {
    if given > 0 || ask.filesize.is_some() || ask.fill {
        return Ok(());
    }
    let known: Option<u64> = found.iter().map(|file| file.size_bytes).sum();
    if known.is_some_and(|bytes| bytes > 0) {
        return Ok(());
    }
    let path = found
        .first()
        .map(|file| file.path.clone())
        .unwrap_or_default();
    match ask.size {
        Amount::Percent(percent) if percent > 0 => {
            Err(RegionError::ShareOfNothing { percent, path })
        }
        _ => Err(RegionError::NoSize { path }),
    }
}

/// The region of one file; its length is not yet cut to the end of a device. `each` is the
/// file's part of `size`, and `wanted` that with what the first files get besides.
fn region(
    ask: &Ask,
    file: &Found,
    each: u64,
    wanted: u64,
    random: &mut impl FnMut(u64) -> u64,
) -> Result<Region, RegionError> {
    let real = file.size_bytes.unwrap_or(each);
    let offset = start(ask, file, real)?;
    let beyond = |size| RegionError::Offset {
        offset,
        path: file.path.clone(),
        size,
    };
    let rest = || real.checked_sub(offset).ok_or_else(|| beyond(real));
    let mut length = match ask.filesize {
        _ if ask.fill && file.kind == TargetKind::File => {
            let room = MAX_OFFSET - offset;
            room - room % ask.min_bs
        }
        None if wanted > 0 => wanted,
        None => rest()?,
        Some(Range { lo, hi }) if file.size_bytes.is_none() || real < lo || real > hi => {
            let size = match hi - lo {
                0 => lo,
                span => {
                    let size = lo + random(span);
                    size - size % ask.grain
                }
            };
            size.checked_sub(offset).ok_or_else(|| beyond(size))?
        }
        Some(_) => rest()?,
    };
    if let Amount::Percent(percent @ 1..=99) = ask.size {
        let part = share(length.saturating_add(offset), percent).min(length);
        length = part - part % ask.min_bs;
    }
    let end = offset.checked_add(length).filter(|end| *end <= MAX_OFFSET);
    let end = end.ok_or(RegionError::TooLarge { option: "size" })?;
    let file_bytes = match file.kind {
        TargetKind::File => real.max(end),
        _ if file.size_bytes.is_none() => end,
        _ => real,
    };
    if offset >= file_bytes && length > 0 {
        return Err(beyond(file_bytes));
    }
    Ok(Region {
        offset_bytes: offset,
        length_bytes: length,
        file_bytes,
    })
}

/// First byte of the region. Shares of a file are rounded up to `offset_align`, or to a block.
fn start(ask: &Ask, file: &Found, real: u64) -> Result<u64, RegionError> {
    if ask.append && file.kind == TargetKind::File {
        return Ok(real);
    }
    let (mut offset, mut relative) = match bytes(ask.offset, "offset")? {
        Some(bytes) => (bytes, false),
        None => match ask.offset {
            Amount::Percent(percent) => (share(real, percent), percent > 0),
            _ => (0, false),
        },
    };
    let step = match (
        bytes(ask.offset_increment, "offset_increment")?,
        ask.offset_increment,
    ) {
        (Some(bytes), _) => bytes,
        (None, Amount::Percent(percent)) => {
            relative |= percent > 0;
            share(real, percent)
        }
        (None, _) => 0,
    };
    let too_large = RegionError::TooLarge { option: "offset" };
    let moved = step
        .checked_mul(u64::from(ask.clone))
        .and_then(|by| offset.checked_add(by));
    offset = moved.filter(|at| *at <= MAX_OFFSET).ok_or(too_large)?;
    if relative {
        offset = offset.next_multiple_of(ask.offset_align.unwrap_or(ask.min_bs).max(1));
    }
    Ok(offset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KIB: u64 = 1024;

    fn ask() -> Ask {
        Ask {
            size: Amount::Bytes(0),
            filesize: None,
            io_size: Amount::Bytes(0),
            offset: Amount::Bytes(0),
            offset_increment: Amount::Bytes(0),
            offset_align: None,
            append: false,
            fill: false,
            min_bs: 4 * KIB,
            grain: 4 * KIB,
            clone: 0,
        }
    }

    fn files(sizes: &[u64]) -> Vec<Found> {
        let one = |(i, size): (usize, &u64)| Found {
            path: format!("f{i}"),
            kind: TargetKind::File,
            size_bytes: Some(*size),
        };
        sizes.iter().enumerate().map(one).collect()
    }

    fn device(size: Option<u64>, kind: TargetKind) -> Vec<Found> {
        vec![Found {
            path: "dev".into(),
            kind,
            size_bytes: size,
        }]
    }

    fn plain(ask: Ask, found: &[Found]) -> Result<Vec<(u64, u64)>, String> {
        let settled = settle(&ask, found, |span| span / 2).map_err(|e| e.to_string())?;
        Ok(settled
            .regions
            .iter()
            .map(|r| (r.offset_bytes, r.length_bytes))
            .collect())
    }

    #[test]
    fn size_is_divided_and_the_first_files_take_the_rest() {
        let ask = Ask {
            size: Amount::Bytes(40 * KIB),
            ..ask()
        };
        let lengths = plain(ask, &files(&[0, 0, 0])).unwrap();
        assert_eq!(
            lengths,
            [(0, 40 * KIB / 3), (0, 40 * KIB / 3), (0, 40 * KIB / 3)]
        );
        let ask = Ask {
            size: Amount::Bytes(40 * KIB + 1),
            min_bs: 1,
            ..ask
        };
        let settled = settle(&ask, &files(&[0, 0]), |_| 0).unwrap();
        assert_eq!(settled.regions[0].length_bytes, 20 * KIB + 1);
        assert_eq!(settled.size_bytes, 40 * KIB + 1);
    }

    #[test]
    fn existing_files_give_the_size() {
        assert_eq!(plain(ask(), &files(&[64 * KIB])).unwrap(), [(0, 64 * KIB)]);
        let half = Ask {
            size: Amount::Percent(50),
            ..ask()
        };
        assert_eq!(plain(half, &files(&[65 * KIB])).unwrap(), [(0, 32 * KIB)]);
        let error = plain(half, &files(&[0])).unwrap_err();
        assert_eq!(
            error,
            "size=50% is a share of f0, which does not exist or is empty"
        );
        assert!(
            plain(ask(), &files(&[0]))
                .unwrap_err()
                .starts_with("size= is needed: f0")
        );
    }

    #[test]
    fn offsets_step_with_the_clone_and_shares_round_up() {
        let mut ask = Ask {
            offset: Amount::Percent(10),
            clone: 2,
            ..ask()
        };
        ask.offset_increment = Amount::Percent(20);
        ask.size = Amount::Bytes(8 * KIB);
        let start = (100 * KIB / 10 + 2 * 20 * KIB).next_multiple_of(4 * KIB);
        let found = device(Some(100 * KIB), TargetKind::Block);
        assert_eq!(plain(ask, &found).unwrap(), [(start, 8 * KIB)]);
        ask.offset_align = Some(512);
        assert_eq!(plain(ask, &found).unwrap(), [(50 * KIB, 8 * KIB)]);
        ask.offset = Amount::Bytes(200 * KIB);
        let error = plain(ask, &found).unwrap_err();
        assert!(
            error.contains("lies beyond the end of dev (102400 bytes)"),
            "{error}"
        );
    }

    #[test]
    fn filesize_rules_over_size() {
        let range = Some(Range {
            lo: 16 * KIB,
            hi: 32 * KIB,
        });
        let ask = Ask {
            filesize: range,
            size: Amount::Bytes(KIB << 10),
            ..ask()
        };
        let settled = settle(&ask, &files(&[0, 20 * KIB]), |span| span / 2).unwrap();
        let lengths: Vec<u64> = settled.regions.iter().map(|r| r.length_bytes).collect();
        assert_eq!(lengths, [24 * KIB, 20 * KIB]);
        assert_eq!(settled.size_bytes, 44 * KIB);
    }

    #[test]
    fn blocks_that_do_not_fit_are_refused() {
        let ask = Ask {
            size: Amount::Bytes(2 * KIB),
            ..ask()
        };
        assert_eq!(
            plain(ask, &files(&[0])).unwrap_err(),
            "bs=4096 is larger than size=2048"
        );
        let ask = Ask {
            size: Amount::Bytes(8 * KIB),
            ..ask
        };
        let error = plain(ask, &files(&[0, 0, 0])).unwrap_err();
        assert_eq!(
            error,
            "bs=4096 is larger than the 2730 bytes of each of 3 files"
        );
        let ask = Ask {
            size: Amount::Bytes(0),
            ..ask
        };
        assert!(
            plain(ask, &files(&[KIB]))
                .unwrap_err()
                .starts_with("bs=4096 is larger than")
        );
    }

    #[test]
    fn devices_are_not_exceeded_and_diskless_engines_have_no_end() {
        let ask = Ask {
            size: Amount::Bytes(64 * KIB),
            ..ask()
        };
        let found = device(Some(32 * KIB), TargetKind::Block);
        let settled = settle(&ask, &found, |_| 0).unwrap();
        assert_eq!(settled.regions[0].length_bytes, 32 * KIB);
        assert_eq!(settled.size_bytes, 64 * KIB);
        let none = settle(&ask, &device(None, TargetKind::None), |_| 0).unwrap();
        assert_eq!(none.regions[0].file_bytes, 64 * KIB);
        let unsized_ = Ask {
            size: Amount::Bytes(0),
            ..ask
        };
        assert!(plain(unsized_, &device(None, TargetKind::None)).is_err());
    }

    #[test]
    fn io_size_shares_shorten_the_pass_only() {
        let ask = Ask {
            size: Amount::Bytes(64 * KIB),
            io_size: Amount::Percent(25),
            ..ask()
        };
        let settled = settle(&ask, &files(&[0]), |_| 0).unwrap();
        assert_eq!(
            (settled.regions[0].length_bytes, settled.size_bytes),
            (64 * KIB, 16 * KIB)
        );
        assert_eq!(settled.io_size_bytes, 0);
        let ask = Ask {
            io_size: Amount::Bytes(KIB << 10),
            ..ask
        };
        assert_eq!(
            settle(&ask, &files(&[0]), |_| 0).unwrap().io_size_bytes,
            KIB << 10
        );
    }

    fn amounts() -> impl Strategy<Value = Amount> {
        prop_oneof![
            (0u64..1 << 40).prop_map(Amount::Bytes),
            (0u32..=100).prop_map(Amount::Percent),
            any::<u64>().prop_map(Amount::Bytes),
        ]
    }

    proptest! {
        #[test]
        fn regions_lie_inside_their_files(
            size in amounts(), io_size in amounts(), offset in amounts(), step in amounts(),
            align in proptest::option::of(0u64..1 << 20), clone in 0u32..64,
            filesize in proptest::option::of((1u64..1 << 30, 0u64..1 << 30)),
            blocks in (0u32..22).prop_map(|bits| 1u64 << bits), append in any::<bool>(),
            fill in any::<bool>(),
            found in proptest::collection::vec((0u64..1 << 40, 0u8..3), 1..9),
        ) {
            let ask = Ask {
                size, io_size, offset, offset_increment: step, offset_align: align, clone, append,
                fill, filesize: filesize.map(|(lo, more)| Range { lo, hi: lo + more }),
                min_bs: blocks, grain: blocks,
            };
            let found: Vec<Found> = found.iter().map(|(size, kind)| {
                let kind = [TargetKind::File, TargetKind::Block, TargetKind::None][*kind as usize];
                let size_bytes = (kind != TargetKind::None).then_some(*size);
                Found { path: "f".into(), kind, size_bytes }
            }).collect();
            let Ok(settled) = settle(&ask, &found, |span| span - 1) else { return Ok(()) };
            prop_assert_eq!(settled.regions.len(), found.len());
            prop_assert!(settled.size_bytes >= blocks);
            for (region, file) in settled.regions.iter().zip(&found) {
                let end = region.offset_bytes + region.length_bytes;
                prop_assert!(end <= region.file_bytes && region.file_bytes <= MAX_OFFSET);
                prop_assert!(region.file_bytes >= file.size_bytes.unwrap_or(0));
                if file.kind == TargetKind::Block {
                    prop_assert_eq!(Some(region.file_bytes), file.size_bytes);
                }
            }
        }
    }
}
