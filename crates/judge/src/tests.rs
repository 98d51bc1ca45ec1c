//! Each rule on a document that holds its evidence, and all rules on a clean one.

use super::*;

mod rules;
use measure::{DepthMap, Histogram};
use result::host::{self, Device, DeviceKind, Ebs, FileSystem, Geometry, Pci, Raid, Smart};
use result::{Disk, DiskCounters, Host, Job, Setup, Severity};
use units::Ddir;

const IOS: u64 = 20_000;
const BLOCK: u64 = 4096;

/// Ten seconds of random 4 KiB I/O at a depth of 16, all of which the disk did.
fn clean(ddir: Ddir) -> Run {
    let mut job = Job {
        name: "job".into(),
        members: 1,
        runtime_ms: 10_000,
        setup: Some(Setup {
            engine: "io_uring".into(),
            direct: true,
            on_disk: true,
            iodepth: 16,
            ..Setup::default()
        }),
        depth: DepthMap([0, 0, 0, 0, IOS, 0, 0]),
        ..Job::default()
    };
    let dir = &mut job.dirs[ddir];
    dir.ios = IOS;
    dir.issued = IOS;
    dir.bytes = IOS * BLOCK;
    dir.runtime_ms = 10_000;
    dir.clat.moments.add(200_000, IOS);
    let mut histogram = Histogram::default();
    histogram.add(200_000, IOS);
    dir.clat.histogram = Some(histogram);
    let at = usize::from(ddir == Ddir::Write);
    let mut counters = DiskCounters::default();
    counters.ios[at] = IOS;
    counters.sectors[at] = IOS * BLOCK / 512;
    let target = host::Target {
        path: "/mnt/file".into(),
        kind: "file".into(),
        mount_point: Some("/mnt".into()),
        fs_type: Some("ext4".into()),
        size_bytes: Some(1 << 30),
        data_bytes: Some(1 << 30),
        ..host::Target::default()
    };
    Run {
        jobs: vec![job],
        disks: vec![Disk {
            name: "sda".into(),
            counters,
            ..Disk::default()
        }],
        host: Some(Host {
            targets: vec![target],
            devices: vec![Device {
                name: "sda".into(),
                ..Device::default()
            }],
            file_systems: vec![FileSystem::default()],
            ..Host::default()
        }),
        ..Run::default()
    }
}

fn ids(run: &Run) -> Vec<String> {
    judge(run).findings.into_iter().map(|one| one.id).collect()
}

fn setup(run: &mut Run) -> &mut Setup {
    run.jobs[0].setup.as_mut().unwrap()
}

fn device(run: &mut Run) -> &mut Device {
    &mut run.host.as_mut().unwrap().devices[0]
}

#[test]
fn clean_runs_and_empty_documents_say_nothing() {
    assert_eq!(ids(&clean(Ddir::Read)), [""; 0]);
    assert_eq!(ids(&clean(Ddir::Write)), [""; 0]);
    assert_eq!(ids(&Run::default()), [""; 0]);
    let io = judge(&clean(Ddir::Read)).device_io.unwrap();
    assert_eq!(io.device_ios, [IOS, 0]);
    assert!((io.device_iops(0) - 2000.0).abs() < 1e-9);
}

#[test]
fn holes_are_told_with_the_devices_own_rate() {
    let mut run = clean(Ddir::Read);
    // The figures of a run of 180 s over files with holes: 104,651,512 reads issued, of which
    // the drive did 74,211,417.
    run.jobs[0].dirs[Ddir::Read].ios = 104_651_512;
    run.jobs[0].dirs[Ddir::Read].bytes = 104_651_512 * BLOCK;
    run.jobs[0].dirs[Ddir::Read].runtime_ms = 180_003;
    run.disks[0].counters.ios[0] = 74_211_417;
    run.disks[0].counters.sectors[0] = 74_211_417 * 8;
    run.host.as_mut().unwrap().targets[0].data_bytes = Some(761 << 20);
    let finding = judge(&run).findings.remove(0);
    assert_eq!(
        (finding.id.as_str(), finding.severity),
        ("holes-read", Severity::Invalid)
    );
    assert!(
        finding.text.starts_with("29.1 % of the reads"),
        "{}",
        finding.text
    );
    assert!(
        finding.text.contains("412,279 reads/s of the 581,387 IOPS"),
        "{}",
        finding.text
    );
    run.host.as_mut().unwrap().targets[0].data_bytes = Some(1 << 30);
    assert_eq!(ids(&run), ["reads-without-device"]);
    setup(&mut run).direct = false;
    assert_eq!(ids(&run), ["page-cache-read"]);
}

