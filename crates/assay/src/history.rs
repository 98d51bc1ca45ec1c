//! `assay history`: what was kept, and what can be done with it.

use anyhow::{Context, bail};
use result::Run;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use store::{About, Entry, Filter, Metric, Saved, Sqlite, Store};

/// Variable that names the file of the history.
const VARIABLE: &str = "ASSAY_DB";

/// Where the history lies, and whether to keep a run in it.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Place {
    /// File of the history; without it `ASSAY_DB`, else `assay/history.db` below the user's data
    #[arg(long, value_name = "FILE", global = true)]
    db: Option<PathBuf>,
}

impl Place {
    fn path(&self) -> anyhow::Result<PathBuf> {
        match (&self.db, std::env::var_os(VARIABLE)) {
            (Some(path), _) => Ok(path.clone()),
            (None, Some(path)) if !path.is_empty() => Ok(path.into()),
            _ => Ok(store::default_path()?),
        }
    }

    /// Opens the history, or makes it.
    pub fn open(&self) -> anyhow::Result<Sqlite> {
        Ok(Sqlite::open(&self.path()?)?)
    }

    /// Opens a history that should be there.
    pub fn open_known(&self) -> anyhow::Result<Sqlite> {
        let path = self.path()?;
        if !path.exists() {
            bail!("{}: there is no history yet", path.display());
        }
        Ok(Sqlite::open(&path)?)
    }
}

/// Keeps a run of another program's language, where `ASSAY_DB` asks for it.
///
/// # Errors
/// When the history cannot be written.
pub fn keep_if_asked(run: &Run) -> anyhow::Result<()> {
    let asked = std::env::var_os(VARIABLE).is_some_and(|path| !path.is_empty());
    if asked {
        keep(&Place::default(), std::iter::once(run))?;
    }
    Ok(())
}

/// Words after `history`.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    #[command(flatten)]
    place: Place,
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand, Debug)]
enum What {
    /// Lists runs
    List {
        #[command(flatten)]
        filter: Which,
        /// `text` or `json`, an array of runs
        #[arg(long, default_value = "text", value_parser = ["text", "json"])]
        format: String,
    },
    /// Shows a run: its report, its document, or where it came from
    Show {
        /// Its number
        id: i64,
        /// `text` or `json`, or `source`: the text it was read from
        #[arg(long, default_value = "text", value_parser = ["text", "json", "source"])]
        format: String,
    },
    /// Tags a run, so that it is found again and never collected
    Tag {
        /// Its number
        id: i64,
        /// The tag
        tag: String,
        /// Take the tag away
        #[arg(long)]
        remove: bool,
    },
    /// Remarks on a run; an empty remark goes
    Note {
        /// Its number
        id: i64,
        /// The remark
        text: String,
    },
    /// Removes runs
    Rm {
        /// Their numbers
        #[arg(required = true)]
        ids: Vec<i64>,
    },
    /// Removes runs without a tag that ended before a day, and gives the space back
    Gc {
        /// The day, such as 2026-01-31
        #[arg(long, value_name = "DAY")]
        before: String,
    },
    /// Prints figures for other programs
    Export {
        #[command(flatten)]
        filter: Which,
        /// `csv`, a row a figure, or `json`, the documents
        #[arg(long, default_value = "csv", value_parser = ["csv", "json"])]
        format: String,
    },
    /// Shows where the level of a figure changed
    Trend {
        /// `iops`, `bandwidth`, `latency`, `p50`, `p99` or `p99.9`
        metric: String,
        #[command(flatten)]
        filter: Which,
    },
}

#[derive(clap::Args, Debug, Default)]
struct Which {
    /// With this device
    #[arg(long)]
    device: Option<String>,
    /// On this host
    #[arg(long)]
    host: Option<String>,
    /// Of this suite
    #[arg(long)]
    suite: Option<String>,
    /// With this tag
    #[arg(long)]
    tag: Option<String>,
    /// Ended on this day or later
    #[arg(long, value_name = "DAY")]
    since: Option<String>,
    /// Ended before this day
    #[arg(long, value_name = "DAY")]
    until: Option<String>,
    /// The last so many
    #[arg(long, value_name = "N")]
    last: Option<u32>,
}

impl Which {
    fn filter(&self) -> anyhow::Result<Filter> {
        Ok(Filter {
            device: self.device.clone(),
            host: self.host.clone(),
            suite: self.suite.clone(),
            tag: self.tag.clone(),
            since_ms: self.since.as_deref().map(day).transpose()?,
            until_ms: self.until.as_deref().map(day).transpose()?,
            last: self.last,
            ..Filter::default()
        })
    }
}

