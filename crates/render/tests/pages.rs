//! Pages of real and of hostile documents. With `ASSAY_PAGES=FOLDER` they are written there, for
//! `cargo xtask page` to open in a browser.
#![forbid(unsafe_code)]

use measure::Latency;
use render::report::{Named, Report, csv, markdown, text};
use result::memory::{
    CacheCurve, CachePoint, Curve, Figure, Loaded, LoadedPoint, Matrix, Memory, Pages, Plateau,
};
use result::series::{Quantity, Series};
use result::{
    Direction, Disk, DiskCounters, Expectation, ExpectedLimit, Failure, Finding, Job, Judgement,
    Run, Severity, import,
};
use units::{Ddir, PerDdir};

const HOSTILE: &str = "<script>alert(1)</script>\"'&\n|=cmd()`\u{1b}[31m</pre></textarea>";

fn seed(name: &str) -> Vec<Named> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../result/tests/seeds/");
    let text = std::fs::read_to_string(format!("{folder}{name}")).expect("a recorded seed");
    let runs = import::read(name, &text).runs;
    let named = |(at, run): (usize, Run)| Named {
        name: format!("#{}", at + 1),
        run,
    };
    runs.into_iter().enumerate().map(named).collect()
}

fn direction(ios: u64, base_ns: u64) -> Direction {
    let latency = || {
        let mut latency = Latency::with_histogram();
        for i in 0..ios {
            let tail = if i % 100 == 99 { 20 } else { 1 };
            latency.add(base_ns * tail + i * 37 % base_ns, 1);
        }
        latency
    };
    Direction {
        bytes: ios * 4096,
        issued: ios,
        ios,
        runtime_ms: 10_000,
        clat: latency(),
        lat: latency(),
        ..Direction::default()
    }
}

