//! What several runs say together that none says alone.

use crate::say::{With, finding, percent};
use result::{Finding, Job, MemoryTest, Run, Severity, Unified};
use std::collections::BTreeSet;
use units::Ddir;

/// A share of the others' I/Os in flight below which a row counts something else, percent.
const SMALL_PERCENT: f64 = 85.0;
/// Two measurements of the same memory may differ by so much, percent.
const MEMORY_PERCENT: f64 = 20.0;

/// Judges a set of runs, such as all that one file held.
pub fn across(runs: &[Run]) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(repeated(runs));
    found.extend(untested(runs));
    found.extend(missing_points(runs));
    found.extend(other_definitions(runs));
    found.extend(memory(runs));
    found
}

/// Where a run was read, for people.
fn place(run: &Run) -> String {
    let source = run.source.as_ref();
    source.map_or_else(
        || "a run".to_owned(),
        |source| format!("line {}", source.first_line),
    )
}

/// Results that stand there twice, to the last digit.
fn repeated(runs: &[Run]) -> Option<Finding> {
    let same = |a: &Run, b: &Run| !a.jobs.is_empty() && a.jobs == b.jobs && a.disks == b.disks;
    let (first, second) = runs.iter().enumerate().find_map(|(at, run)| {
        let other = runs[at + 1..].iter().find(|other| same(run, other))?;
        // A row of a table has too few digits to be known by them.
        let table = |run: &Run| run.source.as_ref().is_some_and(|one| one.format == "table");
        (!table(run)).then_some((run, other))
    })?;
    let text = format!(
        "the result at {} stands at {} again, to the last digit: it is one run, not two",
        place(first),
        place(second)
    );
    let advice = "leave one of them out before averaging";
    Some(finding("result-repeated", Severity::Warning, text, advice))
}

/// What a run was of, and what it did to it.
struct Test {
    target: String,
    what: String,
}

/// Options that make one test another.
const TELLING: [&str; 12] = [
    "rw",
    "readwrite",
    "bs",
    "bssplit",
    "ioengine",
    "iodepth",
    "direct",
    "rwmixread",
    "rwmixwrite",
    "sync",
    "oflag",
    "iflag",
];

fn test(run: &Run) -> Option<Test> {
    let job = run.jobs.first()?;
    let all = || run.global_options.iter().chain(&job.options);
    let value = |key: &str| {
        let of = all().rfind(|(name, _)| name == key);
        of.map(|(_, value)| value.clone())
    };
    let target = value("filename").or_else(|| value("directory"));
    let target = target.or_else(|| {
        ["of", "if"].iter().find_map(|key| {
            value(key)
                .filter(|path| path.starts_with('/') && path != "/dev/null" && path != "/dev/zero")
        })
    });
    let mut words: BTreeSet<String> = TELLING
        .iter()
        .filter_map(|key| Some(format!("{key}={}", value(key)?)))
        .collect();
    let format = run
        .source
        .as_ref()
        .map_or("", |source| source.format.as_str());
    words.insert(match format {
        "dd" => "dd".to_owned(),
        _ => format!("numjobs={}", job.members),
    });
    (words.len() > 1).then(|| Test {
        target: target.unwrap_or_default(),
        what: words.into_iter().collect::<Vec<_>>().join(" "),
    })
}

/// Tests that leave out targets which other tests of the set cover.
fn untested(runs: &[Run]) -> Option<Finding> {
    let tests: Vec<Test> = runs.iter().filter_map(test).collect();
    let mut all: Vec<&str> = Vec::new();
    for test in tests.iter().filter(|test| !test.target.is_empty()) {
        if !all.contains(&test.target.as_str()) {
            all.push(&test.target);
        }
    }
    if all.len() < 2 {
        return None;
    }
    let covered = |what: &str| -> BTreeSet<&str> {
        let of = tests.iter().filter(|test| test.what == what);
        of.map(|test| test.target.as_str()).collect()
    };
    // Only where most tests went to all of them is the set a grid.
    let kinds: BTreeSet<&str> = tests.iter().map(|test| test.what.as_str()).collect();
    let whole = kinds.iter().filter(|what| covered(what).len() == all.len());
    if whole.count() * 2 <= kinds.len() {
        return None;
    }
    let (what, seen) = kinds
        .iter()
        .map(|what| (*what, covered(what)))
        .find(|(_, seen)| !seen.is_empty() && seen.len() < all.len())?;
    let missing: Vec<&str> = all.into_iter().filter(|one| !seen.contains(one)).collect();
    let text = format!(
        "`{what}` has no result for {}: the other tests went there too",
        missing.join(", ")
    );
    let advice = "run it there as well; a target that was typed twice hides one that was not";
    let one = finding("target-untested", Severity::Warning, text, advice);
    Some(one.word("test", what).word("untested", &missing.join(", ")))
}

