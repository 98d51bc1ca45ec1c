//! Numbers in shaded cells: sweeps over two options, NUMA matrices.

use super::Unit;
use super::svg::{Svg, WIDTH, cut};
use crate::report::{Cell, Column, Table};
use serde::Serialize;

/// Shades of the style sheet.
const SHADES: f64 = 9.0;
/// Narrower cells show no number; the table has it.
const NARROW: f64 = 34.0;
const ROW: f64 = 30.0;
const TOP: f64 = 38.0;

/// A map.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Heat {
    /// What the rows are.
    pub rows_title: String,
    /// Names of the rows.
    pub rows: Vec<String>,
    /// What the columns are.
    pub columns_title: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// What the cells hold.
    pub value: String,
    /// Unit of the cells.
    pub unit: Unit,
    /// Rows of cells; `None` where there is no value.
    pub cells: Vec<Vec<Option<f64>>>,
}

impl Heat {
    fn range(&self) -> (f64, f64) {
        let known = self.cells.iter().flatten().flatten();
        known.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| {
            (a.min(*v), b.max(*v))
        })
    }

    pub(super) fn draw(&self) -> (String, f64) {
        let mut svg = Svg::default();
        let longest = self
            .rows
            .iter()
            .map(|row| row.chars().count())
            .max()
            .unwrap_or(0)
            .min(22);
        let left = 12.0 + (longest as f64 * 6.6).max(30.0);
        let cell = (WIDTH - left - 4.0) / self.columns.len().max(1) as f64;
        let (low, high) = self.range();
        let middle = left + (WIDTH - left) / 2.0;
        svg.text("title", "middle", middle, 13.0, &self.columns_title);
        svg.text("title", "start", 2.0, 31.0, &cut(&self.rows_title, 20));
        let letters = (cell / 6.6) as usize;
        for (index, name) in self.columns.iter().enumerate() {
            let at = left + cell * (index as f64 + 0.5);
            if cell >= NARROW || index % 4 == 0 {
                svg.text("tick", "middle", at, 31.0, &cut(name, letters.max(3)));
            }
        }
        for (row, values) in self.cells.iter().enumerate() {
            let top = TOP + ROW * row as f64;
            let name = self.rows.get(row).map_or("", String::as_str);
            svg.text("tick", "end", left - 6.0, top + 19.0, &cut(name, 22));
            for (column, value) in values.iter().enumerate() {
                let at = (left + cell * column as f64, top);
                let size = (cell - 2.0, ROW - 2.0);
                let Some(value) = value else {
                    svg.rect("nothing", at, size, "");
                    continue;
                };
                let share = if high > low {
                    (value - low) / (high - low)
                } else {
                    0.5
                };
                let shade = (share * SHADES).floor().min(SHADES - 1.0) as usize;
                let shown = self.unit.show(*value);
                let heading = self.columns.get(column).map_or("", String::as_str);
                let tip = format!("{name}, {heading}: {shown}");
                svg.rect(&format!("mark heat h{shade}"), at, size, &tip);
                if cell >= NARROW {
                    // The unit stands once, below the map, where the cells are narrow.
                    let text = match cell < 64.0 {
                        true => shown.split(' ').next().unwrap_or(&shown),
                        false => &shown,
                    };
                    let (x, y) = (at.0 + (cell - 2.0) / 2.0, top + 19.0);
                    svg.text(&format!("in on{shade}"), "middle", x, y, text);
                }
            }
        }
        let floor = TOP + ROW * self.cells.len() as f64;
        if low.is_finite() {
            let (low, high) = (self.unit.show(low), self.unit.show(high));
            let words = format!("{}: {low} (light) to {high} (dark)", self.value);
            svg.text("small", "start", 2.0, floor + 15.0, &words);
        }
        (svg.text, floor + 22.0)
    }

    pub(super) fn table(&self) -> Table {
        let heading = format!("{} / {}", self.rows_title, self.columns_title);
        let columns = self.columns.iter().map(|name| Column::of(name, self.unit));
        let row = |(name, values): (&String, &Vec<Option<f64>>)| {
            let cells = values
                .iter()
                .map(|v| Cell::stated(self.unit, *v, super::State::Good));
            [Cell::words(name)].into_iter().chain(cells).collect()
        };
        Table {
            columns: [Column::words(&heading)]
                .into_iter()
                .chain(columns)
                .collect(),
            rows: self.rows.iter().zip(&self.cells).map(row).collect(),
        }
    }
}
