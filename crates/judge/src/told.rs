//! How an imported job was set up, as far as its options tell.

use result::{Job, Options, Place, Run, Setup};
use std::borrow::Cow;
use units::{Ddir, KbBase, TimeUnit};

/// Engines that wait for each I/O.
const WAITING: [&str; 7] = [
    "sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice",
];
/// Engines that do I/O on files and devices otherwise.
const QUEUEING: [&str; 4] = ["libaio", "io_uring", "io_uring_cmd", "posixaio"];
/// Options that hold a job back.
const PACING: [&str; 6] = [
    "rate",
    "rate_iops",
    "thinktime",
    "latency_target",
    "flow",
    "rate_process",
];

/// The run, with a setup for each imported job whose options are known.
pub(crate) fn complete(run: &Run) -> Cow<'_, Run> {
    let format = run.source.as_ref().map(|source| source.format.as_str());
    // A row of a table tells too little, and a log nothing but numbers.
    let telling = format.is_some_and(|format| format == "dd" || format.starts_with("fio"));
    if !telling || run.jobs.iter().all(|job| job.setup.is_some()) {
        return Cow::Borrowed(run);
    }
    let mut run = run.clone();
    let dd = format_is(&run, "dd");
    for job in run.jobs.iter_mut().filter(|job| job.setup.is_none()) {
        job.setup = Some(if dd {
            of_dd(job)
        } else {
            of_fio(job, &run.global_options)
        });
    }
    Cow::Owned(run)
}

fn format_is(run: &Run, format: &str) -> bool {
    run.source
        .as_ref()
        .is_some_and(|source| source.format == format)
}

/// The last value of an option; the job's own come before those of all jobs.
pub(crate) fn option<'a>(job: &'a Job, global: &'a Options, name: &str) -> Option<&'a str> {
    let of = |list: &'a Options| list.iter().rev().find(|(key, _)| key == name);
    of(&job.options)
        .or_else(|| of(global))
        .map(|(_, value)| value.as_str())
}

/// The block size of a job; a table writes KiB for 1024, where fio's options mean 1000 by that.
pub(crate) fn block_bytes(run: &Run, job: &Job) -> Option<u64> {
    let text = option(job, &run.global_options, "bs")?;
    match format_is(run, "table") {
        true => size(text.trim_end_matches("iB")),
        false => size(text),
    }
}

/// A size in an option.
fn size(text: &str) -> Option<u64> {
    units::number::bytes(text, KbBase::Binary)
        .ok()
        .map(|read| read.value)
}

fn is_on(value: Option<&str>) -> bool {
    value.is_some_and(|value| value != "0")
}

fn of_fio(job: &Job, global: &Options) -> Setup {
    let get = |name: &'static str| option(job, global, name);
    let any = |list: &[&'static str]| list.iter().any(|name| is_on(get(name)));
    let engine = get("ioengine").unwrap_or("psync");
    let sync = WAITING.contains(&engine);
    let moves = [
        "read",
        "write",
        "rw",
        "randread",
        "randwrite",
        "randrw",
        "readwrite",
    ];
    let rw = get("rw").or_else(|| get("readwrite")).unwrap_or("read");
    let runtime = get("runtime").or_else(|| get("timeout"));
    let runtime = runtime.and_then(|text| units::number::span(text, TimeUnit::Seconds).ok());
    Setup {
        engine: engine.to_owned(),
        sync,
        direct: is_on(get("direct")) || get("buffered") == Some("0"),
        on_disk: (sync || QUEUEING.contains(&engine))
            && moves.contains(&rw.split(':').next().unwrap_or(rw)),
        idle_engine: engine == "null",
        iodepth: get("iodepth")
            .and_then(|text| text.parse().ok())
            .unwrap_or(1),
        paced: any(&PACING),
        warms_up: any(&["ramp_time", "pre_read"]),
        verifies: get("verify").is_some_and(|kind| kind != "0" && kind != "null"),
        zero_buffers: any(&["zero_buffers"]),
        random: rw.starts_with("rand"),
        runtime_s: runtime
            .map(|span| span.value.us() / 1_000_000)
            .filter(|s| *s > 0),
        places: places(job, global),
    }
}

/// Regions of one member of the job.
fn places(job: &Job, global: &Options) -> Vec<Place> {
    let get = |name| option(job, global, name);
    let Some(length_bytes) = get("size").and_then(size) else {
        return Vec::new();
    };
    let named = get("filename").map(|names| names.split(':').collect::<Vec<_>>());
    // Clones that begin at places of their own share the file, not the region.
    if get("offset_increment").is_some() {
        return Vec::new();
    }
    let names = named.unwrap_or_else(|| vec![""]);
    let place = |name: &&str| Place {
        path: (*name).to_owned(),
        file: !name.starts_with("/dev/"),
        offset_bytes: get("offset").and_then(size).unwrap_or(0),
        length_bytes: length_bytes / names.len().max(1) as u64,
    };
    names.iter().map(place).collect()
}

fn of_dd(job: &Job) -> Setup {
    let empty = Options::new();
    let get = |name| option(job, &empty, name);
    let flag = |list: Option<&str>, flags: &[&str]| {
        let mut words = list.unwrap_or_default().split(',');
        words.any(|word| flags.contains(&word))
    };
    let writes = job.dirs[Ddir::Write].bytes > 0;
    let flags = if writes { get("oflag") } else { get("iflag") };
    let path = if writes { get("of") } else { get("if") };
    Setup {
        engine: "dd".to_owned(),
        sync: true,
        // What is written through counts as written.
        direct: flag(flags, &["direct", "sync", "dsync"]),
        on_disk: path.is_some_and(|path| path != "/dev/null"),
        iodepth: 1,
        zero_buffers: writes && get("if") == Some("/dev/zero"),
        places: path
            .map(|path| Place {
                path: path.to_owned(),
                file: !path.starts_with("/dev/"),
                offset_bytes: 0,
                length_bytes: job.dirs.0.iter().map(|dir| dir.bytes).sum(),
            })
            .into_iter()
            .collect(),
        ..Setup::default()
    }
}
