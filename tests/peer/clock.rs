//! A thread that keeps the time for all jobs (`gtod_cpu`).

use serde_json::Value;

use super::compare;
use crate::harness::command::{documents, have_peer};
use crate::harness::{Scratch, fio, skip};

/// Jobs of a report.
fn jobs(stdout: &str) -> Vec<Value> {
    let at = stdout.find("{\n").unwrap_or_default();
    let all = documents(&stdout[at..]).expect("JSON");
    all[0]["jobs"].as_array().expect("jobs").clone()
}

/// A CPU besides CPU 0, where there is one.
fn second_cpu() -> Option<usize> {
    let online = std::thread::available_parallelism().map_or(1, usize::from);
    (online > 1).then_some(1)
}

#[test]
fn a_kept_clock_gives_what_the_clock_gives() {
    let Some(cpu) = second_cpu() else {
        return skip("gtod_cpu", "there is one CPU");
    };
    let scratch = Scratch::new("clock");
    let words = format!(
        "--name=a --ioengine=psync --filename=f --size=1m --rw=read --bs=64k --time_based \
         --runtime=1 --gtod_cpu={cpu} --name=b --ioengine=null --size=1g --rw=randrw --bs=4k \
         --iodepth=8 --output-format=json"
    );
    let outcome = fio(&words).in_dir(scratch.path()).ok();
    let all = jobs(&outcome.stdout);
    let number = |job: &Value, at: &str| job.pointer(at).and_then(Value::as_f64).unwrap_or(-1.0);
    let a = &all[0];
    let ms = number(a, "/read/runtime");
    // The latencies of a synchronous job follow each other within its time, by the same clock.
    // That may lag, where the thread that keeps it has to wait for its CPU.
    let (mean, count) = (number(a, "/read/lat_ns/mean"), number(a, "/read/total_ios"));
    assert!(
        mean > 0.0 && mean * count <= (ms + 1.0) * 1e6,
        "{mean} ns, {count}, {ms} ms"
    );
    assert!(number(a, "/read/lat_ns/min") <= mean && mean <= number(a, "/read/lat_ns/max"));
    // A job that does not ask for it takes the same time, and does the same work.
    let b = &all[1];
    let total = number(b, "/read/total_ios") + number(b, "/write/total_ios");
    assert_eq!(total, 262_144.0, "{b}");
    let spent = |ddir: &str| {
        let at = |key: &str| number(b, &format!("/{ddir}/{key}"));
        at("lat_ns/mean") * at("total_ios")
    };
    let ns = (number(b, "/job_runtime") + 1.0) * 1e6;
    assert!(spent("read") + spent("write") <= 8.0 * ns, "{b}");
}

#[test]
fn both_tools_do_the_same_work_by_a_kept_clock() {
    if !have_peer("both_tools_do_the_same_work_by_a_kept_clock") {
        return;
    }
    let Some(cpu) = second_cpu() else {
        return skip("gtod_cpu", "there is one CPU");
    };
    let scratch = Scratch::new("clock-peer");
    let words = format!(
        "--name=a --ioengine=psync --filename=f --size=1m --rw=randwrite --bs=4k --gtod_cpu={cpu} \
         --output-format=json"
    );
    let both = compare::both(scratch.path(), || fio(&words));
    let of = |outcome: &crate::harness::Outcome| {
        let all = jobs(&outcome.stdout);
        let write = &all[0]["write"];
        (write["total_ios"].clone(), write["io_bytes"].clone())
    };
    let [peer, here] = &both;
    assert_eq!(here.code, Some(0), "{here}");
    // fio's own clock thread outlives the memory that it writes to, and takes fio down at its end
    // now and then.
    if peer.code == Some(0) {
        assert_eq!(of(peer), of(here));
    }
    assert_eq!(of(here), (256.into(), 1_048_576.into()));
}

#[test]
fn clocks_that_cannot_be_kept_are_refused() {
    let scratch = Scratch::new("clock-bad");
    let job = "--name=a --ioengine=null --size=64k";
    for (words, says) in [
        (
            format!("{job} --gtod_cpu=4095"),
            "gtod_cpu=4095: CPU 4095 is not online",
        ),
        (
            format!("{job} --cpus_allowed=0 --gtod_cpu=0"),
            "gtod_cpu=0 leaves no CPU to run on",
        ),
        (
            format!("{job} --gtod_cpu=0 --clocksource=clock_gettime"),
            "gtod_cpu=0 and clocksource= exclude each other",
        ),
    ] {
        let run = fio(&words).in_dir(scratch.path());
        run.fails().explains(&[says]);
    }
}
