//! Random legal combinations of options: both tools do the same amount of I/O, or both refuse.
//!
//! Which options a combination holds, and with which values, follows from its number and the
//! option's name alone, so an option that starts to work changes only combinations that hold it.
//! `ASSAY_TEST_COMBINATIONS=100..3000` runs other numbers than the usual ones.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use option::{Def, Kind, State};
use serde_json::Value;
use spec::Options;

use super::compare;
use crate::harness::command::{documents, have_peer};
use crate::harness::{Outcome, Scratch, Tool, assert_none, fio};

/// The combinations of an ordinary run.
const USUAL: Range<u64> = 0..40;

/// One option in this many is part of a combination.
const ONE_IN: u64 = 16;

/// Options whose values need a grammar or a measure: what is drawn for them.
const EXAMPLES: &[(&str, &[&str])] = &[
    (
        "rw",
        &[
            "read",
            "write",
            "randread",
            "randwrite",
            "randrw",
            "randread:8",
            "write:4k",
            "read:8",
        ],
    ),
    (
        "bs",
        &["512", "4k", "8k", "1k,4k", "4k,8k", "3000", "16k,,8k"],
    ),
    ("bsrange", &["1k-4k", "512-8k", "4k-16k,1k-2k"]),
    (
        "bssplit",
        &["4k/50:8k/50", "512/10:4k/90,8k/100", "1k/:2k/:4k/20"],
    ),
    ("ba", &["512", "4k", "8k"]),
    ("size", &["64k", "256k", "1m", "300000"]),
    ("io_size", &["32k", "128k", "600k", "50%"]),
    ("filesize", &["512k", "1m"]),
    ("offset", &["4k", "16k"]),
    ("offset_align", &["4k", "8k"]),
    ("offset_increment", &["16k", "64k"]),
    ("number_ios", &["1", "7", "100"]),
    ("loops", &["1", "2", "3"]),
    ("fsync", &["1", "5"]),
    ("fdatasync", &["3", "16"]),
    (
        "random_distribution",
        &[
            "zipf:1.2",
            "zipf:0.6",
            "pareto:0.3",
            "normal:20",
            "zoned:60/10:30/20:10/70",
            "zoned_abs:60/64k:40/192k",
        ],
    ),
    ("percentage_random", &["50", "0", "10,90"]),
    ("randseed", &["1", "42", "123456789"]),
    ("numjobs", &["2", "3"]),
    ("iodepth", &["2", "4", "16", "33"]),
    ("iodepth_batch", &["2", "4", "16"]),
    ("iodepth_batch_complete_min", &["0", "2", "4"]),
    ("iodepth_batch_complete_max", &["4", "8"]),
    ("iodepth_low", &["1", "2"]),
    ("nrfiles", &["2", "3"]),
    ("openfiles", &["1", "2"]),
    (
        "file_service_type",
        &[
            "random",
            "roundrobin",
            "sequential",
            "roundrobin:4",
            "random:3",
        ],
    ),
    ("buffer_pattern", &["0xdeadbeef", "\"abc\"", "-12"]),
    ("percentile_list", &["50:99", "1:5:99.999"]),
    ("mem", &["malloc", "mmap", "shm"]),
    ("iomem_align", &["4k", "64k"]),
    ("verify_interval", &["512", "1024"]),
    ("verify_offset", &["40", "64"]),
    ("verify_pattern", &["0xa5", "%o", "0xff%o\"x\""]),
    ("verify_backlog", &["1", "8", "20"]),
    ("verify_backlog_batch", &["1", "4"]),
    ("log_avg_msec", &["10", "100"]),
    ("write_bw_log", &["log"]),
    ("write_lat_log", &["log"]),
    ("write_iops_log", &["log"]),
    ("write_iolog", &["iolog"]),
    ("description", &["words"]),
    ("thinktime", &["10"]),
    ("thinktime_blocks", &["50"]),
    ("startdelay", &["0"]),
    ("rate", &["64m", "32m,64m"]),
    ("rate_iops", &["20k", "30k,10k"]),
    ("thinkcycles", &["100"]),
    ("max_latency", &["100s"]),
    ("nice", &["1"]),
    ("cpus_allowed", &["0"]),
];

/// Engines; the one without files is the fastest, so it comes up more often.
const ENGINES: [&str; 6] = ["null", "psync", "null", "sync", "pvsync", "libaio"];

/// Options by which time decides how much is done, or chance; `unlink_each_loop`, which leaves
/// reads with empty files; what needs a file of an earlier run; trims, which fio refuses for
/// files. They are compared elsewhere.
const LEFT_OUT: &[&str] = &[
    "clocksource",
    "exitall",
    "fill_device",
    "name",
    "prio",
    "prioclass",
    "randrepeat",
    "stats",
    "time_based",
    "trim_backlog",
    "trim_backlog_batch",
    "trim_percentage",
    "trim_verify_zero",
    "unlink_each_loop",
    "verify_state_load",
];

/// A number that depends on every part.
fn draw(seed: u64, name: &str, purpose: &str) -> u64 {
    let mut sum = 0xcbf2_9ce4_8422_2325 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for byte in name.bytes().chain([0]).chain(purpose.bytes()) {
        sum = (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        sum ^= sum >> 29;
    }
    sum.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32
}

fn pick<'a>(seed: u64, name: &str, of: &[&'a str]) -> &'a str {
    of[draw(seed, name, "value") as usize % of.len()]
}

