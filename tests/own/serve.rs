//! `assay serve`: who may read, and whether its pages say what the other verbs say.

use super::compare::kept;
use super::history::{assay, notes, out};
use crate::harness::command::assay_path;
use crate::harness::{Scratch, fio};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Longest that a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server over the history of a test.
struct Served {
    child: Child,
    /// `127.0.0.1:PORT`.
    address: String,
    /// `/SECRET/`.
    secret: String,
}

impl Served {
    fn start(scratch: &Scratch) -> Served {
        Served::start_in(scratch, scratch.path())
    }

    /// Runs find it through `runtime`.
    fn start_in(scratch: &Scratch, runtime: &Path) -> Served {
        let mut child = Command::new(assay_path())
            .arg("serve")
            .env("ASSAY_DB", scratch.path().join("h.db"))
            .env("XDG_RUNTIME_DIR", runtime)
            .env("TZ", "UTC")
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut link = String::new();
        let stdout = child.stdout.take().expect("a pipe");
        let read = BufReader::new(stdout).read_line(&mut link);
        read.expect("a link");
        let rest = link.trim().strip_prefix("http://").expect(&link);
        let (address, secret) = rest.split_once('/').expect(&link);
        Served {
            child,
            address: address.to_owned(),
            secret: format!("/{secret}"),
        }
    }

