//! How much this machine's figures vary without a reason.

use super::Side;
use crate::history::Place;
use judge::compare::{change_points, noise_threshold, variation};
use std::collections::BTreeMap;
use store::{Entry, Filter};

/// Fewest equal runs that tell a variation.
const FEWEST: usize = 4;
/// Most runs of the history that are looked at.
const MOST: u32 = 1000;

/// Coefficients of variation of equal runs, by metric.
#[derive(Debug, Default)]
pub struct Noise(BTreeMap<String, Vec<f64>>);

impl Noise {
    /// From the two sides, and from the runs of the same hosts in the history, where there is one.
    pub fn of(sides: &[Side; 2], place: &Place) -> Noise {
        let mut noise = Noise::default();
        for side in sides {
            let mut series = Groups::new();
            for known in &side.runs {
                for metric in &known.metrics {
                    let key = ["", &metric.job, &metric.direction, &metric.name];
                    add(&mut series, key, metric.value);
                }
            }
            noise.take(series);
        }
        let runs = sides.iter().flat_map(|side| &side.runs);
        let mut hosts: Vec<&str> = runs.filter_map(|known| known.host.as_deref()).collect();
        hosts.sort_unstable();
        hosts.dedup();
        for host in hosts {
            noise.take(of_host(host, place));
        }
        noise
    }

    fn take(&mut self, groups: Groups) {
        for (key, values) in groups {
            let known = self.0.entry(key[3].clone()).or_default();
            known.extend(segments(&values).into_iter().map(variation));
        }
    }

    /// The least effect of this metric that counts.
    pub fn threshold(&self, metric: &str) -> f64 {
        noise_threshold(self.0.get(metric).map_or(&[], Vec::as_slice))
    }
}

/// Values over time by configuration, job, direction and metric.
type Groups = BTreeMap<[String; 4], Vec<f64>>;

fn add(groups: &mut Groups, key: [&str; 4], value: f64) {
    groups
        .entry(key.map(str::to_owned))
        .or_default()
        .push(value);
}

/// The last runs of a host. A history that cannot be read is as good as none here: who asked for
/// runs of it has been told.
fn of_host(host: &str, place: &Place) -> Groups {
    let filter = Filter {
        host: Some(host.to_owned()),
        last: Some(MOST),
        figures: true,
        ..Filter::default()
    };
    let entries = place.open_known().ok();
    let entries = entries.and_then(|store| store.list(&filter).ok());
    let mut groups = Groups::new();
    let whole = |entry: &&Entry| !entry.partial;
    for entry in entries.iter().flatten().filter(whole) {
        let work = format!("{} {}", entry.configuration, entry.devices.join(" "));
        for metric in &entry.metrics {
            let key = [&work, &metric.job, &metric.direction, &metric.name];
            add(&mut groups, key.map(String::as_str), metric.value);
        }
    }
    groups
}

/// Stretches of one level: a step has a reason and is no noise.
fn segments(values: &[f64]) -> Vec<&[f64]> {
    let mut bounds = vec![0];
    bounds.extend(change_points(values).iter().map(|change| change.at));
    bounds.push(values.len());
    bounds
        .windows(2)
        .map(|pair| &values[pair[0]..pair[1]])
        .filter(|segment| segment.len() >= FEWEST)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_no_noise() {
        let level = [100.0, 101.0, 99.0, 100.5, 99.5, 100.0, 101.0, 99.0];
        let mut values = level.to_vec();
        values.extend(level.map(|value| 2.0 * value));
        let mut noise = Noise::default();
        let key = ["", "j", "read", "iops"].map(str::to_owned);
        noise.take(Groups::from([(key, values)]));
        let threshold = noise.threshold("iops");
        assert!(threshold > 0.02 && threshold < 0.04, "{threshold}");
        assert_eq!(noise.threshold("p99"), 0.02);
    }
}
