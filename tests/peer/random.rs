//! Random legal combinations of options: both tools do the same amount of I/O, or both refuse.
//!
//! Which options a combination holds, and with which values, follows from its number and the
//! option's name alone, so an option that starts to work changes only combinations that hold it.
//! `ASSAY_TEST_COMBINATIONS=100..3000` runs other numbers than the usual ones.

use std::collections::BTreeSet;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
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
    ("cpumask", &["1"]),
    ("numa_cpu_nodes", &["0", "all"]),
    (
        "numa_mem_policy",
        &["default", "local", "bind:0", "prefer:0", "interleave:0"],
    ),
    ("uid", &["0"]),
    ("gid", &["0"]),
    ("comm", &["other"]),
    ("exec_prerun", &["true"]),
    ("exec_postrun", &["true"]),
    ("runtime", &["60", "2m"]),
    ("rate_min", &["1", "1k,1k"]),
    ("rate_iops_min", &["1"]),
    ("rate_cycle", &["500", "2s"]),
    ("thinktime_spin", &["5"]),
    ("thinktime_iotime", &["1s"]),
    ("flow", &["1", "10"]),
    ("flow_id", &["0", "3"]),
    ("flow_sleep", &["10"]),
    ("sync_file_range", &["write:4", "wait_before,write:8"]),
    ("ignore_error", &["EIO", "EIO:ENOSPC", ",ENOSPC"]),
    ("buffer_compress_chunk", &["512", "4k"]),
    ("lockmem", &["4k", "1m"]),
    ("filename", &["f", "f:g"]),
    ("directory", &[".", ".:."]),
    (
        "filename_format",
        &["$jobname.$filenum", "x.$jobnum.$filenum"],
    ),
    ("verify_async", &["1", "2"]),
    ("verify_async_cpus", &["0"]),
    ("verify_pattern_interval", &["512", "1k"]),
    ("zonesize", &["16k", "32k", "64k"]),
    ("zonerange", &["64k", "128k"]),
    ("zoneskip", &["0", "16k", "32k"]),
    ("bwavgtime", &["100", "1000"]),
    ("iopsavgtime", &["100", "1000"]),
    ("write_hist_log", &["log"]),
    ("log_hist_msec", &["10", "100"]),
    ("log_compression", &["64k"]),
    ("log_compression_cpus", &["0"]),
    ("log_alternate_epoch_clock_id", &["0", "1"]),
    ("job_start_clock_id", &["0", "1"]),
];

/// Engines; the one without files is the fastest, so it comes up more often.
const ENGINES: [&str; 6] = ["null", "psync", "null", "sync", "pvsync", "libaio"];

