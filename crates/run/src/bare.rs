//! The loop that measures nothing: what a full one is compared with.

use engine::{Engine, Io, Queued};
use std::io;
use sys::process::thread_usage;
use workload::Batch;

/// Requests in flight, submitted and reaped together.
pub const DEPTH: u32 = 32;

/// Issues the requests of `spec`, pass after pass, until `ios` of them are done, and returns the
/// thread's CPU time per request in nanoseconds. Nothing is measured per request. The engine must
/// have been started for at least [`DEPTH`] requests.
///
/// # Errors
/// The engine failed, or a request did not transfer all its bytes.
pub fn cpu_ns_per_io<E: Engine>(
    engine: &mut E,
    spec: &workload::Spec,
    ios: u64,
) -> io::Result<f64> {
    let mut fill = workload::generator(spec).map_err(io::Error::other)?;
    let mut batch = Batch::default();
    let mut lens = [0; DEPTH as usize];
    let before = thread_usage();
    let (mut done, mut short) = (0, 0u64);
    while done < ios {
        for slot in 0..DEPTH {
            while batch.left() == 0 {
                if fill.fill(&mut batch, Batch::CAPACITY) == 0 {
                    fill.restart();
                }
            }
            let at = batch.pos;
            batch.pos += 1;
            let (ddir, len) = (batch.ddir[at], batch.len[at]);
            let io = Io::new(slot, batch.file[at], ddir, batch.offset[at], len);
            lens[slot as usize] = len as i32;
            if engine.queue(io) != Queued::Staged {
                return Err(io::Error::other(format!("{} is not a queue", E::NAME)));
            }
        }
        engine.commit(0)?;
        let mut missing = DEPTH;
        loop {
            missing -= engine.reap(missing, |slot, result| {
                short += u64::from(result != lens[slot as usize])
            });
            if missing == 0 {
                break;
            }
            engine.wait(missing)?;
        }
        done += u64::from(DEPTH);
    }
    if short > 0 {
        return Err(io::Error::other(format!("{short} requests fell short")));
    }
    let cost = thread_usage().since(&before);
    Ok((cost.user_us + cost.system_us) as f64 * 1e3 / done as f64)
}
