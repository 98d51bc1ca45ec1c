//! The line that names a job and what it was asked for.

use crate::import::commands::Command;
use crate::import::scan;
use serde_json::{Map, Value, json};

/// `name: (g=0): rw=randwrite, bs=64K-64K/..., ioengine=psync, iodepth=1`.
#[derive(Clone, Debug)]
pub(super) struct Heading {
    pub group: u64,
    name: String,
    options: Vec<(&'static str, String)>,
    /// Block size of reads, writes and trims where it does not vary.
    pub(super) block_bytes: [Option<f64>; 3],
}

impl Heading {
    pub fn of(line: &str) -> Option<Self> {
        let (before, after) = line.split_once(": (g=")?;
        let (group, settings) = after.split_once("): ")?;
        let name = before.rsplit(' ').next().unwrap_or(before);
        let mut options = Vec::new();
        for key in ["rw", "ioengine", "iodepth"] {
            if let Some(value) = scan::after(settings, key) {
                let end = value
                    .find(|c: char| c == ',' || c.is_whitespace())
                    .unwrap_or(value.len());
                options.push((key, value[..end].to_owned()));
            }
        }
        let sizes = scan::after(settings, "bs").unwrap_or_default();
        let sizes = sizes.split(", ioengine").next().unwrap_or(sizes);
        Some(Heading {
            group: group.trim().parse().ok()?,
            name: name.to_owned(),
            options,
            block_bytes: block_sizes(sizes),
        })
    }

    pub(super) fn options(&self, command: Option<&Command>) -> Map<String, Value> {
        let typed = |key: &str| command.is_some_and(|command| command.value(key).is_some());
        let mut options = Map::new();
        for (key, value) in &self.options {
            if !typed(key) {
                options.insert((*key).to_owned(), json!(value));
            }
        }
        let [read, write, trim] = self.block_bytes;
        if let Some(bytes) = read.filter(|_| read == write && read == trim && !typed("bs")) {
            options.insert("bs".to_owned(), json!(format!("{bytes}")));
        }
        options
    }

    /// A job of which only its group's total is left.
    pub fn tree(&self, direction: &str, total: &Value) -> Value {
        json!({
            "jobname": self.name,
            "groupid": self.group,
            "job options": self.options(None),
            "job_runtime": total["runtime"],
            direction: total,
        })
    }
}

/// `64K-64K/64K-64K/64K-64K` or `(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B`.
fn block_sizes(text: &str) -> [Option<f64>; 3] {
    let new = text.starts_with("(R)");
    let parts: Vec<&str> = match new {
        true => text.split(", ").collect(),
        false => text.split('/').collect(),
    };
    std::array::from_fn(|i| {
        let range = parts
            .get(i)?
            .trim_start_matches(['(', 'R', 'W', 'T', ')', ' ']);
        let (low, high) = range.split_once('-')?;
        let size = |text: &str| {
            let size = scan::printed(text)?;
            let unit = size.unit.trim_end_matches('B').to_owned() + "B";
            Some(size.value * scan::byte_unit(&unit, 1024.0)?)
        };
        let (low, high) = (size(low)?, size(high)?);
        (low == high).then_some(low)
    })
}
