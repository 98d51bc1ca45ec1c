//! Command lines that people run, and mistakes that they make.

use super::*;
use option::{IdList, State};
use std::collections::BTreeSet;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn run(line: &str) -> Request {
    match parse(&words(line)) {
        Ok(Parsed::Run(request)) => *request,
        other => panic!("{line}: {other:?}"),
    }
}

fn error(line: &str) -> String {
    match parse(&words(line)) {
        Err(text) => text,
        Ok(parsed) => panic!("{line}: {parsed:?}"),
    }
}

#[test]
fn every_flag_is_one_letter_with_help_and_a_mode() {
    let mut seen = BTreeSet::new();
    for (index, def) in Flags::DEFS.iter().enumerate() {
        assert_eq!(def.name.len(), 1, "{}", def.name);
        assert!(seen.insert(def.name), "{} twice", def.name);
        assert!(!def.summary().is_empty(), "{}", def.name);
        assert_eq!(Flags::default_error(index), None, "{}", def.name);
        let letter = def.name.chars().next().unwrap();
        assert!(Mode::ALL.iter().any(|mode| mode.takes(letter)), "{letter}");
        assert!(help::text().contains(&format!("\n  -{letter}")), "{letter}");
    }
    for mode in Mode::ALL.into_iter().chain([Mode::Everything]) {
        let letters = mode.letters();
        assert!(
            letters.chars().all(|letter| find(letter).is_some()),
            "{letters}"
        );
        let distinct: BTreeSet<char> = letters.chars().collect();
        assert_eq!(distinct.len(), letters.len(), "{letters}");
    }
}

#[test]
fn a_value_is_glued_or_follows() {
    for line in [
        "--idle_latency -b10m -c3 -L",
        "-idle_latency -b 10m -c 3 -L",
        "-b10240 --idle_latency -L -c=3",
    ] {
        let request = run(line);
        assert_eq!(request.mode, Mode::IdleLatency, "{line}");
        assert_eq!(request.flags.buffer, Some(Size(10 << 20)), "{line}");
        assert_eq!(request.flags.cpu, Some(3), "{line}");
        assert!(request.flags.huge_pages, "{line}");
        assert_eq!(request.line, line);
    }
    let request = run("--loaded_latency -d0 -ofile -t10 -T");
    assert_eq!(request.flags.threads_file.as_deref(), Some("file"));
    assert_eq!(
        (request.flags.delay, request.flags.seconds),
        (Some(0), Some(10.0))
    );
    let request = run("--loaded_latency -k3-6,9 -W3 -Z");
    assert_eq!(request.flags.cpus, Some(IdList(vec![3, 4, 5, 6, 9])));
    assert_eq!(request.flags.traffic, Some(Traffic(3)));
    assert_eq!(run("").mode, Mode::Everything);
    assert_eq!(run("-e -r -X -v").mode, Mode::Everything);
    assert_eq!(parse(&words("--idle_latency --help")), Ok(Parsed::Help));
}

/// Command lines that published scripts and reports use.
#[test]
fn command_lines_that_people_run() {
    for line in [
        "--loaded_latency -b500m -X",
        "--idle_latency -b20 -t10 -c1 -i1",
        "--idle_latency -b2g -t10 -c0 -i0 -e -r -l128",
        "--loaded_latency -d0 -b1g -t30 -k1-3 -c0 -e -r -K1 -R",
        "--peak_injection_bandwidth -K1 -e",
        "-X --peak_injection_bandwidth",
        "-X --max_bandwidth -Z",
        "--bandwidth_matrix -e -Y -X -t2 -L -W6",
        "--max_bandwidth -e -Y -X -t2 -L",
        "--idle_latency -e -r -c0 -i0 -b32768 -t2 -L -f10",
        "--c2c_latency",
        "--c2c_latency -c0 -w1 -b2000 -C1000",
        "--loaded_latency -gdelays -orows -t4",
        "--latency_matrix -e -r -b32768 -t2 -L",
        "--memory_bandwidth_scan -j0 -n0 -t32 -q10 -S5000",
    ] {
        run(line);
    }
}

