//! Jobs as rules see them: the workers of one job together.

use crate::Evidence;
use result::{Direction, Job, Setup};
use units::Ddir;

/// The workers of one job.
pub(crate) struct Workers<'a> {
    pub name: &'a str,
    pub setup: &'a Setup,
    pub list: Vec<&'a Job>,
}

impl Workers<'_> {
    /// I/Os completed, reads and writes.
    pub fn ios(&self, ddir: Ddir) -> u64 {
        self.list.iter().map(|job| job.dirs[ddir].ios).sum()
    }
}

/// Jobs that tell how they were set up, in order.
pub(crate) fn jobs<'a>(evidence: &Evidence<'a>) -> Vec<Workers<'a>> {
    let mut found: Vec<Workers<'a>> = Vec::new();
    for job in &evidence.run.jobs {
        let Some(setup) = &job.setup else { continue };
        match found.iter_mut().find(|known| known.name == job.name) {
            Some(known) => known.list.push(job),
            None => found.push(Workers {
                name: &job.name,
                setup,
                list: vec![job],
            }),
        }
    }
    found
}

/// The direction with most I/Os of a worker, if it did any.
pub(crate) fn main_direction(job: &Job) -> Option<(Ddir, &Direction)> {
    [Ddir::Read, Ddir::Write]
        .map(|ddir| (ddir, &job.dirs[ddir]))
        .into_iter()
        .max_by_key(|(_, dir)| dir.ios)
        .filter(|(_, dir)| dir.ios > 0)
}

/// `reads` or `writes`.
pub(crate) fn word(ddir: Ddir) -> &'static str {
    if ddir == Ddir::Read {
        "reads"
    } else {
        "writes"
    }
}