#[test]
fn a_cached_read_is_not_called_cpu_bound_too() {
    let mut run = clean(Ddir::Read);
    run.jobs[0].usage.system_us = 9_900_000;
    assert_eq!(ids(&run), ["cpu-bound"]);
    run.disks[0].counters.sectors[0] = 0;
    setup(&mut run).direct = false;
    assert_eq!(ids(&run), ["page-cache-read"]);
    let mut run = clean(Ddir::Read);
    run.jobs[0].usage.user_us = 9_400_000;
    assert_eq!(ids(&run), [""; 0]);
}

#[test]
fn depths_that_were_not_reached() {
    let mut run = clean(Ddir::Read);
    run.jobs[0].depth = DepthMap([IOS, 0, 0, 0, 0, 0, 0]);
    assert_eq!(ids(&run), ["depth-not-reached"]);
    setup(&mut run).paced = true;
    assert_eq!(ids(&run), [""; 0]);
    setup(&mut run).paced = false;
    setup(&mut run).sync = true;
    let finding = judge(&run).findings.remove(0);
    assert_eq!(finding.id, "depth-without-queue");
    assert!(
        finding.text.contains("iodepth=16 has no effect"),
        "{}",
        finding.text
    );
    setup(&mut run).iodepth = 1;
    assert_eq!(ids(&run), [""; 0]);
    // Half of a depth of 16 is 8: a queue that is that full is no finding.
    let mut run = clean(Ddir::Read);
    run.jobs[0].depth = DepthMap([0, 0, 0, IOS, 0, 0, 0]);
    assert_eq!(ids(&run), [""; 0]);
}

#[test]
fn devices_that_do_more_or_less_than_asked() {
    let mut run = clean(Ddir::Write);
    run.disks[0].counters.sectors[1] *= 2;
    assert_eq!(ids(&run), ["write-amplification"]);
    run.disks[0].counters.sectors[1] /= 4;
    assert_eq!(ids(&run), ["page-cache-write"]);
    let mut run = clean(Ddir::Read);
    run.disks[0].counters.sectors[0] *= 2;
    assert_eq!(ids(&run), ["excess-reads"]);
    run.disks[0].counters.sectors[0] /= 2;
    run.disks[0].counters.sectors[1] = 1 << 20;
    assert_eq!(ids(&run), ["foreign-io"]);
    // What every system does besides is not worth a word; many small requests are.
    run.disks[0].counters.sectors[1] = (8 << 20) / 512;
    run.disks[0].counters.ios[1] = 100;
    assert_eq!(ids(&run), [""; 0]);
    run.disks[0].counters.ios[1] = run.disks[0].counters.ios[0] / 4;
    assert_eq!(ids(&run), ["foreign-io"]);
    // With a warm-up the two cannot be compared.
    setup(&mut run).warms_up = true;
    assert_eq!(ids(&run), [""; 0]);
    assert!(judge(&run).device_io.is_none());
}

#[test]
fn places_that_are_no_disk() {
    for (kind, id) in [
        ("tmpfs", "target-in-memory"),
        ("nfs4", "target-on-network"),
        ("overlay", "target-on-overlay"),
    ] {
        let mut run = clean(Ddir::Read);
        run.host.as_mut().unwrap().targets[0].fs_type = Some(kind.into());
        run.jobs[0].usage.system_us = 10_000_000;
        assert_eq!(ids(&run), [id]);
    }
}

