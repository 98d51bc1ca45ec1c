//! The same job in several runs: how far one run can be trusted.

use super::storage::Item;
use super::{Block, Section};
use crate::chart::{Axis, Band, Better, Chart, ChartData, Lines, Point, Rule, Scale, Series, Unit};
use judge::compare::{change_points, median};

/// Fewer runs show no spread.
const LEAST: usize = 3;
/// From here on the normal distribution gives the same ranks, and powers of 1/2 vanish at last.
const MANY: usize = 200;
/// More pictures than anybody looks at.
const MOST: usize = 12;

pub(super) fn section(items: &[Item<'_>]) -> Section {
    let mut groups: Vec<Vec<&Item<'_>>> = Vec::new();
    for item in items {
        let same = |group: &&mut Vec<&Item<'_>>| {
            let first = group[0];
            let known = |other: &&Item<'_>| other.index == item.index;
            first.job.name == item.job.name
                && first.direction == item.direction
                && first.settings() == item.settings()
                && !group.iter().any(known)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(item),
            None => groups.push(vec![item]),
        }
    }
    groups.retain(|group| group.len() >= LEAST);
    let mut blocks = Vec::new();
    if groups.len() > MOST {
        let words = format!("{} jobs were repeated; pictures show {MOST}.", groups.len());
        blocks.push(Block::Words(words));
    }
    blocks.extend(groups.iter().take(MOST).map(|group| strip(group)));
    Section {
        heading: "Run to run".to_owned(),
        blocks,
    }
}

/// A point for each run, their median and its interval, and where the level changes.
fn strip(group: &[&Item<'_>]) -> Block {
    let values: Vec<f64> = group.iter().map(|item| item.dir.iops()).collect();
    let point = |(at, item): (usize, &&Item<'_>)| Point {
        x: at as f64 + 1.0,
        y: item.dir.iops(),
        label: item.run.to_owned(),
        state: item.state(),
    };
    let middle = median(&values);
    let show = |value: f64| Unit::PerS.show(value);
    let mut note = format!("median {}", show(middle));
    let mut spans = Vec::new();
    match interval(&values) {
        Some((low, high)) => {
            note += &format!(", 95 % interval {} to {}", show(low), show(high));
            spans.push(Band {
                from: low,
                to: high,
                name: format!("95 % interval {} to {}", show(low), show(high)),
            });
        }
        None => note += "; fewer than six runs give no 95 % interval",
    }
    for change in change_points(&values) {
        let (before, after) = (show(change.before), show(change.after));
        note += &format!(
            "; from run {} on {after} instead of {before}",
            change.at + 1
        );
    }
    let first = group[0];
    Block::Chart(Chart {
        title: format!(
            "IOPS from run to run: {} {}",
            first.job.name, first.direction
        ),
        note,
        better: Better::More,
        data: ChartData::Lines(Lines {
            x: Axis::linear("run", Unit::Count),
            y: Axis {
                scale: Scale::Near,
                ..Axis::linear("IOPS", Unit::PerS)
            },
            series: vec![Series {
                name: first.job.name.clone(),
                points: group.iter().enumerate().map(point).collect(),
            }],
            rules: vec![Rule {
                at: middle,
                name: format!("median {}", show(middle)),
            }],
            spans,
            loose: true,
            ..Lines::default()
        }),
    })
}

/// The 95 % interval of the median from the order of the values alone (Conover, Practical
/// Nonparametric Statistics, 3.2); `None` where there are too few.
fn interval(values: &[f64]) -> Option<(f64, f64)> {
    let n = values.len();
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    // Probability that at most `k` of `n` values lie below the median.
    let (mut kept, mut sum) = (None, 0.0);
    let mut chance = 0.5f64.powi(i32::try_from(n).ok()?);
    for k in 0..n / 2 {
        sum += chance;
        if sum > 0.025 {
            break;
        }
        kept = Some(k);
        chance *= (n - k) as f64 / (k + 1) as f64;
    }
    if n > MANY {
        kept = Some((n as f64 / 2.0 - 0.98 * (n as f64).sqrt()).floor() as usize);
    }
    let k = kept?;
    Some((sorted[k], sorted[n - 1 - k]))
}

#[cfg(test)]
mod tests {
    use super::interval;

    #[test]
    fn intervals_of_the_table() {
        let values = |n: u32| (1..=n).map(f64::from).collect::<Vec<_>>();
        // Ranks of the published table of the sign test.
        for (n, ranks) in [
            (5, None),
            (6, Some((1.0, 6.0))),
            (8, Some((1.0, 8.0))),
            (9, Some((2.0, 8.0))),
            (13, Some((3.0, 11.0))),
            (20, Some((6.0, 15.0))),
        ] {
            assert_eq!(interval(&values(n)), ranks, "{n}");
        }
        let (low, high) = interval(&values(10_000)).expect("enough values");
        assert!(
            (low - 4903.0).abs() <= 2.0 && (high - 5098.0).abs() <= 2.0,
            "{low} {high}"
        );
    }
}
