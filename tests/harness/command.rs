//! Running a tool the way a shell would, and judging how it ended.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Longest a single command may take before it counts as hung.
const HUNG_AFTER: Duration = Duration::from_secs(120);
/// The same for the peer, which is then asked anew: threads of fio 3.33 wait for each other
/// now and then, above all when they are kept from their processor.
const PEER_HUNG_AFTER: Duration = Duration::from_secs(60);
const PEER_TRIES: usize = 3;

/// Which program runs the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// The binary under test, as `assay fio ...`.
    Assay,
    /// The installed fio.
    Peer,
}

impl Tool {
    /// The command that precedes fio's own arguments.
    pub fn command(self) -> Command {
        match self {
            Tool::Assay => {
                let mut command = Command::new(assay_path());
                command.arg("fio");
                command
            }
            Tool::Peer => Command::new("fio"),
        }
    }
}

/// The binary under test; `ASSAY_TEST_BIN` replaces it, which is how the tests are tested.
pub fn assay_path() -> PathBuf {
    std::env::var_os("ASSAY_TEST_BIN")
        .or_else(|| option_env!("CARGO_BIN_EXE_assay").map(OsString::from))
        .map(PathBuf::from)
        .expect("cargo names the binary, or ASSAY_TEST_BIN does")
}

/// Whether a program can be found on `PATH`.
pub fn have(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
}

/// Whether the installed fio can serve as the measure; says so visibly when it cannot.
pub fn have_peer(test: &str) -> bool {
    static HAVE: OnceLock<bool> = OnceLock::new();
    let found = *HAVE.get_or_init(|| have("fio"));
    if !found {
        super::skip(test, "fio is not installed");
    }
    found
}

/// One command line, built word by word.
#[derive(Debug)]
pub struct Fio {
    tool: Tool,
    words: Vec<String>,
    dir: Option<PathBuf>,
    env: Vec<(String, String)>,
    stdin: Option<String>,
}

/// Starts a command line for the binary under test; words are separated by blanks.
pub fn fio(words: &str) -> Fio {
    Fio {
        tool: Tool::Assay,
        words: words.split_whitespace().map(str::to_owned).collect(),
        dir: None,
        env: Vec::new(),
        stdin: None,
    }
}

impl Fio {
    /// Adds one word that may contain blanks.
    pub fn arg(mut self, word: impl AsRef<Path>) -> Self {
        self.words.push(
            word.as_ref()
                .to_str()
                .expect("test paths are UTF-8")
                .to_owned(),
        );
        self
    }

    /// Adds several words.
    pub fn args<S: Into<String>>(mut self, words: impl IntoIterator<Item = S>) -> Self {
        self.words.extend(words.into_iter().map(Into::into));
        self
    }

    /// Runs in this directory.
    pub fn in_dir(mut self, dir: &Path) -> Self {
        self.dir = Some(dir.to_owned());
        self
    }

    /// Sets one environment variable.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Feeds this text to standard input.
    pub fn stdin(mut self, text: &str) -> Self {
        self.stdin = Some(text.to_owned());
        self
    }

    /// Chooses the program.
    pub fn with(mut self, tool: Tool) -> Self {
        self.tool = tool;
        self
    }

    /// Starts the command without waiting for it.
    pub fn spawn(&self) -> Running {
        self.spawn_as(self.tool.command())
    }

    /// Starts the same words behind another command, such as a tracer or a link.
    pub fn spawn_as(&self, mut command: Command) -> Running {
        command
            .args(&self.words)
            .env("XDG_DATA_HOME", super::place::data())
            .env_remove("ASSAY_DB")
            .envs(self.env.iter().map(|(k, v)| (k, v)));
        if let Some(dir) = &self.dir {
            command.current_dir(dir);
        }
        command.stdin(if self.stdin.is_some() {
            Stdio::piped()
        } else {
            Stdio::null()
        });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        // A group of its own, so that nothing of a hung command outlives the test.
        command.process_group(0);
        let mut child = command
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        if let Some(text) = &self.stdin {
            let mut pipe = child.stdin.take().expect("stdin was piped");
            // A tool that refuses early closes the pipe; its exit code tells the rest.
            let _ = pipe.write_all(text.as_bytes());
        }
        Running {
            child,
            line: format!("{:?} {}", self.tool, self.words.join(" ")),
        }
    }

    /// Runs to the end, whatever the end is.
    pub fn run(&self) -> Outcome {
        if self.tool == Tool::Assay {
            return self.spawn().wait();
        }
        (0..PEER_TRIES)
            .find_map(|_| self.spawn().ended_within(PEER_HUNG_AFTER).ok())
            .unwrap_or_else(|| panic!("hung {PEER_TRIES} times: {}", self.words.join(" ")))
    }

