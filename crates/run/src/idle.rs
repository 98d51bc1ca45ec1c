//! How idle the CPUs are during a run, measured with balloon threads.
//!
//! One thread per CPU, bound to it, repeats a unit of work. First all of them calibrate: the
//! fastest of ten timings of a thousand units is what a unit costs on that CPU. Then they enter
//! `SCHED_IDLE` and work through the run, getting only the time nobody else wants. Idleness is
//! the work done times the mean cost of a unit, over the length of the run (fio's rule; like
//! there it may exceed 100 % where a CPU runs faster later than it did while calibrating).

use result::CpuIdle;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Timings of one calibration; the fastest counts.
const CALIBRATION_RUNS: u32 = 10;
/// Units of work per timing.
const CALIBRATION_UNITS: u32 = 1000;
/// Bytes that one unit of work writes.
const UNIT_BYTES: usize = 4096;

/// What `--idle-prof` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleMode {
    /// The mean over all CPUs.
    System,
    /// The mean and every CPU.
    PerCpu,
    /// Only the cost of a unit of work; nothing is measured during the run.
    Calibrate,
}

/// Why idleness cannot be measured. One CPU that cannot be watched makes the mean meaningless,
/// so every failure ends the measurement.
#[derive(Debug, thiserror::Error)]
pub enum IdleError {
    /// The CPUs of the process could not be listed.
    #[error("idle profiling: list CPUs: {0}")]
    List(#[source] io::Error),
    /// A thread could not be started.
    #[error("idle profiling: start a thread for CPU {cpu}: {source}")]
    Start {
        /// CPU number.
        cpu: usize,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// A thread could not be bound to its CPU or lowered to the idle class.
    #[error("idle profiling: prepare the thread of CPU {cpu}: {source}")]
    Place {
        /// CPU number.
        cpu: usize,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
}

/// Calibrated threads that fill the idle time of all CPUs until [`IdleProfiler::stop`].
#[derive(Debug)]
pub struct IdleProfiler {
    mode: IdleMode,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<f64>>,
    unit_us: Vec<f64>,
    started: Instant,
}

/// What a balloon thread reports after its calibration: its place and the cost of a unit in
/// microseconds.
type Calibrated = (usize, io::Result<f64>);

impl IdleProfiler {
    /// Calibrates on every CPU that the process may use and starts to measure. Takes a fraction
    /// of a second, so it belongs before the jobs start.
    pub fn start(mode: IdleMode) -> Result<IdleProfiler, IdleError> {
        let cpus = sys::process::affinity().map_err(IdleError::List)?;
        let (stop, begin) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicBool::new(false)),
        );
        let (sender, inbox) = channel();
        let mut threads = Vec::with_capacity(cpus.len());
        for (place, &cpu) in cpus.iter().enumerate() {
            let balloon = Balloon {
                place,
                cpu,
                profiles: mode != IdleMode::Calibrate,
                stop: Arc::clone(&stop),
                begin: Arc::clone(&begin),
                report: sender.clone(),
            };
            let spawned = std::thread::Builder::new()
                .name(format!("idle-{cpu}"))
                .spawn(move || balloon.run());
            match spawned {
                Ok(handle) => threads.push(handle),
                Err(source) => {
                    stop.store(true, Relaxed);
                    release(&begin, &threads);
                    return Err(IdleError::Start { cpu, source });
                }
            }
        }
        let calibrated = collect(&inbox, &cpus);
        stop.store(calibrated.is_err(), Relaxed);
        release(&begin, &threads);
        let started = Instant::now();
        let unit_us = calibrated?;
        Ok(IdleProfiler {
            mode,
            stop,
            threads,
            unit_us,
            started,
        })
    }

    /// Ends the measurement.
    pub fn stop(self) -> CpuIdle {
        self.stop.store(true, Relaxed);
        let spent = self.started.elapsed();
        let units: Vec<f64> = self
            .threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_default())
            .collect();
        summary(self.mode, &self.unit_us, &units, spent)
    }
}

/// Lets the waiting threads go on.
fn release(begin: &AtomicBool, threads: &[JoinHandle<f64>]) {
    begin.store(true, Release);
    threads.iter().for_each(|thread| thread.thread().unpark());
}

/// Calibrations of all CPUs in their order, or the first failure.
fn collect(inbox: &Receiver<Calibrated>, cpus: &[usize]) -> Result<Vec<f64>, IdleError> {
    let mut unit_us = vec![0.0; cpus.len()];
    let mut failure = None;
    for (place, calibration) in inbox.iter().take(cpus.len()) {
        match calibration {
            Ok(us) => unit_us[place] = us,
            Err(source) => {
                failure = Some(IdleError::Place {
                    cpu: cpus[place],
                    source,
                })
            }
        }
    }
    failure.map_or(Ok(unit_us), Err)
}

