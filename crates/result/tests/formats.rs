//! Formats that the seeds do not have.

use result::{LatencyClass, MemoryTest, Run, import};
use units::Ddir;

fn one(name: &str, text: &str) -> Run {
    let mut imported = import::read(name, text);
    assert_eq!(
        (imported.runs.len(), imported.problems.len()),
        (1, 0),
        "{:?}",
        imported.problems
    );
    imported.runs.remove(0)
}

/// Shortened to what differs from fio 3: microseconds, KiB under `io_bytes`, no counts of samples.
const FIO_2: &str = r#"{
  "fio version" : "fio-2.14",
  "timestamp" : 1590196950,
  "jobs" : [
    {
      "jobname" : "a",
      "groupid" : 0,
      "error" : 0,
      "eta" : 0,
      "elapsed" : 61,
      "read" : {
        "io_bytes" : 6000000,
        "bw" : 100000,
        "iops" : 25000.0,
        "runtime" : 60000,
        "total_ios" : 1500000,
        "short_ios" : 0,
        "drop_ios" : 0,
        "slat" : { "min" : 2, "max" : 30, "mean" : 3.5, "stddev" : 1.25 },
        "clat" : {
          "min" : 10, "max" : 2000, "mean" : 38.5, "stddev" : 4.5,
          "percentile" : { "1.000000" : 20, "99.000000" : 90, "0.00" : 0 }
        },
        "lat" : { "min" : 12, "max" : 2010, "mean" : 42.0, "stddev" : 4.75 },
        "bw_min" : 90000, "bw_max" : 110000, "bw_agg" : 100.0,
        "bw_mean" : 100100.5, "bw_dev" : 1234.5
      },
      "usr_cpu" : 10.5, "sys_cpu" : 20.25, "ctx" : 1500100, "majf" : 0, "minf" : 12,
      "iodepth_level" : { "1" : 100.0 },
      "latency_us" : { "50" : 99.0 }, "latency_ms" : {},
      "latency_depth" : 1, "latency_target" : 0, "latency_percentile" : 100.0,
      "latency_window" : 0
    }
  ],
  "disk_util" : [
    { "name" : "sda", "read_ios" : 1500000, "write_ios" : 3, "read_merges" : 0,
      "write_merges" : 1, "read_ticks" : 55000, "write_ticks" : 2, "in_queue" : 55002,
      "util" : 99.5 }
  ]
}
"#;

#[test]
fn json_of_fio_2() {
    let run = one("old.json", FIO_2);
    let read = &run.jobs[0].dirs[Ddir::Read];
    assert_eq!(read.bytes, 6_000_000 * 1024);
    assert_eq!((read.iops(), read.bytes_per_s()), (25_000.0, 102_400_000.0));
    let clat = &read.clat.moments;
    assert_eq!(
        (clat.n, clat.min(), clat.max),
        (1_500_000, 10_000, 2_000_000)
    );
    assert!((clat.mean() - 38_500.0).abs() < 1e-3 && (clat.stddev() - 4_500.0).abs() < 1e-3);
    assert_eq!(read.percentile(LatencyClass::Clat, 99.0), Some(90_000));
    assert_eq!(
        read.stated.as_ref().map(|s| s.clat_percentiles.len()),
        Some(2)
    );
    assert_eq!((read.bw.mean, read.bw.stddev()), (100_100.5, 1234.5));
    assert_eq!(run.disks[0].counters.ticks_ms, [55_000, 2]);
    // The same in bytes, as the last versions before 3.0 have it.
    let text = FIO_2.replace("6000000,", "6144000000,");
    assert_eq!(
        one("old.json", &text).jobs[0].dirs[Ddir::Read].bytes,
        6_144_000_000
    );
}

#[test]
fn json_inside_other_text() {
    let text = format!("notes\n```\n{FIO_2}```\nmore notes\n{FIO_2}");
    let imported = import::read("a.md", &text);
    assert_eq!((imported.runs.len(), imported.problems.len()), (2, 0));
    let source = imported.runs[0].source.as_ref().expect("a source");
    assert_eq!(
        (source.first_line, source.text.lines().count()),
        (3, FIO_2.lines().count())
    );
}

#[test]
fn cut_json_is_reported() {
    let cut: Vec<&str> = FIO_2.lines().take(20).collect();
    let imported = import::read("cut.json", &cut.join("\n"));
    assert!(imported.runs.is_empty());
    assert_eq!(imported.problems.len(), 1);
    assert!(
        imported.problems[0].what.starts_with("JSON: EOF"),
        "{:?}",
        imported.problems
    );
}

#[test]
fn our_own_documents() {
    let run = one(
        "a.md",
        "| x | IOPS | Bandwidth |\n|---|---|---|\n| 8KiB read | 5 | 40 KiB/s |\n",
    );
    let text = serde_json::to_string_pretty(&run).expect("a document");
    let again = one("run.json", &text);
    assert_eq!(again.jobs, run.jobs);
    // Sums of squares of nanoseconds take more than 64 bits.
    let notes = include_str!("seeds/striping.txt");
    let long = import::read("a.txt", notes).runs.remove(1);
    let squares = long.jobs[0].dirs[Ddir::Write].clat.moments.squares;
    assert!(squares > u128::from(u64::MAX));
    let whole = serde_json::to_string(&long).expect("a document");
    let again = one("run.json", &whole);
    assert_eq!(
        again.jobs[0].dirs[Ddir::Write].clat.moments.squares,
        squares
    );
    let newer = text.replacen("\"schema\": 1", "\"schema\": 999", 1);
    let imported = import::read("run.json", &newer);
    assert!(
        imported.problems[0].what.contains("version 999"),
        "{:?}",
        imported.problems
    );
}

