//! Runs of the history, as people read them.

use anyhow::bail;
use std::fmt::Write;
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

/// A job and its direction, where it has one.
pub fn subject(job: &str, direction: &str) -> String {
    match direction {
        "" => job.to_owned(),
        direction => format!("{job}, {direction}"),
    }
}

/// What measured it, or what it was read from.
pub fn tool(entry: &Entry) -> &str {
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
    let mut out = String::new();
    put_value(&mut out, name, value);
    out
}

fn put_value(out: &mut String, name: &str, value: f64) {
    /// Below this, tenths of a value are whole numbers of 64 bits.
    const MOST: f64 = 1e15;
    let whole = (0.0..MOST).contains(&value) && value.fract() == 0.0;
    // A string takes everything. Whole numbers take no part in the search for the digits of a
    // fraction, which is most of the time of a long list.
    let _ = match name {
        "iops" if whole => write!(out, "{} IOPS", value as u64),
        "bandwidth" if whole => {
            // To the nearest tenth, of two to the even one, as fractions are printed.
            let (tenths, rest) = ((value as u64 * 10) >> 20, (value as u64 * 10) & 0xf_ffff);
            let up = rest > 1 << 19 || (rest == 1 << 19 && tenths % 2 == 1);
            let tenths = tenths + u64::from(up);
            write!(out, "{}.{} MiB/s", tenths / 10, tenths % 10)
        }
        "iops" => write!(out, "{value:.0} IOPS"),
        "bandwidth" => write!(out, "{:.1} MiB/s", value / f64::from(1 << 20)),
        "latency" | "p50" | "p99" | "p99.9" => write!(out, "{}", crate::import::time(value)),
        _ => write!(out, "{value}"),
    };
}

/// Local date and time to the minute; empty where the time is not known.
pub fn date(ms: i64) -> String {
    let mut out = String::new();
    Dates::here().write(&mut out, ms);
    out
}

/// Writes times of one place.
struct Dates(jiff::tz::TimeZone);

impl Dates {
    fn here() -> Dates {
        Dates(jiff::tz::TimeZone::system())
    }

    /// Adds a time as [`date`] gives it. A list may have a hundred thousand, so the offset and
    /// the digits are looked up and written without a detour over formats.
    fn write(&self, out: &mut String, ms: i64) {
        let Ok(stamp) = jiff::Timestamp::from_millisecond(ms) else {
            return;
        };
        if ms == 0 {
            return;
        }
        let at = self.0.to_offset(stamp).to_datetime(stamp);
        let (year, month, day) = (at.year(), at.month(), at.day());
        let (hour, minute) = (at.hour(), at.minute());
        // A string takes everything.
        let _ = write!(out, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}");
    }
}

/// A line a run.
pub struct Table {
    out: String,
    dates: Dates,
    /// One column, before its width is known.
    cell: String,
}

impl Table {
    /// No line yet.
    pub fn new() -> Table {
        Table {
            out: String::new(),
            dates: Dates::here(),
            cell: String::new(),
        }
    }

    /// The lines.
    pub fn text(self) -> String {
        self.out
    }

    /// Adds a run.
    pub fn add(&mut self, entry: &Entry) {
        let Table { out, dates, cell } = self;
        cell.clear();
        dates.write(cell, entry.finished_ms);
        let (id, tool, title) = (entry.id, tool(entry), &entry.title);
        // A string takes everything.
        let _ = write!(out, "{id:>5}  {cell:<16}  {tool:<10}  {title:<28}");
        for (name, found, width) in [("iops", entry.iops, 14), ("bandwidth", entry.bandwidth, 15)] {
            cell.clear();
            if let Some(found) = found {
                put_value(cell, name, found);
            }
            let _ = write!(out, "  {cell:>width$}");
        }
        if !entry.tags.is_empty() {
            let _ = write!(out, "  [{}]", entry.tags.join(" "));
        }
        out.truncate(out.trim_end_matches(' ').len());
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::value;

    #[test]
    fn whole_numbers_are_printed_as_fractions_are() {
        let slow = |value: f64| format!("{:.1} MiB/s", value / f64::from(1 << 20));
        let steps = (0..2000).map(|n| f64::from(n) * 26_214.4);
        let odd = (0..2000u64).map(|n| (n * n * 7919 + 13) as f64);
        let halves = (0..400u64).map(|n| (n * 52_428 + n / 2) as f64);
        let ties = (1..60u64).map(|n| (n << 18) as f64);
        for number in steps
            .chain(odd)
            .chain(halves)
            .chain(ties)
            .chain([9.9e14, 1e15, 3.5e18])
        {
            assert_eq!(value("bandwidth", number), slow(number), "{number}");
            assert_eq!(value("iops", number), format!("{number:.0} IOPS"));
        }
        assert_eq!(value("iops", f64::NAN), "NaN IOPS");
    }
}
