//! Captured trees stand in for machines: a line is a file with its text, or a link.

use super::*;
use crate::Root;
use result::host::Pci;
use std::fs;

fn unpack(text: &str) -> (tempfile::TempDir, Facts) {
    let dir = tempfile::tempdir().unwrap();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (path, content, link) = match line.split_once(" -> ") {
            Some((path, target)) => (path, target, true),
            None => {
                let (path, content) = line.split_once(" = ").unwrap();
                (path, content, false)
            }
        };
        let at = dir.path().join(path);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        if link {
            std::os::unix::fs::symlink(content, at).unwrap();
        } else {
            let content = content.replace("\\n", "\n").replace("\\t", "\t");
            fs::write(at, format!("{content}\n")).unwrap();
        }
    }
    let facts = Facts::read(&Root::at(dir.path())).unwrap();
    (dir, facts)
}

fn ec2() -> (tempfile::TempDir, Facts) {
    unpack(include_str!("fixtures/ec2.txt"))
}

fn server() -> (tempfile::TempDir, Facts) {
    unpack(include_str!("fixtures/server.txt"))
}

fn names(host: &Host) -> Vec<&str> {
    host.devices
        .iter()
        .map(|device| device.name.as_str())
        .collect()
}

#[test]
fn an_instance_is_named_by_its_firmware() {
    let (_dir, facts) = ec2();
    let host = take(&facts, Scope::Everything, Depth::Content);
    let cloud = host.cloud.clone().unwrap();
    assert_eq!(cloud.provider, "aws");
    assert_eq!(cloud.instance_type.as_deref(), Some("m5d.4xlarge"));
    assert_eq!(cloud.instance_id.as_deref(), Some("i-0123456789abcdef0"));
    assert_eq!(host.virtualisation.as_deref(), Some("Amazon EC2"));
    assert_eq!(host.container, None);
    assert_eq!(
        host.system.as_deref(),
        Some("Debian GNU/Linux 12 (bookworm)")
    );
    let cpu = &host.cpu;
    assert_eq!((cpu.sockets, cpu.cores, cpu.threads), (Some(1), Some(1), 2));
    assert_eq!(cpu.governors, ["performance", "powersave"]);
    assert_eq!((cpu.caches.len(), cpu.caches[0].bytes), (1, 32 << 10));
    let deep = &cpu.idle_states[1];
    assert_eq!(
        (deep.name.as_str(), deep.exit_latency_us, deep.disabled),
        ("C6", 133, true)
    );
}

#[test]
fn limits_are_the_strictest_on_the_way_up() {
    let (_dir, facts) = ec2();
    let limits = take(&facts, Scope::Everything, Depth::Listed)
        .limits
        .unwrap();
    assert_eq!(
        (limits.cpus, limits.memory_bytes),
        (Some(1.5), Some(8 << 30))
    );
    let root_volume = &limits.devices[0];
    assert_eq!(root_volume.number, "259:0");
    assert_eq!(root_volume.write_bytes_per_s, Some(100 << 20));
    assert_eq!(
        (root_volume.read_iops, root_volume.write_iops),
        (Some(500), None)
    );
    let (_dir, facts) = server();
    let host = take(&facts, Scope::Everything, Depth::Listed);
    let limits = host.limits.unwrap();
    assert_eq!(
        (limits.cpus, limits.memory_bytes),
        (Some(0.5), Some(512 << 20))
    );
    assert_eq!(limits.devices[0].read_iops, Some(1000));
    assert_eq!(host.container.as_deref(), Some("docker"));
    assert_eq!((host.machine.vendor, host.virtualisation), (None, None));
}

