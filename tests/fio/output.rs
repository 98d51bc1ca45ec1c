//! Streams and formats: what goes where, in which order, and how often.

use crate::harness::command::{documents, have_peer};
use crate::harness::{Scratch, Tool, coherent, fio};

const SMALL: &str = "--name=x --size=64k --rw=write";

#[test]
fn the_output_file_takes_everything() {
    let scratch = Scratch::new("output");
    for format in ["normal", "json", "terse"] {
        let words = format!("{SMALL} --output=report --output-format={format}");
        let outcome = fio(&words).in_dir(scratch.path()).ok();
        assert_eq!(outcome.stdout, "", "{format}");
        let text = std::fs::read_to_string(scratch.path().join("report")).expect("the report");
        assert!(text.contains('x') && text.len() > 500, "{format}: {text}");
    }
}

#[test]
fn errors_go_to_stderr_even_with_an_output_file() {
    let scratch = Scratch::new("output");
    let words = "--output=report --name=x --rw=write --size=64k --iodepthh=1";
    fio(words)
        .in_dir(scratch.path())
        .fails()
        .explains(&["iodepthh"]);
}

#[test]
fn several_formats_come_as_terse_then_json_then_normal() {
    let scratch = Scratch::new("output");
    let words = format!("{SMALL} --output-format=normal,json,terse");
    let text = fio(&words).in_dir(scratch.path()).ok().stdout;
    let at = |needle: &str| {
        text.find(needle)
            .unwrap_or_else(|| panic!("no `{needle}` in {text}"))
    };
    assert!(at("\n3;fio-") < at("\n{\n") && at("\n{\n") < at("\nx: (groupid=0"));
}

#[test]
fn json_is_alone_on_stdout() {
    let scratch = Scratch::new("output");
    for format in ["json", "json+"] {
        let words = format!("{SMALL} --iodepth=8 --output-format={format}");
        let text = fio(&words).in_dir(scratch.path()).ok().stdout;
        let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!((lines[0], lines[lines.len() - 1]), ("{", "}"), "{format}");
        assert_eq!(documents(&text).map(|all| all.len()), Ok(1), "{format}");
    }
}

#[test]
fn json_plus_adds_bins_that_add_up() {
    let scratch = Scratch::new("output");
    let words = "--name=x --size=4m --rw=randrw --output-format=json+";
    let document = fio(words).in_dir(scratch.path()).ok().json();
    assert!(document["jobs"][0]["read"]["clat_ns"]["bins"].is_object());
    assert_eq!(coherent::incoherences(&document), Vec::<String>::new());
    let plain = fio(&words.replace("json+", "json"))
        .in_dir(scratch.path())
        .ok()
        .json();
    assert!(plain["jobs"][0]["read"]["clat_ns"]["bins"].is_null());
}

#[test]
fn terse_field_counts_of_every_version() {
    if !have_peer("terse versions") {
        return;
    }
    let scratch = Scratch::new("output");
    for version in ["2", "3", "4", "5"] {
        let count = |tool: Tool| {
            let words = format!("{SMALL} --minimal --terse-version={version} --description=words");
            let outcome = fio(&words).in_dir(scratch.path()).with(tool).ok();
            let lines: Vec<usize> = outcome
                .stdout
                .lines()
                .map(|l| l.split(';').count())
                .collect();
            (
                lines,
                outcome
                    .stdout
                    .lines()
                    .next()
                    .map(|l| l.starts_with(version)),
            )
        };
        assert_eq!(count(Tool::Assay), count(Tool::Peer), "version {version}");
    }
}

#[test]
fn reports_at_intervals_only_grow() {
    let scratch = Scratch::new("output");
    let words = "--name=x --size=1m --rw=read --time_based --runtime=2500ms --status-interval=1";
    let outcome = fio(words)
        .arg("--output-format=json")
        .in_dir(scratch.path())
        .ok();
    let reports = outcome.documents();
    assert!(reports.len() >= 2, "{} documents", reports.len());
    let bytes: Vec<u64> = reports
        .iter()
        .filter_map(|r| r["jobs"][0]["read"]["io_bytes"].as_u64())
        .collect();
    assert!(
        bytes.len() == reports.len() && bytes.is_sorted() && bytes[bytes.len() - 1] > 0,
        "{bytes:?}"
    );
}

