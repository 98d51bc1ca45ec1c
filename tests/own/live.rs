//! What runs show while they last.

use crate::harness::command::{assay_path, have};
use crate::harness::{Scratch, fio, skip};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const NAME: &str = "a \"quoted\\name\nwith a line";

#[test]
fn the_windows_of_a_run_add_up_to_its_report() {
    let scratch = Scratch::new("live-json");
    let words = "--live=json --output=report.json --output-format=json --ioengine=null \
                 --rw=randrw --bs=4k --size=1g --time_based --runtime=3";
    let run = fio(words)
        .arg(format!("--name={NAME}"))
        .in_dir(scratch.path());
    let lines = run.ok().stdout;
    let windows: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("each line is a document"))
        .collect();
    let report = std::fs::read_to_string(scratch.path().join("report.json")).expect("a report");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    for direction in ["read", "write"] {
        let sum = |of: &dyn Fn(&Value) -> &Value| -> u64 {
            windows
                .iter()
                .filter_map(|window| of(window).as_u64())
                .sum()
        };
        let total = report["jobs"][0][direction]["total_ios"].as_u64();
        assert_eq!(Some(sum(&|window| &window[direction]["ios"])), total);
        assert_eq!(
            Some(sum(&|window| &window["jobs"][0][direction]["ios"])),
            total
        );
        let bytes = report["jobs"][0][direction]["io_bytes"].as_u64();
        assert_eq!(Some(sum(&|window| &window[direction]["bytes"])), bytes);
    }
    let last = windows.last().expect("a line");
    assert_eq!(
        (last["phase"].as_str(), last["running"].as_u64()),
        (Some("over"), Some(0))
    );
    let mut ranked = 0;
    for window in &windows {
        assert_eq!(window["jobs"][0]["name"], NAME);
        let ns = |name: &str| window["read"][name].as_u64();
        // A job that was late with its statistics has them in a later window.
        if let (Some(p50), Some(p99), Some(most)) = (ns("p50_ns"), ns("p99_ns"), ns("p99_9_ns")) {
            assert!(p50 <= p99 && p99 <= most, "{window}");
            ranked += 1;
        }
    }
    assert!(ranked > 0, "{lines}");
}

#[test]
fn lines_do_not_share_their_stream_and_words_are_checked() {
    let words = "--name=x --ioengine=null --size=4k";
    let refused = |more: &str| fio(&format!("{words} {more}")).fails();
    refused("--live=json").explains(&["--live=json", "--output=FILE"]);
    refused("--live=xml --output=x").explains(&["--live", "json"]);
    refused("--metrics=nowhere").explains(&["--metrics=nowhere"]);
}

/// An answer of the server, head and body.
fn get(port: u16, request: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    write!(
        stream,
        "{request} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

#[test]
fn metrics_are_open_metrics() {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = free.local_addr().expect("its number").port();
    drop(free);
    let words = "--ioengine=null --rw=randread --bs=4k --size=1g --time_based --runtime=100";
    let run = fio(words)
        .arg(format!("--metrics=127.0.0.1:{port}"))
        .arg(format!("--name={NAME}"))
        .spawn();
    let patience = Instant::now() + Duration::from_secs(60);
    let told = loop {
        let answer = get(port, "GET /metrics").unwrap_or_default();
        if answer.contains("assay_window_latency_seconds{") || Instant::now() > patience {
            break answer;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    let elsewhere = get(port, "GET /").unwrap_or_default();
    let written = get(port, "POST /metrics").unwrap_or_default();
    Command::new("kill")
        .args(["-INT", &run.pid().to_string()])
        .status()
        .expect("kill");
    let outcome = run.wait();
    assert!(
        told.contains("application/openmetrics-text; version=1.0.0"),
        "{told}"
    );
    let body = told.split("\r\n\r\n").nth(1).expect("a body");
    assert!(body.ends_with("# EOF\n"), "{body}");
    let label = r#"job="a \"quoted\\name\nwith a line",number="1",direction="read""#;
    for metric in ["assay_ios_total", "assay_transferred_bytes_total"] {
        let line = format!("{metric}{{{label}}} ");
        let value = body.lines().find_map(|text| text.strip_prefix(&line));
        let value: f64 = value.expect(&line).parse().expect("a number");
        assert!(value > 0.0, "{body}");
    }
    assert!(
        body.contains(&format!("{label},quantile=\"0.99\"}} ")),
        "{body}"
    );
    assert!(body.contains("assay_running_jobs 1\n"), "{body}");
    assert!(elsewhere.starts_with("HTTP/1.1 404"), "{elsewhere}");
    assert!(written.starts_with("HTTP/1.1 405"), "{written}");
    assert_eq!(outcome.code, Some(128), "{outcome}");
}

/// A terminal of `script`; the keys are pressed at once.
fn on_a_terminal(scratch: &Scratch, keys: &str) -> Option<(String, Option<i32>)> {
    if !have("script") {
        skip("a view on a terminal", "script is not installed");
        return None;
    }
    let assay = assay_path();
    let line = format!("stty rows 40 cols 100; exec {} check .", assay.display());
    let mut child = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(scratch.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("script");
    // The answer of a terminal that is asked for its cursor, then the keys.
    let mut stdin = child.stdin.take().expect("a pipe");
    write!(stdin, "\u{1b}[1;1R{keys}").expect("keys");
    let mut text = String::new();
    let mut stdout = child.stdout.take().expect("a pipe");
    stdout.read_to_string(&mut text).expect("text");
    drop(stdin);
    Some((text, child.wait().expect("an end").code()))
}

#[test]
fn a_key_ends_the_check_and_leaves_nothing() {
    let scratch = Scratch::new("live-key");
    let Some((text, code)) = on_a_terminal(&scratch, "2q") else {
        return;
    };
    assert_eq!(code, Some(128), "{text}");
    assert!(
        text.contains("ended by a signal; the test file is removed"),
        "{text}"
    );
    assert!(text.contains("[2 jobs]"), "the view was there: {text}");
    let left: Vec<_> = std::fs::read_dir(scratch.path())
        .expect("a folder")
        .collect();
    assert!(left.is_empty(), "{left:?}");
}