#[test]
fn a_flag_outside_its_mode_is_refused_by_name() {
    assert_eq!(
        error("--idle_latency -W3"),
        "`-W` is not for --idle_latency; it goes with --bandwidth_matrix, --loaded_latency"
    );
    assert!(error("-l128").starts_with("`-l` is not for a run without a mode; it goes with --lat"));
    for mode in Mode::ALL {
        for def in Flags::DEFS {
            let letter = def.name.chars().next().unwrap();
            if mode.takes(letter) || letter == 's' {
                continue;
            }
            let value = if def.kind == Kind::Set { "" } else { "4096" };
            let value = if letter == 'K' { "1" } else { value };
            let value = if letter == 'W' || letter == 'f' {
                "3"
            } else {
                value
            };
            let text = error(&format!("--{} -{letter}{value}", mode.word()));
            let want = format!("`-{letter}` is not for --{}", mode.word());
            assert!(text.starts_with(&want), "{text}");
        }
    }
}

#[test]
fn contradictions_are_refused() {
    for (line, pair) in [
        ("--loaded_latency -R -W3", "-R"),
        ("--loaded_latency -k1-3 -X", "-X"),
        ("--loaded_latency -k1-3 -m6", "-m"),
        ("--idle_latency -J/mnt -j0", "-J"),
        ("--idle_latency -t2 -x3", "-x"),
        ("--bandwidth_matrix -Y -Z", "-Z"),
        ("--loaded_latency -d0 -gfile", "-g"),
        ("--loaded_latency -orows -W3", "-o"),
        ("--loaded_latency -U -W3", "-U"),
        ("--loaded_latency -n100", "-n"),
        ("--loaded_latency -W21", "-W21"),
        ("--idle_latency -l100", "-l100"),
        ("--idle_latency --c2c_latency", "--c2c_latency"),
    ] {
        let text = error(line);
        assert!(
            text.contains(pair) && !text.contains('\n'),
            "{line}: {text}"
        );
    }
}

#[test]
fn mistakes_name_the_nearest_word() {
    for (line, part) in [
        ("--idle_latancy", "did you mean `--idle_latency`?"),
        ("-idle_latancy", "did you mean `--idle_latency`?"),
        ("--loaded-latency", "did you mean `--loaded_latency`?"),
        ("-A", "did you mean `-a`"),
        ("-z", "did you mean `-Z`"),
        ("-9", "`--help` lists"),
        ("file", "`--help` lists"),
        ("-", "`--help` lists"),
        ("-\u{e9}", "`--help` lists"),
        ("--loaded_latency -W18", "is no mix; they are W2 W3"),
        ("--loaded_latency -W", "`-W` needs a value"),
        ("--idle_latency -b10x", "expected a size"),
        ("--idle_latency -b2", "out of range"),
        ("--idle_latency -X1", "takes no value"),
        ("--idle_latency -e0", "driver of Windows"),
        ("--loaded_latency -m0", "names no CPU"),
        ("--loaded_latency -mxyz", "hexadecimal"),
        ("--loaded_latency -k3-1", "numbers and ranges"),
        ("--loaded_latency -sname", "another process"),
    ] {
        let text = error(line);
        assert!(
            text.contains(part) && !text.contains('\n'),
            "{line}: {text}"
        );
    }
}

#[test]
fn masks_and_sizes_show_as_they_read() {
    let def = &Flags::DEFS[0];
    let ctx = option::Ctx {
        kb_base: units::KbBase::Binary,
        def,
    };
    use option::Value;
    let mask = Mask::parse("0xFFFF,0000003E", &ctx).unwrap().value;
    assert_eq!(mask.0.first(), Some(&1));
    assert_eq!(mask.0.last(), Some(&47));
    assert_eq!(Mask::parse(&mask.show(), &ctx).unwrap().value, mask);
    for (text, bytes) in [
        ("1", 1024),
        ("1k", 1024),
        ("1.5m", 3 << 19),
        ("2g", 2 << 30),
    ] {
        let size = Size::parse(text, &ctx).unwrap().value;
        assert_eq!(size, Size(bytes), "{text}");
        assert_eq!(Size::parse(&size.show(), &ctx).unwrap().value, size);
    }
}

