//! The table against itself, and against the real fio.

use super::Options;
use option::{Def, State};
use std::collections::BTreeSet;
use std::process::Command;

#[test]
fn the_table_is_sound() {
    let defs: Vec<&Def> = Options::defs().collect();
    assert_eq!(option::problems(&defs), Vec::<String>::new());
    assert_eq!(Options::bad_defaults(), Vec::new());
    assert!(defs.len() > 240, "{}", defs.len());
}

#[test]
fn every_reason_says_something() {
    for def in Options::defs() {
        match def.state {
            State::Works => {}
            State::Later(why) | State::Refused(why) | State::Obsolete(why) => {
                assert!(why.len() > 3, "{}", def.name);
            }
        }
    }
}

#[test]
fn fresh_options_are_unset_and_show_their_defaults() {
    let options = Options::default();
    for def in Options::defs() {
        assert!(!options.was_set(def.name));
        let mut other = Options::default();
        let Some(default) = def.default else { continue };
        other.set(def.name, Some(default)).unwrap().unwrap();
        assert_eq!(other.show(def.name), options.show(def.name), "{}", def.name);
        assert!(other.was_set(def.name));
    }
}

fn fio(arguments: &[&str]) -> Option<String> {
    let output = Command::new("fio").args(arguments).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Names of fio 3.42 that 3.33 lacks, or that 3.33 knows and never lists.
const NEWER: &[&str] = &[
    "data_placement",
    "dataplacement",
    "dp_scheme",
    "end_syncfs",
    "fdp",
    "fdp_pli",
    "fdp_pli_select",
    "filetype",
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
    "spr_cs",
    "spr_num_regions",
    "spr_op",
    "sprandom",
    "ss_interval",
    "steadystate_check_interval",
    "thinkcycles",
    "verify_header_seed",
    "verify_pattern_interval",
    "verify_policy",
    "verify_write_sequence",
    "write_zone_remainder",
];

/// Assay's own options, one a line.
const EXTENSIONS: &str = include_str!("extensions.txt");

/// Names that only other builds of fio know.
const ELSEWHERE: &[&str] = &["gpu_dev_id"];

#[test]
fn the_names_are_those_of_fio() {
    let Some(list) = fio(&["--cmdhelp=all"]) else {
        eprintln!("SKIP the_names_are_those_of_fio: no fio here");
        return;
    };
    let theirs: BTreeSet<&str> = list
        .lines()
        .filter_map(|line| Some(line.split_once(':')?.0.trim()))
        .collect();
    assert!(theirs.len() > 200, "fio listed only {}", theirs.len());
    let missing: Vec<_> = theirs
        .iter()
        .filter(|name| Options::def(name).is_none())
        .collect();
    assert!(missing.is_empty(), "not declared: {missing:?}");

    let mut surplus = Vec::new();
    for def in Options::defs() {
        for name in std::iter::once(def.name).chain(def.aliases.to_vec()) {
            let listed = theirs.contains(name)
                || [NEWER, ELSEWHERE].iter().any(|list| list.contains(&name))
                || EXTENSIONS.lines().any(|own| own == name);
            // fio lists no aliases, no hidden and no deprecated names, but may know them.
            if !listed && !known_to_fio(name) {
                surplus.push(name);
            }
        }
    }
    assert!(surplus.is_empty(), "fio does not know: {surplus:?}");
}

/// True when fio takes the option; a deprecated one is named in the answer.
fn known_to_fio(name: &str) -> bool {
    let help = fio(&[&format!("--cmdhelp={name}")]).unwrap_or_default();
    if !help.starts_with("No such command") {
        return true;
    }
    let output = Command::new("fio")
        .args(["--name=x", "--ioengine=null", "--size=4k", "--parse-only"])
        .arg(format!("--{name}=0"))
        .output();
    output.is_ok_and(|o| !String::from_utf8_lossy(&o.stderr).contains("unrecognized option"))
}
