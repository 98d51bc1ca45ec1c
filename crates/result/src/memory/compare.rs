//! Is memory slower than it was? Every figure of one document against the same one of another.

use super::{Conditions, Figure, LineState, Memory};

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Rates.
    Higher,
    /// Latencies.
    Lower,
}

/// A figure with a name by which the same one is found in another document.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<'a> {
    /// Such as `bandwidth read, 2 threads`.
    pub name: String,
    /// Which way is better.
    pub better: Direction,
    /// The figure.
    pub figure: &'a Figure,
}

/// All figures of a document that can be compared. Points of a curve under load are left out:
/// at the same delay another machine is at another bandwidth; its latencies at shares of the peak
/// are derived and have no spread of their own.
pub fn figures(memory: &Memory) -> Vec<Named<'_>> {
    let mut all = Vec::new();
    let mut add = |name: String, better, figure| {
        all.push(Named {
            name,
            better,
            figure,
        });
    };
    for row in memory.latency.iter().flat_map(|latency| &latency.rows) {
        let name = format!("latency {}, {} KiB pages", row.name, row.pages.bytes >> 10);
        add(name, Direction::Lower, &row.ns);
    }
    for curve in memory.cache.iter().flat_map(|cache| &cache.curves) {
        for point in &curve.points {
            let name = format!(
                "latency in {} KiB, {} KiB pages",
                point.bytes >> 10,
                curve.pages.bytes >> 10
            );
            add(name, Direction::Lower, &point.ns);
        }
    }
    for row in memory
        .bandwidth
        .iter()
        .flat_map(|bandwidth| &bandwidth.rows)
    {
        let name = format!("bandwidth {}, {} threads", row.name, row.cpus.len());
        add(name, Direction::Higher, &row.rate);
    }
    for pair in memory.c2c.iter().flat_map(|c2c| &c2c.pairs) {
        let state = match pair.state {
            LineState::Modified => "modified",
            LineState::Clean => "clean",
        };
        let home = pair
            .home
            .map_or(String::new(), |home| format!(", home {home}"));
        let name = format!("{state} line {} -> {}{home}", pair.writer, pair.reader);
        add(name, Direction::Lower, &pair.ns);
    }
    if let Some(matrix) = &memory.matrix {
        for (what, better, rows) in [
            ("latency", Direction::Lower, &matrix.latency_ns),
            ("reads", Direction::Higher, &matrix.read),
            ("writes", Direction::Higher, &matrix.write),
        ] {
            for (from, row) in matrix.from.iter().zip(rows) {
                for (to, figure) in matrix.to.iter().zip(row) {
                    add(format!("{what} node {from} -> {to}"), better, figure);
                }
            }
        }
    }
    all
}

/// What became of one figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Not worse than allowed.
    Holds,
    /// The median is worse than allowed, the interval reaches back into what is allowed.
    Unsure,
    /// Worse than allowed over the whole of its interval.
    Worse,
    /// The new document lacks it.
    Missing,
}

/// One figure beside its baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// Its name.
    pub name: String,
    /// Which way is better.
    pub better: Direction,
    /// Median of the baseline.
    pub base: f64,
    /// Median now; `None` where it is missing.
    pub now: Option<f64>,
    /// How much worse, as a share of the baseline; negative is better.
    pub worse_by: f64,
    /// What that means.
    pub verdict: Verdict,
}

/// Compares every figure of `base` with `now`; `max_regress` is the share by which one may be
/// worse, 0.03 for three percent.
pub fn compare(base: &Memory, now: &Memory, max_regress: f64) -> Vec<Compared> {
    let present = figures(now);
    let judge = |named: Named<'_>| {
        let found = present.iter().find(|other| other.name == named.name);
        let worse = |value: f64| match named.better {
            Direction::Higher => (named.figure.median - value) / named.figure.median,
            Direction::Lower => (value - named.figure.median) / named.figure.median,
        };
        let (worse_by, verdict) = match found {
            None => (0.0, Verdict::Missing),
            Some(found) => {
                let kind_end = match named.better {
                    Direction::Higher => found.figure.high,
                    Direction::Lower => found.figure.low,
                };
                let worse_by = worse(found.figure.median);
                let verdict = if worse(kind_end) > max_regress {
                    Verdict::Worse
                } else if worse_by > max_regress {
                    Verdict::Unsure
                } else {
                    Verdict::Holds
                };
                (worse_by, verdict)
            }
        };
        Compared {
            base: named.figure.median,
            now: found.map(|found| found.figure.median),
            name: named.name,
            better: named.better,
            worse_by,
            verdict,
        }
    };
    let measured = |named: &Named<'_>| named.figure.median > 0.0;
    figures(base)
        .into_iter()
        .filter(measured)
        .map(judge)
        .collect()
}

