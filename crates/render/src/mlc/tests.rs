//! The text against published runs, and against the patterns by which scripts read it.

use super::*;
use result::MemoryTest;

/// As pasted from a run of version 3.11b on two sockets, but for the first line's end.
const TWO_SOCKETS: &str = "\
Measuring idle latencies for sequential access (in ns)...
\t\tNuma node
Numa node\t     0\t     1\t
       0\t  82.1\t 141.0\t
       1\t 141.5\t  81.5\t

Measuring Peak Injection Memory Bandwidths for the system
Bandwidths are in MB/sec (1 MB/sec = 1,000,000 Bytes/sec)
Using all the threads from each core if Hyper-threading is enabled
Using traffic with the following read-write ratios
ALL Reads        :\t158844.5\t
3:1 Reads-Writes :\t150658.6\t
2:1 Reads-Writes :\t149341.2\t
1:1 Reads-Writes :\t143355.4\t
Stream-triad like:\t128158.7\t

Measuring Memory Bandwidths between nodes within system 
Bandwidths are in MB/sec (1 MB/sec = 1,000,000 Bytes/sec)
Using all the threads from each core if Hyper-threading is enabled
Using Read-only traffic type
\t\tNuma node
Numa node\t     0\t     1\t
       0\t79422.3\t34402.0\t
       1\t34401.9\t79501.0\t

Measuring Loaded Latencies for the system
Using all the threads from each core if Hyper-threading is enabled
Using Read-only traffic type
Inject\tLatency\tBandwidth
Delay\t(ns)\tMB/sec
==========================
 00000\t383.60\t  35243.8
 00200\t 43.03\t 232249.0
 20000\t 36.56\t   2025.6

Measuring cache-to-cache transfer latency (in ns)...
Local Socket L2->L2 HIT  latency\t38.6
Local Socket L2->L2 HITM latency\t43.6
Remote Socket L2->L2 HITM latency (data address homed in writer socket)
\t\t\tReader Numa Node
Writer Numa Node     0\t     1\t
            0\t     -\t 111.3\t
            1\t 111.1\t     -\t
Remote Socket L2->L2 HITM latency (data address homed in reader socket)
\t\t\tReader Numa Node
Writer Numa Node     0\t     1\t
            0\t     -\t 175.8\t
            1\t 176.7\t     -\t
";

fn two_sockets() -> String {
    let some = |values: [f64; 2]| values.map(Some);
    let mut text = latency_matrix_start(false, &[0, 1]);
    text += &latency_row(0, &some([82.1, 141.0]));
    text += &latency_row(1, &some([141.5, 81.5]));
    text += "\n";
    text += &peak_start(false);
    for ((label, _), rate) in FIVE_MIXES
        .iter()
        .zip([158844.5e6, 150658.6e6, 149341.2e6, 143355.4e6, 128158.7e6])
    {
        text += &peak_row(label, rate);
    }
    text += "\n";
    text += &bandwidth_matrix_start(false, 0, &[0, 1]);
    text += &bandwidth_row(0, &some([79422.3e6, 34402.0e6]));
    text += &bandwidth_row(1, &some([34401.9e6, 79501.0e6]));
    text += "\n";
    text += &loaded_start(false, Load::Mix(0));
    text += &loaded_row(0, Some(383.6), 35243.8e6);
    text += &loaded_row(200, Some(43.03), 232249.0e6);
    text += &loaded_row(20000, Some(36.56), 2025.6e6);
    text += "\n";
    text += &transfer_start(true);
    text += &transfer_lines(Some(38.6), Some(43.6));
    let cells = |a, b| vec![vec![None, Some(a)], vec![Some(b), None]];
    text += &transfer_matrix(Homed::Writer, &[0, 1], &cells(111.3, 111.1));
    text += &transfer_matrix(Homed::Reader, &[0, 1], &cells(175.8, 176.7));
    text
}

#[test]
fn all_sections_of_two_sockets() {
    assert_eq!(two_sockets(), TWO_SOCKETS);
}