#[test]
fn zeroes_short_and_partial_runs_and_mixes() {
    let mut run = clean(Ddir::Write);
    setup(&mut run).zero_buffers = true;
    assert_eq!(judge(&run).findings[0].severity, Severity::Warning);
    device(&mut run).kind = DeviceKind::Zram;
    run.jobs[0].usage.system_us = 10_000_000;
    let judgement = judge(&run);
    assert_eq!(judgement.findings.len(), 1);
    assert_eq!(judgement.findings[0].severity, Severity::Invalid);
    let mut run = clean(Ddir::Read);
    setup(&mut run).zero_buffers = true;
    assert_eq!(ids(&run), [""; 0], "nothing was written");
    run.jobs[0].runtime_ms = 1100;
    assert_eq!(ids(&run), [""; 0]);
    run.jobs[0].runtime_ms = 900;
    assert_eq!(ids(&run), ["short-run"]);
    run.partial = true;
    assert_eq!(ids(&run), ["partial-run", "short-run"], "the graver first");
    let mut run = clean(Ddir::Read);
    run.global_options = vec![("rwmixread".into(), "66.66".into())];
    assert_eq!(ids(&run), ["mix-not-whole"]);
    run.global_options = vec![("rwmixread".into(), "66".into())];
    assert_eq!(ids(&run), [""; 0]);
}

#[test]
fn tails_and_stalls() {
    let mut run = clean(Ddir::Read);
    let clat = &mut run.jobs[0].dirs[Ddir::Read].clat;
    clat.histogram.as_mut().unwrap().add(100_000_000, 100);
    assert_eq!(ids(&run), ["long-tail"]);
    let mut run = clean(Ddir::Read);
    run.jobs[0].dirs[Ddir::Read]
        .clat
        .moments
        .add(1_500_000_000, 1);
    let finding = judge(&run).findings.remove(0);
    assert_eq!(finding.id, "stall");
    assert!(finding.text.contains("took 1.50 s"), "{}", finding.text);
}

#[test]
fn the_state_of_the_hardware() {
    let mut run = clean(Ddir::Read);
    let link = |speed: &str, width| Pci {
        link_speed: Some(speed.into()),
        link_width: Some(width),
        max_link_speed: Some("16.0 GT/s PCIe".into()),
        max_link_width: Some(4),
        ..Pci::default()
    };
    device(&mut run).pci = Some(link("16.0 GT/s PCIe", 4));
    assert_eq!(ids(&run), [""; 0]);
    for slow in [link("8.0 GT/s PCIe", 4), link("16.0 GT/s PCIe", 2)] {
        device(&mut run).pci = Some(slow);
        assert_eq!(ids(&run), ["slow-link"]);
    }
    let mut run = clean(Ddir::Read);
    device(&mut run).raid = Some(Raid {
        degraded: Some(1),
        sync_action: Some("recover".into()),
        ..Raid::default()
    });
    assert_eq!(ids(&run), ["array-degraded", "array-busy"]);
    device(&mut run).raid = Some(Raid {
        degraded: Some(0),
        sync_action: Some("idle".into()),
        ..Raid::default()
    });
    assert_eq!(ids(&run), [""; 0]);
    let mut run = clean(Ddir::Read);
    device(&mut run).smart = Some(Smart::default());
    device(&mut run).smart_after = Some(Smart::default());
    assert_eq!(ids(&run), [""; 0]);
    device(&mut run).smart_after = Some(Smart {
        throttle_seconds: [3, 0],
        ..Smart::default()
    });
    assert_eq!(ids(&run), ["thermal-throttle"]);
}

#[test]
fn stripes_and_volumes() {
    let mut run = clean(Ddir::Read);
    let mut geometry = Geometry {
        stripe_unit_bytes: Some(65_536),
        stripe_width_bytes: Some(131_072),
        device_chunk_bytes: Some(65_536),
        device_stripe_bytes: Some(131_072),
        ..Geometry::default()
    };
    run.host.as_mut().unwrap().file_systems[0].geometry = Some(geometry.clone());
    assert_eq!(ids(&run), [""; 0]);
    geometry.stripe_unit_bytes = Some(0);
    run.host.as_mut().unwrap().file_systems[0].geometry = Some(geometry);
    assert_eq!(ids(&run), ["stripe-mismatch"]);
    let mut run = clean(Ddir::Read);
    device(&mut run).ebs = Some(Ebs::default());
    device(&mut run).ebs_after = Some(Ebs {
        instance_throughput_exceeded_us: 9_000_000,
        ..Ebs::default()
    });
    let finding = judge(&run).findings.remove(0);
    assert_eq!(finding.id, "ebs-limit");
    assert!(
        finding.text.contains("the instance's EBS throughput"),
        "{}",
        finding.text
    );
    assert!(finding.text.contains("9.0 s"), "{}", finding.text);
}