    /// Status, head and body of what a client gets that sends these lines.
    fn ask(&self, first: &str, headers: &str) -> (u16, String, String) {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        let request = format!("{first} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("sent");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        let answer = String::from_utf8(answer).expect("UTF-8");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        let status = head.get(9..12).and_then(|status| status.parse().ok());
        (status.expect("a status"), head.to_owned(), body.to_owned())
    }

    fn page(&self, page: &str) -> (u16, String) {
        let host = format!("Host: {}\r\n", self.address);
        let (status, _, body) = self.ask(&format!("GET {}{page}", self.secret), &host);
        (status, body)
    }

    #[track_caller]
    fn ok(&self, page: &str) -> String {
        let (status, body) = self.page(page);
        assert_eq!(status, 200, "{page}: {body}");
        body
    }

    /// Events of the live page.
    fn follow(&self) -> impl Iterator<Item = String> + use<> {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        let (secret, address) = (&self.secret, &self.address);
        let request = format!("GET {secret}events HTTP/1.1\r\nHost: {address}\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("sent");
        let lines = BufReader::new(stream).lines().map_while(Result::ok);
        lines.filter_map(|line| {
            let event: Value = serde_json::from_str(line.strip_prefix("data: ")?).expect("JSON");
            Some(event["html"].as_str().expect("a page").to_owned())
        })
    }

    /// Ends it as Ctrl-C does; its status.
    fn end(mut self) -> Option<i32> {
        interrupt(self.child.id());
        self.child.wait().expect("an end").code()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn interrupt(pid: u32) {
    let pid = pid.to_string();
    let sent = Command::new("kill").args(["-INT", &pid]).status();
    assert!(sent.expect("kill").success());
}

#[test]
fn only_who_holds_the_link_may_read() {
    let scratch = Scratch::new("serve-gate");
    kept(&scratch, "old", &[1.0]);
    let served = Served::start(&scratch);
    assert_eq!(served.secret.trim_matches('/').len(), 32);
    let own = format!("Host: {}\r\n", served.address);
    let get = |path: &str, headers: &str| served.ask(&format!("GET {path}"), headers);
    for path in ["", "run?id=1", "compare", "trend", "live"] {
        let (status, head, body) = get(&format!("{}{path}", served.secret), &own);
        assert_eq!(status, 200, "{path}: {body}");
        for header in [
            "Content-Security-Policy: default-src 'none';",
            "frame-ancestors 'none'",
            "X-Content-Type-Options: nosniff",
            "Cache-Control: no-store",
            "Referrer-Policy: no-referrer",
        ] {
            assert!(head.contains(header), "{path}: {header} missing in {head}");
        }
        // Pages that are saved or sent do not give the secret away.
        assert!(!body.contains(served.secret.trim_matches('/')), "{path}");
    }
    let wrong = format!("/{}/", "0".repeat(32));
    for path in [
        "/",
        "/run?id=1",
        "/live",
        "/events",
        "/../etc/passwd",
        &wrong,
    ] {
        let (status, head, body) = get(path, &own);
        assert_eq!(status, 403, "{path}: {head}");
        assert!(!body.contains("randwrite"), "{path}: {body}");
    }
    let port = served.address.rsplit(':').next().expect("a port");
    for headers in [
        "Host: evil.example\r\n".to_owned(),
        format!("Host: evil.example:{port}\r\n"),
        String::new(),
        format!("{own}Origin: http://evil.example\r\n"),
        format!("{own}Origin: null\r\n"),
        format!("{own}Origin: http://127.0.0.1:1\r\n"),
    ] {
        for page in ["", "events"] {
            let (status, _, body) = get(&format!("{}{page}", served.secret), &headers);
            assert_eq!(status, 403, "{headers}: {body}");
        }
    }
    let same = format!("{own}Origin: http://{}\r\n", served.address);
    assert_eq!(get(&served.secret, &same).0, 200);
    for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
        let request = format!("{method} {}", served.secret);
        assert_eq!(served.ask(&request, &own).0, 405, "{method}");
        assert_eq!(served.ask(&format!("{method} /"), &own).0, 403, "{method}");
    }
    // The link without its stroke leads to the link.
    let (status, head, _) = get(served.secret.trim_end_matches('/'), &own);
    assert_eq!(status, 303);
    assert!(
        head.contains(&format!("Location: {}", served.secret)),
        "{head}"
    );
    assert_eq!(served.page("nowhere").0, 404);
    assert_eq!(served.end(), Some(0));
}

#[test]
fn it_stays_on_this_machine_unless_told_otherwise() {
    let refused = |words: &str, why: &[&str]| super::assay(words).refuses(why);
    refused(
        "serve --listen 0.0.0.0:0",
        &["0.0.0.0:0", "--open-to-network"],
    );
    refused(
        "serve --listen 192.0.2.1:0 --open-to-network",
        &["192.0.2.1:0"],
    );
}

/// Numbers of the runs on a page of the history, in its order.
fn listed(page: &str) -> Vec<i64> {
    let links = page.split("href=\"run?id=").skip(1);
    let number = |link: &str| link.split('"').next().and_then(|id| id.parse().ok());
    links.filter_map(number).collect()
}

#[test]
fn the_list_has_the_filters_of_the_verb() {
    let scratch = Scratch::new("serve-list");
    let empty = Served::start(&scratch);
    let (status, words) = empty.page("");
    assert_eq!(status, 400);
    assert!(words.contains("there is no history yet"), "{words}");
    out(&assay(
        &scratch,
        &["import", "--host", "box", &notes("cloud.txt")],
    ));
    out(&assay(&scratch, &["history", "tag", "20", "a b&c=\"d\""]));
    // A history that comes later is found.
    let served = empty;
    assert_eq!(listed(&served.ok("")).len(), 25);
    for (query, words) in [
        ("?device=sdc&host=&tag=", vec!["--device", "sdc"]),
        ("?host=box", vec!["--host", "box"]),
        ("?host=other", vec!["--host", "other"]),
        ("?suite=import", vec!["--suite", "import"]),
        ("?tag=a+b%26c%3D%22d%22", vec!["--tag", "a b&c=\"d\""]),
        (
            "?since=2025-02-12&until=2025-02-13",
            vec!["--since", "2025-02-12", "--until", "2025-02-13"],
        ),
        ("?last=3", vec!["--last", "3"]),
    ] {
        let runs = super::history::list(&scratch, &words);
        let mut ids: Vec<i64> = runs.iter().filter_map(|run| run["id"].as_i64()).collect();
        ids.reverse();
        assert_eq!(listed(&served.ok(query)), ids, "{query}");
    }
    let page = served.ok("?tag=a+b%26c%3D%22d%22");
    assert!(page.contains("value=\"a b&amp;c=&quot;d&quot;\""), "{page}");
    assert!(served.ok("?last=3").contains("there are more"));
    for (query, why) in [
        ("?since=yesterday", "not a day"),
        ("?last=-1", "no number from 1"),
    ] {
        let (status, page) = served.page(query);
        assert_eq!(status, 400);
        assert!(page.contains(why), "{page}");
    }
    let (status, page) = served.page("run?id=999");
    assert!(
        status == 400 && page.contains("no number, tag or suite"),
        "{page}"
    );
    // A path is no run, whatever stands there.
    let (status, page) = served.page(&format!("run?id={}", notes("cloud.txt")));
    assert!(status == 400 && !page.contains("38106"), "{page}");
    let (status, _) = served.page(&format!("compare?a={}&b=1", notes("cloud.txt")));
    assert_eq!(status, 400);
}

/// What a page says, without its marks.
fn words(page: &str) -> String {
    let mut text = String::new();
    for piece in page.split('<') {
        text += piece.split_once('>').map_or(piece, |(_, rest)| rest);
        text += "\n";
    }
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}

#[test]
fn a_comparison_has_the_figures_of_the_verb() {
    let scratch = Scratch::new("serve-compare");
    kept(&scratch, "old", &[1.0, 1.01, 0.99, 1.005, 0.995]);
    kept(&scratch, "new", &[0.9, 0.91, 0.89, 0.905, 0.895]);
    let json = out(&assay(
        &scratch,
        &["compare", "old", "new", "--format", "json"],
    ));
    let text = out(&assay(&scratch, &["compare", "old", "new"]));
    let html = out(&assay(
        &scratch,
        &["compare", "old", "new", "--format", "html"],
    ));
    let served = Served::start(&scratch);
    let page = served.ok("compare?a=old&b=new");
    let answer: Value = serde_json::from_str(&json).expect("JSON");
    let lines = answer["lines"].as_array().expect("lines");
    assert!(!lines.is_empty());
    for page in [words(&page), words(&html)] {
        for line in lines {
            let number = |value: &Value| format!("{:.3}", value.as_f64().expect("a number"));
            let interval = &line["interval"];
            let shown = format!("[{}, {}]", number(&interval[0]), number(&interval[1]));
            for figure in [number(&line["ratio"]), number(&line["p"]), shown] {
                assert!(text.contains(&figure), "{figure}: {text}");
                assert!(
                    page.lines().any(|cell| cell.trim() == figure),
                    "{figure}: {page}"
                );
            }
        }
        // Medians with their spread, to the letter.
        for side in text.lines().filter(|line| line.starts_with("  A ")) {
            let side = side.trim_start_matches("  A ");
            assert!(page.contains(side), "{side}: {page}");
        }
        assert!(page.contains("B is worse"), "{page}");
    }
    assert!(page.contains("<figure"), "a picture of the effects");
    assert!(served.ok("compare").contains("name=\"a\""));
    let (status, page) = served.page("compare?a=old&b=nothing");
    assert!(status == 400 && page.contains("nothing: no"), "{page}");
}

#[test]
fn a_trend_is_drawn_and_told() {
    let scratch = Scratch::new("serve-trend");
    kept(&scratch, "old", &[1.0, 1.01, 0.99, 1.005, 0.995]);
    kept(&scratch, "new", &[0.9, 0.91, 0.89, 0.905, 0.895]);
    let text = out(&assay(&scratch, &["history", "trend", "iops"]));
    let step = text.lines().find(|line| line.contains("from run 6 on"));
    let step = step.expect("a step").trim();
    let served = Served::start(&scratch);
    let page = words(&served.ok("trend?metric=iops"));
    assert!(page.contains(step), "{step}: {page}");
    assert!(
        page.contains("run 10: 10, "),
        "a point for each run: {page}"
    );
    assert!(words(&served.ok("trend?metric=iops&tag=old")).contains("5 runs in"));
    assert!(
        served
            .ok("trend")
            .contains("<option value=\"iops\" selected")
    );
    let (status, page) = served.page("trend?metric=speed");
    assert!(
        status == 400 && page.contains("no run has a figure"),
        "{page}"
    );
}

const HOSTILE: &str = "<script>alert(1)</script>\"'&\n=x";

#[test]
fn names_from_outside_stay_text() {
    let scratch = Scratch::new("serve-hostile");
    let db = scratch.path().join("h.db");
    let run = fio("--ioengine=null --size=1m --rw=randread --save")
        .arg(format!("--name={HOSTILE}"))
        .env("ASSAY_DB", db.to_str().expect("UTF-8"));
    run.ok();
    run.ok();
    out(&assay(&scratch, &["history", "tag", "1", HOSTILE]));
    out(&assay(&scratch, &["history", "note", "1", HOSTILE]));
    let served = Served::start(&scratch);
    let mut encoded = String::new();
    HOSTILE
        .bytes()
        .for_each(|byte| encoded += &format!("%{byte:02X}"));
    let asked = [
        String::new(),
        format!("?tag={encoded}&host={encoded}"),
        format!("?since={encoded}"),
        "run?id=1".to_owned(),
        format!("run?id={encoded}"),
        "compare?a=1&b=2".to_owned(),
        format!("compare?a={encoded}&b={encoded}x"),
        "trend?metric=iops".to_owned(),
        format!("trend?metric={encoded}"),
        encoded.clone(),
    ];
    for page in &asked {
        let (_, body) = served.page(page);
        assert!(!body.contains("<script>alert"), "{page}: {body}");
        assert!(!body.contains("value=\"<"), "{page}: {body}");
    }
    assert!(served.ok("run?id=1").contains("&lt;script&gt;alert(1)"));
    assert!(served.ok("").contains("&lt;script&gt;alert(1)"));
}

#[test]
fn the_live_page_follows_runs_that_come_and_go() {
    let scratch = Scratch::new("serve-live");
    // Names of sockets are short.
    let runtime = tempfile::tempdir().expect("a folder");
    let runtime = runtime.path();
    let job = "--live=page --ioengine=null --rw=randread --bs=4k --size=1g --time_based";
    let job = |seconds: u32| {
        fio(&format!("{job} --runtime={seconds}"))
            .arg(format!("--name={HOSTILE}"))
            .env("XDG_RUNTIME_DIR", runtime.to_str().expect("UTF-8"))
    };
    // Nobody would see it.
    job(1).fails().explains(&["--live=page", "assay serve"]);
    let served = Served::start_in(&scratch, runtime);
    assert!(served.ok("live").contains("Nothing runs now"));
    let begun = Instant::now();
    let mut events = served.follow();
    let mut until = |found: &dyn Fn(&str) -> bool| loop {
        let page = events.next().expect("the stream goes on");
        if found(&page) || begun.elapsed() > 2 * PATIENCE {
            break page;
        }
    };
    let empty = until(&|_| true);
    assert!(empty.contains("Nothing runs now"), "{empty}");
    let run = job(100).spawn();
    let drawn = until(&|page| page.contains("Completion") || page.matches("<figure").count() >= 3);
    assert!(drawn.contains("path class=\"line\""), "{drawn}");
    assert!(words(&drawn).contains("\nread\n"), "{drawn}");
    assert!(
        drawn.contains("&lt;script&gt;alert(1)") && !drawn.contains("<script"),
        "{drawn}"
    );
    let later = until(&|page| page != drawn);
    assert!(later.contains("<figure"), "{later}");
    // The page itself shows the same to those who come now.
    assert!(served.ok("live").contains("path class=\"line\""));
    interrupt(run.pid());
    assert_eq!(run.wait().code, Some(128));
    let over = until(&|page| words(page).contains("\nended\n"));
    assert!(over.contains("<figure"), "{over}");
    // A killed run is over too, and a server that comes later sees what still runs.
    let run = job(100).spawn();
    until(&|page| page.matches("<section").count() == 2 && page.matches("<figure").count() >= 4);
    assert_eq!(served.end(), Some(0));
    let served = Served::start_in(&scratch, runtime);
    let mut events = served.follow();
    let seen = events
        .find(|page| page.contains("<figure"))
        .expect("the run is seen");
    assert!(!words(&seen).contains("\nended\n"), "{seen}");
    let pid = run.pid().to_string();
    Command::new("kill")
        .args(["-KILL", &pid])
        .status()
        .expect("kill");
    assert_eq!(run.wait().code, None);
    let over = events.find(|page| words(page).contains("\nended\n"));
    assert!(over.is_some(), "a killed run is over");
    let sockets = || {
        let entries = std::fs::read_dir(runtime.join("assay")).expect("a folder");
        entries.count()
    };
    assert_eq!(sockets(), 1);
    assert_eq!(served.end(), Some(0));
    assert_eq!(sockets(), 0, "nothing is left");
}
