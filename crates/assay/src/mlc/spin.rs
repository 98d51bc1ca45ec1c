//! Threads that keep sockets awake (`-p`): they spin and touch no memory.

use super::setup::Setup;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// They spin as long as this lives.
pub struct Spinners {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Spinners {
    /// One thread on each CPU of `-p`.
    pub fn start(setup: &Setup) -> anyhow::Result<Spinners> {
        let stop = Arc::<AtomicBool>::default();
        let cpus = setup.flags.spin.iter().flat_map(|list| list.0.iter());
        let mut spinners = Spinners {
            stop: Arc::clone(&stop),
            threads: Vec::new(),
        };
        for &cpu in cpus {
            let stop = Arc::clone(&stop);
            let body = move || {
                // The CPU was checked; one that went offline since spins elsewhere.
                let _ = memory::place::pin(cpu);
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            };
            let named = std::thread::Builder::new().name(format!("spin-{cpu}"));
            spinners.threads.push(named.spawn(body)?);
        }
        Ok(spinners)
    }
}

impl Drop for Spinners {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A spinner has nothing to say.
            let _ = thread.join();
        }
    }
}
