//! `assay report` from outside: what people pasted becomes their tables and figures again, and
//! names stay names in every format.

use super::assay;
use crate::harness::{Scratch, fio};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn seed(name: &str) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../result/tests/seeds");
    Path::new(folder).join(name)
}

/// `assay import --json` of a seed, and the report of that in a format.
fn reported(scratch: &Scratch, seed_name: &str, format: &str) -> String {
    let imported = scratch.path().join(format!("{seed_name}.json"));
    if !imported.exists() {
        let words = super::Own(fio("import --json").arg(seed(seed_name)));
        // Parts of the notes that cannot be read are told on standard error.
        let outcome = words.spawn().wait();
        assert_eq!(outcome.code, Some(0), "{outcome}");
        std::fs::write(&imported, outcome.stdout).expect("a file");
    }
    let words = format!("report --format {format} -o -");
    super::Own(fio(&words).arg(imported)).ok().stdout
}

/// Rows of the tables below the headings of Markdown that begin with `heading`.
fn tables(markdown: &str, heading: &str) -> Vec<Vec<Vec<String>>> {
    let mut found = Vec::new();
    let mut lines = markdown.lines();
    while let Some(line) = lines.next() {
        let title = line.trim_start_matches('#').trim_start();
        if !line.starts_with('#') || !title.starts_with(heading) {
            continue;
        }
        let rows = lines
            .by_ref()
            .skip_while(|line| !line.starts_with('|'))
            .take_while(|line| line.starts_with('|'));
        let cells = |line: &str| {
            let inner = line.trim_matches(['|', ' ']);
            inner.split(" | ").map(str::to_owned).collect::<Vec<_>>()
        };
        // The second line is the rule below the headings.
        let rows: Vec<Vec<String>> = rows.map(cells).collect();
        found.push([&rows[..1], &rows[2..]].concat());
    }
    found
}

/// The row of a table that begins with a word.
fn row<'a>(table: &'a [Vec<String>], first: &str) -> &'a [String] {
    let found = table.iter().find(|row| row[0] == first);
    &found.unwrap_or_else(|| panic!("no row {first} in {table:#?}"))[1..]
}

#[test]
fn figures_of_two_laptops_come_out_of_their_notes() {
    let scratch = Scratch::new("report-laptops");
    let markdown = reported(&scratch, "laptops.txt", "md");
    let only = |heading: &str| {
        let mut found = tables(&markdown, heading);
        assert_eq!(found.len(), 1, "{heading}");
        found.remove(0)
    };
    // Figure 1 and figure 4: two devices by mix, in MB/s of 10^6 as MLC printed them.
    let peak = only("Peak injection bandwidth by mix");
    assert_eq!(row(&peak, "ALL Reads"), ["38.34 GB/s", "26.36 GB/s"]);
    assert_eq!(row(&peak, "1:1 Reads-Writes"), ["33.13 GB/s", "19.54 GB/s"]);
    assert_eq!(
        row(&peak, "Stream-triad like"),
        ["33.87 GB/s", "21.79 GB/s"]
    );
    let most = only("Maximum bandwidth by mix");
    assert_eq!(row(&most, "ALL Reads"), ["39.63 GB/s", "26.54 GB/s"]);
    assert_eq!(row(&most, "2:1 Reads-Writes"), ["34.05 GB/s", "21.05 GB/s"]);
    assert_eq!(
        row(&most, "Stream-triad like"),
        ["34.72 GB/s", "22.52 GB/s"]
    );
    // Figure 5: 19 delays of each device.
    let loaded = only("Loaded latency");
    assert_eq!(loaded.len(), 1 + 2 * 19);
    let at = |device: usize, delay: &str| {
        let rows: Vec<&Vec<String>> = loaded.iter().filter(|row| row[1] == delay).collect();
        rows[device][2..].to_vec()
    };
    assert_eq!(at(0, "delay 0"), ["37.86 GB/s", "116 ns"]);
    assert_eq!(at(0, "delay 20000"), ["2.03 GB/s", "36.6 ns"]);
    assert_eq!(at(1, "delay 0"), ["26.59 GB/s", "153 ns"]);
    // Figures 6 and 7: reads and writes by mix, one picture a device.
    let mixes = tables(&markdown, "IOPS by mix, 4 KiB blocks");
    assert_eq!(mixes.len(), 2);
    assert_eq!(row(&mixes[0], "100 % reads"), ["125.2 k", "-", "125.2 k"]);
    assert_eq!(
        row(&mixes[0], "75 % reads"),
        ["90.0 k", "30.4 k", "120.4 k"]
    );
    assert_eq!(
        row(&mixes[0], "50 % reads"),
        ["59.2 k", "59.2 k", "118.4 k"]
    );
    assert_eq!(row(&mixes[1], "100 % reads"), ["8471", "-", "8471"]);
    // Figures 8 and 9: the percentiles of reads and of writes.
    let curves = tables(&markdown, "Percentiles of completion latency");
    assert!(!curves.is_empty());
    let median = |wanted: &str| {
        let all = curves.iter();
        all.flat_map(|table| row(table, "p50").iter())
            .any(|cell| cell == wanted)
    };
    assert!(median("5.6 us") && median("110.0 us"), "{curves:#?}");
}

