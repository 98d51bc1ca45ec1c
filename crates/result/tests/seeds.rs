//! Every run in people's notes is found, with the figures they quote from it.

use result::import::{self, Imported};
use result::{Job, LatencyClass, MemoryTest, Run};
use units::Ddir;

const KIB: f64 = 1024.0;
const MIB: f64 = 1024.0 * KIB;

fn read(name: &str) -> Imported {
    let path = format!("{}/tests/seeds/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect(&path);
    import::read(name, &text)
}

fn of<'a>(imported: &'a Imported, format: &str) -> Vec<&'a Run> {
    let kind = |run: &&Run| run.source.as_ref().is_some_and(|s| s.format == format);
    imported.runs.iter().filter(kind).collect()
}

/// I/Os per second and bytes per second of every direction that ran, in order.
fn rates(runs: &[&Run]) -> Vec<(Ddir, f64, f64)> {
    let jobs = runs.iter().flat_map(|run| &run.jobs);
    jobs.flat_map(|job| {
        let moving = |ddir: &Ddir| job.dirs[*ddir].bytes_per_s() > 0.0;
        Ddir::DATA.into_iter().filter(moving).map(|ddir| {
            let dir = &job.dirs[ddir];
            (ddir, dir.iops(), dir.bytes_per_s())
        })
    })
    .collect()
}

#[track_caller]
fn near(got: f64, want: f64, step: f64) {
    assert!((got - want).abs() <= step, "{got} is not {want}");
}

fn only(run: &Run) -> &Job {
    assert_eq!(run.jobs.len(), 1);
    &run.jobs[0]
}

#[test]
fn stripes_of_cloud_volumes_by_fio_2() {
    let imported = read("striping.txt");
    // Ten whole reports, and four of which a description and a total are left.
    assert_eq!((imported.runs.len(), imported.problems.len()), (14, 0));
    let runs = of(&imported, "fio-normal");
    // fio 2 writes KB/s for KiB/s.
    let quoted: [(f64, f64); 14] = [
        (9168.0, 586_774.0),
        (2060.0, 131_901.0),
        (2060.0, 131_856.0),
        (9212.0, 589_622.0),
        (128.0, 526_269.0),
        (3986.0, 255_118.0),
        (0.0, 487_812.0),
        (0.0, 521_180.0),
        (0.0, 520_893.0),
        (124.0, 508_860.0),
        (0.0, 161_869.0),
        (128.0, 524_611.0),
        (252.0, 1_035_571.2),
        (145.0, 594_255.0),
    ];
    for ((ddir, iops, rate), (want_iops, want_kib)) in rates(&runs).into_iter().zip(quoted) {
        assert_eq!(ddir, Ddir::Write);
        near(iops, want_iops, 1.02);
        // Decimals of fio 2 are off by up to half of one.
        near(
            rate / KIB,
            want_kib,
            if want_kib.fract() == 0.0 { 1.02 } else { 51.0 },
        );
    }
    assert_eq!(rates(&runs).len(), quoted.len());
    // The fourth was interrupted, and its disk line was cut by the terminal.
    let partial: Vec<usize> = (0..14).filter(|at| runs[*at].partial).collect();
    assert_eq!(partial, [3]);
    let array = &runs[3].disks[0];
    assert_eq!((array.name.as_str(), array.members.len()), ("md0", 6));
    near(array.members[3].counters.util_percent(), 93.82, 1e-6);
    // Commands, wrapped ones too.
    let command = runs[2].command.as_deref().unwrap_or_default();
    assert!(command.contains("--time_based --runtime=180 --group_reporting --iodepth=8"));
    assert_eq!(only(runs[0]).members, 16);
}

