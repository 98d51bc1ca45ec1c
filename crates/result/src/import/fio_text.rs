//! fio's normal reports, 2.x and 3.x, as people paste them.
//!
//! A run begins with a command, a job's description (`name: (g=0): rw=...`) or its header
//! (`name: (groupid=0, jobs=1): err= 0: ...`), whichever of them the text still has. Lines cut by
//! a terminal or read by a scanner are taken as far as they say something; of a line that does
//! not, the line is reported.

mod disks;
mod heading;
mod job;
mod latency;

use super::commands::Command;
use super::{Found, Out, scan};
use crate::LaidOut;
use disks::DiskLines;
use heading::Heading;
use job::JobText;
use serde_json::{Map, Value, json};

const FORMAT: &str = "fio-normal";
/// Lines that say nothing, after which a block that never ended has ended.
const LOST: usize = 8;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Section {
    /// Command, descriptions, progress.
    #[default]
    Opening,
    /// Blocks of jobs.
    Jobs,
    /// `Run status group`.
    Status,
    /// `Disk stats`.
    Disks,
}

/// One run as far as it was read.
#[derive(Default)]
struct Draft {
    first: usize,
    last: usize,
    section: Section,
    command: Option<Command>,
    version: Option<String>,
    headings: Vec<Heading>,
    layouts: Vec<LaidOut>,
    jobs: Vec<JobText>,
    /// Group lines of reports that were cut down to them.
    totals: Vec<(usize, Value, &'static str)>,
    disks: DiskLines,
    interrupted: bool,
    lost: usize,
}

/// Reads one run after the other.
#[derive(Default)]
pub(super) struct Reader {
    draft: Draft,
}

impl Reader {
    /// A command: what follows is its output.
    pub fn command(&mut self, command: &Command, out: &mut Out) {
        let same = self.draft.command.as_ref();
        if same.is_none_or(|known| known.line != command.line) {
            self.end(out);
        }
        if command.program != "fio" {
            return;
        }
        self.draft.first = command.line;
        self.draft.command = Some(command.clone());
        if !command.rest.is_empty() {
            self.line(command.line, &command.rest, out);
        }
    }

    /// True when the line is fio's.
    pub fn line(&mut self, at: usize, line: &str, out: &mut Out) -> bool {
        if let Some(command) = &self.draft.command
            && line.contains(&command.text)
            && !command.rest.is_empty()
        {
            return true;
        }
        if let Some(heading) = Heading::of(line) {
            if self.draft.section != Section::Opening {
                self.end(out);
            }
            self.begin(at);
            if let Some(version) = version(line) {
                self.draft.version = Some(version);
            }
            self.draft.headings.push(heading);
            return true;
        }
        if let Some(job) = JobText::header(at, line, self.draft.command.as_ref()) {
            if matches!(self.draft.section, Section::Status | Section::Disks) {
                self.end(out);
            }
            self.begin(at);
            self.draft.section = Section::Jobs;
            self.draft.jobs.push(job);
            return true;
        }
        if let Some(version) = version(line).filter(|_| line.trim().starts_with("fio-")) {
            if self.draft.section != Section::Opening {
                self.end(out);
            }
            self.begin(at);
            self.draft.version = Some(version);
            return true;
        }
        if line.contains("terminating on signal") {
            self.draft.interrupted = true;
            return true;
        }
        match self.draft.section {
            Section::Opening => self.opening(at, line, out),
            _ if line.trim().is_empty() => true,
            Section::Jobs => self.job_line(at, line, out),
            Section::Status => self.status(at, line, out),
            Section::Disks => {
                let known = self.draft.disks.line(at, line);
                match known {
                    true => self.draft.last = at,
                    false => self.end(out),
                }
                known
            }
        }
    }

    fn begin(&mut self, at: usize) {
        let draft = &mut self.draft;
        if draft.command.is_none() && draft.headings.is_empty() && draft.jobs.is_empty() {
            draft.first = at;
        }
        draft.last = at;
    }

    /// A description and a group line, with nothing between them, are a run all the same.
    fn opening(&mut self, at: usize, line: &str, out: &mut Out) -> bool {
        if let Some(layout) = laid_out(line) {
            self.draft.layouts.push(layout);
            return true;
        }
        let Some((total, name)) = job::group_line(line) else {
            return false;
        };
        if self.draft.headings.is_empty() {
            out.problem(at, "a group's totals without a job in sight");
            return true;
        }
        self.draft.totals.push((at, total, name));
        self.draft.last = at;
        true
    }

