//! A comparison as a report: a page with charts of the same figures that the text tells.

use super::print::{interval, remarks, runs, summary, verdict};
use super::{Answer, Line};
use crate::history::{subject, value};
use judge::compare::Better;
use render::chart::{self, Axis, Bar, BarSeries, Bars, Chart, ChartData, Limit, State, Unit};
use render::report::{Block, Cell, Column, Report, Section, Table};

/// Bars that one picture holds.
const MOST_BARS: usize = 24;

/// The report of a comparison.
///
/// # Errors
/// It has no JSON, which only numbers that are none can cause.
pub fn report(answer: &Answer) -> serde_json::Result<Report> {
    let table = table(&answer.lines);
    Ok(Report {
        title: format!("{} against {}", answer.b, answer.a),
        subtitle: format!(
            "A: {} ({}), B: {} ({})",
            answer.a,
            runs(answer.runs[0]),
            answer.b,
            runs(answer.runs[1])
        ),
        sections: vec![
            Section {
                heading: "Comparison".to_owned(),
                blocks: words(answer, &table),
            },
            Section {
                heading: "Effects".to_owned(),
                blocks: charts(&answer.lines),
            },
        ],
        results: table,
        raw: vec![serde_json::to_string(answer)?],
    })
}

fn words(answer: &Answer, table: &Table) -> Vec<Block> {
    let mut blocks = Vec::new();
    if !answer.comparable {
        let words = "not comparable, so the figures are informative only";
        blocks.push(Block::Warning(words.to_owned()));
    }
    let list = |lines: &[String]| lines.join("\n");
    if !answer.alike.differences.is_empty() {
        let heading = "What stands against comparing".to_owned();
        blocks.push(Block::Fixed(heading, list(&answer.alike.differences)));
    }
    blocks.push(Block::Words(summary(answer).trim().to_owned()));
    blocks.push(Block::Table(String::new(), table.clone()));
    let told = remarks(answer).into_iter();
    blocks.extend(told.map(|remark| Block::Words(remark.to_owned())));
    if !answer.alike.remarks.is_empty() {
        let heading = "Not the same either".to_owned();
        blocks.push(Block::Fixed(heading, list(&answer.alike.remarks)));
    }
    blocks
}

/// A row a figure, in the words of the text.
fn table(lines: &[Line]) -> Table {
    let row = |line: &Line| {
        let c = &line.comparison;
        let spread = |at: usize| match c.n[at] {
            0 | 1 => String::new(),
            _ => format!(" +/- {:.1} %", 100.0 * c.cv[at]),
        };
        let side = |at: usize| Cell {
            text: value(&line.metric, c.median[at]) + &spread(at),
            value: Some(c.median[at]),
        };
        let known = |text: String| match text.trim() {
            "" => "-".to_owned(),
            text => text.to_owned(),
        };
        let p = c.p.map_or_else(String::new, |p| format!("{p:.3}"));
        vec![
            Cell::words(line.name()),
            side(0),
            side(1),
            Cell {
                text: format!("{:.3}", c.ratio),
                value: Some(c.ratio),
            },
            Cell::words(known(interval(c))),
            Cell::words(known(p)),
            Cell::words(format!("{}/{}", c.n[0], c.n[1])),
            Cell::words(verdict(c.verdict)),
        ]
    };
    Table {
        columns: vec![
            Column::words("figure"),
            Column::number("A"),
            Column::number("B"),
            Column::number("B / A"),
            Column::number("95 %"),
            Column::number("p"),
            Column::number("n"),
            Column::words("verdict"),
        ],
        rows: lines.iter().map(row).collect(),
    }
}

/// A picture for each metric: B in percent of A, beside what A is.
fn charts(lines: &[Line]) -> Vec<Block> {
    let mut metrics: Vec<&str> = Vec::new();
    for line in lines {
        if !metrics.contains(&line.metric.as_str()) {
            metrics.push(&line.metric);
        }
    }
    let mut blocks = Vec::new();
    for metric in metrics {
        let of: Vec<&Line> = lines.iter().filter(|line| line.metric == metric).collect();
        if of.len() > MOST_BARS {
            let words = format!(
                "{} figures of {metric}; the picture shows {MOST_BARS}.",
                of.len()
            );
            blocks.push(Block::Words(words));
        }
        blocks.push(Block::Chart(chart(metric, &of[..of.len().min(MOST_BARS)])));
    }
    blocks
}

fn chart(metric: &str, lines: &[&Line]) -> Chart {
    let bar = |line: &&Line| {
        let c = &line.comparison;
        Some(Bar {
            value: 100.0 * c.ratio,
            interval: c.interval.map(|[low, high]| (100.0 * low, 100.0 * high)),
            state: State::Good,
        })
    };
    let name = |line: &&Line| subject(&line.job, &line.direction);
    let limit = |category: usize| Limit {
        category,
        name: "A".to_owned(),
        value: 100.0,
    };
    let better = match lines.first().map(|line| line.better) {
        Some(Better::Higher) => chart::Better::More,
        Some(Better::Lower) => chart::Better::Less,
        None => chart::Better::Neither,
    };
    Chart {
        title: format!("{metric}: B in percent of A"),
        note: "Whiskers are 95 % intervals.".to_owned(),
        better,
        data: ChartData::Bars(Bars {
            value: Axis::linear("B in percent of A", Unit::Percent),
            kind: "figure".to_owned(),
            categories: lines.iter().map(name).collect(),
            series: vec![BarSeries {
                name: "B".to_owned(),
                bars: lines.iter().map(bar).collect(),
            }],
            stacked: false,
            limits: (0..lines.len()).map(limit).collect(),
        }),
    }
}