#[test]
fn single_results() {
    assert_eq!(
        idle_latency(31.1, 12.5),
        "Each iteration took 31.1 base frequency clocks (\t12.5\tns)\n"
    );
    assert_eq!(latency_buffer(10 << 20), "Using buffer size of 10.000MiB\n");
    assert_eq!(
        load_buffers(100_000 * 1024),
        "Using buffer size of 97.656MiB/thread for reads and an additional 97.656MiB/thread for \
         writes\n"
    );
    assert_eq!(
        command_line("-c0 -b10m"),
        "Command line parameters: -c0 -b10m \n\n"
    );
    assert_eq!(
        loaded_row(0, None, 11_721_640.9e6),
        " 00000\t  0.00\t11721640.9\n"
    );
    assert_eq!(
        max_row(FIVE_MIXES[0].0, 39631.59e6),
        "ALL Reads        :\t39631.59\t\n"
    );
    assert_eq!(
        transfer_start(false),
        "Measuring cache-to-cache transfer latency (in ns)...\n\
         Using small pages for allocating buffers\n"
    );
    assert_eq!(
        transfer_lines(Some(12.6), None),
        "Local Socket L2->L2 HIT  latency\t12.6\n"
    );
    assert_eq!(
        every_cpu_start(&[0]) + &latency_row(0, &[Some(30.0)]),
        "Measuring idle latencies (in ns) for all cores...\n\t\tNuma node\nCPU      \t     0\t\n\
         \x20      0\t  30.0\t\n"
    );
    assert_eq!(
        histogram(10, &[0, 5, 0, 1], 4),
        "Latency histogram, buckets of 1024 cycles\n[1024-2047]\t5\n[3072-]\t1\n"
    );
    assert_eq!(
        scan_start(32, 0, 0) + &scan_pages(11, 1 << 30),
        "Running memory bandwidth scan using 32 threads on numa node 0 accessing memory on numa \
         node 0\nReserved 11 1GB free pages\n"
    );
    let rows = scan_rows(&[(0x4_0000_0000, 54553e6), (0x4_4000_0000, 50001e6)], 5000);
    assert!(rows.contains("\n[50000-54999]\t2\n"), "{rows}");
    assert!(rows.contains("\n0x400000000\t16\t54553\n"), "{rows}");
}

/// What our own reader of MLC's reports finds in a body: tests, and their figures row by row.
fn read_back(body: &str) -> Vec<(MemoryTest, Vec<Vec<Option<f64>>>)> {
    let figure = Figure {
        median: 1.5,
        ..Figure::default()
    };
    let remarks = remark("Prefetchers off on CPU 0") + &spread("latency", &figure, NS);
    let text = banner() + &command_line("-t0.5 -b1.5g") + body + &remarks + "\n";
    let imported = result::import::read("mlc.txt", &text);
    assert!(
        imported.problems.is_empty(),
        "{:?} in {text}",
        imported.problems
    );
    let [run] = imported.runs.as_slice() else {
        panic!("{} runs in {text}", imported.runs.len());
    };
    assert_eq!(run.tool_version, "mlc-3.11b");
    let tables = run.memory_tables.iter();
    tables
        .map(|table| {
            let rows = table.rows.iter().map(|row| row.values.clone());
            (table.test, rows.collect())
        })
        .collect()
}

#[test]
fn every_mode_is_read_back() {
    let some = |values: &[f64]| values.iter().copied().map(Some).collect::<Vec<_>>();
    let rows = |rows: &[&[f64]]| rows.iter().map(|row| some(row)).collect::<Vec<_>>();
    assert_eq!(
        read_back(&two_sockets()),
        [
            (
                MemoryTest::LatencyMatrix,
                rows(&[&[82.1, 141.0], &[141.5, 81.5]])
            ),
            (
                MemoryTest::PeakInjection,
                rows(&[
                    &[158844.5],
                    &[150658.6],
                    &[149341.2],
                    &[143355.4],
                    &[128158.7]
                ])
            ),
            (
                MemoryTest::BandwidthMatrix,
                rows(&[&[79422.3, 34402.0], &[34401.9, 79501.0]])
            ),
            (
                MemoryTest::LoadedLatency,
                rows(&[&[383.6, 35243.8], &[43.03, 232249.0], &[36.56, 2025.6]])
            ),
            (MemoryTest::CacheToCache, rows(&[&[38.6], &[43.6]])),
            (
                MemoryTest::CacheToCache,
                vec![vec![None, Some(111.3)], vec![Some(111.1), None]]
            ),
            (
                MemoryTest::CacheToCache,
                vec![vec![None, Some(175.8)], vec![Some(176.7), None]]
            ),
        ]
    );
    let idle = latency_buffer(1 << 30) + PREFETCHERS_KEPT + &idle_latency(31.1, 12.5);
    let table = (MemoryTest::IdleLatency, rows(&[&[31.1, 12.5]]));
    assert_eq!(read_back(&idle), [table]);
    let every =
        every_cpu_start(&[0]) + &latency_row(0, &some(&[30.5])) + &latency_row(7, &some(&[31.0]));
    let table = (MemoryTest::LatencyMatrix, rows(&[&[30.5], &[31.0]]));
    assert_eq!(read_back(&every), [table]);
    let max = FIVE_MIXES.map(|(label, _)| max_row(label, 39631.59e6));
    let table = (MemoryTest::MaxBandwidth, vec![some(&[39631.59]); 5]);
    assert_eq!(read_back(&(max_start(false) + &max.concat())), [table]);
    let alone = loaded_start(true, Load::File) + &loaded_row(0, None, 2.5e9);
    let table = (MemoryTest::LoadedLatency, rows(&[&[0.0, 2500.0]]));
    assert_eq!(read_back(&alone), [table]);
    let regions = [(0x4_0000_0000, 54553e6), (0x4_4000_0000, 50001e6)];
    let scan = scan_start(32, 0, 0) + &scan_pages(11, 1 << 30) + &scan_rows(&regions, 5000);
    let table = (MemoryTest::Scan, rows(&[&[54553.0], &[50001.0]]));
    assert_eq!(read_back(&scan), [table]);
}

