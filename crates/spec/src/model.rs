//! What the user said, typed.

use crate::options::Options;
use crate::place::{Diagnostic, Place};
use crate::switches::Switches;

/// Everything that was said.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The options of the program.
    pub switches: Switches,
    /// The jobs, in the order in which they are set up.
    pub jobs: Vec<Job>,
    /// Options set for all jobs, in order, as reports show them: canonical name, text.
    pub global_given: Vec<(String, String)>,
    /// Notes and warnings; errors never get here.
    pub notes: Vec<Diagnostic>,
    /// One line per source of jobs: the command line, then each job file.
    pub command_lines: Vec<String>,
}

/// One job, before its clones.
#[derive(Clone, Debug)]
pub struct Job {
    /// Name in reports.
    pub name: String,
    /// Section name; differs from `name` where the section sets `name=`. Generated file
    /// names use it.
    pub section: String,
    /// The generic options.
    pub options: Options,
    /// Options that belong to the engine's own table, in order; names are canonical.
    pub engine_options: Vec<Given>,
    /// The job's own options, in order, as reports show them: canonical name, text. Those of
    /// the command line begin with `name`.
    pub given: Vec<(String, String)>,
    /// Options set for all jobs so far.
    pub global_given: Vec<(String, String)>,
    /// Where the job begins.
    pub place: Place,
    /// True for a job from a file.
    pub from_file: bool,
    /// True for the first job of a second or later job file, which waits for all before.
    pub implicit_stonewall: bool,
}

/// An option as it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// Canonical name.
    pub name: String,
    /// The text; `None` for a bare word.
    pub value: Option<String>,
    /// Where it stands.
    pub place: Place,
    /// True when it came from the defaults of all jobs.
    pub inherited: bool,
}
