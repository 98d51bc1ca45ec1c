//! Comma-separated values: the table for programs, bare numbers, one row a job and direction.

use super::{Cell, Report, one_line};

/// The results as CSV (RFC 4180, with a heading).
pub fn csv(report: &Report) -> String {
    let table = &report.results;
    let heads = table.columns.iter().map(|column| match column.unit {
        "" => field(&column.name),
        unit => field(&format!("{} ({unit})", column.name)),
    });
    let mut out = heads.collect::<Vec<_>>().join(",");
    out += "\r\n";
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(cell).collect();
        out += &cells.join(",");
        out += "\r\n";
    }
    out
}

fn cell(cell: &Cell) -> String {
    match cell.value {
        Some(value) if value.is_finite() => format!("{}", (value * 1000.0).round() / 1000.0),
        Some(_) => String::new(),
        None if cell.text == "-" => String::new(),
        None => field(&cell.text),
    }
}

/// A text as a field. One that a spreadsheet would take for a formula gets an apostrophe before
/// it, which makes it text; what a terminal would obey is shown as its number.
fn field(text: &str) -> String {
    let text: &str = &text
        .split_inclusive(['\t', '\r', '\n'])
        .map(|part| match part.trim_end_matches(['\t', '\r', '\n']) {
            kept if kept.len() < part.len() => one_line(kept) + &part[kept.len()..],
            kept => one_line(kept),
        })
        .collect::<String>();
    let begins = text.trim_start_matches([' ', '\u{feff}']);
    let formula = begins.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '|', '%']);
    let text = if formula {
        format!("'{text}")
    } else {
        text.to_owned()
    };
    match text.contains([',', '"', '\n', '\r', '\'', ';', '\t']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}
