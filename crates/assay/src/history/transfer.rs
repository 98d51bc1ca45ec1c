//! From one history to another.

use anyhow::{Context, bail};
use result::Run;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use store::{About, Entry, Saved, Store};

/// A run with what people said of it.
///
/// Not a `serde_json::Value`, which has no integers of 128 bits.
#[derive(Serialize, Deserialize)]
struct Exported {
    id: i64,
    tags: Vec<String>,
    note: Option<String>,
    host: Option<String>,
    suite: Option<String>,
    run: Run,
}

/// The documents of these runs.
pub fn documents(store: &dyn Store, entries: Vec<Entry>) -> anyhow::Result<String> {
    let with = |entry: Entry| {
        anyhow::Ok(Exported {
            id: entry.id,
            run: store.document(entry.id)?,
            tags: entry.tags,
            note: entry.note,
            host: entry.host,
            suite: entry.suite,
        })
    };
    let list = entries.into_iter().map(with);
    let list = list.collect::<anyhow::Result<Vec<Exported>>>()?;
    Ok(serde_json::to_string_pretty(&list)? + "\n")
}

/// Takes them in; their numbers are new ones here.
pub fn import(store: &mut dyn Store, files: &[PathBuf]) -> anyhow::Result<String> {
    let (mut new, mut known) = (0, 0);
    for path in files {
        let name = || path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(name)?;
        let list: Vec<Exported> = serde_json::from_str(&text).with_context(|| {
            format!(
                "{}: not written by `assay history export --format json`",
                name()
            )
        })?;
        let newer = |one: &&Exported| one.run.schema > result::SCHEMA_VERSION;
        if let Some(one) = list.iter().find(newer) {
            let (found, known) = (one.run.schema, result::SCHEMA_VERSION);
            bail!(
                "{}: run {} has schema {found}, and this program knows up to {known}",
                name(),
                one.id
            );
        }
        for one in list {
            let about = About {
                host: one.host,
                suite: one.suite,
                tags: one.tags,
                note: one.note,
            };
            match store.save(&one.run, &about)? {
                Saved::New(_) => new += 1,
                Saved::Known(_) => known += 1,
            }
        }
    }
    Ok(crate::import::summary((new, known)))
}
