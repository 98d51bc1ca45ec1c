//! Axes: units, scales, and where their ticks stand.

use crate::human;
use serde::Serialize;

/// What a number counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// Bytes per second, shown in binary units.
    BytesPerS,
    /// Bytes per second, shown in GB of 10^9.
    DecimalBytesPerS,
    /// Per second: IOPS.
    PerS,
    /// A pure number.
    #[default]
    Count,
    /// Percent.
    Percent,
    /// A share of a whole in percent, however small.
    Share,
    /// A percentile.
    Percentile,
    /// Bytes.
    Bytes,
    /// Seconds.
    Seconds,
}

impl Unit {
    /// A value for people.
    pub fn show(self, value: f64) -> String {
        match self {
            Unit::Ns => human::time(value),
            Unit::BytesPerS => human::rate(value),
            Unit::DecimalBytesPerS => human::decimal_rate(value),
            Unit::PerS | Unit::Count => human::count(value),
            Unit::Percent => format!("{value:.1} %"),
            Unit::Share => share(value),
            Unit::Percentile => human::percentile(value),
            Unit::Bytes => human::bytes(value),
            Unit::Seconds => format!("{} s", (value * 1000.0).round() / 1000.0),
        }
    }

    /// Unit of the bare number, for tables that programs read; empty where there is none.
    pub const fn bare(self) -> &'static str {
        match self {
            Unit::Ns => "ns",
            Unit::BytesPerS | Unit::DecimalBytesPerS => "bytes/s",
            Unit::PerS => "1/s",
            Unit::Count | Unit::Percentile => "",
            Unit::Percent | Unit::Share => "%",
            Unit::Bytes => "bytes",
            Unit::Seconds => "s",
        }
    }

    /// Divisor and name of the unit that suits an axis that ends at `largest`.
    fn of_axis(self, largest: f64) -> (f64, &'static str) {
        let steps: &[(f64, &str)] = match self {
            Unit::Ns => &[(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")],
            Unit::BytesPerS => &[
                ((1u64 << 30) as f64, "GiB/s"),
                ((1u64 << 20) as f64, "MiB/s"),
                (1024.0, "KiB/s"),
                (1.0, "B/s"),
            ],
            Unit::DecimalBytesPerS => &[(1e9, "GB/s")],
            Unit::Bytes => &[
                ((1u64 << 30) as f64, "GiB"),
                ((1u64 << 20) as f64, "MiB"),
                (1024.0, "KiB"),
                (1.0, "B"),
            ],
            Unit::PerS => &[(1e6, "M/s"), (1e3, "k/s"), (1.0, "1/s")],
            Unit::Count => &[(1e9, "G"), (1e6, "M"), (1e4, "10 k"), (1.0, "")],
            Unit::Percent | Unit::Share | Unit::Percentile => &[(1.0, "%")],
            Unit::Seconds => &[(1.0, "s")],
        };
        let fits = steps.iter().find(|(divisor, _)| largest >= *divisor);
        *fits.or(steps.last()).unwrap_or(&(1.0, ""))
    }
}

/// A percentage with two significant digits.
fn share(percent: f64) -> String {
    let digits = match percent {
        p if p >= 10.0 || p <= 0.0 => 0,
        p => (1.0 - p.log10().floor()).clamp(0.0, 9.0) as usize,
    };
    let text = format!("{percent:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned() + " %",
        false => text + " %",
    }
}

/// How values spread along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// From zero, evenly.
    #[default]
    Linear,
    /// Evenly, from near the smallest value to near the largest: for points, never for bars.
    Near,
    /// By decades, or by powers of two for bytes.
    Log,
    /// Percentiles by the logarithm of what lies beyond them: as far from 99 to 99.9 as from 90.
    Nines,
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Axis {
    /// What is shown, without the unit.
    pub title: String,
    /// Its unit.
    pub unit: Unit,
    /// How values spread.
    pub scale: Scale,
}

impl Axis {
    /// An axis from zero.
    pub fn linear(title: &str, unit: Unit) -> Axis {
        Axis {
            title: title.to_owned(),
            unit,
            scale: Scale::Linear,
        }
    }

    /// A logarithmic axis.
    pub fn log(title: &str, unit: Unit) -> Axis {
        Axis {
            title: title.to_owned(),
            unit,
            scale: Scale::Log,
        }
    }

    /// Heading of a column of such values.
    pub fn column(&self) -> (String, &'static str) {
        (self.title.clone(), self.unit.bare())
    }
}

/// An axis with its range, laid along pixels.
pub(super) struct Laid<'a> {
    axis: &'a Axis,
    low: f64,
    high: f64,
    from_px: f64,
    to_px: f64,
    divisor: f64,
    /// Title with unit and kind of scale.
    pub title: String,
}

