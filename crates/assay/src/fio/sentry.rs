//! Looks out for files while the load runs: one that asks for a running report, and one that, like
//! a time limit, ends the jobs and runs a command (`--trigger-file`, `--trigger-timeout`).

use run::Remote;
use spec::Switches;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Name of the file that asks for a running report.
const STATUS_FILE: &str = "fio-dump-status";
/// Where it stands: the first of these variables that is set, else `/tmp`.
const TEMPORARY: [&str; 2] = ["TMPDIR", "TEMP"];
/// How often to look.
const LOOK: Duration = Duration::from_millis(100);

/// A thread that looks until it is dismissed.
pub struct Sentry {
    thread: JoinHandle<()>,
    dismissed: Sender<()>,
}

/// What to look for, and what to do then.
struct Watch {
    remote: Remote,
    status_file: Option<PathBuf>,
    trigger_file: Option<PathBuf>,
    trigger_at: Option<Instant>,
    command: Option<String>,
}

impl Sentry {
    /// Looks out from now on, on behalf of the crew behind `remote`.
    pub fn post(switches: &Switches, remote: Remote) -> std::io::Result<Sentry> {
        let after = |span: &units::Span| Instant::now() + Duration::from_nanos(span.ns());
        let mut watch = Watch {
            remote,
            status_file: Some(temporary().join(STATUS_FILE)),
            trigger_file: switches.trigger_file.as_ref().map(PathBuf::from),
            trigger_at: switches.trigger_timeout.as_ref().map(after),
            command: switches.trigger.clone(),
        };
        let (dismissed, orders) = channel::<()>();
        let thread = std::thread::Builder::new()
            .name("sentry".into())
            .spawn(move || {
                while orders.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                    watch.look();
                }
            })?;
        Ok(Sentry { thread, dismissed })
    }

    /// Ends the watch; a command that runs is waited for.
    pub fn dismiss(self) {
        drop(self.dismissed);
        // It does not panic, and if it did, the run would still be whole.
        let _ = self.thread.join();
    }
}

impl Watch {
    fn look(&mut self) {
        if let Some(path) = self.status_file.take_if(|path| path.exists()) {
            // A file that cannot be taken away would ask for ever: it is not looked for again.
            if taken(&path) {
                self.status_file = Some(path);
            }
            self.remote.report();
        }
        let timed = self.trigger_at.is_some_and(|at| Instant::now() >= at);
        let file = self.trigger_file.as_deref();
        if timed || file.is_some_and(|path| path.exists() && taken(path)) {
            (self.trigger_at, self.trigger_file) = (None, None);
            // First, because the command may cut the power.
            self.remote.save_states();
            self.remote.finish();
            self.run();
        }
    }

    fn run(&self) {
        let Some(command) = self.command.as_ref().filter(|text| !text.is_empty()) else {
            return;
        };
        if let Err(error) = Command::new("/bin/sh").args(["-c", command]).status() {
            eprintln!("fio: failed executing {command} trigger: {error}");
        }
    }
}

/// Removes a file that has done its work; says so if it cannot.
fn taken(path: &Path) -> bool {
    match std::fs::remove_file(path) {
        Ok(()) => true,
        Err(error) => {
            eprintln!("fio: failed to unlink {}: {error}", path.display());
            false
        }
    }
}

fn temporary() -> PathBuf {
    let set = TEMPORARY.into_iter().find_map(std::env::var_os);
    set.map_or_else(|| PathBuf::from("/tmp"), PathBuf::from)
}
