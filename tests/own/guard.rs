//! Devices in use, devices with content, and images of devices in use.

use super::{as_nobody, assay};
use crate::harness::command::have;
use crate::harness::{LoopDisk, Mounted, fio, place, skip};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn disk(test: &str, mib: u64) -> Option<LoopDisk> {
    LoopDisk::new(mib).map_err(|why| skip(test, &why)).ok()
}

pub(super) fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// Writes `bytes` at `offset` of a device.
fn poke(device: &Path, offset: u64, bytes: &[u8]) {
    use std::os::unix::fs::FileExt;
    let file = fs::OpenOptions::new()
        .write(true)
        .open(device)
        .expect("own loop device");
    file.write_all_at(bytes, offset).expect("writable");
    file.sync_all().expect("flushed");
}

pub(super) fn backing(disk: &LoopDisk) -> PathBuf {
    let name = disk.device().file_name().expect("a device name");
    let file = Path::new("/sys/block").join(name).join("loop/backing_file");
    fs::read_to_string(file)
        .expect("a loop device")
        .trim()
        .into()
}

#[test]
fn the_image_of_a_mounted_device_is_not_written() {
    let mounted = match Mounted::ext4(16) {
        Ok(mounted) => mounted,
        Err(why) => return skip("image of a mounted device", &why),
    };
    let image = backing(&mounted.disk);
    let words = format!("--name=x --filename={} --size=1m --rw=write", text(&image));
    fio(&words)
        .fails()
        .explains(&["is its loop device", "mounted", text(mounted.path())]);
    fio(&words.replace("rw=write", "rw=read")).ok();
}

#[test]
fn a_disk_with_a_mounted_partition_is_not_written() {
    let Some(disk) = disk("mounted partition", 32) else {
        return;
    };
    // One Linux partition from the first MiB to the end.
    let mut sector = [0u8; 66];
    sector[4] = 0x83;
    sector[8..12].copy_from_slice(&2048u32.to_le_bytes());
    sector[12..16].copy_from_slice(&(31u32 * 2048).to_le_bytes());
    sector[64..].copy_from_slice(&[0x55, 0xaa]);
    poke(disk.device(), 446, &sector);
    let device = text(disk.device()).to_owned();
    let part = format!("{device}p1");
    if let Err(why) = place::system("losetup", &["-c", &device])
        .and_then(|_| place::system("blockdev", &["--rereadpt", &device]))
        .or_else(|_| place::system("partx", &["-a", &device]))
    {
        return skip("mounted partition", &why);
    }
    let scratch = crate::harness::Scratch::new("partition");
    let made = place::system("mkfs.ext4", &["-q", "-F", &part])
        .and_then(|_| place::system("mount", &[&part, text(scratch.path())]));
    if let Err(why) = made {
        return skip("mounted partition", &why);
    }
    let write = |path: &str| fio(&format!("--name=x --filename={path} --size=1m --rw=write"));
    let outcomes = [write(&device).run(), write(&part).run()];
    let _ = place::system("umount", &[text(scratch.path())]);
    for outcome in &outcomes {
        assert_eq!(outcome.code, Some(1), "{outcome}");
        outcome.explains(&["mounted at", text(scratch.path())]);
    }
    // Not in use any more: the table is only remarked on, and the file system on the partition.
    let outcome = write(&device).ok();
    assert!(outcome.stdout.contains("mbr partition table"), "{outcome}");
    let _ = place::system("partx", &["-d", &device]);
}

#[test]
fn swap_on_a_device_is_not_written() {
    let Some(disk) = disk("swap", 16) else { return };
    let device = text(disk.device()).to_owned();
    let on = place::system("mkswap", &[&device]).and_then(|_| place::system("swapon", &[&device]));
    if let Err(why) = on {
        return skip("swap", &why);
    }
    let words = format!("--name=x --filename={device} --size=1m --rw=write");
    let outcome = fio(&words).run();
    let host = assay(&format!("inspect {device}")).ok().stdout;
    place::system("swapoff", &[&device]).expect("swapoff");
    assert_eq!(outcome.code, Some(1), "{outcome}");
    outcome.explains(&["swap", &device]);
    assert!(host.contains("IN USE AS SWAP"), "{host}");
}

