//! The invocations of `acceptance/invocations.txt`, each in the format it asks for.

use std::fs;
use std::path::Path;

use super::compare::{self, Fixed};
use crate::harness::acceptance::folder;
use crate::harness::command::have_peer;
use crate::harness::{
    Line, LoopDisk, Mounted, Outcome, Scratch, Shrink, Tool, assert_none, fio, place, skip,
};

/// Where the variables of a line point.
struct Places {
    mounted: Mounted,
    disk: LoopDisk,
    work: Scratch,
}

impl Places {
    fn new() -> Result<Self, String> {
        let work = Scratch::new("invocations");
        Ok(Places {
            mounted: Mounted::ext4(2048)?,
            disk: LoopDisk::new(256)?,
            work,
        })
    }

    /// Runs the line with one tool from an empty directory; `--output` files count as stdout.
    fn run(&self, line: &Line, tool: Tool) -> Outcome {
        let (dir, disk) = (self.mounted.path(), self.disk.device());
        place::empty(dir);
        let (jobs, out) = (self.work.path().join("jobs"), self.work.path().join("out"));
        let _ = fs::remove_dir_all(&out);
        fs::create_dir_all(&out).expect("scratch");
        let shrink = Shrink::of(line);
        copy_jobs(
            &folder().join("jobs"),
            &jobs,
            &shrink,
            &[("DISK", disk), ("DIR", dir)],
        );
        let variables = [("DISK", disk), ("DIR", dir), ("JOBS", &jobs), ("OUT", &out)];
        let words = line.words(&shrink, &variables);
        let mut outcome = fio("").args(words).in_dir(dir).with(tool).run();
        if let Ok(report) = fs::read_to_string(out.join("report")) {
            outcome.stdout = report;
        }
        outcome
    }
}

fn copy_jobs(from: &Path, to: &Path, shrink: &Shrink, variables: &[(&str, &Path)]) {
    fs::create_dir_all(to).expect("scratch");
    for entry in fs::read_dir(from).expect("job files") {
        let path = entry.expect("entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy_jobs(&path, &target, shrink, variables);
            continue;
        }
        let mut text = shrink.job_file(&fs::read_to_string(&path).expect("job file"));
        for (name, value) in variables {
            text = text.replace(&format!("${name}"), value.to_str().expect("UTF-8"));
        }
        fs::write(&target, text).expect("scratch");
    }
}

fn findings(places: &Places, line: &Line) -> Vec<String> {
    let here = places.run(line, Tool::Assay);
    if let Some(word) = &line.refused {
        let named = here.code.is_some_and(|code| code != 0) && here.stderr.contains(word.as_str());
        return if named {
            vec![]
        } else {
            vec![format!("not refused by name: {here}")]
        };
    }
    let peer = places.run(line, Tool::Peer);
    let fixed = if line.bounded_by_size() {
        Fixed::Totals
    } else {
        Fixed::Form
    };
    // Job files carry their own run times.
    let by_file = line.words.iter().any(|word| word.starts_with("$JOBS"));
    compare::differences(&peer, &here, if by_file { Fixed::Form } else { fixed })
}

#[test]
fn every_invocation_reports_as_fio_does() {
    if !have_peer("the invocations") {
        return;
    }
    let places = match Places::new() {
        Ok(places) => places,
        Err(why) => return skip("the invocations", &why),
    };
    let mut all = Vec::new();
    for line in Line::read("invocations.txt") {
        let found = findings(&places, &line);
        all.extend(
            found
                .into_iter()
                .map(|text| format!("{}: {text}", line.name)),
        );
    }
    assert_none(&all, "the invocations");
}