/// A value for an option, or none where no general rule gives a harmless one.
fn value(def: &Def, seed: u64) -> Option<String> {
    if let Some((_, values)) = EXAMPLES.iter().find(|(name, _)| *name == def.name) {
        return Some(pick(seed, def.name, values).to_owned());
    }
    match def.kind {
        Kind::Bool | Kind::Set => Some(pick(seed, def.name, &["0", "1"]).to_owned()),
        Kind::Choice => {
            let works = |word: &&str| {
                let set = Options::default().set(def.name, Some(word));
                set.is_some_and(|result| result.is_ok())
            };
            let words: Vec<&str> = def.choices.iter().map(|choice| choice.name).collect();
            let words: Vec<&str> = words.into_iter().filter(works).collect();
            (!words.is_empty()).then(|| pick(seed, def.name, &words).to_owned())
        }
        Kind::Int if def.max.is_some() => {
            let low = def.min.unwrap_or(0.0) as u64;
            let span = (def.max.unwrap_or(0.0) as u64 - low).min(1000) + 1;
            Some((low + draw(seed, def.name, "value") % span).to_string())
        }
        _ => None,
    }
}

fn words(seed: u64, known: &BTreeSet<String>) -> Vec<String> {
    let engine = ENGINES[draw(seed, "ioengine", "value") as usize % ENGINES.len()];
    let mut words = vec![format!("--name=x --ioengine={engine}")];
    for def in Options::defs() {
        let always = matches!(def.name, "rw" | "size");
        let drawn = always || draw(seed, def.name, "drawn").is_multiple_of(ONE_IN);
        let usable = def.state == State::Works && known.contains(def.name);
        if drawn
            && usable
            && !LEFT_OUT.contains(&def.name)
            && let Some(value) = value(def, seed)
        {
            words.push(format!("--{}={value}", def.name));
        }
    }
    words
}

/// Refusals that are ours on purpose.
const ON_PURPOSE: &[&str] = &[
    "is larger than",
    "for direct I/O",
    "needs verify_pattern",
    "dedupe_global=1 shares",
    "atomic=1: ioengine=",
];

/// Failures that are the peer's: it breaks off while pre-reading for an engine without files, and
/// does not recognise its own blocks where some of several sizes overlap.
const PEERS_OWN: &[&str] = &[
    "pre-read file",
    "verify: bad header rand_seed",
    "verify failed at file",
];

fn counts(outcome: &Outcome) -> Vec<Value> {
    let at = outcome.stdout.find("{\n").unwrap_or_default();
    let all = documents(&outcome.stdout[at..]).unwrap_or_else(|e| panic!("{e}: {outcome}"));
    let jobs = all[0]["jobs"].as_array().expect("jobs").iter();
    jobs.flat_map(|job| {
        let of = |place: &str, key: &str| job[place][key].clone();
        [
            job["error"].clone(),
            of("read", "total_ios"),
            of("read", "io_bytes"),
            of("write", "total_ios"),
            of("write", "io_bytes"),
            of("trim", "total_ios"),
        ]
    })
    .collect()
}

fn finding(dir: &Path, seed: u64, known: &BTreeSet<String>) -> Option<String> {
    let words = words(seed, known).join(" ");
    let [peer, here] = compare::both(dir, || fio(&words).arg("--output-format=json"));
    match (peer.code == Some(0), here.code == Some(0)) {
        (true, false) if ON_PURPOSE.iter().any(|text| here.stderr.contains(text)) => None,
        (false, true) if PEERS_OWN.iter().any(|text| peer.stderr.contains(text)) => None,
        (true, false) | (false, true) => Some(format!(
            "{seed}: `{words}`\n  fio {:?} {}\n  here {:?} {}",
            peer.code, peer.stderr, here.code, here.stderr
        )),
        (false, false) => None,
        (true, true) => {
            let (want, have) = (counts(&peer), counts(&here));
            let text = |all: &[Value]| serde_json::to_string(all).expect("values");
            (want != have).then(|| {
                format!(
                    "{seed}: `{words}`\n  fio  {}\n  here {}",
                    text(&want),
                    text(&have)
                )
            })
        }
    }
}

#[test]
fn random_combinations_do_what_fio_does() {
    if !have_peer("random_combinations_do_what_fio_does") {
        return;
    }
    let list = fio("--cmdhelp=all").with(Tool::Peer).run().stdout;
    let names = list.lines().filter_map(|line| line.split_once(':'));
    let known: BTreeSet<String> = names.map(|(name, _)| name.trim().to_owned()).collect();
    let range = match std::env::var("ASSAY_TEST_COMBINATIONS") {
        Ok(text) => {
            let (from, to) = text.split_once("..").expect("a range of numbers");
            from.parse().expect("a number")..to.parse().expect("a number")
        }
        Err(_) => USUAL,
    };
    let scratch = Scratch::new("random");
    let findings: Vec<String> = range
        .filter_map(|seed| finding(scratch.path(), seed, &known))
        .collect();
    assert_none(&findings, "random combinations");
}
