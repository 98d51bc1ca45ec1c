//! Jobs as rules see them: the workers of one job together.

use crate::Evidence;
use result::series::{Quantity, Second, Series};
use result::{Direction, Job, Setup};
use units::Ddir;

/// The workers of one job.
pub(crate) struct Workers<'a> {
    pub name: &'a str,
    pub setup: &'a Setup,
    pub list: Vec<&'a Job>,
}

impl Workers<'_> {
    /// How many they are; a block of a report may stand for several.
    pub fn members(&self) -> u64 {
        self.list
            .iter()
            .map(|job| u64::from(job.members.max(1)))
            .sum()
    }

    /// I/Os per second of each second over all of them, reads and writes, the first and the last
    /// one left out; bytes where only these were recorded. With the milliseconds of a point.
    pub fn series(&self) -> Option<(Vec<f64>, u64)> {
        [Quantity::Iops, Quantity::Bandwidth]
            .into_iter()
            .find_map(|quantity| self.of(quantity))
    }

    fn of(&self, quantity: Quantity) -> Option<(Vec<f64>, u64)> {
        let all = self.list.iter().flat_map(|job| &job.series);
        let sum = Series::total(all.filter(|one| one.quantity == quantity))?;
        let points: Vec<f64> = sum.points().map(Second::mean).collect();
        let inner = points.get(1..points.len().saturating_sub(1))?;
        Some((inner.to_vec(), sum.interval_ms))
    }

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

/// Others kept the CPUs busy while the workers hardly used theirs: what waited, waited for a CPU.
pub(crate) fn crowded(evidence: &Evidence<'_>) -> bool {
    const BUSY_PERCENT: f64 = 90.0;
    const OWN_PERCENT: f64 = 50.0;
    let busy = evidence.run.interrupts.map_or(0.0, |one| one.busy_percent);
    let own = evidence.run.jobs.iter().map(|job| {
        let used = job.usage.user_us + job.usage.system_us + job.punts.cpu_us;
        used as f64 / (job.runtime_ms.max(1) as f64 * 10.0)
    });
    busy >= BUSY_PERCENT && own.fold(0.0, f64::max) < OWN_PERCENT
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

/// Mean completion latency of a direction over all workers, in nanoseconds.
pub(crate) fn mean_ns(workers: &Workers<'_>, ddir: Ddir) -> Option<f64> {
    let means = workers.list.iter().map(|job| &job.dirs[ddir]);
    let (mut ios, mut sum) = (0.0, 0.0);
    for dir in means {
        let Some(mean) = dir.mean_latency_ns() else {
            continue;
        };
        ios += dir.ios as f64;
        sum += mean * dir.ios as f64;
    }
    (ios > 0.0).then(|| sum / ios)
}