/// The beginning of a day here, milliseconds since the epoch.
fn day(text: &str) -> anyhow::Result<i64> {
    let date: jiff::civil::Date = text
        .parse()
        .with_context(|| format!("{text}: not a day such as 2026-01-31"))?;
    let start = date.to_zoned(jiff::tz::TimeZone::system())?;
    Ok(start.timestamp().as_millisecond())
}

/// Keeps runs; how many are new, and how many were there.
pub fn keep<'a>(
    place: &Place,
    runs: impl Iterator<Item = &'a Run>,
) -> anyhow::Result<(usize, usize)> {
    let mut store = place.open()?;
    let (mut new, mut known) = (0, 0);
    for run in runs {
        match store.save(run, &About::default())? {
            Saved::New(_) => new += 1,
            Saved::Known(_) => known += 1,
        }
    }
    Ok((new, known))
}

/// Does what was asked.
pub fn main(arguments: &Arguments) -> ExitCode {
    match done(arguments) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("assay: history: {error:#}");
            ExitCode::from(1)
        }
    }
}

fn done(arguments: &Arguments) -> anyhow::Result<String> {
    let mut store = arguments.place.open_known()?;
    match &arguments.what {
        What::List { filter, format } => {
            let entries = store.list(&filter.filter()?)?;
            match format.as_str() {
                "json" => Ok(serde_json::to_string_pretty(&entries)? + "\n"),
                _ => Ok(table(&entries)),
            }
        }
        What::Show { id, format } => show(&store, *id, format),
        What::Tag { id, tag, remove } => {
            store.tag(*id, tag, !remove)?;
            Ok(String::new())
        }
        What::Note { id, text } => {
            store.note(*id, text)?;
            Ok(String::new())
        }
        What::Rm { ids } => {
            for id in ids {
                store.remove(*id)?;
            }
            Ok(String::new())
        }
        What::Gc { before } => {
            let gone = store.collect(day(before)?)?;
            Ok(format!("{gone} runs removed\n"))
        }
        What::Export { filter, format } => {
            let entries = store.list(&filter.filter()?)?;
            match format.as_str() {
                "json" => documents(&store, entries),
                _ => Ok(csv(&entries)),
            }
        }
        What::Trend { metric, filter } => trend(&store.list(&filter.filter()?)?, metric),
    }
}

