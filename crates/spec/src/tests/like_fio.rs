//! Our numbers against those of the real fio, where there is one.

use super::good;
use std::process::Command;
use units::Ddir;

/// The line that fio prints about each of several jobs; one run, because fio is slow to end.
fn fio_lines(jobs: &[String]) -> Option<Vec<String>> {
    let mut command = Command::new("fio");
    command.args(["--ioengine=null", "--size=8m", "--number_ios=1", "--thread"]);
    for (at, options) in jobs.iter().enumerate() {
        command
            .arg(format!("--name=job{at}"))
            .args(options.split(' '));
    }
    let output = command.output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = |at: usize| {
        let start = format!("job{at}: (g=0)");
        text.lines()
            .find(|line| line.starts_with(&start))
            .map(str::to_string)
    };
    let lines: Option<Vec<String>> = (0..jobs.len()).map(line).collect();
    assert!(
        lines.is_some(),
        "fio printed {text} {}",
        String::from_utf8_lossy(&output.stderr)
    );
    lines
}

/// fio's line about each job, or nothing and a word when there is no fio.
fn lines_or_skip(jobs: &[String]) -> Vec<String> {
    fio_lines(jobs).unwrap_or_else(|| {
        eprintln!("SKIP like_fio: no fio here");
        Vec::new()
    })
}

/// fio prints sizes below 10 KiB in bytes, which are exact.
#[test]
fn block_sizes() {
    let plain = [
        "512", "1k", "1K", "1kb", "1KB", "2ki", "1kib", "3KiB", "4b", "0x800", "0X10", "1k,2k",
        "1k,2k,", "1k,", ",2k", "1k,,3k", "1k:2k", "1k:2k:3k", "7",
    ];
    let decimal = ["1k", "1kib", "1ki", "1kb", "2kiB"];
    let mut jobs: Vec<String> = plain.iter().map(|text| format!("--bs={text}")).collect();
    jobs.extend(
        decimal
            .iter()
            .map(|text| format!("--kb_base=1000 --bs={text}")),
    );
    for (job, line) in jobs.iter().zip(lines_or_skip(&jobs)) {
        let ours = good(&format!("--name=a {job}")).jobs[0].options.block.bs;
        let want: Vec<String> = [(Ddir::Read, 'R'), (Ddir::Write, 'W'), (Ddir::Trim, 'T')]
            .iter()
            .map(|(ddir, letter)| format!("({letter}) {n}B-{n}B", n = ours[*ddir]))
            .collect();
        assert!(
            line.contains(&format!("bs={},", want.join(", "))),
            "{job}: {line}"
        );
    }
}

#[test]
fn ranges() {
    let jobs = ["1k-4k", "4k:1k", "512-8ki", "1k-2k,2k-3k"].map(|text| format!("--bsrange={text}"));
    for (job, line) in jobs.iter().zip(lines_or_skip(&jobs)) {
        let ours = good(&format!("--name=a {job}")).jobs[0]
            .options
            .block
            .bsrange;
        for (ddir, letter) in [(Ddir::Read, 'R'), (Ddir::Write, 'W')] {
            let range = ours[ddir].unwrap();
            let want = format!("({letter}) {}B-{}B", range.lo, range.hi);
            assert!(line.contains(&want), "{job}: {line}");
        }
    }
}

#[test]
fn splits() {
    let jobs =
        ["4k/50:8k/50", "1k:2k/:3k/10", "512/10,1k/20:9k/"].map(|t| format!("--bssplit={t}"));
    for (job, line) in jobs.iter().zip(lines_or_skip(&jobs)) {
        let ours = good(&format!("--name=a {job}")).jobs[0]
            .options
            .block
            .bssplit
            .clone();
        for (ddir, letter) in [(Ddir::Read, 'R'), (Ddir::Write, 'W'), (Ddir::Trim, 'T')] {
            let (lo, hi) = ours[ddir].bounds().unwrap();
            assert!(
                line.contains(&format!("({letter}) {lo}B-{hi}B")),
                "{job}: {line}"
            );
        }
    }
}

#[test]
fn modes_and_depths() {
    let mut jobs: Vec<String> = [
        "read",
        "write",
        "randread",
        "randwrite",
        "rw",
        "readwrite",
        "randrw",
        "randrw:4",
    ]
    .map(|mode| format!("--rw={mode}"))
    .to_vec();
    jobs.extend(["7", "0x10", "1k"].map(|depth| format!("--iodepth={depth}")));
    for (job, line) in jobs.iter().zip(lines_or_skip(&jobs)) {
        let options = good(&format!("--name=a {job}")).jobs[0].options.clone();
        let mode = options.io.rw.mode.word();
        assert!(line.contains(&format!("rw={mode},")), "{job}: {line}");
        assert!(
            line.ends_with(&format!("iodepth={}", options.queue.iodepth)),
            "{job}: {line}"
        );
    }
}

