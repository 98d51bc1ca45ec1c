//! Lists: file names, CPU and node numbers, floating point numbers.

use crate::{Ctx, Kind, Value, ValueError};
use units::number::{self, Scanned};

/// Names separated by `:`; `\:` is a colon inside a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names(pub Vec<String>);

impl Names {
    /// True when no name was given.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Value for Names {
    const KIND: Kind = Kind::Text;

    fn parse(text: &str, _: &Ctx<'_>) -> Result<Scanned<Self>, ValueError> {
        let mut names = vec![String::new()];
        let mut chars = text.trim().chars().peekable();
        while let Some(c) = chars.next() {
            let last = names.last_mut().expect("starts with one");
            match c {
                '\\' if chars.peek() == Some(&':') => {
                    last.push(':');
                    chars.next();
                }
                ':' => names.push(String::new()),
                _ => last.push(c),
            }
        }
        names.retain(|name| !name.is_empty());
        if names.is_empty() {
            return Err(ValueError::syntax(text, "expected at least one name"));
        }
        Ok(Scanned {
            value: Names(names),
            note: None,
        })
    }

    fn assign(&mut self, text: &str, ctx: &Ctx<'_>) -> Result<Option<String>, ValueError> {
        let scanned = Self::parse(text, ctx)?;
        if ctx.def.adds {
            self.0.extend(scanned.value.0);
        } else {
            *self = scanned.value;
        }
        Ok(scanned.note)
    }

    fn show(&self) -> String {
        self.0
            .iter()
            .map(|name| name.replace(':', "\\:"))
            .collect::<Vec<_>>()
            .join(":")
    }
}

/// Small numbers and ranges of them, `0,5,8-15`, kept sorted and unique: CPUs, NUMA nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdList(pub Vec<u32>);

/// More than any Linux kernel can number; keeps `0-4294967295` from filling memory.
const MAX_ID: u32 = 65_535;

impl Value for IdList {
    const KIND: Kind = Kind::Text;

    fn parse(text: &str, _: &Ctx<'_>) -> Result<Scanned<Self>, ValueError> {
        let wrong = || ValueError::syntax(text, "expected numbers and ranges, as in 0,5,8-15");
        let one = |part: &str| {
            part.trim()
                .parse::<u32>()
                .ok()
                .filter(|id| *id <= MAX_ID)
                .ok_or_else(wrong)
        };
        let mut ids = Vec::new();
        for part in text.trim().split(',') {
            match part.split_once('-') {
                None => ids.push(one(part)?),
                Some((a, b)) => {
                    let (a, b) = (one(a)?, one(b)?);
                    if a > b {
                        return Err(wrong());
                    }
                    ids.extend(a..=b);
                }
            }
        }
        ids.sort_unstable();
        ids.dedup();
        Ok(Scanned {
            value: IdList(ids),
            note: None,
        })
    }

    fn show(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        let mut rest = self.0.as_slice();
        while let [first, ..] = rest {
            let run = rest
                .iter()
                .zip(*first..)
                .take_while(|(id, want)| *id == want)
                .count();
            let last = rest[run - 1];
            parts.push(if run == 1 {
                first.to_string()
            } else {
                format!("{first}-{last}")
            });
            rest = &rest[run..];
        }
        parts.join(",")
    }
}

/// Floating point numbers separated by `:`, with the text of each, because reports print as
/// many decimals as were typed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Floats {
    /// The numbers in the order typed.
    pub values: Vec<f64>,
    /// The most decimals that any of them was typed with, or needs.
    pub decimals: usize,
}

fn decimals(text: &str) -> usize {
    text.split_once('.').map_or(0, |(_, rest)| {
        rest.bytes().take_while(u8::is_ascii_digit).count()
    })
}

impl Value for Floats {
    const KIND: Kind = Kind::Float;

    fn parse(text: &str, _: &Ctx<'_>) -> Result<Scanned<Self>, ValueError> {
        let mut list = Floats::default();
        for part in text.split(':') {
            let value = number::float(part)?;
            let typed = decimals(part.trim());
            list.decimals = list.decimals.max(typed).max(decimals(&value.to_string()));
            list.values.push(value);
        }
        Ok(Scanned {
            value: list,
            note: None,
        })
    }

    fn show(&self) -> String {
        let mut parts: Vec<String> = self.values.iter().map(f64::to_string).collect();
        // One of them must carry the decimals that were asked for.
        if let Some(first) = parts.first_mut()
            && decimals(first) < self.decimals
        {
            *first = format!("{:.*}", self.decimals, self.values[0]);
        }
        parts.join(":")
    }

    fn numbers(&self, visit: &mut dyn FnMut(f64)) {
        self.values.iter().copied().for_each(visit);
    }
}
