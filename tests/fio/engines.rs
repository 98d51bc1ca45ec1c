//! Engines that do something other than reading and writing open files, beside the installed
//! fio: the same totals, the same keys, the same lines, and the same files left behind.

use crate::harness::command::have_peer;
use crate::harness::{Scratch, Tool, assert_none, fio, place};
use crate::peer::compare::{Fixed, differences};
use serde_json::Value;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Name, mode and size of everything in a directory.
fn listing(dir: &Path) -> Vec<(String, u32, u64)> {
    let mut all: Vec<_> = std::fs::read_dir(dir)
        .expect("the directory")
        .map(|entry| entry.expect("an entry"))
        .map(|entry| {
            let meta = entry.metadata().expect("an entry's facts");
            let name = entry.file_name().into_string().expect("UTF-8");
            (name, meta.mode(), meta.len())
        })
        // fio leaves its place in verified data behind.
        .filter(|(name, ..)| !name.ends_with(".state"))
        .collect();
    all.sort();
    all
}

/// I/Os, timed I/Os and bytes of each direction.
fn counts(job: &Value) -> [[u64; 3]; 3] {
    ["read", "write", "trim"].map(|ddir| {
        let figures = &job[ddir];
        let latencies = &figures["clat_ns"]["N"];
        [&figures["total_ios"], latencies, &figures["io_bytes"]].map(|n| n.as_u64().unwrap_or(0))
    })
}

/// Runs a job in normal format and as JSON with both tools and compares everything they leave.
fn compare(words: &str) -> Vec<String> {
    let scratch = Scratch::new("engines");
    let dir = scratch.path();
    let mut found = Vec::new();
    for format in ["normal", "json"] {
        let [peer, here] = [Tool::Peer, Tool::Assay].map(|tool| {
            place::empty(dir);
            let command = fio(&format!("--name=s --output-format={format} {words}"));
            (command.in_dir(dir).with(tool).run(), listing(dir))
        });
        if peer.1 != here.1 {
            found.push(format!("left {:?}, fio {:?}", here.1, peer.1));
        }
        if format == "json" && peer.0.code == Some(0) && here.0.code == Some(0) {
            let (a, b) = (counts(&peer.0.job()), counts(&here.0.job()));
            if a != b {
                found.push(format!("counts {b:?}, fio {a:?}"));
            }
        }
        found.extend(differences(&peer.0, &here.0, Fixed::Totals));
    }
    found
        .into_iter()
        .map(|text| format!("{words}: {text}"))
        .collect()
}

fn compare_all(what: &str, jobs: &[&str]) {
    if !have_peer(what) {
        return;
    }
    let found: Vec<String> = jobs.iter().flat_map(|words| compare(words)).collect();
    assert_none(&found, what);
}

#[test]
fn names_of_files_are_worked_on_as_fio_does() {
    compare_all(
        "engines that work on names",
        &[
            "--ioengine=filecreate --nrfiles=20 --filesize=4k",
            "--ioengine=filecreate --nrfiles=5",
            "--ioengine=filecreate --nrfiles=5 --size=40k --rw=write",
            "--ioengine=filecreate --nrfiles=3 --filesize=4k --loops=3",
            "--ioengine=filestat --nrfiles=20 --filesize=4k",
            "--ioengine=filestat --nrfiles=5 --filesize=4k --bs=512 --openfiles=2",
            "--ioengine=filestat --nrfiles=4 --filesize=4k --loops=3 --stat_type=lstat",
            "--ioengine=filestat --nrfiles=4 --filesize=4k --rw=write --stat_type=statx",
            "--ioengine=filedelete --nrfiles=20 --filesize=4k",
        ],
    );
}

#[test]
fn space_and_sizes_are_changed_as_fio_does() {
    compare_all(
        "falloc, ftruncate and splice",
        &[
            "--ioengine=falloc --rw=read --size=64k",
            "--ioengine=falloc --rw=randwrite --size=64k",
            "--ioengine=falloc --rw=randtrim --size=64k",
            "--ioengine=ftruncate --rw=write --size=64k",
            "--ioengine=ftruncate --rw=randwrite --size=64k",
            "--ioengine=splice --rw=randrw --size=1m --bs=100k",
            "--ioengine=splice --rw=randwrite --size=1m --bs=128k --direct=1 --verify=md5",
        ],
    );
}

