//! `Disk stats`: one line a device, the members of an array after it.

use crate::import::{Out, scan};
use serde_json::{Map, Value};

/// Lines of the section, those that a terminal cut put together again.
#[derive(Default)]
pub(super) struct DiskLines {
    lines: Vec<(usize, String)>,
}

impl DiskLines {
    /// True when the line belongs to the section.
    pub fn line(&mut self, at: usize, line: &str) -> bool {
        if line.contains(": ios=") {
            self.lines.push((at, line.trim().to_owned()));
            return true;
        }
        match self.lines.last_mut() {
            // Every whole line ends with a share in percent.
            Some((_, cut)) if !cut.ends_with('%') => {
                cut.push_str(line.trim());
                true
            }
            _ => false,
        }
    }

    /// Entries of `disk_util`.
    pub fn trees(&self, out: &mut Out) -> Vec<Value> {
        let mut trees = Vec::new();
        for (at, line) in &self.lines {
            match tree(line) {
                Some(tree) => trees.push(Value::Object(tree)),
                None => out.unreadable(*at, line),
            }
        }
        trees
    }
}

fn tree(line: &str) -> Option<Map<String, Value>> {
    let (name, rest) = line.split_once(": ")?;
    let mut tree = Map::new();
    tree.insert("name".to_owned(), name.trim().into());
    for (prefix, aggregate) in [("", ""), ("aggr_", "aggr")] {
        if scan::after(rest, &format!("{aggregate}ios")).is_none() {
            continue;
        }
        for (key, word) in [
            ("ios", "ios"),
            ("sectors", "sectors"),
            ("merges", "merge"),
            ("ticks", "ticks"),
        ] {
            let Some(text) = scan::after(rest, &format!("{aggregate}{word}")) else {
                // Older versions have no sectors.
                if word == "sectors" {
                    continue;
                }
                return None;
            };
            let [read, write] = scan::list(text, '/')[..] else {
                return None;
            };
            tree.insert(format!("{prefix}read_{key}"), read.into());
            tree.insert(format!("{prefix}write_{key}"), write.into());
        }
        let number = |key: &str| scan::printed(scan::after(rest, &format!("{aggregate}{key}"))?);
        let queue = number("in_queue")?;
        tree.insert(format!("{prefix}in_queue"), (queue.value as u64).into());
        tree.insert(format!("{prefix}util"), number("util")?.value.into());
    }
    Some(tree)
}
