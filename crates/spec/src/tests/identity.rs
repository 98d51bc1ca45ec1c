//! Text -> typed options -> text -> typed options changes nothing.

use super::ENGINES;
use crate::options::Options;
use crate::parse;
use crate::testing::FakeWorld;
use option::ValueError::{NotYet, Refused};
use option::{Def, Kind, State};
use proptest::prelude::*;
use proptest::sample::select;

type Text = BoxedStrategy<String>;

/// Values for options whose grammar the kind does not tell.
fn special(name: &str) -> Option<&'static [&'static str]> {
    Some(match name {
        "rw" => &["read", "randrw:4", "write:8k", "read:-512", "randtrimwrite"],
        "random_distribution" => &[
            "random",
            "zipf:1.2",
            "zipf",
            "pareto:0.3:0.5",
            "normal:20",
            "zoned:60/10:40/",
            "zoned:100/100,50/5:50/20,30/:70/",
            "zoned_abs:60/4k:40/1g,100/7",
        ],
        "file_service_type" => &[
            "random:3",
            "roundrobin",
            "sequential",
            "zipf:1.1",
            "normal:5",
        ],
        "mem" => &["malloc", "shm", "mmap", "mmapshared:/m", "mmaphuge"],
        "sync_file_range" => &["write", "wait_before,write:7"],
        "replay_skip" => &["read", "write,trim,sync"],
        "bssplit" => &[
            "4k/50:8k/",
            "1k/10:2k/20:3k/30,4k",
            "512",
            "4k/,8k/5:9k,16k/100",
        ],
        "buffer_pattern" | "verify_pattern" => &[
            "0xdeadbeef",
            "\"text\"",
            "-7",
            "'/file'0x12",
            "\"a b\"%o0x00",
            "%o",
        ],
        "ignore_error" => &["EIO", "EIO:28,ENOSPC", ",,84", "5,6:7"],
        "numa_mem_policy" => &["local", "bind:0-1", "prefer:3", "interleave", "default"],
        "numa_cpu_nodes" => &["0", "all", "0-2,5"],
        "cpus_allowed" | "verify_async_cpus" | "log_compression_cpus" => {
            &["0", "0,5,8-15", "3,2,1"]
        }
        "filename" => &["a", "/x/y:z", r"c\:d:e", "with space"],
        "directory" => &["/a:/b"],
        "percentile_list" => &["50:99", "1:99.990:100", "0.00001"],
        "kb_base" => &["1024", "1000"],
        "filesize" => &["4k", "4k-1m", "9:3"],
        "startdelay" => &["5", "1-2m", "10ms-3"],
        "latency_percentile" => &["99.5"],
        "steadystate" => &[
            "iops:10%",
            "iops_slope:0.3%",
            "bw:4m",
            "bw_slope:10",
            "lat:10ms",
        ],
        _ => return None,
    })
}

fn number(def: &Def) -> Text {
    let low = def.min.unwrap_or(0.0) as i64;
    let high = def.max.unwrap_or(4_000_000.0) as i64;
    let plain = (low..=high).prop_map(|n| n.to_string());
    if def.max.is_some() {
        return plain.boxed();
    }
    let low = u64::try_from(low.max(1)).unwrap_or(1);
    let suffixed = (
        low..low + 900,
        select(vec!["k", "K", "kb", "kib", "ki", "b", ""]),
    )
        .prop_map(|(n, suffix)| format!("{n}{suffix}"));
    let odd = select(vec!["0x1000", "1.5k", "2e3", "(2*4k+1)"]).prop_map(str::to_string);
    prop_oneof![3 => plain, 3 => suffixed, 1 => odd].boxed()
}