#[test]
fn everything_in_one_report() {
    let imported = read("striping.txt");
    let run = &imported.runs[1];
    let job = only(run);
    let write = &job.dirs[Ddir::Write];
    assert_eq!(run.tool_version, "fio-2.14");
    // Sat May 23 01:38:30 2020.
    assert_eq!(run.finished_ms, 1_590_197_910_000);
    assert_eq!((job.pid, job.members, job.group), (3608, 16, 0));
    assert_eq!((write.issued, write.runtime_ms), (370_989, 180_008));
    // Count times block size, which both printed figures agree with.
    assert_eq!(write.bytes, 370_989 * 65_536);
    assert_eq!(write.stated.as_ref().map(|s| s.iops.is_some()), Some(false));
    let clat = &write.clat.moments;
    assert_eq!((clat.min(), clat.max), (908_000, 34_422_000));
    near(clat.mean(), 7_760_250.0, 1.0);
    near(clat.stddev(), 645_960.0, 1.0);
    near(write.lat.moments.mean(), 7_762_500.0, 1.0);
    let percentile = |percent| write.percentile(LatencyClass::Clat, percent);
    assert_eq!(percentile(1.0), Some(3_600_000));
    assert_eq!(percentile(99.99), Some(17_024_000));
    assert_eq!(percentile(42.0), None);
    assert_eq!(job.usage.context_switches, 371_176);
    near(job.coarse.ms[2] as f64 / 370_989.0, 0.9857, 1e-5);
    let disk = &run.disks[0].counters;
    assert_eq!((disk.ios, disk.merges), ([0, 371_002], [0, 11]));
    assert_eq!(
        (disk.ticks_ms, disk.in_queue_ms),
        ([0, 2_872_596], 2_699_308)
    );
    near(disk.util_percent(), 99.93, 1e-6);
    let source = run.source.as_ref().expect("a source");
    assert!(source.text.starts_with("# fio --directory") && source.text.ends_with("util=99.93%"));
    assert_eq!(
        source.text.lines().count(),
        source.last_line - source.first_line + 1
    );
}

#[test]
fn instance_stores_by_fio_2() {
    let imported = read("instance_store.txt");
    assert_eq!((imported.runs.len(), imported.problems.len()), (10, 0));
    let runs = of(&imported, "fio-normal");
    let got: Vec<(Ddir, f64)> = rates(&runs)
        .into_iter()
        .map(|(ddir, iops, _)| (ddir, iops.floor()))
        .collect();
    let (r, w) = (Ddir::Read, Ddir::Write);
    let quoted = [
        (w, 48_958.0),
        (r, 216_421.0),
        (w, 180_559.0),
        (r, 581_387.0),
        (w, 357_232.0),
        (r, 824_691.0),
        (r, 824_841.0),
        (r, 213_562.0),
        (w, 213_558.0),
        (w, 97_678.0),
        (r, 243_184.0),
    ];
    for ((ddir, iops), (want_ddir, want)) in got.iter().zip(quoted) {
        assert_eq!(*ddir, want_ddir);
        near(*iops, want, 1.0);
    }
    assert_eq!(got.len(), quoted.len());
    // Reads that the device never saw: 104,651,512 issued, 74,211,417 done.
    let holes = &runs[3];
    assert_eq!(only(holes).dirs[r].issued, 104_651_512);
    assert_eq!(holes.disks[0].counters.ios[0], 74_211_417);
    let members: Vec<usize> = runs.iter().map(|run| run.disks[0].members.len()).collect();
    assert_eq!(members, [0, 0, 0, 0, 2, 2, 2, 2, 2, 2]);
    let array = &runs[9].disks[0];
    assert_eq!(array.members[1].counters.ios, [21_883_351, 3]);
}

#[test]
fn tables_of_results() {
    let imported = read("tables.txt");
    // Four tables of six rows, of which one was pasted twice.
    assert_eq!(imported.runs.len(), 18);
    assert_eq!(imported.problems.len(), 1);
    assert!(
        imported.problems[0].what.contains("taken once"),
        "{:?}",
        imported.problems
    );
    let runs = of(&imported, "table");
    let rates = rates(&runs);
    let at = |n: usize| (rates[n].1, rates[n].2 / MIB);
    assert_eq!(at(0), (3162.0, 24.7));
    assert_eq!(at(8), (9620.0, 75.2));
    assert_eq!(at(14), (94_700.0, 740.0));
    assert_eq!(only(runs[14]).name, "8KiB randrw");
    let clat = &only(runs[6]).dirs[Ddir::Write].clat.moments;
    near(clat.mean(), 12e6, 1.0);
}