/// Reads and writes at the memory controller, from the table of mixes.
#[test]
fn mixes_count_a_store_as_a_read_and_a_write() {
    let table = [
        (0, 1, 0),
        (2, 2, 1),
        (3, 3, 1),
        (4, 3, 2),
        (5, 1, 1),
        (6, 0, 1),
        (7, 2, 1),
        (8, 1, 1),
        (9, 3, 1),
        (10, 2, 1),
        (11, 3, 1),
        (12, 4, 1),
        (13, 5, 1),
        (14, 6, 1),
        (15, 7, 1),
        (16, 8, 1),
        (17, 9, 1),
        (19, 9, 1),
        (21, 1, 0),
        (23, 3, 1),
        (27, 2, 1),
    ];
    for (number, reads, writes) in table {
        let lines = Traffic(number).lines().unwrap();
        assert_eq!(
            (lines.reads(), lines.writes()),
            (reads, writes),
            "W{number}"
        );
    }
    let known: Vec<u8> = (0..=255)
        .filter(|n| Traffic(*n).lines().is_some())
        .collect();
    assert_eq!(known, table.map(|row| row.0));
}

#[test]
fn the_delays_are_nineteen_and_rise() {
    assert!(DELAYS.is_sorted());
    assert_eq!((DELAYS[0], DELAYS[18]), (0, 20000));
    assert_eq!(delays("0\n\n 200 # knee\n500\n"), Ok(vec![0, 200, 500]));
    assert_eq!(
        delays("1\n2x\n").unwrap_err(),
        "line 2: `2x` is no delay in cycles, 0 to 10000000"
    );
    assert!(delays("# nothing\n").is_err());
    assert!(delays("-1").is_err());
}

#[test]
fn rows_of_threads() {
    let text = "0-3   R   seq  100000 dram 0\n\
                4,5   W5  rand 200000 pmem /mnt/pmem0\n\
                6-11  W21 seq  40000  dram 0 dram 1 25      # a quarter goes there\n";
    let rows = threads(text).unwrap();
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[0].cpus, [0, 1, 2, 3]);
    assert_eq!(rows[0].buffer_bytes, 100_000 * 1024);
    assert_eq!(rows[1].traffic, Traffic(5));
    assert!(rows[1].random && !rows[0].random);
    assert_eq!(rows[1].target, Target::Directory("/mnt/pmem0".into()));
    assert_eq!(rows[2].second, Some((Target::Node(1), 25)));
    for (text, part) in [
        ("0 R seq 100", "line 1: 4 words"),
        (
            "\n0 R seq 100 dram 0\n0 R seq 100 dram 0",
            "line 3: CPU 0 has a row already",
        ),
        ("0 W3 rand 100 dram 0", "W3 has no random order"),
        ("0 W18 seq 100 dram 0", "is no mix"),
        ("0 R both 100 dram 0", "neither seq nor rand"),
        ("0 R seq 1 dram 0", "4 at least"),
        ("0 R seq 100 disk 0", "neither dram nor pmem"),
        ("0 R seq 100 dram x", "no number of a NUMA node"),
        ("0 R seq 100 dram 0 dram 1 25", "W21, W23 and W27 take two"),
        ("0 W21 seq 100 dram 0", "needs a second target"),
        ("0 W23 seq 100 dram 0 dram 1 50", "50 % with W21"),
        ("x R seq 100 dram 0", "numbers and ranges"),
        ("# only a remark", "holds no row"),
    ] {
        let wrong = threads(text).unwrap_err();
        assert!(wrong.contains(part), "{text}: {wrong}");
    }
}

#[test]
fn patterns_fill_lines() {
    let pattern = pattern("00ff\n0x0123456789abcdef\n").unwrap();
    assert_eq!(pattern.len(), 2);
    assert_eq!(pattern[0][..4], [0, 0xff, 0, 0xff]);
    assert_eq!(pattern[1][8], 0x01);
    for text in ["", "0", "xyz", "000000"] {
        assert!(super::pattern(text).is_err(), "{text}");
    }
    assert!(super::pattern(&"00\n".repeat(257)).is_err());
}

#[test]
fn what_is_refused_says_why() {
    for def in Flags::DEFS {
        if let State::Refused(why) | State::Later(why) = def.state {
            assert!(why.len() > 10, "{}", def.name);
        }
    }
}