fn one(def: &Def) -> Text {
    match def.kind {
        _ if special(def.name).is_some() => select(special(def.name).unwrap_or(&[]))
            .prop_map(str::to_string)
            .boxed(),
        Kind::Bool | Kind::Set => select(vec!["0".to_string(), "1".to_string()]).boxed(),
        Kind::Int | Kind::Bytes => number(def),
        Kind::Amount => {
            prop_oneof![number(def), (0..=100u32).prop_map(|p| format!("{p}%"))].boxed()
        }
        Kind::Time => (0..5000u64, select(vec!["", "us", "ms", "s", "m", "h", "d"]))
            .prop_map(|(n, unit)| format!("{n}{unit}"))
            .boxed(),
        Kind::Range => (number(def), number(def))
            .prop_map(|(a, b)| format!("{a}-{b}"))
            .boxed(),
        Kind::Choice => {
            let words = def
                .choices
                .iter()
                .flat_map(|c| std::iter::once(c.name).chain(c.aliases.to_vec()));
            select(words.map(str::to_string).collect::<Vec<_>>()).boxed()
        }
        Kind::Float => {
            let (low, high) = (def.min.unwrap_or(0.0), def.max.unwrap_or(12.5));
            (0..=100u32)
                .prop_map(move |n| format!("{}", low + (high - low) * f64::from(n) / 100.0))
                .boxed()
        }
        Kind::Text => "[a-z/._ '-]{1,9}[a-z]".boxed(),
    }
}

fn value(def: &'static Def) -> Text {
    let whole = special(def.name).is_some();
    if !def.per_direction || whole {
        return one(def);
    }
    let part = || prop_oneof![4 => one(def), 1 => Just(String::new())];
    prop_oneof![
        one(def),
        (one(def), one(def)).prop_map(|(a, b)| format!("{a},{b}")),
        (part(), one(def), part()).prop_map(|(a, b, c)| format!("{a},{b},{c}")),
    ]
    .boxed()
}

/// A list of options with legal values, each option at most once, in any order.
fn said() -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let usable: Vec<&'static Def> = Options::defs()
        .filter(|d| d.state == State::Works && !matches!(d.name, "name" | "ioengine" | "wait_for"))
        .collect();
    proptest::sample::subsequence(usable, 1..12)
        .prop_shuffle()
        .prop_flat_map(|defs| {
            defs.into_iter()
                .map(|def| (Just(def.name), value(def)))
                .collect::<Vec<_>>()
        })
}

/// Undoes the quoting of a command line, as a shell would.
fn shell_words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        let last = words.last_mut().unwrap();
        match c {
            '\'' => quoted = !quoted,
            '\\' if !quoted => last.extend(chars.next()),
            ' ' if !quoted => words.push(String::new()),
            _ => last.push(c),
        }
    }
    words.remove(0);
    words
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None, cases: 512, ..ProptestConfig::default()
    })]

    #[test]
    fn command_lines_repeat_themselves(said in said()) {
        let mut words = vec!["--name=a job".to_string()];
        words.extend(said.iter().map(|(name, text)| format!("--{name}={text}")));
        let world = FakeWorld::default();
        let Ok(first) = parse(&words, ENGINES, &world) else {
            // Values are legal one by one; together they may contradict each other.
            let mut options = Options::default();
            for (name, text) in &said {
                if let Some(Err(error)) = options.set(name, Some(text)) {
                    let lone = matches!(error, NotYet(_) | Refused(_));
                    prop_assert!(lone, "{name}={text}: {error}");
                }
            }
            return Ok(());
        };
        let words = shell_words(&first.command_lines[0]);
        let second = parse(&words, ENGINES, &world).unwrap();
        prop_assert_eq!(&first.jobs[0].options, &second.jobs[0].options, "{:?}", words);
        prop_assert_eq!(&first.jobs[0].given, &second.jobs[0].given);
        prop_assert_eq!(first.command_lines, second.command_lines);
    }

    #[test]
    fn shown_values_read_back(said in said()) {
        let mut first = Options::default();
        let taken: Vec<_> = said
            .iter()
            .filter(|(name, text)| matches!(first.set(name, Some(text)), Some(Ok(_))))
            .collect();
        let mut second = Options::default();
        for (name, _) in taken {
            let shown = first.show(name).unwrap();
            let result = second.set(name, Some(&shown)).unwrap();
            prop_assert!(result.is_ok(), "{name}={shown}: {result:?}");
        }
        prop_assert_eq!(first, second);
    }
}
