//! Memory: staircase, bandwidth, loaded latency, matrices.

use super::{Block, Section};
use crate::chart::{
    Axis, Bar, Bars, Better, Chart, ChartData, Heat, Limit, Lines, Point, Rule, Series, State,
    Unit, extremes,
};
use crate::memory;
use result::memory::{CacheCurve, CoreToCore, Figure, LineState, Loaded, Matrix, Memory, Scan};

/// Half an interval above this share of the median makes a figure doubtful.
const UNSTABLE: f64 = 0.05;

pub(super) fn section(of: &str, all: &Memory) -> Section {
    let mut blocks = Vec::new();
    blocks.extend(all.latency.as_ref().map(latency));
    blocks.extend(all.cache.as_ref().map(staircase));
    blocks.extend(bandwidth(all));
    blocks.extend((!all.loaded.is_empty()).then(|| loaded(&all.loaded)));
    blocks.extend(all.matrix.iter().flat_map(matrix));
    blocks.extend(all.c2c.iter().flat_map(transfers));
    blocks.extend(all.scan.as_ref().map(scan));
    let conditions = memory::conditions(&all.conditions);
    blocks.push(Block::Fixed("Conditions".to_owned(), conditions));
    Section {
        heading: format!("{of}Memory"),
        blocks,
    }
}

fn state(figure: &Figure) -> State {
    match figure.disturbed || figure.uncertainty() > UNSTABLE {
        true => State::Doubtful,
        false => State::Good,
    }
}

