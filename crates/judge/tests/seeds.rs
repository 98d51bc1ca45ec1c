//! The mistakes in people's own notes, each found with its figures in the numbers they pasted.
//!
//! The notes are those of the importer's tests. What they state beside the reports (which drives,
//! what was bought, what was mounted) stands here as declarations and pictures of the host.

use judge::expect::Declared;
use judge::{across, judge, judge_against, time_to_save};
use result::host::{Cloud, Device, Queue, Target};
use result::{Finding, Host, Job, Judgement, Run, Setup, import};

fn text_of(name: &str) -> String {
    let path = format!(
        "{}/../result/tests/seeds/{name}",
        env!("CARGO_MANIFEST_DIR")
    );
    std::fs::read_to_string(&path).expect(&path)
}

fn read(name: &str) -> Vec<Run> {
    let mut runs = import::read(name, &text_of(name)).runs;
    // Those of storage first, in the order of the file.
    runs.sort_by_key(|run| run.jobs.is_empty());
    runs
}

/// What is known of a run beside its report.
#[derive(Clone, Copy)]
enum Beside {
    Nothing,
    /// What was bought.
    Bought(&'static str),
    /// Local drives of this many bytes, by kernel name.
    Drives(&'static [&'static str], u64),
    /// The device that the targets lie on.
    Mounted(&'static str, &'static str),
    /// A target, the type of its file system, and where that is mounted.
    Lies(&'static str, &'static str, &'static str),
}

/// A mistake: its number, where it was made (file and number of the run), what is known, the
/// finding (or `verdict`), and the figures that its text has.
type Row = (
    &'static str,
    &'static str,
    usize,
    Beside,
    &'static str,
    &'static [&'static str],
);

use Beside::{Bought, Drives, Lies, Mounted, Nothing};

const STRIPE: &str = "striping.txt";
const STORE: &str = "instance_store.txt";
const TABLES: &str = "tables.txt";
const LAPTOPS: &str = "laptops.txt";
const CLOUD: &str = "cloud.txt";
const SIX: Beside = Bought("type=io1,gib=100,iops=2500,count=6,instance=m5d.4xlarge");
const TWO: Beside = Bought("type=instance-store,instance=m5d.4xlarge,count=2");
const ONE_32K: Beside = Bought("type=io1,gib=640,iops=32000,instance=z1d.2xlarge");
const GCP: Beside = Bought("type=pd-ssd,gib=1100");
const NVME: Beside = Drives(&["nvme0n1", "nvme1n1"], 1_900_000_000_000);

