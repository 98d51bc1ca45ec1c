//! Real command lines from `tests/acceptance`, shrunk so that they finish in about a second.

use std::path::{Path, PathBuf};

/// Folder of the command lines and job files.
pub fn folder() -> PathBuf {
    // The manifest is that of `crates/assay`; the lines stand beside these tests.
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/acceptance")
}

/// One line of an acceptance file: `name: words`, or `name (refused WORD): words`.
#[derive(Clone, Debug)]
pub struct Line {
    /// Short name, or the line's number.
    pub name: String,
    /// The word that the refusal must name, where this line cannot run here.
    pub refused: Option<String>,
    /// The words after `fio`, with `$DIR` and the like still in place.
    pub words: Vec<String>,
}

impl Line {
    /// Reads every command line of a file; `#` starts a comment line.
    pub fn read(file: &str) -> Vec<Line> {
        let path = folder().join(file);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{file}: {e}"));
        let lines = text.lines().enumerate();
        lines
            .filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
            .map(|(index, line)| Line::parse(index + 1, line))
            .collect()
    }

    fn parse(number: usize, line: &str) -> Line {
        let (head, command) = match line.strip_prefix("fio ") {
            Some(command) => (format!("line {number}"), command),
            None => {
                let (head, command) = line.split_once(": fio ").expect("`name: fio words`");
                (head.to_owned(), command)
            }
        };
        let (name, refused) = match head.split_once(" (refused ") {
            Some((name, word)) => (name.to_owned(), Some(word.trim_end_matches(')').to_owned())),
            None => (head, None),
        };
        Line {
            name,
            refused,
            words: command.split_whitespace().map(str::to_owned).collect(),
        }
    }

    /// Whether a word sets this option, in any of the dashed spellings.
    pub fn sets(&self, option: &str) -> bool {
        self.words.iter().any(|word| key_value(word).0 == option)
    }

    /// The value of an option given as `key=value`.
    pub fn value(&self, option: &str) -> Option<&str> {
        self.words
            .iter()
            .map(|w| key_value(w))
            .find(|(key, _)| *key == option)?
            .1
    }

    /// Whether size alone ends the job, so that its totals are fixed.
    pub fn bounded_by_size(&self) -> bool {
        !self.sets("time_based") && !self.sets("runtime")
    }

    /// The words with variables filled in and sizes and times shrunk.
    pub fn words(&self, shrink: &Shrink, variables: &[(&str, &Path)]) -> Vec<String> {
        let mut words = shrink.words(&self.words);
        for (name, path) in variables {
            let value = path.to_str().expect("UTF-8");
            for word in &mut words {
                *word = word.replace(&format!("${name}"), value);
            }
        }
        words
    }
}

fn key_value(word: &str) -> (&str, Option<&str>) {
    let bare = word.trim_start_matches('-');
    bare.split_once('=')
        .map_or((bare, None), |(key, value)| (key, Some(value)))
}

/// What sizes and times become.
#[derive(Clone, Debug)]
pub struct Shrink {
    /// Replaces size, filesize and io_size.
    pub size: String,
    /// Replaces runtime, in fio's time grammar.
    pub runtime: String,
}

impl Shrink {
    /// A size that suits the line's block size and number of clones.
    pub fn of(line: &Line) -> Shrink {
        let block_kib = line.value("bs").map_or(4, kib);
        let clones = line
            .value("numjobs")
            .and_then(|n| n.parse().ok())
            .unwrap_or(1);
        let size_mib = (128 * block_kib / 1024).min(256 / clones).max(16);
        // Rates are sampled once per logging interval: let at least two of them pass.
        let runtime = if line.sets("log_avg_msec") {
            "2500ms"
        } else {
            "1s"
        };
        Shrink {
            size: format!("{size_mib}m"),
            runtime: runtime.into(),
        }
    }

    /// Shrinks `--size=1g`, `-size 1g` and, in a job file, `size=1g`.
    pub fn words(&self, words: &[String]) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        for word in words {
            let follows = out
                .last()
                .is_some_and(|last| last.starts_with('-') && !last.contains('='));
            let previous = out
                .last()
                .map(|last| key_value(last).0.to_owned())
                .unwrap_or_default();
            let (key, value) = key_value(word);
            let shrunk = match (value, self.value(key)) {
                (Some(_), Some(small)) => {
                    let dashes = &word[..word.len() - word.trim_start_matches('-').len()];
                    format!("{dashes}{key}={small}")
                }
                (None, _) if follows && !word.starts_with('-') => {
                    self.value(&previous).unwrap_or(word).to_owned()
                }
                _ => word.clone(),
            };
            out.push(shrunk);
        }
        out
    }

    fn value(&self, key: &str) -> Option<&str> {
        match key {
            "size" | "filesize" | "io_size" => Some(&self.size),
            "runtime" => Some(&self.runtime),
            "ramp_time" | "startdelay" => Some("200ms"),
            "offset_increment" => Some("1m"),
            _ => None,
        }
    }

    /// Shrinks the lines of a job file.
    pub fn job_file(&self, text: &str) -> String {
        let one = |line: &str| self.words(&[line.to_owned()]).remove(0);
        text.lines().map(|line| one(line) + "\n").collect()
    }
}

/// KiB of a plain size such as `4k`, `4Mi` or `2300`.
fn kib(size: &str) -> u64 {
    let digits: String = size.chars().take_while(char::is_ascii_digit).collect();
    let number: u64 = digits.parse().expect("a number");
    match size[digits.len()..]
        .chars()
        .next()
        .map(|c| c.to_ascii_lowercase())
    {
        Some('m') => number * 1024,
        Some('k') => number,
        _ => number.div_ceil(1024),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sizes_and_times_shrink() {
        let line = Line::parse(
            1,
            "fio -name=a --size 100G -runtime=60 --bs=4k --thread -iodepth 32",
        );
        let small = Shrink {
            size: "16m".into(),
            runtime: "1s".into(),
        }
        .words(&line.words);
        let want = "-name=a --size 16m -runtime=1s --bs=4k --thread -iodepth 32";
        assert_eq!(small.join(" "), want);
    }

    #[test]
    fn a_line_carries_its_name_and_what_refuses_it() {
        let line = Line::parse(1, "ceph (refused rbd): fio --ioengine=rbd --bs=4Mi");
        assert_eq!(
            (line.name.as_str(), line.refused.as_deref()),
            ("ceph", Some("rbd"))
        );
        assert_eq!(line.value("bs").map(kib), Some(4096));
        assert!(line.bounded_by_size());
    }
}
