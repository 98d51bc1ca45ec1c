//! What the block devices below the targets did, and how evenly members shared the work.

use super::{Block, Cell, Column, Named, Section, Table, prefix};
use crate::chart::{Axis, Bar, BarSeries, Bars, Better, Chart, ChartData, Multiples, Panel, Unit};
use result::{Disk, DiskCounters};

/// Sectors of the kernel's counters.
const SECTOR_BYTES: f64 = 512.0;

pub(super) fn section(runs: &[Named]) -> Section {
    let mut blocks = Vec::new();
    for named in runs {
        let of = prefix(runs, named);
        let mut rows = Vec::new();
        for disk in &named.run.disks {
            add(&mut rows, disk, 0);
        }
        if rows.is_empty() {
            continue;
        }
        let columns = vec![
            Column::words("device"),
            Column::of("reads", Unit::Count),
            Column::of("writes", Unit::Count),
            Column::of("read", Unit::Bytes),
            Column::of("written", Unit::Bytes),
            Column::of("mean read", Unit::Ns),
            Column::of("mean write", Unit::Ns),
            Column::of("busy", Unit::Percent),
        ];
        blocks.push(Block::Table(
            format!("{of}Block devices"),
            Table { columns, rows },
        ));
        blocks.extend(named.run.disks.iter().filter_map(|disk| members(&of, disk)));
    }
    if !blocks.is_empty() {
        let words = "Counted by the kernel, other users of the devices included. Busy is the share \
                     of time with a request under way; a device that serves many at once can be \
                     100 % busy and have room left.";
        blocks.insert(0, Block::Words(words.to_owned()));
    }
    Section {
        heading: "Devices".to_owned(),
        blocks,
    }
}

fn add(rows: &mut Vec<Vec<Cell>>, disk: &Disk, level: usize) {
    let c = &disk.counters;
    let name = match &disk.identity {
        Some(identity) => format!("{} ({identity})", disk.name),
        None => disk.name.clone(),
    };
    let mark = if level > 0 { "- " } else { "" };
    rows.push(vec![
        Cell::words(format!(
            "{}{mark}{name}",
            "  ".repeat(level.saturating_sub(1))
        )),
        Cell::of(Unit::Count, c.ios[0] as f64),
        Cell::of(Unit::Count, c.ios[1] as f64),
        Cell::of(Unit::Bytes, c.sectors[0] as f64 * SECTOR_BYTES),
        Cell::of(Unit::Bytes, c.sectors[1] as f64 * SECTOR_BYTES),
        Cell::stated(Unit::Ns, mean_ns(c, 0), Default::default()),
        Cell::stated(Unit::Ns, mean_ns(c, 1), Default::default()),
        Cell::of(Unit::Percent, c.util_percent()),
    ]);
    for member in &disk.members {
        add(rows, member, level + 1);
    }
}

/// Mean time of a request: what all spent over their number.
fn mean_ns(c: &DiskCounters, direction: usize) -> Option<f64> {
    let n = c.ios[direction];
    (n > 0).then(|| c.ticks_ms[direction] as f64 * 1e6 / n as f64)
}

/// Four small charts over the members of a stripe or mirror: use alone misleads.
fn members(of: &str, disk: &Disk) -> Option<Block> {
    if disk.members.len() < 2 {
        return None;
    }
    let categories: Vec<String> = disk
        .members
        .iter()
        .map(|member| member.name.clone())
        .collect();
    type Measure = fn(&DiskCounters, usize) -> Option<f64>;
    let panel = |title: &str, unit: Unit, measure: Measure| {
        let one = |name: &str, direction: usize| BarSeries {
            name: name.to_owned(),
            bars: disk
                .members
                .iter()
                .map(|member| measure(&member.counters, direction).map(Bar::new))
                .collect(),
        };
        Panel {
            title: title.to_owned(),
            bars: Bars {
                value: Axis::linear(title, unit),
                kind: "member".to_owned(),
                categories: categories.clone(),
                series: vec![one("read", 0), one("write", 1)],
                ..Bars::default()
            },
        }
    };
    let mut busy = panel("busy", Unit::Percent, |c, _| Some(c.util_percent()));
    // Busy time knows no direction.
    busy.bars.series.truncate(1);
    busy.bars.series[0].name = "both".to_owned();
    let panels = vec![
        panel("requests", Unit::Count, |c, d| Some(c.ios[d] as f64)),
        panel("bytes", Unit::Bytes, |c, d| {
            Some(c.sectors[d] as f64 * SECTOR_BYTES)
        }),
        panel("mean time", Unit::Ns, mean_ns),
        busy,
    ];
    Some(Block::Chart(Chart {
        title: format!("{of}Members of {}", disk.name),
        note: "Even members have bars of one length in every chart.".to_owned(),
        better: Better::Neither,
        data: ChartData::Multiples(Multiples { panels }),
    }))
}