const ROWS: &[Row] = &[
    (
        "X1",
        STRIPE,
        2,
        Nothing,
        "depth-without-queue",
        &["iodepth=8 has no effect", "was 16"],
    ),
    (
        "X1",
        STRIPE,
        3,
        Nothing,
        "depth-without-queue",
        &["iodepth=8 has no effect", "was 32"],
    ),
    (
        "X1",
        STRIPE,
        5,
        Nothing,
        "depth-without-queue",
        &["psync", "was 32"],
    ),
    (
        "X2",
        STORE,
        3,
        Nothing,
        "holes-read",
        &["29.1 %", "412,279", "581,387"],
    ),
    (
        "X3",
        STORE,
        1,
        Nothing,
        "holes-read",
        &["43.7 %", "121,925", "216,42"],
    ),
    (
        "X4",
        STORE,
        1,
        Mounted("/mnt/p_iops_vol0", "nvme1n1"),
        "wrong-device",
        &["nvme0n1 did the I/O", "not nvme1n1"],
    ),
    (
        "X5",
        LAPTOPS,
        0,
        Nothing,
        "page-cache-read",
        &["1,048,576 buffered reads"],
    ),
    (
        "X6",
        LAPTOPS,
        6,
        Nothing,
        "buffered-mix",
        &["(117.0 us)", "(12.7 us)"],
    ),
    (
        "X6",
        LAPTOPS,
        7,
        Nothing,
        "buffered-mix",
        &["reads waited", "writes only for memory"],
    ),
    (
        "X7",
        LAPTOPS,
        4,
        Bought("type=intel-d7-p5600-1.6tb"),
        "verdict",
        &[
            "not comparable",
            "queue depth of 256",
            "depth of 1",
            "400,000 IOPS",
        ],
    ),
    (
        "X8",
        LAPTOPS,
        2,
        Nothing,
        "mix-not-whole",
        &["66.66", "65.98 %"],
    ),
    ("X9", CLOUD, 3, Nothing, "file-system-full", &["was full"]),
    ("X11", CLOUD, 0, Nothing, "zero-data", &["zeroes"]),
    (
        "X12",
        CLOUD,
        13,
        Nothing,
        "streams-overlap",
        &["4 sequential streams", "/mnt/datadisk1"],
    ),
    (
        "X12",
        CLOUD,
        19,
        Nothing,
        "jobs-share-file",
        &["4 workers share"],
    ),
    (
        "X13",
        CLOUD,
        10,
        Nothing,
        "layout-uncounted",
        &["100GiB were written", "133 s"],
    ),
    (
        "X14",
        CLOUD,
        22,
        Nothing,
        "name-misleads",
        &["`seq`", "is random"],
    ),
    (
        "X14",
        CLOUD,
        7,
        Nothing,
        "name-misleads",
        &["4 jobs", "has 1"],
    ),
    ("X16", STORE, 3, NVME, "small-range", &["16.0GiB", "0.9 %"]),
    ("X17", STORE, 2, NVME, "state-unknown", &["not known"]),
    (
        "X18",
        TABLES,
        0,
        Bought("type=gp2,gib=10"),
        "burst-credit",
        &["31 min", "100 IOPS"],
    ),
    (
        "X18",
        TABLES,
        0,
        Bought("type=gp2,gib=10"),
        "verdict",
        &["3,000 IOPS", "31 min"],
    ),
    (
        "X19",
        TABLES,
        7,
        ONE_32K,
        "verdict",
        &["bound by z1d.2xlarge", "13,333 IOPS", "104.3 %"],
    ),
    (
        "X19",
        TABLES,
        10,
        ONE_32K,
        "verdict",
        &["396.25 MB/s", "100.3 %"],
    ),
    (
        "X20",
        STRIPE,
        0,
        SIX,
        "verdict",
        &["bound by m5d.4xlarge EBS limit, 593.75 MB/s", "101.2 %"],
    ),
    (
        "X20",
        STRIPE,
        13,
        SIX,
        "verdict",
        &["593.75 MB/s", "102.5 %"],
    ),
    (
        "X21",
        STRIPE,
        11,
        TWO,
        "closed-loop-skew",
        &[
            "123225 to 123231",
            "1.8 ms",
            "118.8 ms",
            "100.3 %",
            "nothing is wrong",
        ],
    ),
    (
        "X22",
        STRIPE,
        6,
        Nothing,
        "kib-written-kb",
        &["487812 KB/s", "476.4 MiB/s"],
    ),
    (
        "X22",
        STRIPE,
        7,
        Nothing,
        "kib-written-kb",
        &["521180 KB/s", "509.0 MiB/s"],
    ),
    (
        "X22",
        STRIPE,
        4,
        Nothing,
        "kib-written-kb",
        &["513.9 MiB/s"],
    ),
    (
        "X22",
        STRIPE,
        10,
        Nothing,
        "kib-written-kb",
        &["158.1 MiB/s"],
    ),
    (
        "X23",
        TABLES,
        4,
        Nothing,
        "figures-contradict",
        &["61.0 MiB/s, not 64.5", "61.5 MiB/s"],
    ),
    (
        "X28",
        STRIPE,
        3,
        Nothing,
        "partial-run",
        &["63 %", "114.3 of 180 s"],
    ),
    (
        "X29",
        TABLES,
        0,
        Lies("/tmp/rand.txt", "tmpfs", "/tmp"),
        "target-in-memory",
        &["/tmp/rand.txt lies on tmpfs at /tmp"],
    ),
    (
        "X31",
        CLOUD,
        22,
        GCP,
        "verdict",
        &["39,000 IOPS", "99.6 %", "shared by its disks"],
    ),
    ("X31", CLOUD, 10, GCP, "verdict", &["805.31 MB/s"]),
    (
        "X32",
        CLOUD,
        19,
        Nothing,
        "write-amplification",
        &["500GiB", "400GiB"],
    ),
    (
        "X33",
        LAPTOPS,
        5,
        Bought("type=gp3,gib=2000,iops=16000,mib=1000"),
        "verdict",
        &[
            "below every known limit",
            "queue depth 1 x",
            "a depth of 2 would be needed",
        ],
    ),
    (
        "X34",
        STORE,
        8,
        Nothing,
        "long-tail",
        &["378.9 ms", "165 times"],
    ),
    ("X34", STORE, 0, Nothing, "long-tail", &["403.5 ms"]),
];

