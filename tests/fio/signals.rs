//! SIGINT and SIGTERM end the jobs; the partial report is complete in form.

use std::thread;
use std::time::Duration;

use crate::harness::{Outcome, Scratch, coherent, fio, place};

/// Starts a long job, lets it do I/O, sends the signal and collects the end.
fn interrupted(signal: &str, extra: &str) -> Outcome {
    let scratch = Scratch::new("signal");
    let words = "--name=x --size=4m --rw=randrw --time_based --runtime=100 --numjobs=2";
    let running = fio(words)
        .args(extra.split_whitespace())
        .in_dir(scratch.path())
        .spawn();
    // Files appear at layout; I/O follows at once.
    for _ in 0..1000 {
        if scratch.path().join("x.1.0").exists() {
            break;
        }
        thread::sleep(Duration::from_millis(5));
    }
    thread::sleep(Duration::from_millis(700));
    place::system("kill", &[signal, &running.pid().to_string()]).expect("still running");
    running.wait()
}

#[test]
fn an_interrupted_run_still_reports() {
    for (signal, number) in [("-INT", 2), ("-TERM", 15)] {
        let outcome = interrupted(signal, "");
        assert_eq!(outcome.code, Some(128), "{outcome}");
        let said = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(
            said.contains(&format!("fio: terminating on signal {number}")),
            "{outcome}"
        );
        for needle in [
            "  read: IOPS=",
            " write: IOPS=",
            "Run status group 0 (all jobs):",
        ] {
            assert!(outcome.stdout.contains(needle), "`{needle}`: {outcome}");
        }
    }
}

#[test]
fn an_interrupted_json_report_is_whole() {
    let outcome = interrupted("-INT", "--output-format=json+");
    assert_eq!(outcome.code, Some(128), "{outcome}");
    // fio itself prints the remark about the signal ahead of the document.
    let at = outcome.stdout.find("{\n").expect("a document");
    let document: serde_json::Value =
        serde_json::from_str(&outcome.stdout[at..]).unwrap_or_else(|e| panic!("{e}: {outcome}"));
    assert_eq!(coherent::incoherences(&document), Vec::<String>::new());
    assert_eq!(document["jobs"].as_array().map(Vec::len), Some(2));
    assert!(document["jobs"][0]["read"]["total_ios"].as_u64() > Some(0));
}
