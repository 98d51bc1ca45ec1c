//! What a [`Spec`] must satisfy before a sequence can be made from it.

use crate::spec::{BlockSize, Spec, SpecError};

/// Linux moves at most 2^31 bytes with one call, and request lengths are 32 bits.
const LARGEST_BLOCK: u64 = i32::MAX as u64;

pub(super) fn check(spec: &Spec) -> Result<(), SpecError> {
    if spec.files.is_empty() || spec.files.len() > 1 << 16 {
        return Err(SpecError::Files(spec.files.len()));
    }
    for block in &spec.block.0 {
        check_block(block)?;
    }
    check_percent("rwmixread", spec.rwmix_read)?;
    for &percent in &spec.percentage_random.0 {
        check_percent("percentage_random", percent)?;
    }
    check_value(
        spec.file_service.requests >= 1,
        "file_service_type",
        "N must be at least 1",
    )?;
    check_value(
        spec.sequence_count >= 1,
        "rw",
        "the number of requests must be at least 1",
    )?;
    check_value(spec.thread_number >= 1, "thread number", "counts from 1")?;
    for &align in &spec.block_align.0 {
        check_value(align < 1 << 63, "blockalign", "must be below 2^63")?;
    }
    for region in &spec.files {
        let end = region.offset.checked_add(region.length);
        check_value(
            end.is_some(),
            "size",
            "offset and size must stay below 2^64",
        )?;
    }
    if let Some(zone) = spec.strided {
        check_value(
            zone.size > 0,
            "zonesize",
            "must be above 0 with zonemode=strided",
        )?;
        check_value(
            zone.range > 0,
            "zonerange",
            "must be above 0 with zonemode=strided",
        )?;
    }
    Ok(())
}

fn check_block(block: &BlockSize) -> Result<(), SpecError> {
    let &BlockSize { min, max, .. } = block;
    let in_bounds = |share: &crate::SizeShare| (min..=max).contains(&share.bytes);
    if min == 0 || min > max || max > LARGEST_BLOCK || !block.split.iter().all(in_bounds) {
        return Err(SpecError::BlockSize { min, max });
    }
    let sum: u64 = block
        .split
        .iter()
        .map(|share| u64::from(share.percent))
        .sum();
    if !block.split.is_empty() && !(1..=100).contains(&sum) {
        return Err(SpecError::Percent {
            what: "bssplit",
            percent: sum,
            low: 1,
            high: 100,
        });
    }
    Ok(())
}

fn check_percent(what: &'static str, percent: u32) -> Result<(), SpecError> {
    if percent > 100 {
        return Err(SpecError::Percent {
            what,
            percent: u64::from(percent),
            low: 0,
            high: 100,
        });
    }
    Ok(())
}

fn check_value(ok: bool, what: &'static str, reason: &'static str) -> Result<(), SpecError> {
    if ok {
        Ok(())
    } else {
        Err(SpecError::Value { what, reason })
    }
}
