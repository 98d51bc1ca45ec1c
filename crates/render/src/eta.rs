//! How long a run will still take, estimated as fio does from bytes, run times and rates.

/// An estimate of the time left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Eta {
    /// Too early to tell: the first three seconds.
    #[default]
    Unknown,
    /// A job without a measurable end.
    Endless,
    /// Seconds left.
    Seconds(u64),
}

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Not created yet.
    Pending,
    /// Created, laying out files, pre-reading or in its ramp time.
    Preparing,
    /// Doing or verifying I/O.
    Running,
    /// Finishing or gone.
    Ended,
}

/// What the estimate for one job needs to know.
#[derive(Clone, Copy, Debug)]
pub struct JobProgress {
    /// Where it stands.
    pub phase: Phase,
    /// True behind a `stonewall` or `wait_for`: it runs after the others.
    pub walled: bool,
    /// True when nothing says when it ends (a network server, for example).
    pub endless: bool,
    /// Bytes it will move, a following verification included; 0 when unknown.
    pub total_bytes: u64,
    /// Bytes it has moved, all directions.
    pub done_bytes: u64,
    /// Seconds since it started, rounded up.
    pub elapsed_s: u64,
    /// `runtime` in seconds, 0 when unset.
    pub runtime_s: u64,
    /// `time_based`: only the run time ends it.
    pub time_based: bool,
    /// `startdelay` in seconds.
    pub start_delay_s: u64,
    /// Seconds of `ramp_time` that are still to come.
    pub ramp_left_s: u64,
    /// `rate` over all its directions in bytes per second, 0 when unlimited.
    pub rate_bytes_per_s: u64,
    /// Seconds that jobs which have already ended took, by the clock of the run.
    pub ended_s: u64,
}

/// Below this many seconds a run has no estimate.
const FROM_S: u64 = 3;

/// Estimate for one job.
pub fn job_eta(job: &JobProgress) -> Eta {
    if job.endless {
        return Eta::Endless;
    }
    Eta::Seconds(match job.phase {
        Phase::Running => running_eta_s(job),
        Phase::Pending | Phase::Preparing => waiting_eta_s(job),
        Phase::Ended => 0,
    })
}

/// Extrapolates from the share done; a time limit caps it, and alone decides when nothing is done.
fn running_eta_s(job: &JobProgress) -> u64 {
    let ratio = |done: u64, total: u64| match total {
        0 => 0.0,
        total => (done as f64 / total as f64).min(1.0),
    };
    let mut share = ratio(job.done_bytes, job.total_bytes);
    if job.time_based {
        share = share.min(ratio(job.elapsed_s, job.runtime_s));
    }
    let left_s = if share == 0.0 {
        job.runtime_s
    } else {
        ((job.elapsed_s as f64 / share) as u64).saturating_sub(job.elapsed_s)
    };
    if job.runtime_s == 0 {
        return left_s;
    }
    left_s.min((job.runtime_s + job.ended_s).saturating_sub(job.elapsed_s))
}

/// A job that has not begun takes its run time, or its bytes at its rate, whichever is less.
fn waiting_eta_s(job: &JobProgress) -> u64 {
    let by_time = match job.runtime_s {
        0 => 0,
        runtime_s => runtime_s + job.start_delay_s + job.ramp_left_s,
    };
    let by_rate = match job.total_bytes.checked_div(job.rate_bytes_per_s) {
        None => 0,
        Some(seconds) => seconds + job.start_delay_s,
    };
    match (by_time, by_rate) {
        (0, other) | (other, 0) => other,
        (by_time, by_rate) => by_time.min(by_rate),
    }
}

/// Estimate for the run: the slowest job (with `exitall` the fastest), then what stands behind
/// walls, one after the other.
pub fn run_eta(jobs: &[JobProgress], elapsed_s: u64, exitall: bool) -> Eta {
    if elapsed_s < FROM_S {
        return Eta::Unknown;
    }
    let (mut slowest, mut fastest, mut walled) = (0, u64::MAX, 0u64);
    for job in jobs {
        let Eta::Seconds(left_s) = job_eta(job) else {
            if exitall {
                continue;
            }
            return Eta::Endless;
        };
        fastest = fastest.min(left_s);
        if job.walled && job.phase == Phase::Pending {
            walled = walled.saturating_add(left_s);
        } else {
            slowest = slowest.max(left_s);
        }
    }
    match (exitall, fastest) {
        (true, u64::MAX) => Eta::Endless,
        (true, fastest) => Eta::Seconds(fastest),
        (false, _) => Eta::Seconds(slowest.saturating_add(walled)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: JobProgress = JobProgress {
        phase: Phase::Running,
        walled: false,
        endless: false,
        total_bytes: 1000,
        done_bytes: 250,
        elapsed_s: 5,
        runtime_s: 0,
        time_based: false,
        start_delay_s: 0,
        ramp_left_s: 0,
        rate_bytes_per_s: 0,
        ended_s: 0,
    };

    #[test]
    fn a_running_job_extrapolates_and_is_capped_by_its_run_time() {
        assert_eq!(job_eta(&JOB), Eta::Seconds(15));
        assert_eq!(
            job_eta(&JobProgress {
                runtime_s: 12,
                ..JOB
            }),
            Eta::Seconds(7)
        );
        let timed = JobProgress {
            time_based: true,
            runtime_s: 30,
            done_bytes: 9999,
            ..JOB
        };
        assert_eq!(job_eta(&timed), Eta::Seconds(25));
        let idle = JobProgress {
            done_bytes: 0,
            runtime_s: 30,
            ..JOB
        };
        assert_eq!(job_eta(&idle), Eta::Seconds(25));
        assert_eq!(
            job_eta(&JobProgress {
                phase: Phase::Ended,
                ..JOB
            }),
            Eta::Seconds(0)
        );
    }

    #[test]
    fn a_waiting_job_takes_the_lesser_of_time_and_rate() {
        let waiting = JobProgress {
            phase: Phase::Pending,
            ..JOB
        };
        assert_eq!(job_eta(&waiting), Eta::Seconds(0));
        let timed = JobProgress {
            runtime_s: 60,
            start_delay_s: 2,
            ramp_left_s: 5,
            ..waiting
        };
        assert_eq!(job_eta(&timed), Eta::Seconds(67));
        assert_eq!(
            job_eta(&JobProgress {
                rate_bytes_per_s: 100,
                ..timed
            }),
            Eta::Seconds(12)
        );
    }

    #[test]
    fn walls_add_up_and_exitall_takes_the_first() {
        let walled = JobProgress {
            phase: Phase::Pending,
            walled: true,
            runtime_s: 60,
            ..JOB
        };
        let jobs = [JOB, walled, walled];
        assert_eq!(run_eta(&jobs, 2, false), Eta::Unknown);
        assert_eq!(run_eta(&jobs, 5, false), Eta::Seconds(135));
        assert_eq!(run_eta(&jobs, 5, true), Eta::Seconds(15));
        let endless = JobProgress {
            endless: true,
            ..JOB
        };
        assert_eq!(run_eta(&[JOB, endless], 5, false), Eta::Endless);
        assert_eq!(run_eta(&[JOB, endless], 5, true), Eta::Seconds(15));
    }
}
