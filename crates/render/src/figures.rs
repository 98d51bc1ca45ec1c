//! The arithmetic that all formats share: shares, rates, percentages of the group, dates.
//!
//! Everything here repeats fio's rules for when to truncate, to floor and to cap. Divisions by
//! zero yield zero, where fio may print `nan`.

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};
use measure::{BatchMap, Coarse, DepthMap, Samples};
use result::{Direction, GroupTotal, Job, PriorityLatency, SteadyMetric};
use units::Ddir;

/// I/Os of all data directions, the denominator of depth and latency shares.
pub(crate) fn issued(job: &Job) -> u64 {
    job.dirs
        .iter()
        .map(|(_, dir)| dir.issued)
        .fold(0, u64::saturating_add)
}

/// Latencies by I/O priority, when requests were completed with two at least.
pub(crate) fn priorities(dir: &Direction) -> Vec<&PriorityLatency> {
    let used = dir.priorities.iter().filter(|of| of.latency.moments.n > 0);
    let used: Vec<_> = used.collect();
    if used.len() > 1 { used } else { Vec::new() }
}

/// Bytes per second, truncated.
pub(crate) fn rate(dir: &Direction) -> u64 {
    per_second(dir.bytes, dir.runtime_ms)
}

/// `count` per second over `runtime_ms`, truncated.
pub(crate) fn per_second(count: u64, runtime_ms: u64) -> u64 {
    count
        .saturating_mul(1000)
        .checked_div(runtime_ms)
        .unwrap_or(0)
}

/// Percent of `total`; a share that is not zero shows as at least `floor`.
fn share(count: u64, total: u64, floor: f64) -> f64 {
    if total == 0 {
        return 0.0;
    }
    let percent = count as f64 / total as f64 * 100.0;
    if count > 0 {
        percent.max(floor)
    } else {
        percent
    }
}

/// Depth classes in percent of the I/Os. Syncs count in the map and not in the total, so the
/// sum may exceed 100.
pub(crate) fn depth_shares(map: &DepthMap, ios: u64) -> [f64; 7] {
    map.0.map(|count| share(count, ios, 0.1))
}

/// Batch sizes in percent of the calls.
pub(crate) fn batch_shares(map: &BatchMap) -> [f64; 7] {
    map.slots.map(|count| share(count, map.calls, 0.1))
}

/// The coarse latency table in percent of the I/Os.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LatencyShares {
    pub ns: [f64; 10],
    pub us: [f64; 10],
    pub ms: [f64; 12],
}

pub(crate) fn latency_shares(coarse: &Coarse, ios: u64) -> LatencyShares {
    LatencyShares {
        ns: coarse.ns.map(|count| share(count, ios, 0.01)),
        us: coarse.us.map(|count| share(count, ios, 0.01)),
        ms: coarse.ms.map(|count| share(count, ios, 0.01)),
    }
}

/// Share of everything below a microsecond, which terse output adds to its first slot.
pub(crate) fn nanosecond_share(coarse: &Coarse, ios: u64) -> f64 {
    share(
        coarse.ns.iter().copied().fold(0, u64::saturating_add),
        ios,
        0.0,
    )
}

/// User and system time in percent of the summed run time of the members.
pub(crate) fn cpu_percent(job: &Job) -> (f64, f64) {
    if job.runtime_ms == 0 {
        return (0.0, 0.0);
    }
    let percent = |us: u64| us as f64 / 10.0 / job.runtime_ms as f64;
    (percent(job.usage.user_us), percent(job.usage.system_us))
}

/// Mean sampled bandwidth in percent of the group's aggregate (`per=`, `bw_agg`).
///
/// fio truncates the mean to whole KiB/s here, and calls everything up to 1 KiB/s the whole.
pub(crate) fn share_of_group(bw: &Samples, total: Option<&GroupTotal>) -> f64 {
    match total {
        Some(total) if total.rate > 1024 => {
            (bw.mean.trunc() * 100.0 / (total.rate as f64 / 1024.0)).min(100.0)
        }
        _ => 100.0,
    }
}

