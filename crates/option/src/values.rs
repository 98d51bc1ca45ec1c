//! Values made of numbers, times and text.

use crate::{Choice, Ctx, Kind, State, Value, ValueError, bad_choice};
use units::number::{self, NumberError, Scanned};
use units::{Amount, Ddir, KbBase, PerDdir, Range, Span};

macro_rules! integers {
    ($($ty:ty),+) => { $(
        impl Value for $ty {
            const KIND: Kind = Kind::Int;
            const LIMITS: Option<(i128, i128)> = Some((<$ty>::MIN as i128, <$ty>::MAX as i128));

            fn parse(text: &str, ctx: &Ctx<'_>) -> Result<Scanned<Self>, ValueError> {
                let scanned = number::integer(text, ctx.kb_base)?;
                let text = text.trim();
                let value = <$ty>::try_from(scanned.value).map_err(|_| {
                    if scanned.value < 0 {
                        NumberError::Negative(text.to_string())
                    } else {
                        NumberError::TooLarge(text.to_string())
                    }
                })?;
                Ok(Scanned { value, note: scanned.note })
            }

            fn show(&self) -> String {
                self.to_string()
            }

            fn numbers(&self, visit: &mut dyn FnMut(f64)) {
                visit(*self as f64);
            }
        }
    )+ };
}

integers!(u8, u16, u32, u64, i32, i64);

impl Value for bool {
    const KIND: Kind = Kind::Bool;

    fn parse(text: &str, _: &Ctx<'_>) -> Result<Scanned<Self>, ValueError> {
        match text.trim() {
            "0" => Ok(Scanned {
                value: false,
                note: None,
            }),
            "1" => Ok(Scanned {
                value: true,
                note: None,
            }),
            other => Err(ValueError::syntax(other, "expected 0 or 1")),
        }
    }

    fn show(&self) -> String {
        if *self { "1" } else { "0" }.to_string()
    }
}

impl Value for f64 {
    const KIND: Kind = Kind::Float;

    fn parse(text: &str, _: &Ctx<'_>) -> Result<Scanned<Self>, ValueError> {
        Ok(Scanned {
            value: number::float(text)?,
            note: None,
        })
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn numbers(&self, visit: &mut dyn FnMut(f64)) {
        visit(*self);
    }
}

impl Value for String {
    const KIND: Kind = Kind::Text;

    fn parse(text: &str, _: &Ctx<'_>) -> Result<Scanned<Self>, ValueError> {
        Ok(Scanned {
            value: text.trim().to_string(),
            note: None,
        })
    }

    fn show(&self) -> String {
        self.clone()
    }
}

impl Value for KbBase {
    const KIND: Kind = Kind::Choice;
    const CHOICES: &'static [Choice] = &[
        Choice {
            name: "1024",
            aliases: &[],
            help: "`k` is 1024 and `kib` is 1000.",
        },
        Choice {
            name: "1000",
            aliases: &[],
            help: "`k` is 1000 and `kib` is 1024.",
        },
    ];

    fn parse(text: &str, _: &Ctx<'_>) -> Result<Scanned<Self>, ValueError> {
        let value = match text.trim() {
            "1024" => KbBase::Binary,
            "1000" => KbBase::Decimal,
            other => return Err(bad_choice(other, Self::CHOICES)),
        };
        Ok(Scanned { value, note: None })
    }

    fn show(&self) -> String {
        self.factor().to_string()
    }
}

impl Value for Span {
    const KIND: Kind = Kind::Time;

    fn parse(text: &str, ctx: &Ctx<'_>) -> Result<Scanned<Self>, ValueError> {
        Ok(number::span(text, ctx.def.unit)?)
    }

    fn show(&self) -> String {
        self.to_string()
    }

    /// Limits of a time option are in seconds, whatever its own unit.
    fn numbers(&self, visit: &mut dyn FnMut(f64)) {
        visit(self.secs_f64());
    }
}

impl Value for Amount {
    const KIND: Kind = Kind::Amount;

    fn parse(text: &str, ctx: &Ctx<'_>) -> Result<Scanned<Self>, ValueError> {
        let trimmed = text.trim();
        if let Some(percent) = trimmed.strip_suffix('%') {
            let scanned = u32::parse(percent, ctx)?;
            if scanned.value > 100 {
                return Err(ValueError::Range {
                    value: trimmed.to_string(),
                    range: "0% to 100%".to_string(),
                });
            }
            return Ok(scanned.map(Amount::Percent));
        }
        if let Some(zones) = trimmed.strip_suffix(['z', 'Z']) {
            return Ok(u32::parse(zones, ctx)?.map(Amount::Zones));
        }
        Ok(number::bytes(text, ctx.kb_base)?.map(Amount::Bytes))
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn numbers(&self, visit: &mut dyn FnMut(f64)) {
        if let Amount::Bytes(bytes) = self {
            visit(*bytes as f64);
        }
    }
}

/// Splits at the first `-`, or else the first `:`, that stands outside parentheses.
fn split_bounds(text: &str) -> Option<(&str, &str)> {
    let outside = |separator: char| {
        let mut depth = 0usize;
        text.char_indices().find(|(_, c)| {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && *c == separator
        })
    };
    let (at, _) = outside('-').or_else(|| outside(':'))?;
    Some((&text[..at], &text[at + 1..]))
}

/// `lo-hi` or `lo:hi`; a single value is a range of itself.
impl<V: Value + PartialOrd> Value for Range<V> {
    const KIND: Kind = Kind::Range;
    const LIMITS: Option<(i128, i128)> = V::LIMITS;

