//! Where an imported run came from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A place in a text, with the text itself: the evidence stays beside the numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// Path as it was given.
    pub file: String,
    /// First line of the run, from 1.
    pub first_line: usize,
    /// Last line of it.
    pub last_line: usize,
    /// What was read, such as `fio-normal`, `fio-json`, `fio-terse`, `fio-log`, `dd`, `mlc`.
    pub format: String,
    /// Those lines.
    pub text: String,
}