fn bar(figure: &Figure) -> Bar {
    let interval = (figure.n > 1).then_some((figure.low, figure.high));
    Bar {
        value: figure.median,
        interval,
        state: state(figure),
    }
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

fn latency(latency: &result::memory::Latency) -> Block {
    let bars = latency
        .rows
        .iter()
        .map(|row| (row.name.clone(), bar(&row.ns)))
        .collect();
    let bars = Bars::single(Axis::linear("time of a load", Unit::Ns), "order", bars);
    let note = "Dependent loads of one core; the whisker is the 95 % interval of the median.";
    chart(
        "Idle latency of memory",
        note,
        Better::Less,
        ChartData::Bars(bars),
    )
}

fn staircase(cache: &CacheCurve) -> Block {
    let series = cache.curves.iter().map(|curve| {
        let point = |p: &result::memory::CachePoint| Point {
            x: p.bytes as f64,
            y: p.ns.median,
            label: String::new(),
            state: state(&p.ns),
        };
        let pages = crate::human::bytes(curve.pages.bytes as f64);
        Series {
            name: format!("{pages} pages"),
            points: curve.points.iter().map(point).collect(),
        }
    });
    let plateaus = cache
        .curves
        .first()
        .map_or(&[][..], |curve| &curve.plateaus);
    let rule = |plateau: &result::memory::Plateau| Rule {
        at: plateau.ns,
        name: format!("{} {}", plateau.name, Unit::Ns.show(plateau.ns)),
    };
    let lines = Lines {
        x: Axis::log("working set", Unit::Bytes),
        y: Axis::log("time of a load", Unit::Ns),
        series: series.collect(),
        rules: plateaus.iter().map(rule).collect(),
        ..Lines::default()
    };
    let note = "Each step is the end of a cache.";
    chart(
        "Latency over the working set",
        note,
        Better::Less,
        ChartData::Lines(lines),
    )
}

fn bandwidth(all: &Memory) -> Option<Block> {
    let measured = all.bandwidth.as_ref()?;
    let row = |row: &result::memory::BandwidthRow| {
        let cpus = row.cpus.len();
        let threads = if cpus == 1 {
            "1 thread".to_owned()
        } else {
            format!("{cpus} threads")
        };
        (format!("{}, {threads}", row.name), bar(&row.rate))
    };
    let axis = Axis::linear("bandwidth", Unit::DecimalBytesPerS);
    let mut bars = Bars::single(axis, "mix", measured.rows.iter().map(row).collect());
    if let Some(sheet) = &all.data_sheet {
        let name = format!("{} {}", sheet.source, sheet.modules);
        let limit = |category| Limit {
            category,
            name: name.clone(),
            value: sheet.peak,
        };
        bars.limits = (0..bars.categories.len().min(1)).map(limit).collect();
    }
    let note = "Bytes loaded and stored, as STREAM counts; the whisker is the 95 % interval.";
    Some(chart(
        "Bandwidth of memory",
        note,
        Better::More,
        ChartData::Bars(bars),
    ))
}

fn loaded(curves: &[Loaded]) -> Block {
    let one = |curve: &Loaded| {
        let point = |p: &result::memory::LoadedPoint| {
            let ns = p.ns.as_ref()?;
            let state = match state(ns) {
                State::Good => state(&p.rate),
                doubtful => doubtful,
            };
            let label = format!("delay {}", p.delay);
            Some(Point {
                x: p.rate.median,
                y: ns.median,
                label,
                state,
            })
        };
        Series {
            name: curve.name.clone(),
            points: curve.points.iter().filter_map(point).collect(),
        }
    };
    let idle = curves.iter().find_map(|curve| curve.idle_ns.as_ref());
    let rule = |figure: &Figure| Rule {
        at: figure.median,
        name: format!("idle {}", Unit::Ns.show(figure.median)),
    };
    let lines = Lines {
        x: Axis::linear("bandwidth", Unit::DecimalBytesPerS),
        y: Axis::linear("latency", Unit::Ns),
        series: curves
            .iter()
            .take(crate::chart::MOST_SERIES)
            .map(one)
            .collect(),
        rules: idle.iter().map(|figure| rule(figure)).collect(),
        ..Lines::default()
    };
    let note = "Latency that one core sees while the others load the memory.";
    chart(
        "Loaded latency",
        note,
        Better::Less,
        ChartData::Lines(lines),
    )
}

fn matrix(matrix: &Matrix) -> Vec<Block> {
    let maps = [
        (
            "Latency from node to node",
            &matrix.latency_ns,
            Unit::Ns,
            Better::Less,
        ),
        (
            "Read bandwidth from node to node",
            &matrix.read,
            Unit::DecimalBytesPerS,
            Better::More,
        ),
        (
            "Write bandwidth from node to node",
            &matrix.write,
            Unit::DecimalBytesPerS,
            Better::More,
        ),
    ];
    let map = |(title, cells, unit, better): (&str, &Vec<Vec<Figure>>, Unit, Better)| {
        let medians = |row: &Vec<Figure>| row.iter().map(|f| Some(f.median)).collect();
        let heat = Heat {
            rows_title: "CPUs of node".to_owned(),
            rows: matrix.from.iter().map(u32::to_string).collect(),
            columns_title: "memory of node".to_owned(),
            columns: matrix.to.iter().map(u32::to_string).collect(),
            value: if unit == Unit::Ns {
                "latency"
            } else {
                "bandwidth"
            }
            .to_owned(),
            unit,
            cells: cells.iter().map(medians).collect(),
        };
        (!cells.is_empty()).then(|| chart(title, "", better, ChartData::Heat(heat)))
    };
    maps.into_iter().filter_map(map).collect()
}

fn transfers(c2c: &CoreToCore) -> Vec<Block> {
    let states = [
        (LineState::Modified, "changed"),
        (LineState::Clean, "clean"),
    ];
    let map = |(state, word): (LineState, &str)| {
        let cell = |writer: &u32, reader: &u32| {
            let is = |t: &&result::memory::Transfer| {
                t.state == state && t.writer == *writer && t.reader == *reader
            };
            c2c.pairs.iter().find(is).map(|t| t.ns.median)
        };
        let row = |writer: &u32| c2c.cpus.iter().map(|reader| cell(writer, reader)).collect();
        let cells: Vec<Vec<Option<f64>>> = c2c.cpus.iter().map(row).collect();
        let heat = Heat {
            rows_title: "writer".to_owned(),
            rows: c2c.cpus.iter().map(u32::to_string).collect(),
            columns_title: "reader (CPU)".to_owned(),
            columns: c2c.cpus.iter().map(u32::to_string).collect(),
            value: "transfer".to_owned(),
            unit: Unit::Ns,
            cells,
        };
        let any = heat.cells.iter().flatten().any(Option::is_some);
        let title = format!("Cache to cache, {word} lines");
        any.then(|| chart(&title, &c2c.definition, Better::Less, ChartData::Heat(heat)))
    };
    states.into_iter().filter_map(map).collect()
}

fn scan(scan: &Scan) -> Block {
    let rates: Vec<f64> = scan
        .regions
        .iter()
        .map(|region| region.rate.median)
        .collect();
    let point = |at: usize| Point {
        x: scan.regions[at].address as f64,
        y: rates[at],
        label: String::new(),
        state: state(&scan.regions[at].rate),
    };
    let title = if scan.physical {
        "physical address"
    } else {
        "distance"
    };
    let lines = Lines {
        x: Axis::linear(title, Unit::Bytes),
        y: Axis::linear("read bandwidth", Unit::DecimalBytesPerS),
        series: vec![Series {
            name: format!("node {}", scan.node),
            points: extremes(&rates, 160).into_iter().map(point).collect(),
        }],
        ..Lines::default()
    };
    chart(
        "Bandwidth by region",
        "",
        Better::More,
        ChartData::Lines(lines),
    )
}
