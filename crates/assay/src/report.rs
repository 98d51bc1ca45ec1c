//! `assay report`: runs as a page, Markdown, CSV, JSON or text.

use crate::history::Place;
use anyhow::{Context, bail};
use clap::ValueEnum;
use render::report::{Named, Report};
use result::{Run, import};
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use store::{Entry, Filter, Store};

/// Where the page goes when nobody says.
pub const PAGE: &str = "assay-report.html";

/// Words after `report`.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// Documents of Assay, pages made by this verb, and reports of other tools (fio, dd, Intel
    /// MLC); `-` is standard input. What is no file is a number, a tag or a suite of the history
    #[arg(required_unless_present = "last")]
    files: Vec<PathBuf>,
    /// The last so many runs of the history too
    #[arg(long, value_name = "N")]
    last: Option<u32>,
    #[command(flatten)]
    place: Place,
    /// Write here; `-` is standard output. Without it a page goes to assay-report.html and every
    /// other format to standard output
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Format; without it the ending of the output file decides, then html
    #[arg(long, value_enum)]
    format: Option<Format>,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One self-contained page
    Html,
    /// Markdown
    Md,
    /// One row a job and direction, bare numbers
    Csv,
    /// The documents
    Json,
    /// Text in columns
    Txt,
}

impl Format {
    fn of_ending(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()? {
            "html" | "htm" => Some(Format::Html),
            "md" => Some(Format::Md),
            "csv" => Some(Format::Csv),
            "json" => Some(Format::Json),
            "txt" => Some(Format::Txt),
            _ => None,
        }
    }
}

/// Reads, renders and writes.
pub fn main(arguments: &Arguments) -> ExitCode {
    match report(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("assay: report: {error:#}");
            ExitCode::from(1)
        }
    }
}

fn report(arguments: &Arguments) -> anyhow::Result<()> {
    let mut runs = Vec::new();
    for path in &arguments.files {
        runs.extend(match path.exists() || path.as_os_str() == "-" {
            true => read(path)?,
            false => of_history(&arguments.place, path)?,
        });
    }
    if let Some(last) = arguments.last {
        let store = arguments.place.open_known()?;
        let filter = Filter {
            last: Some(last),
            ..Filter::default()
        };
        runs.extend(kept(store.as_ref(), store.list(&filter)?)?);
    }
    if runs.is_empty() {
        bail!("the history has no runs");
    }
    let output = arguments.output.as_deref();
    let format = match (
        arguments.format,
        output.map(|path| (path, Format::of_ending(path))),
    ) {
        (Some(format), _) | (None, Some((_, Some(format)))) => format,
        (None, Some((path, None))) if path.extension().is_some() => {
            let path = path.display();
            bail!("{path}: its ending names no format; say --format html, md, csv, json or txt")
        }
        (None, _) => Format::Html,
    };
    let text = rendered(&runs, format)?;
    match output {
        Some(path) if path != Path::new("-") => {
            crate::out::check_apart(path, arguments.files.iter().map(PathBuf::as_path))?;
            write(path, &text)
        }
        None if format == Format::Html => {
            let page = Path::new(PAGE);
            check_page(page)?;
            write(page, &text)
        }
        _ => match std::io::stdout().write_all(text.as_bytes()) {
            // A reader that has seen enough is no mistake.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            done => done.context("standard output"),
        },
    }
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    crate::out::file(path, text)?;
    println!("{}", path.display());
    Ok(())
}

/// A file that nobody named is replaced only where it is a page of ours.
fn check_page(path: &Path) -> anyhow::Result<()> {
    let is_ours = match std::fs::read(path) {
        Ok(bytes) => {
            let text = String::from_utf8_lossy(&bytes);
            let packed = text.contains(render::PACKED);
            text.starts_with(DOCTYPE) && (text.contains(ISLAND) || packed)
        }
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    };
    if !is_ours {
        let path = path.display();
        bail!("{path} is there and no page of Assay's; move it away, or name another with -o");
    }
    Ok(())
}

const DOCTYPE: &str = "<!DOCTYPE html>";
/// Where a page has its result.
const ISLAND: &str = "id=\"raw-result\">";

fn rendered(runs: &[Named], format: Format) -> anyhow::Result<String> {
    if format == Format::Json {
        let documents: Vec<&Run> = runs.iter().map(|named| &named.run).collect();
        let text = match documents.as_slice() {
            [only] => serde_json::to_string_pretty(only),
            several => serde_json::to_string_pretty(several),
        };
        return Ok(text? + "\n");
    }
    let report = Report::of(runs)?;
    Ok(match format {
        Format::Html => render::html(&report),
        Format::Md => render::report::markdown(&report),
        Format::Csv => render::report::csv(&report),
        Format::Json | Format::Txt => render::report::text(&report),
    })
}

