//! Which page an address asks for, and what is in it.

use super::Site;
use crate::history::{self, Place, Which, date, trend, value};
use crate::{compare, report};
use anyhow::bail;
use percent_encoding::percent_decode_str;
use render::report::Report;
use render::site::{self, Field, Form, Kind, Page, Row};
use store::{Entry, Filter};

/// Runs that a list shows unless it is asked for others.
const LAST: u32 = 200;

/// What goes back.
pub struct Answer {
    /// HTTP's number for how it went.
    pub status: u16,
    /// Content type.
    pub kind: &'static str,
    /// The page.
    pub body: String,
}

fn html(status: u16, body: String) -> Answer {
    Answer {
        status,
        kind: "text/html; charset=utf-8",
        body,
    }
}

/// A page, or words for people that say why there is none.
pub fn answer(site: &Site, page: &str, query: &str) -> Answer {
    let query = Query::of(query);
    let place = &site.place;
    let (page, made) = match page {
        "" => (Page::History, list(place, &query)),
        "run" => (Page::Run, run(place, &query)),
        "compare" => (Page::Compare, comparison(place, &query)),
        "trend" => (Page::Trend, course(place, &query)),
        "live" => (Page::Live, Ok(site::live(&site.hub.sections()))),
        _ => {
            let words = ["There is no such page.".to_owned()];
            return html(404, site::words(Page::Run, "Not found", &words, None));
        }
    };
    match made {
        Ok(body) => html(200, body),
        Err(error) => {
            let words = [format!("{error:#}")];
            let form = match page {
                Page::History => Some(filter(&query, LAST)),
                Page::Compare => Some(sides(&query)),
                Page::Trend => Some(metrics(&query)),
                Page::Live | Page::Run => None,
            };
            html(
                400,
                site::words(page, "Nothing to show", &words, form.as_ref()),
            )
        }
    }
}

/// Names and values behind the question mark.
struct Query(Vec<(String, String)>);

impl Query {
    fn of(text: &str) -> Query {
        let plain = |text: &str| {
            let text = text.replace('+', " ");
            percent_decode_str(&text).decode_utf8_lossy().into_owned()
        };
        let pair = |part: &str| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            (plain(name), plain(value))
        };
        let parts = text.split('&').filter(|part| !part.is_empty());
        Query(parts.map(pair).collect())
    }

    /// The first value of a name that is not empty.
    fn get(&self, name: &str) -> Option<String> {
        self.all(name).next().map(str::to_owned)
    }

    fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let of = move |pair: &&(String, String)| pair.0 == name && !pair.1.trim().is_empty();
        self.0.iter().filter(of).map(|(_, value)| value.trim())
    }
}

/// Fields of everything that `assay history list` can be asked for.
fn fields(query: &Query) -> Vec<Field> {
    let field = |(name, label, kind): (&'static str, &'static str, Kind)| Field {
        name,
        label,
        value: query.get(name).unwrap_or_default(),
        kind,
    };
    let all = [
        ("device", "Device", Kind::Text),
        ("host", "Host", Kind::Text),
        ("suite", "Suite", Kind::Text),
        ("tag", "Tag", Kind::Text),
        ("since", "From this day on", Kind::Day),
        ("until", "Before this day", Kind::Day),
        ("last", "The last so many", Kind::Number),
    ];
    all.into_iter().map(field).collect()
}

fn filter(query: &Query, last: u32) -> Form {
    let mut fields = fields(query);
    for field in fields.iter_mut().filter(|field| field.name == "last") {
        if field.value.is_empty() {
            field.value = last.to_string();
        }
    }
    Form {
        fields,
        button: "Show",
    }
}

fn list(place: &Place, query: &Query) -> anyhow::Result<String> {
    let asked = Which::of(|name| query.get(name))?.filter(false)?;
    let last = asked.last.unwrap_or(LAST);
    let store = place.open_known()?;
    // One more tells whether there are more.
    let mut entries = store.list(&Filter {
        last: Some(last.saturating_add(1)),
        ..asked
    })?;
    let more = entries.len() > last as usize;
    if more {
        entries.remove(0);
    }
    let note = match (entries.len(), more) {
        (0, _) => "No run of the history is like that.".to_owned(),
        (1, false) => "1 run".to_owned(),
        (n, false) => format!("{n} runs, the newest first"),
        (n, true) => format!("the last {n} runs, the newest first; there are more"),
    };
    let rows: Vec<Row> = entries.iter().rev().map(row).collect();
    Ok(site::history(&rows, &note, &filter(query, LAST)))
}