/// As the program prints it on two sockets.
const MLC: &str = "\
Intel(R) Memory Latency Checker - v3.11b
Measuring idle latencies for sequential access (in ns)...
\t\tNuma node
Numa node\t     0\t     1\t
       0\t  82.1\t 141.0\t
       1\t 140.5\t  82.9\t

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
       0\t79500.1\t34000.2\t
       1\t34001.3\t79501.4\t

Measuring Loaded Latencies for the system
Using all the threads from each core if Hyper-threading is enabled
Using Read-only traffic type
Inject\tLatency\tBandwidth
Delay\t(ns)\tMB/sec
==========================
 00000\t383.60\t  35243.8
 00002\t380.11\t  35200.0

Measuring cache-to-cache transfer latency (in ns)...
Local Socket L2->L2 HIT  latency\t38.6
Local Socket L2->L2 HITM latency\t43.6
Remote Socket L2->L2 HITM latency (data address homed in writer socket)
\t\t\tReader Socket
Writer Socket     0     1
            0\t     -\t 101.5
            1\t 102.5\t     -
";

#[test]
fn whole_output_of_mlc() {
    let run = one("mlc.txt", MLC);
    assert_eq!(run.tool_version, "mlc-3.11b");
    let tests: Vec<MemoryTest> = run.memory_tables.iter().map(|table| table.test).collect();
    assert_eq!(
        tests,
        [
            MemoryTest::LatencyMatrix,
            MemoryTest::PeakInjection,
            MemoryTest::BandwidthMatrix,
            MemoryTest::LoadedLatency,
            MemoryTest::CacheToCache,
            MemoryTest::CacheToCache,
        ]
    );
    let latency = &run.memory_tables[0];
    assert_eq!(latency.columns, ["node 0 (ns)", "node 1 (ns)"]);
    assert_eq!(latency.rows[1].values, [Some(140.5), Some(82.9)]);
    assert!(
        run.memory_tables[2]
            .conditions
            .iter()
            .any(|text| text == "Using Read-only traffic type")
    );
    assert_eq!(
        run.memory_tables[2].rows[1].values,
        [Some(34_001.3), Some(79_501.4)]
    );
    assert_eq!(run.memory_tables[3].rows[1].label, "2");
    assert_eq!(run.memory_tables[4].rows[1].values, [Some(43.6)]);
    assert_eq!(run.memory_tables[5].rows[0].values, [None, Some(101.5)]);
    let source = run.source.as_ref().expect("a source");
    assert_eq!(
        (source.first_line, source.last_line),
        (1, MLC.lines().count())
    );
}

#[test]
fn syncs_and_errors_of_fio_3() {
    let text = "\
a: (groupid=0, jobs=1): err= 5 (file:io_u.c:1889, func=io_u error, error=Input/output error): \
pid=9: Sat Nov 21 22:41:39 2026
  write: IOPS=1000, BW=4000KiB/s (4096kB/s)(1200KiB/300msec); 0 zone resets
    clat (nsec): min=10, max=3385, avg=123.15, stdev=223.80
     lat (nsec): min=20, max=3606, avg=214.88, stdev=289.62
  fsync/fdatasync/sync_file_range:
    sync (usec): min=10, max=90, avg=50.50, stdev= 5.25
    sync percentiles (usec):
     |  1.00th=[   11], 99.00th=[   88]
  cpu          : usr=1.34%, sys=0.00%, ctx=259, majf=0, minf=10
     issued rwts: total=0,300,0,12 short=0,0,0,0 dropped=0,0,0,0
     errors    : total=1, first_error=5/<Input/output error>

Run status group 0 (all jobs):
  WRITE: bw=4000KiB/s (4096kB/s), 4000KiB/s-4000KiB/s (4096kB/s-4096kB/s), io=1200KiB (1229kB), \
run=300-300msec
";
    let run = one("a.txt", text);
    let job = &run.jobs[0];
    assert_eq!((job.sync.ios, job.sync.lat.moments.max), (12, 90_000));
    assert_eq!((job.total_errors, job.first_error), (1, 5));
    assert_eq!(job.dirs[Ddir::Write].issued, 300);
}

#[test]
fn logs_of_fio() {
    let run = one(
        "x_bw.1.log",
        "500, 1000, 1, 4096, 0\n1000, 3000, 1, 4096, 0\n1500, 10, 1, 4096, 0\n",
    );
    let series = &run.jobs[0].series[0];
    assert_eq!(series.ddir, Ddir::Write);
    let means: Vec<f64> = series.points().map(|point| point.mean() / 1024.0).collect();
    assert_eq!(means, [2000.0, 10.0]);
}

/// One document of each version that was ever written; all of them open.
const DOCUMENTS: [(u32, &str); 1] = [(1, include_str!("documents/v1.json"))];

#[test]
fn every_version_opens() {
    let last = DOCUMENTS.last().map(|(version, _)| *version);
    assert_eq!(
        last,
        Some(result::SCHEMA_VERSION),
        "a new version needs a stored document"
    );
    for (version, text) in DOCUMENTS {
        let run = one("run.json", text);
        assert_eq!(run.jobs[0].dirs[Ddir::Read].issued, 29, "version {version}");
        let read = &run.jobs[0].dirs[Ddir::Read];
        assert!(
            read.percentile(LatencyClass::Clat, 99.0)
                .is_some_and(|ns| ns > 0)
        );
    }
}
