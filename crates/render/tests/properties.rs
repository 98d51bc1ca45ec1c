//! Every format of every document: no panic, JSON that parses, terse lines of constant width.

use measure::{BatchMap, Coarse, DepthMap, Latency, Samples};
use proptest::collection::vec;
use proptest::prelude::*;
use render::{TERSE_VERSIONS, TerseVersion, json, normal, terse};
use result::{
    CpuIdle, Direction, Disk, DiskCounters, Failure, Job, LatencyTarget, Reporting, Run, SyncStats,
    Unified, Usage,
};
use units::PerDdir;

/// Far beyond anything measured, and low enough that sums of a few stay in 64 bits.
const HUGE: u64 = 1 << 58;

fn count() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), 1..100u64, 1..HUGE]
}

fn float() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), 0.0..1e9, any::<f64>()]
}

fn latency() -> impl Strategy<Value = Latency> {
    let values = vec(
        (prop_oneof![0..200u64, 0..1u64 << 38], 1..1_000_000u64),
        0..5,
    );
    (values, any::<bool>()).prop_map(|(values, bins)| {
        let mut latency = if bins {
            Latency::with_histogram()
        } else {
            Latency::default()
        };
        values.iter().for_each(|(value, n)| latency.add(*value, *n));
        latency
    })
}

fn samples() -> impl Strategy<Value = Samples> {
    (0..100u64, count(), count(), float(), float()).prop_map(|(n, min, max, mean, spread)| {
        Samples {
            n,
            min,
            max,
            mean,
            spread,
        }
    })
}

fn direction() -> impl Strategy<Value = Direction> {
    let counts = [count(), count(), count(), count(), count()];
    let hits = proptest::option::of((count(), count()));
    (
        counts,
        count(),
        [latency(), latency(), latency()],
        samples(),
        samples(),
        hits,
    )
        .prop_map(
            |(
                [bytes, issued, ios, short, dropped],
                runtime_ms,
                [slat, clat, lat],
                bw,
                iops,
                hits,
            )| {
                Direction {
                    bytes,
                    issued,
                    ios,
                    short,
                    dropped,
                    runtime_ms,
                    slat,
                    clat,
                    lat,
                    lat_intended: None,
                    bw,
                    iops,
                    cache_hits: hits,
                    priorities: Vec::new(),
                    stated: None,
                }
            },
        )
}

fn reporting() -> impl Strategy<Value = Reporting> {
    let unified = prop_oneof![
        Just(Unified::Separate),
        Just(Unified::Mixed),
        Just(Unified::Both)
    ];
    let bases = (
        prop_oneof![Just(1024), Just(1000), any::<u32>()],
        0..9u32,
        any::<u32>(),
    );
    let list = (vec(0.0..=100.0f64, 0..=20), any::<u32>());
    (unified, bases, list, any::<[bool; 7]>()).prop_map(|(unified, bases, list, flags)| {
        let [grouped, slat, clat, lat, shown, continues_on_error, zoned] = flags;
        let mut percentiles = list.0;
        percentiles.sort_by(f64::total_cmp);
        Reporting {
            grouped,
            unified,
            kb_base: bases.0,
            unit_base: bases.1,
            significant_figures: bases.2,
            percentiles,
            percentile_precision: list.1,
            slat_percentiles: slat,
            clat_percentiles: clat,
            lat_percentiles: lat,
            shown,
            continues_on_error,
            zoned,
            ..Reporting::default()
        }
    })
}

fn failure() -> impl Strategy<Value = Option<Failure>> {
    proptest::option::of(any::<i32>().prop_map(|errno| Failure::new(errno, "place", "message")))
}

/// Names without the separator, which terse output does not escape.
fn name() -> impl Strategy<Value = String> {
    "[^;\n\r]{0,12}"
}

fn job() -> impl Strategy<Value = Job> {
    let identity = (
        name(),
        proptest::option::of(name()),
        0..4u32,
        any::<u64>(),
        failure(),
    );
    let dirs = [direction(), direction(), direction()];
    let maps = (any::<[u32; 7]>(), any::<[u32; 7]>(), any::<[u32; 32]>());
    let options = vec((".{0,8}", ".{0,8}"), 0..3);
    (
        identity,
        dirs,
        reporting(),
        maps,
        [count(), count(), count()],
        latency(),
        options,
    )
        .prop_map(
            |(identity, dirs, reporting, maps, [runtime_ms, user_us, ios], lat, options)| {
                let (name, description, group, started_ms, failure) = identity;
                let slots = maps.2.map(u64::from);
                let coarse = Coarse {
                    ns: std::array::from_fn(|i| slots[i]),
                    us: std::array::from_fn(|i| slots[10 + i]),
                    ms: std::array::from_fn(|i| slots[20 + i]),
                };
                let batches = |slots: [u32; 7]| BatchMap {
                    slots: slots.map(u64::from),
                    calls: slots.iter().map(|slot| u64::from(*slot)).sum(),
                };
                Job {
                    name,
                    description,
                    group,
                    members: 1,
                    started_ms,
                    failure,
                    options,
                    reporting,
                    dirs: PerDdir(dirs),
                    sync: SyncStats { ios, lat },
                    runtime_ms,
                    usage: Usage {
                        user_us,
                        ..Usage::default()
                    },
                    depth: DepthMap(maps.0.map(u64::from)),
                    submit: batches(maps.0),
                    complete: batches(maps.1),
                    coarse,
                    target: LatencyTarget {
                        target_ns: started_ms,
                        ..LatencyTarget::default()
                    },
                    ..Job::default()
                }
            },
        )
}

