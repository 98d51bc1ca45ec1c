//! The report for people: one block per job or group, group totals, disks, CPU idleness.

mod disks;
mod group;
mod job;
mod latency;

use crate::figures;
use result::{Failure, GroupTotal, Job, Run};
use std::fmt::Write;
use units::PerDdir;

/// Appends formatted text; writing into a `String` cannot fail.
macro_rules! put {
    ($out:expr, $($arg:tt)*) => {
        $out.write_fmt(format_args!($($arg)*)).expect("writing to a String cannot fail")
    };
}
pub(crate) use put;

/// The whole report in fio's normal format, starting with the empty line that separates it from
/// the status line.
pub fn normal(run: &Run) -> String {
    let blocks = run.reported();
    let totals = Totals::new(run, &blocks);
    let mut out = String::from("\n");
    for block in &blocks {
        job::show(&mut out, block, totals.of(block.group), run);
    }
    for (number, total) in totals.groups.iter().enumerate() {
        group::show(&mut out, number, total, &blocks);
    }
    disks::show(&mut out, &run.disks);
    if let Some(idle) = &run.cpu_idle {
        show_idle(&mut out, idle);
    }
    out
}

/// Totals of every group of the run, also of those with nothing to show.
pub(crate) struct Totals {
    groups: Vec<PerDdir<Option<GroupTotal>>>,
}

impl Totals {
    pub(crate) fn new(run: &Run, blocks: &[Job]) -> Self {
        // Groups are numbered from 0 without gaps; a wild number must not allocate wildly.
        let last = run.jobs.iter().map(|job| job.group).max();
        let count = last.map_or(0, |last| last.min(65_535) + 1);
        let groups = (0..count)
            .map(|group| PerDdir::from_fn(|ddir| result::group_total(blocks, group, ddir)))
            .collect();
        Totals { groups }
    }

    pub(crate) fn of(&self, group: u32) -> PerDdir<Option<GroupTotal>> {
        self.groups.get(group as usize).copied().unwrap_or_default()
    }
}

fn show_idle(out: &mut String, idle: &result::CpuIdle) {
    put!(
        out,
        "\nCPU idleness:\n  system: {:3.2}%\n",
        idle.system_percent
    );
    if idle.per_cpu && !idle.cpus_percent.is_empty() {
        let cpus: Vec<String> = idle
            .cpus_percent
            .iter()
            .map(|cpu| format!("{cpu:3.2}%"))
            .collect();
        put!(out, "  percpu: {}\n", cpus.join(", "));
    }
    put!(
        out,
        "  unit work: mean={:3.2}us, stddev={:3.2}\n",
        idle.unit_mean_us,
        idle.unit_stddev_us
    );
}

/// The header line of a block.
fn header(job: &Job, run: &Run) -> String {
    let date = figures::ctime(run.finished_ms, run.utc_offset_s);
    let errno = figures::error_of(job);
    let mut error = format!("{errno:2}");
    let text = figures::errno_text(errno);
    match &job.failure {
        Some(Failure { source, place, .. }) => {
            put!(error, " (file:{source}, func={place}, error={text})");
        }
        // Errors that were passed over; fio leaves the parentheses empty.
        None if errno != 0 => put!(error, " (error={text})"),
        None => {}
    }
    format!(
        "{}: (groupid={}, jobs={}): err={error}: pid={}: {date}\n",
        job.name, job.group, job.members, job.pid
    )
}
