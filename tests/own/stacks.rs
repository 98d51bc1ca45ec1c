//! One medium under many names: all of them are guarded alike.

use super::guard::{backing, text};
use crate::harness::{LoopDisk, Mounted, Scratch, fio, place, skip};
use std::path::{Path, PathBuf};

/// A loop device of our own over something that is there.
struct Over(String);

impl Over {
    fn new(path: &Path) -> Result<Over, String> {
        place::system("losetup", &["--find", "--show", text(path)]).map(Over)
    }
}

impl Drop for Over {
    fn drop(&mut self) {
        let _ = place::system("losetup", &["--detach", &self.0]);
    }
}

/// A mounted file system that has nothing left to write, and its image.
fn mounted(test: &str) -> Option<(Mounted, PathBuf)> {
    let mounted = LoopDisk::new(16).and_then(|disk| disk.mounted("ext4", "noinit_itable"));
    let mounted = mounted.map_err(|why| skip(test, &why)).ok()?;
    place::system("sync", &["-f", text(mounted.path())]).expect("sync");
    let image = backing(&mounted.disk);
    Some((mounted, image))
}

/// Refused, whatever is to be done to it, and nothing of the image has changed.
fn refused(image: &Path, name: &str, words: &[&str]) {
    let before = place::checksum(image);
    for rw in ["write", "randtrim", "randrw"] {
        let line = format!("--name=x --filename={name} --rw={rw} --bs=4k --size=64k --direct=1");
        fio(&line).fails().explains(words);
    }
    assert_eq!(place::checksum(image), before, "{name} was written");
}

#[test]
fn all_names_of_a_mounted_device() {
    let Some((mounted, image)) = mounted("names of a device") else {
        return;
    };
    let scratch = Scratch::new("names");
    let device = mounted.disk.device();
    let name = device.file_name().expect("a name");
    let number = Path::new("/sys/block").join(name).join("dev");
    let number = std::fs::read_to_string(number).expect("a device");
    let (major, minor) = number.trim().split_once(':').expect("two numbers");
    let link = scratch.path().join("link");
    std::os::unix::fs::symlink(device, &link).expect("a link");
    let far = scratch.path().join("far");
    std::os::unix::fs::symlink(&link, &far).expect("a link");
    let node = scratch.path().join("node");
    let words = [text(&node), "b", major, minor];
    place::system("mknod", &words).expect("mknod");
    let by_number = format!("/dev/block/{major}:{minor}").replace(':', "\\:");
    let other = scratch.file("other", vec![0; 64 << 10]);
    let list = format!("{}:{}", text(&other), text(device));
    let dots = format!("/dev/../dev/./{}", &text(device)[5..]);
    let at = text(mounted.path());
    let mut names = vec![text(&link), text(&far), text(&node), &list, &dots];
    if Path::new(&format!("/dev/block/{major}:{minor}")).exists() {
        names.push(&by_number);
    }
    for name in names {
        refused(&image, name, &["mounted at", at]);
    }
    // In a job file, for all jobs.
    let job = format!(
        "[global]\nfilename={}\nrw=write\nsize=64k\n[a]\n",
        text(device)
    );
    let job = scratch.file("job.fio", job);
    fio(text(&job)).fails().explains(&["mounted at", at]);
    let hard = scratch.path().join("hard");
    std::fs::hard_link(&node, &hard).expect("a hard link");
    refused(&image, text(&hard), &["mounted at", at]);
}

#[test]
fn a_second_loop_device_over_the_same_file() {
    let Some((mounted, image)) = mounted("two loop devices") else {
        return;
    };
    let second = match Over::new(&image) {
        Ok(second) => second,
        Err(why) => return skip("two loop devices", &why),
    };
    let first = text(mounted.disk.device()).trim_start_matches("/dev/");
    let words = ["(over the same file) is mounted at", first];
    refused(&image, &second.0, &words);
    let check = super::assay(&format!("check {} --destroy-data=x", second.0));
    check.refuses(&["(over the same file) is mounted at"]);
}

