//! `assay import`: what other tools reported, as documents.

use crate::history::Keeping;
use result::import::{self, Problem};
use result::{Direction, Finding, Job, LatencyClass, MemoryTable, Run, Unified};
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;
use store::About;
use units::Ddir;

/// Words after `import`.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// fio's normal, JSON and terse reports and its logs, dd's last lines, Intel MLC's text,
    /// tables of results, Assay's documents; anything may stand around them
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// What was bought, for a verdict on every run: type=io1,gib=300,iops=15000
    #[arg(long, value_name = "WHAT")]
    expect: Option<String>,
    /// Print the documents, and what could not be read, as JSON
    #[arg(long)]
    json: bool,
    /// The host they were measured on, where the reports do not name it
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// The suite they belong to
    #[arg(long, value_name = "NAME")]
    suite: Option<String>,
    #[command(flatten)]
    keeping: Keeping,
}

/// A file and what it held.
struct File {
    name: String,
    runs: Vec<Run>,
    problems: Vec<Problem>,
}

/// Reads and prints; fails where a file cannot be read or holds nothing.
pub fn main(arguments: &Arguments) -> ExitCode {
    let declared = match crate::expect::declared(arguments.expect.as_deref()) {
        Ok(declared) => declared,
        Err(error) => {
            eprintln!("assay: import: {error:#}");
            return ExitCode::from(1);
        }
    };
    let mut files = Vec::new();
    let mut failed = false;
    for path in &arguments.files {
        let name = path.display().to_string();
        match std::fs::read(path) {
            Ok(bytes) => {
                let mut found = import::read(&name, &String::from_utf8_lossy(&bytes));
                for run in &mut found.runs {
                    run.judgement = Some(judge::judge_against(run, declared.as_ref()));
                }
                if found.runs.is_empty() {
                    eprintln!("assay: import: {name}: no result of a known kind in it");
                    failed = true;
                }
                files.push(File {
                    name,
                    runs: found.runs,
                    problems: found.problems,
                });
            }
            Err(error) => {
                eprintln!("assay: import: {name}: {error}");
                failed = true;
            }
        }
    }
    if arguments.json {
        println!("{}", document(&files));
    } else {
        print!("{}", text(&files));
    }
    let runs = files.iter().flat_map(|file| &file.runs);
    if !arguments.keeping.nothing() && runs.clone().next().is_some() {
        let about = About {
            host: arguments.host.clone(),
            ..arguments.keeping.about(arguments.suite.as_deref())
        };
        match arguments.keeping.keep_all(runs, &about) {
            Ok(kept) if !arguments.json => print!("{}", summary(kept)),
            Ok(_) => {}
            Err(error) => {
                eprintln!("assay: import: not kept: {error:#}");
                failed = true;
            }
        }
    }
    ExitCode::from(u8::from(failed))
}

/// How many runs are new in the history, and how many were there.
pub fn summary((new, known): (usize, usize)) -> String {
    let runs = |n: usize| {
        if n == 1 {
            "1 run".to_owned()
        } else {
            format!("{n} runs")
        }
    };
    match (new, known) {
        (0, known) => format!("{} were kept already\n", runs(known)),
        (new, 0) => format!("{} kept\n", runs(new)),
        (new, known) => format!("{} kept, {known} were kept already\n", runs(new)),
    }
}

/// What `--json` prints. Not a `serde_json::Value`, which has no integers of 128 bits.
#[derive(Serialize)]
struct Document<'a> {
    runs: Vec<&'a Run>,
    problems: Vec<Told<'a>>,
    /// What the runs of each file say together.
    findings: Vec<result::Finding>,
}

#[derive(Serialize)]
struct Told<'a> {
    file: &'a str,
    line: usize,
    what: &'a str,
}

fn document(files: &[File]) -> String {
    let problems = files.iter().flat_map(|file| {
        file.problems.iter().map(|problem| Told {
            file: &file.name,
            line: problem.line,
            what: &problem.what,
        })
    });
    let document = Document {
        runs: files.iter().flat_map(|file| &file.runs).collect(),
        problems: problems.collect(),
        findings: files
            .iter()
            .flat_map(|file| judge::across(&file.runs))
            .collect(),
    };
    serde_json::to_string_pretty(&document).expect("numbers and names")
}

fn text(files: &[File]) -> String {
    let mut out = String::new();
    for file in files {
        let runs = match file.runs.len() {
            1 => "1 run".to_owned(),
            n => format!("{n} runs"),
        };
        out.push_str(&format!("{}: {runs}\n", file.name));
        let rows: Vec<[String; 8]> = file.runs.iter().flat_map(rows).collect();
        out.push_str(&table(&rows));
        out.push_str(&findings(file));
        for problem in &file.problems {
            out.push_str(&format!(
                "{}:{}: {}\n",
                file.name, problem.line, problem.what
            ));
        }
    }
    out
}

