//! How the targets of a job are opened.

use crate::job::Job;
use crate::model::{Access, Target};
use spec::kinds::{FadviseHint, SyncMode};
use sys::file::Hint;

pub(super) fn access(job: &Job<'_>, targets: &[Target], verifies: bool) -> Access {
    let (io, target) = (&job.options.io, &job.options.target);
    let (sync, dsync) = match io.sync {
        SyncMode::None => (false, false),
        SyncMode::Sync => (true, false),
        SyncMode::Dsync => (false, true),
    };
    let range = io.sync_file_range.unwrap_or_default();
    let bits = [range.wait_before, range.write, range.wait_after];
    let sync_range_flags = (0u32..)
        .zip(bits)
        .map(|(bit, on)| u32::from(on) << bit)
        .sum();
    Access {
        // Commands have no cache to go around, and their devices no such mode.
        direct: (io.direct || io.atomic) && !job.caps.namespaces,
        sync,
        dsync,
        // fio opens for reading in any case, so that the same file can be read back.
        read: true,
        write: job.modifies() && (!job.options.verify.verify_only || !verifies),
        create: target.allow_file_create
            && targets
                .iter()
                .all(|target| target.kind == crate::TargetKind::File),
        invalidate: target.invalidate && !target.pre_read,
        advice: match target.fadvise_hint {
            FadviseHint::Workload if io.rw.mode.is_random() => Some(Hint::Random),
            FadviseHint::Workload => Some(Hint::Sequential),
            FadviseHint::Random => Some(Hint::Random),
            FadviseHint::Sequential => Some(Hint::Sequential),
            FadviseHint::NoReuse => Some(Hint::NoReuse),
            FadviseHint::None => None,
        },
        pre_read: target.pre_read,
        atomic: io.atomic,
        write_hint: match target.write_hint {
            spec::kinds::WriteHint::None => None,
            spec::kinds::WriteHint::Short => Some(2),
            spec::kinds::WriteHint::Medium => Some(3),
            spec::kinds::WriteHint::Long => Some(4),
            spec::kinds::WriteHint::Extreme => Some(5),
        },
        sync_range_flags,
    }
}

/// True when io_uring requests are submitted by a kernel thread.
pub(super) fn polled(given: &[(&str, Option<&str>)]) -> bool {
    let said = given
        .iter()
        .rev()
        .find(|(name, _)| *name == "sqthread_poll");
    said.is_some_and(|(_, value)| *value != Some("0"))
}