    fn job_line(&mut self, at: usize, line: &str, out: &mut Out) -> bool {
        if line.contains("un status group") {
            (self.draft.section, self.draft.last) = (Section::Status, at);
            return true;
        }
        if line.contains("Disk stats (") {
            (self.draft.section, self.draft.last) = (Section::Disks, at);
            return true;
        }
        let Some(job) = self.draft.jobs.last_mut() else {
            return false;
        };
        if job.line(at, line, out) {
            (self.draft.lost, self.draft.last) = (0, at);
            return true;
        }
        self.draft.lost += 1;
        if self.draft.lost >= LOST {
            self.end(out);
            return false;
        }
        // Remains of figures are worth a word; a line of prose is not.
        if line.contains(['=', '[', '%']) {
            out.unreadable(at, line);
        }
        true
    }

    fn status(&mut self, at: usize, line: &str, out: &mut Out) -> bool {
        if line.contains("Disk stats (") {
            (self.draft.section, self.draft.last) = (Section::Disks, at);
            return true;
        }
        if line.contains("un status group") || job::group_line(line).is_some() {
            self.draft.last = at;
            return true;
        }
        self.end(out);
        false
    }

    /// Ends the run at hand, if there is one.
    pub fn end(&mut self, out: &mut Out) {
        let draft = std::mem::take(&mut self.draft);
        if draft.jobs.is_empty() && draft.totals.is_empty() {
            return;
        }
        let (first, last) = (draft.first, draft.last);
        match draft.into_run(out) {
            Ok(run) => out.found.push(Found {
                run,
                first,
                last,
                format: FORMAT,
            }),
            Err(error) => out.problem(first, format!("a fio report: {error}")),
        }
    }
}

impl Draft {
    fn into_run(self, out: &mut Out) -> Result<crate::Run, serde_json::Error> {
        let mut global = Map::new();
        let command = self.command.as_ref();
        for (name, value) in command.map(Command::options).unwrap_or_default() {
            global.insert(name, Value::String(value));
        }
        let mut notes = Vec::new();
        let mut jobs = Vec::new();
        let mut finished = 0;
        for job in &self.jobs {
            let heading = self.headings.iter().find(|h| h.group == job.group);
            finished = finished.max(job.finished_s.unwrap_or(0));
            jobs.push(job.tree(heading, command, &mut notes, out));
        }
        if jobs.is_empty() {
            for (heading, (_, total, direction)) in self.headings.iter().zip(&self.totals) {
                jobs.push(heading.tree(direction, total));
            }
            notes.push("only the description and the totals of the group were there".to_owned());
        }
        let tree = json!({
            "fio version": self.version.unwrap_or_default(),
            "timestamp": finished,
            "global options": global,
            "jobs": jobs,
            "disk_util": self.disks.trees(out),
        });
        let mut run = super::fio_json::run_of(tree)?;
        run.command = self.command.map(|command| command.text);
        run.partial = self.interrupted;
        run.notes = notes;
        run.layouts = self.layouts;
        Ok(run)
    }
}

/// `x: Laying out IO files (16 files / total 4096MiB)`; fio 2 writes `file(s)`, and MB for MiB.
fn laid_out(line: &str) -> Option<LaidOut> {
    let (job, rest) = line.split_once(": Laying out IO file")?;
    let (_, inner) = rest.split_once(" (")?;
    let (files, size) = inner.split_once(" / ")?;
    let size = size.trim_start_matches("total ");
    let digits = size.split_once('M')?.0;
    let mib: u64 = digits.parse().ok()?;
    Some(LaidOut {
        job: job.trim().to_owned(),
        files: files.split_once(' ')?.0.parse().ok()?,
        size_bytes: mib.checked_mul(1 << 20)?,
        ..LaidOut::default()
    })
}

/// `fio-3.16`, wherever a scanner put it.
fn version(line: &str) -> Option<String> {
    let at = line.find("fio-")?;
    let end = line[at..]
        .find(char::is_whitespace)
        .map_or(line.len(), |n| at + n);
    let version = &line[at..end];
    let number = scan::printed(version.strip_prefix("fio-")?)?;
    (number.value >= 1.0).then(|| version.to_owned())
}
