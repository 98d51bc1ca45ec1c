//! Command lines in transcripts: behind prompts, after `sudo`, wrapped by the terminal.

use super::scan;

/// A command whose output may follow.
#[derive(Clone, Debug, Default)]
pub(super) struct Command {
    /// Line it begins on, from 0.
    pub line: usize,
    /// `fio`, `dd` or `mlc`.
    pub program: &'static str,
    /// The command without the prompt, as typed.
    pub text: String,
    /// What stood on the same line and belongs to the output.
    pub rest: String,
}

impl Command {
    /// The value of `--name=value`, `-name=value`, `--name value` or `name=value`; the last
    /// counts.
    pub fn value(&self, name: &str) -> Option<String> {
        self.options()
            .into_iter()
            .rev()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value)
    }

    /// Names and values in order; a bare word has an empty value.
    pub fn options(&self) -> Vec<(String, String)> {
        let words = scan::words(&self.text);
        let mut options: Vec<(String, String)> = Vec::new();
        let mut words = words.iter().skip(1).peekable();
        while let Some(word) = words.next() {
            if word.starts_with('#') {
                break;
            }
            let bare = word.trim_start_matches('-');
            if bare.len() == word.len() && self.program == "fio" {
                continue;
            }
            let (name, value) = match bare.split_once('=') {
                Some((name, value)) => (name, value.to_owned()),
                // `--name value`: fio's getopt takes the next word.
                None => match words.next_if(|next| !next.starts_with(['-', '#'])) {
                    Some(next) if self.program == "fio" => (bare, next.clone()),
                    _ => (bare, String::new()),
                },
            };
            options.push((name.to_owned(), value));
        }
        options
    }
}

/// Finds commands, and joins the next line where a line was cut.
#[derive(Default)]
pub(super) struct Commands {
    open: Option<Command>,
    /// Columns of the last piece.
    width: usize,
    /// Line that would continue it.
    next: usize,
}

/// Lines shorter than this were not cut by a terminal.
const TERMINAL: usize = 70;

impl Commands {
    /// The command that `line` begins or completes.
    pub fn take(&mut self, at: usize, line: &str) -> Option<Command> {
        if let Some(open) = self.open.take_if(|_| self.next == at)
            && let Some(whole) = continued(&open, self.width, line)
        {
            return Some(self.keep(at, line, whole));
        }
        self.open = None;
        let (program, text) = command_in(line)?;
        let command = split_output(Command {
            line: at,
            program,
            text: text.to_owned(),
            rest: String::new(),
        });
        Some(self.keep(at, line, command))
    }

    fn keep(&mut self, at: usize, line: &str, command: Command) -> Command {
        self.width = line.chars().count();
        self.next = at + 1;
        self.open = command.rest.is_empty().then(|| command.clone());
        command
    }
}

fn continued(open: &Command, width: usize, line: &str) -> Option<Command> {
    let piece = line.trim_end();
    if let Some(head) = open.text.strip_suffix('\\') {
        let text = format!("{} {}", head.trim_end(), piece.trim_start());
        return Some(Command {
            text,
            ..open.clone()
        });
    }
    let first = piece.split_whitespace().next()?;
    let option = first.contains('=') || first.starts_with('-');
    let output = first.ends_with(':') || piece.contains(": (") || piece.starts_with("fio-");
    if output || !option && !piece.contains(" --") {
        return None;
    }
    let bare = open.text == open.program;
    if bare && first.starts_with('-') {
        let text = format!("{} {}", open.text, piece.trim_start());
        return Some(Command {
            text,
            ..open.clone()
        });
    }
    let cut = width >= TERMINAL && !line.starts_with(' ') && command_in(line).is_none();
    cut.then(|| Command {
        text: format!("{}{piece}", open.text),
        ..open.clone()
    })
}

/// Output that stands behind the command on its own line.
fn split_output(mut command: Command) -> Command {
    if let Some(at) = command.text.find(": (g=") {
        let start = command.text[..at].rfind(' ').map_or(0, |space| space + 1);
        command.rest = command.text.split_off(start);
        command.text.truncate(command.text.trim_end().len());
    }
    command
}