#[test]
fn a_scanned_report_of_fio_3() {
    let imported = read("laptops.txt");
    // 22 runs of MLC; four of fio on one laptop (the fifth is not there), five on the other.
    assert_eq!(imported.runs.len(), 31);
    let runs = of(&imported, "fio-normal");
    assert_eq!(runs.len(), 9);
    let quoted = [
        (125_000.0, 489.0),
        (90_000.0, 355.0),
        (30_400.0, 119.0),
        (78_800.0, 308.0),
        (40_600.0, 159.0),
        (59_200.0, 231.0),
        (59_200.0, 231.0),
        (8_470.0, 33.1),
        (8_066.0, 31.5),
        (2_695.0, 10.5),
        (8_002.0, 31.3),
        (4_125.0, 16.1),
        (7_305.0, 28.5),
        (7_296.0, 28.5),
        (47_100.0, 184.0),
    ];
    let rates = rates(&runs);
    assert_eq!(rates.len(), quoted.len());
    for ((_, iops, rate), (want_iops, want_mib)) in rates.iter().zip(quoted) {
        near(*iops, want_iops, want_iops / 100.0);
        near(rate / MIB, want_mib, want_mib / 100.0);
    }
    // Names without their first letters are those of the command.
    assert!(runs.iter().all(|run| only(run).name == "random-write"));
    // Where the counts are gone, the figures are as printed and the run says so.
    let derived = |run: &&&Run| run.notes.iter().any(|note| note.contains("derived"));
    let lines: Vec<usize> = runs
        .iter()
        .filter(derived)
        .map(|run| run.source.as_ref().map_or(0, |s| s.first_line))
        .collect();
    assert_eq!(lines.len(), 2);
    let reads = &only(runs[1]).dirs[Ddir::Read];
    assert_eq!(reads.stated.as_ref().and_then(|s| s.iops), Some(90_000.0));
}

#[test]
fn damaged_figures_are_reported_and_not_replaced() {
    let imported = read("laptops.txt");
    let runs = of(&imported, "fio-normal");
    let clat = |run: usize, ddir, percent| {
        only(runs[run]).dirs[ddir].percentile(LatencyClass::Clat, percent)
    };
    // `99.00th` was scanned as a second `90.00th`.
    assert_eq!(clat(1, Ddir::Read, 90.0), Some(12_736));
    assert_eq!(clat(1, Ddir::Read, 99.0), None);
    assert_eq!(clat(1, Ddir::Read, 99.5), Some(34_560));
    // `5.00th=[` at the end of a line, and `11], 40.00th=[` on the next.
    assert_eq!(clat(5, Ddir::Write, 5.0), None);
    assert_eq!(clat(5, Ddir::Write, 99.99), Some(200_000));
    // A line that stands there twice, once with wrong letters.
    let lat = &only(runs[2]).dirs[Ddir::Read].lat.moments;
    assert_eq!((lat.max, lat.mean().round() as u64), (661_000, 7720));
    let text = read_text("laptops.txt");
    for (words, problem) in [
        ("lat (uset): min=4, max=601", "cannot be read: `lat (uset)"),
        ("ayg= 7.62, stdev= 5.59", "`ayg` was read as `avg`"),
        ("bw ( k18/s)", "cannot be read: `bw ( k18/s)"),
        ("80000", "delay 80000 is out of order"),
        (
            "total=691865,356711,0.0 short",
            "cannot be read: `issued rwts",
        ),
    ] {
        let line = 1 + text
            .lines()
            .position(|line| line.contains(words))
            .expect(words);
        let told = |p: &import::Problem| p.line == line && p.what.contains(problem);
        assert!(imported.problems.iter().any(told), "{words} at {line}");
    }
}

