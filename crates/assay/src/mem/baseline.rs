//! `assay mem check`: is it as fast as it was?

use super::session::Session;
use super::{EXIT_WORSE, Section, sections};
use anyhow::{Context, bail};
use result::Run;
use result::memory::Memory;
use result::memory::compare::{Compared, Direction, Verdict, compare, differences};
use std::path::Path;
use std::process::ExitCode;

/// Measures what the baseline holds and compares.
pub fn check(session: &Session, file: &Path, max_regress: f64) -> anyhow::Result<ExitCode> {
    let base = read(file)?;
    for section in held(&base) {
        sections::run(session, &section)?;
    }
    session.finish()?;
    let now = session.document();
    let compared = compare(&base, &now, max_regress);
    if compared.is_empty() {
        bail!("{}: holds no figure of memory", file.display());
    }
    let mut text = String::new();
    for line in differences(&base.conditions, &now.conditions) {
        text += &format!("not the same circumstances: {line}\n");
    }
    text += &lines(&compared, max_regress);
    let worse = compared
        .iter()
        .filter(|one| matches!(one.verdict, Verdict::Worse | Verdict::Missing))
        .count();
    let unsure = compared
        .iter()
        .filter(|one| one.verdict == Verdict::Unsure)
        .count();
    text += &format!(
        "{} figures, {worse} worse by more than {} %, {unsure} too unsure to tell",
        compared.len(),
        max_regress * 100.0
    );
    session.print(&text)?;
    if worse > 0 {
        eprintln!(
            "assay: mem: {worse} figures are worse than {}",
            file.display()
        );
        return Ok(ExitCode::from(EXIT_WORSE));
    }
    Ok(ExitCode::SUCCESS)
}

fn read(file: &Path) -> anyhow::Result<Memory> {
    let name = || file.display().to_string();
    let text = std::fs::read_to_string(file).with_context(name)?;
    let run: Run = serde_json::from_str(&text)
        .with_context(|| format!("{}: not a document of `assay mem --output`", name()))?;
    match run.memory {
        Some(memory) => Ok(*memory),
        None => bail!("{}: holds no figure of memory", name()),
    }
}

fn held(base: &Memory) -> Vec<Section> {
    let rows = base.bandwidth.iter().flat_map(|bandwidth| &bandwidth.rows);
    let mut mixes = Vec::new();
    for mix in rows.filter_map(|row| sections::mix(&row.name).ok()) {
        if !mixes.contains(&mix) {
            mixes.push(mix);
        }
    }
    let sections = [
        (base.latency.is_some(), Section::Latency),
        (base.cache.is_some(), Section::Cache),
        (base.bandwidth.is_some(), Section::Bandwidth { mixes }),
        (base.c2c.is_some(), Section::C2c),
        (base.matrix.is_some(), Section::Matrix),
    ];
    let held = sections.into_iter().filter(|(held, _)| *held);
    held.map(|(_, section)| section).collect()
}

/// The figures that are worse, or all of them when none is.
fn lines(compared: &[Compared], max_regress: f64) -> String {
    let mut text = String::new();
    for one in compared {
        let word = match one.verdict {
            Verdict::Holds if one.worse_by < -max_regress => "better",
            Verdict::Holds => "holds",
            Verdict::Unsure => "unsure",
            Verdict::Worse => "WORSE",
            Verdict::Missing => "MISSING",
        };
        let show = |value: f64| match one.better {
            Direction::Lower => format!("{value:.1} ns"),
            Direction::Higher => format!("{:.2} GB/s", value / 1e9),
        };
        let now = one.now.map_or_else(|| "-".to_owned(), show);
        text += &format!(
            "{word:8}{:44}{:>12}{now:>12} {:+6.1} %\n",
            one.name,
            show(one.base),
            match one.better {
                Direction::Lower => one.worse_by * 100.0,
                Direction::Higher => -one.worse_by * 100.0,
            }
        );
    }
    text
}
