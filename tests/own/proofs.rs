//! Mistakes on real devices: each run has exactly its finding, or is refused.

use super::findings::{filled, ids, own, run};
use crate::harness::{LoopDisk, Scratch, fio, place, skip};
use std::path::Path;

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// A zram device of our own, taken away afterwards.
struct Zram(String);

impl Zram {
    fn new(mib: u64) -> Result<Self, String> {
        let number = std::fs::read_to_string("/sys/class/zram-control/hot_add");
        let number = number.map_err(|error| format!("zram: {error}"))?;
        let zram = Zram(number.trim().to_owned());
        std::fs::write(zram.file("disksize"), (mib << 20).to_string())
            .map_err(|error| format!("zram: {error}"))?;
        match Path::new(&zram.device()).exists() {
            true => Ok(zram),
            false => Err("the device has no node".to_owned()),
        }
    }

    fn device(&self) -> String {
        format!("/dev/zram{}", self.0)
    }

    fn file(&self, name: &str) -> String {
        format!("/sys/block/zram{}/{name}", self.0)
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        let _ = std::fs::write(self.file("reset"), "1");
        let _ = std::fs::write("/sys/class/zram-control/hot_remove", &self.0);
    }
}

#[test]
fn zeroes_on_a_device_that_compresses_are_invalid() {
    let zram = match Zram::new(32) {
        Ok(zram) => zram,
        Err(why) => return skip("zeroes on zram", &why),
    };
    let write = |more: &str| {
        let device = zram.device();
        let words = format!("--name=x --filename={device} --rw=write --bs=64k --direct=1 {more}");
        fio(&words).arg("--output-format=json").ok()
    };
    let outcome = write("--zero_buffers");
    assert_eq!(own(&outcome), ["zero-data"], "{outcome}");
    let finding = &outcome.json()["assay"]["findings"][0];
    assert_eq!(finding["severity"], "invalid", "{finding}");
    let outcome = write("--refill_buffers");
    assert_eq!(own(&outcome), [""; 0], "{outcome}");
}

#[test]
fn a_directory_without_its_mount_and_a_device_that_was_not_meant() {
    let disk = match LoopDisk::new(64) {
        Ok(disk) => disk,
        Err(why) => return skip("directory without its mount", &why),
    };
    let point = format!("/mnt/assay-e2e-{}", std::process::id());
    if let Err(error) = std::fs::create_dir(&point) {
        return skip("directory without its mount", &error.to_string());
    }
    let words = "--size=8m --rw=write --direct=1";
    let bare = run(Path::new(&point), words);
    let device = text(disk.device()).to_owned();
    let _ = std::fs::remove_file(format!("{point}/f"));
    let mounted = place::system("mkfs.ext4", &["-q", "-F", &device])
        .and_then(|_| place::system("mount", &["-o", "noinit_itable", &device, &point]));
    let there = mounted.as_ref().map(|_| {
        let meant = run(
            Path::new(&point),
            &format!("{words} --expect=device={device}"),
        );
        let other = run(
            Path::new(&point),
            &format!("{words} --expect=device=/dev/other0"),
        );
        (meant, other)
    });
    let _ = place::system("umount", &[&point]);
    std::fs::remove_dir(&point).expect("an empty directory");
    let bare_ids = ids(&bare);
    let elsewhere = ["target-on-overlay", "target-in-memory"];
    if bare_ids.iter().any(|id| elsewhere.contains(&id.as_str())) {
        return skip(
            "directory without its mount",
            "the root file system is no disk",
        );
    }
    // Others write to the root disk as well, so that more may be told.
    assert!(bare_ids.contains(&"not-mounted".to_owned()), "{bare}");
    match there {
        Ok((meant, other)) => {
            assert_eq!(own(&meant), [""; 0], "{meant}");
            assert_eq!(own(&other), ["wrong-device"], "{other}");
        }
        Err(why) => skip("directory with its mount", why),
    }
}

#[test]
fn clones_on_one_file() {
    let mounted = LoopDisk::new(96).and_then(|disk| disk.mounted("ext4", "noinit_itable"));
    let mounted = match mounted {
        Ok(mounted) => mounted,
        Err(why) => return skip("clones on one file", &why),
    };
    filled(&mounted);
    let words = "--size=32m --direct=1 --numjobs=2";
    let outcome = run(mounted.path(), &format!("{words} --rw=read"));
    assert_eq!(own(&outcome), ["streams-overlap"], "{outcome}");
    let outcome = run(mounted.path(), &format!("{words} --rw=randread"));
    assert_eq!(own(&outcome), ["jobs-share-file"], "{outcome}");
    let words = "--size=16m --direct=1 --numjobs=2 --offset_increment=16m --rw=read";
    assert_eq!(own(&run(mounted.path(), words)), [""; 0]);
}