fn read_text(name: &str) -> String {
    let path = format!("{}/tests/seeds/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect(name)
}

/// Values of the tables of one test, in order.
fn memory(imported: &Imported, test: MemoryTest) -> Vec<Vec<f64>> {
    let tables = imported.runs.iter().flat_map(|run| &run.memory_tables);
    tables
        .filter(|table| table.test == test)
        .map(|table| {
            table
                .rows
                .iter()
                .flat_map(|row| row.values.iter().flatten().copied())
        })
        .map(Iterator::collect)
        .collect()
}

#[test]
fn memory_of_two_laptops() {
    let imported = read("laptops.txt");
    assert_eq!(of(&imported, "mlc").len(), 22);
    assert_eq!(
        memory(&imported, MemoryTest::IdleLatency),
        [[107.3, 29.0], [175.3, 56.7]]
    );
    assert_eq!(
        memory(&imported, MemoryTest::PeakInjection),
        [
            [38_342.4, 34_171.4, 33_277.8, 33_129.2, 33_868.2],
            [26_363.6, 21_919.8, 20_502.4, 19_540.3, 21_786.9]
        ]
    );
    assert_eq!(
        memory(&imported, MemoryTest::MaxBandwidth),
        [
            [39_631.59, 34_263.82, 34_054.57, 33_291.68, 34_718.75],
            [26_537.77, 22_186.29, 21_045.80, 19_512.95, 22_518.58]
        ]
    );
    assert_eq!(
        memory(&imported, MemoryTest::BandwidthMatrix).concat(),
        [
            38_643.9, 32_912.7, 32_145.8, 31_720.2, 37_970.6, 25_708.7, 14_969.9, 15_230.0,
            19_346.9, 23_949.0
        ]
    );
    // Two tables side by side, read across.
    assert_eq!(
        memory(&imported, MemoryTest::LatencyMatrix),
        [
            vec![
                30.0, 29.3, 29.3, 29.3, 29.4, 30.1, 29.6, 29.3, 30.2, 30.2, 30.5, 30.2
            ],
            vec![60.9, 62.8, 57.8, 56.2, 57.0, 59.4, 57.8, 57.8]
        ]
    );
    assert_eq!(
        memory(&imported, MemoryTest::CacheToCache),
        [[12.6, 20.3], [22.3, 25.6]]
    );
}

#[test]
fn loaded_latencies_of_two_laptops() {
    let imported = read("laptops.txt");
    let loaded = memory(&imported, MemoryTest::LoadedLatency);
    assert_eq!(loaded.iter().map(Vec::len).collect::<Vec<_>>(), [38, 38]);
    assert_eq!(
        loaded[0][..6],
        [116.44, 37_856.0, 112.93, 37_944.5, 111.29, 37_861.0]
    );
    // The scanner put 7569.4 before its delay.
    assert_eq!(loaded[0][20..24], [33.57, 9810.5, 32.28, 7569.4]);
    assert_eq!(loaded[0][36..], [36.56, 2025.6]);
    assert_eq!(loaded[1][..2], [152.83, 26_594.1]);
    assert_eq!(loaded[1][36..], [56.29, 1277.2]);
    let labels: Vec<Vec<&str>> = imported
        .runs
        .iter()
        .flat_map(|run| &run.memory_tables)
        .filter(|table| table.test == MemoryTest::LoadedLatency)
        .map(|table| table.rows.iter().map(|row| row.label.as_str()).collect())
        .collect();
    assert_eq!(labels[0], labels[1]);
    assert_eq!(labels[0][..4], ["0", "2", "8", "15"]);
    assert_eq!(labels[0][18], "20000");
}

#[test]
fn cloud_disks_by_dd_and_fio_3() {
    let imported = read("cloud.txt");
    // Four writes and three reads by dd, eighteen runs of fio.
    assert_eq!((imported.runs.len(), imported.problems.len()), (25, 0));
    let dd = of(&imported, "dd");
    let megabytes: Vec<(Ddir, f64)> = rates(&dd)
        .into_iter()
        .map(|(ddir, _, rate)| (ddir, (rate / 1e6).round()))
        .collect();
    let (r, w) = (Ddir::Read, Ddir::Write);
    assert_eq!(
        megabytes,
        [
            (w, 668.0),
            (w, 673.0),
            (w, 687.0),
            (w, 377.0),
            (r, 809.0),
            (r, 792.0),
            (r, 802.0)
        ]
    );
    assert!(dd[3].partial && dd[3].notes[0].contains("No space left on device"));
    assert_eq!(only(dd[3]).dirs[w].bytes, 319_747_141_632);
    let fio = of(&imported, "fio-normal");
    let mib: Vec<f64> = rates(&fio)
        .iter()
        .map(|(_, _, rate)| (rate / MIB).round())
        .collect();
    assert_eq!(
        mib,
        [
            765.0, 767.0, 767.0, 768.0, 768.0, 768.0, 767.0, 766.0, 765.0, 765.0, 768.0, 768.0,
            149.0, 149.0, 149.0, 152.0, 152.0, 152.0
        ]
    );
    let disks: Vec<&str> = fio.iter().map(|run| run.disks[0].name.as_str()).collect();
    assert_eq!(disks[..6], ["sdb", "sdc", "sdd", "sdb", "sdc", "sdd"]);
    let written = &fio[12].disks[0].counters;
    assert_eq!(
        (written.ios[1], written.merges[1]),
        (107_126_272, 24_000_826)
    );
    let random = &only(fio[12]).dirs[w];
    assert_eq!((random.issued, random.runtime_ms), (104_857_600, 2_751_700));
    near(random.iops(), 38_106.5, 0.1);
    assert_eq!(random.slat.moments.mean().round(), 11_823.0);
    assert_eq!(random.iops.n, 21_976);
}