#[test]
fn a_stripe_knows_its_drives_and_its_file_system_the_stripe() {
    let (_dir, facts) = ec2();
    let host = take(&facts, Scope::Everything, Depth::Content);
    assert_eq!(
        names(&host),
        ["nvme1n1", "nvme2n1", "md0", "nvme0n1", "nvme0n1p1"]
    );
    let md = host.device("md0").unwrap();
    assert_eq!(
        (md.kind, md.identity()),
        (DeviceKind::Md, Some("11112222-3333"))
    );
    assert_eq!(md.mounts, ["/mnt/raid"]);
    let raid = md.raid.as_ref().unwrap();
    assert_eq!(
        (raid.level.as_str(), raid.chunk_bytes, raid.disks),
        ("raid0", Some(65536), Some(2))
    );
    let members: Vec<&str> = raid.members.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(members, ["nvme1n1", "nvme2n1"]);
    let xfs = host.file_system("/mnt/raid").unwrap();
    let geometry = xfs.geometry.as_ref().unwrap();
    assert_eq!(geometry.stripe_unit_bytes, Some(65536));
    assert_eq!(geometry.matches(), Some(true));
    assert_eq!(xfs.total_bytes, None, "a captured tree has no free space");
}

#[test]
fn drives_are_known_by_serial_number_and_link() {
    let (_dir, facts) = ec2();
    let host = take(&facts, Scope::Everything, Depth::Content);
    let drive = host.device("nvme1n1").unwrap();
    assert_eq!(drive.identity(), Some("AWS1111"));
    assert_eq!(
        drive.by_id,
        ["nvme-Amazon_EC2_NVMe_Instance_Storage_AWS1111"]
    );
    assert_eq!(drive.transport.as_deref(), Some("nvme/pcie"));
    assert_eq!(drive.queue.scheduler.as_deref(), Some("none"));
    assert_eq!(drive.queue.schedulers, ["none", "mq-deadline"]);
    assert_eq!(drive.queue.hardware_queues, Some(2));
    assert_eq!(drive.queue.max_request_bytes, Some(256 << 10));
    assert_eq!(drive.queue.rotational, Some(false));
    assert_eq!(drive.numa_node, Some(0));
    assert!(!drive.pci.as_ref().unwrap().is_slowed());
    assert!(
        host.device("nvme2n1")
            .unwrap()
            .pci
            .as_ref()
            .unwrap()
            .is_slowed()
    );
    let volume = host.device("nvme0n1").unwrap();
    assert_eq!(volume.identity(), Some("vol0123456789abcdef0"));
    assert_eq!(volume.numa_node, None);
    let unlinked = Pci {
        address: "0000:00:04.0".into(),
        ..Pci::default()
    };
    assert_eq!(volume.pci, Some(unlinked), "an emulated link has no width");
    let part = host.device("nvme0n1p1").unwrap();
    assert_eq!(part.kind, DeviceKind::Partition);
    assert_eq!(
        (part.disk.as_deref(), part.uuid.as_deref()),
        (Some("nvme0n1"), Some("aaaa-01"))
    );
    assert_eq!(part.mounts, ["/"]);
    assert!(!part.probed);
}

#[test]
fn a_path_shows_what_lies_below_it_and_a_device_also_what_is_above() {
    let (_dir, facts) = ec2();
    let show = |path: &str| take(&facts, Scope::Paths(&[path.into()]), Depth::Listed);
    let host = show("/mnt/raid/file");
    assert_eq!(names(&host), ["nvme1n1", "nvme2n1", "md0"]);
    assert_eq!(host.targets[0].mount_point.as_deref(), Some("/mnt/raid"));
    assert_eq!(host.targets[0].devices, ["md0"]);
    assert_eq!(host.file_systems.len(), 1);
    let host = show("/dev/nvme2n1");
    assert_eq!(names(&host), ["nvme2n1", "nvme1n1", "md0"]);
    let host = show("/run/file");
    assert_eq!(
        (names(&host), host.file_systems[0].fs_type.as_str()),
        (vec![], "tmpfs")
    );
}

