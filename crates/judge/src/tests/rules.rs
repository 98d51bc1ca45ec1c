//! Each rule that looks at more than counters: once where it speaks, once where it must not.

use super::*;
use result::series::{Quantity, Series};
use result::{Failure, Interrupts, Place, Punts, SelfCheck, Source};

/// A job with a series of these rates, one a second.
fn series(rates: impl IntoIterator<Item = u64>) -> Run {
    let mut run = clean(Ddir::Read);
    let mut series = Series::new(Quantity::Iops, Ddir::Read);
    for (at, rate) in rates.into_iter().enumerate() {
        assert!(series.add((at as u64 + 1) * 1000, rate));
    }
    run.jobs[0].series.push(series);
    run
}

/// Rates that go to and fro by a tenth.
fn noisy(rate: u64, seconds: u64) -> impl Iterator<Item = u64> {
    (0..seconds).map(move |at| rate + rate * (at * 7919 % 13) / 130)
}

fn place(path: &str, offset_bytes: u64, length_bytes: u64) -> Place {
    Place {
        path: path.into(),
        file: !path.starts_with("/dev/"),
        offset_bytes,
        length_bytes,
    }
}

#[test]
fn steps_trends_and_silence_in_a_series() {
    assert_eq!(ids(&series(noisy(3000, 90))), [""; 0]);
    // Credits that end after 40 s.
    let burst = series(noisy(3000, 40).chain(noisy(100, 50)));
    let finding = judge(&burst).findings.remove(0);
    assert_eq!(finding.id, "speed-changed");
    assert!(finding.text.contains("after 40 s"), "{}", finding.text);
    assert_eq!(
        ids(&series(noisy(100, 40).chain(noisy(3000, 40)))),
        ["speed-changed"]
    );
    // A second that differs is no step, and a short run has none.
    let one = noisy(3000, 30).chain([500]).chain(noisy(3000, 30));
    assert_eq!(ids(&series(one)), [""; 0]);
    assert_eq!(ids(&series(noisy(3000, 8).chain(noisy(100, 8)))), [""; 0]);
    // A slow way down is a trend, and a paced job goes as it was told.
    let down = |at: u64| 3000 - at * 8;
    let mut run = series((0..90).map(down));
    assert_eq!(ids(&run), ["not-steady"]);
    setup(&mut run).paced = true;
    assert_eq!(ids(&run), [""; 0]);
    // Seconds without a completion; not so where there are few of them anyhow.
    let silent = |rate: u64| noisy(rate, 30).chain([0, 0]).chain(noisy(rate, 30));
    let finding = judge(&series(silent(3000))).findings.remove(0);
    assert_eq!(finding.id, "stall");
    assert!(finding.text.contains("for 2 s on end"), "{}", finding.text);
    assert_eq!(ids(&series(silent(4))), [""; 0]);
}

#[test]
fn clones_on_the_same_place() {
    let shared = |random: bool, places: [Place; 2]| {
        let mut run = clean(Ddir::Read);
        setup(&mut run).random = random;
        run.jobs.push(run.jobs[0].clone());
        for (job, place) in run.jobs.iter_mut().zip(places) {
            job.setup.as_mut().unwrap().places = vec![place];
        }
        run.disks[0].counters.ios[0] *= 2;
        run.disks[0].counters.sectors[0] *= 2;
        ids(&run)
    };
    let whole = |path: &str| [place(path, 0, 1 << 30), place(path, 0, 1 << 30)];
    assert_eq!(shared(false, whole("/mnt/f")), ["streams-overlap"]);
    assert_eq!(shared(false, whole("/dev/sda")), ["streams-overlap"]);
    assert_eq!(shared(true, whole("/mnt/f")), ["jobs-share-file"]);
    // Random I/O of several workers is how a device is measured.
    assert_eq!(shared(true, whole("/dev/sda")), [""; 0]);
    // Parts of their own, or files of their own.
    let parts = [
        place("/mnt/f", 0, 1 << 30),
        place("/mnt/f", 1 << 30, 1 << 30),
    ];
    assert_eq!(shared(false, parts), [""; 0]);
    let files = [place("/mnt/f", 0, 1 << 30), place("/mnt/g", 0, 1 << 30)];
    assert_eq!(shared(false, files), [""; 0]);
}

