//! Writing SVG: text is escaped, numbers are short.

use super::State;
use std::fmt::Write;

/// Width of a picture in its own units. A phone shows it at three quarters, a desk in columns.
pub(crate) const WIDTH: f64 = 460.0;

/// A growing piece of SVG.
#[derive(Default)]
pub(super) struct Svg {
    pub text: String,
}

impl Svg {
    /// A line.
    pub fn line(&mut self, class: &str, x1: f64, y1: f64, x2: f64, y2: f64) {
        let (x1, y1, x2, y2) = (n(x1), n(y1), n(x2), n(y2));
        self.put(&format!(
            r#"<line class="{class}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>"#
        ));
    }

    /// A rectangle with a tooltip, which may be empty.
    pub fn rect(&mut self, class: &str, at: (f64, f64), size: (f64, f64), tip: &str) {
        let (x, y) = (n(at.0), n(at.1));
        let (width, height) = (n(size.0.max(0.0)), n(size.1.max(0.0)));
        let shape = format!(r#"x="{x}" y="{y}" width="{width}" height="{height}""#);
        self.put(&with_tip("rect", class, &shape, tip));
    }

    /// A text; `anchor` is `start`, `middle` or `end`.
    pub fn text(&mut self, class: &str, anchor: &str, x: f64, y: f64, text: &str) {
        let (x, y, text) = (n(x), n(y), escape(text));
        self.put(&format!(
            r#"<text class="{class} {anchor}" x="{x}" y="{y}">{text}</text>"#
        ));
    }

    /// A text that runs upwards, centred.
    pub fn upright(&mut self, class: &str, x: f64, y: f64, text: &str) {
        let (x, y, text) = (n(x), n(y), escape(text));
        self.put(&format!(
            r#"<text class="{class} middle" transform="translate({x} {y}) rotate(-90)">{text}</text>"#
        ));
    }

    /// A line through points; `None` interrupts it.
    pub fn path(&mut self, class: &str, points: impl Iterator<Item = Option<(f64, f64)>>) {
        let mut d = String::new();
        let mut begun = false;
        for point in points {
            match point {
                Some((x, y)) => {
                    let _ = write!(d, "{}{} {}", if begun { "L" } else { "M" }, n(x), n(y));
                    begun = true;
                }
                None => begun = false,
            }
        }
        if !d.is_empty() {
            self.put(&format!(r#"<path class="{class}" d="{d}"/>"#));
        }
    }

    /// The mark of a series at a point, with a tooltip.
    pub fn mark(&mut self, series: usize, state: State, at: (f64, f64), tip: &str) {
        let class = format!("mark{}", state.class());
        self.put(&with_tip(
            "path",
            &class,
            &format!(r#"d="{}""#, shape(series, at)),
            tip,
        ));
    }

    /// Opens the group of a series.
    pub fn begin_series(&mut self, index: usize) {
        let class = index % super::MOST_SERIES;
        self.put(&format!(
            r#"<g class="series c{class}" data-series="{index}">"#
        ));
    }

    /// Closes a group.
    pub fn end(&mut self) {
        self.put("</g>");
    }

    /// Adds a finished piece.
    pub fn put(&mut self, piece: &str) {
        self.text.push_str(piece);
        self.text.push('\n');
    }
}

fn with_tip(element: &str, class: &str, shape: &str, tip: &str) -> String {
    if tip.is_empty() {
        return format!(r#"<{element} class="{class}" {shape}/>"#);
    }
    let tip = escape(tip);
    format!(r#"<{element} class="{class}" {shape}><title>{tip}</title></{element}>"#)
}

/// Circle, square, triangle, diamond in turn: series are told apart without colour.
fn shape(series: usize, (x, y): (f64, f64)) -> String {
    let (x, y) = (n(x), n(y));
    match series % 4 {
        0 => format!("M{x} {y}m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0"),
        1 => format!("M{x} {y}m-3 -3h6v6h-6z"),
        2 => format!("M{x} {y}m0 -4l4 7h-8z"),
        _ => format!("M{x} {y}m0 -4.5l4.5 4.5l-4.5 4.5l-4.5 -4.5z"),
    }
}

/// The key of a series for a legend: a piece of its line with its mark.
pub(crate) fn key(series: usize, id: &str) -> String {
    let class = series % super::MOST_SERIES;
    let mark = shape(series, (12.0, 6.0));
    format!(
        r#"<svg class="key" viewBox="0 0 24 12" aria-hidden="true" data-key="{id}"><g class="series c{class}"><path class="line" d="M0 6L24 6"/><path class="mark" d="{mark}"/></g></svg>"#
    )
}

/// A whole picture.
pub(super) fn document(id: &str, title: &str, body: &str, width: f64, height: f64) -> String {
    let (title, width, height) = (escape(title), n(width), n(height));
    format!(
        "<svg class=\"picture\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-labelledby=\"{id}-title\" xmlns=\"http://www.w3.org/2000/svg\">\n\
         <title id=\"{id}-title\">{title}</title>\n{body}</svg>\n"
    )
}

/// A coordinate with one decimal at most.
fn n(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    // No "-0".
    format!("{}", rounded + 0.0)
}

/// Text for an element or an attribute. Control characters, which XML has no place for, and marks
/// that turn the direction of the text around them become spaces.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() => out.push(' '),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// A text cut to `most` characters.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => {
            let kept: String = text.chars().take(most.saturating_sub(3)).collect();
            format!("{kept}...")
        }
    }
}
