//! Reports read back: what fio printed of one run in three formats, and what we print of it,
//! all say the same.

use result::import;
use result::{Job, LatencyClass, Run};
use units::Ddir;

const GOLDENS: [(&str, &str); 9] = [
    (
        "errors",
        include_str!("parity/goldens/errors_passed_over.txt"),
    ),
    ("fsync", include_str!("parity/goldens/grouped_fsync.txt")),
    (
        "milliseconds",
        include_str!("parity/goldens/milliseconds.txt"),
    ),
    ("list", include_str!("parity/goldens/percentile_list.txt")),
    ("randrw", include_str!("parity/goldens/randrw_libaio.txt")),
    ("groups", include_str!("parity/goldens/two_groups.txt")),
    ("both", include_str!("parity/goldens/unified_both.txt")),
    ("mixed", include_str!("parity/goldens/unified_mixed.txt")),
    ("verify", include_str!("parity/goldens/verify_failed.txt")),
];

/// Jobs of all runs of a format.
fn jobs(runs: &[Run], format: &str) -> Vec<Job> {
    let of = |run: &&Run| run.source.as_ref().is_some_and(|s| s.format == format);
    runs.iter()
        .filter(of)
        .flat_map(|run| run.jobs.clone())
        .collect()
}

/// Equal as far as `digits` significant digits and one unit go.
fn near(what: &str, a: f64, b: f64, digits: f64) {
    assert!(
        (a - b).abs() <= 1.0 + a.abs() * digits,
        "{what}: {a} and {b}"
    );
}

/// `exact` comes from JSON; `printed` from a format with `digits` and times of `step_ns`.
fn same(name: &str, exact: &Job, printed: &Job, digits: f64, terse: bool) {
    assert_eq!(exact.name, printed.name, "{name}");
    assert_eq!(exact.group, printed.group, "{name}");
    for ddir in Ddir::DATA {
        let (a, b) = (&exact.dirs[ddir], &printed.dirs[ddir]);
        let what = format!("{name}, {} of {}", ddir.name(), exact.name);
        if a.runtime_ms == 0 {
            continue;
        }
        if terse && ddir == Ddir::Trim {
            continue;
        }
        assert_eq!(a.runtime_ms, b.runtime_ms, "{what}");
        near(&what, a.iops(), b.iops(), digits);
        near(
            &what,
            a.bytes_per_s() / 1024.0,
            b.bytes_per_s() / 1024.0,
            digits,
        );
        near(
            &what,
            a.bytes as f64 / 1024.0,
            b.bytes as f64 / 1024.0,
            digits,
        );
        for (a, b) in [(&a.slat, &b.slat), (&a.clat, &b.clat), (&a.lat, &b.lat)] {
            let (a, b) = (&a.moments, &b.moments);
            near(&what, a.min() as f64 / 1e3, b.min() as f64 / 1e3, 0.01);
            near(&what, a.max as f64 / 1e3, b.max as f64 / 1e3, 0.05);
            near(&what, a.mean() / 1e3, b.mean() / 1e3, 0.01);
            near(&what, a.stddev() / 1e3, b.stddev() / 1e3, 0.01);
        }
        let class = match exact.reporting.lat_percentiles && !exact.reporting.clat_percentiles {
            true => LatencyClass::Lat,
            false => LatencyClass::Clat,
        };
        for percent in [50.0, 99.0] {
            // Terse lines have those of total latency instead, when they were asked for.
            if terse && exact.reporting.lat_percentiles {
                continue;
            }
            let (a, b) = (a.percentile(class, percent), b.percentile(class, percent));
            if let (Some(a), Some(b)) = (a, b) {
                near(&what, a as f64 / 1e3, b as f64 / 1e3, 0.01);
            }
        }
    }
    let percent = |job: &Job| job.usage.user_us as f64 / job.runtime_ms.max(1) as f64 / 10.0;
    // A terse line of version 3 has no trims, and no time to take the percentage of.
    if printed.runtime_ms > 0 {
        near(name, percent(exact), percent(printed), 0.01);
    }
    assert_eq!(exact.usage.context_switches, printed.usage.context_switches);
}

#[test]
fn three_formats_of_fio_say_the_same() {
    for (name, text) in GOLDENS {
        let found = import::read(name, text);
        let exact = jobs(&found.runs, "fio-json");
        assert!(!exact.is_empty(), "{name}: {:?}", found.problems);
        for (format, digits) in [("fio-normal", 6e-3), ("fio-terse", 1e-3)] {
            let printed = jobs(&found.runs, format);
            assert_eq!(
                exact.len(),
                printed.len(),
                "{name} as {format}: {:?}",
                found.problems
            );
            for (exact, printed) in exact.iter().zip(&printed) {
                same(name, exact, printed, digits, format == "fio-terse");
            }
        }
    }
}

#[test]
fn our_reports_are_read_like_fios() {
    for (name, text) in GOLDENS {
        let found = import::read(name, text);
        let json = |run: &&Run| run.source.as_ref().is_some_and(|s| s.format == "fio-json");
        let run = found.runs.iter().find(json).expect(name);
        let reports = [
            (render::normal(run), "fio-normal", 6e-3),
            (render::json(run, false), "fio-json", 1e-9),
            (render::json(run, true), "fio-json", 1e-9),
        ];
        let terse = render::TERSE_VERSIONS.map(|(_, version)| {
            let text = render::terse(run, version);
            (text, "fio-terse", 1e-3)
        });
        for (text, format, digits) in reports.into_iter().chain(terse) {
            let again = import::read(name, &text);
            let printed = jobs(&again.runs, format);
            assert_eq!(run.jobs.len(), printed.len(), "{name} as {format}: {text}");
            for (exact, printed) in run.jobs.iter().zip(&printed) {
                same(name, exact, printed, digits, format == "fio-terse");
            }
            let disks = |runs: &[Run]| -> Vec<[u64; 2]> {
                let disks = runs.first().into_iter().flat_map(|run| run.disks.clone());
                disks.map(|disk| disk.counters.ios).collect()
            };
            if !text.starts_with("2;") {
                assert_eq!(
                    disks(std::slice::from_ref(run)),
                    disks(&again.runs),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn percentiles_survive_every_format() {
    let mut compared = 0;
    for (name, text) in GOLDENS {
        let found = import::read(name, text);
        let exact = jobs(&found.runs, "fio-json");
        for format in ["fio-normal", "fio-terse"] {
            for (exact, printed) in exact.iter().zip(jobs(&found.runs, format)) {
                let how = &exact.reporting;
                if format == "fio-terse" && how.lat_percentiles || !how.clat_percentiles {
                    continue;
                }
                for (ddir, percent) in Ddir::DATA
                    .into_iter()
                    .flat_map(|ddir| how.percentiles.iter().map(move |percent| (ddir, *percent)))
                {
                    let of = |job: &Job| job.dirs[ddir].percentile(LatencyClass::Clat, percent);
                    let Some(a) = of(exact) else { continue };
                    if format == "fio-terse" && ddir == Ddir::Trim {
                        continue;
                    }
                    let b = of(&printed).unwrap_or_else(|| panic!("{name} as {format}: {percent}"));
                    near(name, a as f64 / 1e3, b as f64 / 1e3, 1e-2);
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 200, "{compared}");
}
