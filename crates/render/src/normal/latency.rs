//! Latency lines: extremes and mean, percentile tables, and the coarse shares.

use super::put;
use crate::figures::LatencyShares;
use measure::{Latency, Moments};
use std::fmt::Write;
use units::Human;

/// A unit for a whole line or table, chosen so that no digit that matters is lost.
#[derive(Clone, Copy)]
enum Unit {
    Nsec,
    Usec,
    Msec,
}

impl Unit {
    const fn name(self) -> &'static str {
        match self {
            Unit::Nsec => "nsec",
            Unit::Usec => "usec",
            Unit::Msec => "msec",
        }
    }

    const fn steps(self) -> u32 {
        match self {
            Unit::Nsec => 0,
            Unit::Usec => 1,
            Unit::Msec => 2,
        }
    }

    const fn divisor(self) -> u64 {
        1000u64.pow(self.steps())
    }

    /// The unit in which the smallest value is more than 2 and the largest has five digits.
    const fn for_range(min_ns: u64, max_ns: u64) -> Self {
        if min_ns > 2_000_000 && max_ns > 99_999_999 {
            Unit::Msec
        } else if min_ns > 2_000 && max_ns > 99_999 {
            Unit::Usec
        } else {
            Unit::Nsec
        }
    }

    /// The same, when the deviation is more than one of it as well.
    fn for_moments(moments: &Moments, stddev_ns: f64) -> Self {
        let (min, max) = (moments.min(), moments.max);
        match Unit::for_range(min, max) {
            Unit::Msec if stddev_ns > 1_000_000.0 => Unit::Msec,
            Unit::Msec | Unit::Usec if stddev_ns > 1_000.0 => Unit::Usec,
            _ => Unit::Nsec,
        }
    }
}

/// `    clat (usec): min=.., max=.., avg=.., stdev=..`; nothing when there is no sample.
pub(super) fn line(out: &mut String, name: &str, moments: &Moments) {
    if moments.n == 0 {
        return;
    }
    let stddev = moments.stddev();
    let unit = Unit::for_moments(moments, stddev);
    let divisor = unit.divisor();
    let human = Human::number(6);
    put!(
        out,
        "    {name} ({}): min={}, max={}, avg={:5.2}, stdev={:5.2}\n",
        unit.name(),
        human.show(moments.min() / divisor),
        human.show(moments.max / divisor),
        moments.mean() / divisor as f64,
        stddev / divisor as f64,
    );
}

/// The percentile table of a class; nothing when it has no sample or no bins.
pub(super) fn percentiles(
    out: &mut String,
    name: &str,
    latency: &Latency,
    list: &[f64],
    precision: u32,
) {
    let Some(histogram) = latency.histogram.as_ref().filter(|_| latency.moments.n > 0) else {
        return;
    };
    let values = histogram.percentiles(list);
    let (Some(min), Some(max)) = (values.iter().min(), values.iter().max()) else {
        return;
    };
    let unit = Unit::for_range(*min, *max);
    let digits = (max / unit.divisor()).checked_ilog10().unwrap_or(0) as usize + 1;
    let width = digits.max(5);
    let precision = precision.min(MAX_PRECISION) as usize;
    let per_line = (73 / (precision + 10 + width)).max(1);
    put!(out, "    {name} percentiles ({}):\n", unit.name());
    let entries: Vec<String> = list
        .iter()
        .zip(&values)
        .map(|(percent, value)| {
            let value = (0..unit.steps()).fold(*value, |value, _| value.div_ceil(1000));
            format!(
                " {percent:p$.precision$}th=[{value:width$}]",
                p = precision + 3
            )
        })
        .collect();
    let rows: Vec<String> = entries.chunks(per_line).map(|row| row.join(",")).collect();
    put!(out, "     |{}\n", rows.join(",\n     |"));
}

/// More decimals than any percentile can have.
const MAX_PRECISION: u32 = 17;

const LABELS: [&str; 12] = [
    "2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000",
];

/// `  lat (usec)   : 10=56.25%, ...`, five shares a line, units without a share left out.
pub(super) fn shares(out: &mut String, shares: &LatencyShares) {
    shares_of(out, "nsec", &shares.ns);
    shares_of(out, "usec", &shares.us);
    shares_of(out, "msec", &shares.ms);
}

fn shares_of(out: &mut String, unit: &str, shares: &[f64]) {
    let shown: Vec<String> = LABELS
        .iter()
        .zip(shares)
        .filter(|(_, share)| **share > 0.0)
        .map(|(label, share)| format!("{label}={share:3.2}%"))
        .collect();
    for row in shown.chunks(5) {
        put!(out, "  lat ({unit})   : {}\n", row.join(", "));
    }
}
