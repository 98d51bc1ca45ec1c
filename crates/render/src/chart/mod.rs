//! Charts as inline SVG, each with the table of the same values.
//!
//! A [`Chart`] is typed data. Its picture carries no colour of its own: series are classes `c0` to
//! `c7`, shades of heat maps `h0` to `h8`, and the page's style sheet gives them a meaning for
//! light, dark and paper. Bars begin at zero, axes name their unit, and every picture says which
//! direction is better. What is doubtful is hollow, what rests on few samples is grey.

mod axis;
mod bar;
mod down;
mod heat;
mod histogram;
mod line;
mod multiples;
mod svg;

pub use axis::{Axis, Scale, Unit};
pub use bar::{Bar, BarSeries, Bars, Limit};
pub use down::extremes;
pub use heat::Heat;
pub use histogram::{Distribution, Histogram};
pub use line::{Band, Lines, Point, Rule, Series};
pub use multiples::{Multiples, Panel};
pub(crate) use svg::{WIDTH, key};

use crate::report::Table;
use serde::Serialize;

/// Series that one picture can tell apart.
pub const MOST_SERIES: usize = 8;

/// How far a point can be relied on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As it should be.
    #[default]
    Good,
    /// Unsteady, disturbed or with errors: drawn hollow.
    Doubtful,
    /// Rests on fewer than ten samples: drawn grey.
    Few,
}

impl State {
    /// What stands behind such a value in a table; the note below the table explains it.
    pub const fn mark(self) -> &'static str {
        match self {
            State::Good => "",
            State::Doubtful => " (!)",
            State::Few => " (*)",
        }
    }

    const fn class(self) -> &'static str {
        match self {
            State::Good => "",
            State::Doubtful => " hollow",
            State::Few => " few",
        }
    }
}

/// Which direction is good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// More of the value is better.
    More,
    /// Less of it is better.
    Less,
    /// Neither.
    #[default]
    Neither,
}

impl Better {
    /// The words below a chart.
    pub const fn words(self) -> &'static str {
        match self {
            Better::More => "more is better",
            Better::Less => "less is better",
            Better::Neither => "",
        }
    }
}

/// A picture with its words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chart {
    /// What is shown.
    pub title: String,
    /// A sentence on how to read it, or empty.
    pub note: String,
    /// Which direction is better.
    pub better: Better,
    /// The values.
    pub data: ChartData,
}

/// The values of each type of chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChartData {
    /// Lines or points over a numeric axis: time, percentile, load, size.
    Lines(Lines),
    /// Bars from zero.
    Bars(Bars),
    /// Numbers in shaded cells.
    Heat(Heat),
    /// Shares over a logarithmic axis.
    Histogram(Histogram),
    /// Several small charts of bars.
    Multiples(Multiples),
}

impl Chart {
    /// The picture. `id` is the prefix of the identifiers in it, unique on a page.
    pub fn svg(&self, id: &str) -> String {
        let (body, height) = match &self.data {
            ChartData::Lines(lines) => lines.draw(),
            ChartData::Bars(bars) => bars.draw(WIDTH),
            ChartData::Heat(heat) => heat.draw(),
            ChartData::Histogram(histogram) => histogram.draw(),
            ChartData::Multiples(multiples) => multiples.draw(),
        };
        svg::document(id, &self.title, &body, WIDTH, height)
    }

    /// The same values as text.
    pub fn table(&self) -> Table {
        match &self.data {
            ChartData::Lines(lines) => lines.table(),
            ChartData::Bars(bars) => bars.table(),
            ChartData::Heat(heat) => heat.table(),
            ChartData::Histogram(histogram) => histogram.table(),
            ChartData::Multiples(multiples) => multiples.table(),
        }
    }

    /// Names of the series, in the order of their classes; empty for a single one.
    pub fn legend(&self) -> Vec<String> {
        let names: Vec<String> = match &self.data {
            ChartData::Lines(lines) => lines.series.iter().map(|s| s.name.clone()).collect(),
            ChartData::Bars(bars) => bars.series.iter().map(|s| s.name.clone()).collect(),
            ChartData::Histogram(h) => h.series.iter().map(|s| s.name.clone()).collect(),
            ChartData::Multiples(m) => m.series(),
            ChartData::Heat(_) => Vec::new(),
        };
        if names.len() > 1 { names } else { Vec::new() }
    }

    /// Whether there is anything to draw.
    pub fn is_empty(&self) -> bool {
        self.table().rows.is_empty()
    }

    /// States that occur, for the note below the table.
    pub fn states(&self) -> Vec<State> {
        let table = self.table();
        let cells = || table.rows.iter().flatten();
        let marks = [State::Doubtful, State::Few].into_iter();
        marks
            .filter(|state| cells().any(|cell| cell.text.ends_with(state.mark())))
            .collect()
    }
}

#[cfg(test)]
mod tests;
