//! What the tool says about itself: version, help, options, engines, equivalent commands.

use crate::harness::command::have_peer;
use crate::harness::{Scratch, Tool, assert_none, fio};

/// Engines of this release; each must be listed.
const ENGINES: [&str; 9] = [
    "sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "io_uring", "mmap", "null",
];

#[test]
fn the_version_begins_as_scripts_expect() {
    for spelling in ["--version", "-v"] {
        let text = fio(spelling).ok().stdout;
        assert_eq!(text.lines().next(), Some("fio-3.42"), "{spelling}");
        assert!(
            text.to_lowercase().contains("assay"),
            "{spelling}: its own version: {text}"
        );
    }
}

#[test]
fn help_lists_the_switches() {
    for spelling in ["--help", "-h"] {
        let text = fio(spelling).ok().stdout;
        for switch in [
            "--output",
            "--output-format",
            "--minimal",
            "--eta",
            "--readonly",
            "--section",
            "--status-interval",
            "--showcmd",
            "--cmdhelp",
            "--enghelp",
            "--parse-only",
            "--version",
            "--idle-prof",
            "--max-jobs",
            "--aux-path",
        ] {
            assert!(text.contains(switch), "{switch} missing from {spelling}");
        }
    }
}

#[test]
fn option_help_knows_names_aliases_and_near_misses() {
    let text = fio("--cmdhelp=blocksize").ok().stdout;
    for word in ["bs", "alias", "default", "4096"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    let near = fio("--cmdhelp=iodpeth").run();
    assert!(
        format!("{}{}", near.stdout, near.stderr).contains("iodepth"),
        "{near}"
    );
    let all = fio("--cmdhelp=all").ok().stdout;
    for option in [
        "rw",
        "bssplit",
        "iodepth_batch_complete_min",
        "group_reporting",
        "unlink",
    ] {
        assert!(all.contains(option), "{option} missing from --cmdhelp=all");
    }
}

#[test]
fn option_names_are_fios_own() {
    if !have_peer("option names") {
        return;
    }
    let names = |tool: Tool| -> Vec<String> {
        let text = fio("--cmdhelp=all").with(tool).run().stdout;
        let word = |line: &str| line.split([' ', ':']).next().map(str::to_owned);
        text.lines()
            .filter(|line| line.contains(':'))
            .filter_map(word)
            .collect()
    };
    let (theirs, ours) = (names(Tool::Peer), names(Tool::Assay));
    assert!(
        theirs.len() > 150 && ours.len() > 60,
        "{} and {}",
        theirs.len(),
        ours.len()
    );
    // Options of releases after the installed one, and aliases that fio does not list.
    let newer = [
        "sprandom",
        "fdp_",
        "dp_scheme",
        "num_range",
        "verify_write_sequence",
        "verify_header_seed",
        "verify_pattern_interval",
        "thinkcycles",
        "log_window_value",
        "log_entries",
        "ignore_zone_limits",
        "write_zone_remainder",
        "log_alternate_epoch",
        "log_issue_time",
        "thinktime_iotime",
        "job_start_clock_id",
        "random_generator",
    ];
    let known = |name: &String| theirs.contains(name) || newer.iter().any(|n| name.starts_with(n));
    let invented: Vec<String> = ours.into_iter().filter(|name| !known(name)).collect();
    assert_none(&invented, "options that fio does not have");
}

#[test]
fn engines_are_listed_and_described() {
    let list = fio("--enghelp").ok().stdout;
    for engine in ENGINES {
        assert!(
            list.split_whitespace().any(|word| word == engine),
            "{engine}: {list}"
        );
    }
    let ring = fio("--enghelp=io_uring").ok().stdout;
    for option in [
        "fixedbufs",
        "registerfiles",
        "sqthread_poll",
        "hipri",
        "nonvectored",
    ] {
        assert!(ring.contains(option), "{option}: {ring}");
    }
}

#[test]
fn showcmd_is_an_equivalent_command_line() {
    let scratch = Scratch::new("showcmd");
    let file = scratch.file(
        "job.fio",
        "[global]\nbs=8k\nrw=randwrite\n[a]\nsize=64k\nfsync=4\n[b]\nsize=1m\nrw=randrw\n\
         rwmixread=30\n",
    );
    let dir = scratch.path();
    let shown = fio("--showcmd").arg(&file).in_dir(dir).ok().stdout;
    let words = shown
        .trim()
        .strip_prefix("fio ")
        .expect("a fio command line");
    let run = |words: &str| {
        let document = fio(words)
            .arg("--output-format=json")
            .in_dir(dir)
            .ok()
            .json();
        let job = |i: usize| {
            let job = &document["jobs"][i];
            let count = |d: &str| job[d]["total_ios"].as_u64();
            (job["jobname"].clone(), count("read"), count("write"))
        };
        [job(0), job(1)]
    };
    assert_eq!(run(words), run(file.to_str().expect("UTF-8")));
    assert_eq!(
        shown.trim().lines().count(),
        1,
        "one line per job file: {shown}"
    );
}