impl<'a> Laid<'a> {
    /// Covers `values` (those that the scale cannot show are left out) from pixel to pixel.
    pub fn new(
        axis: &'a Axis,
        values: impl Iterator<Item = f64>,
        from_px: f64,
        to_px: f64,
    ) -> Laid<'a> {
        let shown = values.filter(|v| axis.position(*v).is_some());
        let (smallest, largest) = shown.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| {
            (a.min(v), b.max(v))
        });
        let (smallest, largest) = match largest.is_finite() {
            true => (smallest, largest),
            false => (1.0, 1.0),
        };
        let (divisor, unit) = axis.unit.of_axis(largest);
        let (low, high) = match axis.scale {
            Scale::Linear => (0.0, linear_end(largest / divisor) * divisor),
            Scale::Near => {
                let step = near_step(smallest / divisor, largest / divisor) * divisor;
                let low = (smallest / step + 1e-6).floor() * step;
                (low, ((largest / step - 1e-6).ceil() * step).max(low + step))
            }
            Scale::Log => axis.log_range(smallest, largest),
            Scale::Nines => (0.0, axis.position(largest).unwrap_or(1.0).max(1.0)),
        };
        let kind = match axis.scale {
            Scale::Log => ", log",
            Scale::Near => ", not from zero",
            Scale::Linear | Scale::Nines => "",
        };
        // Percentiles and sizes on a logarithmic axis carry their unit at each tick.
        let own = axis.scale == Scale::Log && axis.unit == Unit::Bytes;
        let unit = if own { "bytes" } else { unit };
        let title = match (unit, kind) {
            ("", "") => axis.title.clone(),
            ("", kind) => format!("{} ({})", axis.title, &kind[2..]),
            _ => format!("{} ({unit}{kind})", axis.title),
        };
        Laid {
            axis,
            low,
            high,
            from_px,
            to_px,
            divisor,
            title,
        }
    }

    /// The value at the end of an even axis.
    pub fn end(&self) -> f64 {
        self.high
    }

    /// Pixel of a value; the end of the axis for what lies outside.
    pub fn at(&self, value: f64) -> Option<f64> {
        let along = (self.axis.position(value)? - self.low) / (self.high - self.low);
        Some(self.from_px + along.clamp(0.0, 1.0) * (self.to_px - self.from_px))
    }

    /// Ticks: pixel and text.
    pub fn ticks(&self) -> Vec<(f64, String)> {
        let values: Vec<(f64, String)> = match self.axis.scale {
            Scale::Linear => {
                let end = self.high / self.divisor;
                let step = nice(end / 5.0);
                let steps = (end / step + 1e-6).floor() as usize;
                let at = |i: usize| i as f64 * step;
                (0..=steps)
                    .map(|i| (at(i) * self.divisor, plain(at(i))))
                    .collect()
            }
            Scale::Near => {
                let step = nice((self.high - self.low) / self.divisor / 5.0) * self.divisor;
                let first = (self.low / step - 1e-6).ceil();
                let steps = ((self.high - first * step) / step + 1e-6).floor() as usize;
                (0..=steps)
                    .map(|i| (first + i as f64) * step)
                    .map(|value| (value, plain(value / self.divisor)))
                    .collect()
            }
            Scale::Log => self.log_ticks(),
            Scale::Nines => [0.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999, 99.9999]
                .iter()
                .filter(|p| {
                    self.axis
                        .position(**p)
                        .is_some_and(|at| at <= self.high + 1e-9)
                })
                .map(|p| (*p, p.to_string()))
                .collect(),
        };
        let placed = |(value, text): (f64, String)| Some((self.at(value)?, text));
        values.into_iter().filter_map(placed).collect()
    }

    fn log_ticks(&self) -> Vec<(f64, String)> {
        let decades = self.high - self.low;
        if self.axis.unit == Unit::Bytes {
            let (first, last) = (self.low.round() as i32, self.high.round() as i32);
            let step = usize::try_from((last - first) / 6).unwrap_or(0).max(1);
            let at = |power: i32| 2f64.powi(power);
            return (first..=last)
                .step_by(step)
                .map(|power| (at(power), human::bytes(at(power))))
                .collect();
        }
        let minor: &[f64] = if decades <= 2.01 {
            &[1.0, 2.0, 5.0]
        } else {
            &[1.0]
        };
        let mut ticks = Vec::new();
        let every = (decades / 7.0).ceil().max(1.0) as usize;
        for power in ((self.low.floor() as i32)..=(self.high.ceil() as i32)).step_by(every) {
            for factor in minor {
                let value = factor * 10f64.powi(power);
                let log = value.log10();
                if log >= self.low - 1e-9 && log <= self.high + 1e-9 {
                    ticks.push((value, plain(value / self.divisor)));
                }
            }
        }
        ticks
    }
}

