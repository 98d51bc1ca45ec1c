//! Intel MLC's text, whole or as a scanner left it.
//!
//! A section is its heading, labels and numbers. Where labels and numbers are as many, they
//! belong together in order, however the lines were shuffled: MLC prints a latency with two
//! decimals in tables of pairs and a bandwidth with one, an injection delay with five digits,
//! and a scanner that reads columns keeps the order inside each. Where they are not as many, the
//! section is reported and no value is guessed.

use super::commands::Command;
use super::{Found, Out, scan};
use crate::{MemoryRow, MemoryTable, MemoryTest, Run};

/// Delays of the loaded latency test.
const DELAYS: [u32; 19] = [
    0, 2, 8, 15, 50, 100, 200, 300, 400, 500, 700, 1000, 1300, 1700, 2500, 3500, 5000, 9000, 20000,
];

/// A heading, the column it stands in, and what it is of.
const HEADINGS: [(&str, MemoryTest); 9] = [
    ("Measuring idle latencies", MemoryTest::LatencyMatrix),
    ("Measuring Peak Injection Memory", MemoryTest::PeakInjection),
    (
        "Measuring Maximum Memory Bandwidths",
        MemoryTest::MaxBandwidth,
    ),
    (
        "Measuring Memory Bandwidths between",
        MemoryTest::BandwidthMatrix,
    ),
    ("Measuring Loaded Latencies", MemoryTest::LoadedLatency),
    ("Measuring cache-to-cache", MemoryTest::CacheToCache),
    ("Each iteration took", MemoryTest::IdleLatency),
    ("Remote Socket L2->L2", MemoryTest::CacheToCache),
    ("Running memory bandwidth scan", MemoryTest::Scan),
];

/// Lines that tell how a test was run.
const CONDITIONS: [&str; 9] = [
    "Using ",
    "Jsing ",
    "will take",
    "Will take",
    "*** ",
    "Bandwidths are in",
    "Command line parameters",
    "Measuring idle latencies",
    "Remote Socket",
];

struct Section {
    test: MemoryTest,
    /// Column of its heading.
    column: usize,
    first: usize,
    last: usize,
    conditions: Vec<String>,
    /// Lines of data: number and text.
    lines: Vec<(usize, String)>,
}

impl Section {
    fn has_values(&self) -> bool {
        let regions = self.lines.iter().any(|(_, text)| text.starts_with("0x"));
        regions || figures(self.lines.iter()).iter().any(|f| f.decimals > 0)
    }
}

/// Reads one program run after the other.
#[derive(Default)]
pub(super) struct Reader {
    version: Option<String>,
    command: Option<Command>,
    first: Option<usize>,
    /// Lines before the first section that tell about it.
    conditions: Vec<String>,
    sections: Vec<Section>,
    /// Sections with a table.
    tables: Vec<(usize, MemoryTable)>,
    last: usize,
}

impl Reader {
    /// A command: what follows is its output.
    pub fn command(&mut self, command: &Command, out: &mut Out) {
        self.end(out);
        if command.program == "mlc" {
            self.first = Some(command.line);
            self.command = Some(command.clone());
        }
    }

    /// True when the line is MLC's.
    pub fn line(&mut self, at: usize, line: &str, out: &mut Out) -> bool {
        let text = line.trim();
        if let Some((_, version)) = text.split_once("Memory Latency Checker - v") {
            self.end(out);
            self.first = Some(at);
            self.version = Some(version.split_whitespace().next().unwrap_or("").to_owned());
            return true;
        }
        let heading = HEADINGS
            .iter()
            .find_map(|(words, test)| Some((line.find(words)?, *test)));
        if let Some((column, test)) = heading {
            self.heading(at, line, column, test, out);
            return true;
        }
        let condition = CONDITIONS.iter().any(|words| text.starts_with(words));
        if self.sections.is_empty() {
            let known = condition && !text.starts_with("Using traffic");
            if known && (text.contains("buffer size") || !text.starts_with("Using")) {
                if !self.tables.is_empty() && !text.starts_with("***") {
                    self.end(out);
                }
                self.first.get_or_insert(at);
                self.conditions.push(text.to_owned());
                return true;
            }
            return false;
        }
        // Buffers are set up before a test: those of the next one, when this one has numbers.
        let begins = text.starts_with("Using buffer size") || text.starts_with("Command line");
        let numbers = self.sections.iter().any(Section::has_values);
        if begins && numbers {
            self.end(out);
            self.first = Some(at);
            self.conditions.push(text.to_owned());
            return true;
        }
        if text.is_empty() {
            return true;
        }
        if !data(text) && !condition {
            self.close(out);
            return false;
        }
        // Two reports beside each other: a number belongs to the heading left of it.
        let column = line.len() - line.trim_start().len();
        let beside = self
            .sections
            .iter()
            .rposition(|section| section.column <= column);
        let Some(section) = beside.and_then(|i| self.sections.get_mut(i)) else {
            return false;
        };
        section.last = at;
        if condition {
            section.conditions.push(text.to_owned());
        } else {
            section.lines.push((at, text.to_owned()));
        }
        self.last = at;
        true
    }

