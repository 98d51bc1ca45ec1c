//! The pieces of a page: sections, figures, tables.

use crate::chart::{Chart, State, key};
use crate::report::{Block, Cell, Section, Table, evidence, note, one_line};
use maud::{Markup, PreEscaped, html};
use result::Finding;

/// A section under its own identifier; `charts` counts the charts of the page.
pub(super) fn part(id: &str, section: &Section, charts: &mut usize) -> Markup {
    html! {
        section id=(id) {
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

fn states(table: &Table) -> Vec<State> {
    let cells = || table.rows.iter().flatten();
    let marks = [State::Doubtful, State::Few].into_iter();
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
