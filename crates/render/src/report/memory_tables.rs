//! Memory tests of other tools: tables of several runs beside each other.

use super::{Block, Cell, Column, Named, Section, Table};
use crate::chart::{
    Axis, Bar, BarSeries, Bars, Better, Chart, ChartData, Heat, Lines, MOST_SERIES, Point, Series,
    Unit,
};
use result::{MemoryTable, MemoryTest};

/// Bytes per second of MB/s.
const MB: f64 = 1e6;

pub(super) fn section(runs: &[Named]) -> Option<Section> {
    let mut blocks = Vec::new();
    let all: Vec<(&str, &MemoryTable)> = runs
        .iter()
        .flat_map(|named| {
            named
                .run
                .memory_tables
                .iter()
                .map(|table| (named.name.as_str(), table))
        })
        .collect();
    for (test, title) in [
        (MemoryTest::PeakInjection, "Peak injection bandwidth by mix"),
        (MemoryTest::MaxBandwidth, "Maximum bandwidth by mix"),
    ] {
        let found: Vec<_> = all.iter().filter(|(_, table)| table.test == test).collect();
        blocks.extend(found.chunks(MOST_SERIES).map(|group| mixes(title, group)));
    }
    let loaded: Vec<_> = all
        .iter()
        .filter(|(_, table)| table.test == MemoryTest::LoadedLatency)
        .collect();
    blocks.extend(loaded.chunks(MOST_SERIES).map(loaded_latency));
    for (name, table) in &all {
        blocks.extend(match table.test {
            MemoryTest::LatencyMatrix => Some(matrix(name, table, Unit::Ns, 1.0)),
            MemoryTest::BandwidthMatrix => Some(matrix(name, table, Unit::DecimalBytesPerS, MB)),
            MemoryTest::IdleLatency | MemoryTest::CacheToCache | MemoryTest::Scan => {
                Some(plain(name, table))
            }
            MemoryTest::PeakInjection | MemoryTest::MaxBandwidth | MemoryTest::LoadedLatency => {
                None
            }
        });
    }
    let heading = "Memory, as other tools measured it".to_owned();
    (!blocks.is_empty()).then_some(Section { heading, blocks })
}

/// A series for each run over the mixes of all.
fn mixes(title: &str, group: &[&(&str, &MemoryTable)]) -> Block {
    let mut categories: Vec<String> = Vec::new();
    for row in group.iter().flat_map(|(_, table)| &table.rows) {
        if !categories.contains(&row.label) {
            categories.push(row.label.clone());
        }
    }
    let series = group.iter().map(|(name, table)| {
        let bar = |label: &String| {
            let row = table.rows.iter().find(|row| row.label == *label)?;
            Some(Bar::new(row.values.first().copied().flatten()? * MB))
        };
        BarSeries {
            name: (*name).to_owned(),
            bars: categories.iter().map(bar).collect(),
        }
    });
    let series: Vec<BarSeries> = series.collect();
    let value = Axis::linear("bandwidth", Unit::DecimalBytesPerS);
    let kind = "mix".to_owned();
    let bars = Bars {
        value,
        kind,
        categories,
        series,
        ..Bars::default()
    };
    chart(title, "", Better::More, ChartData::Bars(bars))
}

/// Latency against bandwidth; a point for each delay.
fn loaded_latency(group: &[&(&str, &MemoryTable)]) -> Block {
    let series = group.iter().map(|(name, table)| {
        let column = |word: &str| {
            table
                .columns
                .iter()
                .position(|column| column.starts_with(word))
        };
        let (latency, bandwidth) = (column("latency"), column("bandwidth"));
        let points = table.rows.iter().filter_map(|row| {
            let value = |at: Option<usize>| row.values.get(at?).copied().flatten();
            Some(Point {
                x: value(bandwidth)? * MB,
                y: value(latency)?,
                label: format!("delay {}", row.label),
                ..Point::default()
            })
        });
        Series {
            name: (*name).to_owned(),
            points: points.collect(),
        }
    });
    let lines = Lines {
        x: Axis::linear("bandwidth", Unit::DecimalBytesPerS),
        y: Axis::linear("latency", Unit::Ns),
        series: series.collect(),
        ..Lines::default()
    };
    let note = "A point for each delay between injections, in cycles.";
    chart(
        "Loaded latency",
        note,
        Better::Less,
        ChartData::Lines(lines),
    )
}

fn matrix(name: &str, table: &MemoryTable, unit: Unit, factor: f64) -> Block {
    let cells = |row: &result::MemoryRow| {
        row.values
            .iter()
            .map(|value| value.map(|value| value * factor))
            .collect()
    };
    let (what, better) = match unit {
        Unit::Ns => ("latency", Better::Less),
        _ => ("bandwidth", Better::More),
    };
    let column = |name: &String| name.split(" (").next().unwrap_or(name).to_owned();
    let heat = Heat {
        rows_title: "from".to_owned(),
        rows: table.rows.iter().map(|row| row.label.clone()).collect(),
        columns_title: "to".to_owned(),
        columns: table.columns.iter().map(column).collect(),
        value: what.to_owned(),
        unit,
        cells: table.rows.iter().map(cells).collect(),
    };
    let traffic = table
        .conditions
        .iter()
        .rfind(|line| line.contains("traffic"));
    let traffic = traffic.map_or("", String::as_str);
    chart(
        &format!("{name}: {}", table.test.name()),
        traffic,
        better,
        ChartData::Heat(heat),
    )
}

fn plain(name: &str, table: &MemoryTable) -> Block {
    let head = |name: &String| Column::number(name);
    let cell = |value: &Option<f64>| match value {
        Some(value) => Cell {
            text: value.to_string(),
            value: Some(*value),
        },
        None => Cell::words("-"),
    };
    let row = |row: &result::MemoryRow| {
        [Cell::words(&row.label)]
            .into_iter()
            .chain(row.values.iter().map(cell))
            .collect()
    };
    let shown = Table {
        columns: [Column::words("")]
            .into_iter()
            .chain(table.columns.iter().map(head))
            .collect(),
        rows: table.rows.iter().map(row).collect(),
    };
    Block::Table(format!("{name}: {}", table.test.name()), shown)
}

fn chart(title: &str, note: &str, better: Better, data: ChartData) -> Block {
    let (title, note) = (title.to_owned(), note.to_owned());
    Block::Chart(Chart {
        title,
        note,
        better,
        data,
    })
}
