//! The pages of `assay serve`: the history, one run, a comparison, a trend, what runs now.
//!
//! Links are relative, so that no page holds the secret of its own address.

use super::parts::part;
use super::{SCRIPT, STYLE, hash, whole};
use crate::report::{Report, Section, one_line};
use maud::{Markup, html};

const LIVE: &str = include_str!("live.js");
const SITE: &str = include_str!("site.css");

/// A page of the site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// Runs that were kept.
    History,
    /// A figure over the runs.
    Trend,
    /// Two runs, or two sets.
    Compare,
    /// What runs now.
    Live,
    /// The report of a run, which is reached from the others.
    Run,
}

/// Where each page is found, below the secret.
const PAGES: [(Page, &str, &str); 4] = [
    (Page::History, "./", "History"),
    (Page::Trend, "trend", "Trend"),
    (Page::Compare, "compare", "Compare"),
    (Page::Live, "live", "Live"),
];

/// A field of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name in the address.
    pub name: &'static str,
    /// What people read.
    pub label: &'static str,
    /// What is in it.
    pub value: String,
    /// What it takes.
    pub kind: Kind,
}

/// What a field takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// A day.
    Day,
    /// A whole number from 1 on.
    Number,
    /// One of these words.
    Choice(&'static [&'static str]),
}

/// A form that asks for a page with other words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// Its fields.
    pub fields: Vec<Field>,
    /// What its button says.
    pub button: &'static str,
}

/// A run in the list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Its number.
    pub id: i64,
    /// When it ended.
    pub ended: String,
    /// What was measured.
    pub title: String,
    /// It ended early.
    pub partial: bool,
    /// What measured it.
    pub tool: String,
    /// Host, suite, devices, tags and remark, each with its name.
    pub about: Vec<(&'static str, String)>,
    /// The first figures, as people read them.
    pub figures: [String; 3],
}

/// The policy of every page, for the head of an answer: nothing comes from or goes to elsewhere,
/// and no script runs but the site's own.
pub fn policy() -> String {
    format!(
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'; script-src {} {}",
        hash(SCRIPT),
        hash(LIVE)
    )
}

/// A report as a page of the site.
pub fn report(page: Page, report: &Report, form: Option<&Form>) -> String {
    let form = html! { @if let Some(form) = form { (fields(form)) } };
    let body = html! { (links(page)) (whole(report, form)) };
    document(&report.title, &[SCRIPT], body)
}

/// A page that says something in a few words, such as why it shows nothing.
pub fn words(page: Page, title: &str, words: &[String], form: Option<&Form>) -> String {
    let body = html! {
        (links(page))
        header { h1 { (title) } }
        @if let Some(form) = form { (fields(form)) }
        main { @for line in words { p { (one_line(line)) } } }
    };
    document(title, &[], body)
}

/// The list of runs; two of them can be chosen for a comparison.
pub fn history(rows: &[Row], note: &str, form: &Form) -> String {
    let body = html! {
        (links(Page::History))
        header { h1 { "History" } }
        (fields(form))
        main {
            p.sub { (one_line(note)) }
            @if !rows.is_empty() { (list(rows)) }
        }
    };
    document("History", &[], body)
}

fn list(rows: &[Row]) -> Markup {
    html! {
        form action="compare" method="get" {
            div.scroll.runs tabindex="0" role="region" aria-label="Runs" {
                table {
                    thead {
                        tr {
                            th scope="col" { "A" } th scope="col" { "B" }
                            th scope="col" { "run" } th scope="col" { "what" }
                            th scope="col" { "ended" }
                            th.n scope="col" { "IOPS" } th.n scope="col" { "bandwidth" }
                            th.n scope="col" { "latency" }
                            th scope="col" { "where and why" }
                        }
                    }
                    tbody { @for row in rows { (run(row)) } }
                }
            }
            p { button type="submit" { "Compare A with B" } }
        }
    }
}

fn run(row: &Row) -> Markup {
    let choice = |side: &str| {
        html! {
            td.pick {
                input type="radio" name=(side.to_lowercase()) value=(row.id) required
                    aria-label={ (side) ": run " (row.id) };
            }
        }
    };
    html! {
        tr {
            (choice("A")) (choice("B"))
            td.id { a href={ "run?id=" (row.id) } { (row.id) } }
            td.what {
                (one_line(&row.title))
                @if row.partial { " " span.early { "ended early" } }
                @if !row.tool.is_empty() { " " span.faint { (one_line(&row.tool)) } }
            }
            td.when { (row.ended) }
            @for figure in &row.figures { td.n { (figure) } }
            td.about {
                @for (name, value) in &row.about {
                    span { span.faint { (name) } " " (one_line(value)) } " "
                }
            }
        }
    }
}

/// What runs now; the script asks for news and puts them in place of `main`.
pub fn live(sections: &[(String, Section)]) -> String {
    let body = html! {
        (links(Page::Live))
        header {
            h1 { "Live" }
            p.sub #link role="status" { "This page needs its script to follow the runs." }
        }
        main { (content(sections)) }
    };
    document("Live", &[SCRIPT, LIVE], body)
}

/// What stands in `main` of the live page.
pub fn fragment(sections: &[(String, Section)]) -> String {
    content(sections).into_string()
}

fn content(sections: &[(String, Section)]) -> Markup {
    let mut charts = 0;
    html! { @for (id, section) in sections { (part(id, section, &mut charts)) } }
}

fn document(title: &str, scripts: &[&str], body: Markup) -> String {
    super::document(title, html! {}, &[STYLE, SITE], scripts, body)
}

fn links(here: Page) -> Markup {
    html! {
        nav.site aria-label="Pages" {
            @for (page, address, name) in PAGES {
                a href=(address) aria-current=[(page == here).then_some("page")] { (name) }
            }
        }
    }
}

fn fields(form: &Form) -> Markup {
    html! {
        form.filter method="get" {
            @for field in &form.fields {
                label { span { (field.label) } (input(field)) }
            }
            button type="submit" { (form.button) }
        }
    }
}

fn input(field: &Field) -> Markup {
    let (name, value) = (field.name, &field.value);
    let plain = |kind: &str| html! { input type=(kind) name=(name) value=(value); };
    match field.kind {
        Kind::Text => plain("text"),
        Kind::Day => plain("date"),
        Kind::Number => html! { input type="number" name=(name) value=(value) min="1"; },
        Kind::Choice(words) => html! {
            select name=(name) {
                @for word in words {
                    option value=(word) selected[*word == value.as_str()] { (word) }
                }
            }
        },
    }
}
