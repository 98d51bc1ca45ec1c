//! Published measurements against the model: each must meet its limit within the stated share.

use super::*;

/// Declaration, block size, share of reads, measured bytes per second, percent of the limit,
/// and words of the verdict.
type Row = (&'static str, u64, f64, f64, f64, &'static str);

const KIB: f64 = 1024.0;

const ROWS: [Row; 15] = [
    // Six striped io1 volumes of 2,500 IOPS: what binds is the instance.
    (
        "type=io1,gib=100,iops=2500,count=6,instance=m5d.4xlarge",
        65_536,
        0.0,
        586_774.0 * KIB,
        101.2,
        "bound by m5d.4xlarge EBS limit, 593.75 MB/s",
    ),
    (
        "type=io1,gib=100,iops=2500,count=6,instance=m5d.4xlarge",
        4 << 20,
        0.0,
        594_255.0 * KIB,
        102.5,
        "bound by m5d.4xlarge EBS limit, 593.75 MB/s",
    ),
    // A volume of 32,000 IOPS on an instance that allows 13,333.
    (
        "type=io1,gib=640,iops=32000,instance=z1d.2xlarge",
        8192,
        0.0,
        13_900.0 * 8192.0,
        104.3,
        "bound by z1d.2xlarge EBS limit, 13,333 IOPS",
    ),
    (
        "type=io1,gib=640,iops=32000,instance=z1d.2xlarge",
        1 << 20,
        0.0,
        379.0 * MIB,
        100.3,
        "bound by z1d.2xlarge EBS limit, 396.25 MB/s",
    ),
    // One volume: I/Os bind at 32 KiB, bytes from 128 KiB on.
    (
        "type=io1,gib=300,iops=15000",
        32_768,
        0.0,
        15_244.0 * 32_768.0,
        101.6,
        "15,000 IOPS",
    ),
    (
        "type=io1,gib=300,iops=15000",
        131_072,
        0.0,
        521_180.0 * KIB,
        101.8,
        "524.29 MB/s",
    ),
    (
        "type=io1,gib=300,iops=15000",
        262_144,
        0.0,
        520_893.0 * KIB,
        101.7,
        "524.29 MB/s",
    ),
    (
        "type=io1,gib=100,iops=5000",
        32_768,
        0.0,
        161_869.0 * KIB,
        101.2,
        "5,000 IOPS",
    ),
    // Small gp2 volumes: 128 MiB/s, and 3,000 IOPS while credits last.
    (
        "type=gp2,gib=100",
        65_536,
        0.0,
        131_901.0 * KIB,
        100.6,
        "bound by gp2 volume, 134.22 MB/s",
    ),
    (
        "type=gp2,gib=10",
        8192,
        0.0,
        3162.0 * 8192.0,
        105.4,
        "slightly above gp2 volume, 3,000 IOPS",
    ),
    // Four disks earn for one machine.
    (
        "type=pd-ssd,gib=1100",
        4096,
        1.0,
        38_900.0 * 4096.0,
        99.7,
        "bound by machine's pd-ssd limit (shared by its disks), 39,000 IOPS",
    ),
    (
        "type=pd-ssd,gib=1100",
        1 << 20,
        1.0,
        768.0 * MIB,
        100.0,
        "bound by machine's pd-ssd limit (shared by its disks), 805.31 MB/s",
    ),
    // Local drives: alone, striped, and eight of them.
    (
        "type=instance-store,instance=m5d.4xlarge",
        65_536,
        0.0,
        255_118.0 * KIB,
        97.6,
        "bound by",
    ),
    (
        "type=instance-store,instance=m5d.4xlarge,count=2",
        4 << 20,
        0.0,
        524_611.0 * KIB,
        100.3,
        "bound by m5d.4xlarge 2 local drives, 535.41 MB/s",
    ),
    (
        "type=instance-store,instance=i3en.24xlarge,count=8",
        65_536,
        0.0,
        7_380_957.0 * KIB,
        92.2,
        "near i3en.24xlarge 8 local drives",
    ),
];

#[test]
fn published_measurements_meet_their_limits() {
    for (text, block_bytes, read_share, rate, percent, words) in ROWS {
        let declared: Declared = text.parse().unwrap();
        let limits = limits(
            &declared,
            &Workload {
                block_bytes,
                read_share,
            },
        );
        let (_, allowed) = binding(&limits, block_bytes).unwrap();
        let iops = rate / block_bytes as f64;
        let share = 100.0 * iops / allowed.iops;
        assert!(
            (share - percent).abs() < 0.06,
            "{text} at {block_bytes}: {share:.2} %"
        );
        let measured = Measured {
            block_bytes,
            iops,
            ..Measured::default()
        };
        let verdict = verdict(&limits, &measured).unwrap();
        assert!(
            verdict.contains(words),
            "{text} at {block_bytes}: {verdict}"
        );
    }
}

