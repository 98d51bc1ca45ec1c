//! Signals become orders: the first SIGINT or SIGTERM ends the run, the second ends the process;
//! SIGUSR1 asks for a running report.

use run::Remote;
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Exit status of a run ended by a signal.
pub const EXIT_SIGNAL: u8 = 128;

/// What signals act on.
#[derive(Default)]
pub struct Listener {
    /// Set by the first signal, for phases without a crew.
    pub cancel: AtomicBool,
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

    fn hear(&self, signal: i32, announce: &impl Fn(i32)) {
        let crew = self.crew.lock().unwrap_or_else(PoisonError::into_inner);
        if signal == SIGUSR1 {
            crew.iter().for_each(Remote::report);
            return;
        }
        if self.cancel.swap(true, Ordering::Relaxed) {
            std::process::exit(EXIT_SIGNAL.into());
        }
        announce(signal);
        crew.iter().for_each(|crew| crew.stop(signal));
    }
}