#[test]
fn the_part_of_a_drive_and_its_state() {
    let on_drive = |ddir: Ddir, length: u64, model: &str| {
        let mut run = clean(ddir);
        run.jobs[0].dirs[ddir].runtime_ms = 60_000;
        let setup = setup(&mut run);
        setup.random = true;
        setup.places = vec![place("/dev/sda", 0, length)];
        let drive = device(&mut run);
        drive.size_bytes = 100 << 30;
        drive.transport = Some("nvme/pcie".into());
        drive.model = Some(model.into());
        drive.queue.rotational = Some(false);
        run
    };
    let mut small = on_drive(Ddir::Read, 1 << 30, "X");
    assert_eq!(ids(&small), ["small-range"]);
    small.jobs[0].dirs[Ddir::Read].runtime_ms = 5000;
    assert_eq!(ids(&small), [""; 0], "a moment measures no drive anyhow");
    assert_eq!(ids(&on_drive(Ddir::Read, 90 << 30, "X")), [""; 0]);
    assert_eq!(
        ids(&on_drive(Ddir::Write, 90 << 30, "X")),
        ["state-unknown"]
    );
    let remote = "Amazon Elastic Block Store";
    assert_eq!(ids(&on_drive(Ddir::Write, 1 << 30, remote)), [""; 0]);
    let mut sequential = on_drive(Ddir::Write, 1 << 30, "X");
    setup(&mut sequential).random = false;
    assert_eq!(ids(&sequential), [""; 0]);
}

/// A stripe of two, with requests and milliseconds of each.
fn stripe(members: [(u64, u64); 2]) -> Run {
    let mut run = clean(Ddir::Read);
    run.disks[0].name = "md0".into();
    run.disks[0].members = members
        .into_iter()
        .enumerate()
        .map(|(at, (ios, ticks))| Disk {
            name: format!("sd{at}"),
            counters: DiskCounters {
                ios: [ios, 0],
                ticks_ms: [ticks, 0],
                busy_ms: ticks.min(10_000),
                elapsed_ms: 10_000,
                ..DiskCounters::default()
            },
            ..Disk::default()
        })
        .collect();
    run
}

#[test]
fn members_that_do_not_work_alike() {
    let finding = judge(&stripe([(10_000, 18_000), (10_000, 1_188_000)]))
        .findings
        .remove(0);
    assert_eq!(finding.id, "closed-loop-skew");
    assert!(
        finding
            .text
            .contains("took 1.8 ms on sd0 and 118.8 ms on sd1 (busy"),
        "{}",
        finding.text
    );
    assert_eq!(
        ids(&stripe([(15_000, 18_000), (5000, 1_188_000)])),
        ["uneven-members"]
    );
    assert_eq!(ids(&stripe([(10_000, 18_000), (10_001, 40_000)])), [""; 0]);
    // A mirror reads as it likes.
    let mut mirror = stripe([(15_000, 18_000), (5000, 9000)]);
    let host = mirror.host.as_mut().unwrap();
    host.devices.push(Device {
        name: "md0".into(),
        raid: Some(Raid {
            level: "raid1".into(),
            ..Raid::default()
        }),
        ..Device::default()
    });
    assert_eq!(ids(&mirror), [""; 0]);
}

