//! What is known about one option apart from its value: names, limits, help, state.

use crate::Value;
use units::TimeUnit;

/// The sort of text an option takes; decides help wording and whether the value may be left
/// out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number, optionally with a size suffix.
    Int,
    /// `0` or `1`.
    Bool,
    /// `0` or `1`, where the bare word means `1`.
    Set,
    /// A number of bytes.
    Bytes,
    /// Bytes, a percentage or zones.
    Amount,
    /// A time.
    Time,
    /// Two numbers, `lo-hi`.
    Range,
    /// Floating point numbers separated by `:`.
    Float,
    /// One of a list of words.
    Choice,
    /// Free text or a grammar of its own.
    Text,
}

/// Whether an option can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Does what its help says.
    Works,
    /// Known, planned, refused for now. The text says what is missing.
    Later(&'static str),
    /// Known and not going to be built. The text says why.
    Refused(&'static str),
    /// Accepted by fio without any effect; accepted here too, with a note.
    Obsolete(&'static str),
}

/// One word of an enumeration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The word.
    pub name: &'static str,
    /// Other spellings.
    pub aliases: &'static [&'static str],
    /// One sentence of help.
    pub help: &'static str,
}

/// One option's declaration.
#[derive(Clone, Copy, Debug)]
pub struct Def {
    /// The name that reports use.
    pub name: &'static str,
    /// Other accepted names.
    pub aliases: &'static [&'static str],
    /// Help: the first line is the summary.
    pub doc: &'static str,
    /// The sort of value.
    pub kind: Kind,
    /// True when a `read,write,trim` list is accepted.
    pub per_direction: bool,
    /// Default as it would be typed; `None` when the option is unset by default.
    pub default: Option<&'static str>,
    /// Smallest value.
    pub min: Option<f64>,
    /// Largest value.
    pub max: Option<f64>,
    /// Least and greatest whole number that fits the type.
    pub limits: Option<(i128, i128)>,
    /// The words, for an enumeration.
    pub choices: &'static [Choice],
    /// The option that this one refines.
    pub parent: Option<&'static str>,
    /// The option that says the opposite.
    pub inverse: Option<&'static str>,
    /// True when the bare name is allowed in a job file and means an empty text.
    pub bare_text: bool,
    /// True when `--cmdhelp=all` leaves the option out.
    pub hidden: bool,
    /// Unit of a time without suffix.
    pub unit: TimeUnit,
    /// Whether the option can be used.
    pub state: State,
    /// Options of a job file section are applied in falling order of this number.
    pub prio: i32,
    /// True when a list given again is added to the one that is there.
    pub adds: bool,
}

impl Def {
    /// An option called `name` whose values are `V`.
    pub const fn of<V: Value>(name: &'static str, doc: &'static str) -> Self {
        Def {
            name,
            aliases: &[],
            doc,
            kind: V::KIND,
            per_direction: V::PER_DIRECTION,
            default: None,
            min: None,
            max: None,
            limits: V::LIMITS,
            choices: V::CHOICES,
            parent: None,
            inverse: None,
            bare_text: false,
            hidden: false,
            unit: TimeUnit::Seconds,
            state: State::Works,
            prio: 0,
            adds: false,
        }
    }

