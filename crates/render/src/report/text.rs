//! The report as text for a terminal or a mail.

use super::{Block, Cell, Column, Report, Table, one_line};
use crate::chart::State;

/// Longer tables below charts are left to the page.
const MOST_ROWS: usize = 45;

/// What the marks behind values mean.
pub(crate) fn note(state: State) -> &'static str {
    match state {
        State::Good => "",
        State::Doubtful => "(!) failed, disturbed or not steady",
        State::Few => "(*) fewer than ten samples lie beyond",
    }
}

/// The report in columns.
pub fn text(report: &Report) -> String {
    let mut out = format!("{}\n", one_line(&report.title));
    if !report.subtitle.is_empty() {
        out += &format!("{}\n", one_line(&report.subtitle));
    }
    for section in &report.sections {
        let heading = one_line(&section.heading);
        out += &format!("\n{heading}\n{}\n", "=".repeat(heading.chars().count()));
        for block in &section.blocks {
            out += "\n";
            out += &of(block);
        }
    }
    out
}

fn of(block: &Block) -> String {
    match block {
        Block::Words(words) => format!("{}\n", one_line(words)),
        Block::Warning(words) => format!("Warning: {}\n", one_line(words)),
        Block::Finding(of, finding) => {
            let (word, text) = (finding.severity.word(), one_line(&finding.text));
            let (id, advice) = (one_line(&finding.id), one_line(&finding.advice));
            format!("{word}: {}{text} [{id}]\n    {advice}\n", one_line(of))
        }
        Block::Facts(facts) => {
            let line = |(name, value): &(String, String)| {
                format!("{}: {}\n", one_line(name), one_line(value))
            };
            facts.iter().map(line).collect()
        }
        Block::Table(heading, rows) => headed(heading, &table(rows)),
        Block::Chart(chart) => {
            let rows = chart.table();
            let heading = match chart.better.words() {
                "" => chart.title.clone(),
                words => format!("{} ({words})", chart.title),
            };
            if rows.rows.len() > MOST_ROWS {
                let words = format!("{} rows, in the page of this report\n", rows.rows.len());
                return headed(&heading, &words);
            }
            let notes = chart
                .states()
                .into_iter()
                .map(|state| format!("{}\n", note(state)));
            headed(&heading, &(table(&rows) + &notes.collect::<String>()))
        }
        Block::Fixed(heading, text) => {
            let lines = text.lines().map(|line| format!("  {}\n", one_line(line)));
            headed(heading, &lines.collect::<String>())
        }
    }
}

fn headed(heading: &str, body: &str) -> String {
    match heading {
        "" => body.to_owned(),
        _ => format!("{}\n{body}", one_line(heading)),
    }
}

fn table(table: &Table) -> String {
    let heads: Vec<String> = table
        .columns
        .iter()
        .map(|column| one_line(&column.name))
        .collect();
    let line = |row: &Vec<Cell>| {
        row.iter()
            .map(|cell| one_line(&cell.text))
            .collect::<Vec<_>>()
    };
    let rows: Vec<Vec<String>> = table.rows.iter().map(line).collect();
    let width = |column: usize| {
        let cells = rows
            .iter()
            .filter_map(|row| row.get(column))
            .chain(heads.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let mut out = String::new();
    for row in std::iter::once(&heads).chain(&rows) {
        let cells = row.iter().zip(&widths).zip(&table.columns);
        let cells = cells.map(|((cell, width), column)| padded(cell, *width, column));
        out += cells.collect::<Vec<_>>().join("  ").trim_end();
        out += "\n";
    }
    out
}

fn padded(cell: &str, width: usize, column: &Column) -> String {
    match column.numeric {
        true => format!("{cell:>width$}"),
        false => format!("{cell:<width$}"),
    }
}