/// Latencies are kept back while they are alike: none may cross the end of the warm-up, in either
/// sense, nor be left over at the end.
#[test]
fn every_measured_request_has_its_latency_and_no_other() {
    for rw in ["randread", "randrw"] {
        let words = "--name=x --ioengine=null --size=1g --norandommap --time_based";
        let words = format!("{words} --rw={rw} --ramp_time=200ms --runtime=200ms");
        let outcome = fio(&words).arg("--output-format=json").ok();
        let job = &outcome.documents()[0]["jobs"][0];
        for direction in ["read", "write"] {
            let of = &job[direction];
            assert_eq!(of["total_ios"], of["clat_ns"]["N"], "{rw}, {direction}");
            assert_eq!(of["total_ios"], of["lat_ns"]["N"], "{rw}, {direction}");
        }
        assert!(job["read"]["total_ios"].as_u64() > Some(0), "{rw}");
    }
}

#[test]
fn the_progress_line_comes_when_asked_and_only_then() {
    let scratch = Scratch::new("output");
    let words = "--name=x --size=1m --rw=read --time_based --runtime=1500ms";
    let asked = fio(words)
        .arg("--eta=always")
        .in_dir(scratch.path())
        .ok()
        .stdout;
    assert!(asked.contains("Jobs: 1 (f=1)"), "{asked}");
    // The report's empty line ends the status line; there is no second one.
    let (line, report) = asked.rsplit_once('\r').expect("a status line");
    assert!(report.starts_with("\nx: (groupid=0"), "{asked}");
    assert!(!line.contains("Jobs: 0"), "{asked}");
    for quiet in [
        "--eta=auto",
        "--eta=never",
        "--eta=always --output-format=json",
    ] {
        let text = fio(&format!("{words} {quiet}"))
            .in_dir(scratch.path())
            .ok()
            .stdout;
        assert!(!text.contains("Jobs: 1"), "{quiet}: {text}");
    }
}

#[test]
fn the_progress_line_shows_the_limits_of_what_is_done() {
    let words = "--name=x --ioengine=null --size=1g --rw=read --time_based --runtime=1200ms \
                 --rate=20m --eta=always";
    let text = fio(words).ok().stdout;
    assert!(text.contains("Jobs: 1 (f=1), 0B/s-20.0MiB/s"), "{text}");
}

#[test]
fn idleness_is_measured_per_cpu_and_whole() {
    let scratch = Scratch::new("output");
    let words = "--idle-prof=percpu --name=x --size=1m --rw=read --time_based --runtime=1s";
    let document = fio(words)
        .arg("--output-format=json")
        .in_dir(scratch.path())
        .ok()
        .json();
    let idle = &document["cpu_idleness"];
    for key in ["system", "cpu-0", "unit_mean", "unit_stddev"] {
        assert!(idle[key].is_f64(), "{key}: {idle}");
    }
}

#[test]
fn a_descripton_is_echoed() {
    let scratch = Scratch::new("output");
    let command = || {
        fio(SMALL)
            .arg("--description=what for")
            .in_dir(scratch.path())
    };
    assert!(
        command()
            .ok()
            .stdout
            .contains("  Description  : [what for]\n")
    );
    assert_eq!(
        command().arg("--output-format=json").ok().job()["desc"],
        "what for"
    );
}

#[test]
fn a_failed_job_says_so_in_every_place() {
    let Ok(mounted) = crate::harness::Mounted::ext4(32) else {
        return crate::harness::skip("a failed job", "needs a loop device");
    };
    let words = "--name=x --rw=write --size=256m --fallocate=none --output-format=json";
    let outcome = fio(words).in_dir(mounted.path()).fails();
    assert_eq!(outcome.code, Some(1), "{outcome}");
    // A refusal before the run prints no report; a failure during it carries the error number.
    if let Some(at) = outcome.stdout.find("{\n") {
        let document: serde_json::Value =
            serde_json::from_str(&outcome.stdout[at..]).expect("a document");
        assert_eq!(document["jobs"][0]["error"], 28, "{outcome}");
    }
}
