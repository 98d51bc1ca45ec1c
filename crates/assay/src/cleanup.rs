//! `assay cleanup`: what killed runs have left, listed and removed.

use host::Root;
use plan::journal::{self, Item, Leftover, Undone};
use std::process::ExitCode;

/// What to do with it.
#[derive(clap::Args)]
pub struct Arguments {
    /// Only say what would be removed
    #[arg(long)]
    list: bool,
}

/// Lists, and without `--list` removes.
pub fn main(arguments: &Arguments) -> ExitCode {
    let left = journal::leftovers(&Root::default(), &journal::directory());
    let mut kept = false;
    let mut lines = 0;
    for run in &left {
        let told = if arguments.list {
            listed(run)
        } else {
            let done = run.undo();
            kept |= done.iter().any(|one| matches!(one, Undone::Kept(..)));
            done.iter().map(line).collect()
        };
        if !told.is_empty() {
            println!("run of process {}, {}", run.pid, date(run));
        }
        told.iter().for_each(|line| println!("  {line}"));
        lines += told.len();
    }
    if lines == 0 {
        println!("no run has left anything");
    }
    ExitCode::from(u8::from(kept))
}

fn date(run: &Leftover) -> String {
    jiff::Timestamp::try_from(run.since).map_or_else(
        |_| "at an unknown time".to_owned(),
        |at| {
            let local = at.to_zoned(jiff::tz::TimeZone::system());
            local.strftime("%Y-%m-%d %H:%M:%S").to_string()
        },
    )
}

fn listed(run: &Leftover) -> Vec<String> {
    let line = |item: &Item| match item {
        Item::File(path) => format!("file {}", path.display()),
        Item::Directory(path) => format!("directory {}", path.display()),
        Item::Extended {
            path, from_bytes, ..
        } => format!("{} to be cut to {from_bytes} bytes", path.display()),
    };
    run.present().map(line).collect()
}

fn line(done: &Undone) -> String {
    match done {
        Undone::Removed(path, None) => format!("removed {}", path.display()),
        Undone::Removed(path, Some(size)) => {
            format!("removed {} ({} MiB)", path.display(), size >> 20)
        }
        Undone::Cut(path, size) => format!("cut {} to {size} bytes", path.display()),
        Undone::Kept(path, why) => format!("kept {}: {why}", path.display()),
    }
}
