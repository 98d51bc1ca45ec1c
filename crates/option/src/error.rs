//! Why an option's value was not taken.

use units::number::NumberError;

/// An error about a value. It does not name the option or its place: the caller knows both.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ValueError {
    /// The option needs a value and got none.
    #[error("needs a value")]
    Missing,
    /// Not a number, or a number with a suffix that is no unit.
    #[error(transparent)]
    Number(#[from] NumberError),
    /// The same, with what the option takes.
    #[error("{error}; accepted: {accepted}")]
    Unfit {
        /// What is wrong with the text.
        error: NumberError,
        /// What would be right.
        accepted: String,
    },
    /// Below or above the allowed range.
    #[error("{value} is out of range ({range})")]
    Range {
        /// The offending number as text.
        value: String,
        /// The allowed range as text.
        range: String,
    },
    /// Not one of the words.
    #[error("`{text}` is not one of {valid}{}", hint(.nearest))]
    Choice {
        /// What was typed.
        text: String,
        /// The words, comma-separated.
        valid: String,
        /// The nearest word, when one is near.
        nearest: Option<String>,
    },
    /// Does not follow the option's grammar.
    #[error("`{text}`: {expected}")]
    Syntax {
        /// What was typed.
        text: String,
        /// What was expected.
        expected: String,
    },
    /// Known, not built yet.
    #[error("not supported yet ({0})")]
    NotYet(&'static str),
    /// Known, refused for good.
    #[error("not supported ({0})")]
    Refused(&'static str),
}

impl ValueError {
    /// A syntax error: what was typed, what was expected.
    pub fn syntax(text: &str, expected: impl Into<String>) -> Self {
        ValueError::Syntax {
            text: text.trim().to_string(),
            expected: expected.into(),
        }
    }
}

fn hint(nearest: &Option<String>) -> String {
    nearest
        .as_ref()
        .map(|word| format!("; did you mean `{word}`?"))
        .unwrap_or_default()
}