/// The program and the command from its name on, if the line runs one of ours.
fn command_in(line: &str) -> Option<(&'static str, &str)> {
    for program in ["fio", "dd", "mlc"] {
        let mut from = 0;
        while let Some(found) = line[from..].find(program) {
            let (at, end) = (from + found, from + found + program.len());
            from = end;
            let before = &line[..at];
            let starts = before
                .chars()
                .next_back()
                .is_none_or(|c| c.is_whitespace() || c == '/');
            let after = &line[end..];
            if starts && prompt(before) && runs(program, after) {
                return Some((program, line[at..].trim_end()));
            }
        }
    }
    None
}

/// Nothing, a path, `sudo` or a prompt may stand before a command; prose may not.
fn prompt(before: &str) -> bool {
    let before = before.trim_end_matches(|c: char| !c.is_whitespace());
    let mut before = before.trim_end();
    while let Some(shorter) = ["sudo", "time", "nice"]
        .iter()
        .find_map(|word| before.strip_suffix(word))
    {
        before = shorter.trim_end();
    }
    before.is_empty() || before.ends_with(['#', '$', '>', '%', '|'])
}

fn runs(program: &str, after: &str) -> bool {
    let words: Vec<&str> = after.split_whitespace().collect();
    match program {
        "fio" => match words.first() {
            None => after.trim().is_empty(),
            Some(first) => {
                after.starts_with([' ', '\t'])
                    && (first.starts_with('-') || words.iter().any(|word| word.ends_with(".fio")))
            }
        },
        "dd" => words
            .iter()
            .any(|word| word.starts_with("if=") || word.starts_with("of=")),
        _ => words.first().is_none_or(|word| word.starts_with('-')) && !after.starts_with(':'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(lines: &[&str]) -> Vec<String> {
        let mut commands = Commands::default();
        let mut found: Vec<Command> = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            if let Some(command) = commands.take(at, line) {
                found.retain(|known| known.line != command.line);
                found.push(command);
            }
        }
        found.into_iter().map(|command| command.text).collect()
    }

    #[test]
    fn behind_prompts() {
        for line in [
            "fio --name=a",
            "# fio --name=a",
            "$ fio --name=a",
            "(base) [ec2-user@ip iops]$ fio --name=a",
            "user@HOST:~$ sudo fio --name=a",
            "sudo /usr/bin/fio --name=a",
        ] {
            assert_eq!(all(&[line]), ["fio --name=a"], "{line}");
        }
        assert_eq!(all(&["we ran fio --name=a", "bench method: fio"]), [""; 0]);
        assert_eq!(all(&["the dd if=x tests"]), [""; 0]);
    }

    #[test]
    fn cut_lines() {
        let first =
            "# fio --directory=/data/ec2-user/iops --name fio_test_file --direct=1 --rw=w --t";
        let whole = all(&[first, "ime_based --runtime=180"]);
        assert!(
            whole[0].ends_with("--rw=w --time_based --runtime=180"),
            "{whole:?}"
        );
        assert_eq!(
            all(&["u:~$ sudo fio", "     --name=a --bs=4k"]),
            ["fio --name=a --bs=4k"]
        );
        assert_eq!(
            all(&["fio --name=a \\", "  --rw=read"]),
            ["fio --name=a --rw=read"]
        );
        assert_eq!(all(&["fio --name=a", "fio --name=b"]).len(), 2);
    }

    #[test]
    fn output_on_the_same_line() {
        let mut commands = Commands::default();
        let command = commands
            .take(0, "$ fio --name=a --numjobs=1 a: (g=0): rw=read, bs=4K-4K")
            .expect("a command");
        assert_eq!(command.text, "fio --name=a --numjobs=1");
        assert_eq!(command.rest, "a: (g=0): rw=read, bs=4K-4K");
        assert_eq!(command.value("numjobs").as_deref(), Some("1"));
    }

    #[test]
    fn values() {
        let command = Command {
            program: "fio",
            text: "fio --name a --direct=1 --group_reporting -rw=read # remark".to_owned(),
            ..Command::default()
        };
        assert_eq!(command.value("name").as_deref(), Some("a"));
        assert_eq!(command.value("rw").as_deref(), Some("read"));
        assert_eq!(command.value("group_reporting").as_deref(), Some(""));
        assert_eq!(command.options().len(), 4);
    }
}
