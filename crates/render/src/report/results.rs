//! Throughput and cost: a row and a bar for each job and direction.

use super::storage::{Item, few};
use super::{Block, Cell, Column, Named, Section, Table, prefix};
use crate::chart::{Axis, Bar, BarSeries, Bars, Better, Chart, ChartData, State, Unit};
use result::Job;

/// More bars make no picture.
const MOST_BARS: usize = 40;
/// Rows of the overview at most; the rest is in the other formats and counted.
const MOST_ROWS: usize = 200;

/// Percentiles of the overview.
const QUOTED: [f64; 3] = [50.0, 99.0, 99.9];
/// Percentiles of the table for programs.
const ALL: [f64; 9] = [1.0, 5.0, 50.0, 90.0, 95.0, 99.0, 99.9, 99.99, 99.999];

/// The table that people read first.
pub(super) fn overview(items: &[Item<'_>]) -> Table {
    let mut columns = vec![
        Column::words("job"),
        Column::words("direction"),
        Column::words("block"),
        Column::words("depth"),
        Column::of("IOPS", Unit::PerS),
        Column::of("bandwidth", Unit::BytesPerS),
        Column::of("mean latency", Unit::Ns),
    ];
    columns.extend(QUOTED.map(|p| Column::of(&crate::human::percentile(p), Unit::Ns)));
    columns.push(Column::of("max", Unit::Ns));
    let row = |item: &Item<'_>| {
        let state = item.state();
        let mut row = vec![
            Cell::words(&item.label),
            Cell::words(item.direction),
            Cell::words(item.option(&["bs", "blocksize"]).unwrap_or("-")),
            Cell::words(item.option(&["iodepth"]).unwrap_or("-")),
            Cell::stated(Unit::PerS, Some(item.dir.iops()), state),
            Cell::stated(Unit::BytesPerS, Some(item.dir.bytes_per_s()), state),
            Cell::stated(Unit::Ns, item.dir.mean_latency_ns(), State::Good),
        ];
        row.extend(QUOTED.map(|p| percentile(item, p)));
        // A mean that somebody wrote down is no largest value.
        let known = |latency: &&measure::Latency| latency.moments.n > 1 || item.class().is_some();
        let most = item.latency().filter(|latency| latency.moments.n > 0);
        let most = most.filter(known);
        let most = most.map(|latency| latency.moments.max as f64);
        row.push(Cell::stated(Unit::Ns, most, State::Good));
        row
    };
    let mut rows: Vec<Vec<Cell>> = items.iter().take(MOST_ROWS).map(row).collect();
    if items.len() > MOST_ROWS {
        let more = items.len() - MOST_ROWS;
        let words = format!("and {more} more rows, in the CSV format of this report");
        let blank = columns[1..].iter().map(|_| Cell::default());
        rows.push([Cell::words(words)].into_iter().chain(blank).collect());
    }
    Table { columns, rows }
}

/// The table for programs.
pub(super) fn table(items: &[Item<'_>]) -> Table {
    let mut columns = vec![
        Column::words("run"),
        Column::words("job"),
        Column::words("direction"),
        Column::words("rw"),
        Column::words("block"),
        Column::words("depth"),
        Column::words("jobs"),
        Column::of("bytes", Unit::Bytes),
        Column::of("I/Os", Unit::Count),
        Column {
            name: "runtime".to_owned(),
            unit: "ms",
            numeric: true,
        },
        Column::of("IOPS", Unit::PerS),
        Column::of("bandwidth", Unit::BytesPerS),
        Column::of("mean latency", Unit::Ns),
        Column::of("latency deviation", Unit::Ns),
        Column::of("min", Unit::Ns),
        Column::of("max", Unit::Ns),
    ];
    columns.extend(ALL.map(|p| Column::of(&crate::human::percentile(p), Unit::Ns)));
    columns.extend([Column::of("short", Unit::Count), Column::words("error")]);
    let row = |item: &Item<'_>| {
        let (dir, job) = (item.dir, item.job);
        let moments = item.latency().map(|latency| &latency.moments);
        let moments = moments.filter(|moments| moments.n > 0);
        let words = |names: &[&str]| Cell::words(item.option(names).unwrap_or(""));
        let whole = |n: u64| Cell {
            text: n.to_string(),
            value: Some(n as f64),
        };
        let ns = |value: Option<f64>| Cell::stated(Unit::Ns, value, State::Good);
        let mut row = vec![
            Cell::words(item.run),
            Cell::words(&job.name),
            Cell::words(item.direction),
            words(&["rw", "readwrite"]),
            words(&["bs", "blocksize"]),
            words(&["iodepth"]),
            whole(u64::from(job.members.max(1))),
            whole(dir.bytes),
            whole(dir.issued),
            whole(dir.runtime_ms),
            Cell::of(Unit::PerS, item.dir.iops()),
            Cell::of(Unit::BytesPerS, item.dir.bytes_per_s()),
            ns(item.dir.mean_latency_ns()),
            ns(moments.map(|moments| moments.stddev())),
            ns(moments.map(|moments| moments.min() as f64)),
            ns(moments.map(|moments| moments.max as f64)),
        ];
        row.extend(ALL.map(|p| percentile(item, p)));
        row.push(whole(dir.short));
        let error = job.failure.as_ref().map(|failure| failure.message.clone());
        row.push(Cell::words(error.unwrap_or_default()));
        row
    };
    Table {
        columns,
        rows: items.iter().map(row).collect(),
    }
}

