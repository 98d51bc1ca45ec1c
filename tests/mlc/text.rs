//! The text of each mode, with `#` for its numbers.

use super::{cpus, mlc};
use crate::harness::command::assay_path;
use crate::harness::{fio, skip};

/// Every number, with the blanks before it, as `#`.
fn shape(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let mut rest = line.chars().peekable();
        let mut blanks = String::new();
        while let Some(c) = rest.next() {
            match c {
                ' ' => blanks.push(' '),
                '0'..='9' => {
                    blanks.clear();
                    out.push('#');
                    while rest.next_if(|c| c.is_ascii_digit() || *c == '.').is_some() {}
                }
                other => {
                    out += &std::mem::take(&mut blanks);
                    out.push(other);
                }
            }
        }
        out += &blanks;
        out.push('\n');
    }
    out
}

/// Lines that depend on the machine: remarks, and the rows of further nodes.
fn without_remarks(text: &str) -> String {
    let kept = text.lines().filter(|line| !line.starts_with("***"));
    kept.map(|line| format!("{line}\n")).collect()
}

/// One node's column heads and row, or those of as many as there are.
fn nodes() -> usize {
    let names = std::fs::read_dir("/sys/devices/system/node");
    let is_node = |name: &str| {
        let number = name.strip_prefix("node");
        number.is_some_and(|n| n.parse::<u32>().is_ok())
    };
    names.map_or(1, |names| {
        let names = names.flatten();
        names
            .filter(|entry| is_node(&entry.file_name().to_string_lossy()))
            .count()
            .max(1)
    })
}

const BANNER: &str = "Intel(R) Memory Latency Checker - v3.11b (its text; measured by Assay)\n";

fn matrix() -> String {
    let nodes = nodes();
    let cells = "\t#".repeat(nodes);
    let row = format!("#{cells}\t\n").repeat(nodes);
    format!("\t\tNuma node\nNuma node{cells}\t\n{row}")
}

/// What `assay import` finds in a report is what stands there: every number with a decimal point
/// in lines that are no remarks, in their order.
fn read_back(report: &str) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("report");
    std::fs::write(&path, report).unwrap();
    let words = format!("{} --json", path.display());
    let mut command = std::process::Command::new(assay_path());
    command.arg("import");
    let outcome = fio(&words).spawn_as(command).wait().expect_ok();
    let document: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    let mut found = Vec::new();
    figures(&document, &mut found);
    let not = ["***", "Intel", "Command line", "Using buffer"];
    let lines = report
        .lines()
        .filter(|line| !not.iter().any(|start| line.starts_with(start)));
    let printed: Vec<f64> = lines
        .flat_map(str::split_whitespace)
        .filter(|word| word.contains('.'))
        .filter_map(|word| word.parse().ok())
        .collect();
    assert!(!printed.is_empty(), "{report}");
    assert_eq!(found, printed, "{report}");
}

/// The values of all memory tables of a document.
fn figures(value: &serde_json::Value, found: &mut Vec<f64>) {
    use serde_json::Value;
    match value {
        Value::Array(items) => items.iter().for_each(|item| figures(item, found)),
        Value::Object(members) => members.iter().for_each(|(name, member)| match member {
            Value::Array(values) if name == "values" => {
                found.extend(values.iter().filter_map(Value::as_f64));
            }
            member => figures(member, found),
        }),
        _ => {}
    }
}

fn expect(words: &str, body: &str) {
    let outcome = mlc(words).expect_ok();
    read_back(&outcome.stdout);
    let text = without_remarks(&outcome.stdout);
    let text = text
        .strip_prefix(BANNER)
        .unwrap_or_else(|| panic!("{text}"));
    let line = format!("Command line parameters: {words} \n\n");
    let text = text.strip_prefix(&line).unwrap_or_else(|| panic!("{text}"));
    assert_eq!(shape(text), body, "{words}");
}

#[test]
fn idle_latency() {
    let body = "Using buffer size of#MiB\n\
                Each iteration took# base frequency clocks (\t#\tns)\n\n";
    expect("--idle_latency -b1m -t0.1", body);
    expect("--idle_latency -b64 -x1 -r", body);
    expect("-idle_latency -b 100 -x 0 -e", body);
    let told = mlc("--idle_latency -b10m -x0").expect_ok().stdout;
    assert!(told.contains("Using buffer size of 10.000MiB\n"), "{told}");
    assert!(told.contains("*** So, enabling random access"), "{told}");
    let kept = mlc("--idle_latency -b10m -x0 -e").expect_ok().stdout;
    assert!(!kept.contains("***"), "{kept}");
}

#[test]
fn every_cpu() {
    let row = "#\t#\t\n".repeat(cpus().len());
    if nodes() > 1 {
        return skip("every_cpu", "this machine has several nodes");
    }
    expect(
        "--idle_latency -a -b64 -t0.05",
        &format!(
            "Using buffer size of#MiB\nMeasuring idle latencies (in ns) for all cores...\n\
             \t\tNuma node\nCPU      \t#\t\n{row}\n"
        ),
    );
}

#[test]
fn matrices() {
    expect(
        "--latency_matrix -b1m -t0.1",
        &format!(
            "Using buffer size of#MiB\n\
             Measuring idle latencies for random access (in ns)...\n{}\n",
            matrix()
        ),
    );
    expect(
        "--bandwidth_matrix -b4m -t0.1 -W6",
        &format!(
            "Using buffer size of#MiB/thread for reads and an additional#MiB/thread for writes\n\n\
             Measuring Memory Bandwidths between nodes within system \n\
             Bandwidths are in MB/sec (# MB/sec =#,#,# Bytes/sec)\n\
             Using all the threads from each core if Hyper-threading is enabled\n\
             Using traffic type W#\n{}\n",
            matrix()
        ),
    );
}