fn disk() -> impl Strategy<Value = Disk> {
    let counters =
        [count(), count(), count(), count()].prop_map(|[ios, ticks, busy, elapsed]| DiskCounters {
            ios: [ios, ticks],
            ticks_ms: [ticks, ios],
            busy_ms: busy,
            elapsed_ms: elapsed,
            ..DiskCounters::default()
        });
    vec(counters, 1..4).prop_map(|counters| {
        let mut devices = counters.into_iter().map(|counters| Disk {
            counters,
            ..Disk::default()
        });
        let parent = devices.next().expect("at least one");
        Disk {
            members: devices.collect(),
            ..parent
        }
    })
}

/// Kernel names are unique.
fn named(mut disks: Vec<Disk>) -> Vec<Disk> {
    for (i, disk) in disks.iter_mut().enumerate() {
        disk.name = format!("md{i}");
        for (j, member) in disk.members.iter_mut().enumerate() {
            member.name = format!("sd{i}p{j}");
        }
    }
    disks
}

fn run() -> impl Strategy<Value = Run> {
    let idle = (
        vec(float(), 0..3),
        [float(), float(), float()],
        any::<bool>(),
    )
        .prop_map(
            |(cpus_percent, [system_percent, unit_mean_us, unit_stddev_us], per_cpu)| CpuIdle {
                per_cpu,
                system_percent,
                cpus_percent,
                unit_mean_us,
                unit_stddev_us,
            },
        );
    let dates = (any::<u64>(), any::<i32>());
    (
        vec(job(), 0..4),
        vec(disk(), 0..3),
        proptest::option::of(idle),
        dates,
    )
        .prop_map(|(jobs, disks, cpu_idle, dates)| Run {
            jobs,
            disks: named(disks),
            cpu_idle,
            finished_ms: dates.0,
            utc_offset_s: dates.1,
            ..Run::default()
        })
}

/// Fields of a line without disks, error counts and description.
fn fields(version: TerseVersion, unified: Unified) -> usize {
    let (head, per_direction, directions) = match version {
        TerseVersion::V2 => (4, 41, 3),
        TerseVersion::V3 => (5, 41, 2),
        TerseVersion::V4 => (5, 41, 3),
        TerseVersion::V5 => (5, 47, 3),
    };
    let directions = match unified {
        Unified::Separate => directions,
        Unified::Mixed => 1,
        Unified::Both => directions + 1,
    };
    head + per_direction * directions + 5 + 7 + 10 + 12
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn normal_text_has_a_section_per_group(run in run()) {
        let text = normal(&run);
        let groups = run.jobs.iter().map(|job| job.group + 1).max().unwrap_or(0);
        prop_assert_eq!(text.matches("\nRun status group ").count(), groups as usize);
        prop_assert!(text.starts_with('\n') && text.ends_with('\n'));
    }

    #[test]
    fn json_parses_and_starts_and_ends_with_a_brace(run in run(), plus: bool) {
        let text = json(&run, plus);
        prop_assert_eq!(text.lines().next(), Some("{"));
        prop_assert_eq!(text.lines().last(), Some("}"));
        let value: serde_json::Value = serde_json::from_str(&text)
            .map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(value["jobs"].as_array().unwrap().len(), run.reported().len());
    }

    #[test]
    fn terse_lines_have_constant_width(run in run()) {
        let blocks = run.reported();
        // A device has 9 fields, and 9 more for its members, which are devices themselves.
        let width =
            |disk: &Disk| 9 * (1 + usize::from(!disk.members.is_empty()) + disk.members.len());
        let devices: usize = run.disks.iter().map(width).sum();
        for (_, version) in TERSE_VERSIONS {
            let text = terse(&run, version);
            let described = |job: &&Job| job.description.as_ref().is_some_and(|d| !d.is_empty());
            let own_line = version == TerseVersion::V2;
            let extra = if own_line { blocks.iter().filter(described).count() } else { 0 };
            prop_assert_eq!(text.matches('\n').count(), blocks.len() + extra);
            let mut lines = text.split_terminator('\n');
            for block in &blocks {
                let mut expected = fields(version, block.reporting.unified);
                expected += if own_line { 0 } else { devices };
                expected += if block.reporting.continues_on_error { 2 } else { 0 };
                let described = described(&block);
                expected += usize::from(described && !own_line);
                prop_assert_eq!(lines.next().unwrap().split(';').count(), expected);
                if described && own_line {
                    prop_assert!(lines.next().unwrap().starts_with(';'));
                }
            }
        }
    }
}