#[test]
fn mappings_arrays_of_btrfs_loops_and_memory() {
    let (_dir, facts) = server();
    let host = take(&facts, Scope::Everything, Depth::Content);
    let order = [
        "sdc", "sdc1", "dm-0", "dm-1", "dm-2", "sda", "loop0", "sdb", "zram0",
    ];
    assert_eq!(names(&host), order);
    let kinds = |name: &str| host.device(name).unwrap().kind;
    assert_eq!(kinds("dm-0"), DeviceKind::Crypt);
    assert_eq!(kinds("dm-1"), DeviceKind::Lvm);
    assert!(host.device("dm-1").unwrap().swap && !host.device("dm-2").unwrap().swap);
    let layer = host.device("dm-2").unwrap().layer.clone().unwrap();
    assert_eq!(layer.name.as_deref(), Some("vg-root"));
    let compressed = host.device("zram0").unwrap().layer.clone().unwrap();
    assert_eq!(compressed.mode.as_deref(), Some("zstd"));
    let disk = host.device("sdc").unwrap();
    assert_eq!(disk.identity(), Some("S3RIAL"));
    assert_eq!(
        (disk.wwid.as_deref(), disk.model.as_deref()),
        (Some("0x5000"), Some("From_udev"))
    );
    let ssd = host.device("sda").unwrap();
    assert_eq!(ssd.transport.as_deref(), Some("sata"));
    assert_eq!(
        (ssd.firmware.as_deref(), ssd.model.as_deref()),
        (Some("1B6Q"), Some("ATA Example SSD"))
    );
    assert_eq!(ssd.identity(), Some("naa.5002538d00000001"));
    let zones = host.device("sdb").unwrap().queue.zones.clone().unwrap();
    assert_eq!((zones.count, zones.bytes), (Some(4), Some(256 << 20)));
    let image = host.device("loop0").unwrap().backing.clone().unwrap();
    assert_eq!(
        (image.offset_bytes, image.devices),
        (512, vec!["sda".to_owned()])
    );
    let pool = host.file_system("/pool2").unwrap();
    assert_eq!(pool.mount_points, ["/pool", "/pool2"]);
    assert_eq!(pool.geometry.as_ref().unwrap().data_profiles, ["raid0"]);
}

#[test]
fn mounts_of_other_namespaces_name_who_sees_them() {
    let (_dir, facts) = server();
    let host = take(&facts, Scope::Everything, Depth::Listed);
    let mounts = &host.device("sdb").unwrap().mounts;
    assert_eq!(*mounts, ["/secret (seen by mysqld, process 9)"]);
}

#[test]
fn content_of_a_captured_device() {
    let (dir, facts) = server();
    let mut image = vec![0; 512 * 1000];
    image[510..512].copy_from_slice(&[0x55, 0xaa]);
    image[450] = 0x83;
    fs::create_dir_all(dir.path().join("dev")).unwrap();
    fs::write(dir.path().join("dev/sdb"), image).unwrap();
    let host = take(&facts, Scope::Everything, Depth::Content);
    let disk = host.device("sdb").unwrap();
    assert!(disk.probed && !host.device("sda").unwrap().probed);
    assert_eq!(disk.signatures[0].name, "mbr");
    let host = take(&facts, Scope::Everything, Depth::Listed);
    assert!(!host.device("sdb").unwrap().probed);
}

#[test]
fn the_live_host() {
    let facts = Facts::read(&Root::default()).unwrap();
    let here = std::env::current_dir().unwrap();
    let host = take(&facts, Scope::Paths(&[here]), Depth::Content);
    assert_eq!(host.targets[0].kind, "directory");
    assert!(host.targets[0].mount_point.is_some() && host.cpu.threads > 0);
    let system = &host.file_systems[0];
    assert!(system.total_bytes >= system.available_bytes);
    let again = take(&facts, Scope::Everything, Depth::Listed);
    let known = |name: &String| again.device(name).is_some();
    assert!(host.targets[0].devices.iter().all(known));
}

#[test]
fn holes_are_not_data() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    fs::write(&path, vec![7; 1 << 20]).unwrap();
    assert_eq!(content_of(&path), Some((1 << 20, 1 << 20)));
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(3 << 20).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &[7; 4096], 2 << 20).unwrap();
    let (size, data) = content_of(&path).unwrap();
    assert_eq!(size, 3 << 20);
    assert!((1 << 20..2 << 20).contains(&data), "{data}");
    assert_eq!(content_of(&dir.path().join("missing")), None);
}
