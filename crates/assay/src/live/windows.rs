//! What happened since the last look: differences of running documents.

use measure::Histogram;
use result::{Disk, DiskCounters, Job, Run};
use std::collections::BTreeMap;
use units::{Ddir, PerDdir};

/// One direction within a window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flow {
    /// I/Os that ended.
    pub ios: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Percentiles 50, 99 and 99.9 of completion latency in nanoseconds; `None` without samples.
    pub ns: Option<[u64; 3]>,
    /// What the percentiles are of.
    bins: BTreeMap<u64, u64>,
}

/// One job within a window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobWindow {
    /// Its name.
    pub name: String,
    /// Its number.
    pub number: u32,
    /// What it did.
    pub flows: PerDdir<Flow>,
    /// CPU time that it took, microseconds.
    pub cpu_us: u64,
}

/// A block device within a window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DiskWindow {
    /// Its name; a member's is indented.
    pub name: String,
    /// What it did.
    pub counters: DiskCounters,
}

/// What a block device did per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DiskRates {
    /// Bytes per second read and written.
    pub bytes_per_s: [f64; 2],
    /// I/Os per second, both ways.
    pub iops: f64,
    /// I/Os in flight on average.
    pub in_flight: f64,
    /// Share of the time in which there were any.
    pub busy_percent: f64,
}

impl DiskWindow {
    /// Its counters per second.
    pub fn rates(&self) -> DiskRates {
        let c = &self.counters;
        let seconds = c.elapsed_ms.max(1) as f64 / 1000.0;
        DiskRates {
            bytes_per_s: c.sectors.map(|sectors| sectors as f64 * 512.0 / seconds),
            iops: (c.ios[0] + c.ios[1]) as f64 / seconds,
            in_flight: c.in_queue_ms as f64 / c.elapsed_ms.max(1) as f64,
            busy_percent: c.util_percent(),
        }
    }
}

/// All jobs between two looks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Window {
    /// Length in nanoseconds.
    pub ns: u64,
    /// The jobs, in the order of the document.
    pub jobs: Vec<JobWindow>,
    /// The devices below the targets, as far as the document has them.
    pub disks: Vec<DiskWindow>,
}

impl Window {
    /// All jobs as one.
    pub fn total(&self) -> PerDdir<Flow> {
        let mut total = PerDdir::<Flow>::default();
        for job in &self.jobs {
            for ddir in Ddir::DATA {
                total[ddir].add(&job.flows[ddir]);
            }
        }
        for ddir in Ddir::DATA {
            total[ddir].rank();
        }
        total
    }

    /// A count as a rate per second.
    pub fn per_s(&self, count: u64) -> f64 {
        count as f64 * 1e9 / self.ns.max(1) as f64
    }
}

impl Flow {
    /// Adds counts and bins; percentiles are taken by [`Flow::rank`].
    pub fn add(&mut self, more: &Flow) {
        self.ios += more.ios;
        self.bytes += more.bytes;
        for (value, n) in &more.bins {
            *self.bins.entry(*value).or_default() += n;
        }
    }

    /// Takes the percentiles of the bins.
    pub fn rank(&mut self) {
        let mut all = Histogram::default();
        for (value, n) in &self.bins {
            all.add(*value, *n);
        }
        let found = all.percentiles(&[50.0, 99.0, 99.9]);
        self.ns = match (self.bins.is_empty(), found.as_slice()) {
            (false, &[p50, p99, p999]) => Some([p50, p99, p999]),
            _ => None,
        };
    }
}

/// What a job had done at the last look.
#[derive(Debug, Default)]
struct Done {
    flows: PerDdir<Flow>,
    cpu_us: u64,
}

/// Makes windows of documents.
#[derive(Debug, Default)]
pub struct Windows {
    last: Vec<Done>,
    disks: Vec<DiskWindow>,
    last_ns: u64,
}

impl Windows {
    /// The window from the last document to this one, `now_ns` after the start of the run.
    pub fn next(&mut self, run: &Run, now_ns: u64) -> Window {
        self.last.resize_with(run.jobs.len(), Done::default);
        let mut jobs = Vec::with_capacity(run.jobs.len());
        for (job, last) in run.jobs.iter().zip(&mut self.last) {
            let done = Done {
                flows: PerDdir::from_fn(|ddir| done(job, ddir)),
                cpu_us: job.usage.user_us + job.usage.system_us,
            };
            jobs.push(JobWindow {
                name: job.name.clone(),
                number: job.number,
                flows: PerDdir::from_fn(|ddir| since(&done.flows[ddir], &last.flows[ddir])),
                cpu_us: done.cpu_us.saturating_sub(last.cpu_us),
            });
            *last = done;
        }
        let mut now = Vec::new();
        run.disks.iter().for_each(|disk| flatten(&mut now, disk, 0));
        let disks = now.iter().map(|disk| {
            let before = self.disks.iter().find(|before| before.name == disk.name);
            DiskWindow {
                name: disk.name.clone(),
                counters: before.map_or(disk.counters, |b| moved(&disk.counters, &b.counters)),
            }
        });
        let disks = disks.collect();
        self.disks = now;
        let ns = now_ns.saturating_sub(self.last_ns);
        self.last_ns = now_ns;
        Window { ns, jobs, disks }
    }
}

