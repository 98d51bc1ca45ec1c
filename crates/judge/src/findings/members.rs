//! Members of a stripe that did not work alike.
//!
//! A stripe gives every member the same number of requests. Where all of a job's requests may be
//! in flight at once and no more (a closed loop), they gather at the slowest member, by however
//! little it is slower: its latency then says nothing of the member. Unequal numbers of requests
//! say that the load was not spread.

use crate::Evidence;
use crate::say::{With, finding, percent, time};
use result::{Disk, Finding, Run, Severity};

/// Members with fewer requests are not compared.
const LEAST_IOS: u64 = 500;
/// Requests of the busiest over those of the idlest member from which the load was uneven.
const UNEVEN: f64 = 1.25;
/// Up to here it was even.
const EVEN: f64 = 1.05;
/// Latency of the slowest over that of the fastest member.
const SKEW: f64 = 3.0;
/// From here the total meets what the members can do, percent of the limit.
const MET_PERCENT: f64 = 95.0;
/// Above this the limit is not theirs.
const OTHER_PERCENT: f64 = 110.0;

struct Member<'a> {
    name: &'a str,
    ios: u64,
    latency_ns: f64,
    util_percent: f64,
}

pub(crate) fn rule(evidence: &Evidence<'_>) -> Vec<Finding> {
    let run = evidence.run;
    let mut stripes: Vec<(String, Vec<&Disk>)> = Vec::new();
    for disk in &run.disks {
        collect(run, disk, &mut stripes);
    }
    stripes.extend(file_system_stripe(run));
    stripes
        .iter()
        .filter_map(|(name, disks)| of_stripe(evidence, name, disks))
        .collect()
}

fn collect<'a>(run: &Run, disk: &'a Disk, into: &mut Vec<(String, Vec<&'a Disk>)>) {
    if disk.members.len() > 1 && is_stripe(run, disk) {
        into.push((disk.name.clone(), disk.members.iter().collect()));
    }
    disk.members
        .iter()
        .for_each(|member| collect(run, member, into));
}

/// Mirrors and concatenations need not share evenly.
fn is_stripe(run: &Run, disk: &Disk) -> bool {
    let device = run.host.as_ref().and_then(|host| host.device(&disk.name));
    match device.map(|device| device.raid.as_ref()) {
        Some(Some(raid)) => raid.level == "raid0",
        Some(None) => false,
        None => disk.name.starts_with("md"),
    }
}

/// Devices that a file system stripes over by itself.
fn file_system_stripe(run: &Run) -> Option<(String, Vec<&Disk>)> {
    let host = run.host.as_ref()?;
    let system = host.file_systems.iter().find(|system| {
        let geometry = system.geometry.as_ref();
        let raid0 = |profile: &String| profile.eq_ignore_ascii_case("raid0");
        system.devices.len() > 1
            && geometry.is_some_and(|one| one.data_profiles.iter().any(raid0))
            && host.targets.iter().any(|target| {
                target
                    .mount_point
                    .as_ref()
                    .is_some_and(|at| system.mount_points.contains(at))
            })
    })?;
    let of = |disk: &&Disk| system.devices.contains(&disk.name);
    let disks: Vec<&Disk> = run.disks.iter().filter(of).collect();
    (disks.len() > 1).then(|| (format!("{} stripe", system.fs_type), disks))
}

fn of_stripe(evidence: &Evidence<'_>, name: &str, disks: &[&Disk]) -> Option<Finding> {
    let mut members: Vec<Member<'_>> = disks.iter().map(|disk| member(disk)).collect();
    members.sort_by(|a, b| a.latency_ns.total_cmp(&b.latency_ns));
    let total: u64 = members.iter().map(|one| one.ios).sum();
    let most = members.iter().max_by_key(|one| one.ios)?;
    let least = members.iter().min_by_key(|one| one.ios)?;
    if total < LEAST_IOS * members.len() as u64 {
        return None;
    }
    let uneven = most.ios as f64 / least.ios.max(1) as f64;
    if uneven >= UNEVEN {
        let text = format!(
            "{name}: its members did not do the same work: {} did {} requests, {} did {}",
            most.name, most.ios, least.name, least.ios
        );
        let advice = "look for I/O of one place (a small file, one chunk), for partitions of \
                      different sizes, and for other users of a member";
        let one = finding("uneven-members", Severity::Warning, text, advice);
        return Some(
            one.count("most_requests", most.ios)
                .count("least_requests", least.ios),
        );
    }
    let (fast, slow) = (members.first()?, members.last()?);
    if uneven > EVEN || slow.latency_ns < SKEW * fast.latency_ns || fast.latency_ns <= 0.0 {
        return None;
    }
    let share = evidence
        .judged
        .as_ref()
        .filter(|judged| judged.shared)
        .map(|judged| judged.expectation.measured_percent)
        .filter(|share| *share <= OTHER_PERCENT);
    let (severity, met) = match share {
        Some(share) if share >= MET_PERCENT => (
            Severity::Note,
            format!(
                "the total is at {share:.1} % of the limit of all of them, so nothing is wrong"
            ),
        ),
        Some(share) => (
            Severity::Warning,
            format!(
                "the total is at {share:.0} % of the limit, so {} holds the others back",
                slow.name
            ),
        ),
        None => (
            Severity::Warning,
            format!(
                "by how much {} is slower cannot be told from them",
                slow.name
            ),
        ),
    };
    let text = format!(
        "{name}: its members did the same work ({} to {} requests), but a request took {} on {} \
         and {} on {} (busy {:.1} %): in a closed loop the queue gathers at the slowest member, by \
         however little it is slower; {met}",
        least.ios,
        most.ios,
        time(fast.latency_ns as u64),
        fast.name,
        time(slow.latency_ns as u64),
        slow.name,
        slow.util_percent
    );
    let advice = "measure the members one by one: that tells by how much they differ";
    let one = finding("closed-loop-skew", severity, text, advice)
        .number("fast_ms", fast.latency_ns / 1e6)
        .number("slow_ms", slow.latency_ns / 1e6)
        .number("fast_util_percent", fast.util_percent)
        .number("slow_util_percent", slow.util_percent)
        .word("slowest", slow.name);
    Some(match share {
        Some(share) => one.number("of_limit_percent", share),
        None => one,
    })
}

fn member<'a>(disk: &'a Disk) -> Member<'a> {
    let counters = &disk.counters;
    let ios: u64 = counters.ios.iter().sum();
    let ticks: u64 = counters.ticks_ms.iter().sum();
    let busy = percent(counters.busy_ms as f64, counters.elapsed_ms as f64).min(100.0);
    Member {
        name: &disk.name,
        ios,
        latency_ns: ticks as f64 * 1e6 / ios.max(1) as f64,
        util_percent: busy,
    }
}
