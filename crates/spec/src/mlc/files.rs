//! The files that flags name: delays (`-g`), loads of single threads (`-o`), patterns (`-M`).

use super::values::Traffic;
use option::{Ctx, Def, IdList, Value};
use std::collections::BTreeSet;

/// Delays in cycles that a loaded latency goes through when nothing else is said.
pub const DELAYS: [u32; 19] = [
    0, 2, 8, 15, 50, 100, 200, 300, 400, 500, 700, 1000, 1300, 1700, 2500, 3500, 5000, 9000, 20000,
];

/// Most lines of a pattern file.
const PATTERN_LINES: usize = 256;

/// Most delays of one file; at two seconds each this is more than an hour.
const MOST_DELAYS: usize = 2048;

/// Where the memory of a thread lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A NUMA node.
    Node(u32),
    /// A directory in which a file is mapped.
    Directory(String),
}

/// One row of a file of threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadRow {
    /// CPUs that do this.
    pub cpus: Vec<u32>,
    /// The mix.
    pub traffic: Traffic,
    /// Random order.
    pub random: bool,
    /// Buffer of each CPU, bytes.
    pub buffer_bytes: u64,
    /// Where it lies.
    pub target: Target,
    /// A second target, and the percentage of accesses that go there.
    pub second: Option<(Target, u32)>,
}

fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let bare = |line: &'_ str| line.split('#').next().unwrap_or("").trim().len();
    text.lines().enumerate().filter_map(move |(at, line)| {
        let line = line.trim_start();
        let end = bare(line);
        (end > 0).then(|| (at + 1, line[..end].trim_end()))
    })
}

/// Reads a file of delays, one decimal number a line.
///
/// # Errors
/// One line that names the line of the file and what is wrong with it.
pub fn delays(text: &str) -> Result<Vec<u32>, String> {
    let mut delays = Vec::new();
    for (at, line) in lines(text) {
        let delay = line
            .parse()
            .ok()
            .filter(|delay| *delay <= 10_000_000)
            .ok_or_else(|| format!("line {at}: `{line}` is no delay in cycles, 0 to 10000000"))?;
        delays.push(delay);
    }
    if delays.is_empty() {
        return Err("holds no delay".to_owned());
    }
    if delays.len() > MOST_DELAYS {
        return Err(format!("holds more than {MOST_DELAYS} delays"));
    }
    Ok(delays)
}

/// Reads a pattern: lines of up to 128 hexadecimal digits, each repeated to fill 64 bytes.
///
/// # Errors
/// One line that names the line of the file and what is wrong with it.
pub fn pattern(text: &str) -> Result<Vec<[u8; 64]>, String> {
    let mut pattern = Vec::new();
    for (at, line) in lines(text) {
        let digits: Vec<u8> = line
            .trim_start_matches("0x")
            .chars()
            .filter(|c| !c.is_whitespace())
            .map(|c| c.to_digit(16).map(|digit| digit as u8))
            .collect::<Option<_>>()
            .ok_or_else(|| format!("line {at}: expected hexadecimal digits"))?;
        let bytes: Vec<u8> = digits
            .chunks_exact(2)
            .map(|two| two[0] << 4 | two[1])
            .collect();
        if digits.is_empty() || !digits.len().is_multiple_of(2) || 64 % bytes.len() != 0 {
            return Err(format!(
                "line {at}: {} digits do not fill a line of 64 bytes evenly",
                digits.len()
            ));
        }
        let mut full = [0; 64];
        for (to, from) in full.iter_mut().zip(bytes.iter().cycle()) {
            *to = *from;
        }
        pattern.push(full);
    }
    match pattern.len() {
        0 => Err("holds no pattern".to_owned()),
        n if n > PATTERN_LINES => Err(format!("holds {n} lines; {PATTERN_LINES} at most")),
        _ => Ok(pattern),
    }
}

/// Reads a file of threads: `CPUS MIX seq|rand KIB dram|pmem NODE|DIR`, and for W21, W23 and W27
/// a second `dram|pmem NODE|DIR` and the percentage that goes there.
///
/// # Errors
/// One line that names the line of the file and what is wrong with it.
pub fn threads(text: &str) -> Result<Vec<ThreadRow>, String> {
    let mut rows = Vec::new();
    let mut seen = BTreeSet::new();
    for (at, line) in lines(text) {
        let row = row(line).map_err(|wrong| format!("line {at}: {wrong}"))?;
        if let Some(twice) = row.cpus.iter().find(|cpu| !seen.insert(**cpu)) {
            return Err(format!("line {at}: CPU {twice} has a row already"));
        }
        rows.push(row);
    }
    if rows.is_empty() {
        return Err("holds no row".to_owned());
    }
    Ok(rows)
}

fn row(line: &str) -> Result<ThreadRow, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [cpus, traffic, order, kib, kind, place, rest @ ..] = words.as_slice() else {
        return Err(format!(
            "{} words where `CPUS MIX seq|rand KIB dram|pmem NODE|DIR` is expected",
            words.len()
        ));
    };
    const DEF: Def = Def::of::<IdList>("cpus", "CPUs");
    let ctx = Ctx {
        kb_base: units::KbBase::Binary,
        def: &DEF,
    };
    let cpus = IdList::parse(cpus, &ctx)
        .map_err(|e| e.to_string())?
        .value
        .0;
    let traffic = Traffic::from_word(traffic)?;
    let random = match *order {
        "seq" => false,
        "rand" if traffic.random() => true,
        "rand" => {
            return Err(format!(
                "{traffic} has no random order; R, W2, W5 and W6 have"
            ));
        }
        other => return Err(format!("`{other}` is neither seq nor rand")),
    };
    let kib: u64 = kib
        .parse()
        .ok()
        .filter(|kib| (4..1 << 42).contains(kib))
        .ok_or_else(|| format!("`{kib}` is no buffer size in KiB, 4 at least"))?;
    let second = match (traffic.two_targets(), rest) {
        (false, []) => None,
        (true, [kind, place, percent]) => {
            Some((target(kind, place)?, percentage(percent, traffic)?))
        }
        (false, _) => {
            return Err(format!(
                "{traffic} takes one target; W21, W23 and W27 take two"
            ));
        }
        (true, _) => return Err(format!("{traffic} needs a second target and a percentage")),
    };
    Ok(ThreadRow {
        cpus,
        traffic,
        random,
        buffer_bytes: kib * 1024,
        target: target(kind, place)?,
        second,
    })
}

fn percentage(text: &str, traffic: Traffic) -> Result<u32, String> {
    match text.trim_end_matches('%').parse() {
        Ok(percent @ (10 | 25)) => Ok(percent),
        Ok(50) if traffic.0 == 21 => Ok(50),
        _ => Err(format!(
            "`{text}`: the second target takes 10 or 25 %, and 50 % with W21"
        )),
    }
}

fn target(kind: &str, place: &str) -> Result<Target, String> {
    match kind {
        "dram" => place
            .parse()
            .map(Target::Node)
            .map_err(|_| format!("`{place}` is no number of a NUMA node")),
        "pmem" => Ok(Target::Directory(place.to_owned())),
        other => Err(format!("`{other}` is neither dram nor pmem")),
    }
}
