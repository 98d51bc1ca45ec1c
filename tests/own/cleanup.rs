//! What killed runs leave is known and can be removed; what ended runs leave is fio's.

use super::assay;
use crate::harness::{Scratch, fio, place};
use std::path::Path;
use std::time::{Duration, Instant};

fn journals(state: &Path) -> usize {
    std::fs::read_dir(state.join("assay/journal")).map_or(0, |entries| entries.count())
}

#[test]
fn a_killed_runs_files_are_listed_and_removed() {
    let scratch = Scratch::new("cleanup");
    let state = scratch.path().join("state");
    let state_text = state.to_str().expect("UTF-8");
    let own = scratch.file("own", "precious");
    let words = "--name=x --directory=made --rw=randrw --size=4m --time_based --runtime=60";
    std::fs::create_dir(scratch.path().join("made")).expect("directory");
    let running = fio(words)
        .in_dir(scratch.path())
        .env("XDG_STATE_HOME", state_text)
        .spawn();
    let file = scratch.path().join("made/x.0.0");
    let deadline = Instant::now() + Duration::from_secs(60);
    while !file.exists() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    let cleanup = |rest: &str| {
        let words = assay(&format!("cleanup {rest}"))
            .0
            .env("XDG_STATE_HOME", state_text);
        super::Own(words).ok().stdout
    };
    assert!(
        cleanup("").contains("no run has left anything"),
        "the run is still there"
    );
    assert!(file.exists());
    place::system("kill", &["-KILL", &running.pid().to_string()]).expect("still running");
    let outcome = running.wait();
    assert_eq!(outcome.code, None, "{outcome}");
    let listed = cleanup("--list");
    assert!(listed.contains("made/x.0.0") && file.exists(), "{listed}");
    let removed = cleanup("");
    assert!(removed.contains("removed") && !file.exists(), "{removed}");
    assert!(own.exists() && scratch.path().join("made").exists());
    assert!(cleanup("").contains("no run has left anything"));
    assert_eq!(journals(&state), 0);
}

#[test]
fn a_run_that_ends_keeps_its_files_and_no_journal() {
    let scratch = Scratch::new("no-journal");
    let state = scratch.path().join("state");
    let state_text = state.to_str().expect("UTF-8");
    fio("--name=x --rw=read --size=64k")
        .in_dir(scratch.path())
        .env("XDG_STATE_HOME", state_text)
        .ok();
    assert!(scratch.path().join("x.0.0").exists());
    assert!(
        state.join("assay/journal").exists(),
        "a journal was kept meanwhile"
    );
    assert_eq!(journals(&state), 0);
    // A home that cannot be written stops nobody.
    fio("--name=y --rw=read --size=64k")
        .in_dir(scratch.path())
        .env("XDG_STATE_HOME", "/proc/self/nowhere")
        .ok();
}
