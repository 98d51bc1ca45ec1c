//! Help texts, the manual page and the reference, all from the declarations.

use crate::options::Options;
use crate::switches::{SWITCHES, SwitchDef, Takes};
use option::{Def, EngineTable, Kind, State, closest};
use std::fmt::Write;

/// Writing to a `String` cannot fail.
macro_rules! put {
    ($out:expr, $($arg:tt)*) => {
        writeln!($out, $($arg)*).expect("writing to a string")
    };
}

fn kind_text(def: &Def) -> String {
    let kind = match def.kind {
        Kind::Int => "whole number".to_string(),
        Kind::Bool => "0 or 1".to_string(),
        Kind::Set => "nothing, 0 or 1".to_string(),
        Kind::Bytes => "bytes (4k, 1m)".to_string(),
        Kind::Amount => "bytes or percentage (1g, 20%)".to_string(),
        Kind::Time => format!("time (10s, 5m), in {} without a unit", def.unit.name()),
        Kind::Range => "range (lo-hi)".to_string(),
        Kind::Float => "decimal number, or several separated by `:`".to_string(),
        Kind::Choice => "one of the words below".to_string(),
        Kind::Text => "text".to_string(),
    };
    if def.per_direction {
        format!("{kind}; list of read,write,trim")
    } else {
        kind
    }
}

fn range_text(def: &Def) -> Option<String> {
    match (def.min, def.max) {
        (None, None) => None,
        (Some(min), Some(max)) => Some(format!("{min} to {max}")),
        (Some(min), None) => Some(format!("at least {min}")),
        (None, Some(max)) => Some(format!("at most {max}")),
    }
}

fn state_text(state: State) -> Option<String> {
    match state {
        State::Works => None,
        State::Later(why) => Some(format!("not supported yet ({why})")),
        State::Refused(why) => Some(format!("not supported ({why})")),
        State::Obsolete(why) => Some(format!("without effect ({why})")),
    }
}

/// The facts of an option as label and text, without summary and choices.
fn facts(def: &Def) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if !def.aliases.is_empty() {
        facts.push(("alias", def.aliases.join(", ")));
    }
    facts.push(("type", kind_text(def)));
    facts.push(("default", def.default.unwrap_or("none").to_string()));
    facts.extend(range_text(def).map(|text| ("range", text)));
    facts.extend(def.parent.map(|text| ("refines", text.to_string())));
    facts.extend(def.inverse.map(|text| ("opposite", text.to_string())));
    facts.extend(state_text(def.state).map(|text| ("state", text)));
    facts
}

/// Help for one option, as `--cmdhelp=name` prints it.
fn describe(out: &mut String, def: &Def) {
    put!(out, "{:>20}: {}", def.name, def.summary());
    for (label, text) in facts(def) {
        put!(out, "{label:>20}: {text}");
    }
    for (at, choice) in def.choices.iter().enumerate() {
        let label = if at == 0 { "valid values" } else { "" };
        let help = choice.help.trim();
        put!(out, "{label:>20}: {:<10} {help}", choice.name);
    }
    for paragraph in def.paragraphs().iter().skip(1) {
        put!(out, "\n{}", paragraph);
    }
}

/// One line per option, children indented below their parents.
fn list(out: &mut String, defs: &[&Def], parent: Option<&str>, depth: usize) {
    for def in defs {
        let at_home = match def.parent {
            Some(name) if defs.iter().any(|d| d.name == name) => parent == Some(name),
            _ => parent.is_none(),
        };
        if at_home && !def.hidden {
            let name = format!("{:indent$}{}", "", def.name, indent = 2 * depth);
            put!(out, "{name:<24}: {}", def.summary());
            list(out, defs, Some(def.name), depth + 1);
        }
    }
}

/// `--cmdhelp[=name|all]`: the text, and whether the name was known.
pub fn option_help(name: &str) -> (String, bool) {
    let mut out = String::new();
    if name.is_empty() || name == "all" {
        for (_, group) in Options::GROUPS {
            list(&mut out, &group.iter().collect::<Vec<_>>(), None, 0);
        }
        return (out, true);
    }
    one_of(&Options::defs().collect::<Vec<_>>(), name)
}