#[test]
fn the_table_of_cloud_disks_comes_out_of_its_notes() {
    let scratch = Scratch::new("report-tables");
    let csv = reported(&scratch, "tables.txt", "csv");
    let rows = parsed(&csv);
    let column = |name: &str| {
        let at = rows[0].iter().position(|head| head.starts_with(name));
        at.unwrap_or_else(|| panic!("no column {name}"))
    };
    let (job, iops, bandwidth, latency) = (
        column("job"),
        column("IOPS"),
        column("bandwidth"),
        column("mean latency"),
    );
    let found: Vec<(&str, f64, f64, f64)> = rows[1..]
        .iter()
        .map(|row| {
            let number = |at: usize| row[at].parse::<f64>().unwrap_or(0.0);
            let mib = number(bandwidth) / f64::from(1 << 20);
            (row[job].as_str(), number(iops), mib, number(latency) / 1e6)
        })
        .collect();
    // IOPS, MiB/s and ms, as they stand in the notes.
    for (name, iops, mib, ms) in [
        ("8KiB randwrite", 3162.0, 24.7, 40.5),
        ("1MiB write", 61.0, 61.5, 2077.0),
        ("8KiB randwrite", 10500.0, 81.9, 12.0),
        ("8KiB randread", 13900.0, 109.0, 9.2),
        ("1MiB read", 379.0, 379.0, 337.0),
        ("8KiB randread", 67100.0, 524.0, 1.9),
        ("1MiB write", 253.0, 254.0, 504.0),
    ] {
        let near = |a: f64, b: f64| (a - b).abs() <= b * 1e-6;
        let one = |row: &&(&str, f64, f64, f64)| {
            row.0 == name && near(row.1, iops) && near(row.2, mib) && near(row.3, ms)
        };
        assert!(found.iter().any(|row| one(&row)), "{name}: {found:#?}");
    }
}

/// Names that want to be something else: markup, a formula, a terminal's orders, more columns.
const HOSTILE: [&str; 9] = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "\"quotes\" and 'more' & \\",
    "two\nlines\r\nand a third",
    "=cmd|' /C calc'!A0",
    "@SUM(1+1)*cmd",
    "-1+1,second;third\tfourth",
    "\u{1b}[31mred\u{1b}]0;title\u{7}",
    "a|b`c`![x](y)\u{202e}dne",
];

/// A run with those names, as a document of fio's JSON.
fn hostile(scratch: &Scratch) -> PathBuf {
    let mut words = fio("--output-format=json --ioengine=null --size=64k --bs=4k");
    for name in HOSTILE {
        words = words.arg(format!("--name={name}"));
    }
    let report = words.in_dir(scratch.path()).ok().stdout;
    scratch.file("hostile.json", report)
}

fn report(format: &str, of: &Path) -> String {
    let words = format!("report --format {format} -o -");
    super::Own(fio(&words).arg(of)).ok().stdout
}

