//! The guard on captured trees: what each device is found to be used by.

use super::*;
use host::{Mounts, Root, Swap, System, cpu::Node};
use std::fs;
use std::os::unix::fs::symlink;

/// `sda` with `sda1` and `sda2`, `md0` on `sda2`, an idle `sdb`; `/` on `sda1` or `md0`.
fn facts(mounts: &str, swaps: Vec<Swap>) -> (tempfile::TempDir, Facts) {
    let dir = tempfile::tempdir().unwrap();
    let root = Root::at(dir.path());
    fs::create_dir_all(root.path("sys/block")).unwrap();
    let device = |relative: &str, dev: &str| {
        let at = root.path("sys/devices").join(relative);
        fs::create_dir_all(at.join("holders")).unwrap();
        fs::write(at.join("dev"), dev).unwrap();
        fs::write(at.join("size"), "2000000").unwrap();
        if relative.contains('/') {
            fs::write(at.join("partition"), "1").unwrap();
        } else {
            symlink(&at, root.path("sys/block").join(relative)).unwrap();
        }
        at
    };
    device("sda", "8:0");
    device("sda/sda1", "8:1");
    let sda2 = device("sda/sda2", "8:2");
    device("sdb", "8:16");
    let md0 = device("md0", "9:0");
    symlink(md0, sda2.join("holders/md0")).unwrap();
    let facts = Facts {
        mounts: Mounts::parse(mounts).unwrap(),
        swaps,
        cpus: vec![0],
        nodes: vec![Node {
            id: 0,
            cpus: vec![0],
            memory_bytes: 1 << 30,
        }],
        system: System {
            hostname: "h".into(),
            kernel: "6".into(),
            memory_bytes: 1 << 30,
            page_bytes: 4096,
            huge_page_bytes: 0,
        },
        root,
    };
    (dir, facts)
}

fn found(facts: &Facts, name: &str) -> Vec<String> {
    uses(facts, &BlockDevice::by_name(&facts.root, name).unwrap())
}

#[test]
fn commands_to_a_namespace_are_guarded_by_its_disk() {
    let (_dir, facts) = facts("", vec![]);
    let disk = facts.root.path("sys/devices/nvme0n1");
    fs::create_dir_all(disk.join("holders")).unwrap();
    fs::write(disk.join("dev"), "259:0").unwrap();
    fs::write(disk.join("size"), "2000000").unwrap();
    symlink(&disk, facts.root.path("sys/block/nvme0n1")).unwrap();
    let chars = facts.root.path("sys/dev/char");
    fs::create_dir_all(&chars).unwrap();
    for (dev, name) in [("240:0", "ng0n1"), ("240:1", "ng0c3n1"), ("1:3", "null")] {
        symlink(format!("../../devices/{name}"), chars.join(dev)).unwrap();
    }
    let name = |major: u32, minor: u32| {
        let dev = format!("{major}:{minor}").parse().unwrap();
        behind(&facts, dev).map(|device| device.name)
    };
    assert_eq!(name(240, 0).as_deref(), Some("nvme0n1"));
    assert_eq!(name(240, 1).as_deref(), Some("nvme0n1"));
    assert_eq!(name(1, 3), None);
    assert_eq!(name(1, 9), None);
}

#[test]
fn mounts_of_the_device_its_partitions_and_what_is_stacked_on_it() {
    let (_dir, facts) = facts("27 1 8:1 / /boot rw - ext4 x rw\n", vec![]);
    assert_eq!(found(&facts, "sda1"), ["it is mounted at /boot"]);
    assert_eq!(
        found(&facts, "sda"),
        ["sda1 is mounted at /boot", "sda2 is part of md0"]
    );
    assert_eq!(found(&facts, "sdb"), [""; 0]);
    assert_eq!(found(&facts, "md0"), [""; 0]);
    assert_eq!(found(&facts, "sda2"), ["it is part of md0"]);
}

#[test]
fn a_mounted_array_protects_its_members() {
    let (_dir, facts) = facts("27 1 9:0 / / rw - xfs /dev/root rw\n", vec![]);
    assert_eq!(found(&facts, "md0"), ["it is mounted at /"]);
    assert_eq!(
        found(&facts, "sda2"),
        ["it is part of md0", "md0 is mounted at /"]
    );
}

#[test]
fn swap_is_found_by_name() {
    let area = Swap {
        path: "/dev/sdb".into(),
        is_file: false,
    };
    let (_dir, facts) = facts("", vec![area]);
    assert_eq!(found(&facts, "sdb"), ["it is in use as swap"]);
}

#[test]
fn a_mistyped_device_is_not_created() {
    let facts = Facts::read(&Root::default()).unwrap();
    let error = permit(&facts, Path::new("/dev/no_such_disk"), true).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("/dev/no_such_disk is no device"),
        "{error}"
    );
    assert!(permit(&facts, Path::new("/dev/null"), false).is_ok());
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sub/new");
    assert_eq!(permit(&facts, &path, false).unwrap().path(), path);
}