/// Values that both take.
const BOTH: &[(&str, &str)] = &[
    ("sync", "dsync"),
    ("sync", "1"),
    ("verify", "crc32c-intel"),
    ("verify", "sha3-256"),
    ("fadvise_hint", "sequential"),
    ("fallocate", "keep"),
    ("continue_on_error", "all"),
    ("ignore_error", "EAGAIN"),
    ("randseed", "42"),
    ("nice", "-5"),
    ("numjobs", "2"),
    ("buffer_pattern", "0xff"),
    ("random_generator", "tausworthe64"),
    ("iodepth", "4k"),
    ("percentage_random", "50,50,50"),
    ("rwmixread", "66.66"),
    ("runtime", "1d"),
    ("random_distribution", "zoned:60/10:40/90"),
    ("unified_rw_reporting", "both"),
    ("bssplit", "4k/50:8k/50"),
    ("file_service_type", "random:8"),
    ("unit_base", "8"),
];

/// Values that neither takes.
const NEITHER: &[(&str, &str)] = &[
    ("rw", "readx"),
    ("direct", "true"),
    ("direct", "2"),
    ("rwmixread", "101"),
    ("bs", "0"),
    ("iodepth", "0"),
    ("sync", "maybe"),
    ("verify", "crc33"),
    ("kb_base", "1100"),
    ("random_distribution", "zipf:1"),
    ("random_distribution", "pareto:1.5"),
    ("random_distribution", "zoned:60/10:60/90"),
    ("nice", "40"),
    ("bs", "x"),
];

/// Whether fio takes a value, for values that both should take or refuse.
#[test]
fn accepted_and_refused_values() {
    if Command::new("fio").arg("--version").output().is_err() {
        eprintln!("SKIP accepted_and_refused_values: no fio here");
        return;
    }
    let theirs = |options: &[String]| {
        let mut command = Command::new("fio");
        command.args(["--parse-only", "--ioengine=null", "--size=8m", "--name=a"]);
        command
            .args(options)
            .output()
            .expect("fio is there")
            .status
            .success()
    };
    let ours = |name: &str, value: &str| {
        crate::Options::default()
            .set(name, Some(value))
            .expect("a known option")
    };
    let all: Vec<String> = BOTH
        .iter()
        .map(|(name, value)| format!("--{name}={value}"))
        .collect();
    assert!(theirs(&all), "fio refuses one of {all:?}");
    for (name, value) in BOTH {
        assert!(
            ours(name, value).is_ok(),
            "{name}={value}: {:?}",
            ours(name, value)
        );
    }
    for (name, value) in NEITHER {
        assert!(
            !theirs(&[format!("--{name}={value}")]),
            "fio takes {name}={value}"
        );
        assert!(ours(name, value).is_err(), "{name}={value}");
    }
}

/// What reports call "job options", from fio and from us. fio 3.33 leaves bare words out.
#[test]
fn job_options_in_reports() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("j.fio");
    let text = "[global]\nioengine=null\nbs =4k\nsize=2*$pagesize\nthread\n[one]\n\
                readwrite=randread ; mixed\nname=renamed\nnr_files=2\n\
                kb_base=1000\nfilename=x\n[two]\niodepth_batch_submit=1\nstonewall\n";
    std::fs::write(&path, text).unwrap();
    let path = path.to_string_lossy().into_owned();
    let words: Vec<String> = [
        &path,
        "--loops=2",
        "--name=line",
        "--iodepth=2",
        "-runtim",
        "5",
    ]
    .map(String::from)
    .to_vec();
    let output = Command::new("fio")
        .arg("--output-format=json")
        .args(&words)
        .output();
    let Ok(output) = output else {
        eprintln!("SKIP job_options_in_reports: no fio here");
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let json: serde_json::Value =
        serde_json::from_str(&text[text.find("\n{").map_or(0, |at| at)..])
            .unwrap_or_else(|e| panic!("{e}: {text}"));
    let theirs = |object: &serde_json::Value| -> Vec<(String, String)> {
        let pairs = object.as_object().unwrap().iter();
        pairs
            .map(|(name, text)| (name.clone(), text.as_str().unwrap().to_string()))
            .collect()
    };
    let ours = |given: &[(String, String)]| -> Vec<(String, String)> {
        given
            .iter()
            .filter(|(_, text)| !text.is_empty())
            .cloned()
            .collect()
    };
    let spec = crate::parse(&words, &[], &crate::ThisHost).unwrap();
    let jobs = json["jobs"].as_array().unwrap();
    assert_eq!(jobs.len(), spec.jobs.len());
    assert_eq!(ours(&spec.global_given), theirs(&json["global options"]));
    for (job, their) in spec.jobs.iter().zip(jobs) {
        assert_eq!(job.name, their["jobname"].as_str().unwrap());
        assert_eq!(
            ours(&job.given),
            theirs(&their["job options"]),
            "{}",
            job.name
        );
    }
}
