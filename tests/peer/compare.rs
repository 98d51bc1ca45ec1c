//! One command line, both tools, one list of differences.

use std::path::Path;

use serde_json::Value;

use crate::harness::command::documents;
use crate::harness::{Fio, Outcome, Tool, lines, place, shape};

/// What the command line fixes beyond the kinds of line and the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fixed {
    /// Bytes and counts too: the job ends by size.
    Totals,
    /// Nothing more: the job ends by time, and on a busy machine may miss a rate sample.
    Form,
    /// The lines on sampled rates too: the job surely runs long enough for samples.
    Samples,
}

/// Runs both tools in turn in the same emptied directory.
pub fn both(dir: &Path, command: impl Fn() -> Fio) -> [Outcome; 2] {
    [Tool::Peer, Tool::Assay].map(|tool| {
        place::empty(dir);
        command().in_dir(dir).with(tool).run()
    })
}

/// Differences in how the tools ended and in what they printed.
pub fn differences(fio: &Outcome, here: &Outcome, fixed: Fixed) -> Vec<String> {
    if fio.code != here.code {
        return vec![format!(
            "exit {:?} where fio has {:?}: {here}",
            here.code, fio.code
        )];
    }
    if fio.code == Some(0) && !here.stderr.is_empty() {
        return vec![format!("stderr is not empty: {here}")];
    }
    text_differences(&fio.stdout, &here.stdout, fixed)
}

/// Compares two reports block by block: terse lines, JSON documents, normal text.
pub fn text_differences(fio: &str, here: &str, fixed: Fixed) -> Vec<String> {
    let (want, have) = (Blocks::of(fio), Blocks::of(here));
    let mut out = terse_differences(&want.terse, &have.terse, fixed);
    match (documents(&want.json), documents(&have.json)) {
        (Ok(a), Ok(b)) => out.extend(document_differences(&a, &b, fixed)),
        (_, Err(error)) => out.push(format!("JSON: {error}")),
        (Err(error), _) => panic!("fio's own JSON: {error}"),
    }
    let kinds = if fixed == Fixed::Samples {
        lines::kinds
    } else {
        lines::steady_kinds
    };
    let mut normal = shape::sequence_differences(&kinds(&want.normal), &kinds(&have.normal));
    // Where fio drops part of a value in silence, a remark here is on purpose.
    normal.retain(|text| !text.starts_with("not fio's note: "));
    out.extend(normal.into_iter().map(|text| format!("normal: {text}")));
    out
}

fn document_differences(want: &[Value], have: &[Value], fixed: Fixed) -> Vec<String> {
    if want.len() != have.len() {
        return vec![format!(
            "{} JSON documents, fio has {}",
            have.len(),
            want.len()
        )];
    }
    let mut out = Vec::new();
    for (a, b) in want.iter().zip(have) {
        out.extend(
            shape::differences(a, b)
                .into_iter()
                .map(|text| format!("JSON: {text}")),
        );
        if fixed == Fixed::Totals {
            out.extend(shape::total_differences(a, b));
        }
    }
    out
}

/// Positions, from zero, of the KiB fields of a terse v3 line; the job fixes them.
const TERSE_KIB: [usize; 2] = [5, 46];

fn terse_differences(want: &[&str], have: &[&str], fixed: Fixed) -> Vec<String> {
    if want.len() != have.len() {
        return vec![format!(
            "{} terse lines, fio has {}",
            have.len(),
            want.len()
        )];
    }
    let mut out = Vec::new();
    for (a, b) in want.iter().zip(have) {
        let (a, b): (Vec<&str>, Vec<&str>) = (a.split(';').collect(), b.split(';').collect());
        if a.len() != b.len() {
            out.push(format!("terse: {} fields, fio has {}", b.len(), a.len()));
            continue;
        }
        for (index, (x, y)) in a.iter().zip(&b).enumerate() {
            let fixed_value = [0, 2, 3, 4].contains(&index)
                || (fixed == Fixed::Totals && TERSE_KIB.contains(&index));
            if fixed_value && x != y {
                out.push(format!("terse field {}: `{y}`, fio has `{x}`", index + 1));
            } else if form(x) != form(y) {
                out.push(format!(
                    "terse field {}: `{y}` is not like fio's `{x}`",
                    index + 1
                ));
            }
        }
    }
    out
}

/// A field's form: whether it is a whole number, has decimals, a percent sign or words.
fn form(field: &str) -> String {
    let (head, tail) = field.split_once('=').unwrap_or(("", field));
    let percentile = if head.is_empty() { "" } else { "percentile " };
    let percent = if tail.ends_with('%') { "%" } else { "" };
    let number = tail.trim_end_matches('%');
    let kind = if number.parse::<i64>().is_ok() {
        "int"
    } else if number.parse::<f64>().is_ok() {
        "decimal"
    } else {
        "text"
    };
    format!("{percentile}{kind}{percent}")
}

/// A report taken apart by format.
#[derive(Debug, Default)]
struct Blocks<'a> {
    terse: Vec<&'a str>,
    json: String,
    normal: String,
}

impl<'a> Blocks<'a> {
    fn of(text: &'a str) -> Self {
        let mut blocks = Blocks::default();
        let mut inside_json = false;
        for line in text.lines() {
            inside_json |= line == "{";
            let terse = line
                .split_once(';')
                .is_some_and(|(v, _)| matches!(v, "2" | "3" | "4" | "5"));
            if inside_json {
                blocks.json.push_str(line);
                blocks.json.push('\n');
            } else if terse {
                blocks.terse.push(line);
            } else {
                blocks.normal.push_str(line);
                blocks.normal.push('\n');
            }
            inside_json &= line != "}";
        }
        blocks
    }
}
