//! `--minimal` and `--output-format=terse`: one line of fields per block, separated by `;`.

use crate::disks::{Members, listed};
use crate::normal::{Totals, put};
use crate::{FIO_VERSION, figures};
use measure::{Latency, Samples};
use result::{Direction, Disk, GroupTotal, Job, Run, Unified};
use std::fmt::Write;
use units::Ddir;

/// Percentile fields per direction, used or not.
const PERCENTILE_FIELDS: usize = 20;

/// Layout of the line (`--terse-version`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TerseVersion {
    /// No version string and no disks; read, write, trim; the description on a line of its own.
    V2,
    /// Read and write; the default.
    #[default]
    V3,
    /// V3 with trim.
    V4,
    /// V4 with six more fields per direction about bandwidth and IOPS samples.
    V5,
}

/// All versions with their numbers.
pub const TERSE_VERSIONS: [(u32, TerseVersion); 4] = [
    (2, TerseVersion::V2),
    (3, TerseVersion::V3),
    (4, TerseVersion::V4),
    (5, TerseVersion::V5),
];

impl TerseVersion {
    /// The version with this number, if there is one.
    pub fn from_number(number: u32) -> Option<Self> {
        TERSE_VERSIONS
            .iter()
            .find(|(n, _)| *n == number)
            .map(|(_, version)| *version)
    }

    fn number(self) -> u32 {
        match self {
            TerseVersion::V2 => 2,
            TerseVersion::V3 => 3,
            TerseVersion::V4 => 4,
            TerseVersion::V5 => 5,
        }
    }
}

/// One line per reported block.
pub fn terse(run: &Run, version: TerseVersion) -> String {
    let blocks = run.reported();
    let totals = Totals::new(run, &blocks);
    let mut out = String::new();
    for job in &blocks {
        let total = totals.of(job.group);
        line(&mut out, job, run, version, |ddir| total[ddir]);
    }
    out
}

fn line(
    out: &mut String,
    job: &Job,
    run: &Run,
    version: TerseVersion,
    total: impl Fn(Ddir) -> Option<GroupTotal>,
) {
    put!(out, "{}", version.number());
    if version != TerseVersion::V2 {
        put!(out, ";{FIO_VERSION}");
    }
    put!(
        out,
        ";{};{};{}",
        job.name,
        job.group,
        figures::error_of(job)
    );
    let ddirs: &[Ddir] = match (job.reporting.unified, version) {
        (Unified::Mixed, _) => &Ddir::DATA[..1],
        (_, TerseVersion::V3) => &Ddir::DATA[..2],
        _ => &Ddir::DATA,
    };
    for ddir in ddirs {
        direction(out, job, &job.dirs[*ddir], total(*ddir).as_ref(), version);
    }
    if job.reporting.unified == Unified::Both {
        let all = result::merge::mixed(job);
        direction(out, job, &all, total(Ddir::Read).as_ref(), version);
    }
    cost_and_shares(out, job);
    if version != TerseVersion::V2 {
        disks(out, &run.disks);
    }
    if job.reporting.continues_on_error {
        put!(out, ";{};{}", job.total_errors, job.first_error);
    }
    if let Some(text) = job.description.as_ref().filter(|text| !text.is_empty()) {
        if version == TerseVersion::V2 {
            out.push('\n');
        }
        put!(out, ";{text}");
    }
    out.push('\n');
}

fn direction(
    out: &mut String,
    job: &Job,
    dir: &Direction,
    total: Option<&GroupTotal>,
    version: TerseVersion,
) {
    put!(
        out,
        ";{};{};{};{}",
        dir.bytes >> 10,
        figures::rate(dir) / 1024,
        figures::per_second(dir.issued, dir.runtime_ms),
        dir.runtime_ms,
    );
    latency_us(out, &dir.slat);
    latency_us(out, &dir.clat);
    percentiles(out, job, dir);
    latency_us(out, &dir.lat);
    let bw = &dir.bw;
    let share = if bw.n == 0 {
        0.0
    } else {
        figures::share_of_group_terse(bw, total)
    };
    put!(
        out,
        ";{};{};{share:.6}%;{:.6};{:.6}",
        bw.min,
        bw.max,
        bw.mean,
        bw.stddev()
    );
    if version == TerseVersion::V5 {
        let Samples {
            n, min, max, mean, ..
        } = dir.iops;
        put!(
            out,
            ";{};{min};{max};{mean:.6};{:.6};{n}",
            bw.n,
            dir.iops.stddev()
        );
    }
}

/// Extremes truncated to microseconds, mean and deviation not.
fn latency_us(out: &mut String, class: &Latency) {
    let moments = &class.moments;
    put!(
        out,
        ";{};{};{:.6};{:.6}",
        moments.min() / 1000,
        moments.max / 1000,
        moments.mean() / 1000.0,
        moments.stddev() / 1000.0,
    );
}

/// Total latency if its percentiles were asked for, else completion latency; the list stands
/// there with zeros when nothing was measured.
fn percentiles(out: &mut String, job: &Job, dir: &Direction) {
    let how = &job.reporting;
    let class = match (how.lat_percentiles, how.clat_percentiles) {
        (true, _) => Some(&dir.lat),
        (_, true) => Some(&dir.clat),
        _ => None,
    };
    let list: &[f64] = if class.is_some() {
        &how.percentiles
    } else {
        &[]
    };
    let values = class
        .and_then(|class| class.histogram.as_ref())
        .map_or_else(Vec::new, |histogram| histogram.percentiles(list));
    for field in 0..PERCENTILE_FIELDS {
        match list.get(field) {
            Some(percent) => {
                let value = values.get(field).copied().unwrap_or(0);
                put!(out, ";{percent:.6}%={}", value / 1000);
            }
            None => out.push_str(";0%=0"),
        }
    }
}

fn cost_and_shares(out: &mut String, job: &Job) {
    let (user, system) = figures::cpu_percent(job);
    put!(
        out,
        ";{user:.6}%;{system:.6}%;{};{};{}",
        job.usage.context_switches,
        job.usage.major_faults,
        job.usage.minor_faults,
    );
    let ios = figures::issued(job);
    for share in figures::depth_shares(&job.depth, ios) {
        put!(out, ";{share:3.1}%");
    }
    let mut shares = figures::latency_shares(&job.coarse, ios);
    shares.us[0] += figures::nanosecond_share(&job.coarse, ios);
    for share in shares.us.iter().chain(&shares.ms) {
        put!(out, ";{share:3.2}%");
    }
}

fn disks(out: &mut String, disks: &[Disk]) {
    for disk in listed(disks) {
        let c = &disk.counters;
        put!(
            out,
            ";{};{};{};{};{};{};{};{};{:3.2}%",
            disk.name,
            c.ios[0],
            c.ios[1],
            c.merges[0],
            c.merges[1],
            c.ticks_ms[0],
            c.ticks_ms[1],
            c.in_queue_ms,
            c.util_percent(),
        );
        if let Some(m) = Members::of(disk) {
            put!(
                out,
                ";slaves;{};{};{};{};{};{};{};{:3.2}%",
                m.ios[0],
                m.ios[1],
                m.merges[0],
                m.merges[1],
                m.ticks_ms[0],
                m.ticks_ms[1],
                m.in_queue_ms,
                m.util_percent,
            );
        }
    }
}