#[test]
fn the_c_librarys_requests_report_as_fio_does() {
    compare_all(
        "posixaio",
        &[
            "--ioengine=posixaio --iodepth=8 --rw=randrw --size=1m",
            "--ioengine=posixaio --iodepth=4 --rw=write --size=256k --direct=1",
            "--ioengine=posixaio --iodepth=8 --rw=randwrite --size=1m --verify=crc32c",
        ],
    );
}

#[test]
fn commands_go_to_namespaces_only() {
    let scratch = Scratch::new("engines");
    for (target, reason) in [
        ("f", "/dev/ngXnY"),
        ("/dev/ng99n9", "does not exist"),
        ("/dev/null", "does not answer as an NVMe namespace"),
    ] {
        for rw in ["read", "write"] {
            let words = format!(
                "--name=n --ioengine=io_uring_cmd --cmd_type=nvme --size=1m --rw={rw} \
                 --filename={target}"
            );
            let refused = fio(&words).in_dir(scratch.path()).fails();
            refused.explains(&[target, reason]);
        }
    }
    assert_eq!(listing(scratch.path()), []);
}

#[test]
fn directories_are_made_looked_up_and_deleted() {
    let scratch = Scratch::new("directories");
    let dir = scratch.path();
    let run = |engine: &str| {
        let words = format!(
            "--name=d --ioengine={engine} --nrfiles=5 --filename_format=d.$filenum --filesize=4k \
             --bs=1k --output-format=json"
        );
        fio(&words).in_dir(dir).run()
    };
    // The first of the four blocks of each is timed.
    let want = [[20, 5, 20_480], [0; 3], [0; 3]];
    assert_eq!(counts(&run("dircreate").expect_ok().job()), want);
    let names = listing(dir);
    assert_eq!(names.len(), 5);
    assert!(names.iter().all(|(_, mode, _)| *mode == 0o040_700));
    let again = run("dircreate");
    assert_eq!(again.job()["error"], 17, "they exist: {again}");
    assert_eq!(counts(&run("dirstat").expect_ok().job()), want);
    assert_eq!(listing(dir), names);
    assert_eq!(counts(&run("dirdelete").expect_ok().job()), want);
    assert_eq!(listing(dir), []);
    // Directories that are missing are made beforehand.
    run("dirstat").expect_ok();
    assert_eq!(listing(dir), names);
}

#[test]
fn what_a_job_may_not_touch_is_left_alone() {
    let scratch = Scratch::new("engines");
    let dir = scratch.path();
    std::fs::create_dir(dir.join("sub")).expect("scratch");
    for (words, reason) in [
        ("filedelete --filename=/dev/null", "takes files only"),
        ("filestat --filename=sub", "takes files only"),
        ("dirdelete --filename=/dev/null", "takes directories only"),
        ("filecreate --filename=/dev/nosuchdisk", "is no device"),
        ("filecreate --readonly", "forbidden by --readonly"),
        ("falloc --readonly", "forbidden by --readonly"),
        ("filecreate --rw=write --verify=md5", "writes no data"),
        ("falloc --rw=write --verify=md5", "writes no data"),
        ("filecreate --rw=trim", "cannot trim"),
    ] {
        let command = format!("--name=s --filesize=4k --ioengine={words}");
        fio(&command).in_dir(dir).fails().explains(&[reason]);
    }
    assert_eq!(listing(dir).len(), 1);
}

