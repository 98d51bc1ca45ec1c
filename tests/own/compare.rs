//! `assay compare`, `assay ab` and `--repeat`: are two sets of runs different?

use super::assay as own;
use super::history::{assay, list, notes, out};
use crate::harness::{Scratch, fio};
use serde_json::Value;

/// Notes of one run each, its rates times each factor.
fn documents(scratch: &Scratch, name: &str, factors: &[f64]) -> Vec<String> {
    let write = |(at, factor): (usize, &f64)| {
        let (iops, rate) = (38_000.0 * factor, 148.4375 * factor);
        let text = format!(
            "| what | IOPS | Bandwidth |\n|---|---|---|\n| 4KiB randwrite | {iops} | {rate} MiB/s |\n"
        );
        let path = scratch.path().join(format!("{name}{at}.md"));
        std::fs::write(&path, text).expect("a file");
        path.to_str().expect("UTF-8").to_owned()
    };
    factors.iter().enumerate().map(write).collect()
}

pub(super) fn kept(scratch: &Scratch, tag: &str, factors: &[f64]) {
    let files = documents(scratch, tag, factors);
    let words: Vec<&str> = ["import", "--tag", tag]
        .into_iter()
        .chain(files.iter().map(String::as_str))
        .collect();
    out(&assay(scratch, &words));
}

#[test]
fn repeated_runs_are_tested() {
    let scratch = Scratch::new("compare");
    kept(&scratch, "old", &[1.0, 1.01, 0.99, 1.005, 0.995]);
    kept(&scratch, "new", &[0.9, 0.91, 0.89, 0.905, 0.895]);
    let words = ["compare", "old", "new", "--metric", "iops"];
    let text = out(&assay(&scratch, &words));
    assert!(
        text.contains("A: old (5 runs)\nB: new (5 runs)\n"),
        "{text}"
    );
    assert!(text.contains("B is 0.900 x A [0."), "{text}");
    assert!(text.contains("p = 0.008, n = 5/5: B is worse"), "{text}");
    assert!(!text.contains("informative"), "{text}");
    assert!(
        text.contains("Of 1 figure of B: 1 worse; most: 4KiB randwrite"),
        "{text}"
    );
    let failing = assay(
        &scratch,
        &[&words[..], &["--fail-if", "slower=5%"]].concat(),
    );
    assert_eq!(failing.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&failing.stderr).into_owned();
    assert!(errors.contains("write iops is worse by 10.0 %"), "{errors}");
    out(&assay(
        &scratch,
        &[&words[..], &["--fail-if", "slower=15%"]].concat(),
    ));
    let json = out(&assay(
        &scratch,
        &[&words[..], &["--format", "json"]].concat(),
    ));
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["lines"][0]["verdict"], "worse");
    let table = out(&assay(
        &scratch,
        &[&words[..], &["--format", "markdown"]].concat(),
    ));
    assert!(table.contains("| B is worse |"), "{table}");
    let trend = ["history", "trend", "iops", "--format", "json"];
    let series: Value = serde_json::from_str(&out(&assay(&scratch, &trend))).expect("JSON");
    assert_eq!(series[0]["points"].as_array().map(Vec::len), Some(10));
    assert_eq!(series[0]["steps"][0]["run"], 6);
    let trend = out(&assay(&scratch, &["history", "trend", "iops"]));
    assert!(
        trend.contains("4KiB randwrite, write") && trend.contains("10 runs"),
        "{trend}"
    );
    assert!(trend.contains("from run 6 on"), "{trend}");
}

#[test]
fn three_runs_are_too_few() {
    let scratch = Scratch::new("few");
    kept(&scratch, "old", &[1.0, 1.01, 0.99]);
    kept(&scratch, "new", &[0.9, 0.91, 0.89]);
    let text = out(&assay(
        &scratch,
        &["compare", "old", "new", "--metric", "iops"],
    ));
    assert!(text.contains("3 against 3 cannot reach p < 0.05"), "{text}");
    assert!(text.contains("4 against 4 can"), "{text}");
    let help = out(&assay(&scratch, &["ab", "--help"]));
    let help: Vec<&str> = help.split_whitespace().collect();
    let help = help.join(" ");
    assert!(
        help.contains("4 is the least that can tell a difference of one figure"),
        "{help}"
    );
    assert!(
        help.contains("2 to 6 figures are compared at once, Holm's correction needs 5"),
        "{help}"
    );
}

