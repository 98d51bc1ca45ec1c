//! Small charts of bars side by side: the same things by several measures.

use super::bar::Bars;
use super::svg::{Svg, WIDTH};
use crate::report::Table;
use serde::Serialize;

/// Several charts of the same categories.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Multiples {
    /// The charts, two in a row.
    pub panels: Vec<Panel>,
}

/// One of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Panel {
    /// What it shows.
    pub title: String,
    /// The bars.
    pub bars: Bars,
}

const HEAD: f64 = 20.0;

impl Multiples {
    /// Series of the panels, which share them.
    pub(super) fn series(&self) -> Vec<String> {
        let first = self.panels.first();
        first.map_or_else(Vec::new, |panel| {
            panel
                .bars
                .series
                .iter()
                .map(|series| series.name.clone())
                .collect()
        })
    }

    pub(super) fn draw(&self) -> (String, f64) {
        let mut svg = Svg::default();
        let half = WIDTH / 2.0 - 8.0;
        let mut top = 0.0;
        for pair in self.panels.chunks(2) {
            let mut tallest: f64 = 0.0;
            for (index, panel) in pair.iter().enumerate() {
                let left = index as f64 * (half + 16.0);
                let (body, height) = panel.bars.draw(half);
                svg.text("panel", "start", left, top + 14.0, &panel.title);
                let down = top + HEAD;
                svg.put(&format!(r#"<g transform="translate({left} {down})">"#));
                svg.put(body.trim_end());
                svg.end();
                tallest = tallest.max(height);
            }
            top += HEAD + tallest + 6.0;
        }
        (svg.text, top)
    }

    pub(super) fn table(&self) -> Table {
        let mut all = Table::default();
        for panel in &self.panels {
            let mut table = panel.bars.table();
            if all.columns.is_empty() {
                all.columns.extend(table.columns.first().cloned());
                all.rows = table.rows.iter().map(|row| row[..1].to_vec()).collect();
            }
            let many = panel.bars.series.len() > 1;
            for column in table.columns.drain(1..) {
                let name = match many {
                    true => format!("{}, {}", panel.title, column.name),
                    false => panel.title.clone(),
                };
                all.columns.push(crate::report::Column { name, ..column });
            }
            for (row, more) in all.rows.iter_mut().zip(table.rows) {
                row.extend(more.into_iter().skip(1));
            }
        }
        all
    }
}