/// Both tools' reports on a job that moves nothing and ends by time.
fn compare_busy(dir: &Path, words: &str) -> Vec<String> {
    let mut found = Vec::new();
    for format in ["normal", "json"] {
        let [peer, here] = [Tool::Peer, Tool::Assay].map(|tool| {
            let command = fio(&format!("--name=s --output-format={format} {words}"));
            let mut outcome = command.in_dir(dir).with(tool).run();
            if format == "json"
                && let Some(at) = outcome.stdout.find("{\n")
            {
                // fio's remarks stand before the document.
                outcome.stdout.drain(..at);
                let read = &outcome.job()["read"];
                assert_eq!(
                    (&read["io_bytes"], &read["runtime"]),
                    (&0.into(), &0.into())
                );
                assert_eq!(read["total_ios"], read["clat_ns"]["N"]);
            }
            outcome
        });
        found.extend(differences(&peer, &here, Fixed::Form));
    }
    found
        .into_iter()
        .map(|text| format!("{words}: {text}"))
        .collect()
}

#[test]
fn cpus_and_programs_are_kept_busy_as_fio_does() {
    if !have_peer("cpuio and exec") {
        return;
    }
    let scratch = Scratch::new("engines");
    let dir = scratch.path();
    let mut found = Vec::new();
    for words in [
        "--ioengine=cpuio --cpuload=50 --cpuchunks=10000 --runtime=300ms",
        "--ioengine=cpuio --cpuload=300 --cpuchunks=1000 --cpumode=qsort --runtime=300ms",
        "--ioengine=exec --program=echo --arguments=%n --runtime=1 --grace_time=0",
    ] {
        found.extend(compare_busy(dir, words));
    }
    assert_none(&found, "cpuio and exec");
}

#[test]
fn a_job_that_burns_time_ends_with_those_that_do_io() {
    let scratch = Scratch::new("engines");
    let words = "--output-format=json --name=burn --ioengine=cpuio --cpuload=50 --cpuchunks=1000 \
                 --exit_on_io_done=1 --name=io --ioengine=null --size=1m --rate=4m";
    let document = fio(words).in_dir(scratch.path()).ok().json();
    let jobs = document["jobs"].as_array().expect("jobs");
    assert_eq!(jobs[1]["read"]["io_bytes"], 1 << 20);
    assert!(jobs[0]["read"]["total_ios"].as_u64() > Some(10));
}

#[test]
fn programs_run_beside_the_jobs() {
    let scratch = Scratch::new("engines");
    let dir = scratch.path();
    let words = "--output-format=json --name=e --ioengine=exec --program=echo";
    // Without a runtime the job ends with the program.
    fio(words).arg("--arguments=%n for  %r s").in_dir(dir).ok();
    let output = std::fs::read_to_string(dir.join("e.stdout")).expect("its output");
    assert_eq!(output, "e for 0 s\n");
    let errors = std::fs::read(dir.join("e.stderr")).expect("its output");
    assert!(errors.is_empty());
    let words = "--name=e --ioengine=exec --program=/no/such/program";
    fio(words)
        .in_dir(dir)
        .fails()
        .explains(&["/no/such/program", "No such file"]);
    for (words, reason) in [
        ("cpuio", "cpuload= must"),
        ("exec", "program= must"),
        ("cpuio --cpuload=9 --thinktime=1ms", "thinktime="),
        ("cpuio --cpuload=9 --number_ios=1", "number_ios="),
    ] {
        let command = format!("--name=s --ioengine={words}");
        fio(&command).in_dir(dir).fails().explains(&[reason]);
    }
}

#[test]
fn anonymous_memory_keeps_what_is_verified() {
    let scratch = Scratch::new("engines");
    let words = "--name=p --ioengine=page_fault --rw=randwrite --size=1m --verify=crc32c \
                 --output-format=json";
    let job = fio(words).in_dir(scratch.path()).ok().job();
    assert_eq!(
        counts(&job),
        [[256, 256, 1 << 20], [256, 256, 1 << 20], [0; 3]]
    );
    assert_eq!(listing(scratch.path()), []);
    let words = "--name=p --ioengine=page_fault --size=1m --nrfiles=2";
    fio(words)
        .in_dir(scratch.path())
        .fails()
        .explains(&["page_fault", "nrfiles=1"]);
}