    fn heading(&mut self, at: usize, line: &str, column: usize, test: MemoryTest, out: &mut Out) {
        let open = self.sections.last();
        let beside = open
            .is_some_and(|open| open.test == test && open.column < column && !open.has_values());
        if !beside {
            self.close(out);
            let again = self.tables.iter().any(|(_, table)| table.test == test);
            let remote = line.contains("Remote Socket");
            if again && !remote {
                self.end(out);
            }
        }
        self.first.get_or_insert(at);
        let mut section = Section {
            test,
            column,
            first: at,
            last: at,
            conditions: std::mem::take(&mut self.conditions),
            lines: Vec::new(),
        };
        if test == MemoryTest::IdleLatency {
            section.lines.push((at, line.trim().to_owned()));
        } else {
            section.conditions.push(line[column..].trim().to_owned());
        }
        self.last = at;
        self.sections.push(section);
        if test == MemoryTest::IdleLatency {
            self.close(out);
        }
    }

    /// Ends the open sections.
    fn close(&mut self, out: &mut Out) {
        let sections = std::mem::take(&mut self.sections);
        let several = sections.len() > 1;
        for section in sections {
            let (first, last) = (section.first, section.last);
            match table(&section, out) {
                Ok(table) => {
                    if several && !self.tables.is_empty() {
                        self.end_at(self.last, out);
                    }
                    self.first.get_or_insert(first);
                    self.last = self.last.max(last);
                    self.tables.push((first, table));
                }
                Err(what) => {
                    let name = section.test.name();
                    out.problem(
                        first,
                        format!("MLC's {name}, lines to {}: {what}", last + 1),
                    );
                }
            }
        }
    }

    /// Ends the program run at hand.
    pub fn end(&mut self, out: &mut Out) {
        self.close(out);
        self.end_at(self.last, out);
        *self = Reader::default();
    }

    fn end_at(&mut self, last: usize, out: &mut Out) {
        let tables = std::mem::take(&mut self.tables);
        let (Some(first), false) = (self.first.take(), tables.is_empty()) else {
            return;
        };
        let version = self.version.as_ref();
        let run = Run {
            tool_version: version.map_or_else(|| "mlc".to_owned(), |v| format!("mlc-{v}")),
            command: self.command.as_ref().map(|command| command.text.clone()),
            memory_tables: tables.into_iter().map(|(_, table)| table).collect(),
            ..Run::default()
        };
        out.found.push(Found {
            run,
            first,
            last: last.max(first),
            format: "mlc",
        });
    }
}

/// Numbers, or the words around them.
fn data(text: &str) -> bool {
    const WORDS: [&str; 18] = [
        "Numa",
        "node",
        "CPU",
        "ALL",
        "Reads",
        "Stream-triad",
        "Inject",
        "Delay",
        "Latency",
        "(ns)",
        "MB/sec",
        "Local",
        "Writer",
        "Reader",
        "All",
        "Reserved",
        "Histogram:",
        "phys_addr",
    ];
    let first = text.split_whitespace().next().unwrap_or_default();
    // A number, or a bucket of a histogram.
    let number = first
        .trim_start_matches('[')
        .starts_with(|c: char| c.is_ascii_digit());
    number || first.starts_with("==") || first.starts_with("--") || WORDS.contains(&first)
}

/// A number as printed.
struct Figure {
    line: usize,
    value: f64,
    decimals: usize,
    digits: usize,
}