#[test]
fn five_mixes() {
    let rows = "ALL Reads        :\t#\t\n#:# Reads-Writes :\t#\t\n#:# Reads-Writes :\t#\t\n\
                #:# Reads-Writes :\t#\t\nStream-triad like:\t#\t\n\n";
    expect(
        "--peak_injection_bandwidth -b4m -t0.1 -X",
        &format!(
            "Using buffer size of#MiB/thread for reads and an additional#MiB/thread for writes\n\n\
             Measuring Peak Injection Memory Bandwidths for the system\n\
             Bandwidths are in MB/sec (# MB/sec =#,#,# Bytes/sec)\n\
             Using only one thread from each core if Hyper-threading is enabled\n\
             Using traffic with the following read-write ratios\n{rows}"
        ),
    );
}

#[test]
fn loaded_latency() {
    let head = "Measuring Loaded Latencies for the system\n\
                Using all the threads from each core if Hyper-threading is enabled\n";
    let columns = "Inject\tLatency\tBandwidth\nDelay\t(ns)\tMB/sec\n==========================\n";
    let buffers =
        "Using buffer size of#MiB/thread for reads and an additional#MiB/thread for writes\n\n";
    expect(
        "--loaded_latency -b4m -t0.05 -T -d0",
        &format!("{buffers}{head}Using Read-only traffic type\n{columns}#\t#\t#\n\n"),
    );
    for words in [
        "--loaded_latency -b4m -t0.05 -T -d0 -W5 -Q",
        "--loaded_latency -b4m -t0.05 -T -d0 -W5 -U -n1024",
        "--loaded_latency -b4m -t0.05 -T -d0 -W10 -K0",
    ] {
        expect(
            words,
            &format!("{buffers}{head}Using traffic type W#\n{columns}#\t#\t#\n\n"),
        );
    }
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let cpu = cpus()[0];
    let rows = path("rows", &format!("{cpu} W5 rand 4096 dram 0\n"));
    let delays = path("delays", "0\n100\n20000\n");
    expect(
        &format!("--loaded_latency -g{delays} -o{rows} -t0.05 -T"),
        &format!(
            "\n{head}Using the traffic types of the file\n{columns}{}\n",
            "#\t#\t#\n".repeat(3)
        ),
    );
    if cpus().len() < 2 {
        return skip(
            "loaded_latency",
            "a latency thread beside load needs two CPUs",
        );
    }
    let text = mlc("--loaded_latency -b4m -t0.05 -d50 -B -v -I -f8")
        .expect_ok()
        .stdout;
    for part in [
        "\n 00050\t",
        "\n*** CPU ",
        "\n*** latency: median ",
        "\n*** bandwidth: median ",
        "\nLatency histogram, buckets of 256 cycles\n[",
        "\n*** All data read back as it was written\n",
        " on pages of ",
    ] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
}

#[test]
fn cache_to_cache() {
    if cpus().len() < 2 {
        return skip("cache_to_cache", "it needs two CPUs");
    }
    let text = mlc("--c2c_latency -C256 -v").expect_ok().stdout;
    read_back(&text);
    let text = without_remarks(&text).replace("Using small pages for allocating buffers\n", "");
    let body = text
        .split_once("-v \n\n")
        .unwrap_or_else(|| panic!("{text}"))
        .1;
    let start = "Measuring cache-to-cache transfer latency (in ns)...\n\
                 Local Socket L#->L# HIT  latency\t#\n\
                 Local Socket L#->L# HITM latency\t#\n";
    assert!(shape(body).starts_with(start), "{text}");
    let text = mlc("--c2c_latency -H -C64 -E16 -G16").expect_ok().stdout;
    assert!(!text.contains("HITM"), "{text}");
}

/// A whole run has its sections in MLC's order.
#[test]
fn everything() {
    let text = mlc("-b4m -t0.02 -v").expect_ok().stdout;
    read_back(&text);
    let mut from = 0;
    let mut sections = vec![
        "Measuring idle latencies for random access (in ns)...\n",
        "Measuring Peak Injection Memory Bandwidths for the system\n",
        "Measuring Memory Bandwidths between nodes within system \n",
    ];
    if cpus().len() > 1 {
        sections.push("Measuring Loaded Latencies for the system\n");
        sections.push("\n 20000\t");
        sections.push("Measuring cache-to-cache transfer latency (in ns)...\n");
        sections.push("Local Socket L2->L2 HITM latency\t");
    }
    for section in sections {
        let at = text[from..].find(section);
        from += at.unwrap_or_else(|| panic!("no `{section}` behind {from} in {text}"));
    }
    assert!(!text.contains("Command line parameters"), "{text}");
}

#[test]
fn a_link_named_mlc_is_mlc() {
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("mlc");
    std::os::unix::fs::symlink(assay_path(), &link).unwrap();
    let run = |words: &str| {
        fio(words)
            .spawn_as(std::process::Command::new(&link))
            .wait()
    };
    let text = run("--idle_latency -b64 -x0").expect_ok().stdout;
    assert!(text.starts_with(BANNER), "{text}");
    let version = run("--version").expect_ok().stdout;
    assert!(
        version.starts_with(BANNER) && version.contains("\nassay "),
        "{version}"
    );
    let help = run("--help").expect_ok().stdout;
    assert!(
        help.contains("--memory_bandwidth_scan") && help.contains("\n  -W"),
        "{help}"
    );
}
