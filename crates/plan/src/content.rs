//! What buffers are made of and hold, and how written data are verified.

use crate::error::Fault;
use crate::guard;
use crate::job::Job;
use crate::model::{Buffers, Memory, Verify};
use crate::saved;
use host::Facts;
use spec::kinds::{DedupeMode, MemKind, Pattern, PatternPart, VerifyKind as Word, ZoneMode};
use std::path::PathBuf;
use std::sync::Arc;
use units::Ddir;
use workload::verify::Trims;
use workload::{FillPolicy, VerifyKind, VerifySpec, WorkingSet};

/// Memory that `lockmem` leaves alone, bytes: what fio leaves.
const LEFT_FREE: u64 = 128 << 20;

/// Buffers of the worker whose contents start from `seed`.
pub(crate) fn buffers(
    job: &Job<'_>,
    facts: &Facts,
    covered_bytes: u64,
    seed: u64,
) -> Result<Buffers, Fault> {
    let page_bytes = facts.system.page_bytes;
    let options = &job.options.buffer;
    let align_bytes = u64::from(options.iomem_align).max(page_bytes);
    if !align_bytes.is_power_of_two() {
        let text = format!("iomem_align={}: needs a power of two", options.iomem_align);
        return Err(Fault::option("iomem_align", text));
    }
    let memory = memory(job, facts)?;
    let (pattern, offsets) = read_pattern(&options.buffer_pattern, "buffer_pattern")?;
    if !offsets.is_empty() {
        return Err(Fault::option(
            "buffer_pattern",
            "buffer_pattern: %o is for verify_pattern",
        ));
    }
    Ok(Buffers {
        memory,
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
            working_sets: working_set(job, covered_bytes, seed)?.into_iter().collect(),
            seed,
        },
        lock_bytes: match options.lockmem {
            0 => 0,
            wanted => wanted.min(facts.system.memory_bytes.saturating_sub(LEFT_FREE)),
        },
    })
}

/// The kind of memory that buffers are made of.
fn memory(job: &Job<'_>, facts: &Facts) -> Result<Memory, Fault> {
    let options = &job.options.buffer;
    let kind = options.mem.kind;
    let huge = match kind {
        MemKind::ShmHuge | MemKind::MmapHuge => Some(options.hugepage_size),
        _ => None,
    };
    if let Some(bytes) = huge.filter(|bytes| !bytes.is_power_of_two()) {
        let text = format!("hugepage-size={bytes}: needs a power of two");
        return Err(Fault::option("hugepage-size", text));
    }
    let shared = matches!(kind, MemKind::MmapShared | MemKind::Shm | MemKind::ShmHuge);
    if let Some(file) = &options.mem.file {
        let path = PathBuf::from(file);
        let permit = guard::permit(facts, &path, job.options.target.allow_mounted_write)?;
        return Ok(Memory::File {
            permit,
            shared,
            huge,
        });
    }
    Ok(match (huge, shared) {
        (Some(bytes), true) => Memory::SharedHuge(bytes),
        (Some(bytes), false) => Memory::Huge(bytes),
        (None, true) => Memory::Shared,
        (None, false) => Memory::Anonymous,
    })
}

/// The blocks that `dedupe_mode=working_set` repeats: a share of those that the job covers.
fn working_set(job: &Job<'_>, covered: u64, seed: u64) -> Result<Option<WorkingSet>, Fault> {
    let options = &job.options.buffer;
    let wanted = options.dedupe_percentage.is_some_and(|percent| percent > 0);
    if !wanted || options.dedupe_mode != DedupeMode::WorkingSet {
        return Ok(None);
    }
    let percent = options.dedupe_working_set_percentage;
    let block = job.block[Ddir::Write].min.max(1);
    let bytes = u128::from(covered) * u128::from(percent) / 100;
    match bytes / u128::from(block) {
        0 => {
            let text = format!(
                "dedupe_working_set_percentage={percent}: of {covered} bytes this is no block"
            );
            Err(Fault::option("dedupe_working_set_percentage", text))
        }
        blocks => Ok(Some(WorkingSet {
            seed: !seed,
            blocks: blocks as u64,
        })),
    }
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

/// Which of the written blocks are trimmed. As in fio, only those that would be read back are,
/// and only with `trim_backlog`.
fn trims(job: &Job<'_>) -> Option<Trims> {
    let (io, verify) = (&job.options.io, &job.options.verify);
    let kept = verify.do_verify && !verify.experimental_verify && !verify.verify_only;
    let wanted = io.trim_percentage > 0 && io.trim_backlog > 0;
    (wanted && kept && job.uses(Ddir::Write)).then_some(Trims {
        percent: io.trim_percentage,
        every: io.trim_backlog,
        // Trims that are read back leave the log as long as it was, so that fio goes on.
        most: match (io.trim_verify_zero, io.trim_backlog_batch) {
            (true, _) => 0,
            (false, 0) => io.trim_backlog,
            (false, batch) => batch.into(),
        },
        read_back: io.trim_verify_zero,
    })
}

/// Verification, when the job verifies.
pub(crate) fn verify(
    job: &Job<'_>,
    facts: &Facts,
    directory: Option<&str>,
    number: u32,
) -> Result<Option<Verify>, Fault> {
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
    if let Some(cpus) = &options.verify_async_cpus
        && let Some(cpu) = cpus.0.iter().find(|cpu| !facts.cpus.contains(cpu))
    {
        let text = format!("verify_async_cpus: CPU {cpu} is not online");
        return Err(Fault::option("verify_async_cpus", text));
    }
    if options.experimental_verify && options.verify_backlog > 0 {
        let text = "experimental_verify=1 keeps no record that verify_backlog= could read back";
        return Err(Fault::option("experimental_verify", text));
    }
    let state = saved::path(directory, job.name, u64::from(number) - 1);
    let loaded = options.verify_state_load.then(|| saved::read(&state));
    let loaded = loaded.transpose().map_err(|error| {
        let text = format!("verify_state_load=1: {} {error}", state.display());
        Fault::option("verify_state_load", text)
    })?;
    let saves = options.verify_state_save && job.uses(Ddir::Write) && !options.verify_only;
    Ok(Some(Verify {
        content,
        read_back: options.do_verify && job.uses(Ddir::Write),
        only: options.verify_only,
        fatal: options.verify_fatal,
        dump: options.verify_dump,
        backlog: options.verify_backlog,
        backlog_batch: if options.verify_backlog_batch == 0 {
            options.verify_backlog
        } else {
            options.verify_backlog_batch.into()
        },
        threads: options.verify_async,
        cpus: options
            .verify_async_cpus
            .as_ref()
            .map(|cpus| cpus.0.clone()),
        trims: trims(job),
        // Where a write went depends on the zones: it has to be remembered.
        regenerates: options.experimental_verify && job.options.zone.zonemode != ZoneMode::Zbd,
        save: saves.then_some(state),
        saved: loaded.map(Arc::new),
    }))
}
