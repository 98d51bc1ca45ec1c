//! Tables of declarations: lookup, nearest name, self-test.

use crate::{Choice, Ctx, Def, State, Value, ValueError};
use std::collections::BTreeSet;
use units::KbBase;

/// A struct made by [`options!`](crate::options).
pub trait OptionSet: Default + Clone {
    /// The group's title and introduction.
    const TITLE: &'static str;
    /// One declaration per field, in field order.
    const DEFS: &'static [Def];

    /// Sets the option at `index`; on an error the field keeps its value. The text is `None`
    /// when only the name was given. A returned note tells how the text was read.
    ///
    /// # Panics
    /// When `index` is out of bounds of `DEFS`, as are the next three.
    fn set(
        &mut self,
        index: usize,
        text: Option<&str>,
        kb_base: KbBase,
    ) -> Result<Option<String>, ValueError>;

    /// The value as it would be typed.
    fn show(&self, index: usize) -> String;

    /// True when the value is the declared default.
    fn is_default(&self, index: usize) -> bool;

    /// An error when the declared default does not parse; for self-tests.
    fn default_error(index: usize) -> Option<ValueError>;

    /// Sets an option by name; `None` when the table has no such name.
    fn set_named(
        &mut self,
        name: &str,
        text: Option<&str>,
        kb_base: KbBase,
    ) -> Option<Result<Option<String>, ValueError>> {
        find(Self::DEFS, name).map(|(index, _)| self.set(index, text, kb_base))
    }
}

/// What the option parser knows about an engine.
#[derive(Clone, Copy, Debug)]
pub struct EngineTable {
    /// Name, as `ioengine=` takes it.
    pub name: &'static str,
    /// Other accepted names.
    pub aliases: &'static [&'static str],
    /// One sentence.
    pub help: &'static str,
    /// The engine's own options.
    pub defs: &'static [Def],
    /// Whether the engine can be used.
    pub state: State,
}

/// Finds an option by name or alias.
pub fn find<'a>(defs: &'a [Def], name: &str) -> Option<(usize, &'a Def)> {
    defs.iter()
        .enumerate()
        .find(|(_, def)| def.answers_to(name))
}

/// Levenshtein distance in characters.
pub fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substitute = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// The nearest of `names`, when one is near enough to be what was meant.
pub fn closest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (word.chars().count() / 3).max(1) + 1;
    names
        .into_iter()
        .map(|name| (distance(word, name), name))
        .filter(|(d, _)| *d <= limit)
        .min_by_key(|(d, _)| *d)
        .map(|(_, name)| name)
}

/// The error for a word that is not among `choices`.
pub fn bad_choice(text: &str, choices: &[Choice]) -> ValueError {
    let text = text.trim();
    let words = choices
        .iter()
        .flat_map(|c| std::iter::once(c.name).chain(c.aliases.to_vec()));
    ValueError::Choice {
        text: text.to_string(),
        valid: choices
            .iter()
            .map(|c| c.name)
            .collect::<Vec<_>>()
            .join(", "),
        nearest: closest(text, words).map(str::to_string),
    }
}

/// The parse error of a declared default, if any.
pub fn check_default<V: Value>(def: &Def) -> Option<ValueError> {
    let ctx = Ctx {
        kb_base: KbBase::Binary,
        def,
    };
    let scanned = def.default.map(|text| V::parse(text, &ctx))?;
    match scanned {
        Err(error) => Some(error),
        Ok(scanned) => match V::parse(&scanned.value.show(), &ctx) {
            Ok(again) if again.value == scanned.value => None,
            _ => Some(ValueError::syntax(
                &scanned.value.show(),
                "the shown default differs",
            )),
        },
    }
}

/// Faults of a group of tables that belong together: duplicate names, bad names, missing
/// parents, empty help, duplicate choices. Empty when all is well.
pub fn problems(defs: &[&Def]) -> Vec<String> {
    let mut out = Vec::new();
    let mut seen = BTreeSet::new();
    let names: BTreeSet<&str> = defs
        .iter()
        .flat_map(|d| std::iter::once(d.name).chain(d.aliases.to_vec()))
        .collect();
    let legal = |name: &str| {
        !name.is_empty()
            && name
                .chars()
                .all(|c| matches!(c, 'a'..='z' | '0'..='9' | '_' | '-'))
    };
    for def in defs {
        for name in std::iter::once(def.name).chain(def.aliases.to_vec()) {
            if !seen.insert(name) {
                out.push(format!("{name}: declared twice"));
            }
            if !legal(name) {
                out.push(format!("{name}: not a legal option name"));
            }
        }
        if def.summary().is_empty() {
            out.push(format!("{}: no help", def.name));
        }
        for link in [def.parent, def.inverse].into_iter().flatten() {
            if !names.contains(link) {
                out.push(format!("{}: `{link}` does not exist", def.name));
            }
        }
        let mut words = BTreeSet::new();
        for choice in def.choices {
            for word in std::iter::once(choice.name).chain(choice.aliases.to_vec()) {
                if !words.insert(word) {
                    out.push(format!("{}: choice {word} declared twice", def.name));
                }
            }
        }
    }
    out
}