    fn parse(text: &str, ctx: &Ctx<'_>) -> Result<Scanned<Self>, ValueError> {
        let Some((a, b)) = split_bounds(text) else {
            return Ok(V::parse(text, ctx)?.map(|value| Range {
                lo: value.clone(),
                hi: value,
            }));
        };
        let a = V::parse(a, ctx)?;
        let b = V::parse(b, ctx)?;
        Ok(Scanned {
            value: Range::between(a.value, b.value),
            note: a.note.or(b.note),
        })
    }

    fn show(&self) -> String {
        format!("{}-{}", self.lo.show(), self.hi.show())
    }

    fn numbers(&self, visit: &mut dyn FnMut(f64)) {
        self.lo.numbers(visit);
        self.hi.numbers(visit);
    }
}

/// An option that may be unset; only its default can be.
impl<V: Value> Value for Option<V> {
    const KIND: Kind = V::KIND;
    const PER_DIRECTION: bool = V::PER_DIRECTION;
    const CHOICES: &'static [Choice] = V::CHOICES;
    const LIMITS: Option<(i128, i128)> = V::LIMITS;

    fn parse(text: &str, ctx: &Ctx<'_>) -> Result<Scanned<Self>, ValueError> {
        Ok(V::parse(text, ctx)?.map(Some))
    }

    fn assign(&mut self, text: &str, ctx: &Ctx<'_>) -> Result<Option<String>, ValueError> {
        let mut value = self.take().unwrap_or_default();
        let note = value.assign(text, ctx)?;
        *self = Some(value);
        Ok(note)
    }

    fn show(&self) -> String {
        self.as_ref().map(V::show).unwrap_or_default()
    }

    fn numbers(&self, visit: &mut dyn FnMut(f64)) {
        if let Some(value) = self {
            value.numbers(visit);
        }
    }

    fn state(&self) -> State {
        self.as_ref().map_or(State::Works, V::state)
    }
}

/// `read,write,trim`. A value repeats into the directions behind it; an empty part, or a
/// trailing comma, keeps what was there.
impl<V: Value> Value for PerDdir<V> {
    const KIND: Kind = V::KIND;
    const PER_DIRECTION: bool = true;
    const CHOICES: &'static [Choice] = V::CHOICES;
    const LIMITS: Option<(i128, i128)> = V::LIMITS;

    fn parse(text: &str, ctx: &Ctx<'_>) -> Result<Scanned<Self>, ValueError> {
        let mut value = Self::default();
        let note = value.assign(text, ctx)?;
        Ok(Scanned { value, note })
    }

    fn show(&self) -> String {
        let PerDdir([read, write, trim]) = self;
        if read == write && write == trim {
            return read.show();
        }
        // Only an unset part shows as nothing, and an empty part stays unset on reading.
        format!("{},{},{}", read.show(), write.show(), trim.show())
    }

    fn assign(&mut self, text: &str, ctx: &Ctx<'_>) -> Result<Option<String>, ValueError> {
        let separator = match V::KIND {
            Kind::Int | Kind::Bytes | Kind::Time if !text.contains(',') => ':',
            _ => ',',
        };
        let parts: Vec<&str> = text.split(separator).collect();
        if parts.len() > 3 || parts.iter().all(|part| part.trim().is_empty()) {
            return Err(ValueError::syntax(
                text,
                "expected one to three values: read,write,trim",
            ));
        }
        let mut note = None;
        for (at, part) in parts.iter().enumerate() {
            if part.trim().is_empty() {
                continue;
            }
            let last = at + 1 == parts.len();
            let reach = if last { 3 } else { at + 1 };
            for ddir in &Ddir::DATA[at..reach] {
                let said = self[*ddir].assign(part, ctx)?;
                note = note.or(said);
            }
        }
        Ok(note)
    }

    fn numbers(&self, visit: &mut dyn FnMut(f64)) {
        for (_, value) in self.iter() {
            value.numbers(visit);
        }
    }

    fn state(&self) -> State {
        self.iter()
            .map(|(_, v)| v.state())
            .find(|s| *s != State::Works)
            .unwrap_or(State::Works)
    }
}
