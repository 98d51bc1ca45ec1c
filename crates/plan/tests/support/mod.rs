//! Command lines to plans, for the tests of this directory.

use host::{Facts, Root};
use plan::Plan;
use std::path::Path;

/// Reads and plans a command line; `$DIR` stands for `dir`. Both kinds of errors as text.
pub fn plan(line: &str, dir: &Path) -> Result<Plan, String> {
    let tables: Vec<option::EngineTable> = engine::registry::tables().copied().collect();
    let words = words(line, dir);
    let spec = spec::parse(&words, &tables, &spec::ThisHost).map_err(|e| e.to_string())?;
    let facts = Facts::read(&Root::default()).map_err(|e| e.to_string())?;
    plan::plan(&spec, &facts).map_err(|e| e.to_string())
}

/// The words of a command line without quotes.
pub fn words(line: &str, dir: &Path) -> Vec<String> {
    let dir = dir.to_str().expect("test directories are UTF-8");
    line.split_whitespace()
        .map(|word| word.replace("$DIR", dir))
        .collect()
}
