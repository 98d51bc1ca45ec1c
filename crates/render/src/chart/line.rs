//! Lines and points over a numeric axis: time, percentiles, load against latency, sizes.

use super::axis::Laid;
use super::svg::{Svg, WIDTH, cut};
use super::{Axis, Scale, State};
use crate::report::{Cell, Column, Table};
use serde::Serialize;

/// Series with more points are drawn as a line alone.
const MOST_MARKS: usize = 40;

const HEIGHT: f64 = 300.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = WIDTH - 14.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = HEIGHT - 44.0;

/// A chart of lines.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Lines {
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// The series, at most [`super::MOST_SERIES`].
    pub series: Vec<Series>,
    /// Stretches of the horizontal axis that are marked.
    pub bands: Vec<Band>,
    /// Values of the vertical axis that are marked.
    pub rules: Vec<Rule>,
    /// Stretches of the vertical axis that are marked.
    pub spans: Vec<Band>,
    /// Values of the horizontal axis that are marked: where a level changes.
    pub steps: Vec<Rule>,
    /// The points are not joined: nothing lies between them.
    pub loose: bool,
}

/// One line.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Its points.
    pub points: Vec<Point>,
}

impl Series {
    /// The points that have a value.
    fn shown(&self) -> impl Iterator<Item = &Point> {
        self.points.iter().filter(|point| !point.y.is_nan())
    }
}

/// One point.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Point {
    /// Along the horizontal axis.
    pub x: f64,
    /// Along the vertical axis; what is no number interrupts the line and stands in no table.
    pub y: f64,
    /// Words beside it, or empty.
    pub label: String,
    /// How far it can be relied on.
    pub state: State,
}

impl Point {
    /// A point without words.
    pub fn new(x: f64, y: f64) -> Point {
        Point {
            x,
            y,
            ..Point::default()
        }
    }
}

/// A marked stretch.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Band {
    /// Its beginning.
    pub from: f64,
    /// Its end.
    pub to: f64,
    /// What it is.
    pub name: String,
}

/// A marked value.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Rule {
    /// The value.
    pub at: f64,
    /// What it is.
    pub name: String,
}

impl Lines {
    fn points(&self) -> impl Iterator<Item = &Point> {
        self.series.iter().flat_map(Series::shown)
    }

    /// Values of `x` for a table with a column for each series: where several series with few
    /// points stand over much the same values, and no point has words.
    fn rows_of_all(&self) -> Option<Vec<f64>> {
        let most = self.series.iter().map(|series| series.points.len()).max()?;
        let fits = self.series.len() > 1
            && most <= MOST_MARKS
            && self.points().all(|point| point.label.is_empty());
        let mut xs: Vec<f64> = self.points().map(|point| point.x).collect();
        xs.sort_unstable_by(f64::total_cmp);
        xs.dedup();
        (fits && xs.len() * 2 <= most * 3).then_some(xs)
    }

    pub(super) fn draw(&self) -> (String, f64) {
        let mut svg = Svg::default();
        let ends = self.bands.iter().flat_map(|band| [band.from, band.to]);
        let x = Laid::new(&self.x, self.points().map(|p| p.x).chain(ends), LEFT, RIGHT);
        let rules = self.rules.iter().map(|rule| rule.at);
        let rules = rules.chain(self.spans.iter().flat_map(|span| [span.from, span.to]));
        let y = Laid::new(
            &self.y,
            self.points().map(|p| p.y).chain(rules),
            BOTTOM,
            TOP,
        );
        for band in &self.bands {
            if let (Some(from), Some(to)) = (x.at(band.from), x.at(band.to)) {
                svg.rect("band", (from, TOP), (to - from, BOTTOM - TOP), &band.name);
                svg.text(
                    "small",
                    "start",
                    from + 3.0,
                    TOP + 11.0,
                    &cut(&band.name, 40),
                );
            }
        }
        for span in &self.spans {
            if let (Some(low), Some(high)) = (y.at(span.from), y.at(span.to)) {
                let (at, size) = ((LEFT, high), (RIGHT - LEFT, low - high));
                svg.rect("band", at, size, &span.name);
            }
        }
        frame(&mut svg, &x, &y);
        for step in &self.steps {
            if let Some(at) = x.at(step.at) {
                svg.line("rule", at, TOP, at, BOTTOM);
            }
        }
        for rule in &self.rules {
            if let Some(at) = y.at(rule.at) {
                svg.line("rule", LEFT, at, RIGHT, at);
                svg.text("small", "end", RIGHT, at - 3.0, &cut(&rule.name, 60));
            }
        }
        for (index, series) in self.series.iter().enumerate() {
            let at = |point: &Point| Some((x.at(point.x)?, y.at(point.y)?));
            svg.begin_series(index);
            if !self.loose {
                svg.path("line", series.points.iter().map(at));
            }
            if self.loose || series.points.len() <= MOST_MARKS {
                // Words beside every point would lie on each other where there are many.
                let every = series.points.len().div_ceil(6);
                let mut told: Vec<(f64, f64)> = Vec::new();
                for (number, point) in series.points.iter().enumerate() {
                    let Some(place) = at(point) else { continue };
                    svg.mark(index, point.state, place, &self.tip(series, point));
                    let worded = !point.label.is_empty() && index == 0 && !self.loose;
                    let (px, py) = (place.0 + 5.0, place.1 - 6.0);
                    let near = |other: &(f64, f64)| {
                        (other.0 - px).abs() < 34.0 && (other.1 - py).abs() < 12.0
                    };
                    if worded && number % every == 0 && !told.iter().any(near) {
                        told.push((px, py));
                        let anchor = if px > RIGHT - 40.0 { "end" } else { "start" };
                        svg.text("small", anchor, px, py, &cut(&point.label, 16));
                    }
                }
            }
            svg.end();
        }
        (svg.text, HEIGHT)
    }

