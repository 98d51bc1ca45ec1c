//! `cargo xtask docs`: `docs/compatibility.md` from the option, engine and switch tables, below
//! the differences that are written by hand in `differences.md` beside this file; and
//! `docs/run.schema.json` from the types of the result.

use std::fmt::Write;
use std::fs;

use anyhow::{Context, Result, bail};
use option::{Def, EngineTable, State};
use spec::Options;

use crate::shell;

/// The file, below the repository's root.
const PATH: &str = "docs/compatibility.md";

/// The schema of the result document.
const SCHEMA: &str = "docs/run.schema.json";

/// The part written by hand.
const DIFFERENCES: &str = include_str!("differences.md");

/// Writes the file.
///
/// # Errors
/// It cannot be written.
pub fn write() -> Result<()> {
    for (path, text) in [(PATH, page()), (SCHEMA, result::schema())] {
        fs::write(shell::root().join(path), text).with_context(|| path.to_owned())?;
    }
    Ok(())
}

/// Compares the file with what the tables say.
///
/// # Errors
/// It differs, or cannot be read.
pub fn check() -> Result<()> {
    for (path, page) in [(PATH, page()), (SCHEMA, result::schema())] {
        let text = fs::read_to_string(shell::root().join(path)).with_context(|| path.to_owned())?;
        if text == page {
            continue;
        }
        let lines = text.lines().zip(page.lines());
        let same = lines.take_while(|(a, b)| a == b).count();
        bail!(
            "{path}:{}: not what the tables and types say; run `cargo xtask docs`",
            same + 1
        );
    }
    Ok(())
}

fn page() -> String {
    let mut out = DIFFERENCES.trim_end().to_owned() + "\n";
    options(&mut out);
    engines(&mut out);
    switches(&mut out);
    out
}

fn put(out: &mut String, line: &str) {
    writeln!(out, "{line}").expect("writing to a string");
}

fn heading(out: &mut String, text: &str, columns: &str) {
    put(
        out,
        &format!("\n{text}\n\n| {columns} | state |\n|---|---|"),
    );
}

fn row(out: &mut String, name: &str, aliases: &[&str], state: &str) {
    let names: Vec<String> = std::iter::once(&name)
        .chain(aliases)
        .map(|name| format!("`{name}`"))
        .collect();
    put(out, &format!("| {} | {state} |", names.join(", ")));
}

fn state_text(state: State) -> String {
    match state {
        State::Works => "works".to_owned(),
        State::Later(what) => format!("not built: {what}"),
        State::Refused(why) => format!("refused: {why}"),
        State::Obsolete(why) => format!("accepted without effect: {why}"),
    }
}

fn options(out: &mut String) {
    put(out, "\n## Job options");
    let works = Options::defs().filter(|def| def.state == State::Works);
    put(
        out,
        &format!(
            "\n{} options, {} of them work. What is not built or refused is an error that names it.",
            Options::defs().count(),
            works.count()
        ),
    );
    for (title, defs) in Options::GROUPS {
        heading(out, &format!("### {}", title.trim()), "option");
        for def in *defs {
            let mut state = state_text(def.state);
            if def.state == State::Works {
                state += &words_not_built(def);
            }
            row(out, def.name, def.aliases, &state);
        }
    }
}

/// `, but not ..`: the words of an enumeration that are refused.
fn words_not_built(def: &Def) -> String {
    let mut missing = Vec::new();
    for choice in def.choices {
        let set = Options::default().set(def.name, Some(choice.name));
        let why = match set {
            Some(Err(option::ValueError::NotYet(why) | option::ValueError::Refused(why))) => why,
            _ => continue,
        };
        missing.push(format!("`{}` ({why})", choice.name));
    }
    match missing.as_slice() {
        [] => String::new(),
        missing => format!(", but not {}", missing.join(", ")),
    }
}

fn engines(out: &mut String) {
    put(out, "\n## Engines");
    let tables: Vec<&EngineTable> = engine::registry::tables().collect();
    heading(out, "### `ioengine`", "engine");
    for table in &tables {
        row(out, table.name, table.aliases, &state_text(table.state));
    }
    for table in tables {
        if table.state != State::Works || table.defs.is_empty() {
            continue;
        }
        let title = format!("### Options of `{}`", table.name);
        heading(out, &title, "option");
        for def in table.defs {
            row(out, def.name, def.aliases, &state_text(def.state));
        }
    }
}

fn switches(out: &mut String) {
    heading(out, "## Switches", "switch");
    for switch in spec::SWITCHES {
        row(
            out,
            &format!("--{}", switch.name),
            &[],
            &state_text(switch.state),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::page;

    #[test]
    fn every_table_is_in_the_page() {
        let page = page();
        for row in ["| `bs`, `blocksize` | works |", "| `psync` | works |"] {
            assert!(page.contains(row), "{row}");
        }
        assert!(page.contains("| `rbd` | refused: "));
        assert!(page.contains("`--output`"));
        assert!(page.starts_with("# "));
    }
}
