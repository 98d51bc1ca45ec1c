//! `--showcmd`: jobs as command lines.

use crate::model::Job;
use crate::options::Options;
use option::Kind;

/// What one source of jobs said: the command line, or a job file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Source {
    /// The job file's path as given; `None` for the command line.
    pub(crate) file: Option<String>,
    /// Options for all its jobs.
    pub(crate) globals: Vec<(String, String)>,
    /// Positions of its jobs.
    pub(crate) jobs: Vec<usize>,
}

/// The command line that says what a source said; `None` for a source without jobs.
pub(crate) fn line(source: &Source, jobs: &[Job]) -> Option<String> {
    let mut words = vec!["fio".to_string()];
    let mut globals: &[(String, String)] = &[];
    let own: Vec<&Job> = source.jobs.iter().filter_map(|at| jobs.get(*at)).collect();
    own.first()?;
    for job in own {
        // Only what was added since the last job; --name=global edits the defaults again.
        let fresh = job.global_given.get(globals.len()..).unwrap_or(&[]);
        if !fresh.is_empty() && words.len() > 1 {
            words.push("--name=global".to_string());
        }
        words.extend(fresh.iter().filter(|(name, _)| name != "name").map(word));
        globals = &job.global_given;
        // A section that renames itself is known by that name from here on.
        let name = job.given.iter().rev().find(|(name, _)| name == "name");
        let name = name.map_or(&job.name, |(_, name)| name);
        words.push(word(&("name".to_string(), name.clone())));
        if job.implicit_stonewall {
            words.push("--stonewall".to_string());
        }
        words.extend(
            job.given
                .iter()
                .filter(|(name, _)| name != "name")
                .map(word),
        );
    }
    Some(words.join(" "))
}

/// One option as a shell word.
pub(crate) fn word((name, value): &(String, String)) -> String {
    let text = Options::def(name).is_some_and(|def| def.kind != Kind::Set);
    if value.is_empty() && !text {
        return format!("--{name}");
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,=+%@^".contains(c);
    if value.chars().all(plain) {
        format!("--{name}={value}")
    } else {
        format!("--{name}='{}'", value.replace('\'', "'\\''"))
    }
}
