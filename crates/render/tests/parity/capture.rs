//! One fio run whose terse, JSON+ and normal reports show the same numbers.

use result::{Failure, Run};
use std::process::Command;

/// The three reports of one run, as fio printed them.
pub struct Capture {
    pub name: String,
    pub terse: String,
    pub json: String,
    pub normal: String,
}

impl Capture {
    /// Cuts the output of `--output-format=terse,json+,normal` into its parts.
    pub fn parse(name: &str, text: &str) -> Capture {
        let json_at = text.find("\n{\n").expect("a JSON document") + 1;
        let json_end = json_at + text[json_at..].find("\n}\n").expect("the end of it") + 3;
        let terse: Vec<&str> = text[..json_at]
            .lines()
            .skip_while(|line| !starts_terse(line))
            .collect();
        Capture {
            name: name.to_owned(),
            terse: terse.join("\n") + "\n",
            json: text[json_at..json_end].to_owned(),
            normal: text[json_end..].to_owned(),
        }
    }

    /// Runs fio; `None` when it is not installed.
    pub fn live(name: &str, args: &[&str]) -> Option<Capture> {
        let place = tempfile::tempdir().expect("a temporary directory");
        let output = Command::new("fio")
            .current_dir(place.path())
            .args(args)
            .args(["--output-format=terse,json+,normal", "--eta=never"])
            .output()
            .ok()?;
        let text = String::from_utf8(output.stdout).expect("fio prints text");
        assert!(text.contains("\n{\n"), "{name}: fio printed {text}");
        Some(Capture::parse(name, &text))
    }

    /// The document, with what JSON leaves out read from the normal report.
    pub fn run(&self) -> Run {
        let mut runs = result::import::fio_json(&self.json)
            .unwrap_or_else(|error| panic!("{}: {error}\n{}", self.name, self.json));
        assert_eq!(runs.len(), 1);
        let mut run = runs.remove(0);
        let mut headers = self.normal.lines().filter_map(Header::parse).peekable();
        for job in &mut run.jobs {
            let Some(header) = headers.next_if(|header| header.name == job.name) else {
                continue;
            };
            job.members = header.members;
            job.pid = header.pid;
            if let (Some(failure), Some((source, place))) = (&mut job.failure, header.error) {
                *failure = Failure {
                    source: source.to_owned(),
                    place: place.to_owned(),
                    ..failure.clone()
                };
            }
        }
        assert!(
            headers.next().is_none(),
            "{}: a block without a JSON job",
            self.name
        );
        run
    }
}

/// A number, and what follows it in a terse line: a version string or the name of the job.
fn starts_terse(line: &str) -> bool {
    line.starts_with("2;") || (3..=5).any(|version| line.starts_with(&format!("{version};fio-")))
}

struct Header<'a> {
    name: &'a str,
    members: u32,
    pid: u32,
    error: Option<(&'a str, &'a str)>,
}

impl<'a> Header<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (name, rest) = line.split_once(": (groupid=")?;
        let (_, rest) = rest.split_once(", jobs=")?;
        let (members, rest) = rest.split_once(')')?;
        let (error, rest) = rest.split_once(": pid=")?;
        let (pid, _) = rest.split_once(':')?;
        let error = error.split_once("(file:").and_then(|(_, error)| {
            let (source, error) = error.split_once(", func=")?;
            Some((source, error.split_once(", error=")?.0))
        });
        Some(Header {
            name,
            members: members.parse().ok()?,
            pid: pid.parse().ok()?,
            error,
        })
    }
}
