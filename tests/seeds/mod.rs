//! Every command line of `acceptance/seeds.txt` runs, and its report is right.

mod device;

use std::path::Path;

use crate::harness::{
    Fio, Line, Mounted, Scratch, Shrink, assert_none, coherent, fio, place, skip,
};

/// Room for 32 clones of the largest shrunk file.
const DISK_MIB: u64 = 3072;

/// Runs `check` for each line in an empty directory on a file system of its own.
fn for_each_line(test: &str, mut check: impl FnMut(&Line, Fio, Option<&Mounted>) -> Vec<String>) {
    let mounted = Mounted::ext4(DISK_MIB);
    if let Err(why) = &mounted {
        skip(&format!("{test}: the device's own counters"), why);
    }
    let scratch = Scratch::new("seeds");
    let dir = mounted.as_ref().map_or(scratch.path(), Mounted::path);
    let mut findings = Vec::new();
    for line in Line::read("seeds.txt") {
        place::empty(dir);
        let found = check(&line, command(&line, dir), mounted.as_ref().ok());
        findings.extend(
            found
                .into_iter()
                .map(|text| format!("{}: {text}", line.name)),
        );
    }
    assert_none(&findings, test);
}

fn command(line: &Line, dir: &Path) -> Fio {
    fio("")
        .args(line.words(&Shrink::of(line), &[("DIR", dir)]))
        .in_dir(dir)
}

#[test]
fn in_normal_form() {
    for_each_line("seeds in normal form", |_, command, _| {
        let outcome = command.run();
        let mut findings = Vec::new();
        if outcome.code != Some(0) || !outcome.stderr.is_empty() {
            findings.push(outcome.to_string());
        }
        for needle in [
            "err= 0: pid=",
            "Run status group 0 (all jobs):",
            "BW=",
            "issued rwts: total=",
        ] {
            if !outcome.stdout.contains(needle) {
                findings.push(format!("no `{needle}` in the report"));
            }
        }
        findings
    });
}

#[test]
fn in_json_form_and_the_device_agrees() {
    for_each_line("seeds in JSON form", |line, command, mounted| {
        let before = mounted.map(device::Counters::now);
        let outcome = command.arg("--output-format=json+").run();
        if outcome.code != Some(0) || !outcome.stderr.is_empty() {
            return vec![outcome.to_string()];
        }
        let document = outcome.json();
        let mut findings = coherent::incoherences(&document);
        if let (Some(before), Some(mounted)) = (before, mounted)
            && line.value("direct") == Some("1")
        {
            let after = device::Counters::now(mounted);
            findings.extend(device::disagreements(&document, &before, &after));
        }
        findings
    });
}
