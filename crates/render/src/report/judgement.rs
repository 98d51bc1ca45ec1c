//! What runs say about themselves: findings, and what was measured beside what limits allow.

use super::{Block, Cell, Column, Named, Section, Table, prefix};
use crate::chart::{Axis, Bar, Bars, Better, Chart, ChartData, Limit, Unit};
use result::{Expectation, ExpectedLimit, Judgement};

/// More findings, or workloads with limits, than anybody reads; the raw result has them all.
const MOST: usize = 60;

pub(super) fn section(runs: &[Named]) -> Section {
    let mut blocks = Vec::new();
    let mut known = Vec::new();
    let mut found = 0;
    for named in runs {
        let of = prefix(runs, named);
        let Some(judgement) = &named.run.judgement else {
            continue;
        };
        blocks.extend(verdicts(&of, judgement));
        for finding in &judgement.findings {
            found += 1;
            if found <= MOST {
                blocks.push(Block::Finding(of.clone(), finding.clone()));
            }
        }
        known.extend(judgement.expectations.iter().map(|one| (of.clone(), one)));
    }
    if found > MOST {
        let words = format!("{found} findings; these are the first {MOST}.");
        blocks.push(Block::Words(words));
    }
    known.truncate(MOST);
    if !known.is_empty() {
        blocks.push(bars(&known));
        blocks.push(sources(&known));
    }
    Section {
        heading: "Verdict and findings".to_owned(),
        blocks,
    }
}

/// A sentence for each workload that has one; the whole run's where that is all there is.
fn verdicts(of: &str, judgement: &Judgement) -> Option<Block> {
    let of_parts = judgement.expectations.iter().filter_map(|one| {
        let verdict = one.verdict.clone()?;
        Some((format!("{of}{}", one.subject), verdict))
    });
    let mut facts: Vec<(String, String)> = of_parts.collect();
    if facts.is_empty() {
        let whole = judgement.verdict.clone();
        facts.extend(whole.map(|verdict| (format!("{of}verdict"), verdict)));
    }
    (!facts.is_empty()).then_some(Block::Facts(facts))
}

/// A bar for each workload with every limit on it.
fn bars(known: &[(String, &Expectation)]) -> Block {
    let name = |(of, one): &(String, &Expectation)| {
        let block = crate::human::bytes(one.block_bytes as f64);
        format!("{of}{}, {block}", one.subject)
    };
    let list = known
        .iter()
        .map(|one| (name(one), Bar::new(one.1.measured_iops)));
    let mut bars = Bars::single(Axis::linear("IOPS", Unit::PerS), "workload", list.collect());
    for (category, (_, one)) in known.iter().enumerate() {
        let limit = |bound: &ExpectedLimit| Limit {
            category,
            name: format!(
                "{:.0} % of {},",
                100.0 * one.measured_iops / bound.iops,
                bound.name
            ),
            value: bound.iops,
        };
        bars.limits.extend(one.limits.iter().map(limit));
    }
    Block::Chart(Chart {
        title: "Measured, and what limits allow".to_owned(),
        note: "The lowest limit binds; what is far below all of them waits for something else."
            .to_owned(),
        better: Better::More,
        data: ChartData::Bars(bars),
    })
}

fn sources(known: &[(String, &Expectation)]) -> Block {
    let columns = vec![
        Column::words("limit"),
        Column::of("I/O size", Unit::Bytes),
        Column::of("IOPS", Unit::PerS),
        Column::of("bandwidth", Unit::BytesPerS),
        Column::words("source"),
    ];
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for (_, one) in known {
        for bound in &one.limits {
            let row = vec![
                Cell::words(&bound.name),
                Cell::of(Unit::Bytes, one.block_bytes as f64),
                Cell::of(Unit::PerS, bound.iops),
                Cell::of(Unit::BytesPerS, bound.bytes_per_s),
                Cell::words(source(bound)),
            ];
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
    }
    Block::Table(
        "Limits and where they are from".to_owned(),
        Table { columns, rows },
    )
}

/// Where a limit's figure is from, with its date.
fn source(limit: &ExpectedLimit) -> String {
    match limit.as_of.as_str() {
        "" => limit.source.clone(),
        as_of => format!("{} ({as_of})", limit.source),
    }
}
