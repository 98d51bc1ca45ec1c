//! The same numbers through fio and through the renderings, compared line by line.
//!
//! A capture is the output of one fio run that prints terse, JSON+ and normal text at once. The
//! JSON+ is read into a document, the document is rendered in all three formats, and each must
//! be what fio printed. Live runs are skipped, visibly, where fio is not installed; recorded ones
//! always run.

mod capture;
mod compare;

use capture::Capture;
use std::io::Write;

/// Runs fio in an empty directory of its own with these arguments and compares.
fn live(name: &str, args: &[&str]) {
    match Capture::live(name, args) {
        Some(capture) => compare::check(&capture),
        // Not `eprintln`, which the test harness hides.
        None => writeln!(std::io::stderr(), "SKIP {name}: fio is not installed").expect("stderr"),
    }
}

/// The same on a small file, so that there are disks.
fn file(name: &str, args: &[&str]) {
    live(
        name,
        &[&["--size=256k", "--bs=4k", "--filename=data"], args].concat(),
    );
}

const NULL: [&str; 3] = ["--ioengine=null", "--size=1g", "--number_ios=3000"];
const SAMPLED: [&str; 5] = [
    "--ioengine=null",
    "--size=1g",
    "--rate_iops=2000",
    "--number_ios=500",
    "--bwavgtime=60",
];

fn null(name: &str, args: &[&str]) {
    live(name, &[&NULL[..], args].concat());
}

fn sampled(name: &str, args: &[&str]) {
    live(name, &[&SAMPLED[..], &["--iopsavgtime=60"], args].concat());
}

#[test]
fn directions() {
    for rw in ["read", "write", "randrw", "trim", "randtrim", "trimwrite"] {
        null(rw, &["--name=a", "--rw", rw]);
    }
}

#[test]
fn sampled_rates_and_bases() {
    sampled("samples", &["--name=a", "--rw=randrw"]);
    sampled("si", &["--name=a", "--rw=read", "--kb_base=1000"]);
    sampled("bits", &["--name=a", "--rw=read", "--unit_base=1"]);
    sampled(
        "si bits",
        &["--name=a", "--rw=write", "--kb_base=1000", "--unit_base=1"],
    );
    sampled("large", &["--name=a", "--rw=read", "--bs=16m"]);
}

#[test]
fn significant_figures() {
    for figures in [1, 2, 3, 6, 9] {
        let option = format!("--significant_figures={figures}");
        null(&option, &["--name=a", "--rw=randrw", &option]);
    }
}

#[test]
fn groups() {
    sampled(
        "grouped",
        &[
            "--group_reporting",
            "--name=a",
            "--rw=randrw",
            "--numjobs=3",
        ],
    );
    sampled("ungrouped", &["--name=a", "--rw=read", "--numjobs=2"]);
    sampled(
        "two groups",
        &[
            "--group_reporting",
            "--name=a",
            "--rw=read",
            "--numjobs=2",
            "--name=b",
            "--rw=write",
            "--new_group",
            "--name=c",
            "--rw=read",
        ],
    );
    null(
        "walls",
        &[
            "--name=a",
            "--rw=read",
            "--name=b",
            "--stonewall",
            "--rw=write",
        ],
    );
}

#[test]
fn unified_directions() {
    for unified in ["mixed", "both"] {
        let option = format!("--unified_rw_reporting={unified}");
        sampled(unified, &["--name=a", "--rw=randrw", &option]);
        sampled(
            unified,
            &[
                "--group_reporting",
                "--name=a",
                "--numjobs=2",
                "--rw=randrw",
                &option,
            ],
        );
    }
}

#[test]
fn percentiles() {
    null(
        "all",
        &[
            "--name=a",
            "--rw=randrw",
            "--slat_percentiles=1",
            "--lat_percentiles=1",
        ],
    );
    null(
        "lat only",
        &[
            "--name=a",
            "--rw=read",
            "--clat_percentiles=0",
            "--lat_percentiles=1",
        ],
    );
    null("none", &["--name=a", "--rw=read", "--clat_percentiles=0"]);
    for list in [
        "50:99",
        "99.9999:50:99.9",
        "1.5:99.5",
        "1:2:3:4:5:6:7:8:9:10:11:12:13:14:15:16:17:18:19:20",
    ] {
        null(list, &["--name=a", "--rw=read", "--percentile_list", list]);
    }
}

#[test]
fn disabled_classes() {
    for option in [
        "--disable_lat=1",
        "--disable_clat=1",
        "--disable_slat=1",
        "--gtod_reduce=1",
    ] {
        null(option, &["--name=a", "--rw=randrw", "--iodepth=4", option]);
    }
}

#[test]
fn texts() {
    null(
        "description",
        &[
            "--name=a \"b\"",
            "--rw=read",
            "--description=two words\\ and \"more\"",
        ],
    );
}

#[test]
fn cpu_idleness() {
    null("system", &["--idle-prof=system", "--name=a", "--rw=read"]);
    null("percpu", &["--idle-prof=percpu", "--name=a", "--rw=read"]);
}

#[test]
fn syncs() {
    for option in [
        "--fsync=1",
        "--fsync=4",
        "--end_fsync=1",
        "--sync_file_range=write:2",
    ] {
        file(option, &["--name=a", "--rw=write", "--bs=4k", option]);
    }
    file(
        "grouped",
        &[
            "--group_reporting",
            "--name=a",
            "--rw=randwrite",
            "--numjobs=2",
            "--fsync=2",
        ],
    );
    // fdatasync=1 is left out: 3.33 counts those syncs in the field of short reads.
}

#[test]
fn depths_and_submission() {
    for depth in ["--iodepth=1", "--iodepth=16", "--iodepth=64"] {
        file(
            depth,
            &[
                "--name=a",
                "--ioengine=libaio",
                "--rw=randread",
                "--direct=1",
                depth,
            ],
        );
    }
    let batches = [
        "--iodepth=32",
        "--iodepth_batch=8",
        "--iodepth_batch_complete_min=4",
    ];
    file(
        "batches",
        &[
            &["--name=a", "--ioengine=libaio", "--rw=randrw"],
            &batches[..],
        ]
        .concat(),
    );
}

#[test]
fn errors() {
    let corrupt = [
        "--name=a",
        "--rw=read",
        "--verify=crc32c",
        "--verify_pattern=7",
        "--bs=4k",
    ];
    file("verification", &corrupt);
    file(
        "passed over",
        &[&corrupt[..], &["--continue_on_error=all"]].concat(),
    );
    file(
        "many",
        &[&corrupt[..], &["--group_reporting", "--numjobs=2"]].concat(),
    );
}

#[test]
fn terse_versions() {
    for version in 2..=5 {
        let option = format!("--terse-version={version}");
        file(
            &option,
            &[
                &option,
                "--name=a",
                "--rw=randrw",
                "--description=some words",
            ],
        );
        let grouped = [
            "--group_reporting",
            "--name=a",
            "--rw=randrw",
            "--numjobs=2",
        ];
        file(&option, &[&[option.as_str()], &grouped[..]].concat());
    }
}

#[test]
fn recorded() {
    let goldens = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/parity/goldens");
    let mut seen = 0;
    for entry in std::fs::read_dir(goldens).expect("the goldens are in the repository") {
        let path = entry.expect("readable").path();
        let text = std::fs::read_to_string(&path).expect("text");
        let name = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .expect("a name");
        compare::check(&Capture::parse(name, &text));
        seen += 1;
    }
    assert!(seen >= 6, "only {seen} recorded runs");
}
