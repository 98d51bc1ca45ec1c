//! Runs of the history, as people read them.

use anyhow::bail;
use store::{Entry, Filter, Metric, Store};

/// A run: its figures, its document, or the text it was read from.
pub fn one(store: &dyn Store, id: i64, format: &str) -> anyhow::Result<String> {
    let run = store.document(id)?;
    match (format, &run.source) {
        ("json", _) => Ok(serde_json::to_string_pretty(&run)? + "\n"),
        ("source", Some(source)) => Ok(format!("{}\n", source.text)),
        ("source", None) => bail!("run {id} was measured here and not read from a text"),
        _ => {
            let one = Filter {
                id: Some(id),
                figures: true,
                ..Filter::default()
            };
            let mut out = String::new();
            for entry in store.list(&one)? {
                out.push_str(&details(&entry));
            }
            Ok(out)
        }
    }
}

fn details(entry: &Entry) -> String {
    let mut out = format!("run {}: {}\n", entry.id, entry.title);
    let mut line = |name: &str, text: &str| {
        if !text.is_empty() {
            out.push_str(&format!("  {name:<10} {text}\n"));
        }
    };
    line("ended", &date(entry.finished_ms));
    line("from", tool(entry));
    line("command", entry.command.as_deref().unwrap_or_default());
    line("suite", entry.suite.as_deref().unwrap_or_default());
    line("host", entry.host.as_deref().unwrap_or_default());
    line("devices", &entry.devices.join(", "));
    line("tags", &entry.tags.join(", "));
    line("note", entry.note.as_deref().unwrap_or_default());
    line("partial", if entry.partial { "ended early" } else { "" });
    for metric in &entry.metrics {
        let what = format!("{} {}", metric.direction, metric.name);
        let value = figure(metric);
        out.push_str(&format!(
            "  {:<24} {:<18} {value}\n",
            metric.job,
            what.trim()
        ));
    }
    out
}

fn tool(entry: &Entry) -> &str {
    match (entry.tool.as_str(), entry.format.as_str()) {
        ("", format) => format,
        (tool, _) => tool,
    }
}

/// A value with its unit.
fn figure(metric: &Metric) -> String {
    value(&metric.name, metric.value)
}

/// The same of a name and a number.
pub fn value(name: &str, value: f64) -> String {
    match name {
        "iops" => format!("{value:.0} IOPS"),
        "bandwidth" => format!("{:.1} MiB/s", value / f64::from(1 << 20)),
        "latency" | "p50" | "p99" | "p99.9" => crate::import::time(value),
        _ => format!("{value}"),
    }
}

/// Local date and time to the minute; empty where the time is not known.
pub fn date(ms: i64) -> String {
    if ms == 0 {
        return String::new();
    }
    let zone = jiff::tz::TimeZone::system();
    jiff::Timestamp::from_millisecond(ms).map_or_else(
        |_| String::new(),
        |stamp| stamp.to_zoned(zone).strftime("%Y-%m-%d %H:%M").to_string(),
    )
}

/// A line a run.
pub fn table(entries: &[Entry]) -> String {
    let mut out = String::new();
    for entry in entries {
        let shown = |name: &str, found: Option<f64>| {
            found.map_or_else(String::new, |found| value(name, found))
        };
        let tags = match entry.tags.is_empty() {
            true => String::new(),
            false => format!("  [{}]", entry.tags.join(" ")),
        };
        let line = format!(
            "{:>5}  {:<16}  {:<10}  {:<28}  {:>14}  {:>15}{tags}",
            entry.id,
            date(entry.finished_ms),
            tool(entry),
            entry.title,
            shown("iops", entry.iops),
            shown("bandwidth", entry.bandwidth),
        );
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}
