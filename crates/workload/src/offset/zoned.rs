//! The `zoned` and `zoned_abs` distributions: shares of the accesses over parts of a region.

use crate::rng::Taus88;
use crate::spec::{SpecError, ZoneShare};

/// The part of a region that one draw selects: first block and number of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) first: u64,
    pub(crate) count: u64,
}

/// The zones of one direction, one entry per percent of the accesses.
#[derive(Clone, Debug)]
pub(crate) enum Zones {
    /// Start and end in percent of the blocks.
    Percent(Box<[(u64, u64); 100]>),
    /// Start and end in blocks.
    Blocks(Box<[(u64, u64); 100]>),
}

impl Zones {
    /// Zones whose sizes are percentages. `None` without zones: the direction is uniform.
    pub(crate) fn percent(shares: &[ZoneShare]) -> Result<Option<Self>, SpecError> {
        let end: u64 = shares.iter().map(|share| share.size).sum();
        if end > 100 {
            return Err(percent_error(end, 1));
        }
        Ok(table(shares, |bytes| bytes)?.map(Zones::Percent))
    }

    /// Zones whose sizes are bytes, for blocks of `align` bytes.
    pub(crate) fn bytes(shares: &[ZoneShare], align: u64) -> Result<Option<Self>, SpecError> {
        Ok(table(shares, |bytes| bytes / align)?.map(Zones::Blocks))
    }

    /// Draws a zone of a region of `blocks` blocks; `None` if it ends behind the region.
    #[inline]
    pub(crate) fn next(&self, rand: &mut Taus88, blocks: u64) -> Option<Span> {
        let draw = rand.percent() as usize - 1;
        match self {
            Zones::Percent(table) => {
                let (start, end) = table[draw];
                Some(Span {
                    first: start * blocks / 100,
                    count: blocks * (end - start) / 100,
                })
            }
            Zones::Blocks(table) => {
                let (start, end) = table[draw];
                (end <= blocks).then_some(Span {
                    first: start,
                    count: end - start,
                })
            }
        }
    }
}

fn percent_error(percent: u64, low: u64) -> SpecError {
    SpecError::Percent {
        what: "random_distribution=zoned",
        percent,
        low,
        high: 100,
    }
}

type Table = Box<[(u64, u64); 100]>;

fn table(shares: &[ZoneShare], scale: impl Fn(u64) -> u64) -> Result<Option<Table>, SpecError> {
    if shares.is_empty() {
        return Ok(None);
    }
    let total: u64 = shares
        .iter()
        .map(|share| u64::from(share.access_percent))
        .sum();
    if total != 100 {
        return Err(percent_error(total, 100));
    }
    let mut table = Box::new([(0, 0); 100]);
    let (mut at, mut start) = (0, 0u64);
    for share in shares {
        let end = start.saturating_add(share.size);
        let next = at + usize::from(share.access_percent);
        table[at..next].fill((scale(start), scale(end)));
        (at, start) = (next, end);
    }
    Ok(Some(table))
}
