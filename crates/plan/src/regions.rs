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
    #[error("size= is needed: {path} has no size of its own")]
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
    #[error("{option}= in zones needs zonemode=zbd, or zonemode=strided with zonesize=")]
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
mod tests;