fn job(name: &str, number: u32, depth: u32, seconds: u64) -> Job {
    let ios = 20_000 * u64::from(depth);
    let none = Direction::default;
    let mut series = Vec::new();
    for second in 1..=seconds {
        let stall = if second == seconds / 2 { 0 } else { 1 };
        let value = stall * (ios / 10 + second * 7_919 % 500);
        Series::of(&mut series, Quantity::Iops, Ddir::Read).add(second * 1000, value);
    }
    Job {
        name: name.to_owned(),
        number,
        group: number,
        members: 1,
        options: [
            ("rw", "randread"),
            ("bs", "4k"),
            ("iodepth", &depth.to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec(),
        dirs: PerDdir([
            direction(ios / 4, 80_000 * u64::from(depth.max(4))),
            none(),
            none(),
        ]),
        usage: result::Usage {
            user_us: ios,
            system_us: 2 * ios,
            context_switches: ios / 2,
            ..Default::default()
        },
        series,
        ..Job::default()
    }
}

fn figure(median: f64) -> Figure {
    Figure {
        median,
        n: 9,
        low: median * 0.99,
        high: median * 1.02,
        best: median * 0.98,
        ..Figure::default()
    }
}

fn memory() -> Memory {
    let staircase = [
        (32 << 10, 1.2),
        (1 << 20, 4.0),
        (32 << 20, 19.0),
        (1u64 << 30, 98.0),
    ];
    let points = (12..31).map(|power| {
        let bytes = 1u64 << power;
        let step = staircase
            .iter()
            .find(|(size, _)| bytes <= *size)
            .unwrap_or(&staircase[3]);
        CachePoint {
            bytes,
            ns: figure(step.1),
        }
    });
    let plateaus = ["L1", "L2", "L3", "memory"].iter().zip(staircase);
    let plateaus = plateaus.map(|(name, (bytes, ns))| Plateau {
        name: (*name).to_owned(),
        bytes,
        told_bytes: None,
        ns,
    });
    let load = |i: u32| LoadedPoint {
        delay: 20_000 >> i,
        ns: Some(figure(95.0 + f64::from(i * i) * 1.7)),
        rate: figure(6e9 * f64::from(i + 1)),
    };
    let row = |near: f64, far: f64| vec![figure(near), figure(far)];
    Memory {
        cache: Some(CacheCurve {
            cpu: 0,
            curves: vec![Curve {
                pages: Pages {
                    bytes: 4096,
                    ..Pages::default()
                },
                points: points.collect(),
                plateaus: plateaus.collect(),
            }],
        }),
        loaded: vec![Loaded {
            name: "read".to_owned(),
            idle_ns: Some(figure(95.0)),
            points: (0..12).map(load).collect(),
            ..Loaded::default()
        }],
        matrix: Some(Matrix {
            from: vec![0, 1],
            to: vec![0, 1],
            latency_ns: vec![row(95.0, 160.0), row(161.0, 96.0)],
            read: vec![row(80e9, 30e9), row(31e9, 81e9)],
            ..Matrix::default()
        }),
        ..Memory::default()
    }
}

/// Findings of every severity and two workloads with their limits.
fn judgement() -> Judgement {
    let finding = |id: &str, severity| Finding {
        id: id.to_owned(),
        severity,
        text: format!("29.1 % of the reads were served without the device {HOSTILE}"),
        advice: format!("write the whole file first {HOSTILE}"),
        evidence: vec![
            ("issued_bytes".to_owned(), result::Figure::Count(4096)),
            ("why".to_owned(), result::Figure::Text(HOSTILE.to_owned())),
        ],
    };
    let expectation = |subject: &str, iops: f64| {
        let bound = |name: &str, iops: f64| ExpectedLimit {
            name: name.to_owned(),
            iops,
            bytes_per_s: iops * 4096.0,
            source: "the seller's page".to_owned(),
            as_of: "2026-01".to_owned(),
            ..ExpectedLimit::default()
        };
        Expectation {
            subject: subject.to_owned(),
            block_bytes: 4096,
            measured_iops: iops,
            limits: vec![
                bound("gp2 volume", 3_000.0),
                bound("m5d.4xlarge EBS limit", 18_750.0),
                bound("nvme0n1 PCI link x4", 860_000.0),
            ],
            verdict: Some("bound by gp2 volume, 3,000 IOPS: measured 99.2 %".to_owned()),
            ..Expectation::default()
        }
    };
    Judgement {
        findings: vec![
            finding("holes-read", Severity::Invalid),
            finding("queue-not-reached", Severity::Warning),
            finding("array-cache", Severity::Note),
        ],
        expectations: vec![expectation("read", 2_976.0), expectation(HOSTILE, 9_000.0)],
        ..Judgement::default()
    }
}

/// The same job again and again.
fn repeated() -> Vec<Named> {
    let run = |at: u64| {
        let mut job = job("again", 1, 16, 60);
        job.dirs.0[0].issued += at * 331 % 97;
        Named {
            name: format!("run {at}"),
            run: Run {
                jobs: vec![job],
                ..Run::default()
            },
        }
    };
    (1..=13).map(run).collect()
}

/// Everything a run of our own can hold, with names that want to break out.
fn full() -> Vec<Named> {
    let disk = |name: &str, ios: u64| Disk {
        name: name.to_owned(),
        counters: DiskCounters {
            ios: [ios, ios / 3],
            sectors: [ios * 8, ios * 3],
            ticks_ms: [ios / 5, ios / 9],
            busy_ms: 9_000,
            elapsed_ms: 10_000,
            ..Default::default()
        },
        ..Default::default()
    };
    let mut jobs: Vec<Job> = [1, 4, 16, 64]
        .into_iter()
        .enumerate()
        .map(|(at, depth)| job(&format!("depth {depth}"), at as u32 + 1, depth, 300))
        .collect();
    let mut hostile = job(HOSTILE, 9, 2, 300);
    hostile.failure = Some(Failure {
        errno: 5,
        message: HOSTILE.to_owned(),
        ..Default::default()
    });
    hostile
        .options
        .push(("description".to_owned(), HOSTILE.to_owned()));
    jobs.push(hostile);
    let run = Run {
        schema: result::SCHEMA_VERSION,
        tool_version: "0.1.0".to_owned(),
        finished_ms: 1_795_299_621_132,
        jobs,
        disks: vec![Disk {
            members: vec![disk("sda", 5_000), disk("sdb", 4_800)],
            ..disk("md0", 9_800)
        }],
        notes: vec![HOSTILE.to_owned()],
        memory: Some(Box::new(memory())),
        command: Some(format!("assay fio --name={HOSTILE}")),
        judgement: Some(judgement()),
        ..Run::default()
    };
    vec![Named {
        name: format!("Run of {HOSTILE}"),
        run,
    }]
}

/// Thirteen runs, as a campaign has them.
fn many() -> Vec<Named> {
    let run = |at: usize| Named {
        name: format!("volume {at}"),
        run: Run {
            jobs: vec![
                job("read", 1, 8 + at as u32, 3_600),
                job("again", 2, 16, 3_600),
            ],
            ..Run::default()
        },
    };
    (1..=13).map(run).collect()
}

#[test]
fn pages_stand_alone_and_stay_small() {
    let folder = std::env::var_os("ASSAY_PAGES").map(std::path::PathBuf::from);
    let all = [
        ("full", full()),
        ("many", many()),
        ("repeated", repeated()),
        ("laptops", seed("laptops.txt")),
        ("tables", seed("tables.txt")),
        ("cloud", seed("cloud.txt")),
        ("striping", seed("striping.txt")),
        ("nothing", Vec::new()),
    ];
    for (name, runs) in all {
        let report = Report::of(&runs).expect("plain numbers");
        let page = render::html(&report);
        assert!(page.len() < 2_000_000, "{name}: {} bytes", page.len());
        for word in ["http://", "https://", "src=", "@import", "url("] {
            let told = page.replace("http://www.w3.org/2000/svg", "");
            let head = told
                .split("<pre id=\"markdown\"")
                .next()
                .unwrap_or_default();
            assert!(!head.contains(word), "{name}: {word}");
        }
        if let Some(folder) = &folder {
            std::fs::write(folder.join(format!("{name}.html")), page).expect("a page");
            std::fs::write(folder.join(format!("{name}.md")), markdown(&report)).expect("text");
            std::fs::write(folder.join(format!("{name}.txt")), text(&report)).expect("text");
        }
    }
}

#[test]
fn names_from_outside_stay_text_everywhere() {
    let report = Report::of(&full()).expect("plain numbers");
    let page = render::html(&report);
    assert!(!page.contains("<script>alert"), "the page runs a name");
    assert!(!page.contains("</pre></textarea>") && !page.contains('\u{1b}'));
    assert_eq!(
        page.matches("<script").count(),
        2,
        "its own script and the raw result"
    );
    let island = page
        .split("id=\"raw-result\">")
        .nth(1)
        .expect("a raw result");
    let island = island.split("</script>").next().expect("its end");
    let run: Run = serde_json::from_str(island).expect("a document");
    let made = &full()[0].run;
    // Fractions may change in their last bit on the way; counts may not.
    assert_eq!((&run.notes, &run.disks), (&made.notes, &made.disks));
    assert!(run.jobs == made.jobs, "the raw result is the run");

    let markdown = markdown(&report);
    assert!(!markdown.contains("<script>") || markdown.contains("```"));
    for line in markdown.lines().filter(|line| line.starts_with('|')) {
        assert!(!line.contains('<'), "{line}");
        let bars = line.replace("\\|", "").matches('|').count();
        assert!(bars >= 3, "{line}");
    }
    assert!(!markdown.contains('\u{1b}') && !text(&report).contains('\u{1b}'));
    let alone = |line: &str| line.trim_start().starts_with("|=cmd");
    assert!(!text(&report).lines().any(alone), "a name breaks its line");
}

#[test]
fn no_field_of_the_csv_is_a_formula() {
    for name in ["=1+1", "+1", "-1", "@x", "\t=1", " =1", "a,b\"c\n=d"] {
        let mut runs = full();
        runs[0].run.jobs[0].name = name.to_owned();
        let csv = csv(&Report::of(&runs).expect("plain numbers"));
        let row = csv.split("\r\n").nth(1).expect("a row");
        let field = row.split(',').nth(1).expect("the name");
        let shown = field.trim_start_matches('"');
        assert!(
            !shown.trim_start().starts_with(['=', '+', '-', '@']),
            "{row}"
        );
        assert_eq!(row.matches('"').count() % 2, 0, "{row}");
    }
}

/// Figures of the texts come out as they were printed there.
#[test]
fn imported_figures_are_those_of_the_source() {
    let tables = text(&Report::of(&seed("tables.txt")).expect("plain numbers"));
    for figure in [
        "10.5 k",
        "81.9 MiB/s",
        "12.00 ms",
        "67.1 k",
        "524.0 MiB/s",
        "1.90 ms",
    ] {
        assert!(tables.contains(figure), "{figure} is missing:\n{tables}");
    }
    let report = Report::of(&seed("laptops.txt")).expect("plain numbers");
    let laptops = text(&report);
    for title in [
        "Peak injection bandwidth by mix",
        "Maximum bandwidth by mix",
        "Loaded latency",
        "IOPS by mix, 4 KiB blocks",
        "Percentiles of completion latency",
    ] {
        assert!(laptops.contains(title), "{title} is missing");
    }
    for figure in ["38.34 GB/s", "26.36 GB/s", "20.50 GB/s"] {
        assert!(laptops.contains(figure), "{figure} is missing");
    }
}

/// Findings, verdicts and limits are in every format that people read.
#[test]
fn what_a_run_says_of_itself_is_told() {
    let report = Report::of(&full()).expect("plain numbers");
    for (format, made) in [
        ("page", render::html(&report)),
        ("Markdown", markdown(&report)),
        ("text", text(&report)),
    ] {
        for words in [
            "holes-read",
            "write the whole file first",
            "bound by gp2 volume, 3,000 IOPS: measured 99.2 %",
            "99 % of gp2 volume",
            "16 % of m5d.4xlarge EBS limit",
            "of nvme0n1 PCI link x4",
            "the seller's page (2026-01)",
        ] {
            let found = made.replace("&#39;", "'");
            assert!(found.contains(words), "{format} lacks {words}");
        }
    }
}

/// A single run shows no spread; thirteen show their median's interval.
#[test]
fn repeated_runs_show_how_far_one_can_be_trusted() {
    let strip = |runs: &[Named]| {
        let report = Report::of(runs).expect("plain numbers");
        let charts = report
            .sections
            .into_iter()
            .flat_map(|section| section.blocks);
        charts
            .filter_map(|block| match block {
                render::report::Block::Chart(chart) => Some(chart),
                _ => None,
            })
            .find(|chart| chart.title.starts_with("IOPS from run to run"))
    };
    let runs = repeated();
    assert!(strip(&runs[..2]).is_none());
    let few = strip(&runs[..5]).expect("a chart");
    assert!(few.note.contains("fewer than six runs"), "{}", few.note);
    let all = strip(&runs).expect("a chart");
    assert!(all.note.contains("95 % interval"), "{}", all.note);
    assert_eq!(all.table().rows.len(), 13);
}

/// A thousand runs make a page that a browser can still show.
#[test]
fn a_thousand_runs_make_a_page_of_a_readable_size() {
    let series = job("again", 1, 4, 600).series;
    let run = |at: u64| {
        let mut run = Run {
            jobs: vec![Job {
                name: "again".to_owned(),
                number: 1,
                group: 1,
                members: 1,
                dirs: PerDdir([
                    direction(100 + at % 7, 80_000),
                    Direction::default(),
                    Direction::default(),
                ]),
                series: series.clone(),
                ..Job::default()
            }],
            ..Run::default()
        };
        run.judgement = Some(judgement());
        Named {
            name: format!("run {at}"),
            run,
        }
    };
    let runs: Vec<Named> = (1..=1000).map(run).collect();
    let report = Report::of(&runs).expect("plain numbers");
    let mut shown = report.clone();
    shown.raw.clear();
    let page = render::html(&shown);
    assert!(
        page.len() < 3_000_000,
        "{} bytes beside the results",
        page.len()
    );
    assert!(page.matches("<figure").count() < 60);
    assert_eq!(csv(&report).lines().count(), 1001);
}

/// A burst that ends is told with its time and both levels.
#[test]
fn a_change_of_level_is_told() {
    let mut runs = full();
    let mut series = Vec::new();
    for second in 1..=600u64 {
        let level = if second <= 240 { 9_000 } else { 3_000 };
        let value = level + second * 7_919 % 500;
        Series::of(&mut series, Quantity::Iops, Ddir::Read).add(second * 1000, value);
    }
    runs[0].run.jobs.truncate(1);
    runs[0].run.jobs[0].series = series;
    let text = render::html(&Report::of(&runs).expect("plain numbers"));
    assert!(text.contains("from 241 s on"), "no change is told");
    let steady = render::html(&Report::of(&full()).expect("plain numbers"));
    assert!(!steady.contains(" s on,"), "a change where there is none");
}

fn charts_of(runs: &[Named]) -> Vec<render::chart::Chart> {
    let sections = Report::of(runs).expect("plain numbers").sections;
    let chart = |block| match block {
        render::report::Block::Chart(chart) => Some(chart),
        _ => None,
    };
    let blocks = sections.into_iter().flat_map(|section| section.blocks);
    blocks.filter_map(chart).collect()
}

/// The shade ends where the job ends, and says what it is.
#[test]
fn the_window_of_steady_state_is_shaded() {
    let mut runs = full();
    runs.truncate(1);
    let seconds = 90;
    let bands = |attained: bool, runs: &mut Vec<Named>| {
        let mut one = job("steady", 1, 4, seconds);
        one.steady = Some(result::Steady {
            duration_s: 30,
            attained,
            criterion: 4.0,
            ..result::Steady::default()
        });
        runs[0].run.jobs = vec![one];
        let charts = charts_of(runs);
        let over_time = charts.into_iter().find(|c| c.title == "IOPS over time");
        match over_time.expect("a chart").data {
            render::chart::ChartData::Lines(lines) => lines.bands,
            other => panic!("{other:?}"),
        }
    };
    let steady = bands(true, &mut runs);
    let [band] = steady.as_slice() else {
        panic!("{steady:?}");
    };
    assert_eq!((band.from, band.to), (60.0, 90.0));
    assert_eq!(band.name, "steady");
    assert_eq!(bands(false, &mut runs)[0].name, "judged, not steady");
    runs[0].run.jobs.push(job("other", 2, 4, seconds));
    assert!(render::html(&Report::of(&runs).expect("plain numbers")).contains("steady"));
}

/// One slow request among thousands of a second is on the chart.
#[test]
fn the_largest_latency_of_a_second_is_a_line_too() {
    let mut runs = full();
    runs.truncate(1);
    let mut one = job("slow", 1, 4, 0);
    for at in 0..900_000u64 {
        let value = if at == 123_456 { 777_770_000 } else { 80_000 };
        Series::of(&mut one.series, Quantity::Clat, Ddir::Read).add(at + 1, value);
    }
    // A log knows nothing but the course.
    one.dirs = PerDdir::default();
    runs[0].run.jobs = vec![one];
    let charts = charts_of(&runs);
    let chart = charts
        .iter()
        .find(|c| c.title.starts_with("Completion latency over"));
    let chart = chart.expect("a chart");
    assert_eq!(chart.legend(), ["slow: mean", "slow: largest"]);
    let cells: Vec<String> = chart
        .table()
        .rows
        .into_iter()
        .flatten()
        .map(|c| c.text)
        .collect();
    assert!(cells.contains(&"777.77 ms".to_owned()), "{cells:?}");
    assert!(cells.len() < 2_000, "thinned");
}

/// What the page shows is what the text shows.
#[test]
fn page_and_text_agree_to_the_last_digit() {
    let report = Report::of(&many()).expect("plain numbers");
    let (page, text) = (render::html(&report), text(&report));
    let table = report
        .sections
        .iter()
        .flat_map(|section| &section.blocks)
        .find_map(|block| match block {
            render::report::Block::Table(_, table) => Some(table),
            _ => None,
        });
    for cell in table.expect("an overview").rows.iter().flatten() {
        assert!(
            page.contains(&cell.text) && text.contains(&cell.text),
            "{}",
            cell.text
        );
    }
}