/// Help for `name` among `defs`, or for the nearest one.
fn one_of(defs: &[&Def], name: &str) -> (String, bool) {
    let mut out = String::new();
    if let Some(def) = defs.iter().find(|def| def.answers_to(name)) {
        describe(&mut out, def);
        return (out, true);
    }
    let near = closest(name, defs.iter().map(|def| def.name));
    match near.and_then(|near| defs.iter().find(|def| def.name == near)) {
        Some(def) => {
            put!(out, "No such command: {name} - showing closest match");
            describe(&mut out, def);
        }
        None => put!(out, "No such command: {name}"),
    }
    (out, false)
}

/// `--enghelp[=engine[,name]]`: the text, and whether the names were known.
pub fn engine_help(engines: &[EngineTable], text: &str) -> (String, bool) {
    let mut out = String::new();
    if text.is_empty() {
        put!(out, "Available IO engines:");
        for engine in engines.iter().filter(|engine| engine.state == State::Works) {
            put!(out, "\t{}", engine.name);
        }
        return (out, true);
    }
    let (name, option) = match text.split_once(',') {
        Some((name, option)) => (name, Some(option)),
        None => (text, None),
    };
    let answers = |e: &&EngineTable| e.name == name || e.aliases.contains(&name);
    let Some(engine) = engines.iter().find(answers) else {
        let near = closest(name, engines.iter().map(|engine| engine.name));
        let hint = near
            .map(|near| format!("; did you mean {near}?"))
            .unwrap_or_default();
        put!(out, "No such engine: {name}{hint}");
        return (out, false);
    };
    if let Some(why) = state_text(engine.state) {
        put!(out, "{}: {why}", engine.name);
        return (out, false);
    }
    let defs: Vec<&Def> = engine.defs.iter().collect();
    match option {
        Some(option) => return one_of(&defs, option),
        None if defs.is_empty() => put!(out, "{} has no options of its own", engine.name),
        None => list(&mut out, &defs, None, 0),
    }
    (out, true)
}

fn switch_text(def: &SwitchDef) -> String {
    match def.takes {
        Takes::Nothing => format!("--{}", def.name),
        Takes::Optional => format!("--{}[={}]", def.name, def.value),
        Takes::Value => format!("--{}={}", def.name, def.value),
    }
}

/// The usage text behind `--help`.
pub fn usage() -> String {
    let mut out = String::new();
    put!(out, "fio [options] [job options] <job file(s)>");
    for def in SWITCHES.iter().filter(|def| def.state == State::Works) {
        put!(out, "  {:<24} {}", switch_text(def), def.help);
    }
    put!(
        out,
        "\nJob options are set with --name=value; --cmdhelp=all lists them."
    );
    out
}

/// Escapes text for roff.
fn roff(text: &str) -> String {
    let escaped = text.replace('\\', "\\e").replace('-', "\\-");
    if escaped.starts_with(['.', '\'']) {
        format!("\\&{escaped}")
    } else {
        escaped
    }
}

/// The manual page, in roff.
pub fn man_page(engines: &[EngineTable]) -> String {
    let mut out = String::new();
    put!(
        out,
        ".TH ASSAY\\-FIO 1\n.SH NAME\nassay\\-fio \\- measure storage with fio job options"
    );
    put!(
        out,
        ".SH SYNOPSIS\n.B fio\n[options] [job options] <job file(s)>\n.SH OPTIONS"
    );
    for def in SWITCHES.iter().filter(|def| def.state == State::Works) {
        put!(
            out,
            ".TP\n.B {}\n{}",
            roff(&switch_text(def)),
            roff(def.help)
        );
    }
    for (title, defs) in Options::GROUPS {
        put!(out, ".SH {}", roff(&title.trim().to_uppercase()));
        defs.iter()
            .filter(|def| !def.hidden)
            .for_each(|def| roff_option(&mut out, def));
    }
    for engine in engines
        .iter()
        .filter(|e| !e.defs.is_empty() && e.state == State::Works)
    {
        put!(out, ".SH ENGINE {}", roff(&engine.name.to_uppercase()));
        engine
            .defs
            .iter()
            .filter(|def| !def.hidden)
            .for_each(|def| roff_option(&mut out, def));
    }
    out
}

