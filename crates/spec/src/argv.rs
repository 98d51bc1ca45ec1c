//! The command line as GNU `getopt_long_only` splits it.
//!
//! `--x=v`, `--x v`, `-x=v`, `-x v`; names may be cut short while they stay unambiguous;
//! operands (job files) may stand anywhere; `--` ends the options.

use crate::options::Options;
use crate::place::{Diagnostic, Place};
use crate::switches::{SWITCHES, SwitchDef, Takes};
use option::{EngineTable, Kind, closest};

/// A part of the command line.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    /// A switch of the program.
    Switch {
        def: &'static SwitchDef,
        value: Option<String>,
        place: Place,
    },
    /// A job option.
    Option {
        name: &'static str,
        value: Option<String>,
        place: Place,
    },
    /// A job file.
    Operand { text: String, place: Place },
}

/// What a name on the command line stands for.
#[derive(Clone, Copy)]
enum Meaning {
    Switch(&'static SwitchDef),
    Option(&'static str, Takes),
}

impl Meaning {
    fn takes(self) -> Takes {
        match self {
            Meaning::Switch(def) => def.takes,
            Meaning::Option(_, takes) => takes,
        }
    }
}

fn takes(kind: Kind) -> Takes {
    if kind == Kind::Set {
        Takes::Optional
    } else {
        Takes::Value
    }
}

type Names = Vec<(&'static str, Meaning)>;

/// Every name that can stand behind dashes: switches and generic options, then engines'.
fn names(engines: &[EngineTable]) -> (Names, Names) {
    let mut first: Names = SWITCHES
        .iter()
        .map(|def| (def.name, Meaning::Switch(def)))
        .collect();
    for def in Options::defs() {
        let all = std::iter::once(def.name).chain(def.aliases.iter().copied());
        first.extend(all.map(|name| (name, Meaning::Option(name, takes(def.kind)))));
    }
    let mut second = Names::new();
    for def in engines.iter().flat_map(|engine| engine.defs) {
        for name in std::iter::once(def.name).chain(def.aliases.iter().copied()) {
            if !second.iter().any(|(seen, _)| *seen == name) {
                second.push((name, Meaning::Option(name, takes(def.kind))));
            }
        }
    }
    (first, second)
}

/// All job option names, for suggestions.
pub(crate) fn option_names(engines: &[EngineTable]) -> Vec<&'static str> {
    let (first, second) = names(engines);
    let options = first
        .iter()
        .filter(|(_, m)| matches!(m, Meaning::Option(..)));
    options.chain(&second).map(|(name, _)| *name).collect()
}

fn resolve(
    name: &str,
    engines: &[EngineTable],
    place: &Place,
    word: &str,
) -> Result<Meaning, Diagnostic> {
    let (first, second) = names(engines);
    let exact = first
        .iter()
        .chain(&second)
        .find(|(known, _)| *known == name);
    if let Some((_, meaning)) = exact {
        return Ok(*meaning);
    }
    for table in [&first, &second] {
        let begins: Vec<&(&str, Meaning)> = table
            .iter()
            .filter(|(known, _)| known.starts_with(name))
            .collect();
        match begins.as_slice() {
            [] => {}
            [(_, meaning)] => return Ok(*meaning),
            several => {
                let list: Vec<String> = several
                    .iter()
                    .take(8)
                    .map(|(n, _)| format!("--{n}"))
                    .collect();
                let text = format!("`{word}` is ambiguous: {}", list.join(", "));
                return Err(Diagnostic::error(Some(place.clone()), text));
            }
        }
    }
    let all = first.iter().chain(&second).map(|(known, _)| *known);
    let hint = closest(name, all).map(|near| format!("; did you mean `--{near}`?"));
    let text = format!("unknown option `{word}`{}", hint.unwrap_or_default());
    Err(Diagnostic::error(Some(place.clone()), text))
}

/// Splits the words behind the program's name. Mistakes are collected; the rest goes on.
pub(crate) fn split(words: &[String], engines: &[EngineTable]) -> (Vec<Item>, Vec<Diagnostic>) {
    let mut items = Vec::new();
    let mut errors = Vec::new();
    let mut rest = words.iter().enumerate();
    let mut options_over = false;
    while let Some((at, word)) = rest.next() {
        let place = Place::CommandLine { word: at + 1 };
        if options_over || word == "-" || !word.starts_with('-') {
            items.push(Item::Operand {
                text: word.clone(),
                place,
            });
            continue;
        }
        if word == "--" {
            options_over = true;
            continue;
        }
        let body = word.strip_prefix("--").unwrap_or(&word[1..]);
        let (name, inline) = match body.split_once('=') {
            Some((name, value)) => (name, Some(value.to_string())),
            None => (body, None),
        };
        let letter = short(word);
        let meaning = match letter.map_or_else(|| resolve(name, engines, &place, word), Ok) {
            Ok(meaning) => meaning,
            Err(error) => {
                errors.push(error);
                continue;
            }
        };
        let value = match (meaning.takes(), inline) {
            (Takes::Nothing, Some(_)) => {
                errors.push(Diagnostic::error(
                    Some(place),
                    format!("`--{name}` takes no value"),
                ));
                continue;
            }
            (Takes::Value, None) => match rest.next() {
                Some((_, next)) => Some(next.clone()),
                None => {
                    let text = format!("`{word}` needs a value");
                    errors.push(Diagnostic::error(Some(place), text));
                    continue;
                }
            },
            (_, inline) => inline,
        };
        items.push(match meaning {
            Meaning::Switch(def) => Item::Switch { def, value, place },
            Meaning::Option(name, _) => Item::Option { name, value, place },
        });
    }
    (items, errors)
}

/// `-v` and the like: one dash and one letter.
fn short(word: &str) -> Option<Meaning> {
    let mut letters = word.strip_prefix('-')?.chars();
    let letter = letters.next()?;
    if letters.next().is_some() {
        return None;
    }
    SWITCHES
        .iter()
        .find(|def| def.letter == Some(letter))
        .map(Meaning::Switch)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(line: &str) -> (Vec<String>, Vec<String>) {
        let words: Vec<String> = line.split_whitespace().map(str::to_string).collect();
        let (items, errors) = split(&words, &[]);
        let show = |item: &Item| match item {
            Item::Switch { def, value, .. } => format!("switch {} {value:?}", def.name),
            Item::Option { name, value, .. } => format!("{name} {value:?}"),
            Item::Operand { text, .. } => format!("file {text}"),
        };
        let errors = errors.iter().map(|e| e.text.clone()).collect();
        (items.iter().map(show).collect(), errors)
    }

    #[test]
    fn all_four_spellings_and_operands_anywhere() {
        let (items, errors) = run("a.fio --bs=8k --rw read -iodepth=4 -size 1g - --readonly -o x");
        assert!(errors.is_empty(), "{errors:?}");
        let want = [
            "file a.fio",
            r#"bs Some("8k")"#,
            r#"rw Some("read")"#,
            r#"iodepth Some("4")"#,
            r#"size Some("1g")"#,
            "file -",
            "switch readonly None",
            r#"switch output Some("x")"#,
        ];
        assert_eq!(items, want);
    }

    #[test]
    fn bare_words_take_no_further_word() {
        let (items, _) = run("--thread j.fio --thread=0 --cmdhelp bs -- --bs");
        let want = [
            "thread None",
            "file j.fio",
            r#"thread Some("0")"#,
            "switch cmdhelp None",
            "file bs",
            "file --bs",
        ];
        assert_eq!(items, want);
    }

    #[test]
    fn names_may_be_cut_short() {
        assert_eq!(run("--runtim=10").0, [r#"runtime Some("10")"#]);
        let (_, errors) = run("--iodept=4 --io-size=1 --readonly=1 --bs");
        assert!(
            errors[0].starts_with("`--iodept=4` is ambiguous: --iodepth, "),
            "{errors:?}"
        );
        assert_eq!(
            errors[1],
            "unknown option `--io-size=1`; did you mean `--io_size`?"
        );
        assert_eq!(errors[2], "`--readonly` takes no value");
        assert_eq!(errors[3], "`--bs` needs a value");
    }
}
