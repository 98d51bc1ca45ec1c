//! `exec`: runs a program beside the other jobs.
//!
//! As in fio: the first request starts the program, and the following ones wait, half of the time
//! within a request. When the job ends, the program is asked to end (`SIGTERM`), and after
//! `grace_time` it is killed. Unlike fio, a job without `runtime=` ends with the program, and a
//! program that cannot be started is an error.

use crate::api::{Aside, Caps, Engine, EngineError, Io, Job, Queued, Setup};
use std::fs::File as Output;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use sys::clock::monotonic_ns;
use sys::file::File;
use sys::pages::Pool;

const EIO: i32 = 5;
/// Length of a request, and of the pause after it.
const WAIT_NS: u64 = 50_000_000;
/// How often an ending program is looked at.
const LOOK: Duration = Duration::from_millis(5);

option::options! {
    /// exec
    pub struct Options {
        /// Program to run; must be given.
        program: String;
        /// Its arguments, separated by blanks; %r stands for the runtime in seconds and %n for
        /// the job's name.
        arguments: String;
        /// Seconds between asking the program to end and killing it.
        grace_time: u32 = "1";
        /// Write the program's output to NAME.stdout and NAME.stderr.
        std_redirect: bool = "1";
    }
}

impl Options {
    fn arguments(&self, name: &str, runtime_ns: u64) -> String {
        let seconds = (runtime_ns / 1_000_000_000).to_string();
        self.arguments.replace("%r", &seconds).replace("%n", name)
    }
}

fn outputs(name: &str) -> [String; 2] {
    ["stdout", "stderr"].map(|stream| format!("{name}.{stream}"))
}

/// The engine.
#[derive(Debug)]
pub struct Exec {
    pool: Pool,
    program: PathBuf,
    command: Command,
    /// Where the program's output goes, if not where this program's goes.
    outputs: Option<[String; 2]>,
    child: Option<Child>,
    grace: Duration,
    ends_with_child: bool,
    begin_ns: u64,
    end_ns: u64,
    aside: Aside,
}

impl Exec {
    fn launch(&mut self) -> io::Result<()> {
        if let Some([stdout, stderr]) = &self.outputs {
            self.command
                .stdout(Output::create(stdout)?)
                .stderr(Output::create(stderr)?);
        }
        self.child = Some(self.command.spawn()?);
        Ok(())
    }

    fn over(&mut self) -> bool {
        let child = self.child.as_mut();
        child.is_some_and(|child| !matches!(child.try_wait(), Ok(None)))
    }
}

impl Engine for Exec {
    type Options = Options;
    const NAME: &'static str = "exec";
    const HELP: &'static str = "Runs a program beside the other jobs";
    const CAPS: Caps = Caps {
        sync: true,
        diskless: true,
        fake: true,
        no_io: true,
        ..Caps::NONE
    };

    fn start(setup: Setup<'_, Options>) -> Result<Self, EngineError> {
        let (options, job) = (setup.options, setup.job);
        let arguments = options.arguments(job.name, job.runtime_ns);
        // fio splits both at blanks, without a shell.
        let mut words = options.program.split(' ').chain(arguments.split(' '));
        let mut words = words.by_ref().filter(|word| !word.is_empty());
        let Some(program) = words.next().filter(|_| !options.program.is_empty()) else {
            return Err(EngineError::Unsupported {
                engine: Self::NAME,
                what: "program= must say what to run".into(),
            });
        };
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::null());
        Ok(Exec {
            pool: setup.pool,
            program: program.into(),
            command,
            outputs: options.std_redirect.then(|| outputs(job.name)),
            child: None,
            grace: Duration::from_secs(options.grace_time.into()),
            ends_with_child: job.runtime_ns == 0,
            begin_ns: 0,
            end_ns: 0,
            aside: Aside::End,
        })
    }

    fn queue(&mut self, _io: Io) -> Queued {
        let now_ns = monotonic_ns();
        if self.child.is_none() {
            let result = match self.launch() {
                Ok(()) => 0,
                Err(error) => -error.raw_os_error().unwrap_or(EIO),
            };
            let ns = monotonic_ns() - now_ns;
            self.aside = Aside::Timed { result, ns };
            self.begin_ns = now_ns + ns + WAIT_NS;
            self.end_ns = self.begin_ns + WAIT_NS;
            return Queued::Aside;
        }
        if self.ends_with_child && self.over() {
            self.aside = Aside::End;
            return Queued::Aside;
        }
        if now_ns < self.end_ns {
            let left = Duration::from_nanos(self.end_ns - now_ns);
            let look_again = if self.ends_with_child { LOOK } else { left };
            std::thread::park_timeout(left.min(look_again));
            return Queued::Full;
        }
        let ns = now_ns - self.begin_ns;
        self.aside = Aside::Timed { result: 0, ns };
        self.begin_ns = now_ns + WAIT_NS;
        self.end_ns = self.begin_ns + WAIT_NS;
        Queued::Aside
    }

    fn slot(&self, slot: u32) -> &[u8] {
        self.pool.slot(slot)
    }

    fn slot_mut(&mut self, slot: u32) -> &mut [u8] {
        self.pool.slot_mut(slot)
    }

    fn files(&self) -> &[File] {
        &[]
    }

    fn aside(&mut self) -> Aside {
        self.aside
    }

    fn path(&self, _file: u16) -> Option<&Path> {
        Some(&self.program)
    }

    fn opening(options: &Options, job: &Job<'_>) -> Vec<String> {
        let Options {
            program, arguments, ..
        } = options;
        let (name, expanded) = (job.name, options.arguments(job.name, job.runtime_ns));
        let [stdout, stderr] = outputs(name);
        vec![
            format!("{name} : program={program}, arguments={arguments}"),
            if options.std_redirect {
                format!(
                    "{name} : Saving output of {program} {expanded} : stdout={stdout} \
                     stderr={stderr}"
                )
            } else {
                format!("{name} : Running {program} {expanded}")
            },
        ]
    }
}

