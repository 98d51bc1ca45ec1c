//! The trait of option values, and the one function that sets a field.

use crate::{Choice, Def, Kind, State, ValueError};
use units::KbBase;
use units::number::{NumberError, Scanned};

/// What a value's text depends on besides itself.
#[derive(Clone, Copy, Debug)]
pub struct Ctx<'a> {
    /// The meaning of `k`.
    pub kb_base: KbBase,
    /// The option being parsed.
    pub def: &'a Def,
}

/// A type that an option can have.
///
/// `parse` and `show` are inverse: `parse(show(v)) == v` for every value that `parse` gives.
pub trait Value: Clone + PartialEq + Default + std::fmt::Debug {
    /// The sort of text.
    const KIND: Kind;
    /// True for `read,write,trim` lists.
    const PER_DIRECTION: bool = false;
    /// The words of an enumeration.
    const CHOICES: &'static [Choice] = &[];
    /// Least and greatest whole number that fits the type.
    const LIMITS: Option<(i128, i128)> = None;

    /// Reads a value.
    fn parse(text: &str, ctx: &Ctx<'_>) -> Result<Scanned<Self>, ValueError>;

    /// The value as it would be typed.
    fn show(&self) -> String;

    /// Replaces the value by what `text` says. Lists keep the parts that `text` leaves out.
    fn assign(&mut self, text: &str, ctx: &Ctx<'_>) -> Result<Option<String>, ValueError> {
        let scanned = Self::parse(text, ctx)?;
        *self = scanned.value;
        Ok(scanned.note)
    }

    /// Calls `visit` with each number that the option's limits apply to.
    fn numbers(&self, _visit: &mut dyn FnMut(f64)) {}

    /// A reason when this particular value is known but cannot be used.
    fn state(&self) -> State {
        State::Works
    }
}

/// The value of an option before anything is typed.
pub fn initial<V: Value>(def: &Def) -> V {
    let ctx = Ctx {
        kb_base: KbBase::Binary,
        def,
    };
    def.default
        .and_then(|text| V::parse(text, &ctx).ok())
        .map_or_else(V::default, |scanned| scanned.value)
}

/// True when `value` is what it was before anything was typed.
pub fn is_initial<V: Value>(value: &V, def: &Def) -> bool {
    *value == initial(def)
}

/// Sets `field` to what `text` says, with every check that `def` asks for. On an error the
/// field keeps its value. Returns a note when the user should hear how the text was read.
///
/// An option that is not supported is still accepted with the value it has anyway, because
/// that asks for nothing.
pub fn assign<V: Value>(
    field: &mut V,
    def: &Def,
    text: Option<&str>,
    kb_base: KbBase,
) -> Result<Option<String>, ValueError> {
    if let State::Obsolete(reason) = def.state {
        return Ok(Some(format!("has no effect: {reason}")));
    }
    let ctx = Ctx { kb_base, def };
    let text = match (text, def.kind) {
        (Some(text), _) => text,
        (None, Kind::Set) => "1",
        (None, _) if def.bare_text => "",
        (None, _) => return Err(ValueError::Missing),
    };
    let mut value = field.clone();
    let note = value
        .assign(text, &ctx)
        .map_err(|error| with_accepted(error, def))?;
    check_range(&value, def)?;
    refuse(value.state())?;
    if !is_initial(&value, def) {
        refuse(def.state)?;
    }
    *field = value;
    Ok(note)
}

/// The error of a number with what the option takes, as far as it does not say that itself.
fn with_accepted(error: ValueError, def: &Def) -> ValueError {
    let ValueError::Number(error) = error else {
        return error;
    };
    let accepted = match &error {
        NumberError::Suffix { .. } => def.declared_range(),
        _ => Some(def.accepted()),
    };
    match accepted {
        Some(accepted) => ValueError::Unfit { error, accepted },
        None => ValueError::Number(error),
    }
}

fn refuse(state: State) -> Result<(), ValueError> {
    match state {
        State::Works | State::Obsolete(_) => Ok(()),
        State::Later(reason) => Err(ValueError::NotYet(reason)),
        State::Refused(reason) => Err(ValueError::Refused(reason)),
    }
}

fn check_range<V: Value>(value: &V, def: &Def) -> Result<(), ValueError> {
    let mut bad = None;
    value.numbers(&mut |number| {
        let low = def.min.is_some_and(|min| number < min);
        let high = def.max.is_some_and(|max| number > max);
        if low || high {
            bad = Some(number);
        }
    });
    match bad {
        None => Ok(()),
        Some(number) => Err(ValueError::Range {
            value: number.to_string(),
            range: def.declared_range().unwrap_or_default(),
        }),
    }
}
