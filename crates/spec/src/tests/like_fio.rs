//! Our numbers against those of the real fio, where there is one.

use super::good;
use std::process::Command;
use units::Ddir;

/// The first line that fio prints about a job with these options.
fn fio_line(options: &[&str]) -> Option<String> {
    let mut command = Command::new("fio");
    command
        .args(["--name=a", "--ioengine=null", "--size=8m", "--number_ios=1"])
        .args(options);
    let output = command.output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    Some(
        text.lines()
            .find(|line| line.starts_with("a: (g=0)"))?
            .to_string(),
    )
}

fn have_fio() -> bool {
    let there = Command::new("fio").arg("--version").output().is_ok();
    if !there {
        eprintln!("SKIP like_fio: no fio here");
    }
    there
}

/// fio prints sizes below 10 KiB in bytes, which are exact.
#[test]
fn block_sizes() {
    if !have_fio() {
        return;
    }
    let cases = [
        "512", "1k", "1K", "1kb", "1KB", "2ki", "1kib", "3KiB", "4b", "0x800", "0X10", "1k,2k",
        "1k,2k,", "1k,", ",2k", "1k,,3k", "1k:2k", "1k:2k:3k", "7",
    ];
    for text in cases {
        let ours = good(&format!("--name=a --bs={text}")).jobs[0]
            .options
            .block
            .bs;
        let want: Vec<String> = [(Ddir::Read, 'R'), (Ddir::Write, 'W'), (Ddir::Trim, 'T')]
            .iter()
            .map(|(ddir, letter)| format!("({letter}) {n}B-{n}B", n = ours[*ddir]))
            .collect();
        let line = fio_line(&[&format!("--bs={text}")]).expect(text);
        assert!(
            line.contains(&format!("bs={},", want.join(", "))),
            "{text}: {line}"
        );
    }
}

#[test]
fn block_sizes_in_si() {
    if !have_fio() {
        return;
    }
    for text in ["1k", "1kib", "1ki", "1kb", "2kiB"] {
        let ours = good(&format!("--name=a --kb_base=1000 --bs={text}")).jobs[0]
            .options
            .block
            .bs;
        let line = fio_line(&["--kb_base=1000", &format!("--bs={text}")]).expect(text);
        assert!(
            line.contains(&format!("bs=(R) {n}B-{n}B", n = ours[Ddir::Read])),
            "{line}"
        );
    }
}

#[test]
fn ranges_and_modes() {
    if !have_fio() {
        return;
    }
    for text in ["1k-4k", "4k:1k", "512-8ki", "1k-2k,2k-3k"] {
        let ours = good(&format!("--name=a --bsrange={text}")).jobs[0]
            .options
            .block
            .bsrange;
        let line = fio_line(&[&format!("--bsrange={text}")]).expect(text);
        for (ddir, letter) in [(Ddir::Read, 'R'), (Ddir::Write, 'W')] {
            let range = ours[ddir].unwrap();
            let want = format!("({letter}) {}B-{}B", range.lo, range.hi);
            assert!(line.contains(&want), "{text}: {line}");
        }
    }
    for text in [
        "read",
        "write",
        "randread",
        "randwrite",
        "rw",
        "readwrite",
        "randrw",
        "randrw:4",
    ] {
        let ours = good(&format!("--name=a --rw={text}")).jobs[0]
            .options
            .io
            .rw
            .mode
            .word();
        let line = fio_line(&[&format!("--rw={text}")]).expect(text);
        assert!(line.contains(&format!("rw={ours},")), "{text}: {line}");
    }
}

/// Whether fio takes a value, for values that both should take or refuse.
#[test]
fn accepted_and_refused_values() {
    if !have_fio() {
        return;
    }
    let both = [
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
    let neither = [
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
    for (cases, fine) in [(both.as_slice(), true), (neither.as_slice(), false)] {
        for (name, value) in cases {
            let option = format!("--{name}={value}");
            let theirs = Command::new("fio")
                .args([
                    "--name=a",
                    "--ioengine=null",
                    "--size=8m",
                    &option,
                    "--parse-only",
                ])
                .output()
                .expect("fio is there");
            assert_eq!(theirs.status.success(), fine, "fio {option}");
            let mut options = crate::Options::default();
            let ours = options.set(name, Some(value)).expect("a known option");
            assert_eq!(ours.is_ok(), fine, "{option}: {ours:?}");
        }
    }
}
