//! Rates, stalls, limits and the search for a depth: same reports, same ends, and the effects
//! that counts can prove.

use serde_json::Value;

use super::compare::{self, Fixed};
use crate::harness::command::have_peer;
use crate::harness::{Outcome, Scratch, Tool, assert_none, fio};

/// Both tools' outcome of one command line over the null engine.
fn both(dir: &Scratch, words: &str) -> [Outcome; 2] {
    compare::both(dir.path(), || {
        fio("--name=a --ioengine=null").args(words.split_whitespace())
    })
}

fn number(value: &Value, path: &str) -> u64 {
    value
        .pointer(path)
        .and_then(Value::as_u64)
        .unwrap_or_else(|| panic!("no number at {path} in {value}"))
}

fn ios(job: &Value, direction: &str) -> u64 {
    number(job, &format!("/{direction}/total_ios"))
}

#[test]
fn paced_jobs_report_as_fio_does() {
    if !have_peer("paced_jobs_report_as_fio_does") {
        return;
    }
    let scratch = Scratch::new("pace");
    let search = "--latency_target=100ms --latency_window=20ms --latency_percentile=50";
    let table = [
        // The rates rule a mix, not the coin.
        "--rw=randrw --rwmixread=90 --size=10m --rate=1m,2m --time_based --runtime=1".to_owned(),
        "--rw=rw --size=10m --rate_iops=500,1000 --rate_process=poisson --io_size=1m".to_owned(),
        "--rw=read --size=100m --rate=1m,1m --number_ios=100".to_owned(),
        format!("--rw=randread --size=10m --iodepth=16 --time_based --runtime=5 {search}"),
        "--rw=read --size=64k --thinktime=20ms --thinktime_blocks=4".to_owned(),
        "--rw=read --size=64k --thinktime=20ms --thinktime_blocks=4 --thinktime_blocks_type=issue"
            .to_owned(),
        "--rw=read --size=1m --thinktime=20ms --thinktime_iotime=1ms --rate=8m \
         --rate_ignore_thinktime=1"
            .to_owned(),
        "--rw=read --size=1m --max_latency=60s --flow=1 --flow_id=2 --flow_sleep=100".to_owned(),
    ];
    let mut findings = Vec::new();
    for words in table {
        let words = format!("{words} --output-format=normal,json");
        let [theirs, ours] = both(&scratch, &words);
        let found = compare::differences(&theirs, &ours, Fixed::Form);
        findings.extend(found.into_iter().map(|text| format!("{words}: {text}")));
    }
    assert_none(&findings, "paced jobs");
    // Younger than the fio that is the measure.
    fio("--name=a --ioengine=null --rw=read --size=64k --thinkcycles=1000").ok();
    // fio 3.33 spins on for ever where a pause overruns.
    let spins = "--thinktime=20ms --thinktime_blocks=4 --thinktime_spin=5ms --output-format=json";
    let job = fio("--name=a --ioengine=null --rw=read --size=64k")
        .args(spins.split_whitespace())
        .ok()
        .job();
    assert_eq!(ios(&job, "read"), 16);
    // Three pauses lie between four groups of four.
    assert!(number(&job, "/job_runtime") >= 60, "{job}");
}

#[test]
fn offloaded_jobs_report_as_fio_does() {
    if !have_peer("offloaded_jobs_report_as_fio_does") {
        return;
    }
    let scratch = Scratch::new("offload");
    let table = [
        "--ioengine=psync --rw=randread --iodepth=4 --rate_iops=2000",
        "--ioengine=libaio --rw=randwrite --iodepth=8 --rate=8m",
        "--ioengine=libaio --rw=write --iodepth=2 --rate_iops=1000 --rate_process=poisson",
        "--ioengine=psync --rw=read --iodepth=3 --bs=64k --thinktime=1ms",
    ];
    let mut findings = Vec::new();
    for words in table {
        let words = format!("--size=1m {words} --output-format=normal,json");
        // fio's own offloaded jobs may hang; but they report as others do.
        let run = |tool: Tool, mode: &str| {
            crate::harness::place::empty(scratch.path());
            let job = fio(&format!("--name=a {mode} {words}")).in_dir(scratch.path());
            let outcome = job.with(tool).ok();
            let lines = outcome.stdout.lines().filter(|line| {
                !line.starts_with("note: both iodepth") && !line.contains("io_submit_mode")
            });
            let stdout = lines.map(|line| format!("{line}\n")).collect();
            Outcome { stdout, ..outcome }
        };
        let theirs = run(Tool::Peer, "");
        let ours = run(Tool::Assay, "--io_submit_mode=offload");
        let found = compare::differences(&theirs, &ours, Fixed::Form);
        findings.extend(found.into_iter().map(|text| format!("{words}: {text}")));
    }
    assert_none(&findings, "offloaded jobs");
}

