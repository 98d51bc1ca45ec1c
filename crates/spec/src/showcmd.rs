//! `--showcmd`: jobs as command lines.

use crate::model::Job;

/// What one source of jobs said: the command line, or a job file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Source {
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
        words.extend(fresh.iter().map(word));
        globals = &job.global_given;
        if job.from_file {
            words.push(word(&("name".to_string(), job.section.clone())));
        }
        if job.implicit_stonewall {
            words.push("--stonewall".to_string());
        }
        let mut given = job.given.iter();
        if job.from_file {
            // `name=` inside a section renames the report, which --name cannot say twice.
            words.extend(given.filter(|(name, _)| name != "name").map(word));
        } else {
            words.extend(given.by_ref().map(word));
        }
    }
    Some(words.join(" "))
}

/// One option as a shell word.
pub(crate) fn word((name, value): &(String, String)) -> String {
    if value.is_empty() {
        return format!("--{name}");
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,=+%@^".contains(c);
    if value.chars().all(plain) {
        format!("--{name}={value}")
    } else {
        format!("--{name}='{}'", value.replace('\'', "'\\''"))
    }
}
