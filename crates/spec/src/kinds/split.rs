//! `bssplit`: a weighted list of block sizes.

use option::{Ctx, Kind, Scanned, Value, ValueError};
use units::number;

/// fio keeps at most this many entries per direction.
const MAX_ENTRIES: usize = 64;

/// Block sizes with the percentage of requests that have them, sorted by percentage (equal
/// ones in the order typed), which is the order in which fio walks them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockSplit(pub Vec<(u64, u32)>);

impl BlockSplit {
    /// True when no split was asked for.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Smallest and largest size in bytes.
    pub fn bounds(&self) -> Option<(u64, u64)> {
        let sizes = self.0.iter().map(|(bytes, _)| *bytes);
        Some((sizes.clone().min()?, sizes.max()?))
    }
}

/// Gives the entries without a percentage equal shares of what the others leave.
pub(super) fn share_rest(percents: &mut [Option<u32>]) -> bool {
    let given: u64 = percents.iter().flatten().map(|p| u64::from(*p)).sum();
    if given > 100 {
        return false;
    }
    let missing = percents.iter().filter(|p| p.is_none()).count() as u64;
    if let Some(each) = (100 - given).checked_div(missing) {
        percents
            .iter_mut()
            .for_each(|p| *p = Some(p.unwrap_or(each as u32)));
    }
    true
}

/// A percentage as fio's splits read it: empty or 0 means "what is left".
pub(super) fn share(text: &str) -> Option<Option<u32>> {
    match text.trim().trim_end_matches('%') {
        "" => Some(None),
        digits => match digits.parse::<u32>().ok()? {
            0 => Some(None),
            n => Some(Some(n.min(100))),
        },
    }
}

impl Value for BlockSplit {
    const KIND: Kind = Kind::Text;

    fn parse(text: &str, ctx: &Ctx<'_>) -> Result<Scanned<Self>, ValueError> {
        let wrong = |why: &str| ValueError::syntax(text, why);
        let mut sizes = Vec::new();
        let mut percents = Vec::new();
        let mut note = None;
        for entry in text.trim().split(':').filter(|e| !e.is_empty()) {
            let (size, percent) = entry.split_once('/').unwrap_or((entry, ""));
            let scanned = number::bytes(size, ctx.kb_base)?;
            if scanned.value == 0 {
                return Err(wrong("block sizes must be at least 1"));
            }
            note = note.or(scanned.note);
            sizes.push(scanned.value);
            percents.push(share(percent).ok_or_else(|| wrong("expected size/percent pairs"))?);
        }
        if sizes.is_empty() || sizes.len() > MAX_ENTRIES {
            return Err(wrong(
                "expected 1 to 64 size/percent pairs separated by colons",
            ));
        }
        if !share_rest(&mut percents) {
            return Err(wrong("the percentages add up to more than 100"));
        }
        let mut split: Vec<(u64, u32)> = sizes
            .into_iter()
            .zip(percents.into_iter().map(Option::unwrap_or_default))
            .collect();
        split.sort_by_key(|(_, percent)| *percent);
        Ok(Scanned {
            value: BlockSplit(split),
            note,
        })
    }

    fn show(&self) -> String {
        self.0
            .iter()
            .map(|(b, p)| format!("{b}/{p}"))
            .collect::<Vec<_>>()
            .join(":")
    }
}
