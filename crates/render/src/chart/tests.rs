//! Each type of chart: the picture and the data as recorded, and what holds for all of them.
//!
//! `ASSAY_RECORD=1 cargo test -p render golden` records anew; look at the difference.

use super::*;
use std::path::PathBuf;

fn chart(title: &str, better: Better, data: ChartData) -> Chart {
    Chart {
        title: title.to_owned(),
        note: String::new(),
        better,
        data,
    }
}

fn samples() -> Vec<(&'static str, Chart)> {
    let point = |x: f64, y: f64, state| Point {
        x,
        y,
        label: String::new(),
        state,
    };
    let lines = Lines {
        x: Axis {
            title: "percentile".into(),
            unit: Unit::Percentile,
            scale: Scale::Nines,
        },
        y: Axis::log("latency", Unit::Ns),
        series: vec![
            Series {
                name: "one & <only>".into(),
                points: vec![
                    point(50.0, 9_000.0, State::Good),
                    point(99.0, 80_000.0, State::Good),
                    point(99.9, 2_000_000.0, State::Few),
                ],
            },
            Series {
                name: "two".into(),
                points: vec![
                    point(50.0, 12_000.0, State::Doubtful),
                    point(99.0, 70_000.0, State::Doubtful),
                ],
            },
        ],
        bands: vec![Band {
            from: 50.0,
            to: 99.0,
            name: "window".into(),
        }],
        rules: vec![Rule {
            at: 50_000.0,
            name: "promised".into(),
        }],
        ..Lines::default()
    };
    let strip = Lines {
        x: Axis::linear("run", Unit::Count),
        y: Axis {
            scale: Scale::Near,
            ..Axis::linear("IOPS", Unit::PerS)
        },
        series: vec![Series {
            name: "job".into(),
            points: (1..=6)
                .map(|run| point(f64::from(run), 9_000.0 + f64::from(run % 4), State::Good))
                .collect(),
        }],
        spans: vec![Band {
            from: 9_000.0,
            to: 9_003.0,
            name: "interval".into(),
        }],
        loose: true,
        ..Lines::default()
    };
    let bar = |value, interval| {
        Some(Bar {
            value,
            interval,
            state: State::Good,
        })
    };
    let bars = Bars {
        value: Axis::linear("bandwidth", Unit::BytesPerS),
        kind: "job".into(),
        categories: vec!["read".into(), "write".into()],
        series: vec![
            BarSeries {
                name: "a".into(),
                bars: vec![bar(3e9, Some((2.9e9, 3.2e9))), None],
            },
            BarSeries {
                name: "b".into(),
                bars: vec![bar(1e9, None), bar(2e9, None)],
            },
        ],
        stacked: false,
        limits: vec![
            Limit {
                category: 0,
                name: "volume".into(),
                value: 3.5e9,
            },
            Limit {
                category: 0,
                name: "instance".into(),
                value: 1.5e9,
            },
            Limit {
                category: 0,
                name: "link".into(),
                value: 9e10,
            },
        ],
    };
    let heat = Heat {
        rows_title: "jobs".into(),
        rows: vec!["1".into(), "4".into()],
        columns_title: "queue depth".into(),
        columns: vec!["1".into(), "32".into()],
        value: "IOPS".into(),
        unit: Unit::PerS,
        cells: vec![
            vec![Some(9_000.0), Some(120_000.0)],
            vec![Some(34_000.0), None],
        ],
    };
    let bins = vec![(1_000.0, 10), (1_100.0, 20), (50_000.0, 70)];
    let histogram = Histogram::gather(Axis::log("latency", Unit::Ns), 2.0, &[("job".into(), bins)]);
    let panel = |title: &str| Panel {
        title: title.into(),
        bars: bars.clone(),
    };
    let multiples = Multiples {
        panels: ["w", "x", "y", "z"].map(panel).to_vec(),
    };
    vec![
        (
            "line",
            chart("A curve", Better::Less, ChartData::Lines(lines)),
        ),
        (
            "strip",
            chart("Runs", Better::More, ChartData::Lines(strip)),
        ),
        ("bar", chart("Bars", Better::More, ChartData::Bars(bars))),
        ("heat", chart("A map", Better::More, ChartData::Heat(heat))),
        (
            "histogram",
            chart(
                "A histogram",
                Better::Neither,
                ChartData::Histogram(histogram),
            ),
        ),
        (
            "multiples",
            chart("Members", Better::Neither, ChartData::Multiples(multiples)),
        ),
    ]
}

