//! Bars from zero, lying, so that long names fit on a phone.

use super::axis::Laid;
use super::svg::{Svg, cut};
use super::{Axis, State};
use crate::report::{Cell, Column, Table};
use serde::Serialize;

const BAR: f64 = 15.0;
const HEAD: f64 = 16.0;
const GAP: f64 = 8.0;
/// Limits that are so many times the largest bar or binding limit lie beyond the axis.
const FAR: f64 = 2.5;
/// A line of words for a limit, below the bars of its category.
const LIMIT: f64 = 14.0;
/// Room at the right for the value of the longest bar.
const ROOM: f64 = 92.0;

/// A chart of bars: each category has a bar of each series.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Bars {
    /// What the length of a bar is; from zero.
    pub value: Axis,
    /// Heading of the categories.
    pub kind: String,
    /// The categories.
    pub categories: Vec<String>,
    /// The series, at most [`super::MOST_SERIES`].
    pub series: Vec<BarSeries>,
    /// Bars of a category stand end to end: parts of a whole.
    pub stacked: bool,
    /// Values that a category cannot or should not exceed.
    pub limits: Vec<Limit>,
}

/// One series.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct BarSeries {
    /// Its name.
    pub name: String,
    /// A bar for each category; `None` where there is no value.
    pub bars: Vec<Option<Bar>>,
}

/// One bar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Bar {
    /// Its length.
    pub value: f64,
    /// Ends of the interval around it.
    pub interval: Option<(f64, f64)>,
    /// How far it can be relied on.
    pub state: State,
}

impl Bar {
    /// A bar without an interval.
    pub fn new(value: f64) -> Bar {
        Bar {
            value,
            ..Bar::default()
        }
    }
}

/// A limit of one category.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Limit {
    /// Index of the category.
    pub category: usize,
    /// What limits.
    pub name: String,
    /// The value.
    pub value: f64,
}

impl Bars {
    /// Bars of one series.
    pub fn single(value: Axis, kind: &str, bars: Vec<(String, Bar)>) -> Bars {
        let (categories, bars) = bars
            .into_iter()
            .map(|(name, bar)| (name, Some(bar)))
            .unzip();
        let series = vec![BarSeries {
            name: value.title.clone(),
            bars,
        }];
        Bars {
            value,
            kind: kind.to_owned(),
            categories,
            series,
            ..Bars::default()
        }
    }

    fn ends(&self) -> Vec<f64> {
        let mut ends = Vec::new();
        for category in 0..self.categories.len() {
            let bars = self.of(category).map(|(_, bar)| bar);
            if self.stacked {
                ends.push(bars.map(|bar| bar.value).sum());
            } else {
                ends.extend(bars.map(|bar| bar.interval.map_or(bar.value, |i| i.1.max(bar.value))));
            }
        }
        // A limit far beyond everything else would leave no length to the bars.
        let all = || (0..self.categories.len()).map(|category| self.limits_of(category));
        let lowest = all().filter_map(|of| of.map(|limit| limit.value).min_by(f64::total_cmp));
        let reach = FAR * lowest.chain(ends.iter().copied()).fold(0.0, f64::max);
        let limits = self.limits.iter().map(|limit| limit.value);
        ends.extend(limits.filter(|value| *value <= reach));
        ends
    }

    fn of(&self, category: usize) -> impl Iterator<Item = (usize, &Bar)> {
        let series = self.series.iter().enumerate();
        series.filter_map(move |(index, of)| Some((index, of.bars.get(category)?.as_ref()?)))
    }

    fn limits_of(&self, category: usize) -> impl Iterator<Item = &Limit> {
        let of = move |limit: &&Limit| limit.category == category;
        self.limits.iter().filter(of)
    }

