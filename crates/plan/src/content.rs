//! What buffers are made of and hold, and how written data are verified.

use crate::error::Fault;
use crate::job::Job;
use crate::model::{Buffers, Memory, Verify};
use spec::kinds::{MemKind, Pattern, PatternPart, VerifyKind as Word};
use units::Ddir;
use workload::{FillPolicy, VerifyKind, VerifySpec};

/// Buffers of the worker whose contents start from `seed`.
pub(crate) fn buffers(job: &Job<'_>, page_bytes: u64, seed: u64) -> Result<Buffers, Fault> {
    let options = &job.options.buffer;
    let align_bytes = u64::from(options.iomem_align).max(page_bytes);
    if !align_bytes.is_power_of_two() {
        let text = format!("iomem_align={}: needs a power of two", options.iomem_align);
        return Err(Fault::option("iomem_align", text));
    }
    let memory = match options.mem.kind {
        MemKind::Shm | MemKind::MmapShared => Memory::Shared,
        MemKind::ShmHuge | MemKind::MmapHuge => Memory::Huge(options.hugepage_size),
        MemKind::Malloc | MemKind::Mmap | MemKind::CudaMalloc => Memory::Anonymous,
    };
    let (pattern, offsets) = read_pattern(&options.buffer_pattern, "buffer_pattern")?;
    if !offsets.is_empty() {
        return Err(Fault::option(
            "buffer_pattern",
            "buffer_pattern: %o is for verify_pattern",
        ));
    }
    Ok(Buffers {
        memory: options
            .mem
            .file
            .clone()
            .map_or(memory, |file| Memory::File(file.into())),
        align_bytes,
        slot_bytes: job.max_bs(),
        fill: FillPolicy {
            zero: options.zero_buffers || options.buffer_compress_percentage == Some(100),
            pattern,
            refill: job.refill,
            scramble: options.scramble_buffers
                && !(options.zero_buffers && job.options.was_set("zero_buffers")),
            compress_percent: options.buffer_compress_percentage.unwrap_or(0),
            compress_chunk: options.buffer_compress_chunk,
            dedupe_percent: options.dedupe_percentage.unwrap_or(0),
            seed,
        },
        lock_bytes: options.lockmem,
    })
}

/// The bytes of a pattern with its files read, and the places of its offsets.
fn read_pattern(pattern: &Pattern, option: &'static str) -> Result<(Vec<u8>, Vec<u32>), Fault> {
    let (mut bytes, mut offsets) = (Vec::new(), Vec::new());
    for part in &pattern.0 {
        match part {
            PatternPart::Bytes(more) => bytes.extend_from_slice(more),
            PatternPart::Offset => {
                // Patterns are typed, or files that fit in memory.
                offsets.push(bytes.len() as u32);
                bytes.extend_from_slice(&[0; 8]);
            }
            PatternPart::File(name) => {
                let content = std::fs::read(name).map_err(|error| {
                    Fault::option(option, format!("{option}: cannot read {name}: {error}"))
                })?;
                bytes.extend(content);
            }
        }
    }
    Ok((bytes, offsets))
}

/// Verification, when the job verifies.
pub(crate) fn verify(job: &Job<'_>) -> Result<Option<Verify>, Fault> {
    let options = &job.options.verify;
    if options.verify == Word::None {
        return Ok(None);
    }
    let kind = VerifyKind::from_name(options.verify.word()).ok_or_else(|| {
        let text = format!("verify={} is not supported", options.verify.word());
        Fault::option("verify", text)
    })?;
    let mode = job.options.io.rw.mode;
    let (read, write) = (&job.block[Ddir::Read], &job.block[Ddir::Write]);
    let smallest = if mode.reads() {
        read.min.min(write.min)
    } else {
        write.min
    };
    let narrow = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
    let interval = VerifySpec::interval_for(
        options.verify_interval.unwrap_or(0),
        narrow(smallest),
        narrow(write.max),
        job.options.block.bs_unaligned,
    );
    let (bytes, offsets) = read_pattern(&options.verify_pattern, "verify_pattern")?;
    let content = VerifySpec {
        interval,
        offset: options.verify_offset,
        pattern: workload::Pattern::new(bytes, offsets),
        pattern_interval: options.verify_pattern_interval,
        compress_percent: job.options.buffer.buffer_compress_percentage.unwrap_or(0),
        fill_pattern: read_pattern(&job.options.buffer.buffer_pattern, "buffer_pattern")?.0,
        check_seed: options.verify_header_seed,
        check_sequence: options.verify_write_sequence,
        trim_zero: job.options.io.trim_verify_zero,
        ..VerifySpec::new(kind)
    };
    content.validate(narrow(smallest))?;
    Ok(Some(Verify {
        content,
        read_back: options.do_verify && mode.writes(),
        only: options.verify_only,
        fatal: options.verify_fatal,
        dump: options.verify_dump,
        backlog: options.verify_backlog,
        backlog_batch: if options.verify_backlog_batch == 0 {
            options.verify_backlog
        } else {
            options.verify_backlog_batch.into()
        },
    }))
}
