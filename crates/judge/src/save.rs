//! How long moving an amount of data takes at the speed of a run.

use crate::compare::batch_means;
use result::series::{Quantity, Second, Series};
use result::{Run, TimeToSave};
use units::Ddir;

/// The time, with the ends of the 95 % interval of the run's mean speed; `None` where nothing
/// moved. Writes count where there are any: saving is writing.
pub fn time_to_save(run: &Run, bytes: u64) -> Option<TimeToSave> {
    let writes = run
        .jobs
        .iter()
        .any(|job| job.dirs[Ddir::Write].bytes_per_s() > 0.0);
    let ddir = if writes { Ddir::Write } else { Ddir::Read };
    let dirs = || run.jobs.iter().map(|job| &job.dirs[ddir]);
    let counted: u64 = dirs().map(|dir| dir.bytes).sum();
    let longest = dirs().map(|dir| dir.runtime_ms).max().unwrap_or(0);
    let rate = match (counted, longest) {
        (0, _) | (_, 0) => dirs().map(result::Direction::bytes_per_s).sum(),
        _ => counted as f64 * 1000.0 / longest as f64,
    };
    if rate <= 0.0 {
        return None;
    }
    let likely_s = bytes as f64 / rate;
    // The interval is one of I/Os or bytes, whichever was recorded, as a share of its mean.
    let share = interval(run, ddir).unwrap_or(0.0).min(0.99);
    Some(TimeToSave {
        bytes,
        likely_s,
        least_s: likely_s / (1.0 + share),
        most_s: likely_s / (1.0 - share),
    })
}

/// Half the interval of the mean speed, as a share of it.
fn interval(run: &Run, ddir: Ddir) -> Option<f64> {
    let rate = |series: &&Series| {
        series.ddir == ddir && matches!(series.quantity, Quantity::Iops | Quantity::Bandwidth)
    };
    let rates = run
        .jobs
        .iter()
        .filter_map(|job| job.series.iter().find(rate));
    let points: Vec<f64> = Series::total(rates)?.points().map(Second::mean).collect();
    let inner = points.get(1..points.len().saturating_sub(1))?;
    let interval = batch_means(inner)?;
    (interval.mean > 0.0).then(|| interval.half_width() / interval.mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use result::{Direction, Job, Stated};

    fn run(rate: f64) -> Run {
        let mut job = Job::default();
        job.dirs[Ddir::Write] = Direction {
            stated: Some(Box::new(Stated {
                bytes_per_s: Some(rate),
                ..Stated::default()
            })),
            ..Direction::default()
        };
        Run {
            jobs: vec![job],
            ..Run::default()
        }
    }

    #[test]
    fn a_data_set_at_a_measured_speed() {
        // 28,711,018 KiB at 7,380,957 KiB/s.
        let mut run = run(7_380_957.0 * 1024.0);
        let time = time_to_save(&run, 28_711_018 << 10).unwrap();
        assert!((time.likely_s - 3.889_877).abs() < 1e-6);
        assert_eq!((time.least_s, time.most_s), (time.likely_s, time.likely_s));
        // With a series there is a range about it.
        let mut series = Series::new(Quantity::Iops, Ddir::Write);
        for second in 1..=32u64 {
            series.add(second * 1000, 1000 + second * 7919 % 131);
        }
        run.jobs[0].series.push(series);
        let time = time_to_save(&run, 28_711_018 << 10).unwrap();
        assert!(time.least_s < time.likely_s && time.likely_s < time.most_s);
        assert!(time.most_s < 1.2 * time.least_s, "{time:?}");
        assert_eq!(time_to_save(&Run::default(), 1), None);
    }
}