/// Options by which time decides how much is done, or chance; `unlink_each_loop`, which leaves
/// reads with empty files; what needs a file of an earlier run, another job, or a machine of a
/// certain kind; trims, which fio refuses for files. They are compared elsewhere.
const LEFT_OUT: &[&str] = &[
    "cgroup",
    "cgroup_nodelete",
    "cgroup_weight",
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

/// Options that are neither drawn nor left out on purpose: those that only mean something beside
/// what is left out, and those whose values are the business of their own tests.
const NO_VALUE: &[&str] = &[
    "gtod_cpu",
    "hugepage-size",
    "ioengine",
    "ioscheduler",
    "latency_percentile",
    "latency_target",
    "latency_window",
    "merge_blktrace_file",
    "merge_blktrace_iters",
    "merge_blktrace_scalars",
    "opendir",
    "ramp_size",
    "ramp_time",
    "read_iolog",
    "replay_align",
    "replay_redirect",
    "replay_scale",
    "replay_skip",
    "replay_time_scale",
    "steadystate",
    "steadystate_check_interval",
    "steadystate_duration",
    "steadystate_ramp_time",
    "wait_for",
    "zone_reset_frequency",
    "zone_reset_threshold",
    "zonecapacity",
];

#[test]
fn every_option_is_drawn_or_left_out_on_purpose() {
    let usable = Options::defs().filter(|def| def.state == State::Works);
    let undrawn = usable.filter(|def| value(def, 1).is_none() && !LEFT_OUT.contains(&def.name));
    let mut names: Vec<&str> = undrawn.map(|def| def.name).collect();
    names.sort_unstable();
    assert_eq!(names, NO_VALUE);
    let unknown = EXAMPLES.iter().map(|(name, _)| *name);
    let unknown = unknown.chain(LEFT_OUT.iter().copied());
    let unknown: Vec<&str> = unknown
        .filter(|name| Options::def(name).is_none())
        .collect();
    assert!(unknown.is_empty(), "{unknown:?}");
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
    "cannot be written atomically",
    "has no place in the logs of log_store_compressed",
];

/// Failures that are the peer's: it breaks off while pre-reading for an engine without files, does
/// not recognise its own blocks where some of several sizes overlap, asks for the hint of a file in
/// a way that kernels have given up, does not know a later word, and crashes where it divides by a
/// rate of zero or records what another thread submits.
const PEERS_OWN: &[&str] = &[
    "pre-read file",
    "verify: bad header rand_seed",
    "verify failed at file",
    "func=fcntl write hint",
    "failed parsing fadvise_hint=noreuse",
    "verify: bad header numberio",
    "got signal=",
];

/// Work that the peer cuts short, or waits in without end: it reads and verifies one loop of
/// several, appends where nothing is written or the engine has no file, has clones with a flow wait
/// for the first, and its threads wait for each other where they submit and verify.
fn peer_cannot(words: &[String]) -> bool {
    let any = |start: &[&str]| {
        let starts = |word: &String| start.iter().any(|start| word.starts_with(start));
        words.iter().any(starts)
    };
    let verifies = any(&["--verify=", "--verify_pattern="]);
    let null = words[0].ends_with("=null");
    verifies && any(&["--rw=read", "--rw=randread"]) && any(&["--loops="])
        || any(&["--file_append=1"]) && (null || any(&["--rw=read", "--rw=randread"]))
        || any(&["--flow="]) && any(&["--numjobs="])
        || (verifies || any(&["--sync_file_range="])) && any(&["--io_submit_mode=offload"])
}

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

/// With rates of several directions the time decides which is next: their sum is compared.
fn summed(counts: &[Value]) -> Vec<Value> {
    let job = |job: &[Value]| {
        let sum = |at: [usize; 2]| at.iter().filter_map(|at| job[*at].as_u64()).sum::<u64>();
        [job[0].clone(), sum([1, 3]).into(), sum([2, 4]).into()]
    };
    counts.chunks(6).flat_map(job).collect()
}

fn finding(dir: &Path, seed: u64, known: &BTreeSet<String>) -> Option<String> {
    let words = words(seed, known);
    if peer_cannot(&words) {
        return None;
    }
    let words = words.join(" ");
    let run = || compare::both(dir, || fio(&words).arg("--output-format=json"));
    let [peer, here] = match catch_unwind(AssertUnwindSafe(run)) {
        Ok(both) => both,
        // Only of the peer is this said; what of ours hangs fails.
        Err(panic)
            if panic
                .downcast_ref::<String>()
                .is_some_and(|t| t.starts_with("hung ")) =>
        {
            return None;
        }
        Err(panic) => resume_unwind(panic),
    };
    match (peer.code == Some(0), here.code == Some(0)) {
        (true, false) if ON_PURPOSE.iter().any(|text| here.stderr.contains(text)) => None,
        // fio makes a new file for reading and counts reads of nothing.
        (true, false)
            if words.contains("--create_on_open=1")
                && here.stderr.contains("No such file or directory") =>
        {
            None
        }
        // A crash.
        (_, _) if peer.code.is_none() => None,
        (_, true)
            if PEERS_OWN
                .iter()
                .any(|text| peer.stderr.contains(text) || peer.stdout.contains(text)) =>
        {
            None
        }
        (true, false) | (false, true) => Some(format!(
            "{seed}: `{words}`\n  fio {:?} {}\n  here {:?} {}",
            peer.code, peer.stderr, here.code, here.stderr
        )),
        (false, false) => None,
        (true, true) => {
            let (mut want, mut have) = (counts(&peer), counts(&here));
            if words.contains("--rate") && words.contains("--rw=randrw") {
                (want, have) = (summed(&want), summed(&have));
            }
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