fn figures<'a>(lines: impl Iterator<Item = &'a (usize, String)>) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (line, text) in lines {
        for word in text.split_whitespace() {
            let plain = word.bytes().all(|b| b.is_ascii_digit() || b == b'.');
            let Some(value) = word.parse().ok().filter(|_| plain) else {
                continue;
            };
            let decimals = word
                .split_once('.')
                .map_or(0, |(_, decimals)| decimals.len());
            figures.push(Figure {
                line: *line,
                value,
                decimals,
                digits: word.len(),
            });
        }
    }
    figures
}

fn table(section: &Section, out: &mut Out) -> Result<MemoryTable, String> {
    let (columns, rows) = match section.test {
        MemoryTest::IdleLatency => idle(section)?,
        MemoryTest::PeakInjection | MemoryTest::MaxBandwidth => mixes(section)?,
        MemoryTest::LatencyMatrix => matrix(section, "ns")?,
        MemoryTest::BandwidthMatrix => matrix(section, "MB/s")?,
        MemoryTest::LoadedLatency => loaded(section, out)?,
        MemoryTest::CacheToCache => transfers(section, out)?,
        MemoryTest::Scan => regions(section, out)?,
    };
    Ok(MemoryTable {
        test: section.test,
        conditions: section.conditions.clone(),
        columns,
        rows,
    })
}

type Body = (Vec<String>, Vec<MemoryRow>);

fn row(label: impl Into<String>, values: impl IntoIterator<Item = f64>) -> MemoryRow {
    MemoryRow {
        label: label.into(),
        values: values.into_iter().map(Some).collect(),
    }
}

/// `Each iteration took 107.3 core clocks ( 29.0 ns)`.
fn idle(section: &Section) -> Result<Body, String> {
    let text = section.lines.first().map_or("", |(_, text)| text);
    let read = || {
        let clocks = scan::printed(text.strip_prefix("Each iteration took")?)?;
        let kind = clocks.rest.split_once("clocks")?.0.trim();
        let (_, ns) = text.split_once('(')?;
        let ns = scan::printed(ns.trim_start())?;
        let ns = Some(ns.value).filter(|_| ns.unit == "ns" || ns.rest.trim().starts_with("ns"))?;
        Some((
            vec![format!("{kind} clocks"), "ns".to_owned()],
            vec![row("idle", [clocks.value, ns])],
        ))
    };
    read().ok_or_else(|| "clocks and nanoseconds cannot be told apart".to_owned())
}

/// Five mixes of reads and writes with a bandwidth each.
fn mixes(section: &Section) -> Result<Body, String> {
    let mut labels = Vec::new();
    let mut values = Vec::new();
    for (_, text) in &section.lines {
        let label = text.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        let name = label.trim().trim_end_matches(':').trim();
        if name.contains(|c: char| c.is_ascii_alphabetic()) {
            labels.push(name.to_owned());
        }
        if let Some(value) = text
            .split_whitespace()
            .next_back()
            .and_then(|w| w.parse().ok())
        {
            values.push(value);
        }
    }
    if labels.is_empty() || labels.len() != values.len() {
        return Err(format!(
            "{} labels and {} values",
            labels.len(),
            values.len()
        ));
    }
    let rows = labels.into_iter().zip(values);
    Ok((
        vec!["MB/s".to_owned()],
        rows.map(|(label, value): (_, f64)| row(label, [value]))
            .collect(),
    ))
}

/// A value for each pair of nodes, or of CPU and node. Labels are whole, values have a decimal.
fn matrix(section: &Section, unit: &str) -> Result<Body, String> {
    let mut rows: Vec<(Option<f64>, Vec<f64>)> = Vec::new();
    let mut whole = true;
    for line in &section.lines {
        let figures = figures(std::iter::once(line));
        let values: Vec<f64> = figures
            .iter()
            .filter(|f| f.decimals > 0)
            .map(|f| f.value)
            .collect();
        let label = figures.first().filter(|f| f.decimals == 0).map(|f| f.value);
        if !values.is_empty() {
            whole &= label.is_some();
            rows.push((label, values));
        }
    }
    let width = rows.first().map_or(0, |(_, values)| values.len());
    if width == 0 || rows.iter().any(|(_, values)| values.len() != width) {
        return Err("rows of different length, or none".to_owned());
    }
    // Rows that lost their labels are in order, and numbered from 0, in a matrix of nodes as of
    // CPUs; only one value a line may be a column of them.
    if !whole && width > 1 {
        return Err("rows without their numbers".to_owned());
    }
    let columns = (0..width).map(|node| format!("node {node} ({unit})"));
    let rows = rows.into_iter().enumerate().map(|(at, (label, values))| {
        let label = label.filter(|_| whole).map_or(at as f64, |label| label);
        row(format!("{label}"), values)
    });
    Ok((columns.collect(), rows.collect()))
}