impl Axis {
    /// Where a value stands along the axis, in the axis's own measure.
    fn position(&self, value: f64) -> Option<f64> {
        match self.scale {
            _ if !value.is_finite() => None,
            Scale::Linear | Scale::Near => Some(value),
            Scale::Log if value <= 0.0 => None,
            Scale::Log if self.unit == Unit::Bytes => Some(value.log2()),
            Scale::Log => Some(value.log10()),
            Scale::Nines => Some(-(1.0 - (value / 100.0).clamp(0.0, 0.999_999_9)).log10()),
        }
    }

    /// Whole powers of two for bytes; else from and to 1, 2 or 5 times a power of ten.
    fn log_range(&self, smallest: f64, largest: f64) -> (f64, f64) {
        if self.unit == Unit::Bytes {
            let (low, high) = (smallest.log2().floor(), largest.log2().ceil());
            return (low, high.max(low + 1.0));
        }
        let step_below = |value: f64| {
            let power = 10f64.powf((value * (1.0 + 1e-9)).log10().floor());
            let fits = |factor: &f64| factor * power <= value * (1.0 + 1e-9);
            [5.0, 2.0, 1.0].into_iter().find(fits).unwrap_or(1.0) * power
        };
        let step_above = |value: f64| {
            let power = 10f64.powf((value * (1.0 - 1e-9)).log10().floor());
            let fits = |factor: &f64| factor * power >= value * (1.0 - 1e-9);
            [1.0, 2.0, 5.0, 10.0].into_iter().find(fits).unwrap_or(10.0) * power
        };
        let (low, high) = (step_below(smallest).log10(), step_above(largest).log10());
        (low, high.max(low + 0.3))
    }
}

/// End of an axis from zero that holds `largest`.
fn linear_end(largest: f64) -> f64 {
    if largest <= 0.0 {
        return 1.0;
    }
    let step = nice(largest / 5.0);
    (largest / step - 1e-6).ceil() * step
}

/// A step that divides a range into about four; of a single value, a hundredth of it.
fn near_step(smallest: f64, largest: f64) -> f64 {
    let range = largest - smallest;
    match range > 0.0 {
        true => nice(range / 4.0),
        false => nice((largest.abs() / 100.0).max(1e-9)),
    }
}

/// The nearest 1, 2, 2.5 or 5 times a power of ten that is not less.
fn nice(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let fits = |factor: &f64| factor * power >= value * (1.0 - 1e-9);
    [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .find(fits)
        .unwrap_or(10.0)
        * power
}

/// A tick's number without needless digits.
fn plain(value: f64) -> String {
    match value.abs() {
        v if v >= 1e6 => format!("{}M", round(value / 1e6)),
        v if v >= 1e4 => format!("{}k", round(value / 1e3)),
        _ => round(value).to_string(),
    }
}

fn round(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