/// The same for terse output, which truncates the aggregate instead of the mean.
pub(crate) fn share_of_group_terse(bw: &Samples, total: Option<&GroupTotal>) -> f64 {
    match total {
        Some(total) if total.rate > 0 => {
            let kib = (total.rate / 1024) as f64;
            let percent = bw.mean * 100.0 / kib;
            if percent.is_nan() {
                0.0
            } else {
                percent.min(100.0)
            }
        }
        _ => 100.0,
    }
}

/// Share of page-cache hits in percent; `None` when nothing was counted.
pub(crate) fn cache_hit_percent(dir: &Direction) -> Option<f64> {
    let (hits, misses) = dir.cache_hits?;
    let total = hits.saturating_add(misses);
    (total > 0).then(|| hits as f64 / total as f64 * 100.0)
}

/// errno of a block: its failure or, when errors were passed over, the first of those.
pub(crate) fn error_of(job: &Job) -> i32 {
    match &job.failure {
        Some(failure) => failure.errno,
        None if job.reporting.continues_on_error => job.first_error,
        None => 0,
    }
}

/// What steady state detection looks at, as fio calls it.
pub(crate) fn steady_metric(metric: SteadyMetric) -> &'static str {
    match metric {
        SteadyMetric::Iops => "iops",
        SteadyMetric::Bandwidth => "bw",
        SteadyMetric::Latency => "lat",
    }
}

/// The system's words for an errno.
pub(crate) fn errno_text(errno: i32) -> String {
    if errno == 0 {
        return "Success".to_owned();
    }
    let text = std::io::Error::from_raw_os_error(errno).to_string();
    match text.rfind(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// A date as `ctime` prints it, without the line end: `Sat Nov 21 19:24:28 2026`.
pub(crate) fn ctime(epoch_ms: u64, utc_offset_s: i32) -> String {
    let stamp = i64::try_from(epoch_ms)
        .ok()
        .and_then(|ms| Timestamp::from_millisecond(ms).ok())
        .unwrap_or(Timestamp::UNIX_EPOCH);
    let zone = Offset::from_seconds(utc_offset_s).map_or(TimeZone::UTC, TimeZone::fixed);
    stamp
        .to_zoned(zone)
        .strftime("%a %b %e %H:%M:%S %Y")
        .to_string()
}

/// Direction word of a report line.
pub(crate) fn direction_word(job: &Job, ddir: Ddir) -> &'static str {
    if job.reporting.unified == result::Unified::Mixed {
        "mixed"
    } else {
        ddir.name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_floor_what_is_not_zero() {
        assert_eq!(share(1, 1_000_000, 0.1), 0.1);
        assert_eq!(share(0, 1_000_000, 0.1), 0.0);
        assert_eq!(share(5, 0, 0.1), 0.0);
    }

    #[test]
    fn dates_are_local_and_padded_like_ctime() {
        assert_eq!(ctime(1_795_299_621_132, 0), "Sat Nov 21 22:20:21 2026");
        assert_eq!(ctime(1_793_749_221_000, 3600), "Wed Nov  4 00:40:21 2026");
        assert_eq!(ctime(u64::MAX, i32::MAX), "Thu Jan  1 00:00:00 1970");
    }

    #[test]
    fn errors_have_the_words_of_strerror() {
        assert_eq!(errno_text(5), "Input/output error");
        assert_eq!(errno_text(0), "Success");
    }

    #[test]
    fn a_share_of_the_group_is_capped_and_truncated() {
        let bw = Samples {
            n: 1,
            min: 10,
            max: 10,
            mean: 10.9,
            spread: 0.0,
        };
        let total = GroupTotal {
            rate: 20 * 1024,
            ..Default::default()
        };
        assert_eq!(share_of_group(&bw, Some(&total)), 50.0);
        assert_eq!(share_of_group_terse(&bw, Some(&total)), 54.5);
        let small = GroupTotal {
            rate: 1024,
            ..total
        };
        assert_eq!(share_of_group(&bw, Some(&small)), 100.0);
        assert_eq!(share_of_group_terse(&bw, Some(&small)), 100.0);
    }
}