#[test]
fn requests_that_the_kernel_hands_to_threads() {
    let mounted = LoopDisk::new(96).and_then(|disk| disk.mounted("ext4", "noinit_itable"));
    let mounted = match mounted {
        Ok(mounted) => mounted,
        Err(why) => return skip("requests handed to threads", &why),
    };
    filled(&mounted);
    let words = "--size=32m --direct=1 --rw=randread --ioengine=io_uring --iodepth=16 --loops=4";
    let outcome = run(mounted.path(), words);
    assert_eq!(own(&outcome), [""; 0], "{outcome}");
    let outcome = run(mounted.path(), &format!("{words} --force_async=1"));
    assert_eq!(own(&outcome), ["uring-punted"], "{outcome}");
}

#[test]
fn a_file_system_that_gets_full() {
    let mounted = LoopDisk::new(24).and_then(|disk| disk.mounted("ext4", "noinit_itable"));
    let mounted = match mounted {
        Ok(mounted) => mounted,
        Err(why) => return skip("full file system", &why),
    };
    // What cannot fit is refused before anything is written.
    let words = "--name=x --filename=f --bs=64k --rw=write --size=64m";
    let refused = fio(words).in_dir(mounted.path()).fails();
    refused.explains(&["space"]);
    let left = std::fs::metadata(mounted.path().join("f"));
    assert!(
        left.map_or(0, |meta| meta.len()) == 0,
        "something was written"
    );
}

/// Limits reads of a device for everybody, and takes that back.
struct Throttle(String);

impl Throttle {
    const FILE: &str = "/sys/fs/cgroup/blkio/blkio.throttle.read_bps_device";

    fn new(device: &Path, bytes_per_s: u64) -> Result<Self, String> {
        let name = device.file_name().expect("a device name");
        let number = Path::new("/sys/block").join(name).join("dev");
        let number = std::fs::read_to_string(number).map_err(|error| error.to_string())?;
        let number = number.trim().to_owned();
        std::fs::write(Self::FILE, format!("{number} {bytes_per_s}"))
            .map_err(|error| format!("no throttle for devices: {error}"))?;
        Ok(Throttle(number))
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        let _ = std::fs::write(Self::FILE, format!("{} 0", self.0));
    }
}

/// A loop device over a file in a directory.
struct Inner(String);

impl Inner {
    fn new(dir: &Path, mib: u64) -> Result<Self, String> {
        let path = dir.join("member");
        place::system("fallocate", &["-l", &format!("{mib}MiB"), text(&path)])?;
        let words = ["--find", "--show", "--direct-io=on", text(&path)];
        place::system("losetup", &words).map(Inner)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let _ = place::system("losetup", &["--detach", &self.0]);
    }
}

#[test]
fn a_stripe_with_one_slow_member() {
    const MIB: u64 = 160;
    let made = || -> Result<_, String> {
        let fast = LoopDisk::new(MIB)?;
        let lower = LoopDisk::new(MIB + 64)?.mounted("ext4", "noinit_itable")?;
        let slow = Inner::new(lower.path(), MIB)?;
        let (a, b) = (text(fast.device()).to_owned(), slow.0.clone());
        place::system(
            "mkfs.btrfs",
            &["-q", "-f", "-d", "raid0", "-m", "raid1", &a, &b],
        )?;
        Ok((fast, lower, slow, a))
    };
    let (_fast, lower, _slow, device) = match made() {
        Ok(made) => made,
        Err(why) => return skip("stripe with a slow member", &why),
    };
    let point = Scratch::new("stripe");
    if let Err(why) = place::system("mount", &[&device, text(point.path())]) {
        return skip("stripe with a slow member", &why);
    }
    std::fs::write(point.path().join("f"), vec![7; 32 << 20]).expect("room for it");
    let words = "--size=32m --bs=16k --rw=randread --direct=1 --ioengine=libaio --iodepth=64";
    let read = || run(point.path(), words);
    let even = read();
    let skewed = Throttle::new(lower.disk.device(), 8 << 20).map(|_throttle| read());
    let _ = place::system("umount", &[text(point.path())]);
    // Both members are files of one disk: they are even, or the machine was busy with one.
    let alone = own(&even);
    assert!(alone.is_empty() || alone == ["closed-loop-skew"], "{even}");
    match skewed {
        Ok(skewed) => {
            assert_eq!(own(&skewed), ["closed-loop-skew"], "{skewed}");
            let slowest = &skewed.json()["assay"]["findings"][0]["evidence"]["slowest"];
            assert_eq!(
                format!("/dev/{}", slowest.as_str().expect("a name")),
                _slow.0
            );
        }
        Err(why) => skip("stripe with a slow member", &why),
    }
}