#[test]
fn a_mount_in_another_namespace_is_found_and_named() {
    let Some(disk) = disk("other namespace", 16) else {
        return;
    };
    let device = text(disk.device()).to_owned();
    let scratch = crate::harness::Scratch::new("elsewhere");
    let place = text(scratch.path()).to_owned();
    let script = format!("mount {device} {place} && echo ready && read line");
    let made = place::system("mkfs.ext4", &["-q", "-F", &device]);
    let started = Command::new("unshare")
        .args(["--mount", "sh", "-c", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let (Ok(_), Ok(mut other)) = (made, started) else {
        return skip("other namespace", "mkfs.ext4 or unshare is missing");
    };
    let mut line = String::new();
    let mut output = std::io::BufReader::new(other.stdout.take().expect("piped"));
    std::io::BufRead::read_line(&mut output, &mut line).expect("readable");
    let outcome = fio(&format!(
        "--name=x --filename={device} --size=1m --rw=randtrim"
    ))
    .run();
    let _ = other.stdin.take().expect("piped").write_all(b"\n");
    let _ = other.wait();
    if line.trim() != "ready" {
        return skip("other namespace", "cannot mount there");
    }
    assert_eq!(outcome.code, Some(1), "{outcome}");
    outcome.explains(&[&device, &place, "namespace of"]);
}

#[test]
fn content_is_remarked_on_in_jobs_and_needs_consent_in_own_commands() {
    for (offset, magic, name) in [
        (512 + 24, b"LVM2 001".as_slice(), "LVM2 volume member"),
        (4096, &[0xfc, 0x4e, 0x2b, 0xa9], "md RAID member"),
        (
            131_072,
            &[0x0c, 0xb1, 0xba, 0, 0, 0, 0, 0],
            "ZFS volume member",
        ),
        (0, b"bluestore block device", "ceph bluestore data store"),
    ] {
        let Some(disk) = disk("signatures", 32) else {
            return;
        };
        poke(disk.device(), offset, magic);
        let device = text(disk.device());
        let image = backing(&disk);
        let check = |rest: &str| assay(&format!("check {device} {rest}"));
        // A wrong name is told the right one; nothing has been written by then.
        let wrong = check("--destroy-data=another");
        wrong.refuses(&["--destroy-data=another is not", text(&image)]);
        let words =
            format!("--name=x --filename={device} --rw=write --bs=4k --size=64k --offset=1m");
        let json = fio(&words).arg("--output-format=json").ok();
        assert!(!json.stdout.contains("holds"), "{json}");
        let normal = fio(&words).ok();
        assert!(normal.stdout.contains(&format!("holds {name}")), "{normal}");
    }
}

#[test]
fn consent_does_not_reach_devices_in_use() {
    let mounted = match Mounted::ext4(32) {
        Ok(mounted) => mounted,
        Err(why) => return skip("consent for a mounted device", &why),
    };
    let device = text(mounted.disk.device());
    let image = backing(&mounted.disk);
    let (_, written) = mounted.disk.traffic_bytes();
    let own = assay(&format!("check {device} --destroy-data={}", text(&image)));
    own.refuses(&["mounted at", device]);
    let message = own.spawn().wait().stderr;
    assert!(!message.contains("overrides"), "{message}");
    assert_eq!(mounted.disk.traffic_bytes().1, written);
    assay("check --destroy-data=x /tmp").refuses(&["no block device"]);
    assay("check /no/such/place").refuses(&["/no/such/place"]);
}

#[test]
fn a_quota_is_seen_before_anything_is_written() {
    const TEST: &str = "quota";
    if !have("setpriv") || !have("xfs_quota") {
        return skip(TEST, "setpriv or xfs_quota is missing");
    }
    let mounted = match LoopDisk::new(320).and_then(|disk| disk.mounted("xfs", "uquota")) {
        Ok(mounted) => mounted,
        Err(why) => return skip(TEST, &why),
    };
    let at = text(mounted.path());
    let limit = ["-x", "-c", "limit -u bhard=8m 65534", at];
    if let Err(why) = place::system("xfs_quota", &limit) {
        return skip(TEST, &why);
    }
    place::system("chmod", &["0777", at]).expect("chmod");
    let words = |size: &str| {
        let line = format!("fio --name=x --directory={at} --rw=read --bs=64k --size={size}");
        as_nobody(&fio(&line)).wait()
    };
    let outcome = words("64m");
    assert_eq!(outcome.code, Some(1), "{outcome}");
    outcome.explains(&["left of the quota", "8388608"]);
    assert_eq!(fs::read_dir(mounted.path()).expect("readable").count(), 0);
    words("1m").expect_ok();
}