    /// Runs and requires what scripts call success: exit 0 and an empty stderr.
    pub fn ok(&self) -> Outcome {
        self.run().expect_ok()
    }

    /// Runs and requires an ordinary failure: a non-zero exit code, not a signal.
    pub fn fails(&self) -> Outcome {
        let outcome = self.run();
        let code = outcome
            .code
            .unwrap_or_else(|| panic!("killed by a signal: {outcome}"));
        assert!(
            code != 0 && code != 101,
            "should have failed cleanly: {outcome}"
        );
        outcome
    }
}

/// A command that has been started.
#[derive(Debug)]
pub struct Running {
    child: Child,
    line: String,
}

impl Running {
    /// Process id of the command.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the end; a command that hangs is killed and fails the test.
    pub fn wait(self) -> Outcome {
        self.ended_within(HUNG_AFTER)
            .unwrap_or_else(|line| panic!("still running after {HUNG_AFTER:?}: {line}"))
    }

    /// The outcome, or the command line of what had to be killed.
    fn ended_within(mut self, limit: Duration) -> Result<Outcome, String> {
        let stdout = collect(self.child.stdout.take().expect("stdout was piped"));
        let stderr = collect(self.child.stderr.take().expect("stderr was piped"));
        let deadline = Instant::now() + limit;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("the child is ours") {
                break status;
            }
            if Instant::now() >= deadline {
                let group = format!("-{}", self.child.id());
                let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
                let _ = self.child.wait();
                return Err(self.line);
            }
            thread::sleep(Duration::from_millis(2));
        };
        Ok(Outcome {
            code: status.code(),
            stdout: stdout.join().expect("reader does not panic"),
            stderr: stderr.join().expect("reader does not panic"),
            line: self.line,
        })
    }
}

fn collect(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).expect("pipes can be read");
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// How a command ended and what it said.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Exit code; `None` when a signal ended the process.
    pub code: Option<i32>,
    /// Everything written to standard output.
    pub stdout: String,
    /// Everything written to standard error.
    pub stderr: String,
    /// The command line, for messages.
    pub line: String,
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Outcome {
            code,
            stdout,
            stderr,
            line,
        } = self;
        let shown: String = stdout.chars().take(2000).collect();
        write!(
            f,
            "{line}\nexit {code:?}\n--- stderr\n{stderr}\n--- stdout\n{shown}"
        )
    }
}

impl Outcome {
    /// Requires exit 0 and an empty stderr.
    pub fn expect_ok(self) -> Self {
        assert!(
            self.code == Some(0) && self.stderr.is_empty(),
            "should have succeeded: {self}"
        );
        self
    }

    /// All JSON documents on stdout, in order.
    pub fn documents(&self) -> Vec<Value> {
        documents(&self.stdout).unwrap_or_else(|error| panic!("bad JSON: {error}\n{self}"))
    }

    /// The only JSON document on stdout, which must begin and end as fio's does.
    pub fn json(&self) -> Value {
        let mut all = self.documents();
        assert_eq!(all.len(), 1, "one JSON document expected: {self}");
        all.remove(0)
    }

    /// The first job of the only document.
    pub fn job(&self) -> Value {
        self.json()["jobs"][0].clone()
    }

    /// The single line of stderr that explains a refusal; it must hold each of `words`.
    pub fn explains(&self, words: &[&str]) -> &Self {
        let lines: Vec<&str> = self
            .stderr
            .lines()
            .filter(|l| !l.trim().is_empty())
            .collect();
        assert_eq!(
            lines.len(),
            1,
            "exactly one line on stderr expected: {self}"
        );
        for word in words {
            assert!(
                lines[0].contains(word),
                "`{word}` missing from the message: {self}"
            );
        }
        self
    }
}

/// Parses concatenated documents; each must start with a line `{` and end with a line `}`.
pub fn documents(text: &str) -> Result<Vec<Value>, String> {
    let mut found = Vec::new();
    let mut current = String::new();
    for line in text.lines() {
        if current.is_empty() && line != "{" {
            if line.trim().is_empty() {
                continue;
            }
            return Err(format!("text outside a document: `{line}`"));
        }
        current.push_str(line);
        current.push('\n');
        if line == "}" {
            found.push(serde_json::from_str(&current).map_err(|e| e.to_string())?);
            current.clear();
        }
    }
    if current.is_empty() {
        Ok(found)
    } else {
        Err("the last document does not end".into())
    }
}