/// What several runs say together.
const TOGETHER: &[(&str, &str, &str, &[&str])] = &[
    (
        "X10",
        CLOUD,
        "target-untested",
        &["oflag=sync", "/mnt/datadisk3"],
    ),
    (
        "X24",
        TABLES,
        "counts-one-direction",
        &["8KiB randrw", "69 %", "9620"],
    ),
    (
        "X24",
        TABLES,
        "counts-one-direction",
        &["1MiB randrw", "70 %", "about 87"],
    ),
    (
        "X26",
        LAPTOPS,
        "single-run",
        &["machine 2, 3:1", "14970", "21920", "32 %"],
    ),
    (
        "X27",
        LAPTOPS,
        "point-missing",
        &["pass 1 of 2", "rwmixread=0"],
    ),
];

/// What the importer itself says: words of a line of the notes, and what is told of that line.
const READING: &[(&str, &str, &str, &str)] = &[
    // The second of two equal tables, with its rows.
    (
        "X25",
        TABLES,
        "| 8KiB randwrite | 32500 | 254 MiB/s |    3.9 ms     |",
        "taken once",
    ),
    // Two rows of one name: the first is the latency of a hit.
    (
        "X30",
        LAPTOPS,
        "Local Socket L2->L2 HITM latency 25.6",
        "stands here twice",
    ),
];

/// Mistakes that the product does not let happen: the test that proves it.
const PREVENTED: &[(&str, &str, &str)] = &[(
    "X15",
    "cleanup.rs",
    "a_killed_runs_files_are_listed_and_removed",
)];

fn with(mut run: Run, beside: Beside) -> (Run, Option<Declared>) {
    let mut host = Host::default();
    match beside {
        Nothing => return (run, None),
        Bought(words) => return (run, Some(words.parse().expect(words))),
        Drives(names, size_bytes) => {
            host.devices = names
                .iter()
                .map(|name| Device {
                    name: (*name).into(),
                    size_bytes,
                    model: Some("Amazon EC2 NVMe Instance Storage".into()),
                    transport: Some("nvme/pcie".into()),
                    queue: Queue {
                        rotational: Some(false),
                        ..Queue::default()
                    },
                    ..Device::default()
                })
                .collect();
        }
        Mounted(path, device) => host.targets.push(Target {
            path: path.into(),
            mount_point: Some(path.into()),
            fs_type: Some("xfs".into()),
            devices: vec![device.into()],
            ..Target::default()
        }),
        Lies(path, kind, at) => host.targets.push(Target {
            path: path.into(),
            mount_point: Some(at.into()),
            fs_type: Some(kind.into()),
            ..Target::default()
        }),
    }
    run.host = Some(host);
    (run, None)
}

fn told(judgement: &Judgement, id: &str) -> String {
    match id {
        "verdict" => judgement.verdict.clone().unwrap_or_default(),
        id => texts(&judgement.findings, id).join("\n"),
    }
}

fn texts(findings: &[Finding], id: &str) -> Vec<String> {
    let of = findings.iter().filter(|one| one.id == id);
    of.map(|one| one.text.clone()).collect()
}