fn show(store: &Sqlite, id: i64, format: &str) -> anyhow::Result<String> {
    let run = store.document(id)?;
    match (format, &run.source) {
        ("json", _) => Ok(serde_json::to_string_pretty(&run)? + "\n"),
        ("source", Some(source)) => Ok(format!("{}\n", source.text)),
        ("source", None) => bail!("run {id} was measured here and not read from a text"),
        _ => {
            let one = Filter {
                id: Some(id),
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
    line(
        "from",
        if entry.tool.is_empty() {
            &entry.format
        } else {
            &entry.tool
        },
    );
    line("command", entry.command.as_deref().unwrap_or_default());
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

/// A value with its unit.
pub fn figure(metric: &Metric) -> String {
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

fn date(ms: i64) -> String {
    if ms == 0 {
        return String::new();
    }
    let zone = jiff::tz::TimeZone::system();
    jiff::Timestamp::from_millisecond(ms).map_or_else(
        |_| String::new(),
        |stamp| stamp.to_zoned(zone).strftime("%Y-%m-%d %H:%M").to_string(),
    )
}

fn table(entries: &[Entry]) -> String {
    let mut out = String::new();
    for entry in entries {
        let best = |name: &str| {
            let of = |metric: &&Metric| metric.name == name;
            entry
                .metrics
                .iter()
                .find(of)
                .map_or_else(String::new, figure)
        };
        let tags = match entry.tags.is_empty() {
            true => String::new(),
            false => format!("  [{}]", entry.tags.join(" ")),
        };
        let tool = if entry.tool.is_empty() {
            &entry.format
        } else {
            &entry.tool
        };
        let line = format!(
            "{:>5}  {:<16}  {:<10}  {:<28}  {:>14}  {:>15}{tags}",
            entry.id,
            date(entry.finished_ms),
            tool,
            entry.title,
            best("iops"),
            best("bandwidth"),
        );
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// Not a `serde_json::Value`, which has no integers of 128 bits.
#[derive(Serialize)]
struct Exported {
    id: i64,
    tags: Vec<String>,
    note: Option<String>,
    host: Option<String>,
    suite: Option<String>,
    run: Run,
}

fn documents(store: &Sqlite, entries: Vec<Entry>) -> anyhow::Result<String> {
    let with = |entry: Entry| {
        anyhow::Ok(Exported {
            id: entry.id,
            run: store.document(entry.id)?,
            tags: entry.tags,
            note: entry.note,
            host: entry.host,
            suite: entry.suite,
        })
    };
    let list = entries.into_iter().map(with);
    let list = list.collect::<anyhow::Result<Vec<Exported>>>()?;
    Ok(serde_json::to_string_pretty(&list)? + "\n")
}

/// One row a figure: what pandas and DuckDB like best.
fn csv(entries: &[Entry]) -> String {
    let mut out = String::from(
        "run,finished_ms,tool,host,suite,devices,tags,title,configuration,partial,job,direction,\
         metric,value\n",
    );
    for entry in entries {
        for metric in &entry.metrics {
            let cells = [
                entry.id.to_string(),
                entry.finished_ms.to_string(),
                entry.tool.clone(),
                entry.host.clone().unwrap_or_default(),
                entry.suite.clone().unwrap_or_default(),
                entry.devices.join(" "),
                entry.tags.join(" "),
                entry.title.clone(),
                entry.configuration.clone(),
                u8::from(entry.partial).to_string(),
                metric.job.clone(),
                metric.direction.clone(),
                metric.name.clone(),
                metric.value.to_string(),
            ];
            out.push_str(&cells.map(|cell| quoted(&cell)).join(","));
            out.push('\n');
        }
    }
    out
}

/// As RFC 4180 has it.
fn quoted(cell: &str) -> String {
    match cell.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}

/// A series for each job, direction and configuration, with its steps.
fn trend(entries: &[Entry], metric: &str) -> anyhow::Result<String> {
    let mut series: Vec<(String, Vec<(i64, i64, f64)>)> = Vec::new();
    for entry in entries {
        for found in entry.metrics.iter().filter(|known| known.name == metric) {
            let name = format!("{}, {} ({})", found.job, found.direction, short(entry));
            let point = (entry.id, entry.finished_ms, found.value);
            match series.iter_mut().find(|(known, _)| *known == name) {
                Some((_, points)) => points.push(point),
                None => series.push((name, vec![point])),
            }
        }
    }
    if series.is_empty() {
        bail!(
            "no run has a figure `{metric}`; there are iops, bandwidth, latency, p50, p99, p99.9"
        );
    }
    let mut out = String::new();
    for (name, points) in series {
        let values: Vec<f64> = points.iter().map(|(_, _, value)| *value).collect();
        let n = values.len();
        let cv = 100.0 * judge::compare::variation(&values);
        let middle = value(metric, judge::compare::median(&values));
        out.push_str(&format!(
            "{name}: {n} runs, median {middle}, variation {cv:.1} %\n"
        ));
        for step in judge::compare::change_points(&values) {
            let (id, ms, _) = points[step.at];
            let change = 100.0 * (step.after / step.before - 1.0);
            out.push_str(&format!(
                "  from run {id} on ({}): {} became {} ({change:+.1} %)\n",
                date(ms),
                value(metric, step.before),
                value(metric, step.after),
            ));
        }
    }
    Ok(out)
}

/// The part of the digest that tells configurations apart in a list.
fn short(entry: &Entry) -> &str {
    entry.configuration.get(..8).unwrap_or_default()
}

/// Runs under a number or a tag, with their figures.
pub fn find(place: &Place, word: &str) -> anyhow::Result<Vec<(Run, Vec<Metric>)>> {
    let store = place.open_known()?;
    let filter = match word.parse() {
        Ok(id) => Filter {
            id: Some(id),
            ..Filter::default()
        },
        Err(_) => Filter {
            tag: Some(word.to_owned()),
            ..Filter::default()
        },
    };
    let mut entries = store.list(&filter)?;
    if entries.is_empty() {
        let suite = Filter {
            suite: Some(word.to_owned()),
            ..Filter::default()
        };
        entries = store.list(&suite)?;
    }
    let with = |entry: Entry| Ok((store.document(entry.id)?, entry.metrics));
    entries.into_iter().map(with).collect()
}

/// A path, or a word of the history.
pub fn is_file(word: &str) -> bool {
    Path::new(word).is_file()
}