#[test]
fn swap_files_are_recognised_through_links() {
    let dir = tempfile::tempdir().unwrap();
    let (file, link) = (dir.path().join("swap"), dir.path().join("link"));
    fs::write(&file, "x").unwrap();
    symlink(&file, &link).unwrap();
    let (_tree, facts) = facts(
        "",
        vec![Swap {
            path: file,
            is_file: true,
        }],
    );
    let error = permit(&facts, &link, true).unwrap_err();
    assert_eq!(error, GuardError::SwapFile { path: link });
}

#[test]
fn the_line_names_device_model_size_and_finding() {
    let permit = WritePermit {
        path: "/dev/sda".into(),
        remark: None,
    };
    let found = vec![
        "sda1 is mounted at /".to_owned(),
        "sda2 is part of md0".to_owned(),
    ];
    let error = refuse_in_use(permit.clone(), "Model, 1024GB", found.clone(), false);
    assert_eq!(
        error.unwrap_err().to_string(),
        "refusing to write to /dev/sda (Model, 1024GB): sda1 is mounted at /, \
         sda2 is part of md0; allow_mounted_write=1 overrides"
    );
    assert!(refuse_in_use(permit, "", found, true).is_ok());
    let device = Device {
        model: Some("Model".into()),
        serial: Some("S1".into()),
        size_bytes: 1_024_000_000_000,
        ..Device::default()
    };
    assert_eq!(about(&device), "Model, serial S1, 1024GB");
    let bare = Device {
        name: "zram0".into(),
        kind: DeviceKind::Zram,
        size_bytes: 4096,
        ..Device::default()
    };
    assert_eq!(about(&bare), "zram, 4096B");
    assert_eq!(
        (identity(&device).as_str(), identity(&bare).as_str()),
        ("S1", "zram0:4096")
    );
}

#[test]
fn a_disk_in_use_protects_its_partitions() {
    let (_dir, facts) = facts("27 1 8:0 / /whole rw - ext4 x rw\n", vec![]);
    assert_eq!(found(&facts, "sda1"), ["its disk sda is mounted at /whole"]);
}

#[test]
fn mounts_of_other_namespaces_count() {
    let (_dir, facts) = facts("", vec![]);
    for (pid, namespace, table) in [
        ("self", "mnt:[1]", ""),
        ("7", "mnt:[2]", "40 1 8:1 / /data rw - xfs /dev/sda1 rw\n"),
    ] {
        let process = facts.root.path(format!("proc/{pid}"));
        fs::create_dir_all(process.join("ns")).unwrap();
        symlink(namespace, process.join("ns/mnt")).unwrap();
        fs::write(process.join("mountinfo"), table).unwrap();
        fs::write(process.join("comm"), "postgres\n").unwrap();
    }
    let clause = "is mounted at /data in the namespace of postgres (process 7)";
    assert_eq!(found(&facts, "sda1"), [format!("it {clause}")]);
    assert_eq!(found(&facts, "sda")[0], format!("sda1 {clause}"));
}

#[test]
fn a_loop_device_over_a_disk_or_a_file_protects_it() {
    let (dir, facts) = facts("27 1 7:0 / /image rw - ext4 /dev/loop0 rw\n", vec![]);
    let file = dir.path().join("image");
    fs::write(&file, "x").unwrap();
    let add = |name: &str, dev: &str, backing: &Path| {
        let at = facts.root.path("sys/devices").join(name);
        fs::create_dir_all(at.join("loop")).unwrap();
        fs::write(at.join("dev"), dev).unwrap();
        fs::write(at.join("size"), "2000").unwrap();
        fs::write(at.join("loop/backing_file"), backing.to_str().unwrap()).unwrap();
        symlink(&at, facts.root.path("sys/block").join(name)).unwrap();
    };
    add("loop0", "7:0", &file);
    add("loop1", "7:1", Path::new("/dev/sdb"));
    assert_eq!(found(&facts, "sdb"), ["it is part of loop1"]);
    let error = permit(&facts, &file, false).unwrap_err().to_string();
    let clause = "loop0 is its loop device and is mounted at /image";
    assert!(error.contains(clause), "{error}");
    assert!(permit(&facts, &file, true).is_ok());
    fs::write(facts.root.path("sys/devices/loop0/dev"), "7:9").unwrap();
    fs::remove_file(facts.root.path("sys/devices/loop0/loop/backing_file")).unwrap();
    assert!(permit(&facts, &file, false).is_ok());
}

#[test]
fn another_path_to_a_disk_in_use_is_guarded_too() {
    let (_dir, facts) = facts("27 1 8:1 / /boot rw - ext4 x rw\n", vec![]);
    let name = |disk: &str, wwid: &str| {
        let file = facts.root.path("sys/devices").join(disk).join("wwid");
        fs::write(file, wwid).unwrap();
    };
    name("sda", "naa.5000c500a1b2c3d4\n");
    name("sdb", "naa.5000c500a1b2c3d4\n");
    let other = ["sda1 is mounted at /boot", "sda2 is part of md0"];
    assert_eq!(found(&facts, "sdb"), other);
    // Another name, or one that is none.
    name("sdb", "naa.5000c500a1b2c3d5\n");
    assert_eq!(found(&facts, "sdb"), [""; 0]);
    for disk in ["sda", "sdb"] {
        name(disk, "eui.0000000000000000\n");
    }
    assert_eq!(found(&facts, "sdb"), [""; 0]);
}