#[test]
fn each_mistake_is_found_with_its_figures() {
    let mut wrong = Vec::new();
    for (mistake, file, at, beside, id, figures) in ROWS {
        let runs = read(file);
        let (run, declared) = with(runs[*at].clone(), *beside);
        let judgement = judge_against(&run, declared.as_ref());
        let text = told(&judgement, id);
        let missing: Vec<_> = figures
            .iter()
            .filter(|figure| !text.contains(**figure))
            .collect();
        if text.is_empty() || !missing.is_empty() {
            let all: Vec<_> = judgement.findings.iter().map(|one| &one.id).collect();
            wrong.push(format!(
                "{mistake} {file} #{at} {id}: {missing:?} not in `{text}`; {all:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn mistakes_that_only_several_runs_show() {
    let mut wrong = Vec::new();
    for (mistake, file, id, figures) in TOGETHER {
        let findings = across(&read(file));
        let all = |text: &String| figures.iter().all(|figure| text.contains(figure));
        if !texts(&findings, id).iter().any(all) {
            wrong.push(format!("{mistake} {id} {figures:?}: {findings:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn mistakes_that_are_seen_while_reading() {
    for (mistake, file, words, told) in READING {
        let text = text_of(file);
        let lines: Vec<usize> = text
            .lines()
            .enumerate()
            .filter(|(_, line)| line.contains(words))
            .map(|(at, _)| at + 1)
            .collect();
        let problems = import::read(file, &text).problems;
        let near = |line: usize| lines.iter().any(|at| line.abs_diff(*at) <= 2);
        let found = problems
            .iter()
            .any(|problem| near(problem.line) && problem.what.contains(told));
        assert!(found, "{mistake}: {lines:?} {problems:#?}");
    }
}

#[test]
fn mistakes_that_cannot_be_made_are_tested() {
    for (mistake, file, name) in PREVENTED {
        let path = format!("{}/../../tests/own/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).expect(&path);
        let test = format!("#[test]\nfn {name}()");
        assert!(text.contains(&test), "{mistake}: {path} has no test {name}");
    }
}

#[test]
fn every_mistake_has_its_row() {
    let known: Vec<&str> = ROWS
        .iter()
        .map(|row| row.0)
        .chain(TOGETHER.iter().map(|row| row.0))
        .chain(READING.iter().map(|row| row.0))
        .chain(PREVENTED.iter().map(|row| row.0))
        .collect();
    for number in 1..=34 {
        let name = format!("X{number}");
        assert!(known.contains(&name.as_str()), "{name} has no row");
    }
}

#[test]
fn the_figure_that_is_left_is_what_the_drive_is_sold_with() {
    let (run, declared) = with(
        read(STORE)[3].clone(),
        Bought("type=instance-store,instance=i3.4xlarge"),
    );
    let judgement = judge_against(&run, declared.as_ref());
    // As reported it is faster than the drive can be.
    let verdict = judgement.verdict.expect("a verdict");
    assert!(
        verdict.starts_with("faster than what was declared"),
        "{verdict}"
    );
    let expectation = judgement.expectations.first().expect("an expectation");
    assert!(
        (412_279.0 / expectation.iops - 1.0).abs() < 0.01,
        "{expectation:?}"
    );
}

#[test]
fn runs_that_are_what_they_say_have_no_grave_finding() {
    // The stripe of drives: reads, writes and a mix with direct I/O, all of which the array did.
    for at in [4, 5, 6, 7, 9] {
        let findings = judge(&read(STORE)[at]).findings;
        let grave: Vec<_> = findings
            .iter()
            .filter(|one| !["kib-written-kb", "long-tail"].contains(&one.id.as_str()))
            .collect();
        assert!(grave.is_empty(), "#{at}: {grave:#?}");
    }
}

#[test]
fn the_time_to_save_is_that_of_the_notes() {
    let run = &read(STRIPE)[0];
    let time = time_to_save(run, 28_711_018 << 10).expect("a rate");
    // 586,774 KiB/s.
    assert!((time.likely_s - 48.93).abs() < 0.01, "{time:?}");
}

#[test]
fn instances_are_known_by_what_the_machine_says() {
    let mut run = read(STRIPE)[0].clone();
    run.host = Some(Host {
        cloud: Some(Cloud {
            provider: "aws".into(),
            instance_type: Some("m5d.4xlarge".into()),
            instance_id: None,
        }),
        devices: vec![Device {
            name: "nvme1n1".into(),
            model: Some("Amazon Elastic Block Store".into()),
            ..Device::default()
        }],
        ..Host::default()
    });
    let verdict = judge(&run)
        .verdict
        .expect("a verdict without a declaration");
    assert!(
        verdict.starts_with("bound by m5d.4xlarge EBS limit"),
        "{verdict}"
    );
    // A job that is slower for its own reasons is not judged by that unasked.
    run.jobs = vec![Job {
        setup: Some(Setup::default()),
        ..run.jobs[0].clone()
    }];
    for dir in &mut run.jobs[0].dirs.0 {
        (dir.bytes, dir.ios) = (dir.bytes / 4, dir.ios / 4);
    }
    assert_eq!(judge(&run).verdict, None);
}