/// Words that hold a decimal number and nothing else.
fn decimals(line: &str) -> Vec<Option<f64>> {
    let decimal = |word: &str| word.contains('.').then(|| word.parse().ok()).flatten();
    line.split_whitespace().map(decimal).collect()
}

/// PerfSpect takes every line in which two decimal numbers follow each other, with or without
/// blanks between them, for a row of a loaded latency.
#[test]
fn only_rows_look_like_rows() {
    let figure = Figure {
        median: 101.25,
        mad: 0.5,
        n: 9,
        low: 100.5,
        high: 102.25,
        best: 99.5,
        ..Figure::default()
    };
    let others = [
        banner(),
        command_line("--loaded_latency -b1.5g -d0"),
        PREFETCHERS_KEPT.to_owned(),
        latency_buffer(12345678),
        load_buffers(12345678),
        spread("latency", &figure, NS),
        spread("bandwidth", &figure, MB_PER_S),
        thread_rows(&[1, 2], &[1.5e9, 2.5e9]),
        idle_latency(31.1, 12.5),
        loaded_start(true, Load::Mix(3)),
        loaded_start(false, Load::File),
        peak_start(true),
        max_start(false),
        scan_start(2, 0, 1),
    ];
    for line in others.iter().flat_map(|text| text.lines()) {
        let pairs = decimals(line);
        assert!(
            !pairs.windows(2).any(|two| two.iter().all(Option::is_some)),
            "{line}"
        );
        // A version such as 0.1.0 reads as 0.1 and .0.
        let dots = line
            .split_whitespace()
            .map(|word| word.matches('.').count());
        assert!(line.ends_with("...") || dots.max() <= Some(1), "{line}");
        let first = line.trim_start().chars().next();
        assert!(!first.is_some_and(|c| c.is_ascii_digit()), "{line}");
    }
    let row = loaded_row(50, Some(87.71), 37642.8e6);
    assert_eq!(decimals(&row), [None, Some(87.71), Some(37642.8)]);
}

/// Superbench takes every line that begins with a digit for a row of the matrix, and the last
/// five lines of the table of maxima for its rows.
#[test]
fn matrices_and_maxima_by_line() {
    let text = two_sockets();
    let matrix: Vec<Vec<&str>> = text
        .lines()
        .skip_while(|line| !line.starts_with("Measuring Memory Bandwidths between"))
        .take_while(|line| !line.is_empty())
        .filter(|line| line.trim_start().starts_with(|c: char| c.is_ascii_digit()))
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(
        matrix,
        [["0", "79422.3", "34402.0"], ["1", "34401.9", "79501.0"]]
    );
    let mut text = max_start(false);
    for (label, _) in FIVE_MIXES {
        text += &max_row(label, 1e10);
    }
    text += "\n";
    let lines: Vec<&str> = text.lines().collect();
    let keys: Vec<String> = lines[lines.len() - 6..]
        .iter()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|words| words.len() >= 2)
        .map(|words| words[..2].join("_").trim_end_matches(':').replace(':', "_"))
        .collect();
    assert_eq!(
        keys,
        [
            "ALL_Reads",
            "3_1_Reads-Writes",
            "2_1_Reads-Writes",
            "1_1_Reads-Writes",
            "Stream-triad_like"
        ]
    );
}

/// What scripts search for: version, sections, and the nanoseconds of an idle latency.
#[test]
fn words_that_scripts_search_for() {
    let version = banner();
    let version = version
        .strip_prefix("Intel(R) Memory Latency Checker - ")
        .unwrap();
    assert!(version.starts_with("v3.11b "));
    let line = idle_latency(186.5, 89.0);
    let inside = line.split_once('(').unwrap().1.split_once("ns)").unwrap().0;
    assert_eq!(inside.trim().parse(), Ok(89.0));
    for section in [
        "Measuring idle latencies",
        "Measuring Peak Injection Memory Bandwidths",
        "Measuring Memory Bandwidths between nodes",
        "Measuring Loaded Latencies",
        "Measuring cache-to-cache transfer latency",
    ] {
        let text = two_sockets();
        assert_eq!(text.lines().filter(|l| l.starts_with(section)).count(), 1);
    }
}
