//! Job files: sections, includes, variables, comments, stdin, and how defaults meet them.

use serde_json::Value;

use crate::harness::command::have_peer;
use crate::harness::{Scratch, Tool, assert_none, fio, shape};

/// Job files written beside the command line that uses them.
type Files<'a> = &'a [(&'a str, &'a str)];

/// Runs `words` with these files present and returns the document.
fn run(files: Files, words: &str, tool: Tool) -> Value {
    let scratch = Scratch::new("jobs");
    for (name, text) in files {
        scratch.file(name, text);
    }
    let command = fio(words)
        .arg("--output-format=json")
        .in_dir(scratch.path())
        .with(tool);
    command.env("ASSAY_TEST_SIZE", "96k").ok().json()
}

/// Both tools must read the files alike: same jobs, same options, same totals.
fn alike(files: Files, words: &str) -> Value {
    let here = run(files, words, Tool::Assay);
    if have_peer("job files") {
        let peer = run(files, words, Tool::Peer);
        let mut findings = shape::differences(&peer, &here);
        findings.extend(shape::total_differences(&peer, &here));
        assert_none(&findings, words);
    }
    here
}

const TWO: (&str, &str) = (
    "two.fio",
    "; two jobs\n[global]\nrw=write\nbs=8k\n\n# the first\n[a]\nsize=64k\n[b]\nsize=128k\nbs=16k\n",
);

#[test]
fn sections_inherit_the_global_one() {
    let document = alike(&[TWO], "two.fio");
    assert_eq!(document["jobs"][0]["write"]["total_ios"], 8);
    assert_eq!(document["jobs"][1]["write"]["total_ios"], 8);
}

#[test]
fn a_section_can_be_picked() {
    let document = alike(&[TWO], "--section=b two.fio");
    assert_eq!(document["jobs"].as_array().map(Vec::len), Some(1));
    assert_eq!(document["jobs"][0]["jobname"], "b");
}

#[test]
fn options_around_a_file_are_defaults_below_its_own() {
    let bare = (
        "bare.fio",
        "[a]\nrw=write\nsize=64k\n[b]\nrw=write\nsize=64k\nbs=16k\n",
    );
    let before = alike(&[bare], "--bs=32k bare.fio");
    assert_eq!(before["jobs"][0]["write"]["total_ios"], 2);
    assert_eq!(before["jobs"][1]["write"]["total_ios"], 4);
    let after = alike(&[bare], "bare.fio --bs=32k --filename=shared");
    assert_eq!(after["jobs"][0]["write"]["total_ios"], 2);
}

#[test]
fn several_files_and_a_job_on_the_command_line() {
    let one = ("one.fio", "[global]\nbs=32k\n[a]\nrw=write\nsize=64k\n");
    let two = ("more.fio", "[b]\nrw=write\nsize=64k\n");
    alike(&[one, two], "one.fio more.fio");
    alike(&[one], "one.fio --name=c --rw=write --size=32k");
}

#[test]
fn includes_are_relative_to_the_including_file() {
    let files = [
        (
            "deep/main.fio",
            "[global]\ninclude shared.fio\n[a]\nsize=64k\n",
        ),
        ("deep/shared.fio", "rw=write\nbs=16k\n"),
    ];
    let document = run(&files, "deep/main.fio", Tool::Assay);
    assert_eq!(document["jobs"][0]["write"]["total_ios"], 4);
    let flat = [
        ("main.fio", "[global]\ninclude shared.fio\n[a]\nsize=64k\n"),
        ("shared.fio", "rw=write\nbs=16k\n"),
    ];
    alike(&flat, "main.fio");
}

#[test]
fn variables_come_from_the_environment() {
    let file = (
        "env.fio",
        "[a]\nrw=write\nsize=${ASSAY_TEST_SIZE}\nbs=16k\n",
    );
    let document = alike(&[file], "env.fio");
    assert_eq!(document["jobs"][0]["write"]["total_ios"], 6);
}

#[test]
fn keywords_stand_for_the_machine() {
    let file = (
        "key.fio",
        "[a]\nrw=write\nsize=64k\nbs=$pagesize\nnumjobs=$ncpus\ngroup_reporting\n",
    );
    let document = alike(&[file], "key.fio");
    let cpus = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    assert_eq!(document["jobs"][0]["write"]["io_bytes"], 65536 * cpus);
}

#[test]
fn a_file_can_come_from_stdin() {
    let scratch = Scratch::new("jobs");
    let text = "[a]\nrw=write\nsize=64k\n";
    let command = fio("--output-format=json -")
        .stdin(text)
        .in_dir(scratch.path());
    assert_eq!(command.ok().job()["write"]["total_ios"], 16);
}

#[test]
fn a_name_inside_a_section_renames_the_job() {
    let file = ("name.fio", "[job1]\nname=read_iops\nrw=read\nsize=64k\n");
    let document = alike(&[file], "name.fio");
    assert_eq!(document["jobs"][0]["jobname"], "read_iops");
}

#[test]
fn stonewalls_numbers_and_quirks_of_real_files() {
    for text in [
        "[global] \nrw=write\nsize=64k\n\n[one]\n[two]\nstonewall\n[three]\nstonewall=1\n",
        "[a]\nrw=write\nsize=64k ; to the end\nbs=8k # too\n",
        "[global]\nsize=64k\n[global]\nrw=write\n[a]\n",
        "[a]\nrw=write\nsize=64k\nbs=8ki\n",
        "[a]\nrw=write\nkb_base=1000\nsize=64k\nbs=4k\n",
        "[with blanks in it]\nrw=write\nsize=64k\n",
        "[a]\nrw=randrw\nsize=64k\nbs=4k,8k\nnumjobs=2\n",
        "[a]\r\nrw=write\r\nsize=64k\r\n",
        "\t[a]\n\trw=write\n\tsize=64k\n",
    ] {
        alike(&[("quirk.fio", text)], "quirk.fio");
    }
}

#[test]
fn a_blank_after_the_equals_sign_keeps_the_unit() {
    let spaced = ("blank.fio", "[a]\nrw = write\nsize = 64k\nbs= 8k\n");
    let document = run(&[spaced], "blank.fio", Tool::Assay);
    assert_eq!(document["jobs"][0]["write"]["total_ios"], 8);
    assert_eq!(document["jobs"][0]["write"]["io_bytes"], 65536);
}

#[test]
fn fractions_mean_what_they_say() {
    let scratch = Scratch::new("jobs");
    let words = "--name=a --rw=write --size=12k --bs=1.5k --output-format=json";
    assert_eq!(
        fio(words).in_dir(scratch.path()).ok().job()["write"]["total_ios"],
        8
    );
}
