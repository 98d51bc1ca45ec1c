//! The comparison itself is tested: a report that was tampered with must not pass.

use super::compare::{Fixed, text_differences};
use crate::harness::command::have_peer;
use crate::harness::{Scratch, Tool, fio};

/// A real report of the installed fio in all three formats.
fn report() -> Option<String> {
    if !have_peer("the comparison's own test") {
        return None;
    }
    let scratch = Scratch::new("selftest");
    let command = fio("--name=a --rw=randrw --bs=4k --size=2m --fdatasync=32 --ioengine=libaio")
        .args(["--iodepth=4", "--output-format=normal,json+,terse"])
        .in_dir(scratch.path())
        .with(Tool::Peer);
    Some(command.ok().stdout)
}

#[test]
fn a_report_equals_itself() {
    let Some(report) = report() else { return };
    assert_eq!(
        text_differences(&report, &report, Fixed::Totals),
        Vec::<String>::new()
    );
}

#[test]
fn every_dropped_line_is_noticed() {
    let Some(report) = report() else { return };
    let lines: Vec<&str> = report.lines().collect();
    // Lines that repeat a kind, data-dependent bins and what a short run may lack.
    let expendable = |line: &str| {
        let repeated = ["     | ", "  lat (", "   bw (", "   iops  "];
        let bin = line
            .trim()
            .trim_start_matches('"')
            .starts_with(|c: char| c.is_ascii_digit());
        line.is_empty() || bin || repeated.iter().any(|prefix| line.starts_with(prefix))
    };
    let newer = ["latency_target_ns", "latency_window_us", "job_start"];
    for (index, line) in lines.iter().enumerate() {
        if expendable(line) || newer.iter().any(|key| line.contains(key)) {
            continue;
        }
        let mut rest = lines.clone();
        rest.remove(index);
        let found = text_differences(&report, &rest.join("\n"), Fixed::Totals);
        assert!(
            !found.is_empty(),
            "dropping `{line}` (line {}) went unnoticed",
            index + 1
        );
    }
}

#[test]
fn changed_keys_types_values_and_fields_are_noticed() {
    let Some(report) = report() else { return };
    for (from, to) in [
        ("\"bw_mean\"", "\"bw_meen\""),
        ("\"rw\" : \"randrw\"", "\"rw\" : \"read\""),
        ("\"bw_samples\" : 0", "\"bw_samples\" : 0.5"),
        ("\"error\" : 0", "\"error\" : 5"),
        ("  cpu          : usr=", "  cpu         : usr="),
        ("issued rwts:", "issued rwt:"),
        ("IO depths    : 1=", "IO depths    : "),
        ("3;fio-", "4;fio-"),
        ("Run status group", "Run status groups"),
    ] {
        let changed = report.replacen(from, to, 1);
        assert_ne!(changed, report, "`{from}` is not in the report");
        let found = text_differences(&report, &changed, Fixed::Totals);
        assert!(!found.is_empty(), "`{from}` -> `{to}` went unnoticed");
    }
}

#[test]
fn a_wrong_total_is_noticed_only_where_the_job_fixes_it() {
    let Some(report) = report() else { return };
    let at = report.find("\"total_ios\" : ").expect("a JSON report") + "\"total_ios\" : ".len();
    let mut changed = report.clone();
    changed.insert(at, '9');
    assert!(!text_differences(&report, &changed, Fixed::Totals).is_empty());
    assert!(text_differences(&report, &changed, Fixed::Form).is_empty());
}