fn roff_option(out: &mut String, def: &Def) {
    put!(out, ".TP\n.B {}", roff(def.name));
    for (at, paragraph) in def.paragraphs().iter().enumerate() {
        put!(
            out,
            "{}{}",
            if at == 0 { "" } else { ".IP\n" },
            roff(paragraph)
        );
    }
    for (label, text) in facts(def) {
        put!(out, ".br\n{label}: {}", roff(&text));
    }
    for choice in def.choices {
        put!(
            out,
            ".br\n.I {}\n{}",
            roff(choice.name),
            roff(choice.help.trim())
        );
    }
}

/// The reference of all options, in Markdown.
pub fn markdown(engines: &[EngineTable]) -> String {
    let mut out = String::from("# Options\n");
    for (title, defs) in Options::GROUPS {
        put!(out, "\n## {}", title.trim());
        defs.iter()
            .filter(|def| !def.hidden)
            .for_each(|def| markdown_option(&mut out, def));
    }
    for engine in engines
        .iter()
        .filter(|e| !e.defs.is_empty() && e.state == State::Works)
    {
        put!(out, "\n## Engine `{}`", engine.name);
        engine
            .defs
            .iter()
            .filter(|def| !def.hidden)
            .for_each(|def| markdown_option(&mut out, def));
    }
    out
}

fn markdown_option(out: &mut String, def: &Def) {
    put!(out, "\n### `{}`", def.name);
    for paragraph in def.paragraphs() {
        put!(out, "\n{paragraph}");
    }
    out.push('\n');
    for (label, text) in facts(def) {
        put!(out, "- {label}: {text}");
    }
    for choice in def.choices {
        put!(out, "- `{}`: {}", choice.name, choice.help.trim());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_option_tells_all_its_facts() {
        let (text, known) = option_help("blocksize");
        assert!(known);
        for part in [
            "bs: Bytes per request",
            "alias: blocksize",
            "default: 4096",
            "at least 1",
        ] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
        let (text, known) = option_help("rw");
        assert!(
            known && text.contains("valid values: read       Sequential reads."),
            "{text}"
        );
    }

    #[test]
    fn an_unknown_option_shows_the_nearest() {
        let (text, known) = option_help("iodepht");
        assert!(!known);
        assert!(text.starts_with("No such command: iodepht - showing closest match\n"));
        assert!(text.contains("iodepth: Number of requests"), "{text}");
        assert_eq!(option_help("qqqqqqqqqq").0, "No such command: qqqqqqqqqq\n");
    }

    #[test]
    fn the_list_names_every_visible_option_once() {
        let (text, _) = option_help("all");
        for def in Options::defs() {
            let count = text
                .lines()
                .filter(|l| l.split(':').next().unwrap_or("").trim() == def.name);
            assert_eq!(count.count(), usize::from(!def.hidden), "{}", def.name);
        }
        assert!(text.contains("\n  iodepth_batch         : "), "{text}");
    }

    #[test]
    fn the_reference_and_the_manual_cover_every_visible_option() {
        let (page, book) = (man_page(&[]), markdown(&[]));
        for def in Options::defs().filter(|def| !def.hidden) {
            assert!(
                page.contains(&format!(".B {}\n", roff(def.name))),
                "{}",
                def.name
            );
            assert!(
                book.contains(&format!("\n### `{}`\n", def.name)),
                "{}",
                def.name
            );
        }
        assert!(!page.lines().any(|line| line.starts_with(". ")));
    }

    #[test]
    fn engines_are_listed_and_explained() {
        const PLAIN: EngineTable = EngineTable {
            name: "null",
            aliases: &[],
            help: "",
            defs: &[],
            state: State::Works,
        };
        const GONE: EngineTable = EngineTable {
            name: "rbd",
            state: State::Refused("no library"),
            ..PLAIN
        };
        let engines = [PLAIN, GONE];
        assert_eq!(
            engine_help(&engines, "").0,
            "Available IO engines:\n\tnull\n"
        );
        assert!(engine_help(&engines, "null").1);
        assert_eq!(
            engine_help(&engines, "rbd").0,
            "rbd: not supported (no library)\n"
        );
        assert_eq!(
            engine_help(&engines, "nul").0,
            "No such engine: nul; did you mean null?\n"
        );
    }
}
