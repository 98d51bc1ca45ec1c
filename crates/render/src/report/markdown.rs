//! Markdown that can be pasted into an issue or a chat.

use super::{Block, Report, Table, one_line};
use crate::chart::Chart;

/// Longer tables below charts are left to the page.
const MOST_ROWS: usize = 45;

/// The report as GitHub's Markdown.
pub fn markdown(report: &Report) -> String {
    let mut out = format!("# {}\n\n", escape(&report.title));
    if !report.subtitle.is_empty() {
        out += &format!("{}\n\n", escape(&report.subtitle));
    }
    for section in &report.sections {
        out += &format!("## {}\n\n", escape(&section.heading));
        for block in &section.blocks {
            out += &markdown_of(block);
        }
    }
    out.truncate(out.trim_end().len());
    out + "\n"
}

fn markdown_of(block: &Block) -> String {
    match block {
        Block::Words(words) => format!("{}\n\n", escape(words)),
        Block::Warning(words) => format!("**Warning:** {}\n\n", escape(words)),
        Block::Finding(of, finding) => format!(
            "- **{}**: {}{} \\[{}\\]. {}\n\n",
            finding.severity.word(),
            escape(of),
            escape(&finding.text),
            escape(&finding.id),
            escape(&finding.advice)
        ),
        Block::Facts(facts) => {
            let line = |(name, value): &(String, String)| {
                format!("- {}: {}\n", escape(name), escape(value))
            };
            facts.iter().map(line).collect::<String>() + "\n"
        }
        Block::Table(heading, rows) => {
            let heading = match heading.as_str() {
                "" => String::new(),
                _ => format!("### {}\n\n", escape(heading)),
            };
            heading + &table(rows) + "\n"
        }
        Block::Chart(chart) => of_chart(chart),
        Block::Fixed(heading, text) => {
            // The fence is longer than any in the text.
            let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
            let fence = "`".repeat(longest.max(2) + 1);
            let text: Vec<String> = text.lines().map(one_line).collect();
            format!(
                "### {}\n\n{fence}\n{}\n{fence}\n\n",
                escape(heading),
                text.join("\n")
            )
        }
    }
}

fn of_chart(chart: &Chart) -> String {
    let rows = chart.table();
    let better = match chart.better.words() {
        "" => String::new(),
        words => format!(" ({words})"),
    };
    let heading = format!("### {}{better}\n\n", escape(&chart.title));
    if rows.rows.len() > MOST_ROWS {
        let words = format!("{} rows, in the page of this report.", rows.rows.len());
        return format!("{heading}{words}\n\n");
    }
    let notes: Vec<&str> = chart.states().into_iter().map(super::text::note).collect();
    let notes: String = notes
        .iter()
        .map(|note| format!("{}\n\n", escape(note)))
        .collect();
    format!("{heading}{}\n{notes}", table(&rows))
}

fn table(table: &Table) -> String {
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut out = row(table
        .columns
        .iter()
        .map(|column| escape(&column.name))
        .collect());
    let rule = |numeric: bool| if numeric { "---:" } else { "---" }.to_owned();
    out += &row(table
        .columns
        .iter()
        .map(|column| rule(column.numeric))
        .collect());
    for cells in &table.rows {
        out += &row(cells.iter().map(|cell| escape(&cell.text)).collect());
    }
    out
}

/// Text without a meaning in Markdown or HTML, on one line.
fn escape(text: &str) -> String {
    let text = one_line(text);
    let mut out = String::with_capacity(text.len());
    let chars: Vec<char> = text.chars().collect();
    for (at, c) in chars.iter().enumerate() {
        let inner = |at: Option<usize>| {
            at.and_then(|at| chars.get(at))
                .is_some_and(|c| c.is_alphanumeric())
        };
        let within = inner(at.checked_sub(1)) && inner(Some(at + 1));
        let active = match c {
            '\\' | '`' | '*' | '[' | ']' | '|' | '~' => true,
            '_' => !within,
            '#' | '-' | '+' | '=' | '>' => at == 0 && chars.len() > 1,
            _ => false,
        };
        match c {
            '<' => out.push_str("&lt;"),
            '>' if at > 0 => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '@' => out.push_str("&#64;"),
            c => {
                if active {
                    out.push('\\');
                }
                out.push(*c);
            }
        }
    }
    out
}
