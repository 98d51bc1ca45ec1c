//! A report: facts, tables and charts of one or several runs, before it becomes a page, Markdown,
//! CSV or text. Every format shows these same cells, so that no figure differs between them.

mod csv;
mod disks;
mod judgement;
mod latency;
mod markdown;
mod memory;
mod memory_tables;
mod repeats;
mod results;
mod series;
mod storage;
mod sweeps;
mod table;
mod text;

pub use csv::csv;
pub use markdown::markdown;
pub use table::{Cell, Column, Table};
pub(crate) use text::note;
pub use text::text;

use crate::chart::Chart;
use crate::figures::ctime;
use result::{Finding, Run};
use storage::Item;

/// A run with the name that tells it from the others of its report.
#[derive(Clone, Debug, Default)]
pub struct Named {
    /// Such as a file name.
    pub name: String,
    /// The run.
    pub run: Run,
}

/// What a report says, in reading order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Heading.
    pub title: String,
    /// When, where, with which version.
    pub subtitle: String,
    /// The parts.
    pub sections: Vec<Section>,
    /// One row for each job and direction, with everything a program may want.
    pub results: Table,
    /// The documents it was made of, as JSON texts.
    pub raw: Vec<String>,
}

/// A part of a report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// Heading.
    pub heading: String,
    /// Content.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A paragraph.
    Words(String),
    /// Something that must not be overlooked.
    Warning(String),
    /// What a rule found, behind the words that name its run.
    Finding(String, Finding),
    /// Names with their values.
    Facts(Vec<(String, String)>),
    /// A table with a heading, which may be empty.
    Table(String, Table),
    /// A chart; its table goes with it.
    Chart(Chart),
    /// Text in fixed columns, with a heading: commands, options, conditions.
    Fixed(String, String),
}

impl Report {
    /// The report of `runs`.
    ///
    /// # Errors
    /// A document cannot be written as JSON, which only numbers that are none can cause.
    pub fn of(runs: &[Named]) -> Result<Report, serde_json::Error> {
        let reported: Vec<Vec<result::Job>> =
            runs.iter().map(|named| named.run.reported()).collect();
        let items = storage::items(runs, &reported);
        let mut sections = vec![summary(runs, &items)];
        sections.push(judgement::section(runs));
        sections.push(results::throughput(&items));
        sections.push(repeats::section(&items));
        sections.extend(sweeps::sections(&items));
        sections.push(latency::section(&items));
        sections.push(series::section(&storage::with_course(runs, &reported)));
        sections.push(disks::section(runs));
        for named in runs {
            let memory = named.run.memory.as_deref();
            sections.extend(memory.map(|memory| memory::section(&prefix(runs, named), memory)));
        }
        sections.extend(memory_tables::section(runs));
        sections.push(results::cost(runs, &reported));
        sections.push(how(runs));
        sections.push(environment(runs));
        sections.retain(|section| !section.blocks.is_empty());
        let raw = runs.iter().map(|named| serde_json::to_string(&named.run));
        Ok(Report {
            title: title(runs),
            subtitle: subtitle(runs),
            sections,
            results: results::table(&items),
            raw: raw.collect::<Result<_, _>>()?,
        })
    }
}

/// Words before a heading that belongs to one run of several.
fn prefix(runs: &[Named], named: &Named) -> String {
    match runs.len() {
        1 => String::new(),
        _ => format!("{}: ", named.name),
    }
}

fn title(runs: &[Named]) -> String {
    let file = |named: &Named| named.run.source.as_ref().map(|source| source.file.clone());
    match runs {
        [only] => only.name.clone(),
        [first, rest @ ..] if rest.iter().all(|named| file(named) == file(first)) => {
            match file(first) {
                // The folders above it are nobody's business but the maker's.
                Some(file) => {
                    let short = file.rsplit('/').next().unwrap_or(&file);
                    format!("{short}: {} runs", runs.len())
                }
                None => format!("{} runs", runs.len()),
            }
        }
        _ => format!("{} runs", runs.len()),
    }
}

fn subtitle(runs: &[Named]) -> String {
    let Some(first) = runs.first() else {
        return "no runs".to_owned();
    };
    let run = &first.run;
    let mut words = Vec::new();
    if run.finished_ms > 0 {
        words.push(ctime(run.finished_ms, run.utc_offset_s));
    }
    if let Some(host) = &run.host {
        words.push(host.hostname.clone());
        words.extend(host.cpu.model.clone());
    }
    if !run.tool_version.is_empty() {
        words.push(format!("Assay {}", run.tool_version));
    }
    words.retain(|word| !word.is_empty());
    words.join(" - ")
}

