//! `assay history`: what was kept, and what can be done with it.

mod keep;
mod show;
mod transfer;
pub mod trend;

pub use keep::{Keeping, Place, asked, command, command_line, keep, machine};
pub use show::{date, subject, tool, value};

use crate::compare::Known;
use anyhow::{Context, bail};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use store::{Entry, Filter, Store};

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
        /// `csv` and `parquet`, a row a figure, or `json`, the whole documents
        #[arg(long, default_value = "csv", value_parser = ["csv", "parquet", "json"])]
        format: String,
        /// Write here instead of to standard output
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Takes in what `export --format json` wrote, with tags and remarks; `assay import` reads
    /// everything else
    Import {
        /// Files of another history
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Shows where the level of a figure changed
    Trend {
        /// `iops`, `bandwidth`, `latency`, `p50`, `p99` or `p99.9`
        metric: String,
        #[command(flatten)]
        filter: Which,
        /// `text` or `json`
        #[arg(long, default_value = "text", value_parser = ["text", "json"])]
        format: String,
    },
}

/// Which runs are meant.
#[derive(clap::Args, Debug, Default)]
pub struct Which {
    /// With this device: its name, serial number or model
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
    /// The same from names with values, such as those of a form; what is empty asks for nothing.
    ///
    /// # Errors
    /// A number that is none.
    pub fn of(value: impl Fn(&str) -> Option<String>) -> anyhow::Result<Which> {
        let known = |name: &str| value(name).filter(|text| !text.is_empty());
        let last = known("last").map(|text| {
            let number = text.parse().ok().filter(|n| *n > 0);
            number.with_context(|| format!("last: {text} is no number from 1 on"))
        });
        Ok(Which {
            device: known("device"),
            host: known("host"),
            suite: known("suite"),
            tag: known("tag"),
            since: known("since"),
            until: known("until"),
            last: last.transpose()?,
        })
    }

    /// What the history is asked for.
    ///
    /// # Errors
    /// A day that is none.
    pub fn filter(&self, figures: bool) -> anyhow::Result<Filter> {
        Ok(Filter {
            figures,
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

/// Does what was asked.
pub fn main(arguments: &Arguments) -> ExitCode {
    match done(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if crate::out::is_gone(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("assay: history: {error:#}");
            ExitCode::from(1)
        }
    }
}

fn done(arguments: &Arguments) -> anyhow::Result<()> {
    // Reading what another history wrote may make this one.
    let mut store = match &arguments.what {
        What::Import { .. } => arguments.place.open()?,
        _ => arguments.place.open_known()?,
    };
    let text = match &arguments.what {
        What::List { filter, format } => {
            let json = format == "json";
            let filter = Filter {
                brief: !json,
                ..filter.filter(json)?
            };
            match json {
                true => serde_json::to_string_pretty(&store.list(&filter)?)? + "\n",
                false => {
                    let mut table = show::Table::new();
                    store.each(&filter, &mut |entry| table.add(entry))?;
                    table.text()
                }
            }
        }
        What::Show { id, format } => show::one(&*store, *id, format)?,
        What::Tag { id, tag, remove } => {
            if tag.trim().is_empty() || tag.parse::<i64>().is_ok() {
                bail!("`{tag}` is no tag: it would be read as the number of a run, or as nothing");
            }
            store.tag(*id, tag, !remove)?;
            String::new()
        }
        What::Note { id, text } => {
            store.note(*id, text)?;
            String::new()
        }
        What::Rm { ids } => {
            for id in ids {
                store.remove(*id)?;
            }
            String::new()
        }
        What::Gc { before } => match store.collect(day(before)?)? {
            1 => "1 run removed\n".to_owned(),
            gone => format!("{gone} runs removed\n"),
        },
        What::Export {
            filter,
            format,
            output,
        } => {
            let entries = store.list(&filter.filter(format != "json")?)?;
            let bytes = match format.as_str() {
                "json" => transfer::documents(&*store, entries)?.into_bytes(),
                "parquet" => store::export::parquet(&entries)?,
                _ => store::export::csv(&entries).into_bytes(),
            };
            return written(&bytes, output.as_deref(), format == "parquet");
        }
        What::Import { files } => transfer::import(&mut *store, files)?,
        What::Trend {
            metric,
            filter,
            format,
        } => {
            let entries = store.list(&filter.filter(true)?)?;
            trend::text(&entries, metric, format == "json")?
        }
    };
    Ok(crate::out::put(&text)?)
}

fn written(bytes: &[u8], output: Option<&Path>, binary: bool) -> anyhow::Result<()> {
    if let Some(path) = output {
        return crate::out::file(path, bytes);
    }
    if binary && std::io::stdout().is_terminal() {
        bail!("parquet is not for a terminal: name a file with --output");
    }
    let mut out = std::io::stdout().lock();
    out.write_all(bytes)?;
    Ok(out.flush()?)
}

/// Runs under a number, a tag or a suite, with their figures.
pub fn find(place: &Place, word: &str) -> anyhow::Result<Vec<Known>> {
    let store = place.open_known()?;
    let entries = entries(store.as_ref(), word, true)?;
    let with = |entry: Entry| {
        Ok(Known {
            run: store.document(entry.id)?,
            metrics: entry.metrics,
            host: entry.host,
        })
    };
    entries.into_iter().map(with).collect()
}

/// Runs under a number, a tag or a suite.
pub fn entries(store: &dyn Store, word: &str, figures: bool) -> anyhow::Result<Vec<Entry>> {
    let with = |change: &dyn Fn(&mut Filter)| {
        let mut filter = Filter {
            figures,
            ..Filter::default()
        };
        change(&mut filter);
        store.list(&filter)
    };
    let mut entries = match word.parse() {
        Ok(id) => with(&|filter| filter.id = Some(id))?,
        Err(_) => with(&|filter| filter.tag = Some(word.to_owned()))?,
    };
    if entries.is_empty() {
        entries = with(&|filter| filter.suite = Some(word.to_owned()))?;
    }
    Ok(entries)
}

/// A path, or a word of the history.
pub fn is_file(word: &str) -> bool {
    Path::new(word).is_file()
}