/// A sweep that was done several times, and once not to its end.
fn missing_points(runs: &[Run]) -> Option<Finding> {
    let tests: Vec<Test> = runs.iter().filter_map(test).collect();
    let mut passes: Vec<Vec<&str>> = vec![Vec::new()];
    for test in tests.iter().filter(|test| test.target.is_empty()) {
        // A point that comes again begins the next pass.
        if passes
            .last()
            .is_some_and(|pass| pass.contains(&test.what.as_str()))
        {
            passes.push(Vec::new());
        }
        passes.last_mut()?.push(&test.what);
    }
    let whole = passes.iter().max_by_key(|pass| pass.len())?.clone();
    let (at, missing) = passes.iter().enumerate().find_map(|(at, pass)| {
        let of_it = |point: &&&str| whole.contains(*point);
        let same = pass.iter().filter(of_it).count();
        let missing: Vec<&str> = whole
            .iter()
            .filter(|point| !pass.contains(point))
            .copied()
            .collect();
        // A pass of the same points, but for a few.
        let like = same >= 3 && same * 2 > whole.len() && same == pass.len();
        (like && !missing.is_empty()).then_some((at, missing))
    })?;
    let text = format!(
        "pass {} of {} over {} points lacks `{}`",
        at + 1,
        passes.len(),
        whole.len(),
        missing.join("`, `")
    );
    let advice = "measure the point that is missing before the passes are compared";
    let one = finding("point-missing", Severity::Warning, text, advice);
    Some(one.word("missing", &missing.join(", ")))
}

/// Rows of one table whose IOPS times latency, the I/Os in flight, are not the same: the mixed
/// row counts reads alone.
fn other_definitions(runs: &[Run]) -> Vec<Finding> {
    let rows: Vec<(&Run, &Job, f64)> = runs.iter().filter_map(in_flight).collect();
    let mut found = Vec::new();
    for (at, (run, job, flying)) in rows.iter().enumerate() {
        if job.reporting.unified != Unified::Mixed {
            continue;
        }
        let Some(line) = run.source.as_ref().map(|source| source.first_line) else {
            continue;
        };
        let near = |other: &&(&Run, &Job, f64)| {
            let source = other.0.source.as_ref();
            let lines = source.map(|source| source.first_line.abs_diff(line));
            lines.is_some_and(|lines| (1..=5).contains(&lines))
                && other.1.reporting.unified != Unified::Mixed
        };
        let mut depths: Vec<f64> = rows.iter().filter(near).map(|row| row.2).collect();
        depths.sort_by(f64::total_cmp);
        let Some(depth) = depths.get(depths.len() / 2).filter(|_| depths.len() >= 3) else {
            continue;
        };
        // Where the rows beside it do not agree, there is no depth to compare with.
        let spread = depths
            .last()
            .zip(depths.first())
            .map(|(most, least)| most / least);
        let share = percent(*flying, *depth);
        if share >= SMALL_PERCENT || spread.is_none_or(|spread| spread > 1.2) {
            continue;
        }
        let rate = job.dirs[Ddir::Read].iops();
        let total = rate * 100.0 / share;
        let text = format!(
            "{}, at {}: {rate:.0} IOPS times their latency are {flying:.0} I/Os in flight, \
             {share:.0} % of the {depth:.0} of the rows beside it: it counts one direction of the \
             mix, and both make about {total:.0}",
            job.name,
            place(rows[at].0)
        );
        let advice = "give reads, writes and their sum in every row";
        found.push(
            finding("counts-one-direction", Severity::Warning, text, advice)
                .number("share_percent", share)
                .number("total_iops", total),
        );
    }
    found
}

/// Little's law: I/Os per second times seconds each takes.
fn in_flight(run: &Run) -> Option<(&Run, &Job, f64)> {
    let source = run.source.as_ref()?;
    let [job] = &run.jobs[..] else { return None };
    let dir = job.dirs.0.iter().find(|dir| dir.iops() > 0.0)?;
    let latency = dir.mean_latency_ns()?;
    (source.format == "table").then(|| (run, job, dir.iops() * latency / 1e9))
}

/// The same mix of the same memory, measured in two ways.
fn memory(runs: &[Run]) -> Vec<Finding> {
    let tables = runs.iter().flat_map(|run| &run.memory_tables);
    let mut peaks: Vec<Vec<f64>> = Vec::new();
    let mut matrices: Vec<f64> = Vec::new();
    for table in tables {
        let values = table
            .rows
            .iter()
            .flat_map(|row| row.values.iter().flatten());
        match table.test {
            MemoryTest::PeakInjection => peaks.push(values.copied().collect()),
            MemoryTest::BandwidthMatrix => matrices.extend(values),
            _ => {}
        }
    }
    const MIXES: [&str; 5] = ["reads", "3:1", "2:1", "1:1", "stream-triad like"];
    // One node: a value for each mix, in the same order as the peaks.
    if peaks.is_empty() || matrices.len() != peaks.len() * MIXES.len() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (machine, (peak, matrix)) in peaks.iter().zip(matrices.chunks(MIXES.len())).enumerate() {
        // The last mix is another one in the two tests.
        let pairs = peak.iter().zip(matrix).zip(MIXES).take(MIXES.len() - 1);
        for ((peak, matrix), mix) in pairs {
            let apart = 100.0 - percent(matrix.min(*peak), matrix.max(*peak));
            if apart < MEMORY_PERCENT {
                continue;
            }
            let text = format!(
                "memory of machine {}, {mix}: {matrix:.0} MB/s in the matrix and {peak:.0} at peak \
                 injection are {apart:.0} % apart, from one run each",
                machine + 1
            );
            let advice = "repeat both, and quote a median with its spread";
            found.push(
                finding("single-run", Severity::Warning, text, advice)
                    .number("apart_percent", apart),
            );
        }
    }
    found
}