#[test]
fn the_device_that_was_meant() {
    let against = |run: &Run, words: &str| {
        let declared: Declared = words.parse().unwrap();
        let findings = judge_against(run, Some(&declared)).findings;
        findings.into_iter().map(|one| one.id).collect::<Vec<_>>()
    };
    let mut run = clean(Ddir::Read);
    device(&mut run).serial = Some("S1".into());
    assert_eq!(against(&run, "device=S1"), [""; 0]);
    assert_eq!(against(&run, "device=/dev/sda"), [""; 0]);
    assert_eq!(against(&run, "device=/dev/sdb"), ["wrong-device"]);
    assert_eq!(against(&run, "device=sda,device=S2"), ["idle-device"]);
    // The mount says otherwise than the statistics.
    let host = run.host.as_mut().unwrap();
    host.targets[0].devices = vec!["sdb".into()];
    assert_eq!(ids(&run), ["wrong-device"]);
    run.host.as_mut().unwrap().targets[0].devices = vec!["sda1".into()];
    run.host.as_mut().unwrap().devices.push(Device {
        name: "sda1".into(),
        disk: Some("sda".into()),
        ..Device::default()
    });
    assert_eq!(ids(&run), [""; 0], "a partition of the disk");
}

#[test]
fn directories_that_wait_for_a_mount() {
    let mut run = clean(Ddir::Read);
    let target = &mut run.host.as_mut().unwrap().targets[0];
    target.path = "/mnt/fast/file".into();
    target.mount_point = Some("/".into());
    let finding = judge(&run).findings.remove(0);
    assert_eq!(finding.id, "not-mounted");
    assert!(finding.text.contains("at /mnt/fast,"), "{}", finding.text);
    let target = &mut run.host.as_mut().unwrap().targets[0];
    target.path = "/srv/file".into();
    assert_eq!(ids(&run), [""; 0]);
    let target = &mut run.host.as_mut().unwrap().targets[0];
    target.not_mounted = Some("/srv".into());
    assert_eq!(ids(&run), ["not-mounted"]);
}

#[test]
fn kernel_threads_interrupts_submission_and_the_tool_itself() {
    let mut run = clean(Ddir::Write);
    run.jobs[0].usage.system_us = 1_000_000;
    run.jobs[0].punts = Punts {
        threads: 4,
        cpu_us: 3_000_000,
    };
    let finding = judge(&run).findings.remove(0);
    assert_eq!(finding.id, "uring-punted");
    assert!(
        finding.text.contains("4 kernel threads"),
        "{}",
        finding.text
    );
    run.jobs[0].punts.cpu_us = 9000;
    assert_eq!(ids(&run), [""; 0]);
    run.interrupts = Some(Interrupts {
        cpu: 3,
        percent: 70.0,
        busy_percent: 99.0,
    });
    assert_eq!(ids(&run), ["interrupt-bound"]);
    run.interrupts.as_mut().unwrap().busy_percent = 80.0;
    assert_eq!(ids(&run), [""; 0]);
    // 20,000 I/Os of 480 us each fill ten seconds, and completing them takes no time.
    let dir = &mut run.jobs[0].dirs[Ddir::Write];
    dir.slat.moments.add(480_000, IOS);
    assert_eq!(ids(&run), ["submission-bound"]);
    run.jobs[0].dirs[Ddir::Write]
        .clat
        .moments
        .add(9_000_000, IOS);
    assert_eq!(
        ids(&run),
        [""; 0],
        "what waits in the queue is not submission"
    );
    let mut run = clean(Ddir::Read);
    run.self_check = Some(SelfCheck {
        queued_ns: 200.0,
        ..SelfCheck::default()
    });
    assert_eq!(ids(&run), [""; 0]);
    run.self_check.as_mut().unwrap().queued_ns = 200_000.0;
    assert_eq!(ids(&run), ["tool-overhead"]);
}

#[test]
fn what_waited_for_a_cpu_is_not_the_devices_tail() {
    let mut run = clean(Ddir::Read);
    let clat = &mut run.jobs[0].dirs[Ddir::Read].clat;
    clat.histogram.as_mut().unwrap().add(100_000_000, 100);
    clat.moments.add(1_500_000_000, 1);
    assert_eq!(ids(&run), ["stall", "long-tail"]);
    run.interrupts = Some(Interrupts {
        cpu: 0,
        percent: 1.0,
        busy_percent: 100.0,
    });
    assert_eq!(ids(&run), [""; 0]);
    // Where the job itself keeps the CPU busy, it is its own.
    run.jobs[0].usage.system_us = 8_000_000;
    assert_eq!(ids(&run), ["stall", "long-tail"]);
}