#[test]
fn different_work_is_informative_only() {
    let scratch = Scratch::new("different");
    out(&assay(&scratch, &["import", &notes("cloud.txt")]));
    // Sequential writes of one job and of four.
    let text = out(&assay(&scratch, &["compare", "8", "14"]));
    assert!(text.contains("informative only"), "{text}");
    assert!(text.contains("iodepth: 128 in A, 32 in B"), "{text}");
    assert!(text.contains("numjobs: not given in A, 4 in B"), "{text}");
    assert!(text.contains("n = 1/1: not tested"), "{text}");
    for words in [["compare", "8", "no such tag"], ["compare", "8", "999"]] {
        let done = assay(&scratch, &words);
        assert_eq!(done.status.code(), Some(1));
        let errors = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(
            errors.contains("no number, tag or suite of the history"),
            "{errors}"
        );
    }
    let done = assay(&scratch, &["compare", "8", "9", "--fail-if", "faster"]);
    let errors = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(
        !done.status.success() && errors.contains("slower=5%"),
        "{errors}"
    );
    let done = assay(&scratch, &["compare", "8", "9", "--metric", "speed"]);
    let errors = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(1));
    assert!(errors.contains("A has bandwidth, iops"), "{errors}");
}

#[test]
fn noise_of_the_history_decides_what_matters() {
    let scratch = Scratch::new("noise");
    let on_host = |tag: &str, kib: f64, what: &str, factors: &[f64]| {
        let mut files = Vec::new();
        for (at, factor) in factors.iter().enumerate() {
            let iops = 38_000.0 * factor;
            let rate = iops * kib / 1024.0;
            let text = format!(
                "| what | IOPS | Bandwidth |\n|---|---|---|\n\
                 | {kib}KiB {what} | {iops} | {rate} MiB/s |\n"
            );
            let path = scratch.file(&format!("{tag}{at}.md"), text);
            files.push(path.to_str().expect("UTF-8").to_owned());
        }
        let words = ["import", "--host", "h", "--tag", tag].into_iter();
        let words: Vec<&str> = words.chain(files.iter().map(String::as_str)).collect();
        out(&assay(&scratch, &words));
    };
    on_host("old", 4.0, "randread", &[1.0, 1.01, 0.99, 1.005, 0.995]);
    on_host("new", 4.0, "randread", &[0.93, 0.94, 0.92, 0.935, 0.925]);
    let compare = || {
        let words = [
            "compare", "old", "new", "--metric", "iops", "--format", "json",
        ];
        let text = out(&assay(&scratch, &words));
        let mut answer: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(answer["comparable"], true, "{answer}");
        answer["lines"][0].take()
    };
    let quiet = compare();
    assert_eq!(quiet["verdict"], "worse", "{quiet}");
    // Other work on the same host varies by 7 % without a reason.
    let wave = |at: usize| 1.0 + 0.02 * ((at * 7 % 11) as f64 - 5.0);
    let noisy: Vec<f64> = (0..10).map(wave).collect();
    for (tag, kib) in [("n8", 8.0), ("n16", 16.0), ("n32", 32.0), ("n64", 64.0)] {
        on_host(tag, kib, "randwrite", &noisy);
    }
    let loud = compare();
    assert!(
        loud["threshold"].as_f64() > quiet["threshold"].as_f64(),
        "{loud}"
    );
    assert_ne!(loud["verdict"], "worse", "{loud}");
    assert_eq!(loud["p"], quiet["p"]);
}

/// A job of fio without a device, in its own directory.
fn null(words: &str) -> String {
    format!("--ioengine=null --size=1m --rw=randread {words}")
}