/// Triples of delay, latency and bandwidth.
fn loaded(section: &Section, out: &mut Out) -> Result<Body, String> {
    let figures = figures(section.lines.iter());
    let delays: Vec<&Figure> = figures
        .iter()
        .filter(|f| f.decimals == 0 && f.digits == 5)
        .collect();
    let latencies = figures.iter().filter(|f| f.decimals == 2).map(|f| f.value);
    let rates = figures.iter().filter(|f| f.decimals == 1).map(|f| f.value);
    let (latencies, rates): (Vec<f64>, Vec<f64>) = (latencies.collect(), rates.collect());
    if delays.is_empty() || delays.len() != latencies.len() || delays.len() != rates.len() {
        return Err(format!(
            "{} delays, {} latencies and {} bandwidths",
            delays.len(),
            latencies.len(),
            rates.len()
        ));
    }
    let mut rows = Vec::new();
    for (i, delay) in delays.iter().enumerate() {
        let next = delays.get(i + 1).map_or(f64::INFINITY, |next| next.value);
        let usual = Some(&DELAYS).filter(|_| delays.len() == DELAYS.len());
        let mut value = delay.value;
        if let Some(usual) = usual.map(|usual| f64::from(usual[i]))
            && value != usual
            && value > next
        {
            let what = format!("delay {value} is out of order; MLC uses {usual} there");
            out.problem(delay.line, what);
            value = usual;
        }
        rows.push(row(format!("{value}"), [latencies[i], rates[i]]));
    }
    let columns = ["latency (ns)", "bandwidth (MB/s)"].map(str::to_owned);
    Ok((columns.to_vec(), rows))
}

/// `0x400000000 16 54553`: address, number of the GiB, MB/s. The histogram before them says nothing
/// that they do not.
fn regions(section: &Section, out: &mut Out) -> Result<Body, String> {
    let mut rows = Vec::new();
    for (line, text) in &section.lines {
        let words: Vec<&str> = text.split_whitespace().collect();
        let Some(address) = words.first().filter(|word| word.starts_with("0x")) else {
            continue;
        };
        match words.get(2).and_then(|word| word.parse().ok()) {
            Some(rate) if words.len() == 3 => rows.push(row(*address, [rate])),
            _ => out.unreadable(*line, text),
        }
    }
    if rows.is_empty() {
        return Err("no region".to_owned());
    }
    Ok((vec!["MB/s".to_owned()], rows))
}

/// `Local Socket L2->L2 HIT  latency 38.6` and matrices of sockets.
fn transfers(section: &Section, out: &mut Out) -> Result<Body, String> {
    let mut rows: Vec<MemoryRow> = Vec::new();
    let remote = section
        .conditions
        .iter()
        .find(|text| text.starts_with("Remote"));
    for (line, text) in &section.lines {
        let words: Vec<&str> = text.split_whitespace().collect();
        let label = match words.iter().position(|word| *word == "latency") {
            Some(at) => words[..at].join(" "),
            // A row of sockets: its number, and a value or `-` for each reader.
            None if remote.is_some() && words.len() > 1 && text.contains('.') => {
                format!("writer {}", words[0])
            }
            None => continue,
        };
        let values: Vec<Option<f64>> = words
            .iter()
            .skip(1)
            .filter(|word| **word == "-" || word.contains('.'))
            .map(|word| word.parse().ok())
            .collect();
        if values.iter().all(Option::is_none) {
            out.unreadable(*line, text);
            continue;
        }
        if rows.iter().any(|row| row.label == label) {
            out.problem(*line, format!("`{label}` stands here twice"));
        }
        rows.push(MemoryRow { label, values });
    }
    let width = rows.iter().map(|row| row.values.len()).max().unwrap_or(0);
    if width == 0 {
        return Err("no latency".to_owned());
    }
    let columns = match width {
        1 => vec!["ns".to_owned()],
        _ => (0..width).map(|n| format!("reader {n} (ns)")).collect(),
    };
    for row in &mut rows {
        row.values.resize(width, None);
    }
    Ok((columns, rows))
}
