//! Shares of values over a logarithmic axis, with their sum.

use super::line::{FLOOR, PLANE_HEIGHT, frame, plane};
use super::svg::Svg;
use super::{Axis, Unit};
use crate::report::{Cell, Column, Table};
use serde::Serialize;

/// A histogram of one or several series over the same bins.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Histogram {
    /// What was counted; logarithmic.
    pub x: Axis,
    /// Lower edges of the bins and the upper edge of the last one.
    pub edges: Vec<f64>,
    /// The series, at most [`super::MOST_SERIES`].
    pub series: Vec<Distribution>,
}

/// One series.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Distribution {
    /// Its name.
    pub name: String,
    /// Values in each bin.
    pub counts: Vec<u64>,
}

impl Distribution {
    fn total(&self) -> f64 {
        self.counts.iter().map(|n| *n as f64).sum::<f64>().max(1.0)
    }

    fn shares(&self) -> impl Iterator<Item = f64> {
        let total = self.total();
        self.counts.iter().map(move |n| 100.0 * *n as f64 / total)
    }
}

impl Histogram {
    /// Gathers fine bins `(value, count)` into `per_octave` bins for each doubling.
    pub fn gather(x: Axis, per_octave: f64, series: &[(String, Vec<(f64, u64)>)]) -> Histogram {
        let place = |value: f64| (value.max(1.0).log2() * per_octave + 1e-9).floor() as i32;
        let places = || {
            series
                .iter()
                .flat_map(|(_, bins)| bins)
                .map(|(value, _)| place(*value))
        };
        let (Some(first), Some(last)) = (places().min(), places().max()) else {
            return Histogram {
                x,
                ..Histogram::default()
            };
        };
        let edge = |index: i32| 2f64.powf(f64::from(index) / per_octave);
        let distribution = |(name, bins): &(String, Vec<(f64, u64)>)| {
            let mut counts = vec![0u64; (last - first + 1) as usize];
            for (value, n) in bins {
                counts[(place(*value) - first) as usize] += n;
            }
            Distribution {
                name: name.clone(),
                counts,
            }
        };
        Histogram {
            x,
            edges: (first..=last + 1).map(edge).collect(),
            series: series.iter().map(distribution).collect(),
        }
    }

    pub(super) fn draw(&self) -> (String, f64) {
        let mut svg = Svg::default();
        let share = Axis::linear("share of I/Os", Unit::Percent);
        let shares = self.series.iter().flat_map(Distribution::shares);
        let (x, y) = plane(&self.x, self.edges.iter().copied(), &share, shares);
        frame(&mut svg, &x, &y);
        for (index, series) in self.series.iter().enumerate() {
            svg.begin_series(index);
            let mut outline = Vec::new();
            for (bin, share) in series.shares().enumerate() {
                let (Some(left), Some(right), Some(top)) = (
                    x.at(self.edges[bin]),
                    x.at(self.edges[bin + 1]),
                    y.at(share),
                ) else {
                    continue;
                };
                outline.extend([Some((left, top)), Some((right, top))]);
                if series.counts[bin] > 0 {
                    let tip = self.tip(series, bin, share);
                    svg.rect("mark area", (left, top), (right - left, FLOOR - top), &tip);
                }
            }
            svg.path("line", outline.into_iter());
            svg.end();
        }
        (svg.text, PLANE_HEIGHT)
    }

    fn tip(&self, series: &Distribution, bin: usize, share: f64) -> String {
        let show = |edge: usize| self.x.unit.show(self.edges[edge]);
        let shown = Unit::Percent.show(share);
        format!(
            "{}: {} to {}, {shown}",
            series.name,
            show(bin),
            show(bin + 1)
        )
    }

    pub(super) fn table(&self) -> Table {
        let (title, _) = self.x.column();
        let mut columns = vec![
            Column::of(&format!("{title} from"), self.x.unit),
            Column::of("to", self.x.unit),
        ];
        for series in &self.series {
            let own = |word: &str| match self.series.len() {
                1 => word.to_owned(),
                _ => format!("{}, {word}", series.name),
            };
            columns.push(Column::of(&own("I/Os"), Unit::Count));
            columns.push(Column::of(&own("share"), Unit::Percent));
            columns.push(Column::of(&own("up to here"), Unit::Percent));
        }
        let mut before = vec![0u64; self.series.len()];
        let mut rows = Vec::new();
        for bin in 0..self.edges.len().saturating_sub(1) {
            if self.series.iter().all(|series| series.counts[bin] == 0) {
                continue;
            }
            let mut row = vec![
                Cell::of(self.x.unit, self.edges[bin]),
                Cell::of(self.x.unit, self.edges[bin + 1]),
            ];
            for (series, before) in self.series.iter().zip(&mut before) {
                let n = series.counts[bin];
                *before += n;
                let total = series.total();
                row.push(Cell {
                    text: n.to_string(),
                    value: Some(n as f64),
                });
                row.push(Cell::of(Unit::Percent, 100.0 * n as f64 / total));
                row.push(Cell::of(Unit::Percent, 100.0 * *before as f64 / total));
            }
            rows.push(row);
        }
        Table { columns, rows }
    }
}