#[test]
fn a_loop_device_over_a_mounted_one() {
    let Some((mounted, image)) = mounted("loop over a mounted device") else {
        return;
    };
    let upper = match Over::new(mounted.disk.device()) {
        Ok(upper) => upper,
        Err(why) => return skip("loop over a mounted device", &why),
    };
    refused(&image, &upper.0, &["(below it) is mounted at"]);
}

#[test]
fn parts_of_one_file_that_do_not_touch() {
    let scratch = Scratch::new("parts");
    let image = scratch.file("image", vec![0; 16 << 20]);
    let part = |offset: &str| {
        let words = [
            "--find",
            "--show",
            "--offset",
            offset,
            "--sizelimit",
            "8MiB",
            text(&image),
        ];
        place::system("losetup", &words).map(Over)
    };
    let (first, second) = match (part("0"), part("8MiB")) {
        (Ok(first), Ok(second)) => (first, second),
        (Err(why), _) | (_, Err(why)) => return skip("parts of a file", &why),
    };
    let point = Scratch::new("first-part");
    let mounted = place::system("mkfs.ext4", &["-q", "-F", &first.0])
        .and_then(|_| place::system("mount", &[&first.0, text(point.path())]));
    if let Err(why) = mounted {
        return skip("parts of a file", &why);
    }
    let write = |name: &str| {
        fio(&format!(
            "--name=x --filename={name} --rw=write --bs=4k --size=64k"
        ))
        .run()
    };
    let (beside, whole) = (write(&second.0), write(text(&image)));
    place::system("umount", &[text(point.path())]).expect("umount");
    beside.expect_ok();
    assert_eq!(whole.code, Some(1), "{whole}");
    whole.explains(&["is its loop device", "mounted at"]);
}

#[test]
fn an_image_that_lost_the_name_it_was_attached_by() {
    let Some((_mounted, image)) = mounted("image with another name") else {
        return;
    };
    let other = image.with_file_name("other");
    std::fs::hard_link(&image, &other).expect("a hard link");
    refused(&other, text(&other), &["is its loop device", "mounted at"]);
    std::fs::remove_file(&image).expect("own file");
    refused(&other, text(&other), &["is its loop device", "mounted at"]);
}

#[test]
fn a_device_that_another_process_writes_to() {
    let disk = match LoopDisk::new(32) {
        Ok(disk) => disk,
        Err(why) => return skip("a device that is written to", &why),
    };
    let device = text(disk.device()).to_owned();
    let write = fio(&format!(
        "--name=x --filename={device} --rw=write --bs=4k --size=64k"
    ));
    let silent = write.ok();
    assert!(!silent.stdout.contains("open for writing"), "{silent}");
    let open = std::fs::OpenOptions::new().write(true).open(&device);
    let open = open.expect("own loop device");
    let own = format!("(process {})", std::process::id());
    // Two jobs of two processes may share a device; a command of ours does not take it.
    let told = write.ok();
    assert!(told.stdout.contains("is open for writing in"), "{told}");
    assert!(told.stdout.contains(&own), "{told}");
    let check = super::assay(&format!("check {device} --destroy-data=x"));
    check.refuses(&["it is open for writing in", &own]);
    drop(open);
}

#[test]
fn a_device_that_other_namespaces_and_binds_use() {
    let disk = match LoopDisk::new(16) {
        Ok(disk) => disk,
        Err(why) => return skip("bind mounts", &why),
    };
    let device = text(disk.device()).to_owned();
    let mounted = match disk.mounted("ext4", "ro") {
        Ok(mounted) => mounted,
        Err(why) => return skip("bind mounts", &why),
    };
    // Even read-only, and when only a directory of it is left somewhere.
    let bind = Scratch::new("bind");
    let at = text(bind.path());
    let lost = format!("{}/lost+found", text(mounted.path()));
    place::system("mount", &["--bind", &lost, at]).expect("bind");
    place::system("umount", &[text(mounted.path())]).expect("umount");
    let outcome = fio(&format!(
        "--name=x --filename={device} --rw=write --bs=4k --size=64k"
    ))
    .run();
    place::system("umount", &[at]).expect("umount");
    assert_eq!(outcome.code, Some(1), "{outcome}");
    outcome.explains(&["is mounted at", at]);
}
