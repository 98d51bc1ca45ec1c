//! `assay inspect`: the host as evidence.

use anyhow::bail;
use host::picture::{self, Depth, Scope};
use serde_json::Value;
use std::path::PathBuf;
use std::process::ExitCode;

/// What to look at, and how to show it.
#[derive(clap::Args)]
pub struct Arguments {
    /// Files, directories or devices; all disks when none is given
    paths: Vec<PathBuf>,
    /// One JSON object instead of the tree
    #[arg(long)]
    json: bool,
}

/// Shows the picture.
pub fn main(arguments: &Arguments) -> ExitCode {
    match show(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("assay inspect: {error:#}");
            ExitCode::from(1)
        }
    }
}

fn show(arguments: &Arguments) -> anyhow::Result<()> {
    if let Some(missing) = arguments.paths.iter().find(|path| !path.exists()) {
        bail!("{}: no such file or device", missing.display());
    }
    let facts = host::Facts::read(&host::Root::default())?;
    let scope = match arguments.paths.as_slice() {
        [] => Scope::Everything,
        paths => Scope::Paths(paths),
    };
    let host = picture::take(&facts, scope, Depth::Content);
    if arguments.json {
        let tree = known(serde_json::to_value(&host)?);
        println!("{}", serde_json::to_string_pretty(&tree)?);
    } else {
        print!("{}", render::inspect(&host));
    }
    Ok(())
}

/// The same tree without what is not known.
fn known(value: Value) -> Value {
    match value {
        Value::Object(map) => map
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key, known(value)))
            .collect(),
        Value::Array(list) => list.into_iter().map(known).collect(),
        other => other,
    }
}