impl Drop for Exec {
    fn drop(&mut self) {
        let grace = self.grace;
        let Some(child) = &mut self.child else { return };
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        // A program that cannot be signalled has ended.
        let _ = sys::process::terminate(child);
        let mut waited = Duration::ZERO;
        while waited < grace && matches!(child.try_wait(), Ok(None)) {
            std::thread::sleep(LOOK);
            waited += LOOK;
        }
        let _ = child.kill();
        let _ = child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sys::pages::Kind;
    use units::Ddir;

    fn start(program: &str, arguments: &str, runtime_ns: u64) -> Result<Exec, EngineError> {
        let options = Options {
            program: program.into(),
            arguments: arguments.into(),
            grace_time: 20,
            std_redirect: false,
        };
        let pool = Pool::new(1, 4096, 4096, &Kind::Anonymous, false).unwrap();
        let job = Job {
            name: "j",
            runtime_ns,
            ..Job::default()
        };
        Exec::start(Setup {
            job,
            ..Setup::plain(&options, 1, vec![], pool)
        })
    }

    /// Asks until there is an answer.
    fn answer(engine: &mut Exec) -> Aside {
        loop {
            if engine.queue(Io::new(0, 0, Ddir::Read, 0, 4096)) == Queued::Aside {
                return engine.aside();
            }
        }
    }

    #[test]
    fn without_a_runtime_the_program_decides() {
        let mut engine = start("true", "", 0).unwrap();
        assert!(matches!(
            answer(&mut engine),
            Aside::Timed { result: 0, .. }
        ));
        while answer(&mut engine) != Aside::End {}
    }

    #[test]
    fn a_program_is_asked_to_end() {
        let dir = tempfile::tempdir().unwrap();
        let (ready, gone) = (dir.path().join("ready"), dir.path().join("gone"));
        let script = dir.path().join("script");
        let text = format!(
            "trap 'touch {}; exit' TERM\ntouch {}\nwhile :; do sleep 0.01; done\n",
            gone.display(),
            ready.display()
        );
        std::fs::write(&script, text).unwrap();
        let mut engine = start("sh", script.to_str().unwrap(), 1).unwrap();
        assert!(matches!(
            answer(&mut engine),
            Aside::Timed { result: 0, .. }
        ));
        while !ready.exists() {
            std::thread::sleep(LOOK);
        }
        assert!(matches!(
            answer(&mut engine),
            Aside::Timed { result: 0, .. }
        ));
        drop(engine);
        assert!(gone.exists());
    }

    #[test]
    fn what_cannot_be_run_is_told() {
        assert!(
            start("", "x", 0)
                .unwrap_err()
                .to_string()
                .contains("program=")
        );
        let mut engine = start("/no/such/program", "", 0).unwrap();
        assert!(matches!(
            answer(&mut engine),
            Aside::Timed { result: -2, .. }
        ));
        assert_eq!(engine.path(0), Some(Path::new("/no/such/program")));
    }

    #[test]
    fn variables_are_replaced() {
        let options = Options {
            program: "p".into(),
            arguments: "%n -t %r%%r".into(),
            ..Options::default()
        };
        let job = Job {
            name: "j",
            runtime_ns: 7_900_000_000,
            ..Job::default()
        };
        let want = [
            "j : program=p, arguments=%n -t %r%%r",
            "j : Saving output of p j -t 7%7 : stdout=j.stdout stderr=j.stderr",
        ];
        assert_eq!(Exec::opening(&options, &job), want);
    }
}