#[test]
fn names_stay_text_in_every_format() {
    let scratch = Scratch::new("report-hostile");
    let document = hostile(&scratch);
    for format in ["html", "md", "txt", "csv"] {
        let made = report(format, &document);
        let orders = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
        if format != "csv" {
            assert!(!made.contains(orders), "{format}: a terminal would obey");
            assert!(
                !made.contains('\u{202e}'),
                "{format}: turns the text around"
            );
        }
        assert!(made.contains("lines"), "{format}: the name is there");
    }
    let page = report("html", &document);
    assert_eq!(
        page.matches("<script").count(),
        2,
        "its own and the raw result"
    );
    let markdown = report("md", &document);
    let mut fenced = false;
    for line in markdown.lines() {
        fenced ^= line.starts_with("```");
        assert!(fenced || !line.contains('<'), "{line}");
    }
    // The page holds the names as they were.
    let again = scratch.file("page.html", &page);
    let document: Value = serde_json::from_str(&report("json", &again)).expect("JSON");
    let names: Vec<&str> = document["jobs"]
        .as_array()
        .expect("jobs")
        .iter()
        .filter_map(|job| job["name"].as_str())
        .collect();
    assert_eq!(names, HOSTILE);
}

#[test]
fn a_spreadsheet_sees_one_row_a_job_and_no_formula() {
    let scratch = Scratch::new("report-csv");
    let csv = report("csv", &hostile(&scratch));
    assert!(!csv.contains('\u{1b}'), "{csv:?}");
    let rows = parsed(&csv);
    assert_eq!(rows.len(), 1 + HOSTILE.len(), "{csv}");
    for row in &rows {
        assert_eq!(row.len(), rows[0].len(), "{row:?}");
        for field in row.iter().filter(|field| field.parse::<f64>().is_err()) {
            let begins = field.trim_start();
            assert!(!begins.starts_with(['=', '+', '-', '@']), "{field:?}");
        }
    }
}

/// Fields of RFC 4180.
fn parsed(csv: &str) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new()]];
    let mut quoted = false;
    let mut chars = csv.chars().peekable();
    while let Some(c) = chars.next() {
        let row = rows.last_mut().expect("a row");
        let field = row.last_mut().expect("a field");
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(String::new()),
            '\r' if !quoted => {}
            '\n' if !quoted => rows.push(vec![String::new()]),
            c => field.push(c),
        }
    }
    rows.retain(|row| row.len() > 1);
    rows
}

#[test]
fn where_it_goes_and_what_is_refused() {
    let scratch = Scratch::new("report-where");
    let from = seed("striping.txt");
    let made = |words: &str| super::Own(fio(words).arg(&from).in_dir(scratch.path()));
    let told = made("report").ok().stdout;
    assert_eq!(told, "assay-report.html\n");
    let page = std::fs::read_to_string(scratch.path().join("assay-report.html")).expect("a page");
    assert!(page.starts_with("<!DOCTYPE html>"), "{}", &page[..80]);
    for (name, begins) in [("a.md", "# "), ("a.csv", "run,job,"), ("a.json", "[")] {
        made(&format!("report -o {name}")).ok();
        let text = std::fs::read_to_string(scratch.path().join(name)).expect(name);
        assert!(text.starts_with(begins), "{name}: {text}");
    }
    made("report -o a.pdf").refuses(&["a.pdf", "html, md, csv, json or txt"]);
    made("report -o no/such/folder/a.md").refuses(&["no/such/folder/a.md"]);
    assay("report /no/such/file").refuses(&["/no/such/file", "history"]);
    let nothing = scratch.file("nothing.txt", "no result at all\n");
    super::Own(fio("report").arg(nothing)).refuses(&["nothing.txt", "no result"]);
}

#[test]
fn runs_of_the_history_are_reported_by_number_tag_and_age() {
    let scratch = Scratch::new("report-history");
    let history = scratch.path().join("history.db");
    let db = history.to_str().expect("UTF-8");
    let made = |words: &str| super::Own(fio(words).args(["--db", db]).in_dir(scratch.path()));
    let imported = made("import --tag seed").0.arg(seed("striping.txt"));
    super::Own(imported).ok();
    let rows = |words: &str| parsed(&made(words).ok().stdout).len() - 1;
    assert_eq!(rows("report --format csv --last 3 -o -"), 3);
    assert_eq!(rows("report --format csv seed -o -"), 14);
    assert_eq!(rows("report --format csv 2 -o -"), 1);
    made("report 999").refuses(&["999", "no run of the history"]);
}