    fn tip(&self, series: &Series, point: &Point) -> String {
        let mut tip = String::new();
        for word in [&series.name, &point.label] {
            if !word.is_empty() {
                tip += word;
                tip += ": ";
            }
        }
        let (x, y) = (self.x.unit.show(point.x), self.y.unit.show(point.y));
        tip + &x + ", " + &y + point.state.mark()
    }

    pub(super) fn table(&self) -> Table {
        let (x, y) = (&self.x, &self.y);
        if let Some(xs) = self.rows_of_all() {
            let heads = self.series.iter().map(|s| Column::of(&s.name, y.unit));
            let row = |at: &f64| {
                let cells = self.series.iter().map(|series| {
                    let point = series.shown().find(|point| point.x == *at);
                    let state = point.map_or(State::Good, |point| point.state);
                    Cell::stated(y.unit, point.map(|point| point.y), state)
                });
                [Cell::of(x.unit, *at)].into_iter().chain(cells).collect()
            };
            return Table {
                columns: [Column::of(&x.title, x.unit)]
                    .into_iter()
                    .chain(heads)
                    .collect(),
                rows: xs.iter().map(row).collect(),
            };
        }
        let named = self.series.len() > 1;
        let labelled = self.points().any(|point| !point.label.is_empty());
        let mut columns = Vec::new();
        columns.extend(named.then(|| Column::words("series")));
        columns.extend(labelled.then(|| Column::words("point")));
        columns.extend([Column::of(&x.title, x.unit), Column::of(&y.title, y.unit)]);
        let mut rows = Vec::new();
        for series in &self.series {
            for point in series.shown() {
                let mut row = Vec::new();
                row.extend(named.then(|| Cell::words(&series.name)));
                row.extend(labelled.then(|| Cell::words(&point.label)));
                row.push(Cell::of(x.unit, point.x));
                row.push(Cell::stated(y.unit, Some(point.y), point.state));
                rows.push(row);
            }
        }
        Table { columns, rows }
    }
}

/// Grid, ticks and titles of both axes.
pub(super) fn frame(svg: &mut Svg, x: &Laid<'_>, y: &Laid<'_>) {
    for (at, text) in y.ticks() {
        svg.line("grid", LEFT, at, RIGHT, at);
        svg.text("tick", "end", LEFT - 5.0, at + 4.0, &text);
    }
    let mut free = f64::NEG_INFINITY;
    for (at, text) in x.ticks() {
        svg.line("grid", at, BOTTOM, at, BOTTOM + 4.0);
        let half = text.len() as f64 * 3.4 + 2.0;
        // Texts that would run into each other are left out; their ticks stay.
        if at - half >= free {
            svg.text("tick", "middle", at, BOTTOM + 17.0, &text);
            free = at + half;
        }
    }
    svg.line("axis", LEFT, BOTTOM, RIGHT, BOTTOM);
    svg.line("axis", LEFT, TOP, LEFT, BOTTOM);
    svg.text(
        "title",
        "middle",
        (LEFT + RIGHT) / 2.0,
        HEIGHT - 8.0,
        &x.title,
    );
    svg.upright("title", 13.0, (TOP + BOTTOM) / 2.0, &y.title);
}

/// The plane that lines are drawn in: axes laid along the same edges for other charts.
pub(super) fn plane<'a>(
    x: &'a Axis,
    xs: impl Iterator<Item = f64>,
    y: &'a Axis,
    ys: impl Iterator<Item = f64>,
) -> (Laid<'a>, Laid<'a>) {
    debug_assert!(
        y.scale != Scale::Nines,
        "percentiles run along the horizontal axis"
    );
    (Laid::new(x, xs, LEFT, RIGHT), Laid::new(y, ys, BOTTOM, TOP))
}

/// Lower edge and height of that plane.
pub(super) const FLOOR: f64 = BOTTOM;
pub(super) const PLANE_HEIGHT: f64 = HEIGHT;