/// What the runs' own data say, each told once with the lines of all runs that it holds for.
fn findings(file: &File) -> String {
    let mut told: Vec<(Finding, Vec<usize>)> = Vec::new();
    let mut verdicts = String::new();
    for run in &file.runs {
        let line = run.source.as_ref().map_or(0, |source| source.first_line);
        if let Some(verdict) = run.judgement.as_ref().and_then(|one| one.verdict.as_ref()) {
            verdicts.push_str(&format!("  line {line}: verdict: {verdict}\n"));
        }
        for finding in run.judgement.iter().flat_map(|one| &one.findings) {
            match told
                .iter_mut()
                .find(|(known, _)| known.text == finding.text)
            {
                Some((_, lines)) => lines.push(line),
                None => told.push((finding.clone(), vec![line])),
            }
        }
    }
    let mut out = verdicts;
    for (finding, lines) in &told {
        let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
        let (word, text, id) = (finding.severity.word(), &finding.text, &finding.id);
        out.push_str(&format!(
            "  line {}: {word}: {text} [{id}]\n",
            lines.join(", ")
        ));
    }
    for finding in judge::across(&file.runs) {
        let (word, text, id) = (finding.severity.word(), &finding.text, &finding.id);
        out.push_str(&format!("  together: {word}: {text} [{id}]\n"));
    }
    out
}

const HEADS: [&str; 8] = ["lines", "from", "what", "", "IOPS", "MiB/s", "mean", "p99"];

/// Names to the left, figures to the right.
fn table(rows: &[[String; 8]]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let heads = HEADS.map(str::to_owned);
    let width = |column: usize| {
        let cells = rows.iter().chain([&heads]);
        cells
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: [usize; 8] = std::array::from_fn(width);
    let mut out = String::new();
    for row in std::iter::once(&heads).chain(rows) {
        let cells = row
            .iter()
            .zip(widths)
            .enumerate()
            .map(|(at, (cell, width))| match at {
                0..=3 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            });
        let line = cells.collect::<Vec<_>>().join("  ");
        out.push_str(&format!("  {}\n", line.trim_end()));
    }
    out
}

/// A row for each direction of each block, and for each table of memory.
fn rows(run: &Run) -> Vec<[String; 8]> {
    let source = run.source.as_deref();
    let lines = source.map_or_else(String::new, |source| {
        format!("{}-{}", source.first_line, source.last_line)
    });
    let tool = match run.tool_version.as_str() {
        "" => source.map_or("", |source| &source.format),
        version => version,
    };
    let mut rows = Vec::new();
    for job in run.reported() {
        for ddir in Ddir::DATA {
            let dir = &job.dirs[ddir];
            if dir.bytes_per_s() > 0.0 || dir.iops() > 0.0 {
                rows.push(row(&lines, tool, &job, ddir, dir, run.partial));
            }
        }
        for series in &job.series {
            let what = format!("{}, {} points", job.name, series.points().len());
            rows.push(named(&lines, tool, what, series.ddir.name()));
        }
    }
    rows.extend(
        run.memory_tables
            .iter()
            .map(|table| named(&lines, tool, memory(table), "")),
    );
    if rows.is_empty() {
        rows.push(named(&lines, tool, "nothing measured".to_owned(), ""));
    }
    rows
}

fn named(lines: &str, tool: &str, what: String, direction: &str) -> [String; 8] {
    let mut row = [lines, tool, &what, direction, "", "", "", ""].map(str::to_owned);
    row[2] = what;
    row
}

fn row(lines: &str, tool: &str, job: &Job, ddir: Ddir, dir: &Direction, cut: bool) -> [String; 8] {
    let option = |name: &str| {
        let found = job.options.iter().find(|(key, _)| key == name);
        found
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    };
    let mut what = job.name.clone();
    if job.members > 1 {
        what.push_str(&format!(" x{}", job.members));
    }
    if let Some(target) = option("of")
        .filter(|path| *path != "/dev/null")
        .or(option("if"))
    {
        what.push_str(&format!(" {target}"));
    }
    if cut {
        what.push_str(" (cut short)");
    }
    let direction = match job.reporting.unified {
        Unified::Mixed => "mixed",
        Unified::Separate | Unified::Both => ddir.name(),
    };
    let iops = dir.iops();
    let mean = dir.mean_latency_ns().map_or_else(String::new, time);
    let classes = [LatencyClass::Clat, LatencyClass::Lat];
    let p99 = classes
        .into_iter()
        .find_map(|class| dir.percentile(class, 99.0));
    [
        lines.to_owned(),
        tool.to_owned(),
        what,
        direction.to_owned(),
        if iops > 0.0 {
            format!("{iops:.0}")
        } else {
            String::new()
        },
        format!("{:.1}", dir.bytes_per_s() / f64::from(1 << 20)),
        mean,
        p99.map_or_else(String::new, |ns| time(ns as f64)),
    ]
}

/// A latency with its unit.
pub fn time(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.1} us", ns / 1e3),
        ns if ns < 1e9 => format!("{:.2} ms", ns / 1e6),
        _ => format!("{:.2} s", ns / 1e9),
    }
}

fn memory(table: &MemoryTable) -> String {
    let values = table
        .rows
        .iter()
        .flat_map(|row| row.values.iter().flatten());
    let values: Vec<String> = values.take(4).map(f64::to_string).collect();
    let (rows, columns) = (table.rows.len(), table.columns.len());
    format!(
        "{}, {rows} x {columns}: {} ...",
        table.test.name(),
        values.join(", ")
    )
}
