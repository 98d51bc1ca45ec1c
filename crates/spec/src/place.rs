//! Where something was said, and what is to be said about it.

use std::fmt;

/// Where an option or a job comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A word of the command line, counted from 1.
    CommandLine {
        /// Number of the word.
        word: usize,
    },
    /// A line of a job file.
    File {
        /// The file as it was named; `-` is standard input.
        path: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::CommandLine { word } => write!(f, "command line, word {word}"),
            Place::File { path, line, column } => write!(f, "{path}:{line}:{column}"),
        }
    }
}

/// How much a diagnostic matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing: how a value was read.
    Note,
    /// Probably not what was meant; `--warnings-fatal` makes it an error.
    Warning,
    /// The run cannot begin.
    Error,
}

/// One line for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How much it matters.
    pub severity: Severity,
    /// Where the cause stands, if it stands anywhere.
    pub place: Option<Place>,
    /// What is the matter, without the place.
    pub text: String,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(place: Option<Place>, text: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Error,
            place,
            text: text.into(),
        }
    }

    /// A warning at a place.
    pub fn warning(place: Option<Place>, text: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Warning,
            place,
            text: text.into(),
        }
    }

    /// A note at a place.
    pub fn note(place: Option<Place>, text: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Note,
            place,
            text: text.into(),
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{place}: {}", self.text),
            None => f.write_str(&self.text),
        }
    }
}

/// Everything that is wrong with what was said; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errors(pub Vec<Diagnostic>);

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, diagnostic) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            diagnostic.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Errors {}