    pub(super) fn draw(&self, width: f64) -> (String, f64) {
        let mut svg = Svg::default();
        let room = ROOM.min(width / 4.0);
        let x = Laid::new(&self.value, self.ends().into_iter(), 2.0, width - room);
        let lanes = if self.stacked {
            1.0
        } else {
            self.series.len() as f64
        };
        let mut tops = Vec::with_capacity(self.categories.len());
        let mut floor = 4.0;
        for category in 0..self.categories.len() {
            tops.push(floor);
            let limits = self.limits_of(category).count() as f64;
            floor += HEAD + lanes * BAR + limits * LIMIT + GAP;
        }
        for (at, text) in x.ticks() {
            svg.line("grid", at, 4.0, at, floor);
            svg.text(
                "tick",
                if at < 8.0 { "start" } else { "middle" },
                at,
                floor + 14.0,
                &text,
            );
        }
        svg.line("axis", 2.0, 4.0, 2.0, floor);
        svg.text("title", "start", 2.0, floor + 31.0, &x.title);
        let letters = (width / 7.0) as usize;
        for (category, name) in self.categories.iter().enumerate() {
            let top = tops[category];
            svg.text("name", "start", 6.0, top + 12.0, &cut(name, letters));
            let mut end = 0.0;
            // Written last, over the lines of limits.
            let mut values: Vec<(f64, f64, String)> = Vec::new();
            for (index, bar) in self.of(category) {
                let lane = if self.stacked { 0.0 } else { index as f64 };
                let y = top + HEAD + lane * BAR;
                let from = if self.stacked { end } else { 0.0 };
                let (Some(left), Some(right)) = (x.at(from), x.at(from + bar.value)) else {
                    continue;
                };
                let shown = self.value.unit.show(bar.value) + bar.state.mark();
                let mut tip = format!("{name}: {shown}");
                if self.series.len() > 1 {
                    tip = format!("{name}, {}: {shown}", self.series[index].name);
                }
                svg.begin_series(index);
                let class = format!("bar mark{}", bar.state.class());
                svg.rect(&class, (left, y + 1.0), (right - left, BAR - 3.0), &tip);
                if let Some((low, high)) = bar.interval {
                    whisker(&mut svg, x.at(low), x.at(high), y + BAR / 2.0 - 0.5);
                }
                svg.end();
                end = from + bar.value;
                if !self.stacked {
                    let high = bar
                        .interval
                        .and_then(|(_, high)| x.at(high))
                        .unwrap_or(right);
                    values.push((high.max(right) + 4.0, y + 11.5, shown));
                }
            }
            if let Some(right) = x.at(end).filter(|_| self.stacked) {
                let shown = self.value.unit.show(end);
                values.push((right + 4.0, top + HEAD + 11.5, shown));
            }
            let bars = top + HEAD + lanes * BAR;
            for (row, limit) in self.limits_of(category).enumerate() {
                let Some(at) = x.at(limit.value) else {
                    continue;
                };
                let below = bars + (row + 1) as f64 * LIMIT;
                let mut shown = format!("{} {}", limit.name, self.value.unit.show(limit.value));
                if limit.value > x.end() {
                    shown += " (beyond)";
                } else {
                    svg.line("limit", at, top + HEAD - 2.0, at, below - 1.0);
                }
                let (anchor, beside) = match at > width / 2.0 {
                    true => ("end", at - 4.0),
                    false => ("start", at + 4.0),
                };
                svg.text("small", anchor, beside, below - 3.0, &cut(&shown, letters));
            }
            for (x, y, shown) in values {
                svg.text("value", "start", x, y, &shown);
            }
        }
        (svg.text, floor + 38.0)
    }

    pub(super) fn table(&self) -> Table {
        let unit = self.value.unit;
        let many = self.series.len() > 1;
        let mut bars = self
            .series
            .iter()
            .flat_map(|series| series.bars.iter().flatten());
        let intervals = bars.any(|bar| bar.interval.is_some());
        let mut columns = vec![Column::words(&self.kind)];
        for series in &self.series {
            columns.push(Column::of(&series.name, unit));
            if intervals {
                let name = if many {
                    format!("{} low", series.name)
                } else {
                    "low".to_owned()
                };
                columns.push(Column::of(&name, unit));
                let name = if many {
                    format!("{} high", series.name)
                } else {
                    "high".to_owned()
                };
                columns.push(Column::of(&name, unit));
            }
        }
        let total = self.stacked && many;
        columns.extend(total.then(|| Column::of("total", unit)));
        columns.extend((!self.limits.is_empty()).then(|| Column::words("limits")));
        let row = |(category, name): (usize, &String)| {
            let mut row = vec![Cell::words(name)];
            for series in &self.series {
                let bar = series.bars.get(category).copied().flatten();
                let state = bar.map_or(State::Good, |bar| bar.state);
                row.push(Cell::stated(unit, bar.map(|bar| bar.value), state));
                if intervals {
                    let ends = bar.and_then(|bar| bar.interval);
                    row.push(Cell::stated(unit, ends.map(|ends| ends.0), State::Good));
                    row.push(Cell::stated(unit, ends.map(|ends| ends.1), State::Good));
                }
            }
            if total {
                let sum = self.of(category).map(|(_, bar)| bar.value).sum();
                row.push(Cell::of(unit, sum));
            }
            if !self.limits.is_empty() {
                let words = self
                    .limits_of(category)
                    .map(|limit| format!("{} {}", limit.name, unit.show(limit.value)));
                row.push(Cell::words(words.collect::<Vec<_>>().join(", ")));
            }
            row
        };
        let rows = self.categories.iter().enumerate().map(row).collect();
        Table { columns, rows }
    }
}

fn whisker(svg: &mut Svg, low: Option<f64>, high: Option<f64>, y: f64) {
    if let (Some(low), Some(high)) = (low, high) {
        svg.line("whisker", low, y, high, y);
        svg.line("whisker", low, y - 3.0, low, y + 3.0);
        svg.line("whisker", high, y - 3.0, high, y + 3.0);
    }
}