fn percentile(item: &Item<'_>, percent: f64) -> Cell {
    match item.percentile(percent) {
        Some((value, state)) => Cell::stated(Unit::Ns, Some(value), state),
        None => Cell::words("-"),
    }
}

/// Bars of IOPS and of bandwidth.
pub(super) fn throughput(items: &[Item<'_>]) -> Section {
    let mut blocks = Vec::new();
    type Measure = (&'static str, Unit, fn(&Item<'_>) -> f64);
    let measures: [Measure; 2] = [
        ("bandwidth", Unit::BytesPerS, |item| item.dir.bytes_per_s()),
        ("IOPS", Unit::PerS, |item| item.dir.iops()),
    ];
    for (title, unit, of) in measures {
        if items.is_empty() || items.len() > MOST_BARS {
            continue;
        }
        let bar = |item: &Item<'_>| {
            let state = item.state();
            (
                item.label.clone(),
                Bar {
                    value: of(item),
                    interval: None,
                    state,
                },
            )
        };
        blocks.push(Block::Chart(Chart {
            title: title[..1].to_uppercase() + &title[1..],
            note: String::new(),
            better: Better::More,
            data: ChartData::Bars(Bars::single(
                Axis::linear(title, unit),
                "job",
                items.iter().map(bar).collect(),
            )),
        }));
    }
    Section {
        heading: "Throughput".to_owned(),
        blocks,
    }
}

/// CPU time and context switches of an I/O.
pub(super) fn cost(runs: &[Named], reported: &[Vec<Job>]) -> Section {
    let mut categories = Vec::new();
    let (mut user, mut system) = (Vec::new(), Vec::new());
    let mut switches = Table {
        columns: vec![
            Column::words("job"),
            Column::of("context switches", Unit::Count),
            Column::of("of these per I/O", Unit::Count),
            Column::of("major faults", Unit::Count),
        ],
        rows: Vec::new(),
    };
    for (named, jobs) in runs.iter().zip(reported) {
        for job in jobs.iter().filter(|job| job.reporting.shown) {
            let ios: u64 = job.dirs.iter().map(|(_, dir)| dir.ios).sum();
            if ios == 0 || job.usage == result::Usage::default() {
                continue;
            }
            let each = |us: u64| Some(Bar::new(us as f64 * 1000.0 / ios as f64));
            let label = format!("{}{}", prefix(runs, named), job.name);
            user.push(each(job.usage.user_us));
            system.push(each(job.usage.system_us));
            let n = job.usage.context_switches as f64;
            switches.rows.push(vec![
                Cell::words(&label),
                Cell::of(Unit::Count, n),
                Cell::of(Unit::Count, (n / ios as f64 * 1e4).round() / 1e4),
                Cell::of(Unit::Count, job.usage.major_faults as f64),
            ]);
            categories.push(label);
        }
    }
    let mut blocks = Vec::new();
    if (1..=MOST_BARS).contains(&categories.len()) {
        let series = |name: &str, bars| BarSeries {
            name: name.to_owned(),
            bars,
        };
        blocks.push(Block::Chart(Chart {
            title: "CPU time per I/O".to_owned(),
            note: "Time of the workers in user space and in the kernel.".to_owned(),
            better: Better::Less,
            data: ChartData::Bars(Bars {
                value: Axis::linear("CPU time per I/O", Unit::Ns),
                kind: "job".to_owned(),
                categories,
                series: vec![series("user", user), series("system", system)],
                stacked: true,
                limits: Vec::new(),
            }),
        }));
        blocks.push(Block::Table("Context switches".to_owned(), switches));
    }
    Section {
        heading: "Cost".to_owned(),
        blocks,
    }
}

/// State of a percentile of an item.
pub(super) fn reliance(item: &Item<'_>, percent: f64) -> State {
    match item.state() {
        State::Good => few(item.samples(), percent),
        state => state,
    }
}
