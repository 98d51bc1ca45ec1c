//! `steadystate=metric[_slope]:limit[%]`.

use option::{Choice, Ctx, Kind, Scanned, Value, ValueError};
use units::number;

option::choices! {
    /// What must become steady.
    pub enum SteadyMetric {
        /// Deviation of IOPS from their mean.
        Iops = "iops";
        /// Slope of IOPS.
        IopsSlope = "iops_slope";
        /// Deviation of bandwidth from its mean.
        Bw = "bw";
        /// Slope of bandwidth.
        BwSlope = "bw_slope";
        /// Deviation of the mean completion latency from its mean.
        Lat = "lat";
        /// Slope of the mean completion latency.
        LatSlope = "lat_slope";
    }
}

/// A criterion and its limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SteadyState {
    /// What is looked at.
    pub metric: SteadyMetric,
    /// The limit: percent of the mean, or IOPS, bytes per second, nanoseconds.
    pub limit: f64,
    /// True when the limit is in percent.
    pub percent: bool,
}

impl Value for SteadyState {
    const KIND: Kind = Kind::Choice;
    const CHOICES: &'static [Choice] = SteadyMetric::CHOICES;

    fn parse(text: &str, ctx: &Ctx<'_>) -> Result<Scanned<Self>, ValueError> {
        let wrong = || ValueError::syntax(text, "expected criterion:limit, as in iops:0.3%");
        let (word, limit) = text.trim().split_once(':').ok_or_else(wrong)?;
        let metric = SteadyMetric::parse(word, ctx)?.value;
        let percent = limit.trim().ends_with('%');
        let digits = limit.trim().trim_end_matches('%');
        let (limit, note) = match metric {
            SteadyMetric::Bw | SteadyMetric::BwSlope if !percent => {
                let scanned = number::bytes(digits, ctx.kb_base)?;
                (scanned.value as f64, scanned.note)
            }
            SteadyMetric::Lat | SteadyMetric::LatSlope if !percent => {
                let scanned = number::span(digits, units::TimeUnit::Micros)?;
                (scanned.value.ns() as f64, scanned.note)
            }
            _ => (number::float(digits)?, None),
        };
        if limit < 0.0 {
            return Err(wrong());
        }
        Ok(Scanned {
            value: SteadyState {
                metric,
                limit,
                percent,
            },
            note,
        })
    }

    fn show(&self) -> String {
        let unit = match self.metric {
            _ if self.percent => "%",
            SteadyMetric::Lat | SteadyMetric::LatSlope => {
                let span = units::Span::from_ns(self.limit as u64);
                return format!("{}:{span}", self.metric.show());
            }
            _ => "",
        };
        format!("{}:{}{unit}", self.metric.show(), self.limit)
    }
}