/// What differs in the circumstances so that a comparison says little about the memory.
pub fn differences(base: &Conditions, now: &Conditions) -> Vec<String> {
    let mut all = Vec::new();
    let mut differ = |what: &str, base: String, now: String| {
        if base != now {
            all.push(format!("{what}: {base} then, {now} now"));
        }
    };
    differ("processor", base.processor.clone(), now.processor.clone());
    differ(
        "CPUs",
        base.cpus.len().to_string(),
        now.cpus.len().to_string(),
    );
    let kib = |c: &Conditions| format!("{} KiB", c.pages.bytes >> 10);
    differ("pages", kib(base), kib(now));
    differ("prefetchers", base.prefetch.clone(), now.prefetch.clone());
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
    differ("hypervisor", text(&base.hypervisor), text(&now.hypervisor));
    differ("governor", text(&base.governor), text(&now.governor));
    differ("SMT", format!("{:?}", base.smt), format!("{:?}", now.smt));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Bandwidth, BandwidthRow, Latency, LatencyRow};

    fn figure(median: f64, low: f64, high: f64) -> Figure {
        Figure {
            median,
            low,
            high,
            ..Figure::default()
        }
    }

    fn memory(ns: Figure, rate: Figure) -> Memory {
        Memory {
            latency: Some(Latency {
                rows: vec![LatencyRow {
                    name: "random".into(),
                    ns,
                    ..LatencyRow::default()
                }],
                ..Latency::default()
            }),
            bandwidth: Some(Bandwidth {
                rows: vec![BandwidthRow {
                    name: "read".into(),
                    cpus: vec![0, 1],
                    rate,
                    ..BandwidthRow::default()
                }],
                ..Bandwidth::default()
            }),
            ..Memory::default()
        }
    }

    #[test]
    fn worse_beyond_the_interval_fails_and_within_it_is_unsure() {
        let base = memory(figure(100.0, 99.0, 101.0), figure(10.0, 9.9, 10.1));
        let verdicts = |ns, rate| {
            let now = memory(ns, rate);
            let all = compare(&base, &now, 0.03);
            all.into_iter().map(|one| one.verdict).collect::<Vec<_>>()
        };
        let same = figure(10.0, 9.9, 10.1);
        let slower = figure(105.0, 104.0, 106.0);
        let maybe = figure(105.0, 102.0, 108.0);
        assert_eq!(
            verdicts(slower, same.clone()),
            [Verdict::Worse, Verdict::Holds]
        );
        assert_eq!(verdicts(maybe, same.clone())[0], Verdict::Unsure);
        // Faster is no regression, whichever way the quantity goes.
        let faster = figure(90.0, 89.0, 91.0);
        assert_eq!(
            verdicts(faster.clone(), figure(11.0, 10.9, 11.1)),
            [Verdict::Holds; 2]
        );
        assert_eq!(verdicts(faster, figure(9.0, 8.9, 9.1))[1], Verdict::Worse);
    }

    #[test]
    fn what_is_missing_is_named() {
        let base = memory(figure(100.0, 99.0, 101.0), figure(10.0, 9.9, 10.1));
        let mut now = base.clone();
        now.bandwidth = None;
        let all = compare(&base, &now, 0.03);
        assert_eq!(all[1].verdict, Verdict::Missing);
        assert_eq!(all[1].name, "bandwidth read, 2 threads");
        assert_eq!((all[0].worse_by, all[0].verdict), (0.0, Verdict::Holds));
    }

    #[test]
    fn other_circumstances_are_told() {
        let base = Conditions::default();
        let mut now = base.clone();
        assert!(differences(&base, &now).is_empty());
        now.pages.bytes = 4096;
        now.hypervisor = Some("KVM".into());
        let told = differences(&base, &now);
        assert_eq!(
            told,
            [
                "pages: 0 KiB then, 4 KiB now",
                "hypervisor: none then, KVM now"
            ]
        );
    }
}