#[test]
fn steady_jobs_end_early_and_say_so_as_fio_does() {
    if !have_peer("steady_jobs_end_early_and_say_so_as_fio_does") {
        return;
    }
    let scratch = Scratch::new("steady");
    let rated = "--rw=read --rate_iops=1000 --size=1g --time_based --output-format=normal,json";
    // Wide limits: a busy machine is not steady within narrow ones.
    let table = [
        (
            "--ss=iops:1000000 --ss_dur=2 --ss_ramp=1 --numjobs=2 --group_reporting",
            30,
            1,
        ),
        ("--ss=bw_slope:1g --ss_dur=2 --kb_base=1000", 30, 1),
        ("--ss=bw:1k --ss_dur=3", 1, 0),
    ];
    for (words, runtime, attained) in table {
        let words = format!("{rated} {words} --runtime={runtime}");
        let [theirs, ours] = both(&scratch, &words);
        assert_none(&compare::differences(&theirs, &ours, Fixed::Form), &words);
        let text = |outcome: &Outcome| {
            let words = ["\"ss\" :", "\"duration\" :", "\"attained\" :"];
            let lines = outcome.stdout.lines();
            lines
                .filter(|line| words.iter().any(|word| line.contains(word)))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(text(&theirs), text(&ours), "{words}");
        assert!(
            text(&ours)[2].contains(&format!(" : {attained},")),
            "{ours}"
        );
    }
    // Younger than the fio that is the measure.
    let job = fio("--name=a --ioengine=null --rate_iops=1000 --size=1g --time_based --runtime=30")
        .args([
            "--ss=lat:100s",
            "--ss_dur=2",
            "--ss_interval=1",
            "--output-format=json",
        ])
        .ok()
        .job();
    let steady = &job["steadystate"];
    assert_eq!(
        (&steady["ss"], &steady["attained"]),
        (&"lat:100000000000.000000".into(), &1.into())
    );
    assert!(number(steady, "/data/lat_mean") > 0, "{steady}");
    assert_eq!(steady["data"]["lat_ns"].as_array().map(Vec::len), Some(2));
}

#[test]
fn failing_limits_end_a_job_as_they_end_fios() {
    if !have_peer("failing_limits_end_a_job_as_they_end_fios") {
        return;
    }
    let scratch = Scratch::new("limits");
    let slow = "--ioengine=psync --rw=write --bs=1m --size=4m";
    let search = "--latency_target=1us --latency_window=1s --latency_percentile=100";
    let table = [
        (
            format!("{slow} --max_latency=0,1"),
            110,
            "exceeds specified max (1000 nsec): a.0.0 write 0 1048576",
        ),
        (
            format!("{slow} {search}"),
            110,
            "exceeds specified max (1000 nsec)",
        ),
        (
            "--rw=read --size=100m --thinktime=10ms --rate=1m --rate_min=1m".to_owned(),
            5,
            "a: rate_min=1048576B/s not met, got ",
        ),
    ];
    for (words, error, text) in table {
        let words = format!("{words} --output-format=normal,json");
        let [theirs, ours] = both(&scratch, &words);
        let found = compare::differences(&theirs, &ours, Fixed::Form);
        assert_none(&found, &words);
        assert_eq!(ours.code, Some(1), "{ours}");
        assert!(
            ours.stdout.contains(&format!("\"error\" : {error},")),
            "{ours}"
        );
        assert!(ours.stderr.contains(text), "{text}: {ours}");
    }
}

#[test]
fn rates_are_kept_whatever_the_mix_says() {
    // Half a second of requests: 2000 reads to 500 writes a second, however late they come.
    let words = "--name=a --ioengine=null --size=10m --rate_iops=2000,500 --number_ios=1250 \
                 --output-format=json";
    for more in [
        "--rw=randrw --rwmixread=10",
        "--rw=rw --iodepth=8",
        "--rw=rw --rwmixread=10 --rate_process=poisson",
    ] {
        let job = fio(words).args(more.split_whitespace()).ok().job();
        let (reads, writes) = (ios(&job, "read"), ios(&job, "write"));
        assert_eq!(reads + writes, 1250, "{more}");
        // A stall at the end leaves one direction behind; the mix alone would give 125 reads.
        assert!(reads.abs_diff(1000) <= 200, "{more}: {reads} reads");
        let runtime = number(&job, "/job_runtime");
        assert!(
            more.contains("poisson") || runtime >= 490,
            "{more}: {runtime} ms"
        );
    }
}

#[test]
fn latency_counts_from_where_the_rate_wanted_the_request() {
    let stalls = "--name=a --ioengine=null --rw=read --size=200k --thinktime=50ms \
                  --thinktime_blocks=10 --output-format=json";
    let job = fio(&format!("{stalls} --rate_iops=1000")).ok().job();
    let late = &job["read"]["lat_intended_ns"];
    assert_eq!(number(late, "/N"), 50);
    // The tenth request after a stall of 50 ms should have started 40 ms before the first could.
    assert!(number(late, "/max") >= 39_000_000, "{late}");
    assert!(
        number(late, "/max") > number(&job, "/read/lat_ns/max"),
        "{job}"
    );
    assert!(late["percentile"]["99.000000"].is_u64());
    assert!(fio(stalls).ok().job()["read"]["lat_intended_ns"].is_null());
}

#[test]
fn flows_keep_jobs_in_proportion() {
    // The first that is told to stop leaves the flow to the other, which had better not be quick.
    let words = "--ioengine=null --rw=read --size=1g --time_based --runtime=1 --thread --flow_id=7 \
                 --flow_sleep=200 --thinktime=100us --output-format=json --name=a --flow=1 \
                 --name=b --flow=3";
    let run = fio(words).ok().json();
    let (a, b) = (ios(&run["jobs"][0], "read"), ios(&run["jobs"][1], "read"));
    assert!(a > 100 && (3 * a).abs_diff(b) * 50 < b, "{a} and {b}");
}

#[test]
fn a_warm_up_by_bytes_is_not_reported() {
    let words = "--ioengine=null --rw=read --size=2m --rate=4m --ramp_size=1m --output-format=json";
    let job = fio(&format!("--name=a {words}")).ok().job();
    let bytes = number(&job, "/read/io_bytes");
    assert!((512 << 10..=1 << 20).contains(&bytes), "{bytes}");
    let group = format!("{words} --group_reporting --numjobs=2 --name=a");
    let bytes = number(&fio(&group).ok().job(), "/read/io_bytes");
    assert!((2 << 20..=3 << 20).contains(&bytes), "{bytes} of 4 MiB");
    fio(&format!("--name=a {words} --ramp_time=1"))
        .fails()
        .explains(&["ramp_time and ramp_size exclude each other"]);
}

#[test]
fn commands_run_before_and_after_a_job() {
    let scratch = Scratch::new("scripts");
    let job = |name: &str| {
        fio(&format!("--name={name} --ioengine=null --size=64k")).in_dir(scratch.path())
    };
    let read = |file: &str| std::fs::read_to_string(scratch.path().join(file)).expect(file);
    for tool in [Tool::Assay, Tool::Peer] {
        if tool == Tool::Peer && !have_peer("commands before and after a job") {
            return;
        }
        let outcome = job("both")
            .args(["--exec_prerun=echo before", "--exec_postrun=echo after"])
            .with(tool)
            .ok();
        assert_eq!(read("both.prerun.txt"), "before\n");
        assert_eq!(read("both.postrun.txt"), "after\n");
        let line = "both : Saving output of prerun in both.prerun.txt\n";
        assert!(outcome.stdout.contains(line), "{outcome}");
    }
    // Unlike fio, which then ends without a word: the job has not run, so it has failed.
    let outcome = job("no").args(["--exec_prerun=echo why; exit 4"]).fails();
    assert!(
        outcome.stderr.contains("exit status: 4; see no.prerun.txt"),
        "{outcome}"
    );
    assert_eq!(read("no.prerun.txt"), "why\n");
}

#[test]
fn ignored_errors_are_counted_and_shown_as_fio_does() {
    if !have_peer("ignored_errors_are_counted_and_shown_as_fio_does") {
        return;
    }
    let scratch = Scratch::new("ignored");
    let full =
        "--ioengine=psync --filename=/dev/full --rw=write --size=16k --output-format=normal,json";
    for more in [
        "--ignore_error=,ENOSPC",
        "--ignore_error=,ENOSPC --error_dump=1",
        "--continue_on_error=write",
    ] {
        let [theirs, ours] = both(&scratch, &format!("{full} {more}"));
        assert_eq!(theirs.code, ours.code, "{more}: {ours}");
        let document = |outcome: &Outcome| {
            let at = outcome.stdout.find("{\n").expect("a document");
            let end = outcome.stdout.find("\n}\n").expect("a document") + 3;
            let text = &outcome.stdout[at..end];
            let job = crate::harness::command::documents(text).expect("JSON")[0]["jobs"][0].clone();
            (
                job["error"].clone(),
                job["total_err"].clone(),
                job["first_error"].clone(),
            )
        };
        assert_eq!(document(&theirs), document(&ours), "{more}");
        let complaints = |outcome: &Outcome| {
            let lines = outcome
                .stderr
                .lines()
                .filter(|line| line.contains("io_u error on"));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(complaints(&theirs), complaints(&ours), "{more}");
    }
}

#[test]
fn a_failed_job_ends_the_others_where_it_should() {
    let fails = "--ioengine=psync --rw=write --bs=1m --size=1m --max_latency=0,1";
    let runs = "--name=b --ioengine=null --rw=read --bs=4k --size=1m --time_based --runtime=60";
    let scratch = Scratch::new("exitall");
    let words =
        format!("--thread --exitall_on_error=1 --output-format=json --name=a {fails} {runs}");
    let outcome = fio(&words).in_dir(scratch.path()).fails();
    let jobs = outcome.json()["jobs"].clone();
    assert_eq!(
        (&jobs[0]["error"], &jobs[1]["error"]),
        (&110.into(), &0.into())
    );
    // Not the minute that was asked for: ended, not timed out.
    assert!(number(&jobs[1], "/job_runtime") < 30_000, "{outcome}");
}

#[test]
fn start_times_come_from_the_clock_that_was_named() {
    let words = "--name=a --ioengine=null --size=64k --output-format=json";
    let start = |more: &str| {
        number(
            &fio(words).args(more.split_whitespace()).ok().job(),
            "/job_start",
        )
    };
    let wall = start("");
    let booted = start("--job_start_clock_id=1");
    assert!(
        wall > 1_700_000_000_000 && booted < wall / 2,
        "{wall} and {booted}"
    );
    fio(&format!("{words} --job_start_clock_id=10"))
        .fails()
        .explains(&["job_start_clock_id=10", "no such clock"]);
}

#[test]
fn absolute_times_of_logs_come_from_the_clock_that_was_named() {
    let scratch = Scratch::new("clock");
    let words = "--name=a --ioengine=null --size=8k --write_lat_log=x --log_alternate_epoch=1 \
                 --log_alternate_epoch_clock_id=";
    let first = |tool: Tool, id: u32| {
        fio(&format!("{words}{id}"))
            .in_dir(scratch.path())
            .with(tool)
            .ok();
        let text = std::fs::read_to_string(scratch.path().join("x_lat.1.log")).expect("a log");
        let time = text.split(',').next().expect("a row");
        time.parse::<u64>().expect("milliseconds")
    };
    assert!(first(Tool::Assay, 1) < first(Tool::Assay, 0) / 2);
    if have_peer("the clock of logs") {
        let (theirs, ours) = (first(Tool::Peer, 1), first(Tool::Assay, 1));
        assert!(
            theirs <= ours && ours - theirs < 60_000,
            "{theirs} and {ours}"
        );
    }
}

#[test]
fn a_trigger_ends_the_jobs_and_runs_its_command() {
    let scratch = Scratch::new("trigger");
    let words = "--name=a --ioengine=null --rw=read --size=1m --time_based --runtime=60 --trigger";
    for tool in [Tool::Assay, Tool::Peer] {
        if tool == Tool::Peer && !have_peer("triggers") {
            return;
        }
        for by_file in [true, false] {
            let file = scratch.path().join("now");
            let when = if by_file {
                std::fs::write(&file, "").expect("scratch");
                format!("--trigger-file={}", file.display())
            } else {
                "--trigger-timeout=1".to_owned()
            };
            let command = fio(words).arg("echo pulled").args([when]).with(tool);
            let outcome = command.ok();
            assert!(outcome.stdout.contains("pulled\n"), "{outcome}");
            // A file that is there from the start may come before the first request.
            let reported = outcome.stdout.contains("err= 0");
            assert!(by_file || reported, "a full report: {outcome}");
            assert!(!file.exists(), "the file has done its work");
        }
    }
}

#[test]
fn a_file_asks_for_a_running_report() {
    let scratch = Scratch::new("dump");
    let file = scratch.path().join("fio-dump-status");
    std::fs::write(&file, "").expect("scratch");
    let directory = scratch.path().to_str().expect("UTF-8");
    let words = "--name=a --ioengine=null --rw=read --size=1m --time_based --runtime=2 \
                 --output-format=json";
    for tool in [Tool::Assay, Tool::Peer] {
        if tool == Tool::Peer && !have_peer("reports by file") {
            return;
        }
        std::fs::write(&file, "").expect("scratch");
        let outcome = fio(words).env("TMPDIR", directory).with(tool).ok();
        assert_eq!(outcome.documents().len(), 2, "one while it ran: {outcome}");
        assert!(!file.exists());
    }
}

/// The command may cut the power: what verification knows must be on the disk before it runs.
#[test]
fn a_trigger_finds_the_state_of_verification() {
    let scratch = Scratch::new("trigger");
    let state = "local-a-0-verify.state";
    for tool in [Tool::Assay, Tool::Peer] {
        if tool == Tool::Peer && !have_peer("states of triggers") {
            continue;
        }
        let run = fio("--name=a --filename=f --rw=randwrite --bs=4k --size=16m --rate_iops=1000")
            .args(["--verify=crc32c", "--trigger-timeout=1"])
            .arg(format!("--trigger=cp {state} kept"))
            .in_dir(scratch.path())
            .with(tool)
            .run();
        let kept = std::fs::read(scratch.path().join("kept")).expect("the state was there");
        assert_eq!(kept[0], 3, "its version");
        assert!(
            kept[40] > 0 || kept[41] > 0,
            "writes had been issued: {run}"
        );
        std::fs::copy(scratch.path().join("kept"), scratch.path().join(state)).expect("copy");
        let again = fio("--name=a --filename=f --rw=randread --bs=4k --size=16m")
            .args([
                "--verify=crc32c",
                "--verify_state_load=1",
                "--output-format=json",
            ])
            .in_dir(scratch.path())
            .run();
        assert_eq!(again.code, Some(0), "{again}");
        let reads = again.job()["read"]["total_ios"].as_u64().expect("count");
        assert!((100..4000).contains(&reads), "{again}");
    }
}