#[test]
fn full_file_systems_and_names_that_mislead() {
    let mut run = clean(Ddir::Write);
    run.jobs[0].failure = Some(Failure {
        errno: 28,
        ..Failure::default()
    });
    assert_eq!(ids(&run), ["file-system-full"]);
    run.jobs[0].failure.as_mut().unwrap().errno = 5;
    assert_eq!(ids(&run), ["partial-run"]);
    for (name, random, ddir, misleads) in [
        ("seq-write", true, Ddir::Write, true),
        ("randread-4k", false, Ddir::Read, true),
        ("write", true, Ddir::Read, true),
        ("4jobs", true, Ddir::Read, true),
        ("seq-write", false, Ddir::Write, false),
        ("randread-4k", true, Ddir::Read, false),
        ("thread", true, Ddir::Write, false),
        ("read-write", true, Ddir::Write, false),
        ("fio_test_file", true, Ddir::Write, false),
    ] {
        let mut run = clean(ddir);
        run.jobs[0].name = name.into();
        setup(&mut run).random = random;
        let expected: &[&str] = if misleads { &["name-misleads"] } else { &[] };
        assert_eq!(ids(&run), expected, "{name}");
    }
}

#[test]
fn writes_of_a_mix_that_memory_took() {
    let mut run = clean(Ddir::Read);
    setup(&mut run).direct = false;
    let dir = run.jobs[0].dirs[Ddir::Read].clone();
    run.jobs[0].dirs[Ddir::Write] = dir;
    assert_eq!(ids(&run), ["buffered-mix"]);
    run.disks[0].counters.sectors[1] = run.disks[0].counters.sectors[0];
    assert_eq!(ids(&run), [""; 0]);
}

#[test]
fn bursts_are_told_only_when_they_are_used() {
    let against = |block: u64| {
        let mut run = clean(Ddir::Read);
        run.jobs[0].dirs[Ddir::Read].bytes = IOS * block;
        run.disks[0].counters.sectors[0] = IOS * block / 512;
        let declared: Declared = "type=gp2,gib=100".parse().unwrap();
        let findings = judge_against(&run, Some(&declared)).findings;
        findings.into_iter().map(|one| one.id).collect::<Vec<_>>()
    };
    // 2,000 I/Os a second where 300 can be sustained.
    assert_eq!(against(4096), ["burst-credit"]);
    let mut run = clean(Ddir::Read);
    run.jobs[0].dirs[Ddir::Read].runtime_ms = 100_000;
    let declared: Declared = "type=gp2,gib=100".parse().unwrap();
    assert!(judge_against(&run, Some(&declared)).findings.is_empty());
}

#[test]
fn an_import_is_judged_by_its_options() {
    let mut run = clean(Ddir::Read);
    run.jobs[0].setup = None;
    run.jobs[0].members = 4;
    run.source = Some(Box::new(Source {
        format: "fio-json".into(),
        ..Source::default()
    }));
    let options = |words: &[(&str, &str)]| {
        words
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    };
    run.jobs[0].options = options(&[("rw", "randread"), ("direct", "1"), ("ioengine", "libaio")]);
    assert_eq!(ids(&run), [""; 0]);
    run.global_options = options(&[("ioengine", "psync"), ("iodepth", "8")]);
    assert_eq!(ids(&run), [""; 0], "the job's own engine counts");
    run.jobs[0].options = options(&[("rw", "randread"), ("direct", "1")]);
    assert_eq!(ids(&run), ["depth-without-queue"]);
    // A count of requests without sectors: too few of them is what the device did not do.
    run.global_options.clear();
    run.disks[0].counters.sectors = [0; 2];
    assert_eq!(ids(&run), [""; 0]);
    run.disks[0].counters.ios[0] /= 2;
    assert_eq!(ids(&run), ["reads-without-device"]);
}