#[test]
fn a_drive_of_an_instance_reads_as_measured() {
    let declared: Declared = "type=instance-store,instance=i3.4xlarge".parse().unwrap();
    let work = Workload {
        block_bytes: 4096,
        read_share: 1.0,
    };
    let (_, allowed) = binding(&limits(&declared, &work), 4096)
        .map(|(l, a)| (l.clone(), a))
        .unwrap();
    // What was left of 581,387 IOPS after reads of holes had been taken off.
    assert!((100.0 * 412_279.0 / allowed.iops - 100.3).abs() < 0.06);
}

#[test]
fn bursts_last_as_long_as_their_credits() {
    let work = Workload {
        block_bytes: 4096,
        read_share: 0.0,
    };
    for (gib, minutes, base) in [
        (10, "31 min", "100"),
        (100, "33 min", "300"),
        (500, "60 min", "1500"),
    ] {
        let declared: Declared = format!("type=gp2,gib={gib}").parse().unwrap();
        let limit = &limits(&declared, &work)[0];
        let words = limit.while_it_lasts.as_deref().unwrap();
        assert!(
            words.contains(minutes) && words.contains(&format!("then {base} IOPS")),
            "{words}"
        );
    }
    let large: Declared = "type=gp2,gib=2000".parse().unwrap();
    assert_eq!(limits(&large, &work)[0].while_it_lasts, None);
}

#[test]
fn large_ios_are_split_and_too_little_depth_is_told() {
    let limit = Limit {
        iops: Some(1000.0),
        io_unit_bytes: Some(256 << 10),
        name: "x".into(),
        ..Limit::default()
    };
    assert_eq!(limit.allows(4096).unwrap().iops, 1000.0);
    assert_eq!(limit.allows(1 << 20).unwrap().iops, 250.0);
    assert_eq!(Limit::default().allows(4096), None);
    let measured = Measured {
        block_bytes: 4096,
        iops: 610.0,
        depth: 1,
        latency_ns: 1_640_000.0,
    };
    let text = verdict(std::slice::from_ref(&limit), &measured).unwrap();
    let expected = "below every known limit (61 % of x, 1,000 IOPS): queue depth 1 x 1.64 ms \
                    allows 610 IOPS; a depth of 2 would be needed";
    assert_eq!(text, expected);
    let fast = Measured {
        iops: 2000.0,
        ..measured
    };
    assert!(
        verdict(&[limit], &fast)
            .unwrap()
            .starts_with("faster than what was declared")
    );
    assert_eq!(verdict(&[], &measured), None);
}

#[test]
fn links_by_generation_and_width() {
    let pci = |speed: &str, width| Pci {
        link_speed: Some(speed.into()),
        link_width: width,
        ..Pci::default()
    };
    let limit = link("nvme0n1", &pci("8.0 GT/s PCIe", Some(4))).unwrap();
    assert!((limit.bytes_per_s.unwrap() - 3.4278e9).abs() < 1e6);
    assert_eq!(limit.name, "nvme0n1 PCI link x4");
    assert_eq!(link("x", &pci("7.0 GT/s PCIe", Some(4))), None);
    assert_eq!(link("x", &pci("8.0 GT/s PCIe", None)), None);
}

#[test]
fn what_is_declared_wrongly_is_named() {
    for (text, words) in [
        ("", "none of type=, instance= and device="),
        ("io1", "`io1`: expected key=value"),
        ("type=io9,gib=1", "type=io9 is none of gp2"),
        ("type=io1,gib=300", "needs iops="),
        ("type=gp2", "needs gib="),
        ("type=gp2,gib=-1", "gib=-1: expected a number above 0"),
        ("type=gp2,size=1", "`size` is none of type, gib"),
        ("type=instance-store", "needs instance="),
        (
            "instance=m5d.99xlarge",
            "instance=m5d.99xlarge: not in data/instances.toml, which knows m5d.large, ",
        ),
        ("instance=q9.large", "which knows sizes of c5, c5d,"),
        (
            "type=gp2,gib=1,instance=i4i.large",
            "instance=i4i.large: data/instances.toml does not know its limit for gp2",
        ),
        ("instance=i4i.large", "does not know its limit for volumes"),
        (
            "type=instance-store,instance=m5.large",
            "does not know its local drives",
        ),
        (
            "type=gp2,gib=1,instance=n2-standard-8",
            "does not know its limit for gp2",
        ),
        ("instance=n2-standard-9", "which knows n2-standard-2,"),
    ] {
        let error = text.parse::<Declared>().unwrap_err().to_string();
        assert!(error.contains(words), "{text}: {error}");
    }
    let declared: Declared = "instance=m5d.4xlarge".parse().unwrap();
    let work = Workload {
        block_bytes: 4096,
        read_share: 1.0,
    };
    assert_eq!(limits(&declared, &work)[0].name, "m5d.4xlarge EBS limit");
}

