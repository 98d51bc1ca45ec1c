//! The state of a running crew as the status line needs it.

use render::{Eta, JobProgress, Progress, RateLimits, run_eta};
use run::{Phase, View, WorkerView};
use units::{Ddir, PerDdir};

/// Turns views into [`Progress`]; remembers the last one because rates are differences.
#[derive(Default)]
pub struct Meter {
    last_ns: u64,
    ios: PerDdir<u64>,
    bytes: PerDdir<u64>,
    rate_bytes: PerDdir<u64>,
    rate_ios: PerDdir<u64>,
    estimated: bool,
}

/// Rates are taken over at least this long, so that a view shortly after another is no spike.
const RATE_WINDOW_NS: u64 = 250_000_000;

impl Meter {
    /// The progress that a view shows.
    pub fn progress(&mut self, view: &View<'_>) -> Progress {
        self.update_rates(view);
        let elapsed_s = view.elapsed_ns.div_ceil(1_000_000_000);
        let jobs: Vec<JobProgress> = view.workers.iter().map(|w| job_progress(w, view)).collect();
        let exits = view
            .workers
            .iter()
            .any(|w| w.plan.lifecycle.exitall.is_some());
        let eta = run_eta(&jobs, elapsed_s, exits);
        self.estimated |= matches!(eta, Eta::Seconds(left) if left > 0);
        let running = |w: &&WorkerView<'_>| is_running(w.phase);
        let first = view.workers.first().map(|w| &w.plan.reporting);
        Progress {
            states: view.workers.iter().map(letter).collect(),
            running: view.workers.iter().filter(running).count() as u32,
            ramping: view
                .workers
                .iter()
                .filter(|w| w.phase == Phase::Ramp)
                .count() as u32,
            setting_up: 0,
            open_files: view
                .workers
                .iter()
                .filter(running)
                .map(|w| w.plan.targets.len() as u32)
                .sum(),
            limits: limits(view),
            bytes_per_s: self.rate_bytes,
            iops: self.rate_ios,
            elapsed_s,
            eta,
            estimated: self.estimated,
            kb_base: first.map_or(1024, |r| r.kb_base),
            unit_base: first.map_or(0, |r| r.unit_base),
            significant_figures: first.map_or(4, |r| r.significant_figures),
        }
    }

    fn update_rates(&mut self, view: &View<'_>) {
        let window_ns = view.elapsed_ns.saturating_sub(self.last_ns);
        if window_ns < RATE_WINDOW_NS {
            return;
        }
        let sum = |of: &dyn Fn(&WorkerView<'_>) -> PerDdir<u64>| {
            PerDdir::from_fn(|d| view.workers.iter().map(|w| of(w)[d]).sum::<u64>())
        };
        let (ios, bytes) = (sum(&|w| w.ios), sum(&|w| w.bytes));
        let per_s = |now: &PerDdir<u64>, then: &PerDdir<u64>| {
            PerDdir::from_fn(|d| {
                let moved = u128::from(now[d].saturating_sub(then[d]));
                (moved * 1_000_000_000 / u128::from(window_ns)) as u64
            })
        };
        self.rate_bytes = per_s(&bytes, &self.bytes);
        self.rate_ios = per_s(&ios, &self.ios);
        (self.last_ns, self.ios, self.bytes) = (view.elapsed_ns, ios, bytes);
    }
}

fn is_running(phase: Phase) -> bool {
    matches!(
        phase,
        Phase::Ramp | Phase::Running | Phase::Verifying | Phase::Syncing | Phase::Finishing
    )
}

/// The state letter of a worker.
fn letter(worker: &WorkerView<'_>) -> char {
    let uses = |ddir| worker.plan.uses(ddir);
    match worker.phase {
        Phase::Pending => 'P',
        Phase::Created => 'C',
        Phase::Ready => 'I',
        Phase::Ramp => '/',
        Phase::Verifying => 'V',
        Phase::Syncing => 'F',
        Phase::Finishing => 'f',
        Phase::Done => '_',
        Phase::Running => {
            let moves = (uses(Ddir::Read), uses(Ddir::Write), uses(Ddir::Trim));
            let letter = match moves {
                (true, true, _) => 'M',
                (true, false, _) => 'R',
                (false, true, false) => 'W',
                (false, true, true) => 'M',
                (false, false, _) => 'D',
            };
            if worker.plan.requests.direction.is_random() {
                letter.to_ascii_lowercase()
            } else {
                letter
            }
        }
    }
}

fn limits(view: &View<'_>) -> RateLimits {
    let mut limits = RateLimits::default();
    for worker in view.workers.iter().filter(|w| is_running(w.phase)) {
        let pace = &worker.plan.pace;
        for ddir in Ddir::DATA.into_iter().filter(|d| worker.plan.uses(*d)) {
            limits.min_bytes_per_s += pace.rate_min[ddir].unwrap_or(0);
            limits.max_bytes_per_s += pace.rate[ddir].unwrap_or(0);
            limits.min_iops += pace.rate_iops_min[ddir].unwrap_or(0);
            limits.max_iops += pace.rate_iops[ddir].unwrap_or(0);
        }
    }
    limits
}

fn job_progress(worker: &WorkerView<'_>, view: &View<'_>) -> JobProgress {
    let limits = &worker.plan.limits;
    let seconds = |ns: u64| ns.div_ceil(1_000_000_000);
    let passes = if limits.time_based {
        1
    } else {
        limits.loops.max(1)
    };
    let done_bytes: u64 = worker.bytes.0.iter().sum();
    let reads_back = worker
        .plan
        .verify
        .as_ref()
        .is_some_and(|v| v.read_back && !v.only);
    let doubled = if reads_back && worker.plan.uses(Ddir::Write) {
        2
    } else {
        1
    };
    let rate: u64 = worker.plan.pace.rate.0.iter().flatten().sum();
    let ended = view.workers.iter().filter(|w| w.phase == Phase::Done);
    JobProgress {
        phase: match worker.phase {
            Phase::Pending => render::Phase::Pending,
            Phase::Created | Phase::Ready | Phase::Ramp => render::Phase::Preparing,
            Phase::Running | Phase::Verifying => render::Phase::Running,
            Phase::Syncing | Phase::Finishing | Phase::Done => render::Phase::Ended,
        },
        walled: worker.plan.stage > 0 || worker.plan.wait_for.is_some(),
        endless: false,
        total_bytes: limits
            .io_bytes
            .saturating_mul(passes)
            .saturating_mul(doubled),
        done_bytes,
        elapsed_s: seconds(worker.running_ns),
        runtime_s: seconds(limits.runtime_ns),
        time_based: limits.time_based,
        start_delay_s: seconds(limits.start_delay_ns),
        ramp_left_s: seconds(limits.ramp_ns.saturating_sub(worker.running_ns)),
        rate_bytes_per_s: rate,
        ended_s: ended
            .map(|w| w.running_ns / 1_000_000_000)
            .max()
            .unwrap_or(0),
    }
}