fn row(entry: &Entry) -> Row {
    let shown =
        |name: &str, found: Option<f64>| found.map_or_else(String::new, |found| value(name, found));
    let mut about = vec![
        ("host", entry.host.clone().unwrap_or_default()),
        ("devices", entry.devices.join(", ")),
        ("suite", entry.suite.clone().unwrap_or_default()),
        ("tags", entry.tags.join(", ")),
        ("note", entry.note.clone().unwrap_or_default()),
    ];
    about.retain(|(_, value)| !value.is_empty());
    Row {
        id: entry.id,
        ended: date(entry.finished_ms),
        title: entry.title.clone(),
        partial: entry.partial,
        tool: history::tool(entry).to_owned(),
        about,
        figures: [
            shown("iops", entry.iops),
            shown("bandwidth", entry.bandwidth),
            shown("latency", entry.latency),
        ],
    }
}

/// The report of a run, or of several: numbers, tags or suites.
fn run(place: &Place, query: &Query) -> anyhow::Result<String> {
    let mut runs = Vec::new();
    for word in query.all("id") {
        let found = report::kept_as(place, word)?;
        if found.is_empty() {
            bail!("{word}: no number, tag or suite of the history");
        }
        runs.extend(found);
    }
    if runs.is_empty() {
        bail!("say which run: its number, a tag or a suite behind `run?id=`");
    }
    Ok(site::report(Page::Run, &Report::of(&runs)?, None))
}

fn sides(query: &Query) -> Form {
    let field = |name: &'static str, label: &'static str| Field {
        name,
        label,
        value: query.get(name).unwrap_or_default(),
        kind: Kind::Text,
    };
    Form {
        fields: vec![field("a", "A, the base"), field("b", "B, judged by A")],
        button: "Compare",
    }
}

fn comparison(place: &Place, query: &Query) -> anyhow::Result<String> {
    let form = sides(query);
    let (Some(a), Some(b)) = (query.get("a"), query.get("b")) else {
        let words = [
            "Name two runs, or two sets of runs, by number, tag or suite. The same work is \
             compared figure by figure, as `assay compare A B` does."
                .to_owned(),
        ];
        return Ok(site::words(Page::Compare, "Compare", &words, Some(&form)));
    };
    let report = compare::of_history(place, &a, &b)?;
    Ok(site::report(Page::Compare, &report, Some(&form)))
}

fn metrics(query: &Query) -> Form {
    let first = || trend::METRICS[0].to_owned();
    let mut all = vec![Field {
        name: "metric",
        label: "Figure",
        value: query.get("metric").unwrap_or_else(first),
        kind: Kind::Choice(&trend::METRICS),
    }];
    all.extend(fields(query));
    Form {
        fields: all,
        button: "Show",
    }
}

fn course(place: &Place, query: &Query) -> anyhow::Result<String> {
    let asked = Which::of(|name| query.get(name))?.filter(true)?;
    let metric = query.get("metric");
    let metric = metric.as_deref().unwrap_or(trend::METRICS[0]);
    let entries = place.open_known()?.list(&asked)?;
    let report = trend::report(&entries, metric)?;
    Ok(site::report(Page::Trend, &report, Some(&metrics(query))))
}

#[cfg(test)]
mod tests {
    use super::Query;

    #[test]
    fn addresses_are_read_as_forms_write_them() {
        let query = Query::of("tag=a+b%26c&tag=d&host=&x&%6cast=5&bad=%zz%ff");
        assert_eq!(query.get("tag").as_deref(), Some("a b&c"));
        assert_eq!(query.all("tag").collect::<Vec<_>>(), ["a b&c", "d"]);
        assert_eq!(query.get("host"), None);
        assert_eq!(query.get("last").as_deref(), Some("5"));
        assert_eq!(query.get("bad").as_deref(), Some("%zz\u{fffd}"));
    }
}
