//! Lines of latencies and samples, and the lists of percentiles.

use crate::import::{Out, scan};
use serde_json::{Map, Value, json};

/// Minimum, maximum, mean and deviation, in nanoseconds or in the unit of samples.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spread {
    pub min: f64,
    pub max: f64,
    pub mean: f64,
    pub stddev: f64,
    /// 0 where it is not printed.
    pub samples: u64,
}

/// Percentiles of one class as printed.
#[derive(Clone, Debug, Default)]
pub(super) struct Percentiles {
    /// Percent and nanoseconds, ascending.
    pub values: Vec<(f64, u64)>,
    unit_ns: f64,
}

/// The unit in the parentheses of `clat (usec): min=...`.
pub(super) fn unit_of(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once('(')?;
    let (unit, _) = rest.split_once(')')?;
    Some(unit.trim())
}

/// `min=, max=, avg=, stdev=`, each times `scale`. A key with one wrong letter is taken and
/// noted.
pub(super) fn spread(at: usize, text: &str, scale: f64, out: &mut Out) -> Option<Spread> {
    let mut figure = |key: &str, decimal: bool| {
        let (value, typed) = scan::after_like(text, key)?;
        let number = scan::printed(value)?;
        let unit = scan::count_unit(number.unit).or((decimal).then_some(1.0))?;
        if !typed.is_empty() && !typed.eq_ignore_ascii_case(key) {
            out.problem(at, format!("`{typed}` was read as `{key}`"));
        }
        Some(number.value * unit * scale)
    };
    let whole = Spread {
        min: figure("min", false)?,
        max: figure("max", false)?,
        mean: figure("avg", false)?,
        stddev: figure("stdev", false)?,
        samples: 0,
    };
    let sane = whole.min <= whole.mean * 1.01 + scale && whole.mean <= whole.max * 1.01 + scale;
    sane.then(|| Spread {
        samples: scan::after(text, "samples")
            .and_then(|text| scan::list(text, ',').first().copied())
            .unwrap_or(0),
        ..whole
    })
}

impl Percentiles {
    /// A list in this unit.
    pub fn new(unit_ns: f64) -> Self {
        Percentiles {
            values: Vec::new(),
            unit_ns,
        }
    }

    /// Takes the entries of a line. Only whole entries count, in ascending order of percent and
    /// value: a scanner that shuffles words breaks one or the other.
    pub fn line(&mut self, at: usize, text: &str, out: &mut Out) {
        let mut damaged = text
            .trim_start_matches([' ', '|', '\t'])
            .starts_with(|c: char| {
                // A line begins with a percent, or with the value of an entry that was cut.
                !c.is_ascii_digit()
            });
        let mut from = 0;
        let mut taken_to = 0;
        while let Some(found) = text[from..].find("th=[") {
            let (head, body) = (&text[..from + found], &text[from + found + 4..]);
            from += found + 4;
            let digits = |c: char| c.is_ascii_digit() || c == '.';
            let start = head.trim_end_matches(digits).len();
            let between = text.get(taken_to..start).unwrap_or_default();
            damaged |= between.contains(']');
            let value =
                scan::printed(body).filter(|value| value.rest.trim_start().starts_with(']'));
            let (Ok(percent), Some(value)) = (head[start..].parse::<f64>(), value) else {
                damaged = true;
                taken_to = from;
                continue;
            };
            taken_to = text.len() - value.rest.len() + 1;
            let ns = (value.value * self.unit_ns).round() as u64;
            damaged |= !self.put(percent, ns);
        }
        damaged |= text
            .get(taken_to..)
            .is_some_and(|rest| rest.contains([']', '[']));
        if damaged {
            out.unreadable(at, text);
        }
    }

    /// False when it contradicts what is known.
    fn put(&mut self, percent: f64, ns: u64) -> bool {
        let after = self.values.iter().position(|(known, _)| *known >= percent);
        let Some(after) = after else {
            let ascends = self.values.last().is_none_or(|(_, last)| *last <= ns);
            if ascends && percent <= 100.0 {
                self.values.push((percent, ns));
            }
            return ascends;
        };
        // Scanners repeat lines; the same figure twice is no contradiction.
        self.values[after] == (percent, ns)
    }
}

/// The tree of one class: `n` latencies with this spread and these percentiles.
pub(super) fn tree(spread: Option<Spread>, percentiles: Option<&Percentiles>, n: u64) -> Value {
    let mut tree = Map::new();
    let known = spread.unwrap_or_default();
    let n = if spread.is_some() { n } else { 0 };
    tree.insert("min".to_owned(), json!(known.min.round() as u64));
    tree.insert("max".to_owned(), json!(known.max.round() as u64));
    tree.insert("mean".to_owned(), json!(known.mean));
    tree.insert("stddev".to_owned(), json!(known.stddev));
    tree.insert("N".to_owned(), json!(n));
    if let Some(list) = percentiles.filter(|list| !list.values.is_empty()) {
        let pairs = list
            .values
            .iter()
            .map(|(percent, ns)| (format!("{percent:.6}"), json!(ns)));
        tree.insert("percentile".to_owned(), Value::Object(pairs.collect()));
    }
    Value::Object(tree)
}