fn summary(runs: &[Named], items: &[Item<'_>]) -> Section {
    let mut blocks = Vec::new();
    for named in runs {
        let run = &named.run;
        let of = prefix(runs, named);
        if run.partial {
            let what = "ended early; the figures are of what was done until then";
            blocks.push(Block::Warning(format!("{of}{what}")));
        }
        for job in &run.jobs {
            if let Some(failure) = &job.failure {
                let words = format!("{of}{}: {}", job.name, failure.message);
                blocks.push(Block::Warning(words));
            }
            if job.total_errors > 0 {
                let words = format!("{of}{}: {} errors passed over", job.name, job.total_errors);
                blocks.push(Block::Warning(words));
            }
        }
    }
    if !items.is_empty() {
        blocks.push(Block::Table(String::new(), results::overview(items)));
    }
    blocks.extend(notes(runs));
    if runs.is_empty() {
        blocks.push(Block::Words("There is nothing to report.".to_owned()));
    }
    Section {
        heading: "Summary".to_owned(),
        blocks,
    }
}

/// Remarks of the runs; what several say is told once.
fn notes(runs: &[Named]) -> Vec<Block> {
    let mut told: Vec<(&str, Vec<&Named>)> = Vec::new();
    for named in runs {
        for note in &named.run.notes {
            match told.iter_mut().find(|(known, _)| known == note) {
                Some((_, by)) => by.push(named),
                None => told.push((note, vec![named])),
            }
        }
    }
    let words = |(note, by): (&str, Vec<&Named>)| match by.as_slice() {
        [one] => Block::Words(format!("{}{note}", prefix(runs, one))),
        several => Block::Words(format!("{} runs: {note}", several.len())),
    };
    told.into_iter().map(words).collect()
}

/// Options and commands: how to do it again.
fn how(runs: &[Named]) -> Section {
    let mut blocks = Vec::new();
    let mut seen = Vec::new();
    for named in runs {
        let before = blocks.len();
        let of = prefix(runs, named);
        let jobs: Vec<&result::Job> = named.run.jobs.iter().collect();
        if let Some(command) = &named.run.command {
            blocks.push(Block::Fixed(format!("{of}Command"), one_line(command)));
        }
        let mut text = String::new();
        if !named.run.global_options.is_empty() {
            text += "[global]\n";
            text += &options(&named.run.global_options);
        }
        let mut last = None;
        for job in jobs {
            // Clones of a job have its name and its options.
            let this = Some((&job.name, &job.options));
            if last == this || job.options.is_empty() {
                continue;
            }
            last = this;
            text += &format!("[{}]\n{}", one_line(&job.name), options(&job.options));
        }
        // Repeated runs are told once.
        let this = (named.run.command.as_ref(), text.clone());
        if seen.contains(&this) {
            blocks.truncate(before);
        } else {
            seen.push(this);
            if !text.is_empty() {
                blocks.push(Block::Fixed(format!("{of}Job file"), text));
            }
        }
    }
    Section {
        heading: "How it was measured".to_owned(),
        blocks,
    }
}

fn options(options: &result::Options) -> String {
    let line = |(name, value): &(String, String)| match value.as_str() {
        "" => format!("{}\n", one_line(name)),
        _ => format!("{}={}\n", one_line(name), one_line(value)),
    };
    options
        .iter()
        .filter(|(name, _)| name != "name")
        .map(line)
        .collect()
}

fn environment(runs: &[Named]) -> Section {
    let mut blocks: Vec<Block> = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    for named in runs {
        if let Some(host) = &named.run.host {
            let text = crate::inspect(host);
            // Runs of one session stood on the same host.
            if !seen.contains(&text) {
                let heading = format!("{}Host and storage", prefix(runs, named));
                blocks.push(Block::Fixed(heading, text.clone()));
                seen.push(text);
            }
        }
        if let Some(check) = &named.run.self_check {
            let facts = vec![
                ("clock".to_owned(), check.clock.clone()),
                (
                    "one time stamp".to_owned(),
                    crate::human::time(check.stamp_ns),
                ),
                (
                    "own cost of a synchronous I/O".to_owned(),
                    crate::human::time(check.sync_ns),
                ),
                (
                    "own cost of a queued I/O".to_owned(),
                    crate::human::time(check.queued_ns),
                ),
            ];
            blocks.push(Block::Words(format!(
                "{}What Assay itself costs:",
                prefix(runs, named)
            )));
            blocks.push(Block::Facts(facts));
        }
    }
    Section {
        heading: "Environment".to_owned(),
        blocks,
    }
}

/// The numbers behind a finding, as names with values.
pub(crate) fn evidence(finding: &Finding) -> Vec<(String, String)> {
    let shown = |figure: &result::Figure| match figure {
        result::Figure::Count(n) => n.to_string(),
        result::Figure::Number(x) => format!("{}", (x * 1e4).round() / 1e4),
        result::Figure::Text(text) => text.clone(),
    };
    let pair = |(name, figure): &(String, result::Figure)| (name.clone(), shown(figure));
    finding.evidence.iter().map(pair).collect()
}

/// One line without control characters, for names from outside.
pub(crate) fn one_line(text: &str) -> String {
    let visible = |c: char| match c {
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        c if c.is_control() => format!("\\x{:02x}", u32::from(c)),
        // Marks that turn the direction of the text around them.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => format!("\\u{{{:x}}}", u32::from(c)),
        c => c.to_string(),
    };
    text.chars().map(visible).collect()
}