/// The document's entry from the cost of a unit and the units done on each CPU.
fn summary(mode: IdleMode, unit_us: &[f64], units: &[f64], spent: Duration) -> CpuIdle {
    let n = unit_us.len().max(1) as f64;
    let mean_us = unit_us.iter().sum::<f64>() / n;
    let spread = unit_us.iter().map(|us| (us - mean_us).powi(2)).sum::<f64>();
    let spent_us = spent.as_secs_f64() * 1e6;
    let percent = |units: &f64| {
        if spent_us > 0.0 {
            units * mean_us / spent_us * 100.0
        } else {
            0.0
        }
    };
    let cpus_percent: Vec<f64> = match mode {
        IdleMode::Calibrate => Vec::new(),
        IdleMode::System | IdleMode::PerCpu => units.iter().map(percent).collect(),
    };
    CpuIdle {
        per_cpu: mode == IdleMode::PerCpu,
        system_percent: cpus_percent.iter().fold(0.0, |sum, percent| sum + percent) / n,
        cpus_percent,
        unit_mean_us: mean_us,
        unit_stddev_us: if n > 1.0 {
            (spread / (n - 1.0)).sqrt()
        } else {
            0.0
        },
    }
}

/// What one thread starts from.
struct Balloon {
    place: usize,
    cpu: usize,
    profiles: bool,
    stop: Arc<AtomicBool>,
    begin: Arc<AtomicBool>,
    report: Sender<Calibrated>,
}

impl Balloon {
    /// Calibrates, waits for the others, works until told to stop; the units of work done.
    fn run(self) -> f64 {
        let mut page = [0u8; UNIT_BYTES];
        let never = AtomicBool::new(false);
        let prepared = sys::process::set_affinity(&[self.cpu]).and_then(|()| {
            let us = calibrate(&mut page, &never);
            // Not before: calibration wants the CPU for itself.
            sys::process::set_idle_class().map(|()| us)
        });
        // The starter listens until every thread has reported.
        drop(self.report.send((self.place, prepared)));
        while !self.begin.load(Acquire) {
            std::thread::park();
        }
        if !self.profiles {
            return 0.0;
        }
        let mut done = 0.0;
        let mut turn = 0;
        loop {
            let bytes = unit(&mut page, turn, &self.stop);
            done += bytes as f64 / UNIT_BYTES as f64;
            if bytes < UNIT_BYTES {
                return done;
            }
            turn = turn.wrapping_add(1);
        }
    }
}

/// One unit of work: writes a page, looking at `stop` before each byte as the balloon must.
/// Returns the bytes written before it was stopped.
#[inline(never)]
fn unit(page: &mut [u8; UNIT_BYTES], turn: usize, stop: &AtomicBool) -> usize {
    for at in 0..UNIT_BYTES {
        if stop.load(Relaxed) {
            return at;
        }
        page[(at + turn) % UNIT_BYTES] = at as u8;
        std::hint::black_box(&mut *page);
    }
    UNIT_BYTES
}

/// Microseconds of one unit: the fastest of several timings of many units.
fn calibrate(page: &mut [u8; UNIT_BYTES], never: &AtomicBool) -> f64 {
    let timing = || {
        let before = Instant::now();
        for turn in 0..CALIBRATION_UNITS as usize {
            unit(page, turn, never);
        }
        before.elapsed()
    };
    let fastest = std::iter::repeat_with(timing)
        .take(CALIBRATION_RUNS as usize)
        .min();
    fastest.map_or(0.0, |fastest| {
        fastest.as_secs_f64() * 1e6 / f64::from(CALIBRATION_UNITS)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idleness_is_work_times_mean_cost_over_time() {
        let idle = summary(
            IdleMode::PerCpu,
            &[10.0, 20.0],
            &[50_000.0, 20_000.0],
            Duration::from_secs(1),
        );
        assert!(idle.per_cpu);
        assert_eq!(idle.unit_mean_us, 15.0);
        assert!((idle.unit_stddev_us - 50f64.sqrt()).abs() < 1e-9);
        assert_eq!(idle.cpus_percent, [75.0, 30.0]);
        assert_eq!(idle.system_percent, 52.5);
    }

    #[test]
    fn calibration_alone_measures_no_idleness() {
        let idle = IdleProfiler::start(IdleMode::Calibrate).unwrap().stop();
        assert!(idle.unit_mean_us > 0.0);
        assert_eq!(
            (idle.system_percent.to_bits(), idle.cpus_percent.len()),
            (0, 0)
        );
        let lone = summary(IdleMode::System, &[3.0], &[1.0], Duration::from_micros(6));
        assert_eq!((lone.unit_stddev_us, lone.system_percent), (0.0, 50.0));
    }

    #[test]
    fn every_cpu_is_watched_and_idle_threads_work() {
        let profiler = IdleProfiler::start(IdleMode::PerCpu).unwrap();
        sys::clock::sleep_ns(20_000_000);
        let idle = profiler.stop();
        assert_eq!(
            idle.cpus_percent.len(),
            sys::process::affinity().unwrap().len()
        );
        assert!(
            idle.cpus_percent.iter().all(|percent| *percent >= 0.0),
            "{idle:?}"
        );
    }

    #[test]
    fn a_stopped_unit_tells_how_far_it_came() {
        let mut page = [0; UNIT_BYTES];
        assert_eq!(unit(&mut page, 3, &AtomicBool::new(false)), UNIT_BYTES);
        assert_eq!(unit(&mut page, 3, &AtomicBool::new(true)), 0);
    }
}
