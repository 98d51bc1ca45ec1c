//! What cannot be done is refused by name, in one line, before anything is measured.

use super::{cpus, mem, mlc};
use crate::harness::place::is_root;
use crate::harness::skip;
use std::path::PathBuf;

#[test]
fn words_files_and_numbers_that_make_no_sense() {
    let dir = tempfile::tempdir().unwrap();
    let bad = dir.path().join("bad");
    std::fs::write(&bad, "0 R seq 100 dram 0\n0-3 W18 seq 100 dram 0\n").unwrap();
    let bad = bad.display();
    for (words, part) in [
        (
            "--idle_latancy".to_owned(),
            "did you mean `--idle_latency`?",
        ),
        (
            "--idle_latency -W3".to_owned(),
            "`-W` is not for --idle_latency",
        ),
        ("--loaded_latency -R -W3".to_owned(), "exclude each other"),
        (
            "--idle_latency -c99999".to_owned(),
            "CPU 99999 is offline or outside",
        ),
        (
            "--idle_latency -j999".to_owned(),
            "there is no memory on node 999",
        ),
        ("--loaded_latency -k9999".to_owned(), "CPU 9999 "),
        (
            format!("--loaded_latency -o{bad}"),
            "bad: line 2: `W18` is no mix",
        ),
        (format!("--loaded_latency -g{bad}"), "bad: line 1"),
        (
            "--loaded_latency -o/no/such/file".to_owned(),
            "/no/such/file: No such file",
        ),
        (
            "--loaded_latency -Q".to_owned(),
            "`-Q` flushes what was stored, and nothing is stored here",
        ),
        (
            "--loaded_latency -W5 -U -Q".to_owned(),
            "stores in random order",
        ),
        (
            "--loaded_latency -W5 -P".to_owned(),
            "nothing is stored to a mapped file here",
        ),
        (
            "--loaded_latency -W5 -U -n0".to_owned(),
            "at least one line",
        ),
        (
            "--loaded_latency -K0 -Z".to_owned(),
            "16 bytes of each line",
        ),
        ("--loaded_latency -K0 -U".to_owned(), "in order"),
        (
            "--idle_latency -b9000000g".to_owned(),
            "more than any machine has",
        ),
        (
            "--idle_latency -b90000g".to_owned(),
            "does not fit: free memory",
        ),
        (
            "--idle_latency -J/no/such/dir -b1m".to_owned(),
            "/no/such/dir",
        ),
        ("--c2c_latency -c0 -w0".to_owned(), "a transfer needs two"),
        (
            "--c2c_latency -b1m".to_owned(),
            "the lines of the window (`-C`)",
        ),
        (
            "--memory_bandwidth_scan -t9999".to_owned(),
            "threads can read",
        ),
        ("--idle_latency -e0".to_owned(), "driver of Windows"),
        (
            "--idle_latency -e --prefetch_off".to_owned(),
            "`--prefetch_off` and `-e` exclude each other",
        ),
        (
            "--bandwidth_matrix --prefetch_off".to_owned(),
            "the thread that measures latency, and there is none here",
        ),
    ] {
        let outcome = mlc(&words);
        assert_eq!(outcome.code, Some(1), "{words}: {outcome}");
        assert!(outcome.stderr.contains(part), "{words}: {}", outcome.stderr);
        assert_eq!(
            outcome.stderr.lines().count(),
            1,
            "{words}: {}",
            outcome.stderr
        );
        assert!(!outcome.stdout.contains("Each iteration"), "{words}");
    }
}

/// Registers are changed where that was asked for, and where it cannot be done nothing is measured.
#[test]
fn prefetchers_that_cannot_be_turned_off_are_an_error() {
    let first = cpus()[0];
    if std::path::Path::new(&format!("/dev/cpu/{first}/msr")).exists() {
        return skip("prefetchers", "this machine has the registers");
    }
    let of = [
        mlc("--idle_latency -b1m -t0.05 --prefetch_off"),
        mem("latency --buffer 4m --prefetch-off"),
    ];
    for outcome in of {
        assert_eq!(outcome.code, Some(1), "{outcome}");
        assert_eq!(outcome.stdout, "", "{outcome}");
        assert!(
            outcome.stderr.contains("the prefetchers stay as they are"),
            "{outcome}"
        );
    }
}

#[test]
fn the_latency_thread_keeps_its_core() {
    let first = cpus()[0];
    let outcome = mlc(&format!("--loaded_latency -k{first} -b1m -t0.05"));
    assert_eq!(outcome.code, Some(1));
    assert!(
        outcome
            .stderr
            .contains("cannot make load: the latency thread"),
        "{outcome}"
    );
    assert_eq!(outcome.stdout, "");
}