#[test]
fn machines_hold_back_their_disks() {
    let work = |block_bytes| Workload {
        block_bytes,
        read_share: 1.0,
    };
    for (text, block_bytes, name, iops) in [
        // Three disks earn 768 MiB/s for their machine; one of 4 CPUs gives 240 of them.
        (
            "type=pd-ssd,gib=1100,instance=n2-standard-4",
            1 << 20,
            "n2-standard-4 limit for all its pd-ssd disks",
            240.0,
        ),
        (
            "type=pd-ssd,gib=1100,instance=n2-standard-8",
            1 << 20,
            "machine's pd-ssd limit (shared by its disks)",
            768.0,
        ),
        (
            "type=premium-p60,instance=Standard_D8s_v3",
            4096,
            "Standard_D8s_v3 limit for all its azure disks",
            12_800.0,
        ),
    ] {
        let declared: Declared = text.parse().unwrap();
        let found = limits(&declared, &work(block_bytes));
        let (limit, allowed) = binding(&found, block_bytes).unwrap();
        assert_eq!(limit.name, name);
        assert!((allowed.iops - iops).abs() < 1e-6, "{text}: {allowed:?}");
    }
}

#[test]
fn drives_behind_a_controller_are_judged_by_their_own_link() {
    use result::host::Device;
    let host = Host {
        devices: vec![Device {
            name: "sda".into(),
            transport: Some("sata".into()),
            pci: Some(Pci {
                link_speed: Some("16.0 GT/s PCIe".into()),
                link_width: Some(8),
                ..Pci::default()
            }),
            ..Device::default()
        }],
        ..Host::default()
    };
    let work = Workload {
        block_bytes: 4096,
        read_share: 1.0,
    };
    let found = of_host(&host, &work);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].name, "sda SATA link, 6 Gb/s at most");
    assert_eq!(found[0].bytes_per_s, Some(0.55e9));
}

#[test]
fn what_the_machine_tells_itself() {
    use result::host::{Device, DeviceLimit, Limits};
    let disk = |name: &str, number: &str| Device {
        name: name.into(),
        number: number.into(),
        pci: Some(Pci {
            link_speed: Some("8.0 GT/s PCIe".into()),
            link_width: Some(4),
            ..Pci::default()
        }),
        ..Device::default()
    };
    let mut host = Host {
        devices: vec![disk("a", "8:0"), disk("b", "8:16")],
        limits: Some(Limits {
            devices: vec![DeviceLimit {
                number: "8:0".into(),
                read_iops: Some(1000),
                write_iops: Some(500),
                read_bytes_per_s: Some(10_000_000),
                ..DeviceLimit::default()
            }],
            ..Limits::default()
        }),
        ..Host::default()
    };
    let work = |read_share| Workload {
        block_bytes: 4096,
        read_share,
    };
    let found = of_host(&host, &work(0.5));
    assert_eq!(found[0].name, "links of 2 disks");
    assert!((found[0].bytes_per_s.unwrap() - 6.8556e9).abs() < 1e6);
    assert!((found[1].iops.unwrap() - 1.0 / (0.5 / 1000.0 + 0.5 / 500.0)).abs() < 1e-6);
    assert!((found[1].bytes_per_s.unwrap() - 20_000_000.0).abs() < 1e-6);
    let (limit, allowed) = binding(&found, 65_536).unwrap();
    assert_eq!(limit.name, "control group's throttle of a");
    assert!(allowed.by_bytes);
    let writes = of_host(&host, &work(0.0));
    assert_eq!((writes[1].iops, writes[1].bytes_per_s), (Some(500.0), None));
    // A disk with an unknown link makes the sum of links unknown.
    host.devices[1].pci = None;
    assert_eq!(of_host(&host, &work(0.0)).len(), 1);
}
