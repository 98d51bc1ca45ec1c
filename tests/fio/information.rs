//! What the tool says about itself: version, help, options, engines, equivalent commands.

use crate::harness::command::have_peer;
use crate::harness::{Scratch, Tool, assert_none, fio};

/// Engines of this release; each must be listed.
const ENGINES: [&str; 9] = [
    "sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "io_uring", "mmap", "null",
];

/// Assay's own options, one a line.
const EXTENSIONS: &str = include_str!("../../crates/spec/src/options/extensions.txt");

/// Options of fio 3.42 that the installed one does not list, or lists under an older name.
const NEWER_OPTIONS: [&str; 35] = [
    "bs_is_seq_rand",
    "comm",
    "dataplacement",
    "dp_scheme",
    "end_syncfs",
    "fdp",
    "filetype",
    "gpu_dev_id",
    "iomem_align",
    "job_start_clock_id",
    "log_issue_time",
    "log_window_value",
    "num_range",
    "plid_select",
    "plids",
    "priohint",
    "ramp_size",
    "random_sequence_stride",
    "recover_zbd_write_error",
    "softrandommap",
    "spr_cs",
    "spr_num_regions",
    "spr_op",
    "sprandom",
    "steadystate_check_interval",
    "thinkcycles",
    "trim_percentage",
    "verify_async_cpus",
    "verify_header_seed",
    "verify_pattern_interval",
    "verify_policy",
    "verify_write_sequence",
    "write_zone_remainder",
    "ignore_zone_limits",
    "log_alternate_epoch_clock_id",
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

/// Names in `--cmdhelp=all`, which indents an option below the one it refines.
fn option_names(tool: Tool) -> Vec<String> {
    let text = fio("--cmdhelp=all").with(tool).run().stdout;
    let entries = text.lines().filter_map(|line| line.split_once(':'));
    entries.map(|(name, _)| name.trim().to_owned()).collect()
}

#[test]
fn option_names_are_fios_own() {
    if !have_peer("option names") {
        return;
    }
    let (theirs, ours) = (option_names(Tool::Peer), option_names(Tool::Assay));
    assert!(theirs.len() > 200, "fio lists {}", theirs.len());
    let unknown = |name: &&String| fio(&format!("--cmdhelp={name}")).run().code != Some(0);
    let mut findings: Vec<String> = theirs
        .iter()
        .filter(unknown)
        .map(|name| format!("{name} is not known here"))
        .collect();
    let known = |name: &&String| {
        theirs.contains(name)
            || NEWER_OPTIONS.contains(&name.as_str())
            || EXTENSIONS.lines().any(|own| own == name.as_str())
    };
    findings.extend(
        ours.iter()
            .filter(|name| !known(name))
            .map(|name| format!("{name} is ours")),
    );
    assert_none(&findings, "option names");
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
        let document = fio("--output-format=json")
            .args(words.split_whitespace())
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
