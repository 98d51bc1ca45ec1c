//! How findings are written.

use result::{Figure, Finding, Severity};
use units::Human;

/// A finding without evidence yet.
pub(crate) fn finding(id: &str, severity: Severity, text: String, advice: &str) -> Finding {
    Finding {
        id: id.to_owned(),
        severity,
        text,
        advice: advice.to_owned(),
        evidence: Vec::new(),
    }
}

/// Adds evidence.
pub(crate) trait With: Sized {
    fn count(self, name: &str, value: u64) -> Self;
    fn number(self, name: &str, value: f64) -> Self;
    fn word(self, name: &str, value: &str) -> Self;
}

impl With for Finding {
    fn count(mut self, name: &str, value: u64) -> Self {
        self.evidence.push((name.to_owned(), Figure::Count(value)));
        self
    }

    fn number(mut self, name: &str, value: f64) -> Self {
        self.evidence.push((name.to_owned(), Figure::Number(value)));
        self
    }

    fn word(mut self, name: &str, value: &str) -> Self {
        let figure = Figure::Text(value.to_owned());
        self.evidence.push((name.to_owned(), figure));
        self
    }
}

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub(crate) fn bytes(n: u64) -> String {
    Human::bytes(4, 1024).show(n)
}

/// A time in the unit that suits it.
pub(crate) fn time(ns: u64) -> String {
    match ns {
        1_000_000_000.. => format!("{:.2} s", ns as f64 / 1e9),
        1_000_000.. => format!("{:.1} ms", ns as f64 / 1e6),
        _ => format!("{:.1} us", ns as f64 / 1e3),
    }
}

/// `a` in percent of `b`; 0 for nothing.
pub(crate) fn percent(a: f64, b: f64) -> f64 {
    if b > 0.0 { 100.0 * a / b } else { 0.0 }
}