/// The page of runs that were just made, in the current directory. Returns its path.
///
/// # Errors
/// It cannot be written.
pub fn page(runs: &[Named]) -> anyhow::Result<PathBuf> {
    let text = rendered(runs, Format::Html)?;
    let path = std::env::current_dir()?.join(PAGE);
    check_page(&path)?;
    crate::out::file(&path, text)?;
    Ok(path)
}

/// Everything in one file, each run with a name of its own.
fn read(path: &Path) -> anyhow::Result<Vec<Named>> {
    let name = path.display().to_string();
    let bytes = match name.as_str() {
        "-" => {
            let mut bytes = Vec::new();
            if std::io::stdin().is_terminal() {
                eprintln!("assay: report: reading from the terminal; end with Ctrl-D");
            }
            std::io::stdin().read_to_end(&mut bytes).map(|_| bytes)
        }
        _ => std::fs::read(path),
    };
    let bytes = bytes.with_context(|| name.clone())?;
    let text = String::from_utf8_lossy(&bytes);
    let runs = match documents(&text) {
        Some(runs) => runs.with_context(|| name.clone())?,
        None => imported(&name, &text)?,
    };
    if runs.is_empty() {
        bail!("{name}: no result of a known kind in it");
    }
    let short = path
        .file_name()
        .map_or(name.clone(), |file| file.to_string_lossy().into_owned());
    let many = runs.len() > 1;
    let named = |(at, run): (usize, Run)| Named {
        name: if many {
            format!("{short} #{}", at + 1)
        } else {
            short.clone()
        },
        run,
    };
    Ok(runs.into_iter().enumerate().map(named).collect())
}

/// Runs of the history under a number, a tag or a suite.
fn of_history(place: &Place, word: &Path) -> anyhow::Result<Vec<Named>> {
    let name = word.display().to_string();
    // Where there is no history, the word was meant as a file.
    let store = place.open_known().ok();
    let runs = store.map(|_| kept_as(place, &name)).transpose()?;
    match runs {
        Some(runs) if !runs.is_empty() => Ok(runs),
        _ => bail!("{name}: no such file, and no run of the history"),
    }
}

/// Runs of the history under a number, a tag or a suite, and never a file.
///
/// # Errors
/// There is no history, or it cannot be read.
pub fn kept_as(place: &Place, word: &str) -> anyhow::Result<Vec<Named>> {
    let store = place.open_known()?;
    let entries = crate::history::entries(store.as_ref(), word, false)?;
    kept(store.as_ref(), entries)
}

fn kept(store: &dyn Store, entries: Vec<Entry>) -> anyhow::Result<Vec<Named>> {
    let named = |entry: Entry| {
        Ok(Named {
            name: format!("run {}", entry.id),
            run: store.document(entry.id)?,
        })
    };
    entries.into_iter().map(named).collect()
}

/// Reports of other tools.
fn imported(name: &str, text: &str) -> anyhow::Result<Vec<Run>> {
    let found = import::read(name, text);
    for problem in &found.problems {
        eprintln!("assay: report: {name}:{}: {}", problem.line, problem.what);
    }
    Ok(found.runs)
}

/// Documents of Assay: one or several after each other, a list, `assay import --json`, or those in
/// a page. `None` where the text is nothing of the kind.
fn documents(text: &str) -> Option<anyhow::Result<Vec<Run>>> {
    let page = text.starts_with(DOCTYPE);
    if page && text.contains(render::PACKED) {
        let packed = anyhow::anyhow!("its result is packed; open it and save the raw result first");
        return Some(Err(packed));
    }
    let text = match text.find(ISLAND).filter(|_| page) {
        Some(at) => {
            let inner = &text[at + ISLAND.len()..];
            &inner[..inner.find("</script>")?]
        }
        None => text,
    };
    let mut runs = Vec::new();
    for value in serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>() {
        // What is no JSON at all belongs to the importers, and so does JSON of other tools.
        let value = value.ok()?;
        let list = match value {
            serde_json::Value::Array(list) => list,
            serde_json::Value::Object(mut object) if object.contains_key("runs") => {
                match object.remove("runs")? {
                    serde_json::Value::Array(list) => list,
                    _ => return None,
                }
            }
            value => vec![value],
        };
        for value in list {
            let schema = value.get("schema").and_then(serde_json::Value::as_u64)?;
            if schema > u64::from(result::SCHEMA_VERSION) {
                let known = result::SCHEMA_VERSION;
                let newer = anyhow::anyhow!("schema {schema} is newer than {known}, known here");
                return Some(Err(newer));
            }
            match serde_json::from_value::<Run>(value) {
                Ok(run) => runs.push(run),
                Err(error) => return Some(Err(error.into())),
            }
        }
    }
    (!runs.is_empty()).then_some(Ok(runs))
}
