//! What may be expected, and the verdict on a run.

use super::assay;
use crate::harness::{Scratch, fio};

#[test]
fn limits_are_listed_with_their_source_and_the_tightest_is_named() {
    let words = "expect --expect type=io1,gib=300,iops=15000,instance=m5d.4xlarge --bs";
    let small = assay(&format!("{words} 32k")).ok().stdout;
    for part in [
        "io1 volume",
        "m5d.4xlarge EBS limit",
        "2023-01",
        "expected: 15000 IOPS, 491.5 MB/s",
    ] {
        assert!(small.contains(part), "{part} missing:\n{small}");
    }
    let large = assay(&format!("{words} 256k --iodepth 2")).ok().stdout;
    assert!(large.contains("expected: 2000 IOPS, 524.3 MB/s"), "{large}");
    assert!(
        large.contains("bound by io1 volume (bytes per second)"),
        "{large}"
    );
    assert!(
        large.contains("a depth of 2 suffices while I/Os take 1000 us or less"),
        "{large}"
    );
    // One volume does not reach what the instance allows; two would.
    let two = words.replace("type", "count=2,type");
    let two = assay(&format!("{two} 256k")).ok().stdout;
    assert!(two.contains("bound by m5d.4xlarge EBS limit"), "{two}");
    let nothing = assay("expect").ok().stdout;
    assert!(nothing.contains("no limit is known"), "{nothing}");
    for (words, told) in [
        ("expect --expect type=io9", "io9"),
        ("expect --bs 4kfoo", "4kfoo"),
        ("expect --rw sideways", "sideways"),
        ("expect /no/such/place", "/no/such/place"),
    ] {
        assay(words).refuses(&[told]);
    }
}

#[test]
fn a_run_is_judged_against_what_was_declared_and_only_then() {
    let scratch = Scratch::new("verdict");
    let words = "--name=x --rw=randread --bs=4k --size=1m --output-format=json";
    let plain = fio(words).in_dir(scratch.path()).ok().json();
    assert!(plain["assay"]["verdict"].is_null());
    let declared = fio(words)
        .arg("--expect=type=gp2,gib=100")
        .in_dir(scratch.path());
    let judged = declared.ok().json();
    let verdict = judged["assay"]["verdict"].as_str().expect("a verdict");
    assert!(verdict.contains("gp2 volume, 3,000 IOPS"), "{verdict}");
    let expectation = &judged["assay"]["expectation"];
    assert_eq!(expectation["bound_by"], "gp2 volume", "{expectation}");
    assert_eq!(expectation["iops"], 3000.0, "{expectation}");
    assert_eq!(
        expectation["limits"][0]["while_it_lasts"],
        "for 33 min, then 300 IOPS"
    );
    fio(words)
        .arg("--expect=type=gp2")
        .in_dir(scratch.path())
        .fails()
        .explains(&["--expect", "gib="]);
}

#[test]
fn the_time_to_save_is_a_range() {
    let words = "expect --expect type=io1,gib=300,iops=15000 --bs 32k --time-to-save";
    let told = assay(&format!("{words} 28711018KiB")).ok().stdout;
    assert!(told.contains("27.4GiB take 59.81 s to 66.46 s"), "{told}");
    assay(&format!("{words} 4kfoo")).refuses(&["--time-to-save", "4kfoo"]);
    let scratch = Scratch::new("save");
    let words = "--name=x --rw=write --bs=4k --size=1m --output-format=json";
    let run = |more: &str| fio(&format!("{words} {more}")).in_dir(scratch.path());
    let time = run("--time-to-save=1GiB").ok().json()["assay"]["time_to_save"].clone();
    let second = |name: &str| time[name].as_f64().expect("a time");
    assert_eq!(time["bytes"], 1 << 30, "{time}");
    assert!(second("least_s") <= second("likely_s") && second("likely_s") <= second("most_s"));
    assert!(run("").ok().json()["assay"]["time_to_save"].is_null());
    run("--time-to-save=soon")
        .fails()
        .explains(&["--time-to-save", "soon"]);
}