#[test]
fn two_jobs_run_in_turn() {
    let scratch = Scratch::new("ab");
    let db = scratch.path().join("h.db");
    let run = |a: &str, b: &str, words: &str| {
        let verb = own(&format!("ab --repeat 4 {words} --db")).0.arg(&db);
        verb.arg(a)
            .arg(b)
            .in_dir(scratch.path())
            .spawn_as(std::process::Command::new(
                crate::harness::command::assay_path(),
            ))
    };
    let (a, b) = (null("--bs=4k"), null("--bs=4k --iodepth=8"));
    let text = run(&a, &b, "").wait().expect_ok().stdout;
    assert!(text.contains(&format!("A: {a} (4 runs)\n")), "{text}");
    assert!(text.contains("iodepth: not given in A, 8 in B"), "{text}");
    assert!(text.contains("informative only"), "{text}");
    assert!(
        text.contains("job, read iops") && text.contains("n = 4/4"),
        "{text}"
    );
    let kept = text.lines().last().expect("a line");
    let kept = kept.strip_prefix("kept: `assay ").expect("told");
    // In turn, and every second round the other way about.
    let runs = list(&scratch, &["--suite", "ab"]);
    let sides: String = runs
        .iter()
        .filter_map(|run| run["tags"][0].as_str()?.chars().last())
        .collect();
    assert_eq!(sides, "abbaabba");
    let again: Vec<&str> = kept.trim_end_matches('`').split(' ').collect();
    let again = out(&assay(&scratch, &again));
    assert!(
        again.contains("job, read iops") && again.contains("n = 4/4"),
        "{again}"
    );
    // JSON is alone on its stream, and nothing is kept where nothing should be.
    let document = run(&a, &a, "--no-save --format json")
        .wait()
        .expect_ok()
        .stdout;
    let document: Value = serde_json::from_str(&document).expect("JSON");
    assert_eq!(document["differences"], serde_json::json!([]), "{document}");
    assert_eq!(list(&scratch, &[]).len(), 8);
    for (a, b, why) in [
        (a.as_str(), "--ioengine=nil", "nil"),
        ("", b.as_str(), "empty job"),
        ("'", b.as_str(), "quote"),
    ] {
        let outcome = run(a, b, "").wait();
        assert_eq!(outcome.code, Some(1), "{outcome}");
        assert!(outcome.stderr.contains(why), "{outcome}");
    }
    assert_eq!(list(&scratch, &[]).len(), 8);
}

#[test]
fn a_job_file_of_one_name_stands_against_another() {
    let scratch = Scratch::new("ab-files");
    let file = |name: &str| {
        let text = format!("[{name}]\nioengine=null\nsize=1m\nrw=write\n");
        scratch.file(&format!("{name}.fio"), text)
    };
    let words = own("ab --repeat 1 --no-save").0;
    let words = words.arg(file("one")).arg(file("two"));
    let running = words.spawn_as(std::process::Command::new(
        crate::harness::command::assay_path(),
    ));
    let text = running.wait().expect_ok().stdout;
    assert!(text.contains("one against two, write iops"), "{text}");
    assert!(text.contains("repeat each at least 4 times"), "{text}");
}

#[test]
fn repeated_jobs_are_runs_of_their_own() {
    let scratch = Scratch::new("repeat");
    let db = scratch.path().join("h.db");
    let words = "--name=j --ioengine=null --size=1m --rw=write --repeat=3 --output-format=json";
    let outcome = fio(words).env("ASSAY_DB", db.to_str().expect("UTF-8")).ok();
    assert_eq!(outcome.documents().len(), 3);
    assert_eq!(list(&scratch, &[]).len(), 3);
    // A failure ends it.
    let failing =
        "--name=j --filename=missing --allow_file_create=0 --size=1m --rw=read --repeat=3";
    let failed = fio(failing).in_dir(scratch.path()).fails();
    assert_eq!(failed.stderr.lines().count(), 1, "{failed}");
    fio("--name=j --ioengine=null --size=1m --rw=write --repeat=0").fails();
}

#[test]
fn a_run_has_its_seconds() {
    let scratch = Scratch::new("seconds");
    let db = scratch.path().join("h.db");
    let words = "--name=j --ioengine=null --size=1g --rw=randread --time_based --runtime=3 \
                 --rate_iops=1000 --numjobs=2 --group_reporting";
    fio(words).env("ASSAY_DB", db.to_str().expect("UTF-8")).ok();
    let shown = out(&assay(
        &scratch,
        &["history", "show", "1", "--format", "json"],
    ));
    let run: Value = serde_json::from_str(&shown).expect("JSON");
    for job in run["jobs"].as_array().expect("jobs") {
        let series = job["series"].as_array().expect("series");
        assert_eq!(series.len(), 2, "{series:?}");
        let points = series[1]["points"].as_array().expect("points");
        assert!(!points.is_empty() && points.len() <= 4, "{points:?}");
        let sums = points.iter().filter_map(|point| point["sum"].as_u64());
        assert!(sums.clone().sum::<u64>() > 0, "{points:?}");
    }
}
