//! Signals become orders: the first SIGINT or SIGTERM ends the run, the second ends the process;
//! SIGUSR1 asks for a running report.

use run::Remote;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Exit status of a run ended by a signal.
pub const EXIT_SIGNAL: u8 = 128;

/// Ends the process at the first signal that asks for it, for verbs without a crew: registers of
/// the prefetchers go back first, then `last` says and writes what there is.
pub fn end_at_signal(last: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let ignored = ignored();
    // What `nohup` has made ignored stays so.
    let heeded = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];
    let heeded = heeded
        .iter()
        .filter(|signal| ignored >> (**signal - 1) & 1 == 0);
    let mut signals = Signals::new(heeded)?;
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            if signals.forever().next().is_some() {
                if let Err(error) = memory::prefetch::end_all() {
                    eprintln!("prefetchers stay off: {error}; the next run tries again");
                }
                last();
                std::process::exit(EXIT_SIGNAL.into());
            }
        })?;
    Ok(())
}

/// Signals that this process ignores, a bit each from signal 1 on.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

/// What signals act on.
#[derive(Default)]
pub struct Listener {
    /// Set by the first signal, for phases without a crew.
    pub cancel: AtomicBool,
    /// What gives the terminal back where the process ends at once.
    parting: Mutex<Option<fn()>>,
    crew: Mutex<Option<Remote>>,
}

impl Listener {
    /// Listens until the process ends; `announce` is told the signal before anything else.
    pub fn start(announce: impl Fn(i32) + Send + 'static) -> std::io::Result<Arc<Listener>> {
        let listener = Arc::<Listener>::default();
        let heard = Arc::clone(&listener);
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGUSR1])?;
        std::thread::Builder::new()
            .name("signals".into())
            .spawn(move || {
                for signal in &mut signals {
                    heard.hear(signal, &announce);
                }
            })?;
        Ok(listener)
    }

    /// The crew that runs now.
    pub fn attach(&self, remote: Remote) {
        let mut crew = self.crew.lock().unwrap_or_else(PoisonError::into_inner);
        if self.cancelled() {
            remote.stop(SIGINT);
        }
        *crew = Some(remote);
    }

    /// Has a signal ended the run?
    pub fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Ends the run as the first signal does: a key was pressed.
    pub fn stop(&self) {
        if !self.cancel.swap(true, Ordering::Relaxed) {
            let crew = self.crew.lock().unwrap_or_else(PoisonError::into_inner);
            crew.iter().for_each(|crew| crew.stop(SIGINT));
        }
    }

    /// What to do where a second signal ends the process.
    pub fn on_exit(&self, parting: fn()) {
        *self.parting.lock().unwrap_or_else(PoisonError::into_inner) = Some(parting);
    }

    fn hear(&self, signal: i32, announce: &impl Fn(i32)) {
        let crew = self.crew.lock().unwrap_or_else(PoisonError::into_inner);
        if signal == SIGUSR1 {
            crew.iter().for_each(Remote::report);
            return;
        }
        if self.cancel.swap(true, Ordering::Relaxed) {
            let parting = self.parting.lock().unwrap_or_else(PoisonError::into_inner);
            parting.iter().for_each(|part| part());
            std::process::exit(EXIT_SIGNAL.into());
        }
        announce(signal);
        crew.iter().for_each(|crew| crew.stop(signal));
    }
}