fn flatten(all: &mut Vec<DiskWindow>, disk: &Disk, level: usize) {
    all.push(DiskWindow {
        name: format!("{}{}", "  ".repeat(level), disk.name),
        counters: disk.counters,
    });
    for member in &disk.members {
        flatten(all, member, level + 1);
    }
}

/// What was added to the counters that are shown.
fn moved(now: &DiskCounters, before: &DiskCounters) -> DiskCounters {
    let each = |now: [u64; 2], before: [u64; 2]| {
        [0, 1].map(|direction| now[direction].saturating_sub(before[direction]))
    };
    DiskCounters {
        ios: each(now.ios, before.ios),
        sectors: each(now.sectors, before.sectors),
        in_queue_ms: now.in_queue_ms.saturating_sub(before.in_queue_ms),
        busy_ms: now.busy_ms.saturating_sub(before.busy_ms),
        elapsed_ms: now.elapsed_ms.saturating_sub(before.elapsed_ms),
        ..*now
    }
}

fn done(job: &Job, ddir: Ddir) -> Flow {
    let dir = &job.dirs[ddir];
    let bins = dir.clat.histogram.as_ref().or(dir.lat.histogram.as_ref());
    Flow {
        ios: dir.ios,
        bytes: dir.bytes,
        ns: None,
        bins: bins.map_or_else(BTreeMap::new, |bins| bins.occupied().collect()),
    }
}

/// What was added. A count that has fallen began anew, after a warm-up.
fn since(now: &Flow, last: &Flow) -> Flow {
    let anew = now.ios < last.ios;
    let before = |n: u64| if anew { 0 } else { n };
    let added = now.bins.iter().filter_map(|(value, n)| {
        let known = last.bins.get(value).copied().unwrap_or(0);
        let n = n.saturating_sub(before(known));
        (n > 0).then_some((*value, n))
    });
    let mut flow = Flow {
        ios: now.ios - before(last.ios),
        bytes: now.bytes.saturating_sub(before(last.bytes)),
        ns: None,
        bins: added.collect(),
    };
    flow.rank();
    flow
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::Latency;
    use result::Direction;

    fn run(latencies: &[(u64, u64)]) -> Run {
        let mut clat = Latency::with_histogram();
        let mut ios = 0;
        for (ns, n) in latencies {
            clat.add(*ns, *n);
            ios += n;
        }
        let read = Direction {
            ios,
            bytes: ios * 4096,
            clat,
            ..Direction::default()
        };
        let none = Direction::default;
        let job = Job {
            dirs: PerDdir([read, none(), none()]),
            ..Job::default()
        };
        Run {
            jobs: vec![job],
            ..Run::default()
        }
    }

    #[test]
    fn a_window_knows_its_own_percentiles_only() {
        let mut windows = Windows::default();
        let first = windows.next(&run(&[(1_000, 900)]), 1_000_000_000);
        let second = windows.next(&run(&[(1_000, 900), (64_000, 100)]), 3_000_000_000);
        let of = |window: &Window| window.jobs[0].flows[Ddir::Read].clone();
        let near = |ns: u64, want: u64| ns.abs_diff(want) <= want / 64;
        assert_eq!((of(&first).ios, of(&second).ios), (900, 100));
        let (a, b) = (of(&first).ns.unwrap(), of(&second).ns.unwrap());
        assert!(near(a[0], 1_000) && near(a[2], 1_000), "{a:?}");
        // Over the whole run the median is still 1 us.
        assert!(near(b[0], 64_000) && near(b[1], 64_000), "{b:?}");
        assert_eq!(second.per_s(of(&second).ios), 50.0);
        assert_eq!(second.total()[Ddir::Read].ns, Some(b));
        let idle = windows.next(&run(&[(1_000, 900), (64_000, 100)]), 4_000_000_000);
        assert_eq!((of(&idle).ios, of(&idle).ns), (0, None));
    }

    #[test]
    fn what_begins_anew_after_a_warm_up_counts_from_nothing() {
        let mut windows = Windows::default();
        windows.next(&run(&[(1_000, 900)]), 1);
        let anew = windows.next(&run(&[(2_000, 5)]), 2);
        assert_eq!(anew.jobs[0].flows[Ddir::Read].ios, 5);
        assert_eq!(anew.jobs[0].flows[Ddir::Read].bytes, 5 * 4096);
    }
}
