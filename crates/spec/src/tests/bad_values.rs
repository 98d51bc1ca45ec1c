//! Bad input for every option: the message names the option, what was typed, and what would do.

use super::read;
use crate::Options;
use crate::testing::FakeWorld;
use option::{Def, Kind, State};

/// No value of any option but free text.
const GARBAGE: &str = "~?~";

/// Options whose value is any text: names of files, jobs, commands, and what only the world or
/// the plan can judge.
const FREE_TEXT: [&str; 26] = [
    "name",
    "description",
    "filename",
    "directory",
    "filename_format",
    "opendir",
    "ioscheduler",
    "wait_for",
    "exec_prerun",
    "exec_postrun",
    "comm",
    "cgroup",
    "write_bw_log",
    "write_lat_log",
    "write_iops_log",
    "write_hist_log",
    "write_iolog",
    "read_iolog",
    "replay_redirect",
    "merge_blktrace_file",
    "ioengine",
    "profile",
    "dp_scheme",
    "verifysort",
    "verifysort_nr",
    "flow_watermark",
];

/// The only error of `--NAME=VALUE`.
fn refusal(def: &Def, value: &str) -> Result<String, String> {
    let line = format!("--name=a --{}={value}", def.name);
    let Err(errors) = read(&line, &FakeWorld::default()) else {
        return Err(format!("{line}: accepted"));
    };
    match errors.0.as_slice() {
        [error] => Ok(error.to_string()),
        more => Err(format!("{line}: {} errors", more.len())),
    }
}

/// What is wrong with a refusal.
fn lacking(def: &Def, value: &str, limits: Option<&str>) -> Option<String> {
    let text = match refusal(def, value) {
        Ok(text) => text,
        Err(what) => return Some(what),
    };
    let place = format!("command line, word 2: {}={value}: ", def.name);
    let told = [
        "accepted: ",
        "expected ",
        " is not one of ",
        "out of range (",
    ];
    let tells = match limits {
        Some(limits) => text.contains(limits),
        None => told.iter().any(|words| text.contains(words)),
    };
    (!text.starts_with(&place) || !tells).then(|| format!("--{}={value}: {text}", def.name))
}

/// Options that can be used.
fn usable() -> impl Iterator<Item = &'static Def> {
    Options::defs().filter(|def| def.state == State::Works)
}

#[test]
fn garbage_is_told_with_what_would_do() {
    let tested = usable().filter(|def| !FREE_TEXT.contains(&def.name));
    let wrong: Vec<String> = tested
        .filter_map(|def| lacking(def, GARBAGE, None))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // The list above holds no option that could be tested.
    let free = FREE_TEXT.iter().filter(|name| {
        let def = Options::def(name).unwrap_or_else(|| panic!("{name} does not exist"));
        def.state == State::Works && !matches!(def.kind, Kind::Text)
    });
    assert_eq!(free.collect::<Vec<_>>(), Vec::<&&str>::new());
}

#[test]
fn values_out_of_range_are_told_with_the_range() {
    let mut tested = 0;
    let mut wrong = Vec::new();
    for def in usable() {
        let mut out = Vec::new();
        let (min, max) = (def.min.map(|min| min as i64), def.max.map(|max| max as i64));
        let range = match (min, max) {
            (Some(min), Some(max)) => format!("{min} to {max}"),
            (Some(min), None) => format!("at least {min}"),
            (None, Some(max)) => format!("at most {max}"),
            (None, None) => String::new(),
        };
        out.extend(min.filter(|min| *min > 0).map(|min| (min - 1).to_string()));
        out.extend(max.map(|max| (max + 1).to_string()));
        if matches!(def.kind, Kind::Int | Kind::Bytes) {
            out.push("99999999999999999999".to_owned());
            if def.limits.is_some_and(|(least, _)| least == 0) {
                out.push("-1".to_owned());
            }
        }
        let limits = match (range.as_str(), def.limits) {
            ("", Some((least, most))) => format!("{least} to {most}"),
            ("", None) => continue,
            (range, _) => range.to_owned(),
        };
        for value in out {
            tested += 1;
            wrong.extend(lacking(def, &value, Some(&limits)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tested > 100, "{tested}");
}
