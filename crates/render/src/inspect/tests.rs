//! The tree of a striped machine, line by line.

use super::*;
use result::host::{
    Cpu, DeviceKind, Geometry, LoopFile, Memory, Pci, Queue, Raid, RaidMember, Signature,
    SignatureKind, Target,
};

/// Two drives in a stripe with xfs on it, and a loop device on that.
fn picture() -> Host {
    let drive = |name: &str, serial: &str, speed: &str| Device {
        name: name.into(),
        size_bytes: 300 << 30,
        serial: Some(serial.into()),
        model: Some("Example NVMe".into()),
        transport: Some("nvme/pcie".into()),
        logical_block_bytes: 512,
        physical_block_bytes: 4096,
        queue: Queue {
            scheduler: Some("none".into()),
            schedulers: vec!["none".into(), "kyber".into()],
            requests: Some(1023),
            rotational: Some(false),
            ..Queue::default()
        },
        pci: Some(Pci {
            address: "0000:3b:00.0".into(),
            link_speed: Some(speed.into()),
            link_width: Some(4),
            max_link_speed: Some("8.0 GT/s PCIe".into()),
            max_link_width: Some(4),
        }),
        probed: true,
        signatures: vec![Signature {
            kind: SignatureKind::Raid,
            name: "md".into(),
            ..Signature::default()
        }],
        ..Device::default()
    };
    let array = Device {
        name: "md0".into(),
        kind: DeviceKind::Md,
        size_bytes: 600 << 30,
        members: vec!["nvme0n1".into(), "nvme1n1".into()],
        raid: Some(Raid {
            level: "raid0".into(),
            chunk_bytes: Some(64 << 10),
            disks: Some(2),
            members: vec![RaidMember {
                name: "nvme0n1".into(),
                slot: Some(0),
                state: Some("in_sync".into()),
                errors: None,
            }],
            ..Raid::default()
        }),
        ..Device::default()
    };
    let image = Device {
        name: "loop0".into(),
        kind: DeviceKind::Loop,
        size_bytes: 1 << 20,
        swap: true,
        backing: Some(LoopFile {
            path: "/mnt/image".into(),
            devices: vec!["md0".into()],
            ..LoopFile::default()
        }),
        ..Device::default()
    };
    Host {
        hostname: "box".into(),
        kernel: "6.1.0".into(),
        architecture: "x86_64".into(),
        cpu: Cpu {
            threads: 2,
            ..Cpu::default()
        },
        memory: Memory {
            total_bytes: 8 << 30,
            ..Memory::default()
        },
        targets: vec![Target {
            path: "/mnt".into(),
            kind: "directory".into(),
            mount_point: Some("/mnt".into()),
            fs_type: Some("xfs".into()),
            devices: vec!["md0".into()],
            ..Target::default()
        }],
        file_systems: vec![FileSystem {
            fs_type: "xfs".into(),
            source: "/dev/md0".into(),
            mount_points: vec!["/mnt".into()],
            options: vec!["rw".into(), "noquota".into()],
            devices: vec!["md0".into()],
            total_bytes: Some(600 << 30),
            available_bytes: Some(1 << 30),
            geometry: Some(Geometry {
                stripe_unit_bytes: Some(0),
                stripe_width_bytes: Some(0),
                device_chunk_bytes: Some(64 << 10),
                device_stripe_bytes: Some(128 << 10),
                ..Geometry::default()
            }),
            ..FileSystem::default()
        }],
        devices: vec![
            drive("nvme0n1", "AAA", "8.0 GT/s PCIe"),
            drive("nvme1n1", "BBB", "2.5 GT/s PCIe"),
            array,
            image,
        ],
        ..Host::default()
    }
}

#[test]
fn the_tree_stands_on_its_disks() {
    let text = inspect(&picture());
    let expected = "\
host      box, Linux 6.1.0 x86_64
cpu       2 threads
memory    8192MiB, 0 NUMA nodes

/mnt      directory, xfs at /mnt, on md0

nvme0n1  disk, 300GiB, nvme/pcie, Example NVMe
|    identity  serial AAA
|    blocks    logical 512 B, physical 4096 B
|    queue     scheduler none (or kyber), 1023 requests
|    medium    not rotational, no discard
|    pci       0000:3b:00.0, link 8.0 GT/s PCIe x4, the device's best
|    content   md RAID member
`- md0  md array raid0, 600GiB
   |    blocks    logical 0 B, physical 0 B
   |    medium    no discard
   |    array     chunk 64.0KiB, 2 disks, nvme0n1
   |- xfs at /mnt
   |       space     1024MiB free of 600GiB
   |       options   rw,noquota
   |       geometry  no stripes, NOT as the device: chunk 64.0KiB, full stripe 128KiB
   `- loop0  loop device, 1024KiB, IN USE AS SWAP
           file      /mnt/image
           blocks    logical 0 B, physical 0 B
           medium    no discard

nvme1n1  disk, 300GiB, nvme/pcie, Example NVMe
|    identity  serial BBB
|    blocks    logical 512 B, physical 4096 B
|    queue     scheduler none (or kyber), 1023 requests
|    medium    not rotational, no discard
|    pci       0000:3b:00.0, link 2.5 GT/s PCIe x4, SLOWER THAN IT COULD BE: 8.0 GT/s PCIe x4
|    content   md RAID member
`- md0 md array, see nvme0n1
";
    assert_eq!(text, expected, "\n{text}");
}

#[test]
fn an_empty_picture_is_no_error() {
    assert!(inspect(&Host::default()).contains("host"));
}