#[test]
fn one_cpu_is_enough_for_all_but_loaded_latency() {
    let first = cpus()[0];
    let pinned = |words: &str| {
        let mut command = std::process::Command::new("taskset");
        command.args(["-c", &first.to_string()]);
        command.arg(crate::harness::command::assay_path());
        crate::harness::fio(words).spawn_as(command).wait()
    };
    if !crate::harness::command::have("taskset") {
        return skip("one_cpu", "taskset is not installed");
    }
    let outcome = pinned("mlc --loaded_latency -b1m -t0.05 -d0");
    assert!(
        outcome.stderr.contains("no CPU is left to make load; `-T`"),
        "{outcome}"
    );
    pinned("mlc --loaded_latency -b1m -t0.05 -d0 -T").expect_ok();
    pinned("mem latency --buffer 4m").expect_ok();
    let whole = pinned("mlc -b1m -t0.02").expect_ok().stdout;
    assert!(
        whole.contains("*** Loaded and cache-to-cache latency need two CPUs"),
        "{whole}"
    );
}

/// A group of its own that is gone at the end; `None` without the right to make one.
struct Group(PathBuf);

impl Group {
    fn new(name: &str, limits: &[(&str, &str)]) -> Option<Group> {
        let own = std::process::id();
        let base = PathBuf::from("/sys/fs/cgroup");
        let path = base.join(format!("assay-test-{name}-{own}"));
        if !base.join("cgroup.controllers").exists() {
            return None;
        }
        std::fs::create_dir(&path).ok()?;
        let group = Group(path);
        for (file, value) in limits {
            std::fs::write(group.0.join(file), value).ok()?;
        }
        Some(group)
    }

    /// Runs words of the binary inside.
    fn run(&self, words: &str) -> crate::harness::command::Outcome {
        let binary = crate::harness::command::assay_path();
        let enter = format!(
            "echo $$ > {}/cgroup.procs && exec {} {words}",
            self.0.display(),
            binary.display()
        );
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &enter]);
        crate::harness::fio("").spawn_as(command).wait()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

#[test]
fn a_memory_limit_sizes_the_buffers_and_is_never_exceeded() {
    if !is_root() {
        return skip("a_memory_limit", "only root makes groups");
    }
    let limit = (96u64 << 20).to_string();
    let limits = [("memory.max", limit.as_str()), ("memory.swap.max", "0")];
    let Some(group) = Group::new("memory", &limits) else {
        return skip("a_memory_limit", "no memory controller of version 2 here");
    };
    let outcome = group.run("mem latency").expect_ok();
    assert!(
        outcome.stdout.contains("memory.max of the control group"),
        "{outcome}"
    );
    assert!(outcome.stdout.contains("memory 96 MiB"), "{outcome}");
    let outcome = group.run("mlc --idle_latency -b200m");
    assert_eq!(outcome.code, Some(1), "{outcome}");
    assert!(
        outcome.stderr.contains("memory.max of the control group"),
        "{outcome}"
    );
    group.run("mlc --idle_latency -x0").expect_ok();
    // Hardly anything left: a message, not the end by the kernel.
    std::fs::write(group.0.join("memory.max"), (24u64 << 20).to_string()).unwrap();
    let outcome = group.run("mlc --idle_latency");
    assert_eq!(outcome.code, Some(1), "{outcome}");
}

#[test]
fn a_limit_on_cpu_time_limits_the_threads() {
    if !is_root() {
        return skip("a_limit_on_cpu_time", "only root makes groups");
    }
    let Some(group) = Group::new("cpu", &[("cpu.max", "100000 100000")]) else {
        return skip("a_limit_on_cpu_time", "no cpu controller of version 2 here");
    };
    let outcome = group.run("mem latency --buffer 4m --json").expect_ok();
    let document: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(document["memory"]["conditions"]["cpu_limit"], 1.0);
    let outcome = group.run("mlc --loaded_latency -b1m -d0 -t0.05");
    assert!(
        outcome.stderr.contains("no CPU is left to make load"),
        "{outcome}"
    );
}

#[test]
fn native_verbs_refuse_in_one_line_too() {
    for (words, part) in [
        ("latency --cpus 9999", "CPU 9999 is offline or outside"),
        ("latency --node 999", "no memory on node 999"),
        ("latency --buffer 90000g", "does not fit"),
        ("check --baseline /no/such/file", "/no/such/file"),
        ("latency --pages 1g --buffer 1g", "reserved pages"),
    ] {
        let outcome = mem(words);
        assert_eq!(outcome.code, Some(1), "{words}: {outcome}");
        assert!(outcome.stderr.contains(part), "{words}: {}", outcome.stderr);
        assert_eq!(
            outcome.stderr.lines().count(),
            1,
            "{words}: {}",
            outcome.stderr
        );
    }
    for words in [
        "latency --dimms 8xDDR5",
        "latency --isa mmx",
        "latency --until-ci 0",
    ] {
        assert_eq!(mem(words).code, Some(2), "{words}");
    }
}
