//! The report as one page: a file that works from disk, without network and without script.
//!
//! The template escapes by default; what is put in unescaped is made here or by `chart`, never
//! from outside. The policy in the head forbids the page to load or send anything, and lets no
//! script run but the page's own, named by its hash.

use crate::chart::{Chart, key};
use crate::report::{Block, Cell, Report, Section, Table, evidence, markdown, note, one_line};
use flate2::Compression;
use flate2::write::GzEncoder;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use result::Finding;
use sha2::{Digest, Sha256};
use std::io::Write;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page.
pub fn html(report: &Report) -> String {
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
         form-action 'none'; script-src 'sha256-{}'",
        base64(&Sha256::digest(SCRIPT))
    );
    let mut charts = 0;
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (one_line(&report.title)) " - Assay" }
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (one_line(&report.title)) }
                    p.sub { (one_line(&report.subtitle)) }
                    p.tools hidden {
                        button type="button" #copy { "Copy as Markdown" }
                        button type="button" #save { "Save raw result" }
                        span #said role="status" {}
                    }
                }
                nav aria-label="Sections" {
                    @for (index, section) in report.sections.iter().enumerate() {
                        a href={ "#s" (index) } { (one_line(&section.heading)) }
                    }
                }
                main {
                    @for (index, section) in report.sections.iter().enumerate() {
                        (part(index, section, &mut charts))
                    }
                    section #raw {
                        h2 { "To go on with" }
                        details {
                            summary { "This report as Markdown" }
                            pre #markdown tabindex="0" { (markdown(report)) }
                        }
                        p.sub {
                            "The raw result is in the source of this page, in the element "
                            code { "raw-result" } " (JSON, packed with gzip where it is large)."
                        }
                    }
                }
                (PreEscaped(raw(report)))
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// Longer documents are packed: 13 runs of an hour each would be 4 MB of digits.
const MOST_PLAIN: usize = 400_000;

/// What stands in a page whose raw result is packed.
pub const PACKED: &str = "<script type=\"application/gzip+base64\" id=\"raw-result\">";

/// The documents as an element of the page: JSON that no end tag can break out of, or the same
/// packed.
fn raw(report: &Report) -> String {
    let documents = match report.raw.as_slice() {
        [only] => only.clone(),
        several => format!("[{}]", several.join(",")),
    };
    if documents.len() > MOST_PLAIN {
        let mut packer = GzEncoder::new(Vec::new(), Compression::default());
        let packed = packer
            .write_all(documents.as_bytes())
            .and_then(|()| packer.finish());
        // Writing to memory does not fail; if it did, the plain form is still right.
        if let Ok(bytes) = packed {
            return format!("{PACKED}{}</script>", base64(&bytes));
        }
    }
    // Inside JSON a `<` can only stand in a string, where the escape means the same.
    let mut plain = documents.replace('<', "\\u003c");
    for turn in ('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}') {
        if plain.contains(turn) {
            plain = plain.replace(turn, &format!("\\u{:04x}", u32::from(turn)));
        }
    }
    format!("<script type=\"application/json\" id=\"raw-result\">{plain}</script>")
}

fn part(index: usize, section: &Section, charts: &mut usize) -> Markup {
    html! {
        section id={ "s" (index) } {
            h2 { (one_line(&section.heading)) }
            div.blocks {
                @for block in &section.blocks { (piece(block, charts)) }
            }
        }
    }
}

fn piece(block: &Block, charts: &mut usize) -> Markup {
    match block {
        Block::Words(words) => html! { p.wide { (one_line(words)) } },
        Block::Warning(words) => html! {
            p.wide.warning role="alert" { strong { "Warning: " } (one_line(words)) }
        },
        Block::Finding(of, finding) => self::finding(of, finding),
        Block::Facts(facts) => html! {
            dl.wide {
                @for (name, value) in facts { dt { (one_line(name)) } dd { (one_line(value)) } }
            }
        },
        Block::Table(heading, rows) => html! {
            div.wide {
                @if !heading.is_empty() { h3 { (one_line(heading)) } }
                (table(rows, if heading.is_empty() { "Results" } else { heading }))
                @for state in states(rows) { p.sub { (note(state)) } }
            }
        },
        Block::Chart(chart) => {
            *charts += 1;
            figure(chart, &format!("c{charts}"))
        }
        Block::Fixed(heading, text) => html! {
            div.wide {
                h3 { (one_line(heading)) }
                pre tabindex="0" {
                    @for line in text.lines() { (one_line(line)) "\n" }
                }
            }
        },
    }
}

fn finding(of: &str, finding: &Finding) -> Markup {
    let evidence = evidence(finding);
    let class = format!("wide finding grave-{}", finding.severity.word());
    html! {
        div class=(class) {
            p { strong { (finding.severity.word()) } " " (one_line(of)) (one_line(&finding.text)) }
            p.sub { (one_line(&finding.advice)) " [" (one_line(&finding.id)) "]" }
            @if !evidence.is_empty() {
                details {
                    summary { "Evidence" }
                    dl {
                        @for (name, value) in &evidence {
                            dt { (one_line(name)) } dd { (one_line(value)) }
                        }
                    }
                }
            }
        }
    }
}

fn states(table: &Table) -> Vec<crate::chart::State> {
    let cells = || table.rows.iter().flatten();
    let marks = [crate::chart::State::Doubtful, crate::chart::State::Few].into_iter();
    marks
        .filter(|state| cells().any(|cell| cell.text.ends_with(state.mark())))
        .collect()
}

fn figure(chart: &Chart, id: &str) -> Markup {
    let better = chart.better.words();
    let rows = chart.table();
    let legend = chart.legend();
    html! {
        figure id=(id) {
            figcaption {
                strong { (one_line(&chart.title)) }
                @if !better.is_empty() { " " span.better { (better) } }
                @if !chart.note.is_empty() { p.sub { (one_line(&chart.note)) } }
            }
            @if !legend.is_empty() {
                ul.legend {
                    @for (index, name) in legend.iter().enumerate() {
                        li {
                            button type="button" aria-pressed="true" data-series=(index) {
                                (PreEscaped(key(index, id))) (one_line(name))
                            }
                        }
                    }
                }
            }
            (PreEscaped(chart.svg(id)))
            p.tip aria-hidden="true" {}
            details {
                summary { "Table" }
                (table(&rows, &chart.title))
                @for state in chart.states() { p.sub { (note(state)) } }
            }
        }
    }
}

fn table(table: &Table, caption: &str) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(one_line(caption)) {
            table {
                thead {
                    tr {
                        @for column in &table.columns {
                            th scope="col" class=[column.numeric.then_some("n")] {
                                (one_line(&column.name))
                            }
                        }
                    }
                }
                tbody {
                    @for row in &table.rows {
                        tr {
                            @for (cell, column) in row.iter().zip(&table.columns) {
                                td class=[class(cell, column.numeric)] { (one_line(&cell.text)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn class(cell: &Cell, numeric: bool) -> Option<&'static str> {
    match (numeric, cell.text.ends_with(')')) {
        (true, true) => Some("n weak"),
        (true, false) => Some("n"),
        (false, _) => None,
    }
}

/// Base64 with padding, as policies want hashes.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |three: u32, at: u32| char::from(DIGITS[(three >> (18 - 6 * at)) as usize & 63]);
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let three = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            out.push(if at as usize <= chunk.len() {
                digit(three, at)
            } else {
                '='
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn base64_of_the_standard() {
        let pairs = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
        ];
        for (text, encoded) in pairs {
            assert_eq!(base64(text.as_bytes()), encoded);
        }
    }
}