    /// Replaces the name, for names that are no Rust identifiers.
    pub const fn name(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    /// Another accepted name.
    pub const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// The value before anything is typed.
    pub const fn default(mut self, text: &'static str) -> Self {
        self.default = Some(text);
        self
    }

    /// Smallest value allowed.
    pub const fn at_least(mut self, min: i64) -> Self {
        self.min = Some(min as f64);
        self
    }

    /// Smallest and largest value allowed.
    pub const fn range(mut self, min: i64, max: i64) -> Self {
        self.min = Some(min as f64);
        self.max = Some(max as f64);
        self
    }

    /// Smallest and largest value allowed, for floating point options.
    pub const fn within(mut self, min: f64, max: f64) -> Self {
        self.min = Some(min);
        self.max = Some(max);
        self
    }

    /// The option that this one refines.
    pub const fn parent(mut self, parent: &'static str) -> Self {
        self.parent = Some(parent);
        self
    }

    /// The option that says the opposite.
    pub const fn inverse(mut self, inverse: &'static str) -> Self {
        self.inverse = Some(inverse);
        self
    }

    /// Leaves the option out of `--cmdhelp=all`.
    pub const fn hidden(mut self) -> Self {
        self.hidden = true;
        self
    }

    /// A `0`/`1` option whose bare word means `1`.
    pub const fn bare(mut self) -> Self {
        self.kind = Kind::Set;
        self
    }

    /// A text option whose bare name means the empty text.
    pub const fn bare_text(mut self) -> Self {
        self.bare_text = true;
        self
    }

    /// A number that counts bytes.
    pub const fn bytes(mut self) -> Self {
        self.kind = Kind::Bytes;
        self
    }

    /// Times without a suffix are milliseconds.
    pub const fn millis(mut self) -> Self {
        self.unit = TimeUnit::Millis;
        self
    }

    /// Times without a suffix are microseconds.
    pub const fn micros(mut self) -> Self {
        self.unit = TimeUnit::Micros;
        self
    }

    /// Known but not built yet.
    pub const fn later(mut self, reason: &'static str) -> Self {
        self.state = State::Later(reason);
        self
    }

    /// Known and refused for good.
    pub const fn refused(mut self, reason: &'static str) -> Self {
        self.state = State::Refused(reason);
        self
    }

    /// Accepted without effect, as fio does.
    pub const fn obsolete(mut self, reason: &'static str) -> Self {
        self.state = State::Obsolete(reason);
        self
    }

    /// Applies before (positive) or after (negative) the other options of a section.
    pub const fn prio(mut self, prio: i32) -> Self {
        self.prio = prio;
        self
    }

    /// Adds to a list that is there instead of replacing it.
    pub const fn adds(mut self) -> Self {
        self.adds = true;
        self
    }

    /// True when `name` is this option's name or an alias.
    pub fn answers_to(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    /// The values that the declaration allows, in words.
    pub(crate) fn declared_range(&self) -> Option<String> {
        match (self.min, self.max) {
            (Some(min), Some(max)) => Some(format!("{min} to {max}")),
            (Some(min), None) => Some(format!("at least {min}")),
            (None, Some(max)) => Some(format!("at most {max}")),
            (None, None) => None,
        }
    }

    /// What may stand in the place of a number that is none, or none that fits.
    pub fn accepted(&self) -> String {
        let what = match self.kind {
            Kind::Bytes => "bytes such as 4096, 4k or 1m",
            Kind::Amount => "bytes such as 64k or 1g, shares such as 50%, zones such as 2z",
            Kind::Time => match self.unit {
                TimeUnit::Micros => "times such as 30s, 500ms or 20us; a bare number counts us",
                TimeUnit::Millis => "times such as 30s or 500ms; a bare number counts ms",
                _ => "times such as 30s, 10m or 500ms; a bare number counts seconds",
            },
            Kind::Range => "LOW-HIGH",
            Kind::Float => "numbers such as 1 or 99.9",
            _ => "whole numbers",
        };
        let fitting = || {
            self.limits
                .map(|(least, most)| format!("{least} to {most}"))
        };
        match self.declared_range().or_else(fitting) {
            Some(range) => format!("{what}, {range}"),
            None => what.to_owned(),
        }
    }

    /// First line of the help.
    pub fn summary(&self) -> &'static str {
        self.doc.trim_start().lines().next().unwrap_or("")
    }

    /// The whole help as paragraphs of plain text.
    pub fn paragraphs(&self) -> Vec<String> {
        let mut out = vec![String::new()];
        for line in self.doc.lines().map(str::trim) {
            let last = out.last_mut().expect("starts with one");
            if line.is_empty() {
                if !last.is_empty() {
                    out.push(String::new());
                }
            } else {
                if !last.is_empty() {
                    last.push(' ');
                }
                last.push_str(line);
            }
        }
        out.retain(|p| !p.is_empty());
        out
    }
}
