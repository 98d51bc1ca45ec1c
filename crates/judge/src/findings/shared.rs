//! Clones of a job that work on the same part of the same file.

use crate::Evidence;
use crate::job::{Workers, jobs};
use crate::say::{With, bytes, finding};
use result::{Finding, Job, Place, Severity};

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    jobs(evidence).iter().filter_map(of_job).collect()
}

fn of_job(job: &Workers<'_>) -> Option<Finding> {
    if !job.setup.on_disk {
        return None;
    }
    let mine = |worker: &'_ &Job| worker.setup.as_ref().map(|setup| setup.places.clone());
    let lists: Vec<Vec<Place>> = job.list.iter().filter_map(mine).collect();
    // A block of a report stands for workers with the same places.
    let (first, workers) = match (&lists[..], job.members()) {
        ([only], members) if members > 1 => (only.iter().find(|place| is_named(place))?, members),
        ([first, others @ ..], _) => {
            let overlap = |place: &&Place| {
                is_named(place) && others.iter().flatten().any(|other| overlaps(place, other))
            };
            let place = first.iter().find(overlap)?;
            let with = |list: &&Vec<Place>| list.iter().any(|other| overlaps(place, other));
            (place, 1 + others.iter().filter(with).count() as u64)
        }
        _ => return None,
    };
    let path = &first.path;
    if !job.setup.random {
        let text = format!(
            "{}: {workers} sequential streams go through the same {} of {path}: what one has \
             touched, caches and merges give to the others",
            job.name,
            bytes(first.length_bytes)
        );
        let advice = "give each worker its own part (offset_increment) or its own file (directory)";
        let one = finding("streams-overlap", Severity::Warning, text, advice);
        return Some(one.count("workers", workers).word("path", path));
    }
    // Random I/O of several jobs is how whole devices are measured.
    if !first.file {
        return None;
    }
    let text = format!(
        "{}: {workers} workers share {path}: they touch {} and not {workers} times as much, and \
         its lock may serialise writes",
        job.name,
        bytes(first.length_bytes)
    );
    let advice = "give each worker a file of its own (directory instead of filename)";
    let one = finding("jobs-share-file", Severity::Note, text, advice);
    Some(one.count("workers", workers).word("path", path))
}

fn is_named(place: &Place) -> bool {
    !place.path.is_empty() && place.length_bytes > 0
}

/// Half of the shorter one lies in the other.
fn overlaps(a: &Place, b: &Place) -> bool {
    let end = |place: &Place| place.offset_bytes.saturating_add(place.length_bytes);
    let common = end(a)
        .min(end(b))
        .saturating_sub(a.offset_bytes.max(b.offset_bytes));
    let shorter = a.length_bytes.min(b.length_bytes);
    is_named(b) && a.path == b.path && common > 0 && common >= shorter / 2
}
