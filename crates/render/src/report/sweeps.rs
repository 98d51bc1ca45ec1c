//! Pictures of jobs that differ in one or two options only: depth, number of jobs, block size, mix.

use super::storage::Item;
use super::{Block, Section};
use crate::chart::{
    Axis, Bar, BarSeries, Bars, Better, Chart, ChartData, Heat, Lines, MOST_SERIES, Point, Series,
    Unit,
};
use std::collections::BTreeMap;

/// What may differ within a picture.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Setting {
    depth: u64,
    jobs: u64,
    block: u64,
    /// Reads in hundredths of a percent.
    reads: u64,
}

/// Items of one workload but for their settings.
type Groups<'a> = BTreeMap<String, Vec<(Setting, &'a Item<'a>)>>;

pub(super) fn sections(items: &[Item<'_>]) -> Option<Section> {
    let mut blocks = Vec::new();
    blocks.extend(hockey(items));
    blocks.extend(depth_by_jobs(items));
    blocks.extend(scale_out(items));
    blocks.extend(mixes(items));
    (!blocks.is_empty()).then(|| Section {
        heading: "Sweeps".to_owned(),
        blocks,
    })
}

fn setting(item: &Item<'_>) -> Setting {
    let number = |names: &[&str], default: u64| {
        let first = |text: &str| text.split([',', '-', ':', '/']).next().map(str::to_owned);
        let text = item.option(names).and_then(first);
        text.and_then(|text| size(&text)).unwrap_or(default)
    };
    let percent = |name: &str| {
        item.option(&[name])
            .and_then(|text| text.parse::<f64>().ok())
    };
    let reads = match (percent("rwmixread"), percent("rwmixwrite")) {
        (Some(reads), _) => reads,
        (None, Some(writes)) => 100.0 - writes,
        (None, None) => match pattern(item).unwrap_or("rw") {
            rw if rw.contains("rw") => 50.0,
            rw if rw.ends_with("read") => 100.0,
            _ => 0.0,
        },
    };
    let reads = (reads * 100.0).round().clamp(0.0, 10_000.0) as u64;
    Setting {
        depth: number(&["iodepth"], 1),
        jobs: number(&["numjobs"], u64::from(item.job.members.max(1))),
        block: number(&["bs", "blocksize"], 4096),
        reads,
    }
}

fn pattern<'a>(item: &'a Item<'_>) -> Option<&'a str> {
    item.option(&["rw", "readwrite"])
}

/// A number with a binary suffix.
fn size(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let text = text.trim_end_matches("ib").trim_end_matches('b');
    let (digits, factor) = match text.strip_suffix(['k', 'm', 'g']) {
        Some(digits) if text.ends_with('k') => (digits, 1 << 10),
        Some(digits) if text.ends_with('m') => (digits, 1 << 20),
        Some(digits) => (digits, 1 << 30),
        None => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// Where an item was measured: runs of different machines or files are not one sweep.
fn place(item: &Item<'_>) -> String {
    item.option(&["filename", "directory"])
        .unwrap_or("")
        .to_owned()
}

/// Groups of items with one key. A group ends where a later run has the same setting again: what
/// follows is another sweep, of another device perhaps.
fn groups<'a>(items: &'a [Item<'a>], key: impl Fn(&Item<'_>, &Setting) -> String) -> Groups<'a> {
    let mut sweeps: BTreeMap<String, Vec<Vec<(Setting, &'a Item<'a>)>>> = BTreeMap::new();
    for item in items {
        let setting = setting(item);
        let list = sweeps.entry(key(item, &setting)).or_default();
        let again = |(known, other): &(Setting, &Item<'_>)| {
            *known == setting && other.direction == item.direction && other.index != item.index
        };
        match list.last_mut() {
            Some(last) if !last.iter().any(again) => last.push((setting, item)),
            _ => list.push(vec![(setting, item)]),
        }
    }
    let mut groups = Groups::new();
    for (key, list) in sweeps {
        let of = list.len();
        for (at, group) in list.into_iter().enumerate() {
            let part = if of > 1 {
                format!(" ({} of {of})", at + 1)
            } else {
                String::new()
            };
            groups.insert(key.clone() + &part, group);
        }
    }
    groups
}

fn percent(hundredths: u64) -> f64 {
    hundredths as f64 / 100.0
}

/// IOPS against latency by depth.
fn hockey(items: &[Item<'_>]) -> Vec<Block> {
    let key = |item: &Item<'_>, s: &Setting| {
        let rw = pattern(item).unwrap_or("");
        let (block, place) = (crate::human::bytes(s.block as f64), place(item));
        let jobs = if s.jobs > 1 {
            format!(", {} jobs", s.jobs)
        } else {
            String::new()
        };
        let mix = if rw.contains("rw") {
            format!(" {} % reads", percent(s.reads))
        } else {
            String::new()
        };
        let direction = if rw.contains("rw") {
            format!(", {}", item.direction)
        } else {
            String::new()
        };
        format!("{rw}{mix} {block}{jobs}{direction} {place}")
            .trim()
            .to_owned()
    };
    let mut blocks = Vec::new();
    for (name, mut group) in groups(items, key) {
        group.sort_by(|a, b| a.0.cmp(&b.0));
        let mut depths: Vec<u64> = group.iter().map(|(s, _)| s.depth).collect();
        depths.dedup();
        if depths.len() < 3 {
            continue;
        }
        let line = |name: &str, of: &dyn Fn(&Item<'_>) -> Option<f64>| Series {
            name: name.to_owned(),
            points: group
                .iter()
                .filter_map(|(setting, item)| {
                    Some(Point {
                        x: item.dir.iops(),
                        y: of(item)?,
                        label: format!("QD {}", setting.depth),
                        state: item.state(),
                    })
                })
                .collect(),
        };
        let mut series = vec![
            line("mean", &|item| item.dir.mean_latency_ns()),
            line("p99", &|item| item.percentile(99.0).map(|(value, _)| value)),
        ];
        series.retain(|series| !series.points.is_empty());
        blocks.push(Block::Chart(Chart {
            title: format!("Latency and IOPS by depth: {name}"),
            note: "Up and to the right by turns: past the knee, depth buys latency only."
                .to_owned(),
            better: Better::Neither,
            data: ChartData::Lines(Lines {
                x: Axis::linear("IOPS", Unit::PerS),
                y: Axis::log("latency", Unit::Ns),
                series,
                ..Lines::default()
            }),
        }));
    }
    blocks
}

/// Depth and number of jobs.
fn depth_by_jobs(items: &[Item<'_>]) -> Vec<Block> {
    let key = |item: &Item<'_>, s: &Setting| {
        let rw = pattern(item).unwrap_or("");
        let block = crate::human::bytes(s.block as f64);
        format!("{rw} {block} {}, {}", place(item), item.direction)
    };
    let mut blocks = Vec::new();
    for (name, group) in groups(items, key) {
        let depths = values(&group, |s| s.depth);
        let jobs = values(&group, |s| s.jobs);
        if depths.len() < 2 || jobs.len() < 2 {
            continue;
        }
        let cell = |depth: u64, jobs: u64| {
            let at = group
                .iter()
                .find(|(s, _)| s.depth == depth && s.jobs == jobs);
            at.map(|(_, item)| item.dir.iops())
        };
        let row = |jobs: &u64| depths.iter().map(|depth| cell(*depth, *jobs)).collect();
        blocks.push(Block::Chart(Chart {
            title: format!("IOPS by depth and jobs: {name}"),
            note: String::new(),
            better: Better::More,
            data: ChartData::Heat(Heat {
                rows_title: "jobs".to_owned(),
                rows: jobs.iter().map(u64::to_string).collect(),
                columns_title: "queue depth".to_owned(),
                columns: depths.iter().map(u64::to_string).collect(),
                value: "IOPS".to_owned(),
                unit: Unit::PerS,
                cells: jobs.iter().map(row).collect(),
            }),
        }));
    }
    blocks
}

/// IOPS by the number of jobs, beside what the fewest would give if all were as fast.
fn scale_out(items: &[Item<'_>]) -> Vec<Block> {
    let key = |item: &Item<'_>, s: &Setting| {
        let rw = pattern(item).unwrap_or("");
        let (block, place) = (crate::human::bytes(s.block as f64), place(item));
        let mut name = format!("{rw} {block}, depth {}", s.depth);
        if rw.contains("rw") {
            name += &format!(", {} % reads, {}", percent(s.reads), item.direction);
        }
        format!("{name} {place}").trim().to_owned()
    };
    let mut blocks = Vec::new();
    for (name, mut group) in groups(items, key) {
        group.sort_by(|a, b| a.0.cmp(&b.0));
        let counts = values(&group, |s| s.jobs);
        // One point for each number of jobs; a group of others is no sweep of it.
        let Some((fewest, first)) = group.first().filter(|_| counts.len() == group.len()) else {
            continue;
        };
        if counts.len() < 3 {
            continue;
        }
        let each = first.dir.iops() / fewest.jobs.max(1) as f64;
        let measured = |(s, item): &(Setting, &Item<'_>)| Point {
            state: item.state(),
            ..Point::new(s.jobs as f64, item.dir.iops())
        };
        let ideal = |jobs: &u64| Point::new(*jobs as f64, each * *jobs as f64);
        let series = |name: &str, points| Series {
            name: name.to_owned(),
            points,
        };
        blocks.push(Block::Chart(Chart {
            title: format!("IOPS by the number of jobs: {name}"),
            note: "Below the ideal line, jobs wait for each other or for the device.".to_owned(),
            better: Better::More,
            data: ChartData::Lines(Lines {
                x: Axis::linear("jobs", Unit::Count),
                y: Axis::linear("IOPS", Unit::PerS),
                series: vec![
                    series("measured", group.iter().map(measured).collect()),
                    series("ideal", counts.iter().map(ideal).collect()),
                ],
                ..Lines::default()
            }),
        }));
    }
    blocks
}

fn values(group: &[(Setting, &Item<'_>)], of: fn(&Setting) -> u64) -> Vec<u64> {
    let mut values: Vec<u64> = group.iter().map(|(setting, _)| of(setting)).collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// Mixes of reads and writes: stacked bars, and a map where block sizes differ as well.
fn mixes(items: &[Item<'_>]) -> Vec<Block> {
    let kind = |item: &Item<'_>| match pattern(item).unwrap_or("") {
        rw if rw.starts_with("rand") => "random",
        "" => "",
        _ => "sequential",
    };
    let key = |item: &Item<'_>, s: &Setting| {
        let depth = format!("depth {}", s.depth);
        format!("{} {depth} {}", kind(item), place(item))
            .trim()
            .to_owned()
    };
    let mut blocks = Vec::new();
    for (name, group) in groups(items, key) {
        let sizes = values(&group, |s| s.block);
        let mixes = values(&group, |s| s.reads);
        if mixes.len() < 3 {
            continue;
        }
        let rate = |block: u64, reads: u64, direction: Option<&str>| {
            let fits = |(s, item): &&(Setting, &Item<'_>)| {
                s.block == block
                    && s.reads == reads
                    && direction.is_none_or(|direction| item.direction == direction)
            };
            let found: Vec<f64> = group
                .iter()
                .filter(fits)
                .map(|(_, item)| item.dir.iops())
                .collect();
            (!found.is_empty()).then(|| found.iter().sum::<f64>())
        };
        let mix = |reads: &u64| format!("{} % reads", percent(*reads));
        for block in sizes.iter().take(MOST_SERIES) {
            let series = |direction: &str| BarSeries {
                name: direction.to_owned(),
                bars: mixes
                    .iter()
                    .map(|reads| rate(*block, *reads, Some(direction)).map(Bar::new))
                    .collect(),
            };
            // A report may tell both directions as one.
            let mut parts = ["read", "write", "mixed"].map(series).to_vec();
            parts.retain(|part| part.bars.iter().any(Option::is_some));
            if parts.iter().flat_map(|part| &part.bars).flatten().count() < 2 {
                continue;
            }
            let size = crate::human::bytes(*block as f64);
            blocks.push(Block::Chart(Chart {
                title: format!("IOPS by mix, {size} blocks: {name}"),
                note: String::new(),
                better: Better::More,
                data: ChartData::Bars(Bars {
                    value: Axis::linear("IOPS", Unit::PerS),
                    kind: "mix".to_owned(),
                    categories: mixes.iter().map(mix).collect(),
                    series: parts,
                    stacked: true,
                    limits: Vec::new(),
                }),
            }));
        }
        if sizes.len() < 2 {
            continue;
        }
        let row = |block: &u64| {
            mixes
                .iter()
                .map(|reads| rate(*block, *reads, None))
                .collect()
        };
        blocks.push(Block::Chart(Chart {
            title: format!("IOPS by block size and mix: {name}"),
            note: String::new(),
            better: Better::More,
            data: ChartData::Heat(Heat {
                rows_title: "block size".to_owned(),
                rows: sizes
                    .iter()
                    .map(|size| crate::human::bytes(*size as f64))
                    .collect(),
                columns_title: "percent of reads".to_owned(),
                columns: mixes
                    .iter()
                    .map(|reads| percent(*reads).to_string())
                    .collect(),
                value: "IOPS".to_owned(),
                unit: Unit::PerS,
                cells: sizes.iter().map(row).collect(),
            }),
        }));
    }
    blocks
}