fn same_as_recorded(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name);
    if std::env::var_os("ASSAY_RECORD").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let recorded = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, recorded, "{name} differs from what was recorded");
}

#[test]
fn golden_pictures_and_data() {
    for (name, chart) in samples() {
        same_as_recorded(&format!("{name}.svg"), &chart.svg("c1"));
        let data = serde_json::to_string_pretty(&(&chart, chart.table())).unwrap();
        same_as_recorded(&format!("{name}.json"), &(data + "\n"));
    }
}

/// What marks say is what the table says.
#[test]
fn every_mark_has_its_value_in_the_table() {
    for (name, chart) in samples() {
        let table = chart.table();
        let cells: Vec<&str> = table
            .rows
            .iter()
            .flatten()
            .map(|cell| cell.text.as_str())
            .collect();
        let svg = chart.svg("c1");
        let mut marks = 0;
        for line in svg
            .lines()
            .filter(|line| line.contains("class=\"") && line.contains("mark"))
        {
            let tip = line
                .split("<title>")
                .nth(1)
                .unwrap()
                .split("</title>")
                .next()
                .unwrap();
            let value = tip.rsplit([',', ':']).next().unwrap().trim();
            assert!(cells.contains(&value), "{name}: {tip} is not in {cells:?}");
            marks += 1;
        }
        assert!(marks > 0, "{name} shows nothing");
        assert!(
            !svg.contains("NaN") && !svg.contains("inf"),
            "{name}: {svg}"
        );
    }
}

#[test]
fn doubtful_points_are_hollow_and_few_samples_grey() {
    let svg = samples()[0].1.svg("c1");
    assert_eq!(svg.matches("mark hollow").count(), 2);
    assert_eq!(svg.matches("mark few").count(), 1);
    assert!(svg.contains("one &amp; &lt;only&gt;"));
    assert!(!svg.contains("<only>"));
}

#[test]
fn bars_begin_at_zero_and_keep_their_ratio() {
    let svg = samples()[2].1.svg("c1");
    let widths: Vec<f64> = svg
        .lines()
        .filter(|line| line.contains("bar mark"))
        .map(|line| {
            line.split("width=\"")
                .nth(1)
                .unwrap()
                .split('"')
                .next()
                .unwrap()
        })
        .map(|width| width.parse().unwrap())
        .collect();
    assert_eq!(widths.len(), 3);
    assert!((widths[0] / widths[1] - 3.0).abs() < 0.02, "{widths:?}");
    assert!((widths[2] / widths[1] - 2.0).abs() < 0.02, "{widths:?}");
}

#[test]
fn strange_values_draw_nothing_strange() {
    let at = |values: &[f64]| {
        let points = values.iter().map(|v| Point::new(*v, *v)).collect();
        let series = vec![Series {
            name: "s".into(),
            points,
        }];
        let (x, y) = (Axis::log("x", Unit::Bytes), Axis::log("y", Unit::Ns));
        let lines = Lines {
            x,
            y,
            series,
            ..Lines::default()
        };
        chart("t", Better::Less, ChartData::Lines(lines)).svg("c1")
    };
    for values in [
        &[][..],
        &[0.0],
        &[-1.0, 5.0],
        &[f64::NAN, f64::INFINITY, 3.0],
        &[1e-9, 1e30],
        &[7.0, 7.0],
    ] {
        let svg = at(values);
        assert!(
            !svg.contains("NaN") && !svg.contains("\"inf"),
            "{values:?}: {svg}"
        );
    }
}
